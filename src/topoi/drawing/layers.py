"""Layout of layered graphs: levels side by side, few crossing edges, no edge through a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.drawing.text import spread

_MOST_SWEEPS = 12
# Nodes with common neighbours would crowd in the middle; they keep at least this share of an even distance.
_AIRY = 0.6

Edge = tuple[Any, Any]
Floats = NDArray[np.float64]


class Layers(NamedTuple):
    """Layout of a drawing, in units of the distance between neighbours of a level.

    Attributes
    ----------
    place : dict
        Level and position along the level, from 0, of every node.
    ways : dict
        Positions that each edge passes, from parent to child, one per level.
    size : float
        Length of the longest level.
    """

    place: dict[Any, tuple[int, float]]
    ways: dict[Edge, list[tuple[int, float]]]
    size: float


class _Bend(NamedTuple):
    """A bend: the point where an edge that skips a level passes it."""

    edge: Edge
    level: int


def layered(level: Mapping[Any, int], weight: Mapping[Edge, float]) -> Layers:
    """Lay out the nodes and edges of a graph.

    Nodes are ordered by the weighted mean of their neighbours' positions, level by level, down and up; the order with
    the fewest crossings is kept (Sugiyama, Tagawa and Toda 1981). Ties keep the order in which nodes are given.

    Parameters
    ----------
    level : mapping
        Level of every node, from 0; edges lead from lower to higher levels.
    weight : mapping
        Weight of every edge (parent, child).

    Examples
    --------
    >>> from topoi.drawing.layers import layered
    >>> plan = layered({"a": 0, "b": 0, "x": 1, "y": 1}, {("a", "y"): 1.0, ("b", "x"): 1.0})
    >>> plan.place["y"], plan.place["x"]
    ((1, 0.0), (1, 1.0))
    """
    rows: list[list[Any]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
    for node, at in level.items():
        rows[at].append(node)
    ways = {edge: _stops(edge, level) for edge in weight}
    for stops in ways.values():
        for stop in stops[1:-1]:
            rows[stop.level].append(stop)
    number = {item: i for row in rows for i, item in enumerate(row)}
    links = [np.zeros((len(above), len(below))) for above, below in zip(rows, rows[1:], strict=False)]
    at_level = {**level, **{stop: stop.level for stops in ways.values() for stop in stops[1:-1]}}
    for edge, stops in ways.items():
        for above, below in zip(stops, stops[1:], strict=False):
            # Edges of weight zero are drawn too, and should not cross everything.
            links[at_level[above]][number[above], number[below]] = max(weight[edge], 1e-9)
    places = _placed(links, _ordered(links, [len(row) for row in rows]))
    found = {item: float(places[at][i]) for at, row in enumerate(rows) for i, item in enumerate(row)}
    return Layers(
        {node: (at, found[node]) for node, at in level.items()},
        {edge: [(at_level[stop], found[stop]) for stop in stops] for edge, stops in ways.items()},
        max((float(row.max()) for row in places if len(row)), default=0.0),
    )


def columns(n: int, room: float, gap: float, first: float | None = None) -> list[tuple[float, float]]:
    """Start and end of ``n`` equally wide columns; ``first`` is another width for the first, half a gap after it.

    Parameters
    ----------
    n : int
        Number of columns.
    room, gap : float
        Total width, and distance between two columns.
    first : float, optional
        Width of the first column.

    Examples
    --------
    >>> from topoi.drawing.layers import columns
    >>> columns(3, 100.0, 10.0, first=20.0)
    [(0.0, 20.0), (25.0, 57.5), (67.5, 100.0)]
    """
    begins = [] if first is None or n < 2 else [(0.0, first)]
    at = begins[0][1] + gap / 2 if begins else 0.0
    n_wide = n - len(begins)
    wide = (room - at - gap * (n_wide - 1)) / n_wide
    return begins + [(at + i * (wide + gap), at + i * (wide + gap) + wide) for i in range(n_wide)]


def ports(
    ways: Mapping[Edge, list[tuple[int, float]]], thickness: Mapping[Edge, float], room: float
) -> dict[Edge, tuple[float, float]]:
    """Offsets of each edge's two ends from the middle of their nodes, so that lines lie side by side.

    At every node lines are stacked in the order of their targets, closer together where ``room`` is short.

    Parameters
    ----------
    ways : mapping
        As in ``Layers``.
    thickness : mapping
        Line width of every edge.
    room : float
        Length of a node's side.

    Examples
    --------
    >>> from topoi.drawing.layers import ports
    >>> ports({("a", "x"): [(0, 0.0), (1, 1.0)], ("a", "y"): [(0, 0.0), (1, 0.0)]}, {("a", "x"): 2, ("a", "y"): 4}, 9)
    {('a', 'x'): (2.0, 0.0), ('a', 'y'): (-1.0, 0.0)}
    """
    found = dict.fromkeys(ways, (0.0, 0.0))
    for end, neighbour in ((0, 1), (1, -2)):
        at_node: dict[Any, list[Edge]] = {}
        for edge in ways:
            at_node.setdefault(edge[end], []).append(edge)
        for edges in at_node.values():
            edges.sort(key=lambda edge: ways[edge][neighbour][1])
            total = sum(thickness[edge] for edge in edges)
            scale, upto = min(1.0, room / max(total, 1e-9)), 0.0
            for edge in edges:
                middle = scale * (upto + thickness[edge] / 2 - total / 2)
                upto += thickness[edge]
                found[edge] = (middle, found[edge][1]) if end == 0 else (found[edge][0], middle)
    return found


def _stops(edge: Edge, level: Mapping[Any, int]) -> list[Any]:
    """The parent, a bend for every level that the edge skips, and the child."""
    parent, child = edge
    return [parent, *(_Bend(edge, at) for at in range(level[parent] + 1, level[child])), child]


def _ordered(links: list[Floats], widths: list[int]) -> list[NDArray[np.int64]]:
    """Items of each level in the order with the fewest crossings found."""
    orders = [np.arange(n) for n in widths]
    best, fewest = list(orders), _crossings(links, orders)
    for sweep in range(_MOST_SWEEPS):
        if not fewest > 0:
            break
        levels = range(1, len(widths)) if sweep % 2 == 0 else range(len(widths) - 2, -1, -1)
        for at in levels:
            link, near = (links[at - 1].T, orders[at - 1]) if sweep % 2 == 0 else (links[at], orders[at + 1])
            wanted = _means(link, _rank_of(near), _rank_of(orders[at]))
            orders[at] = orders[at][np.argsort(wanted[orders[at]].round(9), kind="stable")]
        now = _crossings(links, orders)
        if now < fewest:
            best, fewest = list(orders), now
    return best


def _rank_of(order: NDArray[np.int64]) -> Floats:
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return rank


def _means(link: Floats, place: Floats, alone: Floats) -> Floats:
    """Mean position of every item's neighbours; an item without neighbours stays at ``alone``."""
    total = link.sum(axis=1)
    return np.where(total > 0, link @ place / np.where(total > 0, total, 1.0), alone)


def _crossings(links: list[Floats], orders: list[NDArray[np.int64]]) -> float:
    """Number of crossings, each pair of lines weighted by the product of its weights."""
    found = 0.0
    for at, link in enumerate(links):
        sorted_link = link[orders[at]][:, orders[at + 1]]
        # Sum of the cells below and to the left of each cell, excluding its row and column.
        before = np.cumsum(np.cumsum(sorted_link, axis=1)[::-1], axis=0)[::-1]
        found += float((sorted_link[:-1, 1:] * before[1:, :-1]).sum()) if min(link.shape, default=0) > 1 else 0.0
    return found


def _placed(links: list[Floats], orders: list[NDArray[np.int64]]) -> list[Floats]:
    """Positions of all items: the longest level evenly, the others as near to their neighbours as there is room."""
    if not orders:
        return []
    longest = max(range(len(orders)), key=lambda at: len(orders[at]))
    places = [_rank_of(order) for order in orders]
    high = float(len(orders[longest]) - 1)
    for at in [*range(longest - 1, -1, -1), *range(longest + 1, len(orders))]:
        link, near = (links[at], places[at + 1]) if at < longest else (links[at - 1].T, places[at - 1])
        middle = (high - len(orders[at]) + 1) / 2
        wanted = _means(link, near, places[at] + middle)
        # Keep the chosen order: an item that would overtake an earlier one is placed level with it.
        steady = np.maximum.accumulate(wanted[orders[at]])
        gap = max(1.0, _AIRY * high / max(len(steady) - 1, 1))
        places[at][orders[at]] = spread(steady.tolist(), gap, 0.0, high)
    return places
