"""Table of features: columns of metadata as coordinates side by side, and warnings about values that are new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse

from topoi.corpus.corpus import Corpus
from topoi.corpus.sources import metadata_columns
from topoi.errors import ModelError
from topoi.models.contract import FeaturesLike, MetadataLike
from topoi.models.features.columns import (
    KINDS,
    Column,
    Links,
    Names,
    Number,
    as_names,
    as_numbers,
    as_plain,
    from_plain,
    is_missing,
    is_somebody,
)
from topoi.models.names import closest
from topoi.models.notices import warn_user

# Coordinates of documents, documents × coordinates: dense, or sparse if most are zero.
Coordinates = NDArray[np.float64] | csr_matrix
# What metadata are read from: columns of a corpus or a frame, or, for a precomputed kernel, similarities.
MetadataSource = Corpus | pd.DataFrame | NDArray[np.float64]

_WRITTEN = {
    "number": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"),
    "date": re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?"),
}
_TOLD = 3


class FeatureTable(NamedTuple):
    """Typed columns and the training documents' coordinates, documents × coordinates.

    The columns' coordinates stand side by side, in the order of the features.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.features.table import FeatureTable
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]], authors=["Ann", "Bob"], dates=[1999, 2001])
    >>> table = FeatureTable.learn(corpus, ["year", "authors"])
    >>> table.coordinates[:, table.block("year")].ravel().tolist()
    [1999.0, 2001.0]
    >>> table.encode({"year": [2000], "authors": [["Ann"]]}).shape
    (1, 5)
    """

    columns: list[Column]
    coordinates: Coordinates

    @classmethod
    def learn(cls, corpus: Corpus, features: FeaturesLike, sparse: bool = False) -> FeatureTable:
        """Learn the features of a corpus. ``features`` are names of columns, or a mapping of names to kinds.

        With ``sparse`` the coordinates, here and of new documents, are sparse, as tens of thousands of authors have a
        coordinate each.
        """
        columns: list[Column] = []
        parts: list[Coordinates] = []
        for name, kind in wanted(features).items():
            values = values_of(corpus, name)
            kind = kind or kind_of(corpus, name, values)
            column, part = _learned(corpus, name, kind, values, sparse)
            columns.append(column)
            parts.append(part)
        return cls(columns, side_by_side(parts, sparse))

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [column.name for column in self.columns]

    def block(self, name: str) -> slice:
        """Slice of a feature's coordinates."""
        start = 0
        for column in self.columns:
            if column.name == name:
                return slice(start, start + column.width)
            start += column.width
        raise ModelError(f"there is no feature {name!r}; the features are {', '.join(map(repr, self.names))}")

    def column(self, name: str) -> Column:
        """Column of a feature."""
        self.block(name)
        return self.columns[self.names.index(name)]

    def encode(self, source: MetadataLike) -> Coordinates:
        """Coordinates of new documents: a corpus, a frame, or a mapping of columns; sparse if the table's are."""
        frame, sparse = as_source(source), is_sparse(self.coordinates)
        parts: list[Coordinates] = []
        for column in self.columns:
            values = values_of(frame, column.name)
            if isinstance(column, Links):
                parts.append(column.new_coordinates(values, as_dense(self.coordinates[:, self.block(column.name)])))
            else:
                parts.append(_rows(column, values, sparse))
        return side_by_side(parts, sparse)

    def unknown(self, source: MetadataLike) -> dict[str, int]:
        """Number of documents in which each feature is missing or unknown."""
        frame = as_source(source)
        return {column.name: column.count_unknown(values_of(frame, column.name)) for column in self.columns}

    def to_plain(self) -> list[dict[str, Any]]:
        """The columns as JSON can hold them; the coordinates are a separate array."""
        return [as_plain(column) for column in self.columns]

    @classmethod
    def from_plain(cls, plain: list[dict[str, Any]], coordinates: Coordinates | None) -> FeatureTable:
        """Restore a table from ``to_plain``; without coordinates it has columns only."""
        columns = [from_plain(each) for each in plain]
        width = sum(column.width for column in columns)
        if coordinates is None:
            return cls(columns, np.zeros((0, width)))
        if coordinates.ndim != 2 or coordinates.shape[1] != width:
            raise ModelError("the features' coordinates do not fit their columns")
        return cls(columns, coordinates)


def wanted(features: FeaturesLike) -> dict[str, str | None]:
    """Names of features and, where given, their kinds.

    Examples
    --------
    >>> from topoi.models.features.table import wanted
    >>> wanted(["year"]), wanted({"venue": "category"})
    ({'year': None}, {'venue': 'category'})
    """
    if isinstance(features, str):
        features = [features]
    if isinstance(features, Mapping):
        found: dict[str, str | None] = dict(features)
    elif isinstance(features, list | tuple) and all(isinstance(name, str) for name in features):
        found = dict.fromkeys(features)
    else:
        raise ModelError(f"features is {features!r}; pass names of columns, or a mapping of names to kinds")
    if not found:
        raise ModelError('features is empty; name columns of corpus.documents, features=["year", "authors"] for one')
    for name, kind in found.items():
        if kind is not None and kind not in KINDS:
            raise ModelError(f"feature {name!r} has the kind {kind!r}; kinds are {', '.join(map(repr, KINDS))}")
    return found


def as_source(source: MetadataLike) -> Corpus | pd.DataFrame:
    """Any source of metadata columns as a corpus or a frame."""
    if isinstance(source, Corpus | pd.DataFrame):
        return source
    source = metadata_columns(source)
    if isinstance(source, Mapping):
        return _frame({str(name): _column_values(str(name), values) for name, values in source.items()})
    raise ModelError(f"pass a DataFrame of features, a mapping of columns, or a Corpus, not {type(source).__name__}")


def _column_values(name: str, values: object) -> list[Any]:
    """A column of a mapping; a single string is refused, as it would be split into letters."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise ModelError(f"the features are no table: {name!r} is {values!r}; pass a list with one value per document")
    return list(values)


def _frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{n} values of {name!r}" for name, n in lengths.items())
        raise ModelError(f"the features are no table: there are {each}; pass as many of each, one per document")
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def corpus_of(features: MetadataLike) -> Corpus:
    """Documents with metadata but no words."""
    source = as_source(features)
    if isinstance(source, Corpus):
        return source
    frame: pd.DataFrame = source.reset_index(drop=True)
    known = {name: frame[name].tolist() for name in ("authors", "id") if name in frame}
    rest = {str(name): frame[name].tolist() for name in frame if name not in known}
    return Corpus.from_tokens(
        [[] for _ in range(len(frame))], authors=known.get("authors"), ids=known.get("id"), metadata=rest
    )


def values_of(source: Corpus | pd.DataFrame, name: str) -> Sequence[Any]:
    """Values of a column; ``authors`` of a corpus are its authors."""
    if isinstance(source, Corpus) and name == "authors":
        return source.author_lists()
    frame = source.documents if isinstance(source, Corpus) else source
    if name not in frame:
        there = [*(["authors"] if isinstance(source, Corpus) else []), *map(str, frame)]
        raise ModelError(f"there is no column {name!r}; there are: {', '.join(there)}")
    found = frame[name]
    if isinstance(found, pd.DataFrame):
        raise ModelError(f"there are {found.shape[1]} columns {name!r}; keep one of them")
    return list(found)


def kind_of(corpus: Corpus, name: str, values: Sequence[Any]) -> str:
    """Kind of feature that a column appears to be."""
    if name == "authors":
        return "names"
    dtype = corpus.documents[name].dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "date"
    if pd.api.types.is_bool_dtype(dtype):
        return "category"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if not any(isinstance(value, list | tuple | np.ndarray) for value in values):
        return _kind_of_texts(values)
    named = [each for row in as_names(values, False) for each in row]
    ids = set(corpus.documents["id"])
    return "links" if named and 2 * sum(each in ids for each in named) >= len(named) else "names"


def _kind_of_texts(values: Sequence[Any]) -> str:
    """Kind of a column of strings, since a text table such as a .csv writes numbers and dates as text, too."""
    texts = [str(value).strip() for value in values if not is_missing(value)]
    for kind, pattern in _WRITTEN.items():
        if texts and all(pattern.fullmatch(text) for text in texts):
            return kind
    return "category"


def _learned(corpus: Corpus, name: str, kind: str, values: Sequence[Any], sparse: bool) -> tuple[Column, Coordinates]:
    if kind == "links":
        return Links.learn(name, values, corpus.documents["id"].tolist())
    if kind in ("number", "date"):
        number = Number.learn(name, values, kind == "date")
        return number, number.coordinates(values)
    names = Names.learn(name, values, kind == "category")
    return names, _rows(names, values, sparse)


def _rows(column: Number | Names, values: Sequence[Any], sparse: bool) -> Coordinates:
    if sparse and isinstance(column, Names):
        return column.sparse_coordinates(values)
    return column.coordinates(values)


def side_by_side(parts: list[Coordinates], sparse: bool) -> Coordinates:
    """Columns of coordinates as one array, or one sparse matrix."""
    return (
        csr_matrix(hstack([csr_matrix(part) for part in parts]))
        if sparse
        else np.ascontiguousarray(np.hstack([as_dense(part) for part in parts]))
    )


def is_sparse(coordinates: Coordinates) -> bool:
    """Whether coordinates are sparse."""
    return bool(issparse(coordinates))


def as_dense(coordinates: Coordinates) -> NDArray[np.float64]:
    """Coordinates as a dense array."""
    return coordinates.toarray() if isinstance(coordinates, csr_matrix) else np.asarray(coordinates)


def warn_unknown(columns: Sequence[Column], features: MetadataLike) -> None:
    """Warn about names that no training document has, with similar ones, and numbers outside the training range.

    Examples
    --------
    >>> import warnings
    >>> from topoi.models.features.columns import Names
    >>> from topoi.models.features.table import warn_unknown
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_unknown([Names("authors", ["Ann", "Bob"], False)], {"authors": [["Anm"], ["Bob"]]})
    >>> str(caught[0].message)
    "no document has authors 'Anm': taken as new; did you mean 'Ann'?"
    """
    source = as_source(features)
    for column in columns:
        if isinstance(column, Number):
            _warn_outside(column, values_of(source, column.name))
            continue
        known = column.levels if isinstance(column, Names) else column.ids
        single = isinstance(column, Names) and column.single
        given = dict.fromkeys(name for row in as_names(values_of(source, column.name), single) for name in row)
        there = set(known)
        unknown = [name for name in given if name not in there and not is_somebody(name)]
        which = column.name if isinstance(column, Names) else "the id"
        for name in unknown[:_TOLD]:
            near = " or ".join(map(repr, closest(name, known, 0.6)[:_TOLD]))
            warn_user(f"no document has {which} {name!r}: taken as new{f'; did you mean {near}?' if near else ''}")
        if len(unknown) > _TOLD:
            warn_user(f"{len(unknown) - _TOLD:,} other names of {column.name!r} are in no document: taken as new")


def _warn_outside(column: Number, values: Sequence[Any]) -> None:
    """Warn about the number farthest beyond the range, with the number of such values."""
    found = as_numbers(column.name, values, column.date)
    away = np.nan_to_num(np.maximum(column.low - found, found - column.high))
    n = int((away > 0).sum())
    if n:
        which = f"{column.name} {found[away.argmax()]:g}"
        are = "is" if n == 1 else f"and {n - 1:,} more are"
        warn_user(f"{which} {are} outside the documents' range, {column.low:g} to {column.high:g}: an extrapolation")
