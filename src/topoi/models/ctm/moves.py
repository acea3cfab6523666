"""Moves of mean, covariance and every document's eta together, which Gibbs steps of one given the others lack.

Where documents have few words of a topic, its eta follow their covariance and the covariance follows them, by steps as
small as there are many documents. Here all eta are transformed with their distribution, so that only the words resist:
one topic's eta are shifted with their mean, stretched about it, or sheared along another topic's. These are groups of
transformations (Liu and Sabatti 2000; Yu and Meng 2011), accepted by the rule of Metropolis and Hastings.

With v[k] = e[k] − 1/K and A = I + a v[k] v[j]ᵀ, whose determinant is t = 1 + a c, c = v[k]·v[j], a stretch (j = k) or a
shear takes eta − mean to A (eta − mean) and the covariance to A S Aᵀ. Up to the constant that softmax ignores, only
component k changes, by a (eta[j] − mean[j]): O(documents) logarithms each.
"""

from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform
from topoi.kernels.special import normal
from topoi.models.ctm.kernels import set_power

# Sizes of steps are drawn between these, evenly on a logarithmic scale; each topic is tried this often per kind.
_SMALLEST, _LARGEST, _TRIES = 0.01, 1.0, 2
# Steps in which exp(eta) could overflow are refused.
_LONGEST = 200.0


@compiled
def group_moves(eta, number, mean, covariance, precision, variance, freedom, mean_weight, stream):
    """Shift, stretch and shear every topic; changes eta, mean, covariance, precision and stream.

    ``number`` is documents × topics, how many tokens of a document each topic has; ``variance``, ``freedom`` and
    ``mean_weight`` are the prior's (``normal.Hyper``). Returns how many moves were accepted.
    """
    n_docs, n_topics = eta.shape
    power, total, length = np.empty((n_docs, n_topics)), np.empty(n_docs), np.empty(n_docs)
    for d in range(n_docs):
        length[d] = 0.0
        for k in range(n_topics):
            length[d] += number[d, k]
        _, total[d] = set_power(eta, d, power[d])
    change, row = np.empty(n_docs), np.empty(n_topics)
    scale = variance * (freedom - n_topics)
    accepted = 0
    for k in range(n_topics):
        for turn in range(3 * _TRIES):
            kind = turn % 3
            size = _SMALLEST * (_LARGEST / _SMALLEST) ** uniform(stream) * normal(stream)
            pull = 0.0
            for j in range(n_topics):
                pull += precision[k, j] * mean[j]
            if kind == 0:
                gain = -0.5 * mean_weight * (2.0 * size * pull + size * size * precision[k, k])
                for d in range(n_docs):
                    change[d] = size
                if _accepted(gain, change, k, number, length, power, total, stream):
                    accepted += 1
                    _apply(eta, change, k, power, total)
                    for i in range(n_topics):
                        mean[i] += size * _v(i, k, n_topics)
                continue
            j = k if kind == 1 else np.int64(uniform(stream) * (n_topics - 1))
            if kind == 2 and j >= k:
                j += 1
            c = _v(j, k, n_topics)
            log_t = size * c
            a, b = math.expm1(log_t) / c, math.expm1(-log_t) / c
            gain = -(freedom + 1.0) * log_t
            gain -= 0.5 * scale * (2.0 * b * precision[j, k] + b * b * precision[k, k] * (1.0 - 1.0 / n_topics))
            gain -= 0.5 * mean_weight * (2.0 * b * mean[j] * pull + (b * mean[j]) ** 2 * precision[k, k])
            for d in range(n_docs):
                change[d] = a * (eta[d, j] - mean[j])
            if _accepted(gain, change, k, number, length, power, total, stream):
                accepted += 1
                _apply(eta, change, k, power, total)
                _transform(covariance, k, j, a, row)
                _transform(precision, j, k, b, row)
    return accepted


@inlined
def _v(i, k, n_topics):
    """Component i of e[k] − 1/K."""
    return (1.0 if i == k else 0.0) - 1.0 / n_topics


@lean
def _accepted(gain, change, k, number, length, power, total, stream):
    """Whether component k of every document may change, given the gain in log prior density."""
    for d in range(change.shape[0]):
        if abs(change[d]) > _LONGEST:
            return False
        gain += number[d, k] * change[d]
        if length[d] > 0.0:
            gain -= length[d] * math.log1p(power[d, k] / total[d] * math.expm1(change[d]))
    return math.log(1.0 - uniform(stream)) <= gain


@lean
def _apply(eta, change, k, power, total):
    """Change component k of every document, and centre eta."""
    n_topics = eta.shape[1]
    for d in range(eta.shape[0]):
        eta[d, k] += change[d]
        power[d, k] *= math.exp(change[d])
        total[d] = 0.0
        for i in range(n_topics):
            eta[d, i] -= change[d] / n_topics
            total[d] += power[d, i]


@lean
def _transform(matrix, k, j, a, row):
    """Set a symmetric matrix M, whose rows sum to zero, to (I + a v[k] v[j]ᵀ) M (I + a v[j] v[k]ᵀ)."""
    n_topics = matrix.shape[0]
    for i in range(n_topics):
        row[i] = matrix[j, i]
    own = row[j]
    for i in range(n_topics):
        for m in range(n_topics):
            first, second = _v(i, k, n_topics), _v(m, k, n_topics)
            matrix[i, m] += a * (first * row[m] + row[i] * second) + a * a * own * first * second
