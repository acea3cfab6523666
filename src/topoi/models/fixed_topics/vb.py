"""Variational inference for documents' mixtures of aspects, compiled (Minka and Lafferty 2002, section 4.1).

Rows of aspects are padded with zeros to whole vectors, which changes no sum.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math

import numpy as np

from topoi.kernels import doubles
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.special import digamma, log_beta


@lean
def mixture_weights(gamma, n, weight):
    """Set ``weight`` to exp Ψ(γ_a), scaled so that the largest is one; unscaled, tiny γ would all give zero.

    Returns the log of the scale.
    """
    largest = -np.inf
    for a in range(n):
        weight[a] = digamma(gamma[a])
        largest = max(largest, weight[a])
    for a in range(n):
        weight[a] = math.exp(weight[a] - largest)
    return largest


@inlined
def word_norm(p, w, weight, width):
    """Σ p(w|a) weight_a."""
    norm = doubles.splat(0.0)
    for a in range(0, width, doubles.N_LANES):
        norm = doubles.add(norm, doubles.mul(doubles.load(p, w * width + a), doubles.load(weight, a)))
    return doubles.total(norm)


@lean
def share_words(bags, d, parameters, weight, new):
    """Set ``new`` to γ_a = α_a + Σ n_w q(a|w) with q(a|w) ∝ p(w|a) weight_a (equations 10, 11); O(words × aspects).

    Words that no aspect has are left out.
    """
    width = parameters.alpha.shape[0]
    for a in range(width):
        new[a] = 0.0
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        w = bags.row[i]
        norm = word_norm(parameters.word_aspect, w, weight, width)
        scale = doubles.splat(bags.times[i] / norm if norm > 0.0 else 0.0)
        for a in range(0, width, doubles.N_LANES):
            share = doubles.mul(scale, doubles.load(parameters.word_aspect, w * width + a))
            doubles.store(new, a, doubles.add(doubles.load(new, a), share))
    for a in range(width):
        new[a] = parameters.alpha[a] + new[a] * weight[a]


@lean
def log_bound(bags, d, parameters, gamma, weight, new):
    """Lower bound of log p(document) for the q given by ``gamma`` (equations 8 and 9); O(words × aspects).

    Minus infinity if a word has no probability in any aspect.
    """
    n = parameters.n_aspects
    largest = mixture_weights(gamma, n, weight)
    share_words(bags, d, parameters, weight, new)
    result = log_beta(new, n) - log_beta(parameters.alpha, n)
    for a in range(n):
        # Σ n q log(p/q) is Σ n log(norm) minus the expected log weights, of which q is the mean.
        result -= (new[a] - parameters.alpha[a]) * (digamma(gamma[a]) - largest)
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        norm = word_norm(parameters.word_aspect, bags.row[i], weight, parameters.alpha.shape[0])
        if norm <= 0.0:
            return -np.inf
        result += bags.times[i] * math.log(norm)
    return result


@lean
def converge(bags, d, parameters, rule, gamma, weight, new):
    """Iterate over one document's words until γ converges; return passes and the largest change per word."""
    length = 0.0
    for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
        length += bags.times[i]
    passes, change = 0, np.inf
    while passes < rule.max_passes and change >= rule.tolerance:
        passes += 1
        mixture_weights(gamma, parameters.n_aspects, weight)
        share_words(bags, d, parameters, weight, new)
        change = 0.0
        for a in range(gamma.shape[0]):
            change = max(change, abs(new[a] - gamma[a]))
            gamma[a] = new[a]
        change /= max(length, 1.0)
    return passes, change


@lean
def best_bound(bags, d, parameters, rule, gamma, rows):
    """Lower bound reached from ``gamma``, which is overwritten; ``rows`` are two or more scratch rows."""
    for a in range(gamma.shape[0]):
        rows[0, a] = 0.0
    converge(bags, d, parameters, rule, gamma, rows[0], rows[1])
    return log_bound(bags, d, parameters, gamma, rows[0], rows[1])


@compiled
def infer_documents(bags, parameters, rule, first, last, warm, wanted, gamma, evidence, outcome):
    """Infer documents ``first`` to ``last``: posteriors into ``gamma``, lower bounds into ``evidence``.

    A document starts from its ``gamma`` if ``warm``, else with its words split evenly. It ends after ``max_passes`` or
    when no entry of γ changes by ``tolerance`` per word.
    """
    n, width = parameters.n_aspects, parameters.alpha.shape[0]
    weight, new = np.zeros(width), np.zeros(width)
    for d in range(first, last):
        if not warm:
            length = 0.0
            for i in range(bags.doc_start[d], bags.doc_start[d + 1]):
                length += bags.times[i]
            for a in range(width):
                gamma[d, a] = parameters.alpha[a] + length / n if a < n else 0.0
        passes, change = converge(bags, d, parameters, rule, gamma[d], weight, new)
        if wanted:
            evidence[d] = log_bound(bags, d, parameters, gamma[d], weight, new)
        outcome.passes[d], outcome.skipped[d], outcome.change[d] = passes, 0, change
