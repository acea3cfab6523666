"""Tables and captions in Markdown from the numbers that ``record`` keeps."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from .report import cell

Kept = Mapping[str, Any]
Row = Mapping[str, Any]


def table(rows: Sequence[Row], columns: Mapping[str, str], once: int = 0) -> str:
    """Rows as a Markdown table: ``columns`` maps keys to headings with an optional format after a bar.

    Of the first ``once`` columns a value that stands above is not repeated.
    """
    heads = [heading.partition("|")[0] for heading in columns.values()]
    formats = [heading.partition("|")[2] for heading in columns.values()]
    numeric = [any(isinstance(row.get(key), int | float) for row in rows) for key in columns]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join('---:' if number else '---' for number in numeric)}|"]
    above: list[str] = []
    for row in rows:
        cells = [minus(cell(row.get(key), form)) for key, form in zip(columns, formats, strict=True)]
        same = next((i for i, pair in enumerate(zip(cells, above, strict=False)) if pair[0] != pair[1]), len(above))
        above = cells
        shown = ["" if i < min(same, once) else each for i, each in enumerate(cells)]
        lines.append("|" + "".join(f" {each} |" if each else " |" for each in shown))
    return "\n".join(lines)


def minus(text: str) -> str:
    """A number's sign as it is set in print."""
    return "−" + text[1:] if text.startswith("-") and text[1:2].isdigit() else text


def caption(*runs: Kept, peers: Sequence[str] = ()) -> str:
    """How, when and on which machine numbers were made, and which versions took part."""
    commands = " and ".join(dict.fromkeys(f"`{run['about']['command']}`" for run in runs))
    days = " and ".join(dict.fromkeys(day(run) for run in runs))
    machines = "; ".join(dict.fromkeys(run["about"]["machine"] for run in runs))
    versions = "".join(f"; {name} {runs[0]['about']['versions'][name]}" for name in peers)
    return f"*{commands}, {days}: {machines}{versions}.*"


def shown(parts: Sequence[str], *runs: Kept, peers: Sequence[str] = ()) -> str:
    """Tables and sentences one below the other, with a caption."""
    return "\n\n".join((*parts, caption(*runs, peers=peers)))


def day(run: Kept) -> str:
    """The day of a run, for people."""
    made = datetime.date.fromisoformat(run["about"]["made"])
    return f"{made.day} {made:%B %Y}"


def span(values: Sequence[float], digits: int = 1) -> str:
    """The least and the largest of some numbers, or one if they are written alike."""
    low, high = (f"{value:,.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def pick(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def beside(rows: Sequence[Row], by: Sequence[str], name: str, values: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each combination of ``by``, with the values of every name beside each other, as ``value name``."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[each] for each in by)
        into = found.setdefault(key, dict(zip(by, key, strict=True)))
        into |= {f"{value} {row[name]}": row.get(value) for value in values}
    return list(found.values())
