"""Small pictures that lead to documents: bars of years, each a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from topoi.drawing.svg import element
from topoi.drawing.words import count, span

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
