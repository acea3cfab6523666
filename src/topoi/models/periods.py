"""Tokens of topics by year and decade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.resampling import Draws, Groups, share_bands
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


def trend_rows(corpus: Corpus, name: str, period: str, cells: Iterable[Cells], draws: Draws) -> dict[str, Any]:
    """Tokens per topic (or other ``name``) and year or decade, for all rows in every period with tokens.

    ``cells`` are blocks of documents, topics and numbers of tokens; ``draws`` are those of single samples, for the
    intervals of shares.
    """
    year, lengths, n_rows, step = years(corpus), corpus.doc_lengths, draws.n_columns, PERIODS[period]
    dated = np.isfinite(year) & (np.abs(year) < 1e9) & (lengths > 0)
    values, at = np.unique(year[dated].astype(np.int64) // step * step, return_inverse=True)
    place = np.full(corpus.n_docs, -1)
    place[dated] = at
    total = np.bincount(at, lengths[dated], len(values))
    table = np.zeros((n_rows, len(values)))
    for doc, row, n in cells if len(values) else ():
        known = dated[doc]
        np.add.at(table, (row[known], place[doc[known]]), n[known])
    share = table / np.maximum(total, 1)
    lower, upper = share_bands(Groups(place, lengths.astype(np.float64), len(values)), draws, share.T)
    return {
        name: np.repeat(np.arange(n_rows), len(values)),
        period: np.tile(values, n_rows),
        "n_tokens": whole_tokens(table.ravel()),
        "share": share.ravel(),
        "lower": lower.T.ravel(),
        "upper": upper.T.ravel(),
    }
