"""A graph as an SVG picture: levels from left to right, large ones as stacks."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from topoi.drawing.layers import Layers, layered
from topoi.drawing.text import ELLIPSIS, Picture, clean, fit, number, text_width

_TEXT, _SMALL = 12.0, 10.5
_WIDEST = 150.0  # largest width of a name
_PAD, _HIGH, _ROW = 9.0, 24.0, 36.0
_MARGIN, _BETWEEN = 12.0, 84.0
_SHEETS = 2  # sheets drawn behind the front of a stack
# In a page the picture inherits the page's colours; as a separate file it has its own for light and dark.
_STYLE = (
    "svg.topoi-graph:root{background:#fdfcf9;color:#1d1b18}"
    "@media (prefers-color-scheme:dark){svg.topoi-graph:root{background:#171614;color:#ece7de}}"
)
_SANS = "system-ui, 'Segoe UI', 'Noto Sans', 'Helvetica Neue', 'Liberation Sans', sans-serif"


class Drawable(Protocol):
    """Graph as a picture reads it; ``topoi.Dag`` is one."""

    @property
    def nodes(self) -> Sequence[str]:
        """Names of all nodes, parents before children."""

    @property
    def topics(self) -> Sequence[str]:
        """Names of the nodes that draw words."""

    @property
    def shape(self) -> Sequence[int]:
        """Number of nodes on each level."""

    def level(self, node: str) -> int:
        """Level of a node; the root's is 0."""

    def children(self, node: str) -> Sequence[str]:
        """Names of the nodes below a node."""


class _Box(NamedTuple):
    """Box of a node, or of all nodes of a level."""

    name: str
    note: str
    title: str
    is_stack: bool
    is_inner: bool
    has_words: bool

    @property
    def width(self) -> float:
        """Width that its texts need."""
        return max(min(text_width(self.name, _TEXT), _WIDEST), text_width(self.note, _SMALL)) + 2 * _PAD


def draw(dag: Drawable, most: int) -> Picture:
    """The picture of a graph; levels of more than ``most`` nodes are stacks."""
    drawn_as = {name: _level_key(dag, name, most) for name in dag.nodes}
    boxes = _boxes(dag, drawn_as)
    level = {key: dag.level(name) for name, key in drawn_as.items()}
    edges = Counter((drawn_as[parent], drawn_as[child]) for parent in dag.nodes for child in dag.children(parent))
    return _written(dag, boxes, layered(level, {edge: float(n) for edge, n in edges.items()}), edges)


def _level_key(dag: Drawable, name: str, most: int) -> Any:
    at = dag.level(name)
    return at if dag.shape[at] > most else name


def _boxes(dag: Drawable, drawn_as: dict[str, Any]) -> dict[Any, _Box]:
    members: dict[Any, list[str]] = {}
    for name, key in drawn_as.items():
        members.setdefault(key, []).append(name)
    topics = set(dag.topics)
    boxes = {}
    for key, names in members.items():
        n_topics = sum(name in topics for name in names)
        n_inner = sum(bool(dag.children(name)) for name in names)
        if isinstance(key, str):
            title = (
                f"{key}: {'draws words' if n_topics else 'an inner node'}{' as well' if n_topics and n_inner else ''}"
            )
            boxes[key] = _Box(fit(key, _TEXT, _WIDEST), "", title, False, n_inner > 0, n_topics > 0)
            continue
        noun = "topics" if n_topics == len(names) else "nodes"
        span = f" {ELLIPSIS} ".join(fit(name, _SMALL, 0.7 * _WIDEST) for name in (names[0], names[-1]))
        title = f"{len(names):,} nodes from {names[0]} to {names[-1]}, {n_topics:,} of which draw words"
        boxes[key] = _Box(f"{len(names):,} {noun}", span, title, True, n_inner > 0, n_topics > 0)
    return boxes


def _written(dag: Drawable, boxes: dict[Any, _Box], plan: Layers, edges: Counter[Any]) -> Picture:
    columns = [0.0] * len(dag.shape)
    for key, box in boxes.items():
        at = plan.place[key][0]
        columns[at] = max(columns[at], box.width)
    left = [_MARGIN + sum(columns[:at]) + at * _BETWEEN for at in range(len(columns))]
    top = _MARGIN + _ROW / 2
    width, height = left[-1] + columns[-1] + _MARGIN, top + plan.size * _ROW + _ROW / 2 + _MARGIN + 12
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "topoi-graph",
            "viewBox": f"0 0 {number(width)} {number(height)}",
            "width": number(width),
            "height": number(height),
            "role": "img",
            "aria-label": clean(repr(dag)),
            "font-family": _SANS,
            "font-size": number(_TEXT),
            "fill": "currentColor",
        },
    )
    ET.SubElement(svg, "style").text = _STYLE
    lines = ET.SubElement(svg, "g", {"fill": "none", "stroke": "currentColor"})
    faint = "0.5" if len(edges) <= 2 * len(boxes) else "0.22"
    counted: dict[int, tuple[int, float]] = {}
    for edge, stops in plan.ways.items():
        spots = [(left[at], left[at] + columns[at], top + place * _ROW) for at, place in stops]
        is_broad = boxes[edge[0]].is_stack and boxes[edge[1]].is_stack
        look = {"stroke-opacity": "0.12", "stroke-width": "14"} if is_broad else {"stroke-opacity": faint}
        ET.SubElement(lines, "path", {"d": _curve(spots), **look})
        if edges[edge] > 1:
            above = min(spots[0][2], spots[1][2]) - (11 if is_broad else 5)
            n, highest = counted.get(stops[0][0], (0, above))
            counted[stops[0][0]] = (n + edges[edge], min(above, highest))
    for at, (n, base) in counted.items():
        middle = left[at] + columns[at] + _BETWEEN / 2
        look = {"x": number(middle), "y": number(base), "text-anchor": "middle", "font-size": number(_SMALL)}
        ET.SubElement(svg, "text", look).text = f"{n:,} edges"
    for key, box in boxes.items():
        at, place = plan.place[key]
        _add_box(svg, box, left[at], top + place * _ROW, columns[at])
    key_at = {"x": number(_MARGIN), "y": number(height - 8), "font-size": number(_SMALL), "fill-opacity": "0.65"}
    ET.SubElement(svg, "text", key_at).text = "filled: draws words"
    return Picture(ET.tostring(svg, encoding="unicode"))


def _curve(spots: list[tuple[float, float, float]]) -> str:
    """Path from the right side of the first box to the left side of the last, horizontal through columns in between."""
    parts = [f"M{number(spots[0][1])} {number(spots[0][2])}"]
    for before, after in zip(spots, spots[1:], strict=False):
        middle = number((before[1] + after[0]) / 2)
        y = number(after[2])
        parts.append(f"C{middle} {number(before[2])} {middle} {y} {number(after[0])} {y}")
        if after is not spots[-1]:
            parts.append(f"H{number(after[1])}")
    return "".join(parts)


def _add_box(svg: ET.Element, box: _Box, x: float, middle: float, width: float) -> None:
    group = ET.SubElement(svg, "g")
    ET.SubElement(group, "title").text = clean(box.title)
    high = _HIGH + (14.0 if box.note else 0.0)
    look = {"height": number(high), "width": number(width), "stroke": "currentColor", "stroke-opacity": "0.6"}
    rounding = 4.0 if not box.is_inner else 8.0 if box.is_stack else high / 2
    fill = {"fill-opacity": "0.1"} if box.has_words else {"fill": "none"}
    place = {"x": number(x), "y": number(middle - high / 2), "rx": number(rounding)}
    ET.SubElement(group, "rect", {**place, **look, **fill})
    for sheet in range(1, 1 + _SHEETS if box.is_stack else 1):
        # The background colour is unknown, so only the visible part of a sheet behind is drawn.
        shift = 3.0 * sheet
        corner = f"M{number(x + shift)} {number(middle - high / 2 - shift + 3)}v-3h{number(width)}v{number(high)}h-3"
        ET.SubElement(group, "path", {"d": corner, "fill": "none", "stroke": "currentColor", "stroke-opacity": "0.4"})
    text = {"x": number(x + width / 2), "text-anchor": "middle"}
    base = middle + 4 - (7 if box.note else 0)
    ET.SubElement(group, "text", {**text, "y": number(base)}).text = clean(box.name)
    if box.note:
        small = {"y": number(base + 15), "font-size": number(_SMALL), "fill-opacity": "0.7"}
        ET.SubElement(group, "text", {**text, **small}).text = clean(box.note)
