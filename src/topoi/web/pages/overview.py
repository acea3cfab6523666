"""The collection and all its topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.drawing import charts
from topoi.drawing.words import clip
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page, Picture
from topoi.web.pages.parts import falling, passing, rising
from topoi.web.pages.shapes import Collection, Move, Passing, TopicSummary, published_as

N_MOVES = 5


@published_as("MapFace")
class MapSummary(TopicSummary):
    """A topic with its place on the map of topics, and the ends of the interval (0.9) of its share."""

    x: float | None
    y: float | None
    lower: float | None
    upper: float | None


class OverviewPage(TypedDict):
    """The collection and all topics, largest first."""

    kind: Literal["overview"]
    collection: Collection
    topics: list[MapSummary]
    rising: list[Move]
    falling: list[Move]
    passing: list[Passing]


def overview_page(context: PageContext) -> OverviewPage:
    """The collection, its topics in the order for reading, and those that rise and fall fastest, or came and went."""
    return OverviewPage(
        kind="overview",
        collection=context.collection,
        topics=map_summaries(context),
        rising=rising(context, N_MOVES),
        falling=falling(context, N_MOVES),
        passing=passing(context, N_MOVES),
    )


def map_summaries(context: PageContext) -> list[MapSummary]:
    """All topics with their places on the map, the largest first, background topics last."""
    if not context.has_topics:
        return []
    topics, names = context.cache.topics, ("x", "y", "lower", "upper")
    return [
        MapSummary(**summary, **{name: topics[summary["topic"]][name] for name in names})  # type: ignore[typeddict-item]
        for summary in context.topics_in_order()
    ]


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if all(topic.get("x") is None for topic in view["topics"]):
        return None
    return Picture(charts.topic_map(view["topics"]), f"{clip(site['title'], 120)}: map of topics")


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return "model.topic_sizes()" if site["has_topics"] else "model.store.sizes"


PAGE = Page(
    "overview",
    "Topics",
    "",
    overview_page,
    OverviewPage,
    place=10,
    menu_key="topics",
    is_cached=True,
    chart=_chart,
    chart_path="map",
    python=_python,
)
