"""Topics along time: columns of one, lines of several, an author's documents by year and topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import alike, topic_class
from topoi.drawing.evidence import Means, clear_peak, reliable_means, thin_years
from topoi.drawing.plane import Address, Plane
from topoi.drawing.svg import element, name_within, path, picture, topic_name
from topoi.drawing.text import spread
from topoi.drawing.words import clip, count, percent, percent_mark, span, thousands

TopicSummary = Mapping[str, Any]
_NARROWEST_WHISKER = 0.8
N_DASHES = 4  # line styles: solid, and three kinds of dashes


def columns(
    trend: Mapping[str, Any],
    summary: TopicSummary,
    name: str | None = None,
    *,
    shown: tuple[int, int] | None = None,
    href: Address | None = None,
) -> Markup:
    """One topic's share of each year's words as columns; the highest is labelled if it is surely above the usual.

    Years with so few words that they say nothing are hollow.

    Parameters
    ----------
    trend : mapping
        years, share, lower, upper (ends of intervals), n_tokens.
    summary : mapping
        The topic whose hue is used, and its share of all words.
    name : str, optional
        Name in the text alternative, if it is no topic.
    shown : tuple of int, optional
        First and last year to show; all by default.
    href : callable, optional
        Address of a year's documents.
    """
    at = _places(trend["years"], shown)
    years, shares, tokens, lower, upper = ([trend[key][i] for i in at] for key in _TREND)
    thin = thin_years(shares, lower, upper)
    firm = [i for i in range(len(years)) if not thin[i]] or list(range(len(years)))
    usual = summary.get("share")
    peak = clear_peak(lower, sum(shares) / len(shares) if usual is None else usual, firm)
    highest = max(shares[i] for i in firm)
    # A thin year's share or interval may reach far beyond all other columns; it is cut off there.
    high = max(highest, min(max(upper), 1.35 * highest))
    told = {year: f"\nbetween {percent(a)} and {percent(b)}" for year, a, b in zip(years, lower, upper, strict=True)}

    def draw(width: float) -> tuple[float, Markup]:
        height = 150.0 if width > 500 else 140.0
        plane = Plane(width, height, years, high, left=44, right=4, top=20)
        gap = min(6.0, 0.28 * plane.step)
        marks = plane.axes(percent_mark)
        for i, (year, share) in enumerate(zip(years, shares, strict=True)):
            y = plane.y(min(share, high))
            kind = "fill unsure" if thin[i] else "fill" if i == peak else "fill soft"
            marks.append(
                element(
                    "rect",
                    x=plane.x(year) - plane.step / 2 + gap / 2,
                    y=y,
                    width=max(0.6, plane.step - gap),
                    height=max(0.0, plane.base - y),
                    class_=kind,
                )
            )
        if plane.step >= _NARROWEST_WHISKER:
            marks += [plane.whisker(*each) for each in zip(years, lower, upper, strict=True)]
        if peak is not None:
            marks.append(_peak_label(plane, years[peak], shares[peak], min(upper[peak], plane.high)))
        for i, (year, share, n) in enumerate(zip(years, shares, tokens, strict=True)):
            words = f"{year}\n{percent(share)} of the year’s words, {thousands(n)}{told[year]}"
            few = "\ntoo few words to say more" if thin[i] else ""
            marks.append(plane.band(year, words + few, href=href(year) if href else None))
        return height, element("g", *marks, class_=topic_class(summary))

    called = name or f"topic {summary['topic']}, {topic_name(summary)}"
    says = (
        "no year clearly above the others" if peak is None else f"highest in {years[peak]} with {percent(shares[peak])}"
    )
    label = f"Share of each year’s words in {called}, from {years[0]} to {years[-1]}: {says}"
    return picture(draw, label, role="group" if href else "img", kind="along-years")


_TREND = ("years", "share", "n_tokens", "lower", "upper")


def _places(years: Sequence[int], shown: tuple[int, int] | None) -> list[int]:
    """Places of the years between two; all if there is none."""
    first, last = shown or (years[0], years[-1])
    return [i for i, year in enumerate(years) if first <= year <= last] or list(range(len(years)))


def _peak_label(plane: Plane, year: int, share: float, above: float) -> Markup:
    x = min(max(plane.x(year), plane.left + 34), plane.right - 34)
    return element("text", f"{year}: {percent(share)}", x=x, y=plane.y(above) - 6, text_anchor="middle", class_="peak")


def lines(
    series: Sequence[Mapping[str, Any]],
    years: Sequence[int],
    by: str = "year",
    n_tokens: Sequence[float] | None = None,
    *,
    shown: tuple[int, int] | None = None,
    href: Address | None = None,
) -> Markup:
    """Several topics through the years, each line labelled at its end.

    Long lines are smoothed, with the unsmoothed values drawn faintly behind; thin years are merged with their
    neighbours. Where a line rests on too few words all the same, it is pale.

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
    shown : tuple of int, optional
        First and last year to show; all by default.
    href : callable, optional
        Address of a year's documents.
    """
    step = 10 if by == "decade" else 1
    at = _places(years, shown)
    places, periods = [years[i] // step for i in at], [years[i] for i in at]
    patterns = dashes([one["topic"]["hue"] for one in series])
    words = [1.0] * len(years) if n_tokens is None else n_tokens
    means = [reliable_means(one["share"], words, (one["lower"], one["upper"])) for one in series]
    window = means[0].window
    drawn = [_some(each, at) for each in means]
    high = max((value for each in drawn for value in each.values if value is not None), default=0.0)
    high = max(
        high, 0.6 * max((one["share"][i] for one in series for i in at if one["share"][i] is not None), default=0.0)
    )

    def draw(width: float) -> tuple[float, Markup]:
        height = 340.0 if width > 500 else 300.0
        plane = Plane(width, height, places, high * 1.04, left=44, right=132 if width > 500 else 96, top=10)
        marks = plane.axes(percent_mark, 5, lambda place: _period(step * place, by))
        for i, place, year in zip(at, places, periods, strict=True):
            told, lead = _at(series, i, _period(year, by)), href(year) if href else None
            marks.append(plane.band(place, told, shown=str(year), href=lead))
        ends = [plane.y(_last_known(each.values)) for each in drawn]
        labels = spread(ends, 15, plane.top + 4, plane.base - 2)
        for i, one in enumerate(series):
            behind = [one["share"][j] for j in at] if window > 1 else ()
            parts = [
                element("path", d=plane.between(places, drawn[i].lower, drawn[i].upper), class_="spread"),
                element("path", d=path(plane.points(places, behind)), class_="faint") if behind else "",
                *_firm_line(plane, places, drawn[i], patterns[i]),
                *_end_label(plane, plane.x(places[-1]), ends[i], labels[i], one["topic"]),
            ]
            marks.append(element("g", *parts, class_="serie " + topic_class(one["topic"])))
        return height, Markup("").join(marks)

    names = "; ".join(_rise(one, each) for one, each in zip(series, drawn, strict=True))
    how = f" (means of {window})" if window > 1 else ""
    label = f"Shares of words by {by}{how}, {periods[0]} to {periods[-1]}. {names}"
    return picture(draw, label, role="group" if href else "img", kind="along-years")


def _some(means: Means, at: Sequence[int]) -> Means:
    values, lower, upper = ([each[i] for i in at] for each in means[:3])
    return Means(values, lower, upper, means.window)


def _firm_line(plane: Plane, places: Sequence[int], means: Means, pattern: int) -> list[Markup]:
    """The line of a topic: pale all along, and in full colour where it rests on enough words."""
    known = [(v or 0.0, a or 0.0, b or 0.0) for v, a, b in zip(means.values, means.lower, means.upper, strict=True)]
    thin = thin_years(*([one[i] for one in known] for i in range(3)))
    pale = element("path", d=path(plane.points(places, means.values)), class_=f"line unsure dash{pattern}")
    firm = [None if few else value for value, few in zip(means.values, thin, strict=True)]
    line = element("path", d=path(plane.points(places, firm)), class_=f"line dash{pattern}")
    return [pale, line] if any(thin) else [line]


def _at(series: Sequence[Mapping[str, Any]], i: int, when: str) -> str:
    values = [(one["share"][i], one) for one in series if one["share"][i] is not None]
    values.sort(key=lambda pair: -pair[0])
    told = (
        f"{percent(share)} {topic_name(one['topic'])} ({percent(one['lower'][i])} to {percent(one['upper'][i])})"
        for share, one in values
    )
    return "\n".join([when, *told])


def _end_label(plane: Plane, x: float, y: float, label: float, summary: TopicSummary) -> list[Markup]:
    name = name_within(summary, 12, plane.width - plane.right - 32) + " "
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


def _rise(one: Mapping[str, Any], means: Means) -> str:
    first = next((value for value in means.values if value is not None), 0.0)
    last = _last_known(means.values)
    return f"topic {one['topic']['topic']}, {topic_name(one['topic'])}: from {percent(first)} to {percent(last)}"


def stacked(
    by_year: Mapping[str, Any],
    author: str,
    *,
    shown: tuple[int, int] | None = None,
    href: Address | None = None,
) -> Markup:
    """Number of an author's documents by year as columns, each divided by topic.

    Parameters
    ----------
    by_year : mapping
        years, n_documents, topics (with their shares of each year's words).
    author : str
        The author's name, for the text alternative.
    shown : tuple of int, optional
        First and last year to show; all by default.
    href : callable, optional
        Address of a year's documents.
    """
    at = _places(by_year["years"], shown)
    years, documents = ([by_year[key][i] for i in at] for key in ("years", "n_documents"))
    topics = [{**one, "share": [one["share"][i] for i in at]} for one in by_year["topics"]]
    high = max(documents, default=0)

    def draw(width: float) -> tuple[float, Markup]:
        height = 190.0 if width > 500 else 180.0
        plane = Plane(width, height, years, high, left=30, right=(132 if width > 500 else 100) if topics else 4, top=8)
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
                    name_within(one["topic"], 12, plane.width - plane.right - 50),
                    str(one["topic"]["topic"]),
                )
            )
        if topics:
            marks.append(_key(plane.right + 14, wanted[-1], "other", "other topics", ""))
        for i, (year, n) in enumerate(zip(years, documents, strict=True)):
            told = f"{year}\n{count(n, 'document')}{_leading(topics, i, n)}"
            marks.append(plane.band(year, told, href=href(year) if href else None))
        return height, Markup("").join(marks)

    names = ", ".join(topic_name(one["topic"]) for one in topics)
    when = span(years[0], years[-1])
    label = f"{count(sum(documents), 'document')} by {clip(author, 80)}, {when}, most about {names or 'no topic'}"
    return picture(draw, label, role="group" if href else "img", kind="along-years")


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
    return "".join(f"\n{percent(share)} {name}" for share, name in top if share > 0)
