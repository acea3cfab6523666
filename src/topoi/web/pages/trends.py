"""Topics along time."""

from __future__ import annotations

from typing import Any

from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.parts import falling, rising, shares_by
from topoi.web.pages.shapes import Series, TrendsPage

N_MOVES = 10
N_CHOSEN = 3


def trends_page(context: PageContext, topic: parameters.Topics = (), by: parameters.Period = "year") -> TrendsPage:  # type: ignore[assignment]
    """Shares of chosen topics by year or decade, and the topics that move most."""
    for k in topic:
        context.check_topic(k)
    if not context.has_topics:
        return _nothing(by)
    periods, tokens, share = shares_by(context, by)
    hottest, coldest = rising(context, N_MOVES, by), falling(context, N_MOVES, by)
    moving = [move["topic"]["topic"] for move in (*hottest[:N_CHOSEN], *coldest[:N_CHOSEN])]
    chosen = list(dict.fromkeys(topic)) or moving
    return TrendsPage(
        kind="trends",
        by=by,
        years=periods,
        n_tokens=tokens.sum(axis=0).tolist(),
        chosen=chosen,
        topics=context.chips(face["topic"] for face in context.topics_in_order()),
        series=[Series(topic=context.face(k), share=share[k].tolist()) for k in chosen] if periods else [],
        hottest=hottest,
        coldest=coldest,
    )


def _nothing(by: parameters.Period) -> TrendsPage:
    lists: dict[str, list[Any]] = {name: [] for name in ("years", "n_tokens", "chosen", "topics", "series")}
    return TrendsPage(kind="trends", by=by, hottest=[], coldest=[], **lists)  # type: ignore[typeddict-item]
