"""The sweep over any graph: the draw of ``equations.sweep_plain`` with sums over paths cached between tokens.

A token that leaves or joins a path changes only the sums below the path's first node after the root; only those are
recomputed. (The root's own total would divide all paths alike, and is left out.) Everything is in float64 and recounted
for each document; the topic is drawn in sixteen SIMD lanes. Cost: O(edges below the first nodes of the old and the new
path) for each token; for a full four-level graph ``four_level`` is far faster.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.counts import Inverses, make_inverses, move_between_topics
from topoi.kernels.draw import differences, draw_lanes, scan_products, scratch_length
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import next_bits, uniform
from topoi.models.pachinko.equations import way_in
from topoi.models.pachinko.limits import limit_priors, room_for_priors

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)


class Scratch(NamedTuple):
    """Counts of one document and values derived from them.

    ``way[j]`` is number + alpha of way j (see ``Graph``), ``emit[v]`` the same for "draw a word here", ``total[v]`` the
    number of tokens that drew from node v; ``reach[v]`` the sum over paths, ``flow[v]`` the part of it per unit of
    ``way``; ``side[k]`` a topic's share in the document and ``sides[k]`` that divided by the topic's total; ``stale``
    marks nodes to recompute.
    """

    way: NDArray[np.float64]
    emit: NDArray[np.float64]
    total: NDArray[np.float64]
    reach: NDArray[np.float64]
    flow: NDArray[np.float64]
    side: NDArray[np.float32]
    sides: NDArray[np.float32]
    stale: NDArray[np.bool_]
    topic_of: NDArray[np.int64]
    running: NDArray[np.float32]
    inverses: Inverses


@compiled
def make_scratch(counts, priors, graph):
    """Scratch space for sweeps over a graph."""
    n_nodes = graph.n_paths.shape[0]
    width = counts.word_topic.shape[1]
    topic_of = np.full(n_nodes, -1)
    topic_of[graph.topic_node] = np.arange(graph.topic_node.shape[0])
    scratch = Scratch(
        np.empty(graph.in_slot.shape[0]),
        np.empty(n_nodes),
        np.empty(n_nodes),
        np.empty(n_nodes),
        np.empty(n_nodes),
        lanes.aligned_floats(width),
        lanes.aligned_floats(width),
        np.zeros(n_nodes, np.bool_),
        topic_of,
        lanes.aligned_floats(scratch_length(counts.topic.shape[0])),
        make_inverses(counts.topic, priors.beta_sum, width),
    )
    scratch.running[:] = np.inf
    return scratch


@inlined
def _move_path(graph, scratch, k, path, step):
    """Add or remove a token on a path, and mark what must be recomputed."""
    v = graph.topic_node[k]
    if graph.emit_slot[v] >= 0:
        scratch.emit[v] += step
        scratch.total[v] += step
        scratch.stale[v] = True
    rest = np.int64(path)
    while v > 0:
        j = way_in(graph, v, rest)
        rest -= graph.path_start[j]
        u = graph.in_parent[j]
        scratch.way[j] += step
        scratch.total[u] += step
        if u == 0:
            for at in range(graph.below_start[v], graph.below_start[v + 1]):
                scratch.stale[graph.below[at]] = True
        v = u


@inlined
def _refresh(graph, priors, scratch):
    """Recompute what is marked, from the root down."""
    for v in range(graph.n_paths.shape[0]):
        if not scratch.stale[v]:
            continue
        scratch.stale[v] = False
        reach = 1.0 if v == 0 else 0.0
        for j in range(graph.in_start[v], graph.in_start[v + 1]):
            reach += scratch.flow[graph.in_parent[j]] * scratch.way[j]
        scratch.reach[v] = reach
        scratch.flow[v] = reach if v == 0 else reach / (scratch.total[v] + priors.alpha_sum[v])
        k = scratch.topic_of[v]
        if k >= 0:
            share = reach if graph.emit_slot[v] < 0 else scratch.flow[v] * scratch.emit[v]
            scratch.side[k] = np.float32(share)
            _set_sides(scratch, k)


@inlined
def _set_sides(scratch, k):
    scratch.sides[k] = scratch.side[k] * scratch.inverses.now[k]


@inlined
def _open_document(documents, paths, priors, graph, scratch, d):
    """Count a document; O(edges + tokens × levels)."""
    for j in range(scratch.way.shape[0]):
        scratch.way[j] = priors.alpha[graph.in_slot[j]]
    for v in range(scratch.total.shape[0]):
        scratch.total[v] = 0.0
        if graph.emit_slot[v] >= 0:
            scratch.emit[v] = priors.alpha[graph.emit_slot[v]]
        scratch.stale[v] = True
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        _move_path(graph, scratch, paths.topic[i], paths.path[i], 1.0)


@inlined
def _weigh_topics(counts, priors, scratch, w, k0):
    """Running sums over topics for a token whose path is removed, and the weight of its own topic, separately."""
    own = (np.float32(counts.word_topic[w, k0]) - _ONE + priors.beta[w]) * scratch.inverses.less[k0] * scratch.side[k0]
    width = counts.word_topic.shape[1]
    sums = scan_products(counts.word_topic, w * width, priors.beta[w], scratch.sides, k0, scratch.running, width)
    return own, sums


@inlined
def _draw_path(graph, scratch, k, stream):
    """Draw a path to topic ``k``: going up, each parent in proportion to what reaches the node through it."""
    v = graph.topic_node[k]
    path = 0
    while v > 0:
        j = graph.in_start[v]
        last = graph.in_start[v + 1] - 1
        if j < last:
            left = uniform(stream) * scratch.reach[v] - scratch.flow[graph.in_parent[j]] * scratch.way[j]
            while left >= 0.0 and j < last:
                j += 1
                left -= scratch.flow[graph.in_parent[j]] * scratch.way[j]
        path += graph.path_start[j]
        v = graph.in_parent[j]
    return path


@compiled
def sweep_general(documents, paths, counts, priors, graph, stream):
    """One exact sweep over any graph; changes paths, counts and stream."""
    sweep_with(documents, paths, counts, priors, graph, make_scratch(counts, priors, graph), stream)


@compiled
def sweep_limited(documents, paths, counts, priors, graph, limits, stream):
    """``sweep_general`` in which a document has only the topics of its set; see ``limits``."""
    own, scratch = room_for_priors(priors), make_scratch(counts, priors, graph)
    _sweep_limited(documents, paths, counts, priors, own, graph, limits, scratch, stream)


@lean
def _sweep_limited(documents, paths, counts, priors, own, graph, limits, scratch, stream):
    row = -1
    for d in range(documents.doc_start.shape[0] - 1):
        if limits.doc_set[d] != row:
            row = limits.doc_set[d]
            limit_priors(limits, row, priors, own)
        _sweep_document(documents, d, paths, counts, own, graph, scratch, stream)


@lean
def sweep_with(documents, paths, counts, priors, graph, scratch, stream):
    """``sweep_general`` in a given scratch, whose inverses must be those of the counts."""
    for d in range(documents.doc_start.shape[0] - 1):
        _sweep_document(documents, d, paths, counts, priors, graph, scratch, stream)


@lean
def _sweep_document(documents, d, paths, counts, priors, graph, scratch, stream):
    tokens, doc_start, _, _, _ = documents
    word_topic, topic, _, _ = counts
    n_topics = topic.shape[0]
    _open_document(documents, paths, priors, graph, scratch, d)
    for i in range(doc_start[d], doc_start[d + 1]):
        w = np.int64(np.uint32(tokens[i]))
        k0 = np.int64(paths.topic[i])
        _move_path(graph, scratch, k0, paths.path[i], -1.0)
        _refresh(graph, priors, scratch)
        own, sums = _weigh_topics(counts, priors, scratch, w, k0)
        k = draw_lanes(scratch.running, sums, n_topics, k0, own, next_bits(stream))
        # By rounding, a topic may be drawn that the word or the document may not have: the token keeps its own.
        if k != k0 and (np.float32(word_topic[w, k]) + priors.beta[w] <= _ZERO or scratch.side[k] <= _ZERO):
            k = k0
        path = _draw_path(graph, scratch, k, stream)
        paths.topic[i] = k
        paths.path[i] = path
        _move_path(graph, scratch, k, path, 1.0)
        if k != k0:
            word_topic[w, k0] -= _ONE
            word_topic[w, k] += _ONE
            move_between_topics(topic, scratch.inverses, priors.beta_sum, k0, k)
            _set_sides(scratch, k0)  # the side of k is marked, for the next refresh


@compiled
def general_weights(documents, paths, counts, priors, graph, d, i):
    """Weights from which ``sweep_general`` would draw token ``i``'s topic, and those of all ways up; for tests.

    The second result has, for way j, what reaches its node through it. Uses the functions of the sweep itself.
    """
    return _weights(documents, paths, counts, priors, graph, d, i)


@compiled
def limited_weights(documents, paths, counts, priors, graph, limits, d, i):
    """``general_weights`` for ``sweep_limited``."""
    own = room_for_priors(priors)
    limit_priors(limits, limits.doc_set[d], priors, own)
    return _weights(documents, paths, counts, own, graph, d, i)


@compiled
def _weights(documents, paths, counts, priors, graph, d, i):
    scratch = make_scratch(counts, priors, graph)
    _open_document(documents, paths, priors, graph, scratch, d)
    _refresh(graph, priors, scratch)
    k0 = np.int64(paths.topic[i])
    _move_path(graph, scratch, k0, paths.path[i], -1.0)
    _refresh(graph, priors, scratch)
    own, _ = _weigh_topics(counts, priors, scratch, np.int64(documents.tokens[i]), k0)
    weights = differences(scratch.running, counts.topic.shape[0])
    weights[k0] += own
    ways = np.empty(scratch.way.shape[0])
    for j in range(ways.shape[0]):
        ways[j] = scratch.flow[graph.in_parent[j]] * scratch.way[j]
    return weights, ways
