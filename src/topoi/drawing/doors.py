"""Small pictures that lead to documents: bars of years, each a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.svg import element
from topoi.drawing.words import count, percent, span

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
    >>> picture.count("column"), picture.count("usual")
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


def address(link: Any, author: int, topic: int) -> Callable[[int, int], str]:
    """Function of two years that returns the address of an author's documents about a topic in that time."""

    def of(first: int, last: int) -> str:
        years: dict[str, Any] = {"year": first} if first == last else {"from": first, "to": last}
        return str(link.documents(author=author, topic=topic, least=LEAST_LINKED, **years))

    return of
