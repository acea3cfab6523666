"""Distances between all pairs of topics, by their words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import compiled

# Block size: topics × this many words.
_WORDS_AT_ONCE = 4096
# Smaller blocks for heavier work, so that they stay in the processor's cache.
_WORDS_IN_CACHE = 256


def symmetrised_kl(columns: Callable[[Any], NDArray[np.float64]], n_words: int) -> NDArray[np.float64]:
    """KL(p‖q) + KL(q‖p) between the words of all pairs of topics, as ``distances.kl_matrix``, in little memory.

    Parameters
    ----------
    columns : callable
        Function of word numbers that returns their P(word | topic), topics × words; zeros are not allowed.
    n_words : int
        Number of words.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.topic_distances import symmetrised_kl
    >>> p = np.array([[0.5, 0.5], [0.9, 0.1]])
    >>> symmetrised_kl(lambda words: p[:, words], 2).round(3).tolist()
    [[0.0, 0.879], [0.879, 0.0]]
    """
    cross: Any = 0.0
    for first in range(0, n_words, _WORDS_AT_ONCE):
        p = columns(slice(first, min(first + _WORDS_AT_ONCE, n_words)))
        cross = cross + p @ np.log(p).T
    own = cross.diagonal()
    # Rounding can push zeros slightly below zero.
    return np.maximum(own[:, None] + own - cross - cross.T, 0.0)


def jensen_shannon(columns: Callable[[Any], NDArray[np.float64]], n_words: int) -> NDArray[np.float64]:
    """Root of the Jensen–Shannon divergence between the words of all pairs of topics: a distance.

    Each pair takes a logarithm per word; ``jensen_shannon_of_counts`` takes far fewer.

    Parameters
    ----------
    columns, n_words
        As for ``symmetrised_kl``.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.topic_distances import jensen_shannon
    >>> p = np.array([[0.5, 0.5], [0.9, 0.1]])
    >>> jensen_shannon(lambda words: p[:, words], 2).round(3).tolist()
    [[0.0, 0.319], [0.319, 0.0]]
    """
    own: Any = 0.0
    mixed: Any = 0.0
    for first in range(0, n_words, _WORDS_IN_CACHE):
        p = np.ascontiguousarray(columns(slice(first, min(first + _WORDS_IN_CACHE, n_words))))
        own = own + (p * np.log(p)).sum(axis=1)
        mixed = mixed + np.array([((p + q) * np.log(p + q)).sum(axis=1) for q in p])
    return _root_of_divergence(own, mixed)


def _root_of_divergence(own: NDArray[np.float64], mixed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance from Σ p log p of each topic and Σ s log s, with s = p + q, of each pair."""
    # JS = (Σ p log p + Σ q log q − Σ s log s) / 2 + log 2; rounding can push zero slightly below zero.
    found = np.sqrt(np.maximum((own[:, None] + own - mixed) / 2.0 + np.log(2.0), 0.0))
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def jensen_shannon_of_counts(
    rows: Callable[[slice], NDArray[Any]], room: NDArray[np.float64], beta: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``jensen_shannon`` from the counts of a model.

    A word that neither topic of a pair has contributes by its prior alone, and most words are in few topics.
    Cost: O(nonzero counts × topics).

    Parameters
    ----------
    rows : callable
        Function of word numbers that returns their numbers of tokens, words × topics.
    room : array
        P(word | topic) is (count + beta of the word) / room of the topic.
    beta : array
        The prior of each word, above zero.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.topic_distances import jensen_shannon_of_counts
    >>> counts = np.array([[4.0, 8.0], [4.0, 0.0]])
    >>> jensen_shannon_of_counts(lambda words: counts[words], np.array([10.0, 10.0]), np.ones(2)).round(3).tolist()
    [[0.0, 0.319], [0.319, 0.0]]
    """
    n_topics = len(room)
    mixed, seen = np.zeros((n_topics, n_topics)), np.zeros((2, n_topics, n_topics))
    own = np.zeros(n_topics)
    for first in range(0, len(beta), _WORDS_AT_ONCE):
        part = slice(first, min(first + _WORDS_AT_ONCE, len(beta)))
        _add_mixed(rows(part), room, beta[part], own, mixed, seen)
    weight = beta.sum() - seen[0], (beta * np.log(beta)).sum() - seen[1]
    both = 1.0 / room[:, None] + 1.0 / room
    # Σ s log s with s = p + q, over words that one of them has, and over those that neither has: s = beta · both.
    mixed = np.triu(mixed + both * (weight[1] + weight[0] * np.log(both)), 1)
    mixed += mixed.T
    return _root_of_divergence(own, mixed)


@compiled
def _add_mixed(counts: Any, room: Any, beta: Any, own: Any, mixed: Any, seen: Any) -> None:
    """Add s log s, beta and beta log beta of each pair's words, above the diagonals, and Σ p log p of all topics."""
    n_topics = room.shape[0]
    p = np.empty(n_topics)
    for w in range(beta.shape[0]):
        prior = beta[w] * math.log(beta[w])
        for k in range(n_topics):
            p[k] = (counts[w, k] + beta[w]) / room[k]
            own[k] += p[k] * math.log(p[k])
        for i in range(n_topics):
            if counts[w, i] == 0:
                continue
            for j in range(n_topics):
                if j == i or (j < i and counts[w, j] > 0):
                    continue  # each pair once
                low, high = min(i, j), max(i, j)
                both = p[i] + p[j]
                mixed[low, high] += both * math.log(both)
                seen[0, low, high] += beta[w]
                seen[1, low, high] += prior
