"""Learning the Dirichlet parameters of every node but the root from one sample of paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Documents
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
from topoi.kernels.moments import Proportions, match_moments
from topoi.models.graph import Graph
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.statistics import add_proportions, slot_counts

Parts = Iterable[tuple[Documents, Paths]]


def learn_alpha(graph: Graph, parts: Parts, alpha: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """New parameters for all slots; the root's do not change.

    ``rule`` is "moments" (corrected for multinomial noise), "moments-paper" or "ml". In all of them a pseudo-document
    that has every child once keeps parameters above zero, from where they could not return.
    """
    parts = list(parts)
    return _by_likelihood(graph, parts, alpha) if rule == "ml" else _by_moments(graph, parts, alpha, rule == "moments")


def _by_moments(graph: Graph, parts: Any, alpha: NDArray[np.float64], corrected: bool) -> NDArray[np.float64]:
    n_docs, inverse = np.zeros(len(graph.n_paths)), np.zeros(len(graph.n_paths))
    first, second = np.zeros(len(alpha)), np.zeros(len(alpha))
    for documents, paths in parts:
        add_proportions(documents, paths, graph, n_docs, inverse, first, second)
    new = alpha.copy()
    for u, here in _inner_nodes(graph):
        found = Proportions(float(n_docs[u]), float(inverse[u]), first[here], second[here])
        new[here] = match_moments(found, alpha[here], corrected)
    return new


def _by_likelihood(graph: Graph, parts: Any, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
    counted = [slot_counts(documents, paths, graph) for documents, paths in parts]
    slots, numbers, nodes, totals = (np.concatenate(arrays) for arrays in zip(*counted, strict=True))
    by_slot, by_node = np.argsort(slots, kind="stable"), np.argsort(nodes, kind="stable")
    slots, numbers, nodes, totals = slots[by_slot], numbers[by_slot], nodes[by_node], totals[by_node]
    new = alpha.copy()
    for u, here in _inner_nodes(graph):
        size = here.stop - here.start
        mine = slice(*np.searchsorted(slots, [here.start, here.stop]))
        rows = slice(*np.searchsorted(nodes, [u, u + 1]))
        if size == 1 or rows.start == rows.stop:
            continue
        columns = np.concatenate((slots[mine] - here.start, np.arange(size)))
        values = np.concatenate((numbers[mine], np.ones(size, np.int64)))
        histogram = CountHistogram.from_counts(columns, values, np.append(totals[rows], size), size)
        new[here] = learn_dirichlet(histogram, alpha[here], symmetric=False)
    return new


def _inner_nodes(graph: Graph) -> Iterable[tuple[int, slice]]:
    """Every node with a Dirichlet, except the root, and its slots."""
    for u in range(1, len(graph.n_paths)):
        if graph.slot_start[u] < graph.slot_start[u + 1]:
            yield u, slice(int(graph.slot_start[u]), int(graph.slot_start[u + 1]))
