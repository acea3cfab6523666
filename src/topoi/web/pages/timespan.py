"""Years that charts show: those of an address, or those that have nearly all words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.drawing.evidence import Timeline
from topoi.errors import ModelError
from topoi.models.periods import PERIODS, main_span
from topoi.web.pages.context import PageContext

Period = Literal["year", "decade"]


class YearSpan(TypedDict):
    """Years that a chart shows, first and last; those there are; and the part of all words (or documents) shown.

    ``chosen`` says whether the address asks for these years.
    """

    first: int
    last: int
    earliest: int
    latest: int
    part: float
    chosen: bool


def timeline(context: PageContext) -> Timeline | None:
    """Years of the collection, their words, and the years that charts show if nothing else is asked for."""
    if not context.has_topics or not context.cache.trends.periods:
        return None
    return context.cache.keep("timeline", lambda: _timeline(context))


def _timeline(context: PageContext) -> Timeline:
    years, tokens, *_ = context.cache.trends
    words = tokens.sum(axis=0).tolist()
    return Timeline(years, words, *main_span(years, words))


def collection_span(context: PageContext, first: int | None, last: int | None, by: Period = "year") -> YearSpan | None:
    """Years to show of trends of the whole collection; None if there are no years."""
    found = timeline(context)
    if found is None:
        return None
    step = PERIODS[by]
    periods = found.years if by == "year" else context.cache.decades.periods
    words = found.words if by == "year" else context.cache.decades.tokens.sum(axis=0).tolist()
    usual = (found.first // step * step, found.last // step * step)
    return chosen_span(periods, words, first, last, usual)


def chosen_span(
    years: Sequence[int],
    sizes: Sequence[float],
    first: int | None,
    last: int | None,
    usual: tuple[int, int] | None = None,
) -> YearSpan:
    """Years to show: those asked for, as far as there are such; otherwise the usual, or all.

    Parameters
    ----------
    years, sizes : sequences
        All years, in order, and how much there is of each: words, or documents.
    first, last : int, optional
        The first and the last year asked for.
    usual : tuple of int, optional
        The years to show if none is asked for.

    Examples
    --------
    >>> from topoi.web.pages.timespan import chosen_span
    >>> chosen_span([1990, 1991, 1995], [1, 2, 1], 1991, None)["part"]
    0.75
    """
    if not years:
        raise ModelError("there are no years to choose from")
    if first is not None and last is not None and first > last:
        raise ModelError(f"the first year, {first}, is after the last, {last}; exchange from and to")
    start, end = usual or (years[0], years[-1])
    asked = first is not None or last is not None
    if asked:
        start, end = years[0] if first is None else first, years[-1] if last is None else last
    inside = [i for i, year in enumerate(years) if start <= year <= end]
    if not inside:
        raise ModelError(f"there is nothing from {start} to {end}; there are years from {years[0]} to {years[-1]}")
    return YearSpan(
        first=years[inside[0]],
        last=years[inside[-1]],
        earliest=years[0],
        latest=years[-1],
        part=sum(sizes[i] for i in inside) / (sum(sizes) or 1.0),
        chosen=asked,
    )


def limits(span: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """First and last year of a span, as charts take them."""
    return None if span is None else (span["first"], span["last"])
