"""Largest corpus for which float32 counts stay exact."""

from __future__ import annotations

import numpy as np

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError

EXACT_IN_FLOAT32 = 2**24


def check_exact(corpus: Corpus) -> None:
    """Raise an error if a word is too frequent, or a document too long, to be counted exactly."""
    commonest = int(np.bincount(corpus.tokens, minlength=1).max(initial=0))
    if commonest >= EXACT_IN_FLOAT32:
        raise ModelError(
            f"one word occurs {commonest:,} times; counts are exact below {EXACT_IN_FLOAT32:,}: "
            "drop the commonest words (max_df)"
        )
    longest = int(np.diff(corpus.doc_start).max(initial=0))
    if longest >= EXACT_IN_FLOAT32:
        raise ModelError(f"a document has {longest:,} words; cut it into parts below {EXACT_IN_FLOAT32:,}")
