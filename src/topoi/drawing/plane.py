"""Plotting area of charts along years: axes, bands, whiskers, and strips that say what a year has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from topoi.drawing.svg import element, path, ticks, year_ticks

Address = Callable[[int], str]
# Widths of a year, in pixels: below it, dark whiskers would hide the columns behind them.
_ROOM_FOR_INK = 6.0


class Plane:
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
        """Horizontal position of the middle of a year."""
        return self.left + (year - self.first + 0.5) * self.step

    def y(self, value: float) -> float:
        """Vertical position of a value."""
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
        kind = "whisker thin" if self.step >= _ROOM_FOR_INK else "whisker fine"
        return element("path", d=f"M{self.x(year):.1f} {bottom:.1f}V{top:.1f}", class_=kind)

    def between(self, years: Sequence[int], lower: Sequence[float | None], upper: Sequence[float | None]) -> str:
        """Path data of the area between two lines."""
        ends = [self.points(years, each) for each in (lower, upper)]
        known = [i for i, (a, b) in enumerate(zip(*ends, strict=True)) if a and b]
        return path([*(ends[1][i] for i in known), *(ends[0][i] for i in reversed(known))]) + "Z" if known else ""

    def band(self, year: int, words: str, *, shown: str | None = None, href: str | None = None) -> Markup:
        """A strip over one year, which leads to its documents; its tooltip, line by line, has the exact numbers.

        Parameters
        ----------
        year : int
            Its place along the axis.
        words : str
            The tooltip; its first line is the heading.
        shown : str, optional
            The year in addresses, if it is not the place along the axis.
        href : str, optional
            Where it leads.
        """
        strip = element(
            "rect",
            element("title", words),
            x=self.x(year) - self.step / 2,
            y=self.top,
            width=self.step,
            height=self.base - self.top,
            class_="band",
            data_year=shown or str(year),
        )
        # Hundreds of stops for the tab key would be in everybody's way: charts.js makes the whole chart one.
        return element("a", strip, href=href, tabindex="-1", class_="at") if href else strip
