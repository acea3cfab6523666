"""Probability of a document whose mixture has a Dirichlet prior, by particles that read it from left to right.

A share ``own`` of its tokens follows this mixture, which is integrated out; the others follow ``known``, the mixture of
known authors. Without any, ``own`` is one and ``known`` zero.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled, inlined
from topoi.kernels.random import uniform


@inlined
def _predict(phi_i, known, own, alpha, alpha_sum, number, total, weights):
    """Fill ``weights`` with P(word, topic) for a particle's next token; their sum is its predictive probability."""
    result = 0.0
    scale = own / (total + alpha_sum)
    for k in range(known.shape[0]):
        weights[k] = phi_i[k] * (known[k] + scale * (number[k] + alpha[k]))
        result += weights[k]
    return result


@inlined
def _assign(phi_i, known, own, priors, number, total, weights, mass, stream):
    """Draw a topic and whether the private author chose it; return the topic, or -1 - topic for a known author."""
    left = uniform(stream) * mass
    k = 0
    last = known.shape[0] - 1
    while k < last and left >= weights[k]:
        left -= weights[k]
        k += 1
    mine = own * (number[k] + priors.alpha[k]) / (total + priors.alpha_sum)
    if known[k] == 0.0 or uniform(stream) * (known[k] + mine) < mine:
        return k
    return -1 - k


@compiled
def integrated(phi, known, own, priors, how, stream):
    """Log of the estimated probability of the document, with theta of its private author integrated out."""
    n_particles, n_moves, resample_below, weighted = how
    n_tokens, n_topics = phi.shape
    choice = np.zeros((n_particles, n_tokens), np.int32)
    number = np.zeros((n_particles, n_topics))
    total = np.zeros(n_particles)
    weight = np.full(n_particles, 1.0 / n_particles)
    mass = np.empty(n_particles)
    weights = np.empty(n_topics)
    alpha = priors.alpha
    result = 0.0
    for i in range(n_tokens):
        estimate = 0.0
        for p in range(n_particles):
            for turn in range(i if n_moves < 0 else min(n_moves, i)):
                j = turn if n_moves < 0 else np.int64(uniform(stream) * i)
                old = choice[p, j]
                if old >= 0:
                    number[p, old] -= 1.0
                    total[p] -= 1.0
                m = _predict(phi[j], known, own, alpha, priors.alpha_sum, number[p], total[p], weights)
                new = _assign(phi[j], known, own, priors, number[p], total[p], weights, m, stream)
                choice[p, j] = new
                if new >= 0:
                    number[p, new] += 1.0
                    total[p] += 1.0
            mass[p] = _predict(phi[i], known, own, alpha, priors.alpha_sum, number[p], total[p], weights)
            new = _assign(phi[i], known, own, priors, number[p], total[p], weights, mass[p], stream)
            choice[p, i] = new
            if new >= 0:
                number[p, new] += 1.0
                total[p] += 1.0
            estimate += weight[p] * mass[p]
        if estimate == 0.0:  # a word that no topic draws
            return -np.inf
        result += math.log(estimate)
        if not weighted:
            continue
        squares = 0.0
        for p in range(n_particles):
            weight[p] *= mass[p] / estimate
            squares += weight[p] * weight[p]
        if 1.0 / squares < resample_below * n_particles and i + 1 < n_tokens:
            choice, number, total = _resample(choice, number, total, weight, i + 1, stream)
            weight[:] = 1.0 / n_particles
    return result


@compiled
def _resample(choice, number, total, weight, n_done, stream):
    """Systematic resampling: particles survive in proportion to their weights."""
    n_particles = len(weight)
    new_choice, new_number, new_total = np.empty_like(choice), np.empty_like(number), np.empty_like(total)
    step = uniform(stream)
    source = 0
    upto = weight[0]
    for p in range(n_particles):
        while upto * n_particles < p + step and source < n_particles - 1:
            source += 1
            upto += weight[source]
        new_choice[p, :n_done] = choice[source, :n_done]
        new_number[p] = number[source]
        new_total[p] = total[source]
    return new_choice, new_number, new_total
