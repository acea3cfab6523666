"""Tokens of topics by year."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.models.smoothed_counts import Cells, whole_tokens


def years(corpus: Corpus) -> NDArray[np.float64]:
    """Year of each document; nan where it is missing or not a number."""
    if "year" not in corpus.documents:
        return np.full(corpus.n_docs, np.nan)
    return pd.to_numeric(corpus.documents["year"], errors="coerce").to_numpy(np.float64, na_value=np.nan)


def trend_rows(corpus: Corpus, name: str, n_rows: int, cells: Iterable[Cells]) -> dict[str, Any]:
    """Tokens per topic (or other ``name``) and year, for all rows in every year with tokens.

    ``cells`` are blocks of documents, topics and numbers of tokens.
    """
    year, lengths = years(corpus), corpus.doc_lengths
    dated = np.isfinite(year) & (np.abs(year) < 1e9)
    values, at = np.unique(year[dated & (lengths > 0)].astype(np.int64), return_inverse=True)
    place = np.zeros(corpus.n_docs, np.int64)
    place[dated & (lengths > 0)] = at
    total = np.bincount(at, lengths[dated & (lengths > 0)], len(values))
    table = np.zeros((n_rows, len(values)))
    for doc, row, n in cells if len(values) else ():
        known = dated[doc]
        np.add.at(table, (row[known], place[doc[known]]), n[known])
    return {
        name: np.repeat(np.arange(n_rows), len(values)),
        "year": np.tile(values, n_rows),
        "n_tokens": whole_tokens(table.ravel()),
        "share": (table / np.maximum(total, 1)).ravel(),
    }
