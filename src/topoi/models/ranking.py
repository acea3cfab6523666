"""Ordering: largest values, ranks, relevance of words to topics, reading order of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.errors import ModelError

# In longer rows the largest values are partitioned off first, and only those are sorted.
_SORT_WHOLE = 1024
# Number of authors and documents of each topic ranked in topic_author and topic_document.
N_RANKED = 200
# Number of words, and of neighbours, listed for each topic.
N_WORDS = 20
N_NEIGHBOURS = 10
# Relevance weight that ranks those words: 1 by probability alone, 0 by lift over the whole collection.
SUMMARY_RELEVANCE = 0.6


def largest(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Positions of the ``n`` largest values of each row, largest first, ties by position."""
    n = min(n, values.shape[1])
    if values.shape[1] <= _SORT_WHOLE:
        return np.argsort(-values, axis=1, kind="stable")[:, :n]
    result = np.empty((len(values), n), np.int64)
    for r, row in enumerate(values):
        candidates = np.flatnonzero(row >= np.partition(row, -n)[-n])
        result[r] = candidates[np.argsort(-row[candidates], kind="stable")][:n]
    return result


def relevance_scores(probability: NDArray[Any], times: NDArray[Any], relevance: float) -> NDArray[np.float64]:
    """Relevance of each word to each topic: log P(word | topic) − (1 − relevance) · log P(word), up to a constant.

    ``times`` is the number of occurrences of each word in the corpus; words that never occur have the least relevance.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.ranking import relevance_scores
    >>> relevance_scores(np.array([[0.4, 0.3]]), np.array([80, 20]), 0.5).argmax()
    np.int64(1)
    """
    if not 0.0 <= relevance <= 1.0:
        raise ModelError(f"relevance is {relevance!r}; it must be between 0 and 1")
    if relevance == 1.0:
        return np.asarray(probability, np.float64)
    with np.errstate(divide="ignore"):  # a word that is banned from a topic has the probability zero
        telling = np.log(probability) - (1.0 - relevance) * np.log(np.maximum(times, 1))
    return np.where(np.asarray(times) > 0, telling, -np.inf)


def reading_order(background: bool, share: float, topic: int) -> tuple[bool, float, int]:
    """Key that sorts topics for reading: the largest first, background topics after all others.

    Examples
    --------
    >>> from topoi.models.ranking import reading_order
    >>> sorted([(True, 0.5, 0), (False, 0.1, 1), (False, 0.4, 2)], key=lambda topic: reading_order(*topic))
    [(False, 0.4, 2), (False, 0.1, 1), (True, 0.5, 0)]
    """
    return bool(background), -float(share), int(topic)


def ranked(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    """The frame with a column ``rank`` after its first column: 1, 2, … within each value of ``by``."""
    frame.insert(1, "rank", frame.groupby(by, sort=False).cumcount() + 1)
    return frame
