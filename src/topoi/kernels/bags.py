"""Probabilities of bags of words under many mixtures of topics."""

from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled

# Number of words whose topic columns fit in the processor's cache.
_WORDS_AT_ONCE = 256


@compiled
def log_word_probabilities(mixtures, topic_word):
    """log Σ_k mixture[s,k] · topic_word[k,w]: samples × words; O(samples × topics × words).

    Every sum runs over topics in their order, so that the result for a word does not depend on the other words.
    """
    n_samples, n_topics = mixtures.shape
    n_words = topic_word.shape[1]
    result = np.zeros((n_samples, n_words))
    for first in range(0, n_words, _WORDS_AT_ONCE):
        last = min(first + _WORDS_AT_ONCE, n_words)
        for s in range(n_samples):
            row = result[s, first:last]
            for k in range(n_topics):
                share = mixtures[s, k]
                if share > 0.0:
                    words = topic_word[k, first:last]
                    for j in range(row.shape[0]):
                        row[j] += share * words[j]
            for j in range(row.shape[0]):
                row[j] = math.log(row[j])
    return result


@compiled
def bag_moments(log_words, start, word, times, top, total, squares, logs):
    """For each bag of words, the scaled sums over samples of P(bag | sample) and of its square.

    Σ P = total · exp(top) and Σ P² = squares · exp(2 · top). Bag ``d`` has ``times[i]`` tokens of column ``word[i]``
    of ``log_words`` for i from ``start[d]`` to ``start[d+1]``. A bag of probability zero under all samples has ``top``
    minus infinity and sums of zero. ``logs`` is set to log P(bag | sample), bags × samples. Cost: O(samples × distinct
    words of the bags).
    """
    n_samples = log_words.shape[0]
    for d in range(start.shape[0] - 1):
        each = logs[d]
        top[d] = -np.inf
        for s in range(n_samples):
            each[s] = 0.0
            for i in range(start[d], start[d + 1]):
                each[s] += times[i] * log_words[s, word[i]]
            top[d] = max(top[d], each[s])
        total[d] = 0.0
        squares[d] = 0.0
        if top[d] == -np.inf:
            continue
        for s in range(n_samples):
            p = math.exp(each[s] - top[d])
            total[d] += p
            squares[d] += p * p
