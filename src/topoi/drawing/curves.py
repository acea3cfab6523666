"""Predicted shares of topics along a number: stacked areas, or lines with bands; one picture for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from topoi.drawing.colours import hue_class, topic_class
from topoi.drawing.svg import element, number_ticks, path, picture, ticks, topic_name, year_ticks
from topoi.drawing.text import fit, spread, text_width
from topoi.drawing.timelines import dashes
from topoi.drawing.words import clip, percent, percent_mark

_GAP, _HEAD, _BELOW = 24.0, 24.0, 14.0
_N_TOLD = 6  # topics in a tooltip
_LEAST_HEIGHT = 15.0  # of an area with its name inside

Page = Mapping[str, Any]


class Panel(NamedTuple):
    """One picture of several: its heading and its link, its height, and a function that draws it at a width."""

    name: str
    href: str | None
    height: Callable[[float], float]
    draw: Callable[[float], Markup]


def side_by_side(panels: Sequence[Panel], label: str, *, role: str = "img") -> Markup:
    """Panels in two columns on wide screens, in one on narrow ones."""

    def draw(width: float) -> tuple[float, Markup]:
        n_columns = 2 if width > 500 and len(panels) > 1 else 1
        wide = (width - _GAP * (n_columns - 1)) / n_columns
        marks, top, row_height = [], 0.0, 0.0
        for i, panel in enumerate(panels):
            if i and i % n_columns == 0:
                top, row_height = top + row_height + _BELOW, 0.0
            head = _HEAD if panel.name else 0.0
            place = f"translate({(i % n_columns) * (wide + _GAP):.1f} {top:.1f})"
            marks.append(element("g", _heading(panel, wide), transform=place) if head else Markup(""))
            place = f"translate({(i % n_columns) * (wide + _GAP):.1f} {top + head:.1f})"
            marks.append(element("g", panel.draw(wide), transform=place))
            row_height = max(row_height, head + panel.height(wide))
        return top + row_height, Markup("").join(marks)

    return picture(draw, label, role=role, kind="panels")


def _heading(panel: Panel, width: float) -> Markup:
    text = element("text", fit(panel.name, 13, width), x=0.0, y=15.0, class_="panel")
    return element("a", text, href=panel.href) if panel.href else text


class Field:
    """Plotting area of a chart along a number, with its axes."""

    def __init__(self, at: Sequence[float], width: float, height: float, high: float, right: float = 6.0) -> None:
        self.at, self.width, self.height = at, width, height
        self.left, self.right, self.top, self.base = 40.0, width - right, 8.0, height - 22.0
        self.low, self.span = at[0], (at[-1] - at[0]) or 1.0
        self.high = high if high > 0 else 1.0

    def x(self, value: float) -> float:
        """Horizontal position of a value of the feature."""
        return self.left + (self.right - self.left) * (value - self.low) / self.span

    def y(self, share: float) -> float:
        """Vertical position of a share; those above the plotting area are clipped to its edge."""
        return self.base - (self.base - self.top) * min(share, self.high) / self.high

    def line(self, shares: Sequence[float]) -> list[tuple[float, float]]:
        """Points of a line through shares."""
        return [(self.x(value), self.y(share)) for value, share in zip(self.at, shares, strict=True)]

    def between(self, lower: Sequence[float], upper: Sequence[float]) -> str:
        """Path of the area between two lines."""
        return path([*self.line(upper), *reversed(self.line(lower))]) + "Z"

    def axes(self) -> list[Markup]:
        """Grid lines with shares at the left, values of the feature below."""
        marks = []
        for share in ticks(self.high, 4):
            y = round(self.y(share)) + 0.5
            kind = "base" if share == 0 else "grid"
            marks.append(element("path", d=f"M{self.left:.0f} {y}H{self.right:.0f}", class_=kind))
            if share > 0:
                marks.append(
                    element("text", percent_mark(share), x=self.left - 6, y=y + 3.5, text_anchor="end", class_="axis")
                )
        for value in place_ticks(self.at[0], self.at[-1], int((self.right - self.left) / 44)):
            x = self.x(value)
            anchor = "end" if x > self.right - 14 else "start" if x < self.left + 8 else "middle"
            marks.append(element("text", place_name(value), x=x, y=self.height - 6, text_anchor=anchor, class_="axis"))
        return marks

    def strips(self, words: Callable[[int], str]) -> list[Markup]:
        """Strips for every position, whose tooltips show the exact numbers."""
        xs = [self.x(value) for value in self.at]
        edges = [xs[0], *((a + b) / 2 for a, b in zip(xs, xs[1:], strict=False)), xs[-1]]
        if len(xs) == 1:
            edges = [self.left, self.right]
        return [
            element(
                "rect",
                element("title", words(i)),
                x=edges[i],
                y=self.top,
                width=max(0.1, edges[i + 1] - edges[i]),
                height=self.base - self.top,
                class_="band",
            )
            for i in range(len(xs))
        ]


def place_ticks(low: float, high: float, room: int) -> Sequence[float]:
    """Round numbers for the axis: years as years, the ends of other ranges only if round."""
    if high <= low:
        return [low]
    if low == int(low) and high == int(high) and high - low >= 4:
        return year_ticks(int(low), int(high), max(room, 2))
    return number_ticks(low, high, max(room, 2))


def place_name(value: float | str) -> str:
    """Text of a position along a feature.

    Examples
    --------
    >>> place_name(1893.0), place_name(1893.25), place_name("ACL")
    ('1893', '1893.25', 'ACL')
    """
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e7 else f"{value:.6g}"


def areas(page: Page, group: Mapping[str, Any]) -> Callable[[float], Markup]:
    """All topics of one group as stacked areas; those thick enough have their names inside."""
    at, curves = page["at"], group["curves"]
    totals = [sum(curve["mean"][i] for curve in curves) or 1.0 for i in range(len(at))]

    def draw(width: float) -> Markup:
        field = Field(at, width, area_height(width), 1.0)
        marks, names = field.axes(), []
        below = [0.0] * len(at)
        for curve in curves:
            above = [b + share / total for b, share, total in zip(below, curve["mean"], totals, strict=True)]
            kind = topic_class(curve["topic"])
            marks.append(element("path", d=field.between(below, above), class_=f"area {kind}"))
            names.append(_within(field, below, above, curve["topic"]))
            below = above
        return Markup("").join([*marks, *names, *field.strips(lambda i: _told(page, curves, i))])

    return draw


def area_height(width: float) -> float:
    """Height of a picture of areas."""
    return 340.0 if width > 500 else 240.0


def _within(field: Field, below: Sequence[float], above: Sequence[float], summary: Mapping[str, Any]) -> Markup:
    """Name of a topic at the thickest place of its area, if there is room."""
    words = topic_name(summary, 20)
    half = text_width(words, 12) / 2 + 7
    places = np.array([field.x(value) for value in field.at])
    middles = places[(places >= field.left + half) & (places <= field.right - half)]
    if not len(middles):
        return Markup("")
    reach = middles[:, None] + np.linspace(-half, half, 9)
    low, high = np.interp(reach, places, below).max(axis=1), np.interp(reach, places, above).min(axis=1)
    best = int(np.argmax(high - low))
    if (high[best] - low[best]) * (field.base - field.top) < _LEAST_HEIGHT:
        return Markup("")
    y = field.y(float(low[best] + high[best]) / 2) + 4
    return element("text", words, x=float(middles[best]), y=y, text_anchor="middle", class_="within")


def _told(page: Page, curves: Sequence[Mapping[str, Any]], i: int) -> str:
    largest = sorted(((curve["mean"][i], topic_name(curve["topic"])) for curve in curves), reverse=True)
    return f"{place_name(page['at'][i])}: " + ", ".join(f"{name} {percent(share)}" for share, name in largest[:_N_TOLD])


class Line(NamedTuple):
    """A line with its band: a name, a subscript, classes for its hue, and documents as dots."""

    name: str
    figure: str
    kind: str
    hue: float
    curve: Mapping[str, Any]
    points: Sequence[tuple[float, float]]


def lines_of(group: Mapping[str, Any]) -> list[Line]:
    """Lines of the chosen topics of one group, in their hues."""
    return [
        Line(
            topic_name(curve["topic"]),
            str(curve["topic"]["topic"]),
            topic_class(curve["topic"]),
            curve["topic"]["hue"],
            curve,
            [(point["at"], point["share"][k]) for point in group["points"]],
        )
        for k, curve in enumerate(group["curves"])
    ]


def line_of_group(group: Mapping[str, Any]) -> Line:
    """Line of the only chosen topic of a group, in the group's hue."""
    points = [(point["at"], point["share"][0]) for point in group["points"]]
    return Line(group["name"], "", hue_class(group["hue"]), group["hue"], group["curves"][0], points)


def bands(page: Page, lines: Sequence[Line], high: float) -> Callable[[float], Markup]:
    """Lines with bands, each labelled at its end; documents are dots."""
    at = page["at"]
    patterns = dashes([line.hue for line in lines])

    def draw(width: float) -> Markup:
        named = any(line.name for line in lines)
        field = Field(at, width, band_height(width), high, right=_room_for(lines, width) if named else 6.0)
        marks = [*field.axes(), *field.strips(lambda i: _told_bands(page, lines, i))]
        ends = [field.y(line.curve["mean"][-1]) for line in lines]
        labels = spread(ends, 15, field.top + 4, field.base - 2)
        for i, line in enumerate(lines):
            curve = line.curve
            dots = [
                element("circle", cx=field.x(x), cy=field.y(y), r=1.8, class_="point")
                for x, y in line.points
                if at[0] <= x <= at[-1]
            ]
            parts = [
                element("path", d=field.between(curve["lower"], curve["upper"]), class_="spread"),
                *dots,
                element("path", d=path(field.line(curve["mean"])), class_=f"line dash{patterns[i]}"),
                *(_end(field, ends[i], labels[i], line) if named else []),
            ]
            marks.append(element("g", *parts, class_=f"serie {line.kind}"))
        return Markup("").join(marks)

    return draw


def _room_for(lines: Sequence[Line], width: float) -> float:
    """Width that the labels of lines take."""
    longest = max(text_width(line.name, 12) + 12 * bool(line.figure) for line in lines)
    return min(longest + 24, 160.0 if width > 500 else 92.0)


def band_height(width: float) -> float:
    """Height of a picture of lines."""
    return 320.0 if width > 500 else 240.0


def top_of(lines: Sequence[Line]) -> float:
    """Largest share on the axis: covers the bands and most of the dots."""
    most = max(max(line.curve["upper"]) for line in lines)
    dots = sorted(y for line in lines for _, y in line.points)
    return min(1.0, 1.04 * max(most, dots[int(0.98 * (len(dots) - 1))] if dots else 0.0))


def _end(field: Field, y: float, label: float, line: Line) -> list[Markup]:
    room = field.width - field.right - 18 - (12 if line.figure else 0)
    name = fit(line.name, 12, room) + (" " if line.figure else "")
    figure = element("tspan", line.figure, class_="sub") if line.figure else ""
    return [
        element("path", d=path([(field.right + 2, y), (field.right + 12, label)]), class_="lead"),
        element("text", name, figure, x=field.right + 15, y=label + 4, class_="name"),
    ]


def _told_bands(page: Page, lines: Sequence[Line], i: int) -> str:
    told = [f"{line.name or 'share'} {band_words(line.curve, i)}" for line in lines]
    return f"{place_name(page['at'][i])}: " + ", ".join(told)


def band_words(curve: Mapping[str, Any], i: int) -> str:
    """A share and the ends of its band.

    Examples
    --------
    >>> band_words({"mean": [0.25], "lower": [0.1], "upper": [0.4]}, 0).replace(chr(8239), " ")
    '25 % (10 % to 40 %)'
    """
    return f"{percent(curve['mean'][i])} ({percent(curve['lower'][i])} to {percent(curve['upper'][i])})"


def sentence(page: Page) -> str:
    """Text alternative of the pictures."""
    at = page["at"]
    span = f"{place_name(at[0])} to {place_name(at[-1])}" if page["is_number"] else f"{len(at)} values"
    told = []
    for group in page["groups"]:
        who = f"{clip(group['name'], 60)}: " if group["name"] else ""
        curves = group["curves"]
        if page["chosen"]:
            told.append(who + "; ".join(f"{topic_name(curve['topic'])} {_course(at, curve)}" for curve in curves[:4]))
        else:
            first, last = (max(curves, key=lambda curve: curve["mean"][i]) for i in (0, -1))
            told.append(
                f"{who}most at {place_name(at[0])} {topic_name(first['topic'])} with {percent(first['mean'][0])}, "
                f"at {place_name(at[-1])} {topic_name(last['topic'])} with {percent(last['mean'][-1])}"
            )
    return f"Predicted shares of topics by {clip(page['along'], 60)}, {span}. " + ". ".join(told)


def _course(at: Sequence[Any], curve: Mapping[str, Any]) -> str:
    best = max(range(len(at)), key=lambda i: curve["mean"][i])
    low = min(range(len(at)), key=lambda i: curve["mean"][i])
    return (
        f"highest at {place_name(at[best])} with {band_words(curve, best)}, "
        f"lowest at {place_name(at[low])} with {percent(curve['mean'][low])}"
    )
