"""New documents with the topics fixed: their shares of topics by Gibbs sampling, their probability by particles.

Both alternate the two steps of the fit: topics of tokens given eta, with P(word | topic) of the fit, and eta given how
many tokens each topic has (``kernels.draw_eta``).
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform
from topoi.kernels.special import normal
from topoi.models.ctm.kernels import draw_eta, make_scratch, set_power

# The eta of particles is redrawn before each of the first words, later after every eighth of those read so far.
_BETWEEN_MOVES = 8


@lean
def _draw_topics(phi, n, power, number, stream):
    """Draw topics of the first ``n`` tokens in proportion to exp(eta) · P(word | topic), and count them."""
    n_topics = power.shape[0]
    for k in range(n_topics):
        number[k] = 0.0
    for i in range(n):
        total = 0.0
        for k in range(n_topics):
            total += power[k] * phi[i, k]
        left = uniform(stream) * total
        k = 0
        while k < n_topics - 1:
            left -= power[k] * phi[i, k]
            if left < 0.0:
                break
            k += 1
        number[k] += 1.0


@inlined
def _pass(phi, n, eta, d, gaussian, scratch, stream):
    """Draw the topics of the first ``n`` tokens, then eta; ``power`` is up to date before and after."""
    _draw_topics(phi, n, scratch.power, scratch.number, stream)
    return draw_eta(eta, d, scratch.number, gaussian, scratch, stream)


@compiled
def fold_in(phi, wanted, gaussian, burn_in, n_samples, lag, stream, shares, scores, labels):
    """Set a document's mean shares of topics, the probabilities of the wanted words, and labels of its tokens.

    ``phi`` and ``wanted`` are P(word | topic) of the document's and of the wanted words, words × topics; ``labels``,
    P(topic) of each token, may have no rows. Everything is a mean over samples of eta, with the topics of single tokens
    summed out. Cost: O(sweeps × topics × (tokens + topics)).
    """
    n, n_topics = phi.shape
    scratch = make_scratch(n_topics)
    eta = np.zeros((1, n_topics))
    for k in range(n_topics):
        eta[0, k] = gaussian.mean[k]
    set_power(eta, 0, scratch.power)
    for s in range(burn_in + (n_samples - 1) * lag + 1):
        total = _pass(phi, n, eta, 0, gaussian, scratch, stream)
        if s < burn_in or (s - burn_in) % lag > 0:
            continue
        weight = 1.0 / (n_samples * total)
        for k in range(n_topics):
            shares[k] += weight * scratch.power[k]
        for i in range(wanted.shape[0]):
            for k in range(n_topics):
                scores[i] += weight * scratch.power[k] * wanted[i, k]
        for i in range(labels.shape[0]):
            mass = 0.0
            for k in range(n_topics):
                mass += scratch.power[k] * phi[i, k]
            for k in range(n_topics):
                labels[i, k] += scratch.power[k] * phi[i, k] / (mass * n_samples)


@compiled
def log_likelihood(phi, gaussian, root, n_particles, n_moves, resample_below, weighted, stream):
    """Log of the estimated probability of a document's words, eta integrated out under its normal distribution.

    Particles are draws of eta, at first from the prior (mean + normals · ``root``). A word's probability is the mean of
    Σ_k softmax(eta)[k] · phi[k] over them, by which they are then weighted. Passes of Gibbs sampling given the words so
    far come before every word if ``n_moves`` is negative, at growing distances if it is positive, never if it is zero.
    Weighted, the estimate is unbiased for any of these settings, as in ``author_topic.likelihood``.
    """
    n_tokens, n_topics = phi.shape
    scratch = make_scratch(n_topics)
    eta, shares = np.zeros((n_particles, n_topics)), np.zeros((n_particles, n_topics))
    for p in range(n_particles):
        for k in range(n_topics):
            eta[p, k] = gaussian.mean[k]
        for j in range(root.shape[0]):
            x = normal(stream)
            for k in range(n_topics):
                eta[p, k] += x * root[j, k]
        _, total = set_power(eta, p, scratch.power)
        _set_shares(shares, p, scratch.power, total)
    weight, mass = np.full(n_particles, 1.0 / n_particles), np.zeros(n_particles)
    result, due = 0.0, 1
    for i in range(n_tokens):
        if n_moves != 0 and i >= due:
            due = i + 1 + (i // _BETWEEN_MOVES if n_moves > 0 else 0)
            for p in range(n_particles):
                set_power(eta, p, scratch.power)
                total = _pass(phi, i, eta, p, gaussian, scratch, stream)
                _set_shares(shares, p, scratch.power, total)
        estimate, squares = _weigh(shares, phi, i, weight, mass, weighted)
        if estimate == 0.0:
            return -np.inf
        result += math.log(estimate)
        if 1.0 / squares < resample_below * n_particles and i + 1 < n_tokens:
            eta, shares = _resample(eta, shares, weight, stream)
            weight[:] = 1.0 / n_particles
    return result


@lean
def _weigh(shares, phi, i, weight, mass, weighted):
    """The probability of word ``i``, by which particles are then weighted, and the sum of their squared weights.

    Zero for a word that no topic draws.
    """
    estimate = 0.0
    for p in range(mass.shape[0]):
        mass[p] = 0.0
        for k in range(shares.shape[1]):
            mass[p] += shares[p, k] * phi[i, k]
        estimate += weight[p] * mass[p]
    squares = 1.0 / mass.shape[0]
    if weighted and estimate > 0.0:
        squares = 0.0
        for p in range(mass.shape[0]):
            weight[p] *= mass[p] / estimate
            squares += weight[p] ** 2
    return estimate, squares


@inlined
def _set_shares(shares, p, power, total):
    for k in range(power.shape[0]):
        shares[p, k] = power[k] / total


@compiled
def _resample(eta, shares, weight, stream):
    """Systematic resampling: particles survive in proportion to their weights."""
    n_particles, n_topics = eta.shape
    new_eta, new_shares = np.empty_like(eta), np.empty_like(shares)
    step, source, upto = uniform(stream), 0, weight[0]
    for p in range(n_particles):
        while upto * n_particles < p + step and source < n_particles - 1:
            source += 1
            upto += weight[source]
        for k in range(n_topics):
            new_eta[p, k], new_shares[p, k] = eta[source, k], shares[source, k]
    return new_eta, new_shares
