"""A ``Dag`` as arrays for samplers: components of Dirichlets, ways up, and numbered paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.dag import WORDS, Dag

_MOST_TOPICS = 2**16 - 1
_PATH_BITS = 32
_MOST_PATHS = 2**_PATH_BITS - 1


class Graph(NamedTuple):
    """Arrays of a graph. Nodes are numbered as in ``Dag.nodes``: the root is 0, every node comes after its parents.

    The *slots* of node u, ``slot_start[u]`` to ``slot_start[u+1]``, are the components of its Dirichlet: its children
    in order and, if it draws words as well, "draw a word here" last (``emit_slot``, else -1). The ways into node v are
    numbered from ``in_start[v]``: each has a parent and the parent's slot. The paths from the root to v are numbered
    from 0; ``path_start`` is the number of those that enter by earlier ways. ``below[below_start[v]:below_start[v+1]]``
    are, for a child v of the root, v and all nodes below it, in order.
    """

    slot_start: NDArray[np.int64]
    in_start: NDArray[np.int64]
    in_parent: NDArray[np.int64]
    in_slot: NDArray[np.int64]
    path_start: NDArray[np.int64]
    n_paths: NDArray[np.int64]
    emit_slot: NDArray[np.int64]
    topic_node: NDArray[np.int64]
    below_start: NDArray[np.int64]
    below: NDArray[np.int64]


def make_graph(dag: Dag) -> Graph:
    """The arrays of a graph.

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import make_graph
    >>> make_graph(Dag.from_levels(2, 3)).n_paths.tolist()
    [1, 1, 1, 2, 2, 2]
    """
    number = {name: v for v, name in enumerate(dag.nodes)}
    topics = [number[name] for name in dag.topics]
    slots = slot_children(dag)
    slot_start = np.cumsum([0] + [len(slots[name]) for name in dag.nodes])
    slot_of = {
        (name, child): int(slot_start[number[name]]) + i for name in dag.nodes for i, child in enumerate(slots[name])
    }
    parents = [dag.parents(name) for name in dag.nodes]
    n_paths: list[int] = []
    path_start: list[int] = []
    for above in parents:
        upto = 0
        for parent in above:
            path_start.append(upto)
            upto += n_paths[number[parent]]
        n_paths.append(upto or 1)
    _check_sizes(dag, topics, n_paths)
    ways = [(parent, name) for name, above in zip(dag.nodes, parents, strict=True) for parent in above]
    return Graph(
        slot_start,
        np.cumsum([0] + [len(above) for above in parents]),
        np.array([number[parent] for parent, _ in ways], np.int64),
        np.array([slot_of[way] for way in ways], np.int64),
        np.array(path_start, np.int64),
        np.array(n_paths, np.int64),
        np.array([slot_of.get((name, WORDS), -1) for name in dag.nodes], np.int64),
        np.array(topics, np.int64),
        *_nodes_below([[number[parent] for parent in above] for above in parents]),
    )


def _nodes_below(parents: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each child of the root with all nodes below it; nothing for the other nodes."""
    inner = {u for above in parents for u in above}
    # A child without children has only itself below, so graphs with tens of thousands of those take little memory.
    first = [v for v, above in enumerate(parents) if 0 in above and v in inner]
    inside = np.zeros((len(parents), len(first)), bool)
    inside[first, range(len(first))] = True
    for v, above in enumerate(parents):
        inside[v] |= inside[above].any(axis=0)
    below = {v: np.flatnonzero(inside[:, i]) for i, v in enumerate(first)}
    below |= {v: np.array([v]) for v, above in enumerate(parents) if 0 in above and v not in inner}
    lists = [below.get(v, np.zeros(0, np.int64)) for v in range(len(parents))]
    return np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int64)


def climb(graph: Graph, topic: NDArray[Any], path: NDArray[Any]) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Slots that tokens passed, from the bottom up: in each step the tokens, the nodes, and the nodes' slots.

    A token takes one slot of every node with slots that its path leads through.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import climb, make_graph
    >>> graph = make_graph(Dag.from_levels(2, 3))  # a token of the last topic that came by the second super-topic
    >>> [[int(each[0]) for each in step[1:]] for step in climb(graph, np.array([2]), np.array([1])) if len(step[0])]
    [[2, 7], [0, 1]]
    """
    node, rest = graph.topic_node[topic], path.astype(np.int64)
    emit = graph.emit_slot[node]
    at = np.flatnonzero(emit >= 0)
    yield at, node[at], emit[at]
    # The ways into all nodes in order, each with the number of its first path.
    way = (np.repeat(np.arange(len(graph.n_paths)), np.diff(graph.in_start)) << _PATH_BITS) + graph.path_start
    at = np.flatnonzero(node > 0)
    while len(at):
        j = np.searchsorted(way, (node[at] << _PATH_BITS) + rest[at], side="right") - 1
        rest[at] -= graph.path_start[j]
        node[at] = graph.in_parent[j]
        yield at, node[at], graph.in_slot[j]
        at = at[node[at] > 0]


def slot_children(dag: Dag) -> dict[str, tuple[str, ...]]:
    """Options of each node's Dirichlet: its children and, if it draws words as well, ``WORDS`` last."""
    inner = {name for name in dag.topics if dag.children(name)}
    return {name: (*dag.children(name), *((WORDS,) if name in inner else ())) for name in dag.nodes}


def path_bytes(graph: Graph) -> int:
    """Number of bytes of a path's number in a store: 1, 2 or 4."""
    most = int(graph.n_paths.max())
    return next(n for n in (1, 2, 4) if most <= 2 ** (8 * n))


def slot_nodes(graph: Graph) -> NDArray[np.int64]:
    """The child that each slot leads to; -1 for "draw a word here".

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import make_graph, slot_nodes
    >>> slot_nodes(make_graph(Dag.from_levels(2, 2))).tolist()
    [1, 2, 3, 4, 3, 4]
    """
    child = np.full(graph.slot_start[-1], -1, np.int64)
    child[graph.in_slot] = np.repeat(np.arange(len(graph.n_paths)), np.diff(graph.in_start))
    return child


def four_level_widths(dag: Dag) -> tuple[int, int] | None:
    """(n_super, n_sub) if the graph is the four-level model, every super-topic joined to every sub-topic; else None.

    Examples
    --------
    >>> from topoi.models.dag import Dag
    >>> from topoi.models.graph import four_level_widths
    >>> four_level_widths(Dag.from_levels(2, 3)), four_level_widths(Dag.from_levels(3))
    ((2, 3), None)
    """
    if len(dag.shape) != 3:
        return None
    _, n_super, n_sub = dag.shape
    supers, subs = dag.nodes[1 : 1 + n_super], dag.nodes[1 + n_super :]
    whole = dag.children(dag.root) == supers and all(dag.children(name) == subs for name in supers)
    return (n_super, n_sub) if whole and dag.topics == subs else None


def _check_sizes(dag: Dag, topics: list[int], n_paths: list[int]) -> None:
    if len(topics) > _MOST_TOPICS:
        raise ModelError(f"the graph has {len(topics):,} topics; at most {_MOST_TOPICS:,} are possible")
    most = max(n_paths)
    if most > _MOST_PATHS:
        name = dag.nodes[n_paths.index(most)]
        raise ModelError(f"{most:,} paths lead to the node {name!r}; at most {_MOST_PATHS:,} are possible")
