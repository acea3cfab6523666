"""Pictures of the metadata page: shares along a feature, and the links of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import topic_class
from topoi.drawing.curves import (
    Page,
    Panel,
    area_height,
    areas,
    band_height,
    bands,
    line_of_group,
    lines_of,
    sentence,
    side_by_side,
    top_of,
)
from topoi.drawing.intervals import divided, intervals, rows_height
from topoi.drawing.layers import columns
from topoi.drawing.svg import element, picture, topic_name
from topoi.drawing.text import fit, number
from topoi.drawing.words import clip, count, percent

_MOST_ROWS = 13
_TEXT, _HIGH, _ROW, _PAD = 12.5, 24.0, 31.0, 7.0


def shares_chart(page: Page, link: object = None) -> Markup:
    """Predicted shares along a feature: a panel for each group, or one panel with the lines of one topic.

    Parameters
    ----------
    page : mapping
        The JSON view of a metadata page.
    link : object, optional
        Link builder; if given, headings link to authors.
    """
    if not page["groups"] or not page["at"]:
        return Markup("")
    panels = _along_number(page, link) if page["is_number"] else _along_names(page, link)
    has_links = any(panel.href for panel in panels)
    return side_by_side(panels, sentence(page), role="group" if has_links else "img")


def _along_number(page: Page, link: object) -> list[Panel]:
    groups = page["groups"]
    if not page["chosen"]:
        return [Panel(group["name"], _href(group, link), area_height, areas(page, group)) for group in groups]
    if len(page["chosen"]) == 1 and len(groups) > 1:
        lines = [line_of_group(group) for group in groups]
        return [Panel("", None, band_height, bands(page, lines, top_of(lines)))]
    each = [lines_of(group) for group in groups]
    high = top_of([line for lines in each for line in lines])
    return [
        Panel(
            group["name"] if len(groups) > 1 or group["value"] else "",
            _href(group, link),
            band_height,
            bands(page, lines, high),
        )
        for group, lines in zip(groups, each, strict=True)
    ]


def _along_names(page: Page, link: object) -> list[Panel]:
    groups, chosen = page["groups"], page["chosen"]

    def height(width: float) -> float:
        return rows_height(page)

    if not chosen:
        return [Panel(group["name"], _href(group, link), height, divided(page, group)) for group in groups]
    high = min(1.0, 1.04 * max(max(curve["upper"]) for group in groups for curve in group["curves"]))
    panels = []
    for group in groups:
        for curve in group["curves"]:
            parts = [group["name"] if len(groups) > 1 or group["value"] else "", topic_name(curve["topic"])]
            alone = len(groups) == len(group["curves"]) == 1 and not parts[0]
            name = "" if alone else ": ".join(part for part in parts if part)
            panels.append(Panel(name, _href(group, link), height, intervals(page, curve, high)))
    return panels


def _href(group: Mapping[str, Any], link: Any) -> str | None:
    return None if link is None or group["author_id"] is None else str(link.author(group["author_id"]))


def table_rows(page: Page) -> list[int]:
    """Positions that the table beside the picture lists: all names, or a dozen numbers."""
    n = len(page["at"])
    if not page["is_number"] or n <= _MOST_ROWS:
        return list(range(n))
    return sorted({round(i * (n - 1) / (_MOST_ROWS - 1)) for i in range(_MOST_ROWS)})


def link_graph(linked: Sequence[Mapping[str, Any]], link: object = None) -> Markup:
    """A document between those that link to it and those it links to, in the hues of their strongest topics.

    Parameters
    ----------
    linked : sequence of mappings
        As in the JSON view of a metadata page.
    link : object, optional
        Link builder; if given, each document links to its page.
    """
    if not linked:
        return Markup("")
    back = [one for one in linked if one["relation"] == "links here"]
    out = [one for one in linked if one["relation"] in ("linked", "both")]
    levels = [level for level in (back, linked[:1], out) if level]
    middle = levels.index(linked[:1])
    longest = max(len(level) for level in levels)

    def draw(width: float) -> tuple[float, Markup]:
        spans = (
            columns(len(levels), width - 2, 70.0 if width > 500 else 24.0) if len(levels) > 1 else [(0.0, width - 2)]
        )
        height = longest * _ROW + 4
        centre = height / 2
        ways, boxes = [], []
        for i, level in enumerate(levels):
            for j, one in enumerate(level):
                y = centre + (j - (len(level) - 1) / 2) * _ROW
                boxes.append(_box(one, spans[i], y, link))
                if i != middle:
                    ways.append(_way(one, spans, i, middle, y, centre))
        return height, Markup("").join([element("g", *ways, class_="ways"), *boxes])

    itself = linked[0]
    n_alike = sum(one["topic"]["topic"] == itself["topic"]["topic"] for one in linked[1:])
    label = (
        f"{clip(itself['document']['title'], 80)}: {count(len(back), 'document')} that link to it, "
        f"{count(len(out), 'document')} it links to. Its strongest topic is {topic_name(itself['topic'])}, "
        f"as of {n_alike} of the others"
    )
    return picture(draw, label, role="group" if link else "img", kind="graph")


def _way(
    one: Mapping[str, Any], spans: Sequence[tuple[float, float]], i: int, middle: int, y: float, centre: float
) -> Markup:
    start, end = (spans[i][1], spans[middle][0]) if i < middle else (spans[i][0], spans[middle][1])
    half = number((start + end) / 2)
    goal = f"{number(end + 1)} {number(centre)}"
    data = f"M{number(start + 1)} {number(y)}C{half} {number(y)} {half} {number(centre)} {goal}"
    return element(
        "path", d=data, stroke_width=1.2 + 2.5 * one["similarity"] ** 4, class_=f"way {topic_class(one['topic'])}"
    )


def _box(one: Mapping[str, Any], span: tuple[float, float], middle: float, link: Any) -> Markup:
    left, right = span[0] + 1, span[1] + 1
    document, topic = one["document"], one["topic"]
    rect = element("rect", x=left, y=middle - _HIGH / 2, width=right - left, height=_HIGH, rx=3, class_="box")
    shown = fit(document["title"], _TEXT, right - left - 2 * _PAD)
    text = element("text", element("tspan", shown, class_="all"), x=left + _PAD, y=middle + 4.3)
    year = f", {document['year']}" if document["year"] is not None else ""
    about = (
        f"{clip(document['title'], 200)}{year}: {topic_name(topic)} (topic {topic['topic']}), {percent(one['share'])}"
    )
    is_itself = one["relation"] == "itself"
    kind = f"leaf {topic_class(topic)}{' chosen' if is_itself else ''}"
    inside = (element("title", about), rect, text)
    if link is None:
        return element("g", *inside, class_=kind)
    return element("a", *inside, href=link.document(document["document_id"]), class_=kind)
