"""Every document as a dot on a map, near others with similar topics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from typing_extensions import TypedDict

from topoi.drawing.document_map import document_map, inside, leading_topics, topic_anchors
from topoi.drawing.words import clip
from topoi.errors import ModelError
from topoi.store.matching import match_for
from topoi.store.places import stored_places
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.map_codes import PLACE_STEPS, coded, coded_places, decoded
from topoi.web.pages.map_columns import MapColour, colour_of, coloured_by
from topoi.web.pages.page import Page, Picture, has_topics
from topoi.web.pages.parts import documents_by_id, lines
from topoi.web.pages.shapes import Doc, DocumentLine, TopicShare, TopicSummary

A_PAGE = 30
MOST_CORNERS = 200
MOST_TITLES = 50
# Documents found by a search are lit, up to this many.
MOST_HITS = 20_000
N_AREA_TOPICS = 12

Part = Annotated[
    Literal["page", "colour", "hits", "titles"],
    Field(description="The whole page; or only a colouring, the documents found, or some titles."),
]
Area = Annotated[
    str,
    Field(
        max_length=4000,
        description="Corners x,y,x,y,… of an area on the map, 0 to 1 along its longer side; two are a rectangle.",
    ),
]
Numbers = Annotated[
    list[parameters.DocumentId], Field(max_length=MOST_TITLES, description="Documents whose titles are asked for.")
]
FirstYear = Annotated[int | None, Field(ge=-100_000, le=100_000, description="Only documents of this year or later.")]
LastYear = Annotated[int | None, Field(ge=-100_000, le=100_000, description="Only documents of this year or before.")]


class MapTopic(TopicSummary):
    """A topic, the number of documents of which it is the leading one, and where most of them are."""

    n_documents: int
    anchor_x: float | None
    anchor_y: float | None


class MapPoints(TypedDict):
    """All documents in order, as text of a few characters each.

    A character is worth six bits: A to Z, a to z, 0 to 9, ``-`` and ``_`` are 0 to 63. ``places`` has five for each
    document, fifteen bits for x and then for y, both in steps of 1/32766 of the longer side; 32767 is no place.
    ``topics`` has two for each, the leading topic (three if there are more than 4,096); ``years`` two, years since
    ``first_year``, 4095 for none; empty without years.
    """

    n: int
    places: str
    topics: str
    years: str
    first_year: int | None
    last_year: int | None


class MapPage(TypedDict):
    """Documents on a map; ``state`` tells whether places are there, being computed (``part_done``) or missing.

    ``documents`` are those within ``area`` and the years asked for, a page of them; ``inside`` has
    their leading topics.
    """

    kind: Literal["map"]
    state: Literal["placed", "missing", "placing", "failed"]
    part_done: float | None
    error: str | None
    n_documents: int
    n_placed: int
    topics: list[MapTopic]
    columns: list[str]
    points: MapPoints | None
    colour: MapColour | None
    query: str
    hits: list[int] | None
    n_hits: int
    area: list[float]
    first_year: int | None
    last_year: int | None
    inside: list[TopicShare]
    page: int
    n_pages: int
    n_found: int
    documents: list[DocumentLine]
    titles: list[Doc]


class Placed(NamedTuple):
    """What the map needs of a file: places, leading topics and years of all documents, and where topics are named."""

    seen: Any
    places: NDArray[np.float64]
    topic: NDArray[np.int64]
    year: NDArray[np.float64]
    anchors: NDArray[np.float64]
    numbers: NDArray[np.int64]
    points: MapPoints


def map_page(
    context: PageContext,
    part: Part = "page",
    colour: parameters.ColumnName = None,
    q: parameters.Query = "",
    area: Area = "",
    first: FirstYear = None,
    last: LastYear = None,
    ids: Numbers = (),  # type: ignore[assignment]
    page: parameters.PageNumber = 1,
) -> MapPage:
    """All documents as dots, near others with similar topics; those in an area as a list."""
    placed = placed_documents(context)
    view = _empty(context, placed, q, page, first, last)
    if placed is None:
        return view
    if part == "titles":
        found = documents_by_id(context, ids)
        return view | {"titles": [found[d] for d in dict.fromkeys(ids) if d in found]}  # type: ignore[return-value]
    if q.strip() and part in ("page", "hits"):
        hits = _hits(context, q)
        view["hits"], view["n_hits"] = hits, len(hits)
    if colour is not None and part in ("page", "colour"):
        view["colour"] = colour_of(context, colour)
    if part != "page":
        return view
    view["topics"] = _topics(context, placed)
    view["points"] = placed.points
    if area.strip():
        _fill_area(context, view, placed, corners_of(area))
    return view


def placed_documents(context: PageContext) -> Placed | None:
    """Places of all documents, with what follows from them; None if there are none. Read again if the file changes."""
    kept: dict[str, Placed | None] = context.cache.keep("map", dict)
    seen = context.watcher.seen()
    now = kept.get("now")
    if "now" not in kept or now is None or now.seen != seen:
        places = stored_places(context.view)
        if now is not None and places is not None and np.array_equal(places, now.places, equal_nan=True):
            kept["now"] = now._replace(seen=seen)
        else:
            kept["now"] = None if places is None else _placed(context, places, seen)
    return kept["now"]


def _placed(context: PageContext, places: NDArray[np.float64], seen: object) -> Placed:
    is_background = np.array([topic["summary"]["glue"] for topic in context.cache.topics])
    topic = leading_topics(context.view.chains_[0], is_background)
    year = context.view.catalogue_.document_years()
    anchors, numbers = topic_anchors(places, topic, context.view.n_topics)
    known = year[~np.isnan(year)]
    first = int(known.min()) if len(known) else None
    since = np.where(np.isnan(year), 4095, np.clip(np.nan_to_num(year) - (first or 0), 0, 4094)).astype(np.int64)
    points = MapPoints(
        n=len(places),
        places=coded_places(places),
        topics=coded(topic, 2 if context.view.n_topics <= 4096 else 3),
        years=coded(since, 2) if len(known) else "",
        first_year=first,
        last_year=int(known.max()) if len(known) else None,
    )
    return Placed(seen, places, topic, year, anchors, numbers, points)


def _empty(
    context: PageContext, placed: Placed | None, q: str, page: int, first: int | None, last: int | None
) -> MapPage:
    desk = context.watcher.places
    working = None if desk is None else desk.state(context.view.name)
    state: Any = "placed" if placed is not None else "missing"
    if working is not None:
        state = "placing" if working.error is None else "failed" if placed is None else state
    return MapPage(
        kind="map",
        state=state,
        part_done=None if working is None or working.error is not None else round(working.part, 4),
        error=None if working is None else working.error,
        n_documents=context.collection["n_documents"],
        n_placed=0 if placed is None else int(placed.numbers.sum()),
        topics=[],
        columns=[] if placed is None else coloured_by(context),
        points=None,
        colour=None,
        query=q,
        hits=None,
        n_hits=0,
        area=[],
        first_year=first,
        last_year=last,
        inside=[],
        page=page,
        n_pages=1,
        n_found=0,
        documents=[],
        titles=[],
    )


def _topics(context: PageContext, placed: Placed) -> list[MapTopic]:
    return [
        MapTopic(
            **context.badge(k),
            n_documents=int(placed.numbers[k]),
            anchor_x=None if np.isnan(placed.anchors[k, 0]) else round(float(placed.anchors[k, 0]), 4),
            anchor_y=None if np.isnan(placed.anchors[k, 1]) else round(float(placed.anchors[k, 1]), 4),
        )
        for k in range(context.view.n_topics)
    ]


def _hits(context: PageContext, q: str) -> list[int]:
    """Documents with all words of a query, in the order of the collection."""
    match = match_for(q)
    if match is None:
        return []
    rows = context.rows("found_numbers", match=match, n=MOST_HITS)
    return sorted(row[0] for row in rows)


def corners_of(area: str) -> list[tuple[float, float]]:
    """Corners of an area as an address names them; anything else is a ``ModelError``.

    Examples
    --------
    >>> from topoi.web.pages.map import corners_of
    >>> corners_of("0,0,0.5,1")
    [(0.0, 0.0), (0.5, 1.0)]
    """
    try:
        values = [float(value) for value in area.split(",")]
    except ValueError:
        values = []
    if not (4 <= len(values) <= 2 * MOST_CORNERS and len(values) % 2 == 0) or not np.isfinite(values).all():
        raise ModelError(f"an area is given by 2 to {MOST_CORNERS} corners x,y,x,y,…, not by {clip(area, 60)!r}")
    return list(zip(values[::2], values[1::2], strict=True))


def _fill_area(context: PageContext, view: MapPage, placed: Placed, corners: Sequence[tuple[float, float]]) -> None:
    chosen = inside(placed.places, corners)
    with np.errstate(invalid="ignore"):
        for limit, outside in ((view["first_year"], np.less), (view["last_year"], np.greater)):
            if limit is not None:
                chosen &= ~(outside(placed.year, limit) | np.isnan(placed.year))
    found = np.flatnonzero(chosen)
    numbers = np.bincount(placed.topic[found], minlength=len(placed.numbers))
    order = np.lexsort((np.arange(len(numbers)), -numbers))[:N_AREA_TOPICS]
    view["area"] = [value for corner in corners for value in corner]
    view["n_found"] = len(found)
    view["n_pages"] = max(-(-len(found) // A_PAGE), 1)
    view["inside"] = [
        TopicShare(topic=context.summary(int(k)), share=float(numbers[k] / len(found)), n_tokens=int(numbers[k]))
        for k in order
        if numbers[k]
    ]
    rows = found[(view["page"] - 1) * A_PAGE : view["page"] * A_PAGE]
    view["documents"] = lines(context, context.rows("works", ids=json.dumps(rows.tolist()))) if len(rows) else []


def picture(view: Mapping[str, Any], link: Any = None) -> Any:
    """The map as SVG, from the JSON view alone."""
    points = view["points"]
    if points is None:
        return ""
    together = decoded(points["places"], 5)
    steps = np.stack([together // (PLACE_STEPS + 2), together % (PLACE_STEPS + 2)], axis=1)
    places = np.where(steps > PLACE_STEPS, np.nan, steps / PLACE_STEPS)
    topic = decoded(points["topics"], len(points["topics"]) // max(points["n"], 1))
    corners = list(zip(view["area"][::2], view["area"][1::2], strict=True))
    return document_map(places, topic, view["topics"], link, corners)


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if view["points"] is None:
        return None
    return Picture(picture(view), f"{clip(site['title'], 120)}: map of documents")


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    return "model.document_places()" if view["state"] == "placed" else None


PAGE = Page(
    "map",
    "Map",
    "map",
    map_page,
    MapPage,
    place=15,
    needs=has_topics,
    chart=_chart,
    chart_path="document-map",
    python=_python,
)
