"""Scores of documents for a query, as equations over dense arrays: units (documents or authors) × terms.

The likelihood of a query is a product over its terms. Each factor is divided by the term's probability in the whole
collection: that changes no ranking, and makes the logarithm per term comparable between queries. 0 means "as likely as
anywhere", log 2 "twice as likely per term".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from topoi.models.validation import choice

Array = NDArray[np.float64]
IDF = ("robertson", "positive")
_FEW = 16


def language_ratios(counts: Array, lengths: Array, background: Array, mu: float) -> Array:
    """P(term | unit) / P(term) with Dirichlet smoothing: (count + mu P(term)) / (length + mu), divided by P(term).

    Examples
    --------
    >>> import numpy as np
    >>> language_ratios(np.array([[1.0], [0.0]]), np.array([10.0, 10.0]), np.array([0.1]), 10.0).tolist()
    [[1.0], [0.5]]
    """
    return np.asarray((counts / background + mu) / (lengths + mu)[:, None])


def mixed(language: Array, topics: Array, weight: float) -> Array:
    """Mixture per term: ``weight`` for the language model, the rest for the topic model."""
    return np.asarray(weight * language + (1.0 - weight) * topics)


def log_score(ratios: Array, times: Array) -> Array:
    """Logarithm of the product over terms; divide by the number of terms to compare queries."""
    if ratios.shape[1] <= _FEW and (times == 1).all():
        return np.asarray(np.log(ratios.prod(axis=1)))  # one logarithm for all; so few ratios cannot underflow
    return np.asarray(np.log(ratios) @ times)


def averaged(scores: Sequence[Array]) -> Array:
    """Logarithm of the mean of products, one per chain (AT09, equation 11)."""
    return np.asarray(logsumexp(np.stack(scores), axis=0) - np.log(len(scores)))


def inverse_document_frequency(n_documents: Any, n_units: int, form: str) -> Array:
    """Weight of a term that occurs in ``n_documents`` of ``n_units`` documents.

    ``"robertson"`` is log((D − D_w + 1/2) / (D_w + 1/2)), as AT09 6.5 has it; it is negative for a term of more than
    half of all documents. ``"positive"`` adds 1 under the logarithm, as Lucene does, and is never negative.

    Examples
    --------
    >>> inverse_document_frequency([2.0], 3, "robertson").round(3).tolist()
    [-0.511]
    >>> inverse_document_frequency([2.0], 3, "positive").round(3).tolist()
    [0.47]
    """
    found = np.asarray(n_documents, np.float64)
    odds = (n_units - found + 0.5) / (found + 0.5)
    return np.log(odds if choice("idf", form, IDF) == "robertson" else 1.0 + odds)


def bm25(counts: Array, lengths: Array, idf: Array, times: Array, k1: float, b: float, mean_length: float) -> Array:
    """Okapi BM25: Σ idf · count (k1 + 1) / (count + k1 (1 − b + b length / mean length)) (AT09, section 6.5)."""
    room = k1 * (1.0 - b + b * lengths / mean_length)
    return np.asarray((counts * (k1 + 1.0) / (counts + room[:, None])) @ (idf * times))
