"""Numbers that sum up how well documents were predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError


def bits_per_word(log_likelihood: Any, lengths: Any) -> float:
    """How many bits a word costs on average: −Σ log2 P(d) / Σ n_d.

    Parameters
    ----------
    log_likelihood : array
        Natural logarithms, one per document, of any estimator.
    lengths : Corpus or array of int
        How many words of each document were scored; of a corpus, all its words: if the model does not know some of
        them, take ``n_words`` of ``heldout`` instead.

    Returns
    -------
    float
        The lower, the better; two to this power is the perplexity per token. NaN if there are no words.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> round(topoi.evaluation.bits_per_word(np.log([0.25, 0.125]), [2, 3]), 6)
    1.0
    """
    log_p = np.asarray(log_likelihood, np.float64)
    numbers = lengths.doc_lengths if isinstance(lengths, Corpus) else np.asarray(lengths)
    if log_p.shape != numbers.shape or log_p.ndim != 1:
        raise ModelError(f"there are {log_p.size} log-likelihoods for {numbers.size} documents; pass one for each")
    total = float(numbers.sum())
    return float(-log_p.sum() / np.log(2.0) / total) if total > 0 else float("nan")
