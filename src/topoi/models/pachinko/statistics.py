"""Statistics of a sample's documents for learning each node's Dirichlet; O(tokens × levels)."""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from topoi.kernels.jit import compiled
from topoi.models.pachinko.equations import move_path, new_tally, way_in


@compiled
def add_proportions(documents, paths, graph, n_docs, inverse, first, second):
    """Add every document's contribution to the sums of ``kernels.moments.Proportions``: per node and per slot."""
    tally = new_tally(graph)
    for d in range(documents.doc_start.shape[0] - 1):
        begin, end = documents.doc_start[d], documents.doc_start[d + 1]
        for i in range(begin, end):
            move_path(graph, tally, paths.topic[i], paths.path[i], 1)
        for i in range(begin, end):
            _take_slots(graph, tally, paths.topic[i], paths.path[i], first, second)
        for i in range(begin, end):
            _take_nodes(graph, tally, paths.topic[i], paths.path[i], n_docs, inverse)


@compiled
def _take_slots(graph, tally, k, path, first, second):
    """Add the proportions of a path's slots, each the first time it is met, and clear them."""
    v = graph.topic_node[k]
    if graph.emit_slot[v] >= 0:
        _take_slot(tally, v, graph.emit_slot[v], first, second)
    rest = np.int64(path)
    while v > 0:
        j = way_in(graph, v, rest)
        rest -= graph.path_start[j]
        v = graph.in_parent[j]
        _take_slot(tally, v, graph.in_slot[j], first, second)


@compiled
def _take_slot(tally, u, slot, first, second):
    x = tally.number[slot] / tally.total[u]
    first[slot] += x
    second[slot] += x * x
    tally.number[slot] = 0.0


@compiled
def _take_nodes(graph, tally, k, path, n_docs, inverse):
    """Count the document for a path's nodes, each the first time it is met, and clear them."""
    v = graph.topic_node[k]
    _take_node(tally, v, n_docs, inverse)
    rest = np.int64(path)
    while v > 0:
        j = way_in(graph, v, rest)
        rest -= graph.path_start[j]
        v = graph.in_parent[j]
        _take_node(tally, v, n_docs, inverse)


@compiled
def _take_node(tally, v, n_docs, inverse):
    if tally.total[v] > 0.0:
        n_docs[v] += 1.0
        inverse[v] += 1.0 / tally.total[v]
        tally.total[v] = 0.0


@compiled
def slot_counts(documents, paths, graph):
    """All nonzero counts, document by document: slots with numbers, and nodes with totals.

    The last two results have, for each document, how many there are of both up to its end, with a zero before.
    """
    tally = new_tally(graph)
    n = documents.tokens.shape[0] * (_longest(graph) + 1)
    slots, numbers = np.empty(n, np.int32), np.empty(n, np.int32)
    nodes, totals = np.empty(n, np.int32), np.empty(n, np.int32)
    slot_end, node_end = (
        np.zeros(documents.doc_start.shape[0], np.int64),
        np.zeros(documents.doc_start.shape[0], np.int64),
    )
    n_slots, n_nodes = 0, 0
    for d in range(documents.doc_start.shape[0] - 1):
        begin, end = documents.doc_start[d], documents.doc_start[d + 1]
        for i in range(begin, end):
            move_path(graph, tally, paths.topic[i], paths.path[i], 1)
        for i in range(begin, end):
            v, rest = graph.topic_node[paths.topic[i]], np.int64(paths.path[i])
            slot = graph.emit_slot[v]
            while True:
                if slot >= 0 and tally.number[slot] > 0.0:
                    slots[n_slots], numbers[n_slots] = slot, tally.number[slot]
                    tally.number[slot] = 0.0
                    n_slots += 1
                if tally.total[v] > 0.0:
                    nodes[n_nodes], totals[n_nodes] = v, tally.total[v]
                    tally.total[v] = 0.0
                    n_nodes += 1
                if v == 0:
                    break
                j = way_in(graph, v, rest)
                rest -= graph.path_start[j]
                v, slot = graph.in_parent[j], graph.in_slot[j]
        slot_end[d + 1], node_end[d + 1] = n_slots, n_nodes
    return slots[:n_slots], numbers[:n_slots], nodes[:n_nodes], totals[:n_nodes], slot_end, node_end


@compiled
def _longest(graph):
    """Number of edges of the longest path."""
    depth = np.zeros(graph.n_paths.shape[0], np.int64)
    for v in range(1, depth.shape[0]):
        for j in range(graph.in_start[v], graph.in_start[v + 1]):
            depth[v] = max(depth[v], depth[graph.in_parent[j]] + 1)
    return depth.max()
