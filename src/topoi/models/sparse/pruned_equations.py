"""The pruned sweep over any graph, as the paper has it (Li and McCallum, section 3.2.2), in float64.

With the token removed, its path is drawn among those that pass only through nodes that the document's other tokens
have passed through, to a topic that the document has or that other tokens of the word have. Sums over paths are those
of ``equations``, without closed nodes. A document's only token has all paths. In a document that is being added
(section 3.2.3) all nodes are open, and each token has the topics of its word: all, if the word is new.

For the four-level model ``pruned`` does the same faster, and is tested against this.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.draw import draw_positive
from topoi.kernels.jit import compiled, inlined
from topoi.kernels.word_lists import add_to_list, open_row, take_from_list
from topoi.models.pachinko.equations import most_ways, move_path, new_tally, reach_topic, share


class Room(NamedTuple):
    """Scratch space: the word's counts by topic, the document's, sums over open paths, and the number of these."""

    row: NDArray[np.float64]
    in_document: NDArray[np.int64]
    reach: NDArray[np.float64]
    n_open: NDArray[np.int64]
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]


@compiled
def make_room(graph):
    """Scratch space for sweeps over a graph."""
    n_nodes, n_topics = graph.n_paths.shape[0], graph.topic_node.shape[0]
    return Room(
        np.zeros(n_topics),
        np.zeros(n_topics, np.int64),
        np.empty(n_nodes),
        np.empty(n_nodes, np.int64),
        np.empty(n_topics),
        np.empty(most_ways(graph)),
    )


@inlined
def _reach_open(graph, tally, priors, room, everywhere):
    """Sums over the paths from the root to every node through open nodes, and their number; O(edges)."""
    room.reach[0] = 1.0
    room.n_open[0] = 1
    for v in range(1, graph.n_paths.shape[0]):
        room.reach[v] = 0.0
        room.n_open[v] = 0
        for j in range(graph.in_start[v], graph.in_start[v + 1]):
            u = graph.in_parent[j]
            if u == 0 or everywhere or tally.total[u] > 0.0:
                room.reach[v] += room.reach[u] * share(tally, priors, u, graph.in_slot[j])
                room.n_open[v] += room.n_open[u]


@inlined
def weigh_open(graph, tally, counts, priors, room, w, everywhere, entering):
    """Fill the weights of all topics, zero for those that are no candidates; return the number of paths to the others.

    ``everywhere``: all nodes are open. ``entering``: candidates are the word's topics, or all if it has none.
    """
    _reach_open(graph, tally, priors, room, everywhere)
    every_topic = counts.length[w] == 0 if entering else everywhere
    open_row(counts, w, room.row)
    n_paths = 0
    for k in range(counts.topic.shape[0]):
        room.weights[k] = 0.0
        if every_topic or room.row[k] > 0.0 or (not entering and room.in_document[k] > 0):
            side = reach_topic(graph, tally, priors, room.reach, k)
            room.weights[k] = (room.row[k] + priors.beta[w]) / (counts.topic[k] + priors.beta_sum) * side
            n_paths += room.n_open[graph.topic_node[k]]
        room.row[k] = 0.0
    return n_paths


@inlined
def weigh_ways(graph, tally, priors, room, v, everywhere):
    """Fill the shares of the ways into a node, zero for closed ones; return the number of ways."""
    first = graph.in_start[v]
    n_ways = graph.in_start[v + 1] - first
    for j in range(first, first + n_ways):
        u = graph.in_parent[j]
        is_open = u == 0 or everywhere or tally.total[u] > 0.0
        room.shares[j - first] = room.reach[u] * share(tally, priors, u, graph.in_slot[j]) if is_open else 0.0
    return n_ways


@inlined
def _draw_path(graph, tally, priors, room, k, everywhere, stream):
    v = graph.topic_node[k]
    path = 0
    while v > 0:
        n_ways = weigh_ways(graph, tally, priors, room, v, everywhere)
        j = graph.in_start[v] + (draw_positive(room.shares, n_ways, stream) if n_ways > 1 else 0)
        path += graph.path_start[j]
        v = graph.in_parent[j]
    return path


@inlined
def _place(graph, tally, counts, paths, room, w, i, k, path):
    """Assign token ``i`` its path, and count it."""
    paths.topic[i] = k
    paths.path[i] = path
    add_to_list(counts, w, k)
    counts.topic[k] += 1
    room.in_document[k] += 1
    move_path(graph, tally, k, path, 1)


@inlined
def _close_document(documents, paths, graph, tally, room, d):
    for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
        move_path(graph, tally, paths.topic[i], paths.path[i], -1)
        room.in_document[paths.topic[i]] = 0


@compiled
def sweep_pruned_plain(documents, docs, paths, counts, priors, graph, stream):
    """One pruned sweep over documents ``docs``; changes paths, sparse counts, stream; returns the paths considered."""
    tally = new_tally(graph)
    room = make_room(graph)
    considered = 0
    for c in range(docs.shape[0]):
        begin, end = documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]
        for i in range(begin, end):
            move_path(graph, tally, paths.topic[i], paths.path[i], 1)
            room.in_document[paths.topic[i]] += 1
        for i in range(begin, end):
            w, k0 = documents.tokens[i], paths.topic[i]
            take_from_list(counts, w, k0)
            counts.topic[k0] -= 1
            room.in_document[k0] -= 1
            move_path(graph, tally, k0, paths.path[i], -1)
            alone = end - begin == 1
            considered += weigh_open(graph, tally, counts, priors, room, w, alone, False)
            k = draw_positive(room.weights, counts.topic.shape[0], stream)
            path = _draw_path(graph, tally, priors, room, k, alone, stream)
            _place(graph, tally, counts, paths, room, w, i, k, path)
        _close_document(documents, paths, graph, tally, room, docs[c])
    return considered


@compiled
def enter_plain(documents, docs, paths, counts, priors, graph, stream):
    """Add documents one after the other; changes paths, sparse counts and stream. Returns the paths considered."""
    tally = new_tally(graph)
    room = make_room(graph)
    considered = 0
    for c in range(docs.shape[0]):
        for i in range(documents.doc_start[docs[c]], documents.doc_start[docs[c] + 1]):
            w = documents.tokens[i]
            considered += weigh_open(graph, tally, counts, priors, room, w, True, True)
            k = draw_positive(room.weights, counts.topic.shape[0], stream)
            path = _draw_path(graph, tally, priors, room, k, True, stream)
            _place(graph, tally, counts, paths, room, w, i, k, path)
        _close_document(documents, paths, graph, tally, room, docs[c])
    return considered
