"""Sparse design matrix of a regression: an intercept, numbers, bumps in time, and one column per name."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.contract import FeaturesLike, MetadataLike
from topoi.models.features.columns import Names, Number, as_names, as_numbers, as_plain, from_plain, is_somebody
from topoi.models.features.table import as_source, kind_of, values_of, wanted

Array = NDArray[np.float64]
AUTO_PARTS, _MOST_BUMPS = 10.0, 1000
# Candidate numbers of parts of the range, to be chosen by cross-validation.
PARTS = (2.5, 5.0, 10.0, 20.0, 40.0)
# Width of a number's bumps, "auto" or "cv" for one to be chosen, None for a straight line; or one for each feature.
Width = float | str | None
WidthLike = Width | Mapping[str, Width]


@dataclass(frozen=True)
class Term:
    """Columns of one feature. A number with a ``width`` has bumps at that distance; without, it is standardised.

    Bumps are exp(−(x − centre)² / 2 width²). A missing number, and a name not in the training documents, have zeros.
    """

    column: Number | Names
    width: float | None = None

    @property
    def name(self) -> str:
        """Name of the feature."""
        return self.column.name

    @property
    def centres(self) -> NDArray[np.float64]:
        """Centres of the bumps: from the lowest value to the highest or a little beyond."""
        if self.width is None or isinstance(self.column, Names):
            return np.zeros(0)
        n = int(np.ceil((self.column.high - self.column.low) / self.width - 1e-9)) + 1
        return np.asarray(self.column.low + self.width * np.arange(n), np.float64)

    @property
    def labels(self) -> list[str]:
        """Name of each column."""
        if isinstance(self.column, Names):
            return [f"{self.name}={level}" for level in self.column.levels]
        return [self.name] if self.width is None else [f"{self.name}~{centre:g}" for centre in self.centres]

    def with_names(self, corpus: Corpus) -> Term:
        """The same term, with the names of a corpus after those it knows."""
        if not isinstance(self.column, Names):
            return self
        known = set(self.column.levels)
        found = {each for row in as_names(values_of(corpus, self.name), self.column.single) for each in row}
        new = sorted(each for each in found - known if not is_somebody(each))
        return replace(self, column=replace(self.column, levels=[*self.column.levels, *new])) if new else self

    def columns(self, source: Corpus | pd.DataFrame) -> csr_matrix:
        """Columns of some documents."""
        values = values_of(source, self.name)
        if isinstance(self.column, Names):
            return self._indicators(self.column, values)
        found = as_numbers(self.name, values, self.column.date)
        if self.width is None:
            dense = ((found - self.column.mean) / self.column.deviation)[:, None]
        else:
            dense = np.exp(-0.5 * ((found[:, None] - self.centres) / self.width) ** 2)
            dense[dense < 1e-6] = 0.0
        return csr_matrix(np.nan_to_num(dense))

    def unseen(self, source: Corpus | pd.DataFrame) -> Array:
        """Prior variance of some documents that the training documents leave open, one number per document.

        In units of the prior variance. A name that no training document has is as uncertain as its coefficient before
        any data. Bumps that continue beyond the range amount to a Gaussian process with covariance √π exp(−(x − y)² / 4
        width²); given its value at the end of the range, its variance at a distance is √π (1 − exp(−distance² / 2
        width²)).
        """
        values = values_of(source, self.name)
        if isinstance(self.column, Names):
            known = set(self.column.levels)
            rows = as_names(values, self.column.single)
            return np.array([sum(each not in known and not is_somebody(each) for each in row) for row in rows], float)
        found = np.nan_to_num(as_numbers(self.name, values, self.column.date), nan=self.column.mean)
        if self.width is None:  # a straight line: its slope's error grows with the distance
            return np.zeros(len(found))
        away = np.maximum(np.maximum(self.column.low - found, found - self.column.high), 0.0) / self.width
        return np.asarray(-np.sqrt(np.pi) * np.expm1(-0.5 * away**2))

    @staticmethod
    def _indicators(column: Names, values: Sequence[Any]) -> csr_matrix:
        place = {level: i for i, level in enumerate(column.levels)}
        rows = [[place[each] for each in row if each in place] for row in as_names(values, column.single)]
        start = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        where = np.array([at for row in rows for at in row], np.int64)
        return csr_matrix((np.ones(len(where)), where, start), shape=(len(rows), len(place)))

    def to_plain(self) -> dict[str, Any]:
        """The term as JSON can hold it."""
        return {"column": as_plain(self.column), "width": self.width}


@dataclass(frozen=True)
class Design:
    """The terms of a regression, learned from a corpus; the first column is the intercept.

    Examples
    --------
    >>> import topoi
    >>> from topoi.models.dmr.design import Design
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"]], authors=["Ann", "Bob"], dates=[1999, 2001])
    >>> design = Design.learn(corpus, ["year", "authors"], width=1.0)
    >>> design.labels
    ['intercept', 'year~1999', 'year~2000', 'year~2001', 'authors=Ann', 'authors=Bob']
    >>> design.matrix({"year": [2000], "authors": [["Bob"]]}).toarray().round(2).tolist()
    [[1.0, 0.61, 1.0, 0.61, 0.0, 1.0]]
    """

    terms: tuple[Term, ...]

    @classmethod
    def learn(
        cls, corpus: Corpus, features: FeaturesLike | None, width: WidthLike = "auto", parts: float = AUTO_PARTS
    ) -> Design:
        """Learn the columns from the features of a corpus. Without features there is only an intercept.

        A width of "cv" is the range divided by ``parts``, which the caller chooses.
        """
        if features is None or (isinstance(features, list | tuple | dict) and not features):
            return cls(())
        kinds = wanted(features)
        named, rule = _widths(width, list(kinds))
        return cls(tuple(_learned(corpus, name, kind, named, rule, parts) for name, kind in kinds.items()))

    def with_names(self, corpus: Corpus) -> Design:
        """The same design with more columns: for names of a corpus that it does not know, after those it does.

        Examples
        --------
        >>> import topoi
        >>> from topoi.models.dmr.design import Design
        >>> design = Design.learn(topoi.Corpus.from_tokens([["a"], ["b"]], authors=["Cy", "Bob"]), ["authors"])
        >>> design.with_names(topoi.Corpus.from_tokens([["a"]], authors=["Ann"])).labels
        ['intercept', 'authors=Bob', 'authors=Cy', 'authors=Ann']
        """
        return Design(tuple(term.with_names(corpus) for term in self.terms))

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [term.name for term in self.terms]

    @property
    def labels(self) -> list[str]:
        """Name of each column, the intercept first."""
        return ["intercept", *(label for term in self.terms for label in term.labels)]

    def matrix(self, source: MetadataLike) -> csr_matrix:
        """Design matrix of a corpus, a frame, or a mapping of columns: documents × columns.

        Values are rounded to float32, so that they equal those that documents carry.
        """
        frame = as_source(source)
        n = frame.n_docs if isinstance(frame, Corpus) else len(frame)
        found = hstack([csr_matrix(np.ones((n, 1))), *(term.columns(frame) for term in self.terms)], format="csr")
        found.sort_indices()
        return csr_matrix((found.data.astype(np.float32).astype(np.float64), found.indices, found.indptr), found.shape)

    def unseen(self, source: MetadataLike) -> Array:
        """Prior variances of new documents beyond what their columns say (see ``Term.unseen``)."""
        frame = as_source(source)
        n = frame.n_docs if isinstance(frame, Corpus) else len(frame)
        return sum((term.unseen(frame) for term in self.terms), np.zeros(n))

    def to_plain(self) -> list[dict[str, Any]]:
        """The terms as JSON can hold them."""
        return [term.to_plain() for term in self.terms]

    @classmethod
    def from_plain(cls, plain: list[dict[str, Any]]) -> Design:
        """Restore the design from ``to_plain``."""
        return cls(tuple(Term(from_plain(each["column"]), each["width"]) for each in plain))  # type: ignore[arg-type]


def is_chosen(width: WidthLike) -> bool:
    """Whether a width, or one in a mapping, is to be chosen by cross-validation."""
    each = list(width.values()) if isinstance(width, Mapping) else [width]
    return any(isinstance(one, str) and one == "cv" for one in each)


def _learned(corpus: Corpus, name: str, kind: str | None, named: dict[str, Width], rule: Width, parts: float) -> Term:
    values = values_of(corpus, name)
    kind = kind or kind_of(corpus, name, values)
    if kind in ("number", "date"):
        number = Number.learn(name, values, kind == "date")
        wide = named.get(name, rule if kind == "date" or name == "year" else None)
        if isinstance(wide, str):
            parts = AUTO_PARTS if wide == "auto" else parts
            wide = max(number.high - number.low, number.deviation) / parts
        if wide is not None and (number.high - number.low) / wide > _MOST_BUMPS:
            raise ModelError(
                f"width {wide:g} cuts the range of {name!r} into more than {_MOST_BUMPS:,}; use a larger one"
            )
        return Term(number, wide)
    # A link is a name: that of the linked document.
    return Term(Names.learn(name, values, kind == "category"))


def _widths(width: WidthLike, names: list[str]) -> tuple[dict[str, Width], Width]:
    """Widths by feature, and the width of dates and years not in the mapping."""
    if not isinstance(width, Mapping):
        return {}, _width(width)
    unknown = [name for name in width if name not in names]
    if unknown:
        raise ModelError(f"width names {unknown[0]!r}, which is no feature; there are: {', '.join(names)}")
    return {str(name): _width(each) for name, each in width.items()}, "auto"


def _width(width: Width) -> Width:
    if width is None or (isinstance(width, str) and width in ("auto", "cv")):
        return width
    if isinstance(width, bool) or not isinstance(width, numbers.Real) or not 0 < float(width) < np.inf:
        raise ModelError(
            f"width is {width!r}; pass a positive number, None, 'auto', 'cv', or a mapping of features to these"
        )
    return float(width)
