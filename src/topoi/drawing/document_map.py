"""Map of documents: where the names of topics go, and the picture for pages without a script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from topoi.drawing.colours import topic_class
from topoi.drawing.svg import element, map_name, picture, topic_name
from topoi.drawing.text import number, text_width
from topoi.drawing.words import count

Floats = NDArray[np.float64]
MOST_DOTS = 4000
_CELLS = 64
_BLUR = (0.06, 0.24, 0.4, 0.24, 0.06)
_MARGIN = 10.0
_SIZES = (("name big", 15.0, 0.35), ("name", 12.5, 0.12), ("name small", 11.0, 0.0))
# A background topic names a document only if its share is this many times that of any other.
_BACKGROUND = 4.0


def leading_topics(chain: Any, is_background: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The topic that a document is coloured by: the one with most of its words; topics of connecting words come last.

    Parameters
    ----------
    chain : Posterior
        A chain with documents.
    is_background : array
        Whether each topic is made of connecting words.
    """
    n = len(chain.documents)
    weight = np.where(is_background, 1.0 / _BACKGROUND, 1.0)
    found = np.zeros(n, np.int64)
    for first in range(0, n, 4096):
        last = min(first + 4096, n)
        # A store has mixtures that are not counts as rows.
        counted = chain.mixtures_are_counts
        shares = chain.mixture_range(first, last) if counted else chain.mixtures[first:last]
        found[first:last] = np.argmax(shares * weight, axis=1)
    return found


def topic_anchors(places: Floats, topic: NDArray[np.int64], n_topics: int) -> tuple[Floats, NDArray[np.int64]]:
    """Where each topic's documents are densest, topics × 2 (nan without documents), and how many it has.

    Documents are counted in the cells of a grid, smoothed; the place is the mean of those around the fullest cell.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.document_map import topic_anchors
    >>> places = np.array([[0.1, 0.1], [0.1, 0.12], [0.9, 0.9], [0.5, 0.5]])
    >>> anchors, numbers = topic_anchors(places, np.array([0, 0, 0, 1]), 3)
    >>> anchors.round(2).tolist(), numbers.tolist()
    ([[0.1, 0.11], [0.5, 0.5], [nan, nan]], [3, 1, 0])
    """
    placed = np.asarray(~np.isnan(places).any(axis=1))
    cell = np.clip((np.where(placed[:, None], places, 0.0) * _CELLS).astype(np.int64), 0, _CELLS - 1)
    anchors, numbers = np.full((n_topics, 2), np.nan), np.bincount(topic[placed], minlength=n_topics)
    order = np.flatnonzero(placed)[np.argsort(topic[placed], kind="stable")]
    for k, own in enumerate(np.split(order, np.cumsum(numbers)[:-1])):
        if not len(own):
            continue
        grid = np.zeros((_CELLS + 4, _CELLS + 4))
        np.add.at(grid, (cell[own, 0] + 2, cell[own, 1] + 2), 1.0)
        smooth = _blurred(_blurred(grid).T).T
        peak = np.array(np.unravel_index(int(np.argmax(smooth)), smooth.shape))
        near = np.abs(cell[own] + 2 - peak).max(axis=1) <= 2
        anchors[k] = places[own[near]].mean(axis=0) if near.any() else places[own].mean(axis=0)
    return anchors, numbers


def _blurred(grid: Floats) -> Floats:
    """Each row smoothed along its length."""
    found = np.zeros_like(grid)
    for shift, weight in zip(range(-2, 3), _BLUR, strict=True):
        found += weight * np.roll(grid, shift, axis=1)
    return found


def document_map(
    places: Floats,
    topic: NDArray[np.int64],
    topics: Sequence[Mapping[str, Any]],
    link: Any = None,
    area: Sequence[tuple[float, float]] = (),
) -> Markup:
    """Documents as dots in the hues of their topics, with names where a topic's documents are densest.

    Parameters
    ----------
    places : array
        Documents × 2, 0 to 1 along the longer side; nan for documents without a place. Evenly chosen ones are drawn if
        there are many.
    topic : array
        The topic that each document is coloured by.
    topics : sequence of summaries
        All topics, each with ``anchor_x``, ``anchor_y`` (None if it has no documents) and ``n_documents``.
    link : object, optional
        Link builder; names link to their topics.
    area : sequence of points
        Corners of an area to outline.
    """
    placed = np.flatnonzero(~np.isnan(places).any(axis=1))
    if not len(placed):
        return Markup("")
    step = max(len(placed) / MOST_DOTS, 1.0)
    chosen = placed[(np.arange(int(len(placed) / step)) * step).astype(np.int64)]
    chosen = chosen[np.argsort(topic[chosen], kind="stable")]
    here = np.searchsorted(topic[chosen], np.arange(max((one["topic"] for one in topics), default=0) + 2))
    low, high = places[placed].min(axis=0), places[placed].max(axis=0)
    size = np.maximum(high - low, 1e-9)

    def draw(width: float) -> tuple[float, Markup]:
        scale = (width - 2 * _MARGIN) / size.max()
        height = float(min(max(size[1] * scale, 0.4 * width), width) + 2 * _MARGIN)
        shift = np.array([width, height]) / 2.0 - scale * (low + high) / 2.0

        def at(point: Any) -> tuple[float, float]:
            x, y = scale * np.asarray(point, np.float64) + shift
            return float(x), float(y)

        spots = scale * places[chosen] + shift
        marks = [_dots(spots[here[one["topic"]] : here[one["topic"] + 1]], one) for one in topics]
        if area:
            corners = " ".join(f"{number(x)},{number(y)}" for x, y in map(at, area))
            marks.append(element("polygon", points=corners, class_="lasso"))
        return height, Markup("").join([*marks, *_names(topics, at, (width, height), link)])

    named = max(topics, key=lambda one: (not one.get("glue"), one["n_documents"]))
    label = (
        f"Map of {count(len(placed), 'document')}: near ones have similar topics. "
        f"Most are about {topic_name(named, 60)}, {count(named['n_documents'], 'document')}"
    )
    return picture(draw, label, role="img" if link is None else "group", kind="map document-map")


def _dots(spots: Floats, topic: Mapping[str, Any]) -> Markup:
    """All dots of a topic as one path: points of no length with round ends."""
    if not len(spots):
        return Markup("")
    data = ("M%.1f %.1fh0" * len(spots)) % tuple(spots.ravel().tolist())
    return element("path", d=data, class_=f"dots {topic_class(topic)}")


def _names(topics: Sequence[Mapping[str, Any]], at: Any, field: tuple[float, float], link: Any) -> list[Markup]:
    """Names that do not meet others, those of the topics with most documents first."""
    wanted = sorted(
        (one for one in topics if one["anchor_x"] is not None and not one.get("glue")),
        key=lambda one: (-one["n_documents"], one["topic"]),
    )
    most = max((one["n_documents"] for one in wanted), default=1)
    boxes: list[tuple[float, float, float, float]] = []
    found = []
    for one in wanted:
        kind, high, _ = next(size for size in _SIZES if math.sqrt(one["n_documents"] / most) >= size[2])
        name = map_name(one)
        x, y = at((one["anchor_x"], one["anchor_y"]))
        half = text_width(name, high) / 2 + 3
        x = min(max(x, half), field[0] - half)
        box = (x - half, y - high * 0.7, x + half, y + high * 0.7)
        if box[0] < 0 or box[1] < 0 or box[3] > field[1] or any(_meet(box, other) for other in boxes):
            continue
        boxes.append(box)
        text = element("text", name, x=x, y=y + high * 0.35, text_anchor="middle", class_=kind)
        classes = topic_class(one)
        if link is None:
            found.append(element("g", text, class_=classes))
        else:
            found.append(element("a", text, href=link.topic(one["topic"]), class_=classes))
    return found


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def inside(places: Floats, corners: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Whether each place is inside a polygon, by the even–odd rule; two corners are those of a rectangle.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.document_map import inside
    >>> places = np.array([[0.5, 0.5], [0.9, 0.9], [np.nan, np.nan]])
    >>> inside(places, [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]).tolist(), inside(places, [(0.4, 0.4), (1, 1)]).tolist()
    ([False, False, False], [True, True, False])
    """
    if len(corners) == 2:
        (x0, y0), (x1, y1) = corners
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    x, y = places[:, 0], places[:, 1]
    found = np.zeros(len(places), bool)
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        if y0 == y1:
            continue
        crosses = (y0 > y) != (y1 > y)
        with np.errstate(invalid="ignore"):
            found ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return found & ~np.isnan(x)
