"""Kinds of metadata: numbers and dates, names (categories, authors), links. Each column keeps its encoding.

A column turns values into coordinates: rows of numbers whose squared Euclidean distance measures how unlike two
documents are in this respect. Numbers keep their unit, so that a length scale of 5 means five years.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.authors import author_names
from topoi.corpus.metadata import parse_date
from topoi.errors import CorpusError, ModelError

KINDS = ("number", "date", "category", "names", "links")
# The author of a document by somebody new, given on purpose; a name that no document has.
SOMEBODY = "(somebody new)"
_DAYS_PER_YEAR = 365.2425
_LARGEST = 1e100


@dataclass(frozen=True)
class Number:
    """A number, or a date as a year with its fraction; one coordinate. Missing values become the mean."""

    name: str
    date: bool
    mean: float
    deviation: float
    low: float
    high: float
    kind: ClassVar[str] = "number"
    width: ClassVar[int] = 1

    @classmethod
    def learn(cls, name: str, values: Sequence[Any], date: bool) -> Number:
        """Learn the mean, the spread and the range."""
        found = as_numbers(name, values, date)
        known = found[~np.isnan(found)]
        if not len(known):
            raise ModelError(f"feature {name!r} has no value in any document; leave it out")
        spread = float(known.std())
        mean, low, high = float(known.mean()), float(known.min()), float(known.max())
        return cls(name, date, mean, spread if spread > 0 else 1.0, low, high)

    def coordinates(self, values: Sequence[Any]) -> NDArray[np.float64]:
        """The numbers themselves, documents × 1."""
        found = as_numbers(self.name, values, self.date)
        return np.asarray(np.where(np.isnan(found), self.mean, found)[:, None])

    @property
    def length_scale(self) -> tuple[float, float, float]:
        """Initial length scale for learning, and its range."""
        span = max(self.high - self.low, self.deviation)
        return span / 20.0, span / 1000.0, span * 10.0

    def count_unknown(self, values: Sequence[Any]) -> int:
        """Number of missing values."""
        return int(np.isnan(as_numbers(self.name, values, self.date)).sum())


@dataclass(frozen=True)
class Names:
    """A category, or a list of names such as authors: one coordinate per name, one for none, one for unknown names.

    Two documents are at distance 0 if their names are the same, at 1 if they share none, and otherwise at
    1 − (shared names) / √(product of the numbers of names). All unknown names are alike, and unlike all others.
    """

    name: str
    levels: list[str]
    single: bool
    kind: ClassVar[str] = "names"

    @classmethod
    def learn(cls, name: str, values: Sequence[Any], single: bool) -> Names:
        """Learn the names, in alphabetical order."""
        levels = sorted({each for row in as_names(values, single) for each in row})
        if not levels:
            raise ModelError(f"feature {name!r} has no value in any document; leave it out")
        return cls(name, levels, single)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.levels) + 2

    def coordinates(self, values: Sequence[Any]) -> NDArray[np.float64]:
        """Rows of length 1/√2 in the direction of the document's names."""
        return np.asarray(self.sparse_coordinates(values).toarray())

    def sparse_coordinates(self, values: Sequence[Any]) -> csr_matrix:
        """``coordinates`` as a sparse matrix, for many names."""
        place = {level: i for i, level in enumerate(self.levels)}
        rows = []
        for names in as_names(values, self.single):
            row = {place[each]: 1.0 for each in names if each in place}
            if len(row) < len(names):
                row[len(place) + 1] = float(np.sqrt(len(names) - len(row)))
            rows.append(row or {len(place): 1.0})
        start = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        where = np.array([at for row in rows for at in row], np.int64)
        value = np.array([each for row in rows for each in row.values()])
        length = np.sqrt(2.0 * np.array([sum(each**2 for each in row.values()) for row in rows]))
        value /= np.repeat(length, np.diff(start))
        return csr_matrix((value, where, start), shape=(len(rows), self.width))

    @property
    def length_scale(self) -> tuple[float, float, float]:
        """Initial length scale for learning, and its range."""
        return 1.0, 0.1, 10.0

    def count_unknown(self, values: Sequence[Any]) -> int:
        """Number of documents without a name, or with an unknown one."""
        known = set(self.levels)
        return sum(not row or not known.issuperset(row) for row in as_names(values, self.single))


@dataclass(frozen=True)
class Links:
    """Links between documents: the shortest distances to all training documents, one coordinate each.

    Links count both ways. Unconnected documents are one step farther apart than the longest path. A new document is one
    step from those it links to, and its paths to all others lead through them.
    """

    name: str
    ids: list[str]
    farthest: float
    kind: ClassVar[str] = "links"

    @classmethod
    def learn(cls, name: str, values: Sequence[Any], ids: Sequence[str]) -> tuple[Links, NDArray[np.float64]]:
        """The column, and the distances between the training documents."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import shortest_path

        place = {each: d for d, each in enumerate(ids)}
        pairs = [(d, place[to]) for d, row in enumerate(as_names(values, False)) for to in row if to in place]
        one, other = np.array(pairs, np.int64).reshape(-1, 2).T
        graph = coo_matrix((np.ones(len(one)), (one, other)), shape=(len(ids), len(ids)))
        steps = shortest_path(graph.tocsr(), method="D", directed=False, unweighted=True)
        farthest = float(steps[np.isfinite(steps)].max(initial=0.0)) + 1.0
        return cls(name, list(ids), farthest), np.where(np.isfinite(steps), steps, farthest)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.ids)

    def new_coordinates(self, values: Sequence[Any], steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distances of new documents to the training documents, whose own are ``steps``."""
        place = {each: d for d, each in enumerate(self.ids)}
        rows = as_names(values, False)
        found = np.full((len(rows), len(self.ids)), self.farthest)
        for d, row in enumerate(rows):
            near = [place[to] for to in row if to in place]
            if near:
                found[d] = np.minimum(steps[near].min(axis=0) + 1.0, self.farthest)
        return found

    @property
    def length_scale(self) -> tuple[float, float, float]:
        """Initial length scale for learning, and its range."""
        start = self.farthest * np.sqrt(len(self.ids)) / 4.0
        return start, start / 50.0, start * 50.0

    def count_unknown(self, values: Sequence[Any]) -> int:
        """Number of documents that link to no training document."""
        known = set(self.ids)
        return sum(known.isdisjoint(row) for row in as_names(values, False))


Column = Number | Names | Links
_CLASSES: dict[str, Any] = {each.kind: each for each in (Number, Names, Links)}


def as_plain(column: Column) -> dict[str, Any]:
    """A column as JSON can hold it."""
    return {"kind": column.kind} | asdict(column)


def from_plain(plain: dict[str, Any]) -> Column:
    """Restore a column from ``as_plain``."""
    values = dict(plain)
    column: Column = _CLASSES[values.pop("kind")](**values)
    return column


def is_somebody(name: str) -> bool:
    """Whether a name is the placeholder of somebody new (with quotes appended if a document has that very name)."""
    return name.rstrip("'") == SOMEBODY


def as_numbers(name: str, values: Sequence[Any], date: bool) -> NDArray[np.float64]:
    """Values as floats, missing ones as NaN.

    Examples
    --------
    >>> from topoi.models.features.columns import as_numbers
    >>> as_numbers("date", ["1999-07-02", None, 2001], True).round(1).tolist()
    [1999.5, nan, 2001.0]
    """
    try:
        found = np.array([_year(value) if date else _number(value) for value in values], np.float64)
    except (TypeError, ValueError, CorpusError):
        what = "a date" if date else "a number"
        message = f"feature {name!r} has values that are not {what}; name its kind: features={{{name!r}: 'category'}}"
        raise ModelError(message) from None
    if np.isinf(found).any():
        raise ModelError(f"feature {name!r} has an infinite value")
    if (np.abs(found) > _LARGEST).any():
        raise ModelError(f"feature {name!r} has values beyond {_LARGEST:g}, whose squares no number holds; rescale it")
    return found


def _number(value: Any) -> float:
    if is_missing(value):
        return np.nan
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return np.inf


def _year(value: Any) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return _number(value)
    day = parse_date(value)
    if day is None:
        return np.nan
    start = datetime.datetime(day.year, 1, 1)
    return day.year + (day - start).total_seconds() / 86400.0 / _DAYS_PER_YEAR


def as_names(values: Iterable[Any], single: bool) -> list[list[str]]:
    """Distinct names of each document, none for a missing value; a string may hold several, separated by semicolons.

    Examples
    --------
    >>> from topoi.models.features.columns import as_names
    >>> as_names(["ACL", None], True), as_names([["Ann", "Bob", "Ann"], "Ann; Cy"], False)
    ([['ACL'], []], [['Ann', 'Bob'], ['Ann', 'Cy']])
    """
    if single:
        return [[] if is_missing(value) else [_level(value)] for value in values]
    return [[] if is_missing(value) else list(dict.fromkeys(author_names(value))) for value in values]


def feature_bytes(column: Column, values: Sequence[Any]) -> list[bytes]:
    """Value of a feature of each document as bytes, equal for values that the column does not distinguish.

    Examples
    --------
    >>> from topoi.models.features.columns import Names, feature_bytes
    >>> one, other = feature_bytes(Names("authors", ["Ann", "Bob"], False), ["Bob; Ann", ["Ann", "Bob"]])
    >>> one == other
    True
    """
    if isinstance(column, Number):
        return [value.tobytes() for value in as_numbers(column.name, values, column.date)]
    rows = as_names(values, getattr(column, "single", False))
    return [json.dumps(sorted(row)).encode() for row in rows]


def _level(value: object) -> str:
    """Name of a category; 3.0 and 3 are the same, since a missing value beside it turns 3 into 3.0."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def is_missing(value: Any) -> bool:
    """Whether a value is missing; an empty cell of a table and an empty list are."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list | tuple):
        return not value
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))
