"""Tokens of topics by year and decade."""

from __future__ import annotations

from collections.abc import Iterable
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
