"""Topics along time: columns of one, lines of several, an author's documents by year and topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import alike, topic_class
from topoi.drawing.svg import (
    element,
    path,
    picture,
    smoothed,
    smoothed_ends,
    ticks,
    topic_name,
    window_for,
    year_ticks,
)
from topoi.drawing.text import fit, spread
from topoi.drawing.words import clip, count, percent, span, thousands

TopicSummary = Mapping[str, Any]
_NARROWEST_WHISKER = 2.0
N_DASHES = 4  # line styles: solid, and three kinds of dashes


class _Plane:
    """Plotting area of a chart along years, with its axes."""

    def __init__(
        self,
        width: float,
        height: float,
        years: Sequence[int],
        high: float,
        *,
        left: float,
        right: float,
        top: float = 16,
    ) -> None:
        self.width, self.height, self.left, self.right, self.top = width, height, left, width - right, top
        self.base = height - 22
        self.first, self.last = min(years), max(years)
        self.high = high if high > 0 else 1.0
        # Half a year at both ends, so that a year's column or band has room around its middle.
        self.step = (self.right - self.left) / (self.last - self.first + 1)

    def x(self, year: float) -> float:
        return self.left + (year - self.first + 0.5) * self.step

    def y(self, value: float) -> float:
        return self.base - (self.base - self.top) * value / self.high

    def points(self, years: Sequence[int], values: Sequence[float | None]) -> list[tuple[float, float] | None]:
        """Points of a line; values above the plotting area are clipped to its edge."""
        pairs = zip(years, values, strict=True)
        return [None if value is None else (self.x(year), self.y(min(value, self.high))) for year, value in pairs]

    def axes(
        self, words: Callable[[float], str], n: int = 3, year_words: Callable[[int], str] = str, *, whole: bool = False
    ) -> list[Markup]:
        """Grid lines with their values at the left, and years below."""
        marks: list[Markup] = []
        for value in ticks(self.high, min(n, int(self.high)) if whole else n):
            if whole and value != int(value):
                continue
            y = round(self.y(value)) + 0.5
            marks.append(
                element("path", d=f"M{self.left:.0f} {y}H{self.right:.0f}", class_="base" if value == 0 else "grid")
            )
            if value > 0:
                marks.append(
                    element("text", words(value), x=self.left - 6, y=y + 3.5, text_anchor="end", class_="axis")
                )
        shown = year_ticks(self.first, self.last, int((self.right - self.left) / 40))
        for year in shown:
            marks.append(
                element(
                    "text", year_words(year), x=self.x(year), y=self.height - 6, text_anchor="middle", class_="axis"
                )
            )
        return marks

    def whisker(self, year: int, lower: float, upper: float) -> Markup:
        """The interval of a year's value."""
        bottom, top = self.y(min(lower, self.high)), self.y(min(upper, self.high))
        return element("path", d=f"M{self.x(year):.1f} {bottom:.1f}V{top:.1f}", class_="whisker thin")

    def between(self, years: Sequence[int], lower: Sequence[float | None], upper: Sequence[float | None]) -> str:
        """Path data of the area between two lines."""
        ends = [self.points(years, each) for each in (lower, upper)]
        known = [i for i, (a, b) in enumerate(zip(*ends, strict=True)) if a and b]
        return path([*(ends[1][i] for i in known), *(ends[0][i] for i in reversed(known))]) + "Z" if known else ""

    def band(self, year: int, words: str) -> Markup:
        """A strip over one year whose tooltip shows the exact numbers."""
        return element(
            "rect",
            element("title", words),
            x=self.x(year) - self.step / 2,
            y=self.top,
            width=self.step,
            height=self.base - self.top,
            class_="band",
        )


def columns(trend: Mapping[str, Any], summary: TopicSummary, name: str | None = None) -> Markup:
    """One topic's share of each year's words as columns, with the highest labelled.

    Parameters
    ----------
    trend : mapping
        years, share, lower, upper (ends of intervals), n_tokens.
    summary : mapping
        The topic whose hue is used.
    name : str, optional
        Name in the text alternative, if it is no topic.
    """
    years, shares, tokens = trend["years"], trend["share"], trend["n_tokens"]
    peak = max(range(len(years)), key=lambda i: shares[i])
    low = min(range(len(years)), key=lambda i: shares[i])
    lower, upper = trend["lower"], trend["upper"]
    # A thin year's interval may reach far beyond all columns; it is cut off there.
    high = max(*shares, min(max(upper), 1.35 * max(shares)))
    told = {year: f"; between {percent(a)} and {percent(b)}" for year, a, b in zip(years, lower, upper, strict=True)}

    def draw(width: float) -> tuple[float, Markup]:
        height = 150.0 if width > 500 else 140.0
        plane = _Plane(width, height, years, high, left=44, right=4, top=20)
        gap = min(6.0, 0.28 * plane.step)
        marks = plane.axes(percent)
        for i, (year, share) in enumerate(zip(years, shares, strict=True)):
            y = plane.y(share)
            marks.append(
                element(
                    "rect",
                    x=plane.x(year) - plane.step / 2 + gap / 2,
                    y=y,
                    width=max(0.6, plane.step - gap),
                    height=max(0.0, plane.base - y),
                    class_="fill" if i == peak else "fill soft",
                )
            )
        if plane.step >= _NARROWEST_WHISKER:
            marks += [plane.whisker(*each) for each in zip(years, lower, upper, strict=True)]
        marks.append(_peak_label(plane, years[peak], shares[peak], min(upper[peak], plane.high)))
        for year, share, n in zip(years, shares, tokens, strict=True):
            marks.append(plane.band(year, f"{year}: {percent(share)} of the year’s words, {thousands(n)}{told[year]}"))
        return height, element("g", *marks, class_=topic_class(summary))

    called = name or f"topic {summary['topic']}, {topic_name(summary)}"
    label = (
        f"Share of each year’s words in {called}, from {years[0]} to {years[-1]}: "
        f"highest in {years[peak]} with {percent(shares[peak])}, lowest in {years[low]} with {percent(shares[low])}"
    )
    return picture(draw, label)


def _peak_label(plane: _Plane, year: int, share: float, above: float) -> Markup:
    x = min(max(plane.x(year), plane.left + 34), plane.right - 34)
    return element("text", f"{year}: {percent(share)}", x=x, y=plane.y(above) - 6, text_anchor="middle", class_="peak")


def lines(
    series: Sequence[Mapping[str, Any]],
    years: Sequence[int],
    by: str = "year",
    n_tokens: Sequence[float] | None = None,
) -> Markup:
    """Several topics through the years, each line labelled at its end.

    Long lines are smoothed, with the unsmoothed values drawn faintly behind.

    Parameters
    ----------
    series : sequence of mappings
        Topics with their shares and the ends of their intervals.
    years : sequence of int
        Years of the shares; for decades, their first years.
    by : {"year", "decade"}
        The unit of time.
    n_tokens : sequence of float, optional
        Number of words of each year, as weights for smoothing.
    """
    step = 10 if by == "decade" else 1
    places = [year // step for year in years]
    patterns = dashes([one["topic"]["hue"] for one in series])
    window = window_for(len(years))
    drawn = [smoothed(one["share"], window, n_tokens) for one in series]
    ends_of = [
        [smoothed_ends(one[end], one["share"], window, n_tokens) for end in ("lower", "upper")] for one in series
    ]
    high = max((value for values in drawn for value in values if value is not None), default=0.0)
    high = max(high, 0.6 * max((value for one in series for value in one["share"] if value is not None), default=0.0))

    def draw(width: float) -> tuple[float, Markup]:
        height = 340.0 if width > 500 else 300.0
        plane = _Plane(width, height, places, high * 1.04, left=44, right=132 if width > 500 else 96, top=10)
        marks = plane.axes(percent, 5, lambda place: _period(step * place, by))
        marks += [plane.band(place, _at(series, i, _period(years[i], by))) for i, place in enumerate(places)]
        ends = [plane.y(_last_known(values)) for values in drawn]
        labels = spread(ends, 15, plane.top + 4, plane.base - 2)
        for i, one in enumerate(series):
            behind = one["share"] if window > 1 else ()
            parts = [
                element("path", d=plane.between(places, *ends_of[i]), class_="spread"),
                element("path", d=path(plane.points(places, behind)), class_="faint") if behind else "",
                element("path", d=path(plane.points(places, drawn[i])), class_=f"line dash{patterns[i]}"),
                *_end_label(plane, plane.x(places[-1]), ends[i], labels[i], one["topic"]),
            ]
            marks.append(element("g", *parts, class_="serie " + topic_class(one["topic"])))
        return height, Markup("").join(marks)

    names = "; ".join(_rise(one) for one in series)
    how = f" (means of {window})" if window > 1 else ""
    return picture(draw, f"Shares of words by {by}{how}, {years[0]} to {years[-1]}. {names}")


def _at(series: Sequence[Mapping[str, Any]], i: int, when: str) -> str:
    values = [(one["share"][i], one) for one in series if one["share"][i] is not None]
    values.sort(key=lambda pair: -pair[0])
    told = (
        f"{topic_name(one['topic'])} {percent(share)} ({percent(one['lower'][i])} to {percent(one['upper'][i])})"
        for share, one in values
    )
    return f"{when}: " + ", ".join(told)


def _end_label(plane: _Plane, x: float, y: float, label: float, summary: TopicSummary) -> list[Markup]:
    name = fit(topic_name(summary), 12, plane.width - plane.right - 32) + " "
    figure = element("tspan", str(summary["topic"]), class_="sub")
    return [
        element("circle", cx=x, cy=y, r=2.6, class_="fill"),
        element("path", d=path([(x + 5, y), (plane.right + 8, label)]), class_="lead"),
        element("text", name, figure, x=plane.right + 12, y=label + 4, class_="name"),
    ]


def dashes(hues: Sequence[float]) -> list[int]:
    """Dash pattern of each line, different from earlier lines of a similar hue."""
    chosen: list[int] = []
    for i, hue in enumerate(hues):
        taken = {chosen[j] for j in range(i) if alike(hue, hues[j])}
        chosen.append(next((pattern for pattern in range(N_DASHES) if pattern not in taken), i % N_DASHES))
    return chosen


def _period(year: int, by: str) -> str:
    return f"{year // 10 * 10}s" if by == "decade" else str(year)


def _last_known(values: Sequence[float | None]) -> float:
    return next((value for value in reversed(values) if value is not None), 0.0)


def _rise(one: Mapping[str, Any]) -> str:
    first = next((value for value in one["share"] if value is not None), 0.0)
    last = _last_known(one["share"])
    return f"topic {one['topic']['topic']}, {topic_name(one['topic'])}: from {percent(first)} to {percent(last)}"


def stacked(by_year: Mapping[str, Any], author: str) -> Markup:
    """Number of an author's documents by year as columns, each divided by topic."""
    years, documents, topics = by_year["years"], by_year["n_documents"], by_year["topics"]
    high = max(documents, default=0)

    def draw(width: float) -> tuple[float, Markup]:
        height = 190.0 if width > 500 else 180.0
        plane = _Plane(width, height, years, high, left=30, right=(132 if width > 500 else 100) if topics else 4, top=8)
        gap = min(8.0, 0.28 * plane.step)
        marks = plane.axes(lambda value: f"{value:g}", whole=True)
        for i, year in enumerate(years):
            start = 0.0
            x, wide = plane.x(year) - plane.step / 2 + gap / 2, max(0.6, min(plane.step - gap, 40))
            x += max(0.0, (plane.step - gap - wide) / 2)
            for one in topics:
                end = start + documents[i] * one["share"][i]
                marks.append(_block(x, wide, plane.y(start), plane.y(end), "fill " + topic_class(one["topic"])))
                start = end
            marks.append(
                _block(x, wide, plane.y(start), plane.y(documents[i]), "other" if topics else "fill soft glue")
            )
        wanted = [plane.top + 8 + 16 * (len(topics) - i) for i in range(len(topics))] + [plane.top + 8]
        for one, y in zip(topics, wanted, strict=False):
            marks.append(
                _key(
                    plane.right + 14,
                    y,
                    topic_class(one["topic"]),
                    fit(topic_name(one["topic"]), 12, plane.width - plane.right - 50),
                    str(one["topic"]["topic"]),
                )
            )
        if topics:
            marks.append(_key(plane.right + 14, wanted[-1], "other", "other topics", ""))
        for year, n in zip(years, documents, strict=True):
            marks.append(plane.band(year, f"{year}: {count(n, 'document')}{_leading(topics, years.index(year), n)}"))
        return height, Markup("").join(marks)

    names = ", ".join(topic_name(one["topic"]) for one in topics)
    when = span(years[0], years[-1])
    label = f"{count(sum(documents), 'document')} by {clip(author, 80)}, {when}, most about {names or 'no topic'}"
    return picture(draw, label)


def _block(x: float, width: float, bottom: float, top: float, kind: str) -> Markup:
    if bottom - top < 0.05:
        return Markup("")
    return element("rect", x=x, y=top, width=width, height=max(0.2, bottom - top - 0.6), class_=kind)


def _key(x: float, y: float, kind: str, words: str, figure: str) -> Markup:
    name = element(
        "text", words + " ", element("tspan", figure, class_="sub") if figure else "", x=x + 15, y=y + 4, class_="name"
    )
    swatch = element("rect", x=x, y=y - 5, width=9, height=9, rx=2, class_="fill" if kind != "other" else "other")
    return element("g", swatch, name, class_=kind if kind != "other" else "plain")


def _leading(topics: Sequence[Mapping[str, Any]], i: int, n: int) -> str:
    if not n:
        return ""
    top = sorted(((one["share"][i], topic_name(one["topic"])) for one in topics), reverse=True)
    return "; " + ", ".join(f"{name} {percent(share)}" for share, name in top if share > 0)
