"""Layout of topics: colours that distinguish neighbours, and places on a map.

Both are computed once, when a model is saved, and are the same for every reader.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.drawing.colours import GOLDEN_ANGLE, golden_places, wheel_hues
from topoi.drawing.embedding import placed_by_distance
from topoi.kernels.jit import lean
from topoi.models.smoothed_counts import Cells

# Fixed-point numbers, so that hues are the same bits everywhere: this many units are one.
_ONE = 2**20
_MOST_SWEEPS = 20
_MOST_STEPS = 2**31
# Circles of this radius times the root of a topic's share together cover a ninth of the map.
CIRCLE = 0.19
_SMALLEST_CIRCLE = 0.006
_PUSHES = 300
_NO_OVERLAP = 1e-4
_FEWEST_FOR_MAP = 3
_DIGITS = 4
_NEAR = 3  # topics among whose earlier places a new one is put


def topic_hues(cells: Iterable[Cells], n_topics: int) -> NDArray[np.int64]:
    """A hue (0 to 359) for each topic, evenly spread, so that topics that share documents are far apart.

    Hues start in golden-angle steps; then pairs of topics swap hues as long as a swap increases the sum over all pairs
    of co-occurrence × distance of hues. Whole numbers only: the same bits everywhere.

    Parameters
    ----------
    cells : blocks of three arrays
        Nonzero numbers of words per document and topic, document by document: documents, topics, numbers.
    n_topics : int
        Number of topics.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.topic_layout import topic_hues
    >>> cells = np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]), np.array([5, 5, 5, 5])
    >>> hues = topic_hues([cells], 4)
    >>> abs(hues[0] - hues[1]) == 180 and abs(hues[2] - hues[3]) == 180
    np.True_
    """
    places = golden_places(n_topics)
    together = cooccurrence(cells, n_topics)
    sweeps = int(min(max(_MOST_STEPS // max(n_topics, 1) ** 3, 1), _MOST_SWEEPS))
    _swap_apart(together, wheel_distances(places), places, sweeps)
    return wheel_hues(places)


def cooccurrence(cells: Iterable[Cells], n_topics: int) -> NDArray[np.int64]:
    """Co-occurrence of all pairs of topics in documents: the cosine of their numbers of words there.

    Large and small topics count alike. Fixed-point numbers in which ``_ONE`` is one; 0 for a topic with itself.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.topic_layout import cooccurrence
    >>> cells = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([5, 3, 4])
    >>> (cooccurrence([cells], 2) / 2**20).round(2).tolist()
    [[0.0, 0.6], [0.6, 0.0]]
    """
    # Means of samples need not be whole numbers.
    products = np.zeros((n_topics, n_topics))
    squares = np.zeros(n_topics)
    for doc, topic, number in cells:
        _add_products(doc, topic, number, products)
        np.add.at(squares, topic, number.astype(np.float64) ** 2)
    length = np.sqrt(np.maximum(squares, 1.0))
    return np.rint((products + products.T) / (length[:, None] * length) * _ONE).astype(np.int64)


@lean
def _add_products(doc: Any, topic: Any, number: Any, products: Any) -> None:
    """Add up the products of the numbers of all pairs of topics in the same document, each pair once."""
    first = 0
    for a in range(doc.shape[0]):
        if doc[first] != doc[a]:
            first = a
        for b in range(first, a):
            products[topic[a], topic[b]] += number[a] * number[b]


def wheel_distances(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Distances of all pairs on the colour wheel, in places, the shorter way round."""
    apart = np.abs(places[:, None] - places)
    return np.minimum(apart, len(places) - apart)


@lean
def _swap_apart(together: Any, apart: Any, places: Any, n_sweeps: int) -> None:
    """Swap places while that increases Σ together × apart, in at most ``n_sweeps`` passes over all pairs."""
    n = places.shape[0]
    for _ in range(n_sweeps):
        changed = False
        for a in range(n):
            for b in range(a + 1, n):
                gain = 2 * together[a, b] * apart[a, b]  # their own distance stays: the sum below subtracts it twice
                for c in range(n):
                    gain += (together[a, c] - together[b, c]) * (apart[b, c] - apart[a, c])
                if gain <= 0:
                    continue
                changed = True
                places[a], places[b] = places[b], places[a]
                for c in range(n):
                    if c != a and c != b:
                        apart[a, c], apart[b, c] = apart[b, c], apart[a, c]
                        apart[c, a], apart[c, b] = apart[a, c], apart[b, c]
        if not changed:
            break


def topic_map(distance: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """A place in the unit square for each topic, topics × 2; None if there are fewer than three.

    A neighbour embedding (t-SNE) of the distances, stretched to the whole square and evened out in both dimensions, so
    that as a rule the nearest circle is the most similar topic. Circles with areas in proportion to the topics' shares
    are then pushed apart where they overlap.

    Parameters
    ----------
    distance : array
        Distances between all topics.
    share : array
        Each topic's share of all words.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.topic_layout import topic_map
    >>> line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> topic_map(line, np.full(3, 0.01))[:, 0].tolist()
    [1.0, 0.5, 0.0]
    """
    if len(distance) < _FEWEST_FOR_MAP:
        return None
    places = _evened(placed_by_distance(np.asarray(distance, np.float64)))
    return np.round(_stretched(push_apart(places, _radii(share))), _DIGITS)


def _radii(share: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum(CIRCLE * np.sqrt(share), _SMALLEST_CIRCLE))


def kept_map(
    places: NDArray[np.float64], before: NDArray[np.float64], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A map on which topics keep their places of an earlier one (nan: not on it).

    A new topic is put among the earlier places of those that are nearest to it on the new map; circles that then
    overlap are pushed apart.

    Parameters
    ----------
    places, before : array
        The new map and the earlier one, topics × 2.
    share : array
        Each topic's share of all words.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.topic_layout import kept_map
    >>> before = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [np.nan, np.nan]])
    >>> new = np.array([[1.0, 1.0], [0.0, 0.0], [0.5, 0.0], [0.05, 0.0]])
    >>> kept_map(new, before, np.full(4, 1e-4)).round(1).tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]
    """
    known = np.asarray(~np.isnan(before).any(axis=1))
    if not known.any():
        return places
    kept = np.where(known[:, None], before, 0.0)
    for k in np.flatnonzero(~known):
        apart = ((places[known] - places[k]) ** 2).sum(axis=1)
        near = np.argsort(apart, kind="stable")[:_NEAR]
        weight = 1.0 / (apart[near] + 1e-6)
        kept[k] = (weight[:, None] * before[known][near]).sum(axis=0) / weight.sum()
    return np.round(push_apart(kept, _radii(share)), _DIGITS)


def most_free_hue(hues: Sequence[int]) -> int:
    """The hue, in degrees, in the middle of the widest gap between others.

    Examples
    --------
    >>> most_free_hue([0, 90, 100]), most_free_hue([])
    (230, 30)
    """
    ordered = sorted({int(hue) % 360 for hue in hues})
    if not ordered:
        return 30
    gaps = [(after - hue, hue) for hue, after in zip(ordered, [*ordered[1:], ordered[0] + 360], strict=True)]
    gap, hue = max(gaps, key=lambda pair: (pair[0], -pair[1]))
    return (hue + gap // 2) % 360


def _stretched(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points scaled to fill the unit square in both dimensions; in the middle if they do not differ."""
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    return np.asarray(np.where(size > 1e-9, (points - low) / np.where(size > 1e-9, size, 1.0), 0.5))


def _evened(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of points scaled by value and by rank, in both dimensions."""
    rank = np.argsort(np.argsort(np.round(points, 9), axis=0, kind="stable"), axis=0, kind="stable")
    return np.asarray((_stretched(points) + _stretched(rank.astype(np.float64))) / 2.0)


def push_apart(points: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push overlapping circles apart in small steps, within the unit square."""
    # Points in the same place move apart in different directions.
    angle = np.arange(len(points)) * np.radians(GOLDEN_ANGLE)
    points = points + 1e-6 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for _ in range(_PUSHES):
        moves = np.zeros_like(points)
        if _add_pushes(points, radius, moves) < _NO_OVERLAP:
            break
        points = np.clip(points + moves, 0.0, 1.0)
    return points


@lean
def _add_pushes(points: Any, radius: Any, moves: Any) -> float:
    """Set the push on each circle by those it overlaps, the larger moving less; return the largest overlap."""
    largest = 0.0
    for i in range(points.shape[0]):
        for j in range(i):
            x, y = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
            gap = max(math.sqrt(x * x + y * y), 1e-12)
            overlap = radius[i] + radius[j] - gap
            if overlap <= 0.0:
                continue
            largest = max(largest, overlap)
            mine, other = radius[i] * radius[i], radius[j] * radius[j]
            push = 0.5 * overlap / gap / (mine + other)
            moves[i, 0] += push * other * x
            moves[i, 1] += push * other * y
            moves[j, 0] -= push * mine * x
            moves[j, 1] -= push * mine * y
    return largest
