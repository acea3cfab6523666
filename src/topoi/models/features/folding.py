"""New documents with known topics and a Dirichlet prior each, compiled: expected counts, probabilities, labels."""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.folding import Labels
from topoi.kernels.jit import compiled
from topoi.models.bags import Bags
from topoi.models.features import folding

# Passes over a document's words end when no expected count changes by so much per word.
TOLERANCE, PASSES = 1e-5, 200


@compiled
def fold_in(bags, word_topic, prior, first, last, tolerance, max_passes, doc_topic):
    """Set ``doc_topic`` to expected topic counts of new documents; P(word | topic) and Dirichlet priors are fixed.

    ``word_topic`` is words × topics, ``prior`` documents × topics. Passes end when no count changes by ``tolerance``
    per word.
    """
    n_topics = prior.shape[1]
    new = np.empty(n_topics)
    for d in range(first, last):
        begin, end = bags.doc_start[d], bags.doc_start[d + 1]
        shares = np.empty((end - begin, n_topics))
        length = 0.0
        doc_topic[d] = 0.0
        for i in range(begin, end):
            total = 0.0
            for k in range(n_topics):
                new[k] = word_topic[bags.row[i], k] * prior[d, k]
                total += new[k]
            length += bags.times[i]
            for k in range(n_topics):
                shares[i - begin, k] = new[k] / total if total > 0.0 else 1.0 / n_topics
                doc_topic[d, k] += bags.times[i] * shares[i - begin, k]
        for _ in range(max_passes):
            largest = 0.0
            for i in range(begin, end):
                total = 0.0
                for k in range(n_topics):
                    own = shares[i - begin, k]
                    new[k] = word_topic[bags.row[i], k] * (prior[d, k] + max(doc_topic[d, k] - own, 0.0))
                    total += new[k]
                for k in range(n_topics):
                    share = new[k] / total if total > 0.0 else 1.0 / n_topics
                    change = bags.times[i] * (share - shares[i - begin, k])
                    shares[i - begin, k] = share
                    doc_topic[d, k] += change
                    largest = max(largest, abs(change))
            if largest < tolerance * length:
                break


@compiled
def score(bags, word_topic, mixture, log_p):
    """Σ n log Σ_k P(w | k) mixture_dk for every document; O(entries × topics)."""
    for d in range(bags.doc_start.shape[0] - 1):
        total = 0.0
        for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
            p = 0.0
            for k in range(mixture.shape[1]):
                p += word_topic[bags.row[i], k] * mixture[d, k]
            total += bags.times[i] * math.log(p)
        log_p[d] = total


def fold_labels(
    word_topic: NDArray[np.float64], alpha: NDArray[np.float64], tokens: NDArray[Any]
) -> tuple[NDArray[np.float64], Labels]:
    """Mean mixture of a text, and the probabilities of topics for its tokens; there are no authors.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.features.folding import fold_labels
    >>> mixture, labels = fold_labels(np.array([[0.5, 1.0], [0.5, 0.0]]), np.ones(2), np.array([1]))
    >>> labels.topic.tolist(), mixture.round(3).tolist()
    ([[1.0, 0.0]], [0.667, 0.333])
    """
    words, times = np.unique(np.asarray(tokens, np.int64), return_counts=True)
    bags = Bags(np.array([0, len(words)]), words, times.astype(np.float64))
    counts = np.zeros((1, len(alpha)))
    folding.fold_in(bags, word_topic, alpha[None], 0, 1, TOLERANCE, PASSES, counts)
    total = alpha + counts[0]
    mixture = total / total.sum()
    shares = word_topic[np.asarray(tokens, np.int64)] * mixture
    return mixture, Labels(shares / shares.sum(axis=1, keepdims=True), np.ones((len(tokens), 1)))
