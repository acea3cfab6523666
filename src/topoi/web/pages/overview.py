"""The collection and all its topics."""

from __future__ import annotations

from topoi.web.pages.parts import falling, rising
from topoi.web.pages.room import Room
from topoi.web.pages.shapes import MapFace, OverviewPage

N_MOVES = 5


def overview_page(room: Room) -> OverviewPage:
    """The collection, its topics in the order for reading, and those that rise and fall fastest."""
    return OverviewPage(
        kind="overview",
        collection=room.collection,
        topics=map_faces(room),
        rising=rising(room, N_MOVES),
        falling=falling(room, N_MOVES),
    )


def map_faces(room: Room) -> list[MapFace]:
    """All topics with their places on the map, the largest first, those of connecting words last."""
    if not room.has_topics:
        return []
    places = [(t["x"], t["y"]) for t in room.shelf.topics]
    return [MapFace(**face, x=places[face["topic"]][0], y=places[face["topic"]][1]) for face in room.topics_in_order()]
