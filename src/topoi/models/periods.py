"""Tokens of topics by year and decade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.resampling import Draws, Groups, several_bands
from topoi.models.smoothed_counts import Cells, whole_tokens


def years(corpus: Corpus) -> NDArray[np.float64]:
    """Year of each document; nan where it is missing or not a number."""
    if "year" not in corpus.documents:
        return np.full(corpus.n_docs, np.nan)
    return pd.to_numeric(corpus.documents["year"], errors="coerce").to_numpy(np.float64, na_value=np.nan)


class Trend(NamedTuple):
    """Words per topic (or node) by period: periods, words of each, and of its topics, shares and their intervals.

    The last four are periods × topics; intervals have the probability ``topoi.models.resampling.LEVEL``.
    """

    periods: NDArray[Any]
    words: NDArray[np.float64]
    counts: NDArray[np.float64]
    share: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


# Part of all words in the years that charts show by default.
MAIN_PART = 0.98
# A few years less at the ends are not worth a chart that does not show all.
_LEAST_SAVED = 0.1


def main_span(
    periods: Sequence[int] | NDArray[Any], words: Sequence[float] | NDArray[Any], part: float = MAIN_PART
) -> tuple[int, int]:
    """First and last period of the shortest stretch of time that has ``part`` of all words.

    If that would be nearly all of the time, it is all of it.

    Parameters
    ----------
    periods : sequence of int
        Years, or first years of decades, in order; at least one.
    words : sequence of float
        Number of words of each.
    part : float
        Part of all words, between 0 and 1.

    Examples
    --------
    >>> from topoi.models.periods import main_span
    >>> main_span([1901, 1952, 1990, 1991, 1992], [1, 2, 500, 600, 700]), main_span([1990, 1991], [1, 900])
    ((1990, 1992), (1990, 1991))
    """
    years, total = [int(period) for period in periods], np.concatenate(([0.0], np.cumsum(words, dtype=np.float64)))
    first = np.searchsorted(total, total - part * total[-1] * (1 - 1e-12), side="right") - 1
    stretches = [
        (years[last - 1] - years[at], years[at], years[last - 1]) for last, at in enumerate(first) if 0 <= at < last
    ]
    length, *ends = min(stretches, default=(0, years[0], years[-1]))
    whole = years[-1] - years[0]
    if whole - length < max(2, _LEAST_SAVED * whole):
        return years[0], years[-1]
    return ends[0], ends[1]


# Periods that a store has trends of: the name of the column, and the number of years.
PERIODS = {"year": 1, "decade": 10}


def trend_rows(corpus: Corpus, name: str, cells: Iterable[Cells], draws: Draws) -> dict[str, dict[str, Any]]:
    """Tokens per topic (or other ``name``) by year and by decade, for all rows in every period with tokens.

    ``cells`` are blocks of documents, topics and numbers of tokens; ``draws`` are those of single samples, for the
    intervals of shares. Both are read once.
    """
    tables = {period: _PeriodTable(corpus, step, draws.n_columns) for period, step in PERIODS.items()}
    for cell in cells if any(len(table.values) for table in tables.values()) else ():
        for table in tables.values():
            table.add(*cell)
    bands = several_bands([(table.groups, table.share.T) for table in tables.values()], draws)
    return {
        period: {
            name: np.repeat(np.arange(draws.n_columns), len(table.values)),
            period: np.tile(table.values, draws.n_columns),
            "n_tokens": whole_tokens(table.counts.ravel()),
            "share": table.share.ravel(),
            "lower": lower.T.ravel(),
            "upper": upper.T.ravel(),
        }
        for (period, table), (lower, upper) in zip(tables.items(), bands, strict=True)
    }


class _PeriodTable:
    """Tokens of topics (or others) in periods of some years: topics × periods."""

    def __init__(self, corpus: Corpus, step: int, n_rows: int) -> None:
        year, lengths = years(corpus), corpus.doc_lengths
        self._dated = np.isfinite(year) & (np.abs(year) < 1e9) & (lengths > 0)
        self.values, at = np.unique(year[self._dated].astype(np.int64) // step * step, return_inverse=True)
        self._place = np.full(corpus.n_docs, -1)
        self._place[self._dated] = at
        self._total = np.bincount(at, lengths[self._dated], len(self.values))
        self.counts = np.zeros((n_rows, len(self.values)))
        self.groups = Groups(self._place, lengths.astype(np.float64), len(self.values))

    def add(self, doc: NDArray[Any], row: NDArray[Any], n: NDArray[Any]) -> None:
        """Add tokens of documents in topics."""
        known = self._dated[doc]
        np.add.at(self.counts, (row[known], self._place[doc[known]]), n[known])

    @property
    def share(self) -> NDArray[np.float64]:
        """Shares of each period's tokens."""
        return np.asarray(self.counts / np.maximum(self._total, 1))
