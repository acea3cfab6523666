"""Documents that may not have all topics: which nodes of the graph are open to them, and the priors that follow.

A document with the topics A (``doc_labels``, ``doc_ban``) has at every node the Dirichlet of the graph restricted to
the slots that lead to a topic of A: alpha[u,v] of the others is zero, and the sum over u's slots is one of its own,

    Σ alpha[u, A] = Σ over open slots of alpha[u,v]

A node without an open slot is closed, and with it every slot that leads there. Every path to a topic of A has open
slots alone, so that a token of an allowed topic may have any of its paths. Documents have few different sets.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Priors
from topoi.kernels.jit import compiled, lean
from topoi.models.contract import StoredSource
from topoi.models.graph import Graph, slot_nodes
from topoi.models.guidance.guidance import Guidance

# Different alphas whose sums are kept: those of the chains of a fit.
_MOST_KEPT = 8


class Limits(NamedTuple):
    """Sets of topics as kernels read them.

    ``topics[r, k]`` and ``nodes[r, v]`` tell what is open in set r. ``alpha_sum[r, u]`` is the sum of alpha over u's
    open slots, for nodes up to the last with slots; 1 for a closed node, which nothing reaches. ``slot_to`` is the node
    that a slot leads to, or -1 - k if it draws a word of topic k; ``doc_set`` is the set of each document.
    """

    topics: NDArray[np.bool_]
    nodes: NDArray[np.bool_]
    slot_to: NDArray[np.int64]
    doc_set: NDArray[np.int32]
    alpha_sum: NDArray[np.float64]


@lean
def _is_open(limits, row, slot):
    to = limits.slot_to[slot]
    return limits.nodes[row, to] if to >= 0 else limits.topics[row, -1 - to]


@lean
def _add_sums(graph, priors, limits):
    """Set the sums of all sets. A node whose slots are all open has its own sum, to the bit."""
    for row in range(limits.alpha_sum.shape[0]):
        for u in range(limits.alpha_sum.shape[1]):
            total, whole = 0.0, True
            for slot in range(graph.slot_start[u], graph.slot_start[u + 1]):
                if _is_open(limits, row, slot):
                    total += np.float64(priors.alpha[slot])
                else:
                    whole = False
            limits.alpha_sum[row, u] = priors.alpha_sum[u] if whole else (total if total > 0.0 else 1.0)


@lean
def limit_priors(limits, row, given, priors):
    """Set alpha and its sums to those of the documents of a set; O(slots)."""
    for slot in range(given.alpha.shape[0]):
        priors.alpha[slot] = given.alpha[slot] if _is_open(limits, row, slot) else np.float32(0.0)
    for u in range(limits.alpha_sum.shape[1]):
        priors.alpha_sum[u] = limits.alpha_sum[row, u]


@compiled
def room_for_priors(priors):
    """Priors whose alpha can be set document by document."""
    return Priors(priors.alpha.copy(), priors.alpha_sum.copy(), priors.beta, priors.beta_sum)


class TopicLimits:
    """Sets of topics over a graph, and the set of each document.

    Parameters
    ----------
    graph : Graph
        The graph.
    sets : array of bool
        Topics of each set: sets × topics. A set without topics, of documents without words, counts as all of them.
    doc_set : array of int
        The set of each document.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import make_graph
    >>> from topoi.models.pachinko.limits import TopicLimits
    >>> graph = make_graph(Dag.from_dict({"root": {"a": ["x"], "b": ["x", "y"]}}))
    >>> TopicLimits(graph, np.array([[False, True]]), np.array([0, 0])).nodes.tolist()  # of y alone: a is closed
    [[True, False, True, False, True]]
    """

    def __init__(self, graph: Graph, sets: NDArray[Any], doc_set: NDArray[Any]) -> None:
        found = np.asarray(sets, bool)
        self.graph, self.doc_set = graph, np.ascontiguousarray(doc_set, np.int32)
        self.sets = np.ascontiguousarray(np.where(found.any(axis=1, keepdims=True), found, True))
        self._sums: dict[bytes, NDArray[np.float64]] = {}
        self.nodes = self._open_nodes()
        self.slot_to = self._slot_ends()

    @classmethod
    def from_guidance(cls, graph: Graph, told: Guidance | None) -> Self | None:
        """The sets of a guided fit; None if it was told nothing of documents."""
        if told is None or told.allowed is None or told.doc_set is None:
            return None
        return cls(graph, told.allowed, told.doc_set)

    @property
    def if_any(self) -> Self | None:
        """None if all documents may have all topics."""
        return None if self.sets.all() else self

    def some(self, documents: slice) -> Self:
        """The same for some documents; what is known of the sets is shared."""
        other = copy(self)
        other.doc_set = self.doc_set[documents]
        return other

    def _open_nodes(self) -> NDArray[np.bool_]:
        """Nodes with an allowed topic at or below them: sets × nodes."""
        graph = self.graph
        found = np.zeros((len(self.sets), len(graph.n_paths)), bool)
        found[:, graph.topic_node] = self.sets
        for v in range(found.shape[1] - 1, 0, -1):  # every node comes after its parents
            found[:, graph.in_parent[graph.in_start[v] : graph.in_start[v + 1]]] |= found[:, v : v + 1]
        return found

    def _slot_ends(self) -> NDArray[np.int64]:
        """Node that each slot leads to; -1 - k if it draws a word of topic k."""
        graph, to = self.graph, slot_nodes(self.graph)
        emitting = graph.emit_slot[graph.topic_node]
        to[emitting[emitting >= 0]] = -1 - np.flatnonzero(emitting >= 0)
        return to

    def open_slots(self, slots: slice) -> NDArray[np.bool_]:
        """Whether some slots are open: sets × slots."""
        to = self.slot_to[slots]
        found = self.nodes[:, np.maximum(to, 0)]
        found[:, to < 0] = self.sets[:, -1 - to[to < 0]]
        return found

    def of(self, priors: Priors) -> Limits:
        """The limits as kernels read them; sums of alpha are computed when alpha changes."""
        key = np.asarray(priors.alpha).tobytes()
        found = Limits(self.sets, self.nodes, self.slot_to, self.doc_set, self._sums.get(key, np.zeros((0, 0))))
        if len(found.alpha_sum) != len(self.sets):
            n_inner = 1 + int(np.flatnonzero(np.diff(self.graph.slot_start))[-1])
            found = found._replace(alpha_sum=np.zeros((len(self.sets), n_inner)))
            _add_sums(self.graph, priors, found)
            if len(self._sums) >= _MOST_KEPT:
                self._sums.clear()
            self._sums[key] = found.alpha_sum
        return found

    def priors_of(self, priors: Priors, document: int) -> Priors:
        """Priors of one document."""
        room = room_for_priors(priors)
        limit_priors(self.of(priors), int(self.doc_set[document]), priors, room)
        return room

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Sets that documents have, numbered without gaps, and each document's, as a file keeps them."""
        used, doc_set = np.unique(self.doc_set, return_inverse=True)
        return {"allowed": self.sets[used].astype(np.uint8), "doc_set": doc_set.astype(np.int32)}

    @classmethod
    def from_source(cls, source: StoredSource, graph: Graph, n_docs: int) -> Self:
        """What ``to_arrays`` wrote, read from a store and checked."""
        doc_set = source.array(f"chain{source.index}_doc_set", (n_docs,))
        if doc_set.dtype != np.int32 or int(doc_set.min(initial=0)) < 0:
            raise source.damaged("the topics that documents may have are damaged")
        shape = int(doc_set.max(initial=-1)) + 1, source.n_topics
        return cls(graph, source.array(f"chain{source.index}_allowed", shape), doc_set)
