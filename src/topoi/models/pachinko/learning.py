"""Dirichlet parameters of a graph's edges: as given, and learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
from topoi.kernels.moments import Proportions, match_moments
from topoi.models.dag import Dag
from topoi.models.graph import Graph, four_level_widths, slot_children
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.statistics import add_proportions, slot_counts
from topoi.models.validation import positive_vector

Parts = Iterable[tuple[Documents, Paths]]
# The setting alpha: one number, a matrix of super-topics × sub-topics, or parameters by node.
EdgeAlpha = ArrayLike | Mapping[str, ArrayLike] | None
_DEFAULT = 0.1


def learn_alpha(graph: Graph, parts: Parts, alpha: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """New parameters for all slots; the root's do not change.

    ``rule`` is "moments" (corrected for multinomial noise), "moments-paper" or "ml". In all of them a pseudo-document
    that has every child once keeps parameters above zero, from where they could not return.
    """
    return learn_alpha_from(graph, [statistics(graph, *part, rule) for part in parts], alpha, rule)


def statistics(graph: Graph, documents: Documents, paths: Paths, rule: str) -> tuple[NDArray[Any], ...]:
    """Statistics of some documents for ``learn_alpha_from``: sums of proportions, or counts."""
    if rule == "ml":
        return tuple(slot_counts(documents, paths, graph)[:4])
    n_nodes, n_slots = len(graph.n_paths), int(graph.slot_start[-1])
    sums = np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(n_slots), np.zeros(n_slots)
    add_proportions(documents, paths, graph, *sums)
    return sums


def learn_alpha_from(
    graph: Graph, parts: Sequence[tuple[NDArray[Any], ...]], alpha: NDArray[np.float64], rule: str
) -> NDArray[np.float64]:
    """``learn_alpha`` from the ``statistics`` of all parts, added up in their order."""
    return _by_likelihood(graph, parts, alpha) if rule == "ml" else _by_moments(graph, parts, alpha, rule == "moments")


def _by_moments(
    graph: Graph, parts: Sequence[tuple[NDArray[Any], ...]], alpha: NDArray[np.float64], corrected: bool
) -> NDArray[np.float64]:
    n_docs, inverse, first, second = (sum(each[1:], each[0]) for each in zip(*parts, strict=True))
    new = alpha.copy()
    for u, here in _inner_nodes(graph):
        found = Proportions(float(n_docs[u]), float(inverse[u]), first[here], second[here])
        new[here] = match_moments(found, alpha[here], corrected)
    return new


def _by_likelihood(
    graph: Graph, counted: Sequence[tuple[NDArray[Any], ...]], alpha: NDArray[np.float64]
) -> NDArray[np.float64]:
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


def resolve_alpha(dag: Dag, root_alpha: ArrayLike, alpha: EdgeAlpha) -> NDArray[np.float64]:
    """One parameter for every slot, in the order of the graph's slots.

    ``alpha`` is a number for all nodes but the root; a dict from nodes to a number or one per child (0.1 for nodes that
    it leaves out); or, for the four-level model, a matrix of super-topics × sub-topics.

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.pachinko.learning import resolve_alpha
    >>> resolve_alpha(Dag.from_levels(1, 3), 0.01, {"super 0": [1, 2, 3]}).tolist()
    [0.01, 1.0, 2.0, 3.0]
    """
    slots = slot_children(dag)
    given = _by_node(dag, alpha)
    unknown = [name for name in given if name not in slots or name == dag.root or not slots[name]]
    if unknown:
        raise ModelError(
            f"alpha names {unknown[0]!r}, which is no inner node below the root; set root_alpha for the root"
        )
    parts = []
    for name, below in slots.items():
        if name == dag.root:
            parts.append(positive_vector("root_alpha", root_alpha, len(below), "the number of the root's children"))
        elif below:
            what = f"the number of children of {name!r}"
            parts.append(positive_vector("alpha", given.get(name, _DEFAULT), len(below), what))
    return np.concatenate(parts)


def _by_node(dag: Dag, alpha: EdgeAlpha) -> dict[str, ArrayLike]:
    """Alpha as a dict from nodes to parameters."""
    if isinstance(alpha, Mapping):
        return dict(alpha)
    inner = [name for name in dag.nodes if name != dag.root and dag.children(name)]
    if alpha is not None and np.ndim(alpha) == 2:
        widths, shape = four_level_widths(dag), np.asarray(alpha).shape
        if widths is None or shape != widths:
            expected = f"{widths[0]} × {widths[1]}" if widths else "a dict from nodes to parameters for this graph"
            raise ModelError(f"alpha is a matrix of {shape}; it must be {expected}, or a number")
        return dict(zip(inner, np.asarray(alpha), strict=True))
    return dict.fromkeys(inner, _DEFAULT if alpha is None else alpha)
