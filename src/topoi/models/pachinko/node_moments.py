"""Uncertainty of shares in a graph: of a document's words through each node, and of super-topics in all words.

As in ``topoi.models.share_moments``: a document's shares have the posterior that the Dirichlets along the paths give in
each sample; shares of all words are ratios of sums over documents, which are resampled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.graph import Graph, climb, slot_nodes
from topoi.models.pachinko.equations import Paths
from topoi.models.share_moments import between_samples
from topoi.models.smoothed_counts import count_pairs

Array = NDArray[np.float64]


class SquaredShares(NamedTuple):
    """E[p²] of each node: p is the probability that a word is drawn at it, or that its path leads through it."""

    drawn: Array
    through: Array


def squared_shares(graph: Graph, weights: Array) -> SquaredShares:
    """Mean squares of the probabilities of nodes, with Dirichlet weights of the edges (samples × slots).

    Words walk down from the root, a level at a time. ``joint`` has E[p q] of the probabilities of being at two nodes.
    The nodes of a level are left together: a node's shares m of its children are independent of all before, and have
    the covariance (diag(m) − m mᵀ) / (total + 1).

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import make_graph
    >>> from topoi.models.pachinko.node_moments import squared_shares
    >>> squared_shares(make_graph(Dag.from_levels(2)), np.array([[1.0, 1.0]])).drawn.round(3).tolist()
    [[0.0, 0.333, 0.333]]
    """
    n_samples, n_nodes = len(weights), len(graph.n_paths)
    parent = np.repeat(np.arange(n_nodes), np.diff(graph.slot_start))
    child = slot_nodes(graph)
    to = np.where(child >= 0, child, parent)
    total = np.add.reduceat(weights, graph.slot_start[np.unique(parent)], axis=1)
    total = np.where(total > 0, total, 1.0)  # a node that is closed to the document: nothing reaches it
    inner, level = np.unique(parent), _levels(graph)
    through = np.zeros((n_samples, n_nodes))
    at, joint = np.zeros(1, np.int64), np.ones((n_samples, 1, 1))
    for depth in range(int(level[inner].max()) + 1):
        leaving = inner[level[inner] == depth]
        place = np.searchsorted(at, leaving)
        means = np.zeros((n_samples, len(at), n_nodes))
        staying = np.setdiff1d(np.arange(len(at)), place)
        means[:, staying, at[staying]] = 1.0
        slots = np.flatnonzero(np.isin(parent, leaving))
        sums = total[:, np.searchsorted(inner, parent[slots])]
        means[:, np.searchsorted(at, parent[slots]), to[slots]] = weights[:, slots] / sums
        own = np.zeros((n_samples, len(at)))
        own[:, place] = joint[:, place, place] / (total[:, np.searchsorted(inner, leaving)] + 1)
        through[:, leaving] = joint[:, place, place]
        reached = np.union1d(at[staying], to[slots])
        means = means[:, :, reached]
        joint[:, np.arange(len(at)), np.arange(len(at))] -= own
        spread = np.einsum("su,suv->sv", own, means)
        half = np.matmul(joint, means)
        at = reached
        if depth == level[inner].max():
            drawn = np.zeros((n_samples, n_nodes))
            drawn[:, at] = (half * means).sum(axis=1) + spread
            break
        joint = np.matmul(means.transpose(0, 2, 1), half)
        joint[:, np.arange(len(at)), np.arange(len(at))] += spread
    leaves = np.setdiff1d(np.arange(n_nodes), inner)
    through[:, leaves] = drawn[:, leaves]
    return SquaredShares(drawn, through)


def _levels(graph: Graph) -> NDArray[np.int64]:
    """Length of the longest path from the root to each node."""
    level = np.zeros(len(graph.n_paths), np.int64)
    for v in range(1, len(level)):
        level[v] = 1 + level[graph.in_parent[graph.in_start[v] : graph.in_start[v + 1]]].max()
    return level


class GraphDeviations(NamedTuple):
    """Standard deviations of the share of all words through each node, and of each slot's part of its child's words.

    They are zero for leaves, whose words are those of their topics, and for slots that lead to no child.
    """

    node: Array
    slot: Array


class _Ratios:
    """Sums over documents of parts n and wholes N, whose ratios Σ n / Σ N are resampled."""

    def __init__(self, n: int) -> None:
        self.parts, self.squares, self.products = np.zeros((3, n))

    def add(self, column: NDArray[np.int64], part: Array, whole: Array) -> None:
        """Add documents' parts, and their wholes."""
        for sums, value in ((self.parts, part), (self.squares, part * part), (self.products, part * whole)):
            sums += np.bincount(column, value, len(sums))

    def variance(self, n_docs: Array, whole: Array, whole_squares: Array) -> Array:
        """Variance of each ratio p: Σ (n − p N)² / (Σ N)², given the number of documents, Σ N and Σ N²."""
        known = np.where(whole > 0, whole, 1.0)
        share = self.parts / known
        left = np.maximum(self.squares - 2 * share * self.products + share**2 * whole_squares, 0.0)
        return np.asarray(left / known**2 * n_docs / np.maximum(n_docs - 1, 1))


def graph_deviations(
    graph: Graph, blocks: Iterable[tuple[NDArray[np.int64], list[Paths]]], n_samples: int
) -> GraphDeviations:
    """Deviations by resampled documents, and by the spread of the samples; see ``topoi.models.share_moments``.

    Parameters
    ----------
    graph : Graph
        The graph.
    blocks : iterable
        Documents in blocks: their numbers of words, and the words' paths in every sample.
    n_samples : int
        Number of samples.
    """
    n_nodes, n_slots = len(graph.n_paths), int(graph.slot_start[-1])
    parent, child = np.repeat(np.arange(n_nodes), np.diff(graph.slot_start)), slot_nodes(graph)
    nodes, slots = _Ratios(n_nodes), _Ratios(n_slots)
    # Documents with words, their words, and the squares of those: in all, and into each node.
    sizes, every, into = np.zeros((n_samples, n_slots)), np.zeros(3), np.zeros((3, n_nodes))
    for lengths, samples in blocks:
        every += (lengths > 0).sum(), lengths.sum(), lengths @ lengths
        d, slot, n = _slot_counts(graph, np.repeat(np.arange(len(lengths)), lengths), samples, sizes)
        doc, node, passed = _summed(d, parent[slot], n, n_nodes)
        nodes.add(node, passed, lengths[doc].astype(np.float64))
        below = child[slot] >= 0
        d, slot, n = d[below], slot[below], n[below]
        doc, node, came = _summed(d, child[slot], n, n_nodes)
        into += [np.bincount(node, each, n_nodes) for each in (came > 0, came, came * came)]
        # The words of the slot's child in the same document.
        whole = came[np.searchsorted(doc * n_nodes + node, d * n_nodes + child[slot])]
        slots.add(slot, n, whole)
    passing = np.stack([np.bincount(parent, each, n_nodes) for each in sizes]) / max(every[1], 1.0)
    ends = np.where(child >= 0, child, 0)
    arriving = np.stack([np.bincount(ends, each, n_nodes)[ends] for each in sizes])
    by_node, by_slot = nodes.variance(*np.repeat(every[:, None], n_nodes, axis=1)), slots.variance(*into[:, ends])
    between = between_samples(passing), between_samples(sizes / np.maximum(arriving, 1.0)) * (child >= 0)
    return GraphDeviations(np.sqrt(by_node + between[0] ** 2), np.sqrt(by_slot + between[1] ** 2))


def _slot_counts(
    graph: Graph, doc: NDArray[np.int64], samples: list[Paths], sizes: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Mean numbers of tokens of documents that took each slot, without zeros; each sample's sums are added to sizes."""
    docs, slots = [], []
    for paths, total in zip(samples, sizes, strict=True):
        for at, _, slot in climb(graph, *paths):
            docs.append(doc[at])
            slots.append(slot)
            total += np.bincount(slot, minlength=len(total))
    d, slot, number = count_pairs(np.concatenate(docs), np.concatenate(slots), sizes.shape[1])
    return d, slot, np.asarray(number / len(samples))


def _summed(
    doc: NDArray[np.int64], node: NDArray[np.int64], n: Array, n_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Sums of each document and node, in order."""
    keys, at = np.unique(doc * n_nodes + node, return_inverse=True)
    return keys // n_nodes, keys % n_nodes, np.asarray(np.bincount(at, n, len(keys)), np.float64)
