"""The pachinko samplers written as their equations, in float64: the reference that the fast sweeps are tested against.

A token's whole path from the root to a word is drawn at once (Li and McCallum, section 2.3, for four levels). With
counts of the current document that leave the token out, edge u→v has the share

    e(u→v) = (number[u,v] + alpha[u,v]) / (total[u] + Σ alpha[u])

and a path, which visits a node at most once, has the product of its edges. The sum over all paths from the root to v is
R(v) = Σ over parents u of R(u)·e(u→v), R(root) = 1: one pass over the edges. So the topic is drawn from

    R(v) · e(v→words) · (word_topic[w,k] + beta[w]) / (topic[k] + Σ beta)

and then, going up, each node's parent from R(u)·e(u→v). That is exact. A document that may not have all topics has
another alpha and other sums in e, see ``limits``.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.draw import draw_plain
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.random import uniform
from topoi.models.pachinko.limits import limit_priors, room_for_priors

_ONE = np.float32(1.0)
_ZERO = np.float32(0.0)


class Paths(NamedTuple):
    """State that a sweep changes: the topic of each token, and the number of its path to the topic (see ``Graph``)."""

    topic: NDArray[np.uint16]
    path: NDArray[np.uint32]


class Tally(NamedTuple):
    """Counts of one document: tokens per slot, and tokens that drew from each node's Dirichlet."""

    number: NDArray[np.float64]
    total: NDArray[np.float64]


@lean
def random_paths(documents, graph, paths, stream):
    """Give every token a topic and one of the topic's paths, each uniformly at random."""
    n_topics = graph.topic_node.shape[0]
    for i in range(documents.tokens.shape[0]):
        k = np.int64(uniform(stream) * n_topics)
        paths.topic[i] = k
        paths.path[i] = random_path(graph, k, stream)


@inlined
def random_path(graph, k, stream):
    """One of the paths to topic ``k`` at random."""
    n_paths = graph.n_paths[graph.topic_node[k]]
    return np.int64(uniform(stream) * n_paths) if n_paths > 1 else 0


@lean
def new_paths(graph, before, paths, stream):
    """Give every token whose topic is not the one ``before`` a path to its topic, at random."""
    for i in range(before.shape[0]):
        if before[i] != paths.topic[i]:
            paths.path[i] = random_path(graph, np.int64(paths.topic[i]), stream)


@lean
def count(documents, paths, counts):
    """Recount the words of all topics from the assignments."""
    counts.word_topic[:] = _ZERO
    counts.topic[:] = 0
    add_counts(documents, paths, counts)


@lean
def add_counts(documents, paths, counts):
    """Add the words of some documents to the counts."""
    for i in range(documents.tokens.shape[0]):
        counts.word_topic[documents.tokens[i], paths.topic[i]] += _ONE
        counts.topic[paths.topic[i]] += 1


@compiled
def new_tally(graph):
    """An empty tally."""
    return Tally(np.zeros(graph.slot_start[-1]), np.zeros(graph.n_paths.shape[0]))


@inlined
def way_in(graph, v, path):
    """The way by which path number ``path`` enters node ``v``."""
    low = graph.in_start[v]
    high = graph.in_start[v + 1]
    while high - low > 1:
        middle = (low + high) >> 1
        if graph.path_start[middle] <= path:
            low = middle
        else:
            high = middle
    return low


@inlined
def move_path(graph, tally, k, path, step):
    """Add (step 1) or remove (step -1) a token that reached topic ``k`` by its path number ``path``."""
    v = graph.topic_node[k]
    if graph.emit_slot[v] >= 0:
        tally.number[graph.emit_slot[v]] += step
        tally.total[v] += step
    rest = np.int64(path)
    while v > 0:
        j = way_in(graph, v, rest)
        rest -= graph.path_start[j]
        v = graph.in_parent[j]
        tally.number[graph.in_slot[j]] += step
        tally.total[v] += step


@inlined
def move_word(counts, w, k, step):
    """Add or remove a token of word ``w`` in topic ``k``."""
    counts.word_topic[w, k] += np.float32(step)
    counts.topic[k] += step


@inlined
def open_document(documents, paths, graph, tally, d):
    """Count a document's paths; O(slots + tokens × levels)."""
    tally.number[:] = 0.0
    tally.total[:] = 0.0
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        move_path(graph, tally, paths.topic[i], paths.path[i], 1)


@inlined
def share(tally, priors, u, slot):
    """e(u→v): the share of one of node ``u``'s slots."""
    return (tally.number[slot] + priors.alpha[slot]) / (tally.total[u] + priors.alpha_sum[u])


@inlined
def reach_nodes(graph, tally, priors, reach):
    """Set ``reach`` to R(v) for every node; O(edges)."""
    reach[0] = 1.0
    for v in range(1, graph.n_paths.shape[0]):
        reach[v] = 0.0
        for j in range(graph.in_start[v], graph.in_start[v + 1]):
            u = graph.in_parent[j]
            reach[v] += reach[u] * share(tally, priors, u, graph.in_slot[j])


@inlined
def reach_topic(graph, tally, priors, reach, k):
    """Sum over all paths to topic ``k``, including the choice to draw a word there."""
    v = graph.topic_node[k]
    if graph.emit_slot[v] < 0:
        return reach[v]
    return reach[v] * share(tally, priors, v, graph.emit_slot[v])


@inlined
def topic_weights(graph, tally, counts, priors, reach, w, weights):
    """Fill ``weights`` with P(topic), up to a factor, for a token of word ``w`` that is not in the counts."""
    for k in range(counts.topic.shape[0]):
        word = np.float64(counts.word_topic[w, k]) + priors.beta[w]
        side = reach_topic(graph, tally, priors, reach, k)
        weights[k] = word / (counts.topic[k] + priors.beta_sum) * side


@inlined
def draw_path(graph, tally, priors, reach, k, shares, stream):
    """Draw a path to topic ``k``: going up, each parent with probability ∝ R(u)·e(u→v)."""
    v = graph.topic_node[k]
    path = 0
    while v > 0:
        first = graph.in_start[v]
        n_ways = graph.in_start[v + 1] - first
        for j in range(first, first + n_ways):
            u = graph.in_parent[j]
            shares[j - first] = reach[u] * share(tally, priors, u, graph.in_slot[j])
        j = first + draw_plain(shares, n_ways, stream)
        path += graph.path_start[j]
        v = graph.in_parent[j]
    return path


@compiled
def most_ways(graph):
    """Largest number of ways into a node, at least one."""
    return max(1, np.diff(graph.in_start).max())


class Room(NamedTuple):
    """Scratch of a plain sweep: counts of a document, sums over paths, weights of topics, shares of parents."""

    tally: Tally
    reach: NDArray[np.float64]
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]


@compiled
def make_room(graph):
    """Scratch for any document."""
    n_nodes, n_topics = graph.n_paths.shape[0], graph.topic_node.shape[0]
    return Room(new_tally(graph), np.empty(n_nodes), np.empty(n_topics), np.empty(most_ways(graph)))


@compiled
def sweep_plain(documents, paths, counts, priors, graph, stream):
    """One sweep over any graph; changes paths, counts and stream. Cost: O(tokens × edges).

    Uses one uniform per decision, none where there is one choice.
    """
    room = make_room(graph)
    for d in range(documents.doc_start.shape[0] - 1):
        _sweep_document(documents, d, paths, counts, priors, graph, room, stream)


@compiled
def sweep_plain_limited(documents, paths, counts, priors, graph, limits, stream):
    """``sweep_plain`` in which a document has only the topics of its set; see ``limits``."""
    room, own = make_room(graph), room_for_priors(priors)
    for d in range(documents.doc_start.shape[0] - 1):
        limit_priors(limits, limits.doc_set[d], priors, own)
        _sweep_document(documents, d, paths, counts, own, graph, room, stream)


@lean
def _sweep_document(documents, d, paths, counts, priors, graph, room, stream):
    tally, reach, weights, shares = room
    open_document(documents, paths, graph, tally, d)
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        w = documents.tokens[i]
        move_word(counts, w, paths.topic[i], -1)
        move_path(graph, tally, paths.topic[i], paths.path[i], -1)
        reach_nodes(graph, tally, priors, reach)
        topic_weights(graph, tally, counts, priors, reach, w, weights)
        k = draw_plain(weights, weights.shape[0], stream)
        path = draw_path(graph, tally, priors, reach, k, shares, stream)
        paths.topic[i] = k
        paths.path[i] = path
        move_word(counts, w, k, 1)
        move_path(graph, tally, k, path, 1)


@compiled
def sweep_four_level_plain(documents, paths, counts, priors, n_super, stream):
    """One sweep of the four-level model, where a path's number is its super-topic; O(tokens × super × sub).

    P(super s, sub k) ∝ (n[s] + alpha_r[s]) / (n + Σ alpha_r) · (n[s,k] + alpha[s,k]) / (n[s] + Σ_k alpha[s,k]) · phi,
    phi = (word_topic[w,k] + beta[w]) / (topic[k] + Σ beta): first k from the sum over s, then s given k.
    """
    n_sub = counts.topic.shape[0]
    root_alpha = priors.alpha[:n_super]
    alpha = priors.alpha[n_super:].reshape((n_super, n_sub))
    pair = np.empty((n_super, n_sub))
    total = np.empty(n_super)
    weights = np.empty(n_sub)
    shares = np.empty(n_super)
    for d in range(documents.doc_start.shape[0] - 1):
        pair[:] = 0.0
        total[:] = 0.0
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            pair[paths.path[i], paths.topic[i]] += 1.0
            total[paths.path[i]] += 1.0
        rest = documents.doc_start[d + 1] - documents.doc_start[d] - 1
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            w = documents.tokens[i]
            move_word(counts, w, paths.topic[i], -1)
            pair[paths.path[i], paths.topic[i]] -= 1.0
            total[paths.path[i]] -= 1.0
            for k in range(n_sub):
                side = 0.0
                for s in range(n_super):
                    upper = (total[s] + root_alpha[s]) / (rest + priors.alpha_sum[0])
                    side += upper * ((pair[s, k] + alpha[s, k]) / (total[s] + priors.alpha_sum[1 + s]))
                word = np.float64(counts.word_topic[w, k]) + priors.beta[w]
                weights[k] = word / (counts.topic[k] + priors.beta_sum) * side
            k = draw_plain(weights, n_sub, stream)
            for s in range(n_super):
                upper = (total[s] + root_alpha[s]) / (rest + priors.alpha_sum[0])
                shares[s] = upper * ((pair[s, k] + alpha[s, k]) / (total[s] + priors.alpha_sum[1 + s]))
            s = draw_plain(shares, n_super, stream)
            paths.topic[i] = k
            paths.path[i] = s
            move_word(counts, w, k, 1)
            pair[s, k] += 1.0
            total[s] += 1.0


@compiled
def log_joint_documents(documents, paths, priors, graph):
    """log P(paths | alpha), with the documents' Dirichlets integrated out: each token given those before it.

    Cost: O(tokens × levels).
    """
    tally = new_tally(graph)
    result = 0.0
    for d in range(documents.doc_start.shape[0] - 1):
        result = _log_document(documents, d, paths, priors, graph, tally, result)
    return result


@compiled
def log_joint_limited(documents, paths, priors, graph, limits):
    """``log_joint_documents`` of documents that have only the topics of their sets; see ``limits``."""
    tally, own = new_tally(graph), room_for_priors(priors)
    result = 0.0
    row = -1
    for d in range(documents.doc_start.shape[0] - 1):
        if limits.doc_set[d] != row:
            row = limits.doc_set[d]
            limit_priors(limits, row, priors, own)
        result = _log_document(documents, d, paths, own, graph, tally, result)
    return result


@lean
def _log_document(documents, d, paths, priors, graph, tally, result):
    """Add the terms of one document."""
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        result += math.log(path_probability(graph, tally, priors, paths.topic[i], paths.path[i]))
        move_path(graph, tally, paths.topic[i], paths.path[i], 1)
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        move_path(graph, tally, paths.topic[i], paths.path[i], -1)
    return result


@inlined
def path_probability(graph, tally, priors, k, path):
    """Product of the shares along one path."""
    v = graph.topic_node[k]
    result = 1.0
    if graph.emit_slot[v] >= 0:
        result *= share(tally, priors, v, graph.emit_slot[v])
    rest = np.int64(path)
    while v > 0:
        j = way_in(graph, v, rest)
        rest -= graph.path_start[j]
        v = graph.in_parent[j]
        result *= share(tally, priors, v, graph.in_slot[j])
    return result
