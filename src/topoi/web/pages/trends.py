"""Topics along time."""

from __future__ import annotations

from typing import Any

from topoi.web.pages import parameters
from topoi.web.pages.parts import falling, rising, shares_by
from topoi.web.pages.room import Room
from topoi.web.pages.shapes import Series, TrendsPage

N_MOVES = 10
N_CHOSEN = 3


def trends_page(room: Room, topic: parameters.Topics = (), by: parameters.Period = "year") -> TrendsPage:  # type: ignore[assignment]
    """Shares of chosen topics by year or decade, and the topics that move most."""
    for k in topic:
        room.check_topic(k)
    if not room.has_topics:
        return _nothing(by)
    periods, tokens, share = shares_by(room, by)
    hottest, coldest = rising(room, N_MOVES, by), falling(room, N_MOVES, by)
    moving = [move["topic"]["topic"] for move in (*hottest[:N_CHOSEN], *coldest[:N_CHOSEN])]
    chosen = list(dict.fromkeys(topic)) or moving
    return TrendsPage(
        kind="trends",
        by=by,
        years=periods,
        n_tokens=tokens.sum(axis=0).tolist(),
        chosen=chosen,
        topics=room.chips(face["topic"] for face in room.topics_in_order()),
        series=[Series(topic=room.face(k), share=share[k].tolist()) for k in chosen] if periods else [],
        hottest=hottest,
        coldest=coldest,
    )


def _nothing(by: parameters.Period) -> TrendsPage:
    lists: dict[str, list[Any]] = {name: [] for name in ("years", "n_tokens", "chosen", "topics", "series")}
    return TrendsPage(kind="trends", by=by, hottest=[], coldest=[], **lists)  # type: ignore[typeddict-item]
