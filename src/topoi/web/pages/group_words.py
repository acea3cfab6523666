"""Words in which two groups of documents differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.analysis.groupings import Pair
from topoi.analysis.word_groups import compare_words, sum_words
from topoi.store.search import StoreIndex
from topoi.web.pages.context import PageContext
from topoi.web.pages.text import short

N_WORDS = 20
# Tokens of each group that are read: enough for any word that is worth a look, in less than a second.
MOST_TOKENS = 2_000_000
_LONGEST_WORD = 100


class WordDifference(TypedDict):
    """A word in two groups: how often each uses it, and the ratio of its shares with an interval (0.9).

    ``score`` is the logarithm of the ratio in standard errors: above zero if the first group uses the word more.
    """

    word_id: int
    word: str
    n_tokens: int
    other_n_tokens: int
    share: float
    other_share: float
    ratio: float
    lower: float
    upper: float
    score: float
    q_value: float


def compare_vocabulary(context: PageContext, pair: Pair) -> tuple[list[WordDifference], list[int]]:
    """Words that tell two groups apart most clearly, some of each, and the numbers of words that were read."""
    index = StoreIndex(context.view.store)
    lengths = context.snapshot.columns.lengths
    chosen = [_some(rows, lengths) for rows in (pair.ours, pair.theirs)]
    ours, theirs = (sum_words(index.tokens(rows), context.collection["n_words"]) for rows in chosen)
    frame = compare_words(ours, theirs)
    # Each side's own words, what the first has more of first.
    most = pd.concat([frame[frame["score"] > 0].head(N_WORDS), frame[frame["score"] < 0].tail(N_WORDS)])
    words = context.view.vocabulary_.words
    found = [
        WordDifference(
            word_id=int(row["word"]),
            word=short(str(words[int(row["word"])]), _LONGEST_WORD),
            n_tokens=int(row["n_words"]),
            other_n_tokens=int(row["other_n_words"]),
            share=row["share"],
            other_share=row["other_share"],
            ratio=row["ratio"],
            lower=row["lower"],
            upper=row["upper"],
            score=row["score"],
            q_value=row["q_value"],
        )
        for row in most.to_dict("records")
    ]
    return found, [int(ours.length), int(theirs.length)]


def _some(rows: NDArray[np.int64], lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """All documents of a group or, if they have too many words, some of them by chance, the same at every request."""
    if lengths[rows].sum() <= MOST_TOKENS:
        return rows
    shuffled = np.random.default_rng(0).permutation(rows)
    return np.sort(shuffled[np.cumsum(lengths[shuffled]) <= MOST_TOKENS])
