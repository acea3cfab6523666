"""Small pictures that lead to documents: bars of years, each a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

from markupsafe import Markup

from topoi.drawing.colours import hue_class, topic_class
from topoi.drawing.svg import element, name_within, path, picture, ticks
from topoi.drawing.text import fit, spread
from topoi.drawing.words import clip, count, percent, span

# A column may stand for few words, so that its documents are those with any.
LEAST_LINKED = 0.01
BARS_WIDTH, BARS_HEIGHT = 300.0, 76.0


def year_bars(rows: Sequence[Mapping[str, Any]], address: Callable[[Mapping[str, Any]], str]) -> Markup:
    """Numbers of documents by year or by span of years, as columns that are links.

    Parameters
    ----------
    rows : sequence of mappings
        first, last (years, both included), n_documents, is_chosen.
    address : callable
        Function of a row that returns where its column leads.

    Examples
    --------
    >>> rows = [{"first": 1990, "last": 1994, "n_documents": n, "is_chosen": False} for n in (3, 7)]
    >>> year_bars(rows, lambda row: f"/d?from={row['first']}").count("<a ")
    2
    """
    if not rows:
        return Markup("")
    most = max(row["n_documents"] for row in rows) or 1
    step, base, top = BARS_WIDTH / len(rows), BARS_HEIGHT - 16, 4.0
    marks = [
        _column(row, i * step, step, base, (base - top) * row["n_documents"] / most, address(row))
        for i, row in enumerate(rows)
    ]
    first, last = str(rows[0]["first"]), str(rows[-1]["last"])
    marks += [
        element("path", d=f"M0 {base + 0.5}H{BARS_WIDTH:.0f}", class_="base"),
        element("text", first, x=0.0, y=BARS_HEIGHT - 3, class_="axis"),
        element("text", last, x=BARS_WIDTH, y=BARS_HEIGHT - 3, text_anchor="end", class_="axis"),
    ]
    label = f"Documents by year, {first} to {last}; each column leads to its documents"
    box = f"0 0 {BARS_WIDTH:.0f} {BARS_HEIGHT:.0f}"
    return element("svg", *marks, class_="year-bars", viewBox=box, role="group", aria_label=label)


def _column(row: Mapping[str, Any], x: float, step: float, base: float, height: float, address: str) -> Markup:
    words = f"{span(row['first'], row['last'])}: {count(row['n_documents'], 'document')}"
    shown = max(height, 1.5) if row["n_documents"] else 0.0
    kind = "chosen" if row["is_chosen"] else "plain"
    return element(
        "a",
        element("title", words),
        # The whole strip can be clicked, not only the column in it.
        element("rect", x=x, y=0.0, width=step, height=base, class_="strip"),
        element("rect", x=x + 0.08 * step, y=base - shown, width=0.84 * step, height=shown, class_=f"column {kind}"),
        href=address,
        aria_label=words,
    )


def times(ratio: float) -> str:
    """A ratio in words.

    Examples
    --------
    >>> times(3.24), times(12.7), times(0.5), times(2500.0)
    ('3.2×', '13×', '0.50×', 'over 1000×')
    """
    if ratio > 1000:
        return "over 1000×"
    return f"{_digits(ratio)}×"


def times_between(lower: float, upper: float) -> str:
    """The interval of a ratio.

    Examples
    --------
    >>> times_between(1.25, 12.2), times_between(2.0, 5000.0)
    ('1.2–12', '2.0 or more')
    """
    return f"{_digits(lower)} or more" if upper > 1000 else f"{_digits(lower)}–{_digits(upper)}"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


_SPAN_WIDTH, _SPAN_HEIGHT = 220.0, 64.0


def beside(
    topic: Mapping[str, Any], spans: Sequence[tuple[int, int]], address: Callable[[int, int], str] | None
) -> Markup:
    """A topic's share of an author's words in spans of years as columns, with a line where the collection is.

    Parameters
    ----------
    topic : mapping
        topic (a summary), share (null where there are no words), whole (the collection's share).
    spans : sequence of (int, int)
        First and last year of each span.
    address : callable, optional
        Function of a first and a last year that returns where a column leads.

    Examples
    --------
    >>> row = {"topic": {"topic": 3, "hue": 10, "glue": False}, "share": [0.2, None], "whole": [0.1, 0.1]}
    >>> picture = beside(row, [(1990, 1994), (1995, 1999)], None)
    >>> picture.count("column fill"), picture.count("usual")
    (1, 2)
    """
    shares, usual = topic["share"], topic["whole"]
    most = max([*(share for share in shares if share is not None), *usual, 1e-9])
    step, base, top = _SPAN_WIDTH / len(spans), _SPAN_HEIGHT - 15, 3.0
    marks = []
    for at, ((first, last), share, whole) in enumerate(zip(spans, shares, usual, strict=True)):
        x, y = at * step, base - (base - top) * whole / most
        own = "no words" if share is None else percent(share)
        words = f"{span(first, last)}: {own} of the author’s words, {percent(whole)} of all"
        parts = [element("title", words), element("rect", x=x, y=0.0, width=step, height=base, class_="strip")]
        if share is not None:
            height = max((base - top) * share / most, 1.0)
            parts.append(
                element(
                    "rect", x=x + 0.1 * step, y=base - height, width=0.8 * step, height=height, class_="column fill"
                )
            )
        parts.append(element("path", d=f"M{x + 1:.1f} {y:.1f}h{step - 2:.1f}", class_="usual"))
        if address is not None and share is not None:
            marks.append(element("a", *parts, href=address(first, last), aria_label=words))
        else:
            marks.append(element("g", *parts))
    marks += [
        element("path", d=f"M0 {base + 0.5}H{_SPAN_WIDTH:.0f}", class_="base"),
        element("text", str(spans[0][0]), x=0.0, y=_SPAN_HEIGHT - 2, class_="axis"),
        element("text", str(spans[-1][1]), x=_SPAN_WIDTH, y=_SPAN_HEIGHT - 2, text_anchor="end", class_="axis"),
    ]
    box = f"0 0 {_SPAN_WIDTH:.0f} {_SPAN_HEIGHT:.0f}"
    name = topic["topic"].get("label") or topic["topic"].get("auto_label") or f"topic {topic['topic']['topic']}"
    label = f"{name} by years: columns are the author’s share, lines that of the whole collection"
    return element("svg", *marks, class_="beside", viewBox=box, role="group", aria_label=label)


def spans(view: Mapping[str, Any]) -> list[tuple[int, int]]:
    """First and last years of spans that a JSON view has by columns.

    Examples
    --------
    >>> spans({"first": [1990, 1995], "last": [1994, 1999]})
    [(1990, 1994), (1995, 1999)]
    """
    return list(zip(view["first"], view["last"], strict=True))


def word_address(link: Any, word: str) -> Callable[[Mapping[str, Any]], str]:
    """Function of two years that returns the address of the documents with a word in that time."""

    def of(years: Mapping[str, Any]) -> str:
        return str(link.documents(q=word.replace("_", " "), **{"from": years["first"], "to": years["last"]}))

    return of


def address(link: Any, author: int, topic: int) -> Callable[[int, int], str]:
    """Function of two years that returns the address of an author's documents about a topic in that time."""

    def of(first: int, last: int) -> str:
        years: dict[str, Any] = {"year": first} if first == last else {"from": first, "to": last}
        return str(link.documents(author=author, topic=topic, least=LEAST_LINKED, **years))

    return of


def word_chart(years: Mapping[str, Any], address: Callable[[Mapping[str, Any]], str] | None = None) -> Markup:
    """A word's share of all words along time, stacked by topic; several words as lines.

    Parameters
    ----------
    years : mapping
        first, last (spans of years), words (word, hue, share), topics (topic, share).
    address : callable, optional
        Function of a span's first and last year that returns where its column leads.

    Examples
    --------
    >>> word = {"word": "tax", "hue": 10, "share": [0.1, 0.2]}
    >>> years = {"first": [1990, 1991], "last": [1990, 1991], "words": [word], "topics": []}
    >>> "tax" in word_chart(years)
    True
    """
    words = years["words"]
    names = ", ".join(clip(one["word"], 30) for one in words)
    several = len(words) > 1
    peak = max(range(len(years["first"])), key=lambda at: max(one["share"][at] for one in words))
    label = (
        f"Share of all words by year: {names}; highest {span(years['first'][peak], years['last'][peak])} with "
        f"{_per_mille(max(one['share'][peak] for one in words))}"
    )

    def draw(width: float) -> tuple[float, Markup]:
        plane = _Years(years, width)
        marks = plane.axes()
        marks += plane.word_lines() if several else plane.stack()
        return plane.full_height, Markup("").join([*marks, *plane.strips(address)])

    return picture(draw, label, role="group", kind="word-years")


_NAME_HEIGHT = 18.0


class _Years:
    """Plotting area of words along time."""

    def __init__(self, years: Mapping[str, Any], width: float) -> None:
        self.years, self.width, self.height = years, width, 220.0 if width > 500 else 180.0
        self.left, self.right = 46.0, width - (130.0 if width > 500 else 8.0)
        self.base, self.top = self.height - 22, 12.0
        n_named = len(years["words"]) if len(years["words"]) > 1 else len(years["topics"]) + 1
        # In a narrow picture names stand below the years, two in a row.
        rows = 0 if width > 500 or n_named == 1 else -(-n_named // 2)
        self.full_height = self.height + (8.0 + _NAME_HEIGHT * rows if rows else 0.0)
        self.high = max([share for one in years["words"] for share in one["share"]] + [1e-9])
        self.n = len(years["first"])
        self.step = (self.right - self.left) / self.n

    def y(self, share: float) -> float:
        return self.base - (self.base - self.top) * share / self.high

    def middle(self, at: int) -> float:
        return self.left + (at + 0.5) * self.step

    def axes(self) -> list[Markup]:
        marks = []
        for value in ticks(self.high * 1000, 3):
            y = round(self.y(value / 1000)) + 0.5
            marks.append(
                element("path", d=f"M{self.left:.0f} {y}H{self.right:.0f}", class_="base" if not value else "grid")
            )
            if value:
                words = f"{value:g}\u202f‰"
                marks.append(element("text", words, x=self.left - 6, y=y + 3.5, text_anchor="end", class_="axis"))
        every = max(-(-self.n * 48 // int(self.right - self.left)), 1)
        for at in range(0, self.n, every):
            first = str(self.years["first"][at])
            marks.append(
                element("text", first, x=self.middle(at), y=self.height - 6, text_anchor="middle", class_="axis")
            )
        return marks

    def stack(self) -> list[Markup]:
        """Columns of one word, each topic's part in its hue, the rest on top of them."""
        own, topics = self.years["words"][0]["share"], self.years["topics"]
        marks, below = [], [0.0] * self.n
        for one in topics:
            kind = f"fill {topic_class(one['topic'])}"
            marks += [
                self._part(at, below[at], below[at] + share, kind) for at, share in enumerate(one["share"]) if share
            ]
            below = [a + b for a, b in zip(below, one["share"], strict=True)]
        marks += [self._part(at, below[at], total, "rest") for at, total in enumerate(own) if total > below[at]]
        return marks + (self._legend() if topics else [])

    def _part(self, at: int, low: float, high: float, kind: str) -> Markup:
        top = self.y(high)
        x, wide = self.left + (at + 0.08) * self.step, 0.84 * self.step
        return element("rect", x=x, y=top, width=wide, height=max(self.y(low) - top, 0.0), class_=kind)

    def _legend(self) -> list[Markup]:
        room = 98.0 if self.width > 500 else (self.width - self.left) / 2 - 24
        names = [
            (name_within(one["topic"], 12, room), f"fill {topic_class(one['topic'])}") for one in self.years["topics"]
        ]
        marks = []
        for at, (name, kind) in enumerate([*names, ("other topics", "rest")]):
            x, y = self._place_of_name(at)
            swatch = element("rect", x=x, y=y - 8, width=9.0, height=9.0, class_=kind)
            marks += [swatch, element("text", name, x=x + 14, y=y, class_="axis name")]
        return marks

    def _place_of_name(self, at: int) -> tuple[float, float]:
        """Where the name of a part stands: beside a wide picture, below a narrow one."""
        if self.width > 500:
            return self.right + 12, self.top + 8 + _NAME_HEIGHT * at
        row, column = divmod(at, 2)
        return self.left + column * (self.width - self.left) / 2, self.height + 14 + _NAME_HEIGHT * row

    def word_lines(self) -> list[Markup]:
        """A line for each word, named at its end."""
        marks, ends = [], []
        for at, one in enumerate(self.years["words"]):
            kind = f"{hue_class(one['hue'])} line" + (f" dash{at % 4}" if at % 4 else "")
            points = [(self.middle(i), self.y(share)) for i, share in enumerate(one["share"])]
            marks.append(element("path", d=path(points), class_=kind))
            ends.append((points[-1][1], clip(one["word"], 20), hue_class(one["hue"])))
        if self.width <= 500:
            return marks + [
                element(
                    "text", fit(name, 12, 0.45 * (self.width - self.left)), x=x, y=y, class_=f"axis name fill {kind}"
                )
                for at, (_, name, kind) in enumerate(ends)
                for x, y in [self._place_of_name(at)]
            ]
        places = spread([y for y, *_ in ends], 15, self.top, self.base)
        return marks + [
            element("text", fit(name, 12, 112), x=self.right + 8, y=y + 4, class_=f"axis name fill {kind}")
            for y, (_, name, kind) in zip(places, ends, strict=True)
        ]

    def strips(self, address: Callable[[Mapping[str, Any]], str] | None) -> list[Markup]:
        """Invisible strips with exact numbers, which lead to documents."""
        marks = []
        for at in range(self.n):
            first, last = self.years["first"][at], self.years["last"][at]
            shares = "; ".join(f"{clip(one['word'], 30)} {_per_mille(one['share'][at])}" for one in self.years["words"])
            words = f"{span(first, last)}: {shares}"
            place = {"x": self.left + at * self.step, "y": self.top, "width": self.step, "height": self.base - self.top}
            strip = element("rect", element("title", words), class_="band", **place)
            where = None if address is None else address({"first": first, "last": last})
            marks.append(strip if where is None else element("a", strip, href=where, aria_label=words))
        return marks


def _per_mille(share: float) -> str:
    return f"{1000 * share:.2g}\u202f‰" if share < 0.01 else percent(share)


def ratio(score: float) -> float:
    """The ratio whose logarithm is a score.

    Examples
    --------
    >>> ratio(0.0)
    1.0
    """
    return float(exp(min(score, 20.0)))
