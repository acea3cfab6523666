"""Probability of new documents, with all their Dirichlets integrated out by particles.

Particles go through a document from left to right, with the same parameters as in ``author_topic.likelihood``. For a
general graph a particle's predictive probability is a sum over paths, O(edges); for the four-level model ``side`` (see
``four_level``) is kept for each particle, in float64.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.draw import draw_plain
from topoi.kernels.folding import content_key, word_probabilities
from topoi.kernels.jit import compiled, inlined
from topoi.kernels.random import seed_stream, uniform
from topoi.models.pachinko.equations import (
    Tally,
    draw_path,
    most_ways,
    move_path,
    new_tally,
    reach_nodes,
    reach_topic,
)


class Particles(NamedTuple):
    """Paths of the tokens so far, counts, and (four levels) the topics' sides, for each particle."""

    topic: NDArray[np.int32]
    path: NDArray[np.int64]
    number: NDArray[np.float64]
    total: NDArray[np.float64]
    side: NDArray[np.float64]


class Room(NamedTuple):
    """Scratch: sums over paths, weights of topics, shares of parents."""

    reach: NDArray[np.float64]
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]


@compiled
def log_likelihood(
    documents,
    counts,
    priors,
    graph,
    n_super,
    n_particles,
    n_moves,
    seed,
    chain,
    result,
    resample_below=0.5,
    weighted=True,
):
    """Set ``result[d]`` to the log probability of each document, natural log, without multinomial coefficient.

    Moves, resampling and weights are those of ``author_topic.likelihood.log_likelihood``. ``n_super`` is 0 unless the
    graph is the four-level model. Cost for each token and particle: O((1 + n_moves) × edges), or × topics for four
    levels.
    """
    n_topics = counts.topic.shape[0]
    longest = max(1, np.diff(documents.doc_start).max()) if documents.doc_start.shape[0] > 1 else 1
    empty = new_tally(graph)
    particles = Particles(
        np.zeros((n_particles, longest), np.int32),
        np.zeros((n_particles, longest), np.int64),
        np.zeros((n_particles, empty.number.shape[0])),
        np.zeros((n_particles, empty.total.shape[0])),
        np.zeros((n_particles, n_topics)),
    )
    room = Room(np.zeros(empty.total.shape[0]), np.zeros(n_topics), np.zeros(max(most_ways(graph), n_super)))
    first_side = _empty_sides(priors, n_super, n_topics)
    stream = np.empty(2, np.uint64)
    for d in range(documents.doc_start.shape[0] - 1):
        seed_stream(stream, seed, chain, content_key(documents, d), 2)
        n_tokens = documents.doc_start[d + 1] - documents.doc_start[d]
        for p in range(n_particles):
            particles.side[p] = first_side
        phi = word_probabilities(documents, d, counts, priors)
        how = n_moves, resample_below, weighted
        result[d] = _filter(phi, priors, graph, n_super, particles, room, how, stream)
        for p in range(n_particles):
            _count(graph, particles, p, n_tokens, -1)


@compiled
def _empty_sides(priors, n_super, n_topics):
    """The four-level sides of a document without tokens."""
    side = np.zeros(n_topics)
    for s in range(n_super):
        scale = priors.alpha[s] / priors.alpha_sum[1 + s]
        for k in range(n_topics):
            side[k] += scale * priors.alpha[n_super + s * n_topics + k]
    return side


@inlined
def _tally(particles, p):
    """Counts of one particle. Only for callers without reference counting, since it returns bare views."""
    return Tally(particles.number[p], particles.total[p])


@inlined
def _predict(phi_i, priors, graph, n_super, particles, p, room):
    """Fill the weights with P(word, topic) for a particle's next token; return their sum (predictive probability)."""
    mass = 0.0
    if n_super > 0:
        scale = 1.0 / (particles.total[p, 0] + priors.alpha_sum[0])
        for k in range(room.weights.shape[0]):
            room.weights[k] = phi_i[k] * particles.side[p, k] * scale
            mass += room.weights[k]
        return mass
    tally = _tally(particles, p)
    reach_nodes(graph, tally, priors, room.reach)
    for k in range(room.weights.shape[0]):
        room.weights[k] = phi_i[k] * reach_topic(graph, tally, priors, room.reach, k)
        mass += room.weights[k]
    return mass


@inlined
def _assign(priors, graph, n_super, particles, p, i, room, mass, stream):
    """Draw token ``i``'s path from the weights and count it."""
    left = uniform(stream) * mass
    k = 0
    last = room.weights.shape[0] - 1
    while k < last and left >= room.weights[k]:
        left -= room.weights[k]
        k += 1
    path = 0
    if n_super > 0:
        for s in range(n_super):
            room.shares[s] = _factor(priors, particles, p, s) * _pair(priors, n_super, particles, p, s, k)
        path = draw_plain(room.shares, n_super, stream)
    else:
        path = draw_path(graph, _tally(particles, p), priors, room.reach, k, room.shares, stream)
    particles.topic[p, i] = k
    particles.path[p, i] = path
    _move(priors, graph, n_super, particles, p, k, path, 1)


@inlined
def _factor(priors, particles, p, s):
    n = particles.total[p, 1 + s]
    return (n + priors.alpha[s]) / (n + priors.alpha_sum[1 + s])


@inlined
def _pair(priors, n_super, particles, p, s, k):
    slot = n_super + s * particles.side.shape[1] + k
    return particles.number[p, slot] + priors.alpha[slot]


@inlined
def _move(priors, graph, n_super, particles, p, k, path, step):
    """Add or remove a token, with the sides of the four-level model."""
    if n_super == 0:
        move_path(graph, _tally(particles, p), k, path, step)
        return
    before = _factor(priors, particles, p, path)
    pair = _pair(priors, n_super, particles, p, path, k)
    move_path(graph, _tally(particles, p), k, path, step)
    after = _factor(priors, particles, p, path)
    for j in range(particles.side.shape[1]):
        particles.side[p, j] += (after - before) * _pair(priors, n_super, particles, p, path, j)
    # At k the pair has changed as well; the loop above used the new one for both.
    particles.side[p, k] += before * (_pair(priors, n_super, particles, p, path, k) - pair)


@inlined
def _count(graph, particles, p, n_done, step):
    """Add a particle's tokens to its counts, or remove them."""
    for i in range(n_done):
        move_path(graph, _tally(particles, p), particles.topic[p, i], particles.path[p, i], step)


@compiled
def _filter(phi, priors, graph, n_super, particles, room, how, stream):
    """Log of the estimated probability of the document."""
    n_moves, resample_below, weighted = how
    n_tokens = phi.shape[0]
    n_particles = particles.topic.shape[0]
    weight = np.full(n_particles, 1.0 / n_particles)
    mass = np.empty(n_particles)
    result = 0.0
    for i in range(n_tokens):
        estimate = 0.0
        for p in range(n_particles):
            for turn in range(i if n_moves < 0 else min(n_moves, i)):
                j = turn if n_moves < 0 else np.int64(uniform(stream) * i)
                _move(priors, graph, n_super, particles, p, particles.topic[p, j], particles.path[p, j], -1)
                m = _predict(phi[j], priors, graph, n_super, particles, p, room)
                _assign(priors, graph, n_super, particles, p, j, room, m, stream)
            mass[p] = _predict(phi[i], priors, graph, n_super, particles, p, room)
            _assign(priors, graph, n_super, particles, p, i, room, mass[p], stream)
            estimate += weight[p] * mass[p]
        result += math.log(estimate)
        if not weighted:
            continue
        squares = 0.0
        for p in range(n_particles):
            weight[p] *= mass[p] / estimate
            squares += weight[p] * weight[p]
        if 1.0 / squares < resample_below * n_particles and i + 1 < n_tokens:
            _resample(graph, particles, weight, i + 1, stream)
            weight[:] = 1.0 / n_particles
    return result


@compiled
def _resample(graph, particles, weight, n_done, stream):
    """Systematic resampling: particles survive in proportion to their weights; counts are recomputed from paths."""
    n_particles = len(weight)
    topic, path, side = particles.topic[:, :n_done].copy(), particles.path[:, :n_done].copy(), particles.side.copy()
    step = uniform(stream)
    source = 0
    upto = weight[0]
    for p in range(n_particles):
        while upto * n_particles < p + step and source < n_particles - 1:
            source += 1
            upto += weight[source]
        if source == p:
            continue
        _count(graph, particles, p, n_done, -1)
        particles.topic[p, :n_done] = topic[source]
        particles.path[p, :n_done] = path[source]
        particles.side[p] = side[source]
        _count(graph, particles, p, n_done, 1)
