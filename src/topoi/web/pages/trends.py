"""Topics along time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.drawing import charts
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext, Trends
from topoi.web.pages.page import Page, Picture
from topoi.web.pages.parts import falling, passing, rising, shares_by
from topoi.web.pages.shapes import BandedSeries, Move, Passing, TopicSummary
from topoi.web.pages.timespan import YearSpan, collection_span, limits
from topoi.web.tables import Tables, lists_in, rows_by_year

N_MOVES = 10
N_CHOSEN = 3


class TrendsPage(TypedDict):
    """Topics along time: chosen ones of all topics, and those that clearly move most."""

    kind: Literal["trends"]
    by: Literal["year", "decade"]
    years: list[int]
    n_tokens: list[int]
    chosen: list[int]
    topics: list[TopicSummary]
    series: list[BandedSeries]
    hottest: list[Move]
    coldest: list[Move]
    passing: list[Passing]
    span: YearSpan | None


def trends_page(
    context: PageContext,
    topic: parameters.Topics = (),  # type: ignore[assignment]
    by: parameters.Period = "year",
    from_: parameters.FirstYear = None,
    to: parameters.LastYear = None,
) -> TrendsPage:
    """Shares of chosen topics by year or decade, and the topics that move most."""
    for k in topic:
        context.check_topic(k)
    if not context.has_topics:
        return _nothing(by)
    found = shares_by(context, by)
    periods, tokens = found.periods, found.tokens
    hottest, coldest = rising(context, N_MOVES, by), falling(context, N_MOVES, by)
    moving = [move["topic"]["topic"] for move in (*hottest[:N_CHOSEN], *coldest[:N_CHOSEN])]
    # If no move is clear, the largest topics.
    first = [summary["topic"] for summary in context.topics_in_order()[:N_CHOSEN]] if len(periods) > 1 else []
    chosen = list(dict.fromkeys(topic)) or moving or first
    return TrendsPage(
        kind="trends",
        by=by,
        years=periods,
        n_tokens=tokens.sum(axis=0).tolist(),
        chosen=chosen,
        topics=context.badges(summary["topic"] for summary in context.topics_in_order()),
        series=[_series(context, found, k) for k in chosen] if periods else [],
        hottest=hottest,
        coldest=coldest,
        passing=passing(context, N_MOVES),
        span=collection_span(context, from_, to, by),
    )


def _series(context: PageContext, found: Trends, k: int) -> BandedSeries:
    share, lower, upper = (each[k].tolist() for each in (found.share, found.lower, found.upper))
    return BandedSeries(topic=context.summary(k), share=share, lower=lower, upper=upper)


def _nothing(by: parameters.Period) -> TrendsPage:
    lists: dict[str, list[Any]] = {name: [] for name in ("years", "n_tokens", "chosen", "topics", "series")}
    return TrendsPage(kind="trends", by=by, hottest=[], coldest=[], passing=[], span=None, **lists)  # type: ignore[typeddict-item]


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if not view["series"]:
        return None
    drawn = charts.lines(view["series"], view["years"], view["by"], view["n_tokens"], shown=limits(view["span"]))
    return Picture(drawn, "Shares of words")


def _tables(view: Mapping[str, Any]) -> Tables:
    by_year = {"years": view["years"], "n_tokens": view["n_tokens"], "topics": view["series"]}
    return lists_in(view, series=rows_by_year(by_year))


def _has_years(context: PageContext) -> bool:
    return len(context.years) > 1


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if not view["years"]:
        return None
    return f"topoi.topic_trends(model, by={view['by']!r}).query('topic in {view['chosen']}')"


PAGE = Page(
    "trends",
    "Trends",
    "trends",
    trends_page,
    TrendsPage,
    place=110,
    needs=_has_years,
    chart=_chart,
    tables=_tables,
    python=_python,
)
