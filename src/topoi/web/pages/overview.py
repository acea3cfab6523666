"""The collection and all its topics."""

from __future__ import annotations

from topoi.web.pages.context import PageContext
from topoi.web.pages.parts import falling, rising
from topoi.web.pages.shapes import MapFace, OverviewPage

N_MOVES = 5


def overview_page(context: PageContext) -> OverviewPage:
    """The collection, its topics in the order for reading, and those that rise and fall fastest."""
    return OverviewPage(
        kind="overview",
        collection=context.collection,
        topics=map_faces(context),
        rising=rising(context, N_MOVES),
        falling=falling(context, N_MOVES),
    )


def map_faces(context: PageContext) -> list[MapFace]:
    """All topics with their places on the map, the largest first, background topics last."""
    if not context.has_topics:
        return []
    places = [(t["x"], t["y"]) for t in context.cache.topics]
    return [
        MapFace(**face, x=places[face["topic"]][0], y=places[face["topic"]][1]) for face in context.topics_in_order()
    ]
