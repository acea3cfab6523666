"""Two-dimensional pictures: the map of topics, and the distances between the topics of two models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from topoi.drawing.colours import topic_class
from topoi.drawing.svg import element, map_name, picture, topic_name
from topoi.drawing.text import number, text_width
from topoi.drawing.words import count, percent

TopicSummary = Mapping[str, Any]
Floats = npt.NDArray[np.float64]

LABELS = (("name big", 15.0), ("name", 12.5), ("name small", 11.0))  # sizes of names on the map, as in style.css
SHADES = 8
MOST_LEADS = 600  # cells of a matrix that lead somewhere
N_PASSES = 30


def topic_map(topics: Sequence[TopicSummary], link: object = None) -> Markup:
    """Topics as discs, near each other if they share words, with areas in proportion to their shares.

    Parameters
    ----------
    topics : sequence of summaries
        Those without a place (``x``, ``y``) are left out.
    link : object, optional
        Link builder, ``link.topic(7)``; if given, each disc links to its topic, unless that ``is_new``.
    """
    placed = [summary for summary in topics if summary.get("x") is not None and summary.get("y") is not None]
    return _drawn(tuple(_disc(summary, link) for summary in placed)) if placed else Markup("")


class _Disc(NamedTuple):
    """Disc of a topic."""

    x: float
    y: float
    share: float
    is_background: bool
    kind: str
    name: str
    title: str
    address: str | None


def _disc(summary: TopicSummary, link: Any) -> _Disc:
    words = ", ".join((summary.get("words") or [])[:6])
    title = f"{topic_name(summary, 60)} ({summary['topic']}), {percent(summary['share'])}: {words}"
    address = link.topic(summary["topic"]) if link and not summary.get("is_new") else None
    is_background = bool(summary.get("glue"))
    kind, name = topic_class(summary), map_name(summary)
    return _Disc(summary["x"], summary["y"], summary["share"], is_background, kind, name, title, address)


@lru_cache(maxsize=16)
def _drawn(discs: tuple[_Disc, ...]) -> Markup:
    """The picture; cached, because a map changes only when a topic is renamed."""

    def draw(width: float) -> tuple[float, Markup]:
        height = min(640.0, max(380.0, 360.0 + len(discs))) * (1.0 if width > 500 else 0.9)
        spots = zip(discs, _layout(discs, width, height), strict=True)
        return height, Markup("").join(_group(disc, spot) for disc, spot in spots)

    # Of those with a subject, if there are any.
    largest = max(discs, key=lambda disc: (not disc.is_background, disc.share))
    label = (
        f"Map of {count(len(discs), 'topic')}: near ones use similar words. "
        f"The largest is {largest.name}, with {percent(largest.share)} of all words"
    )
    return picture(draw, label, role="group" if largest.address else "img", kind="map")


def _group(disc: _Disc, spot: _Spot) -> Markup:
    circle = element("circle", cx=spot.x, cy=spot.y, r=spot.r, class_="disc")
    inside = (element("title", disc.title), circle, spot.label)
    if disc.address is None:
        return element("g", *inside, class_=disc.kind)
    return element("a", *inside, href=disc.address, class_=disc.kind)


class _Spot(NamedTuple):
    """Position of a disc, and its name if it has one and there is room."""

    x: float
    y: float
    r: float
    label: Markup


def _layout(discs: Sequence[_Disc], width: float, height: float) -> list[_Spot]:
    """Layout of discs and names."""
    share = np.array([max(disc.share, 1e-9) for disc in discs])
    # Discs together cover about a tenth of the area, whatever the number of topics.
    biggest = min(0.06 * width, math.sqrt(width * height * share.max() / (10 * math.pi * share.sum())))
    radii = np.maximum(2.5, biggest * np.sqrt(share / share.max()))
    places = np.stack([_fitted([d.x for d in discs], width, 44), _fitted([d.y for d in discs], height, 18)], axis=1)
    places = _apart(places, radii)
    places = np.clip(places, radii[:, None] + 2, np.array([width, height]) - radii[:, None] - 2)
    # A name may overlap the rim of a disc, but not its middle.
    taken = [np.concatenate([places - 0.85 * radii[:, None], places + 0.85 * radii[:, None]], axis=1)]
    labels = [Markup("")] * len(discs)
    # Background topics have no name: it would say nothing of a subject, and take the room of one that does.
    named = [i for i in range(len(discs)) if not discs[i].is_background]
    for i in sorted(named, key=lambda i: -discs[i].share):
        size = LABELS[0 if radii[i] > 0.8 * biggest else 1 if radii[i] > 0.6 * biggest else 2]
        labels[i] = _label(discs[i].name, size, (*places[i].tolist(), float(radii[i])), taken, (width, height))
    spots = zip(places.tolist(), radii.tolist(), labels, strict=True)
    return [_Spot(x, y, r, label) for (x, y), r, label in spots]


def _fitted(values: Sequence[float], size: float, margin: float) -> Floats:
    """Positions along one side, from margin to margin."""
    given = np.array(values, np.float64)
    extent = np.ptp(given)
    own = (given - given.min()) / extent if extent > 0 else np.full(len(given), 0.5)
    return np.asarray(margin + (size - 2 * margin) * own)


def _apart(places: Floats, radii: Floats) -> Floats:
    """Push overlapping discs apart a little, in a few passes."""
    wanted = radii[:, None] + radii[None, :] + 3
    np.fill_diagonal(wanted, 0)
    for _ in range(N_PASSES):
        between = places[:, None, :] - places[None, :, :]
        apart = np.hypot(between[..., 0], between[..., 1])
        short = np.maximum(0, wanted - apart)
        if not short.any():
            break
        # Two at the same place move apart in a direction of their own.
        same = (apart < 1e-6) & (short > 0)
        between[same] = np.where(np.tri(len(places), dtype=bool)[same][:, None], [1.0, 0.5], [-1.0, -0.5])
        push = short / np.maximum(np.hypot(between[..., 0], between[..., 1]), 1e-6)
        places = places + 0.4 * (push[..., None] * between).sum(axis=1)
    return places


def _label(
    name: str,
    size: tuple[str, float],
    disc: tuple[float, float, float],
    taken: list[Floats],
    field: tuple[float, float],
) -> Markup:
    """Name of a topic beside its disc if there is room; else empty."""
    kind, high = size
    long = text_width(name, high)
    x, y, r = disc
    near = r + 3
    candidates = (
        (x + near, y + 4, "start"),
        (x - near, y + 4, "end"),
        (x, y - r - 4, "middle"),
        (x, y + r + high - 1, "middle"),
        (x + 0.8 * near, y - 0.6 * r, "start"),
        (x + 0.8 * near, y + 0.6 * r + 8, "start"),
        (x - 0.8 * near, y - 0.6 * r, "end"),
        (x - 0.8 * near, y + 0.6 * r + 8, "end"),
    )
    boxes = np.concatenate(taken)
    for at, base, anchor in candidates:
        left = at - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
        box = np.array([left, base - high + 2, left + long, base + 3])
        if box[:2].min() < 0 or box[2] > field[0] or box[3] > field[1]:
            continue
        meets = (box[0] < boxes[:, 2]) & (boxes[:, 0] < box[2]) & (box[1] < boxes[:, 3]) & (boxes[:, 1] < box[3])
        if meets.any():
            continue
        taken.append(box[None, :])
        return element("text", name, x=at, y=base, text_anchor=None if anchor == "start" else anchor, class_=kind)
    return Markup("")


def matrix(words: Mapping[str, Any], first: str, second: str, href: Callable[[int, int], str] | None = None) -> Markup:
    """Shared words of all topics of two models, darker for more; aligned pairs lie on the diagonal.

    Parameters
    ----------
    words : mapping
        rows and columns (numbers of topics), shared (rows × columns).
    first, second : str
        Names of the models.
    href : callable, optional
        Address of two topics beside each other; the cells that share most lead there.
    """
    table: Sequence[Sequence[float]] = [[1.0 - share for share in row] for row in words["shared"]]
    n_rows, n_columns = len(table), len(table[0]) if table else 0
    if not n_rows or not n_columns:
        return Markup("")
    edges = _shade_edges(table)
    cells = _cells(table, edges)

    leads = _leads(words, href) if href else []

    def draw(width: float) -> tuple[float, Markup]:
        side = min(width, 480.0)
        margin = 20.0
        unit = (side - margin) / max(n_rows, n_columns)
        wide, high = unit * n_columns, unit * n_rows
        shift = f"translate({number(margin)} {number(margin)}) scale({unit:.4f})"
        shades = [element("path", d=d, class_=f"shade{i + 1}") for i, d in enumerate(cells) if d]
        marks = [
            element("rect", x=margin, y=margin, width=wide, height=high, class_="field"),
            element("g", *shades, transform=shift),
            element("g", *leads, transform=shift),
            element("text", second, x=margin, y=12, class_="axis"),
            element(
                "text",
                first,
                transform=f"translate(12 {number(margin)}) rotate(-90)",
                text_anchor="end",
                class_="axis",
            ),
        ]
        return high + margin + 2, Markup("").join(marks)

    nearest = sum(row[i] == min(row) for i, row in enumerate(table) if i < n_columns)
    label = (
        f"What {n_rows} topics of {first} and {n_columns} of {second} share: {nearest} of "
        f"{min(n_rows, n_columns)} share most with the one they are paired with"
    )
    return picture(draw, label, kind="matrix", role="group" if href else "img")


def _leads(words: Mapping[str, Any], href: Callable[[int, int], str]) -> list[Markup]:
    """Links over the cells that share most; they are no stops for the tab key, as the lists beside have them all."""
    cells = sorted(
        ((share, i, j) for i, row in enumerate(words["shared"]) for j, share in enumerate(row)), reverse=True
    )
    found = []
    for share, i, j in cells[:MOST_LEADS]:
        a, b = words["rows"][i], words["columns"][j]
        told = element("title", f"topics {a} and {b}\n{percent(share)} shared")
        cell = element("rect", told, x=j, y=i, width=1, height=1, class_="band")
        found.append(element("a", cell, href=href(a, b), tabindex="-1", class_="at"))
    return found


def _shade_edges(table: Sequence[Sequence[float]]) -> list[float]:
    """Distances at which a cell gets darker: even steps between the nearest pair and the nearest tenth of all."""
    values = sorted(value for row in table for value in row)
    near, far = values[0], values[min(len(values) - 1, max(len(table) * 2, len(values) // 10))]
    return [near + (far - near) * (i + 1) / SHADES for i in range(SHADES)]


def _cells(table: Sequence[Sequence[float]], edges: Sequence[float]) -> list[str]:
    """One path over all cells of each shade, from the darkest."""
    parts: list[list[str]] = [[] for _ in edges]
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            shade = next((s for s, edge in enumerate(edges) if value <= edge), None)
            if shade is not None:
                parts[shade].append(f"M{j} {i}h1v1h-1z")
    return ["".join(cells) for cells in parts]
