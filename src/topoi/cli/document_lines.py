"""A document on one line: its year and its title, or its id if it has no title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topoi.cli import look

if TYPE_CHECKING:
    from rich.text import Text


def document_line(start: Text, row: dict[Any, Any], width: int) -> Text:
    """Line of ``start``, then the document's year and title, cut to the width."""
    year = _or_nothing(row.get("year"))
    name = _or_nothing(row.get("title")) or str(row["id"])
    line = start.copy()
    if "year" in row:
        line.append(f"{look.GAP}{year:>4}", style="dim")
    line.append(look.GAP + look.printable(name))
    line.truncate(width, overflow="ellipsis")
    line.rstrip()
    return line


def _or_nothing(value: Any) -> str:
    import pandas as pd

    return "" if value is None or pd.isna(value) else str(value)
