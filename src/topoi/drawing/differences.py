"""Differences between two groups of documents: a dot with a whisker for each topic, about a line at zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import topic_class
from topoi.drawing.svg import element, name_within, picture, ticks, topic_name
from topoi.drawing.text import fit, text_width
from topoi.drawing.words import NARROW_SPACE, clip, percent, percent_mark

_ROW, _HEAD, _FOOT = 24.0, 22.0, 20.0
# A rate below which a difference is drawn as found.
CLEAR = 0.05


def signed_percent(share: float) -> str:
    """A difference of shares with its sign; less than 0.05 % is none.

    Examples
    --------
    >>> signed_percent(-0.13).replace(chr(8239), " "), signed_percent(0.0)[:1]
    ('−13 %', '0')
    """
    if abs(share) < 0.0005:
        return percent(0.0)
    return ("+" if share > 0 else "−") + percent(abs(share))


def signed_percents(lower: float, upper: float) -> str:
    """An interval of differences.

    Examples
    --------
    >>> signed_percents(-0.013, 0.13).replace(chr(8239), " "), signed_percents(0.0, 0.02).replace(chr(8239), " ")
    ('−1.3 to +13 %', '0.0 to +2.0 %')
    """
    first, last = signed_percent(lower), signed_percent(upper)
    return last if first == last else f"{first.removesuffix(NARROW_SPACE + '%')} to {last}"


def differences(rows: Sequence[Mapping[str, Any]], name: str, other: str) -> Markup:
    """A line for each topic, those of which the first group has most more at the top.

    Parameters
    ----------
    rows : sequence of mappings
        topic (a summary); share and other_share, each with its ``_lower`` and ``_upper``; difference, lower, upper;
        q_value.
    name, other : str
        The groups: to the right of zero is what the first has more of.
    """
    most = max((max(abs(row["lower"]), abs(row["upper"])) for row in rows), default=0.0) or 1.0

    def draw(width: float) -> tuple[float, Markup]:
        longest = max((text_width(topic_name(row["topic"]), 12) for row in rows), default=0.0)
        left, right = round(min(longest + 16, 200.0, 0.38 * width)), width - 14.0
        middle, half = (left + right) / 2, (right - left) / 2
        base = _HEAD + _ROW * len(rows)
        marks = _axis(middle, half, most, base, name, other)
        for i, row in enumerate(rows):
            marks += _line(row, _HEAD + _ROW * (i + 0.5), left, middle, half / most)
        return base + _FOOT, Markup("").join(marks)

    told = "; ".join(
        f"{topic_name(row['topic'])} {signed_percent(row['difference'])} "
        f"({signed_percent(row['lower'])} to {signed_percent(row['upper'])})"
        for row in rows[:6]
    )
    return picture(draw, f"Shares of topics in {clip(name, 60)} less those in {clip(other, 60)}. {told}")


def _axis(middle: float, half: float, most: float, base: float, name: str, other: str) -> list[Markup]:
    marks = []
    for value in ticks(most, 2):
        for sign in (1, -1) if value else (1,):
            x = round(middle + sign * half * value / most) + 0.5
            marks.append(element("path", d=f"M{x} {_HEAD}V{base:.0f}", class_="grid" if value else "base"))
            words = ("+" if sign > 0 else "") + percent_mark(sign * value) if value else "0"
            marks.append(element("text", words, x=x, y=base + 14, text_anchor="middle", class_="axis"))
    for group, x, anchor in ((other, middle - 8, "end"), (name, middle + 8, "start")):
        # Where there is no room for the whole, the name says more than the words before it.
        words = f"more in {group}" if text_width(f"more in {group}", 11) <= half - 10 else fit(group, 11, half - 10)
        marks.append(element("text", words, x=x, y=14, text_anchor=anchor, class_="axis"))
    return marks


def _line(row: Mapping[str, Any], y: float, left: float, middle: float, unit: float) -> list[Markup]:
    ends = (middle + unit * row[end] for end in ("lower", "upper"))
    clear = row["q_value"] <= CLEAR
    told = (
        f"{topic_name(row['topic'])}: {percent(row['share'])} "
        f"({percent(row['share_lower'])} to {percent(row['share_upper'])}) and {percent(row['other_share'])} "
        f"({percent(row['other_share_lower'])} to {percent(row['other_share_upper'])}), "
        f"difference {signed_percent(row['difference'])} "
        f"({signed_percent(row['lower'])} to {signed_percent(row['upper'])}), q = {row['q_value']:.2g}"
    )
    parts = [
        element(
            "text",
            name_within(row["topic"], 12, left - 10),
            x=left - 8,
            y=y + 4,
            text_anchor="end",
            class_="row-name",
        ),
        element("path", d=f"M{next(ends):.1f} {y:.1f}H{next(ends):.1f}", class_="whisker"),
        element("circle", cx=middle + unit * row["difference"], cy=y, r=4.2, class_="fill" if clear else "ring"),
        element("rect", element("title", told), x=0.0, y=y - _ROW / 2, width=middle * 2, height=_ROW, class_="band"),
    ]
    return [element("g", *parts, class_=topic_class(row["topic"]))]
