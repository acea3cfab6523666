"""Charts as SVG, drawn on the server; each has a text alternative in one sentence.

Nothing here carries a style: hues and roles are classes of ``style.css``, which ``standalone_svg`` replaces by plain
colours for a file to download.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import topic_class
from topoi.drawing.curves import place_name
from topoi.drawing.differences import CLEAR, differences, signed_percent, signed_percents
from topoi.drawing.evidence import Timeline, clear_peak, reliable_means, usual_share
from topoi.drawing.graphs import graph
from topoi.drawing.maps import matrix, topic_map
from topoi.drawing.shares import link_graph, shares_chart, table_rows
from topoi.drawing.smoothing import window_for
from topoi.drawing.standalone import standalone_svg
from topoi.drawing.svg import element, path, picture, topic_name
from topoi.drawing.timelines import columns, lines, stacked
from topoi.drawing.words import count, percent, percents, thousands

__all__ = [
    "CLEAR",
    "Timeline",
    "bar",
    "columns",
    "differences",
    "double_bar",
    "graph",
    "lines",
    "link_graph",
    "matrix",
    "place_name",
    "ribbon",
    "share_bar",
    "share_scale",
    "share_words",
    "shares_chart",
    "signed_percent",
    "signed_percents",
    "sparkline",
    "stacked",
    "standalone_svg",
    "table_rows",
    "topic_map",
    "topic_name",
    "trace",
    "window_for",
]

SPARK_WIDTH, SPARK_HEIGHT = 112.0, 34.0
SPARK_POINTS = 54  # one for every two pixels


def bar(fraction: float) -> Markup:
    """A bar for a share; the page shows the number beside it.

    Examples
    --------
    >>> bar(0.5)
    Markup('<svg class="bar" height="6" aria-hidden="true"><rect width="50%" height="6" rx="3" class="fill"/></svg>')
    """
    return element("svg", _rect(fraction, "fill"), class_="bar", height=6, aria_hidden="true")


def share_scale(rows: Sequence[Mapping[str, Any]]) -> float:
    """Length of the longest bar or interval among rows of shares, to which all are drawn."""
    return max((max(row["share"], row.get("upper") or 0.0) for row in rows), default=1.0) or 1.0


def share_bar(row: Mapping[str, Any], scale: float) -> Markup:
    """A bar for a share, with a thin line over its interval, if that is known: pale on the bar, in its hue beyond it.

    Examples
    --------
    >>> share_bar({"share": 0.5, "lower": 0.4, "upper": 0.75}, 1.0).count("<line")
    2
    >>> share_bar({"share": 0.5}, 1.0) == bar(0.5)
    True
    """
    lower, upper = row.get("lower"), row.get("upper")
    if lower is None or upper is None:
        return bar(row["share"] / scale)
    at = [100 * min(1.0, max(0.0, value / scale)) for value in (lower, row["share"], upper)]
    lines = [
        element("line", x1=f"{one:.3g}%", x2=f"{other:.3g}%", y1=3, y2=3, class_=kind)
        for one, other, kind in zip(at, at[1:], ("whisker inside", "whisker"), strict=False)
    ]
    return element("svg", _rect(at[1] / 100, "fill"), *lines, class_="bar", height=6, aria_hidden="true")


def share_words(row: Mapping[str, Any]) -> str:
    """A share with its interval, for a tooltip.

    Examples
    --------
    >>> share_words({"share": 0.234, "lower": 0.18, "upper": 0.28}).replace("\u202f", " ")
    '23 %; with a probability of 90 % it is 18–28 %'
    """
    ends = percents(row.get("lower"), row.get("upper"))
    return f"{percent(row['share'])}; with a probability of 90\u202f% it is {ends}" if ends else percent(row["share"])


# Where a bar that is too long for its column has its gap.
_CUT = 0.92


def double_bar(fraction: float, share: float) -> Markup:
    """A bar for a part, in front of a paler one for the whole of which it is ``share``; a gap says that this goes on.

    Examples
    --------
    >>> double_bar(0.5, 0.8).count("<rect"), double_bar(0.5, 0.1).count("<rect")
    (2, 3)
    """
    whole = fraction / share if share > 0 else fraction
    cut = whole > 1.005 and fraction < _CUT
    paler = [_rect(_CUT if cut else whole, "pale")]
    if cut:
        paler.append(element("rect", x=f"{100 * _CUT + 2:g}%", width=f"{98 - 100 * _CUT:g}%", height=6, class_="pale"))
    return element("svg", *paler, _rect(fraction, "fill"), class_="bar", height=6, aria_hidden="true")


def _rect(fraction: float, kind: str) -> Markup:
    width = 100 * min(1.0, max(0.0, fraction))
    return element("rect", width=f"{max(width, 0.6):.3g}%", height=6, rx=3, class_=kind)


def ribbon(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Shares end to end in one bar."""
    parts, start = [], 0.0
    for row in rows:
        width = 100 * row["share"]
        parts.append(
            element(
                "rect",
                x=f"{start:.2f}%",
                width=f"{max(0.0, width - 0.4):.2f}%",
                height=10,
                class_="fill " + topic_class(row["topic"]),
            )
        )
        start += width
    label = "Shares of topics: " + ", ".join(f"{topic_name(row['topic'])} {percent(row['share'])}" for row in rows)
    return element("svg", Markup("").join(parts), class_="ribbon", height=10, role="img", aria_label=label)


def sparkline(
    values: Sequence[float | None],
    timeline: Timeline,
    ends: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Markup:
    """A small line chart from zero; its peak is marked and labelled if it is surely above the usual.

    Long lines are smoothed, by words, and thin years are merged with their neighbours: a few words in one early year
    should not set the scale for all the others.

    Parameters
    ----------
    values : sequence of float or None
        The share of each year.
    timeline : Timeline
        The years, their words, and which of them are shown.
    ends : tuple of sequences, optional
        Lower and upper ends of the intervals of the shares; no peak is named without them.

    Examples
    --------
    >>> sparkline([0.1, 0.4], Timeline([1990, 1991], [9, 9], 1990, 1991), ([0.0, 0.3], [0.2, 0.5])).count(" %")
    0
    >>> "40" in sparkline([0.1, 0.4], Timeline([1990, 1991], [9, 9], 1990, 1991), ([0.0, 0.3], [0.2, 0.5]))
    True
    """
    packed = None if ends is None else (tuple(ends[0]), tuple(ends[1]))
    return _sparkline(tuple(values), tuple(timeline.years), tuple(timeline.words), timeline[2:], packed)


@lru_cache(maxsize=1024)
def _sparkline(
    values: tuple[float | None, ...],
    years: tuple[int, ...],
    words: tuple[float, ...],
    limits: tuple[int, int],
    ends: tuple[tuple[float, ...], tuple[float, ...]] | None,
) -> Markup:
    means = reliable_means(values, words, ends)
    shown = [i for i in Timeline(years, words, *limits).shown if means.values[i] is not None]
    known = [(years[i], means.values[i] or 0.0) for i in shown]
    highest = max((value for _, value in known), default=0.0)
    if len(known) < 2 or highest <= 0:
        return Markup("")
    first, last = known[0][0], known[-1][0]
    base, top = SPARK_HEIGHT - 2, 13.0

    def at(year: float, value: float) -> tuple[float, float]:
        return 3 + (SPARK_WIDTH - 6) * (year - first) / max(1, last - first), base - (base - top) * value / highest

    place = clear_peak(means.lower, usual_share(values, words), shown)
    peak = None if place is None else (years[place], means.values[place] or 0.0)
    says = "no year is clearly above the others"
    marks = []
    if peak is not None:
        says = f"highest in {peak[0]} with {percent(peak[1])}"
        x, y = at(*peak)
        anchor = "start" if x < 18 else "end" if x > SPARK_WIDTH - 18 else "middle"
        label_x = 1.0 if anchor == "start" else SPARK_WIDTH - 1 if anchor == "end" else x
        marks = [
            element("circle", cx=x, cy=y, r=2.2, class_="fill"),
            element("text", percent(peak[1]), x=label_x, y=y - 4.5, text_anchor=anchor, class_="peak"),
        ]
    how = f", means of {means.window} years" if means.window > 1 else ""
    return element(
        "svg",
        element("path", d=f"M1 {base + 0.5}H{SPARK_WIDTH - 1:.0f}", class_="grid"),
        element("path", d=path(at(*point) for point in _thinned(known, peak[0] if peak else first)), class_="line"),
        *marks,
        class_="spark",
        viewBox=f"0 0 {SPARK_WIDTH:.0f} {SPARK_HEIGHT:.0f}",
        width=int(SPARK_WIDTH),
        height=int(SPARK_HEIGHT),
        role="img",
        aria_label=f"Share of words by year, {first} to {last}{how}: {says}",
    )


def _thinned(points: Sequence[tuple[int, float]], kept: int) -> list[tuple[int, float]]:
    """Every second, third, … point, so that there are at most SPARK_POINTS, and the one of the year ``kept``."""
    step = -(-len(points) // SPARK_POINTS)
    last = len(points) - 1
    return [point for i, point in enumerate(points) if i % step == 0 or i == last or point[0] == kept]


def trace(traces: Sequence[Mapping[str, Any]]) -> Markup:
    """Log joint of each chain during the fit."""
    runs = [
        [(int(s), float(v)) for s, v in zip(one["sweep"], one["log_joint"], strict=True) if v is not None]
        for one in traces
    ]
    runs = [run for run in runs if len(run) > 1]
    if not runs:
        return Markup("")
    sweeps = [sweep for run in runs for sweep, _ in run]
    first, last = min(sweeps), max(sweeps)
    # The first steep steps would flatten everything after them.
    settled = [value for run in runs for _, value in run[max(1, len(run) // 20) :]]
    low, high = min(settled), max(settled)
    ending = f"{runs[0][-1][1]:,.0f}".replace("-", "−")

    def draw(width: float) -> tuple[float, Markup]:
        height, left, right, top, base = 120.0, 8.0, width - 8, 18.0, 100.0

        def at(sweep: float, value: float) -> tuple[float, float]:
            share = (value - low) / (high - low) if high > low else 1.0
            return left + (right - left) * (sweep - first) / max(1, last - first), base - (base - top) * max(
                -0.02, share
            )

        marks = [element("path", d=f"M{left:.0f} {base + 0.5}H{right:.0f}", class_="base")]
        marks += [
            element("path", d=path(at(*point) for point in run), class_=f"run run{i % 4}") for i, run in enumerate(runs)
        ]
        marks.append(element("text", f"sweep {first}", x=left, y=height - 4, class_="axis"))
        marks.append(element("text", f"{last}", x=right, y=height - 4, text_anchor="end", class_="axis"))
        marks.append(element("text", ending, x=right, y=top - 6, text_anchor="end", class_="run-end"))
        return height, Markup("").join(marks)

    label = (
        f"Log joint probability of words and assignments over {thousands(last)} sweeps in {count(len(runs), 'chain')}, "
        f"ending at {ending}"
    )
    return picture(draw, label)
