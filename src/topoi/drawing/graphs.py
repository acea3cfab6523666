"""Graph of topics from left to right: super-topics, topics in their hues, lines as thick as alpha is large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.analysis.structure import THICKEST, Edge, thickness
from topoi.drawing.colours import topic_class
from topoi.drawing.layers import columns, layered, ports
from topoi.drawing.svg import element, node_name, other_words, picture
from topoi.drawing.text import fit, number
from topoi.drawing.words import count, percent, percents

ROOT = 0
_TEXT = 12.5
_BOLD = 1.1  # width of bold letters (first words) relative to plain ones
_ROW, _HIGH, _PAD = 31.0, 24.0, 7.0
_DOT = 10.0  # size of the root's dot
_THICKEST_OF_ROOT = 1.2
_MANY = 80  # number of lines from which on they are fainter

Spans = Sequence[tuple[float, float]]


def graph(
    nodes: Sequence[Mapping[str, Any]],
    edges: Sequence[Mapping[str, Any]],
    link: object = None,
    chosen: int | None = None,
) -> Markup:
    """Nodes in columns, connected by lines.

    Parameters
    ----------
    nodes, edges : sequence of mappings
        As in the JSON view of a structure page.
    link : object, optional
        Link builder; if given, each node links to its page.
    chosen : int, optional
        The node to highlight.
    """
    if not nodes or not edges:
        return Markup("")
    level = {item["node"]["node"]: item["column"] for item in nodes}
    listed = [Edge(e["parent"], e["child"], e["alpha"], e["share"], e["n_tokens"]) for e in edges]
    plan = layered(level, {(edge.parent, edge.child): edge.share for edge in listed})
    thick = thickness(listed, ROOT, THICKEST, _THICKEST_OF_ROOT)
    beside = ports(plan.ways, thick, _HIGH - 2)
    node_of = {item["node"]["node"]: item["node"] for item in nodes}
    ends = {item["node"]["node"]: percents(item.get("lower"), item.get("upper")) for item in nodes}
    root_alone = [node for node, column in level.items() if column == 0] == [ROOT]

    def draw(width: float) -> tuple[float, Markup]:
        wide = width > 500
        spans = columns(1 + max(level.values()), width - 2, 96.0 if wide else 34.0, _DOT if root_alone else None)
        lines = [_line(edge, plan.ways[edge[:2]], beside[edge[:2]], thick[edge[:2]], spans, node_of) for edge in listed]
        boxes = [
            _box(node_of[node], ends[node], spans[at], _HIGH / 2 + 2 + _ROW * place, link, node == chosen)
            for node, (at, place) in plan.place.items()
        ]
        kind = "ways many" if len(lines) > _MANY else "ways"
        return plan.size * _ROW + _HIGH + 4, Markup("").join([element("g", *lines, class_=kind), *boxes])

    return picture(draw, _sentence(node_of, listed), role="group" if link else "img", kind="graph")


def _sentence(node_of: Mapping[int, Mapping[str, Any]], edges: Sequence[Edge]) -> str:
    below = [edge for edge in edges if edge.parent != ROOT] or list(edges)
    best = max(below, key=lambda edge: edge.alpha)
    n_inner = sum(node["n_children"] > 0 for key, node in node_of.items() if key != ROOT)
    n_leaves = sum(not node["n_children"] for node in node_of.values())
    return (
        f"Graph of {count(n_inner, 'super-topic')} and {count(n_leaves, 'topic')}. "
        f"The strongest line leads from {_plain_name(node_of, best.parent)} to {_plain_name(node_of, best.child)}, "
        f"with alpha {best.alpha:.3g}"
    )


def _plain_name(node_of: Mapping[int, Mapping[str, Any]], node: Any) -> str:
    return "the root" if node == ROOT else node_name(node_of[node])


def _hue(node: Mapping[str, Any]) -> str | None:
    return topic_class(node["topic"]) if node["topic"] else None


def _line(
    edge: Edge,
    stops: Sequence[tuple[int, float]],
    beside: tuple[float, float],
    thick: float,
    spans: Spans,
    node_of: Mapping[Any, Mapping[str, Any]],
) -> Markup:
    rows = [_HIGH / 2 + 2 + _ROW * place for _, place in stops]
    rows[0], rows[-1] = rows[0] + beside[0], rows[-1] + beside[1]
    parts = [f"M{number(spans[stops[0][0]][1])} {number(rows[0])}"]
    for i in range(1, len(stops)):
        start, end = spans[stops[i - 1][0]][1], spans[stops[i][0]][0]
        middle = number((start + end) / 2)
        parts.append(f"C{middle} {number(rows[i - 1])} {middle} {number(rows[i])} {number(end)} {number(rows[i])}")
        if i < len(stops) - 1:
            parts.append(f"H{number(spans[stops[i][0]][1])}")
    title = (
        f"{_plain_name(node_of, edge.parent)} → {_plain_name(node_of, edge.child)}: alpha {edge.alpha:.3g}, "
        f"{percent(edge.share)} of the parent’s; {count(edge.n_words, 'word')}"
    )
    kind = f"way {_hue(node_of[edge.child]) or 'plain'}"
    return element("path", element("title", title), d="".join(parts), stroke_width=thick, class_=kind)


def _box(
    node: Mapping[str, Any], ends: str, span: tuple[float, float], middle: float, link: Any, is_chosen: bool
) -> Markup:
    left, right = span[0] + 1, span[1] + 1
    if node["node"] == ROOT:
        title = element("title", f"The root, through which all {count(node['n_tokens'], 'word')} go")
        dot = element("circle", cx=(left + right) / 2, cy=middle, r=_DOT / 2, class_="dot")
        return element("g", title, dot)
    is_leaf = bool(node["topic"]) and not node["n_children"]
    summary = node["topic"] if is_leaf else node
    words = other_words(summary)
    lead = summary["label"] or summary["auto_label"]
    shown = fit(" ".join([str(lead), *words]), _BOLD * _TEXT, right - left - 2 * _PAD)
    first, rest = shown[: len(lead)], shown[len(lead) :]
    text = element(
        "text",
        element("tspan", first, class_="first"),
        element("tspan", rest, class_="rest") if rest else "",
        x=left + _PAD,
        y=middle + 4.3,
    )
    rect = element(
        "rect", x=left, y=middle - _HIGH / 2, width=right - left, height=_HIGH, rx=3 if is_leaf else 12, class_="box"
    )
    size = f"{percent(node['share'])} of all words{f' ({ends})' if ends else ''}"
    about = f"{node_name(node)}: {size}. {', '.join([str(lead), *words])}"
    kind = " ".join(["leaf" if is_leaf else "inner", _hue(node) or "plain", "chosen" if is_chosen else ""]).strip()
    inside = (element("title", about), rect, text)
    if link is None or is_chosen:
        return element("g", *inside, class_=kind)
    address = link.topic(node["topic"]["topic"]) if is_leaf else link.structure(node["node"])
    return element("a", *inside, href=address, class_=kind)
