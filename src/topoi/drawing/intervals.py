"""Predicted shares of topics for names or categories: bars with intervals, or bars divided among all topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import topic_class
from topoi.drawing.curves import Page, band_words
from topoi.drawing.svg import element, ticks, topic_name
from topoi.drawing.text import fit
from topoi.drawing.words import percent, percent_mark

_ROW, _BAR = 24.0, 11.0
_FOOT = 20.0
_N_TOLD = 6


def rows_height(page: Page) -> float:
    """Height of a picture with a row for each name."""
    return _ROW * len(page["at"]) + _FOOT


def intervals(page: Page, curve: Mapping[str, Any], high: float) -> Callable[[float], Markup]:
    """A bar for each name, with a whisker over its band."""

    def draw(width: float) -> Markup:
        left, right = _sides(width)
        unit = (right - left) / high

        def mark(i: int, top: float) -> list[Markup]:
            middle = top + _ROW / 2
            ends = left + unit * curve["lower"][i], left + unit * min(curve["upper"][i], high)
            bar = element(
                "rect",
                x=left,
                y=middle - _BAR / 2,
                width=max(0.6, unit * min(curve["mean"][i], high)),
                height=_BAR,
                rx=2,
                class_="fill soft",
            )
            whisker = f"M{ends[0]:.1f} {middle:.1f}H{ends[1]:.1f}"
            return [bar, element("path", d=whisker, class_="whisker")]

        words = [f"{name}: {band_words(curve, i)}" for i, name in enumerate(page["at"])]
        return element("g", *_rows(page, width, high, mark, words), class_=topic_class(curve["topic"]))

    return draw


def divided(page: Page, group: Mapping[str, Any]) -> Callable[[float], Markup]:
    """A bar for each name, divided among all topics."""
    curves = group["curves"]

    def draw(width: float) -> Markup:
        left, right = _sides(width)

        def mark(i: int, top: float) -> list[Markup]:
            parts, start = [], left
            total = sum(curve["mean"][i] for curve in curves) or 1.0
            for curve in curves:
                wide = (right - left) * curve["mean"][i] / total
                if wide >= 0.3:
                    kind = f"area {topic_class(curve['topic'])}"
                    parts.append(
                        element("rect", x=start, y=top + (_ROW - 16) / 2, width=wide, height=16.0, class_=kind)
                    )
                start += wide
            return parts

        words = [f"{name}: {_largest(curves, i)}" for i, name in enumerate(page["at"])]
        return element("g", *_rows(page, width, 1.0, mark, words))

    return draw


def _largest(curves: Sequence[Mapping[str, Any]], i: int) -> str:
    pairs = sorted(((curve["mean"][i], topic_name(curve["topic"])) for curve in curves), reverse=True)
    return ", ".join(f"{name} {percent(share)}" for share, name in pairs[:_N_TOLD])


def _sides(width: float) -> tuple[float, float]:
    return round(min(190.0, 0.36 * width)), width - 12.0


def _rows(
    page: Page, width: float, high: float, mark: Callable[[int, float], list[Markup]], words: Sequence[str]
) -> list[Markup]:
    """Grid, names at the left, the marks of each row, and strips with tooltips."""
    left, right = _sides(width)
    base = _ROW * len(page["at"])
    marks: list[Markup] = []
    for share in ticks(high, 4 if right - left > 240 else 3):
        x = round(left + (right - left) * share / high) + 0.5
        marks.append(element("path", d=f"M{x} 0V{base:.0f}", class_="base" if share == 0 else "grid"))
        marks.append(
            element(
                "text", percent_mark(share) if share else "0", x=x, y=base + 14, text_anchor="middle", class_="axis"
            )
        )
    for i, name in enumerate(page["at"]):
        top = _ROW * i
        text = fit(str(name), 12, left - 12)
        marks.append(element("text", text, x=left - 8, y=top + _ROW / 2 + 4, text_anchor="end", class_="row-name"))
        marks += mark(i, top)
    marks += [
        element("rect", element("title", told), x=0.0, y=_ROW * i, width=right, height=_ROW, class_="band")
        for i, told in enumerate(words)
    ]
    return marks
