"""Aligned tables on standard output, progress on standard error, and everything once more as JSON."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_BEGIN = time.perf_counter()


def progress(message: str) -> None:
    """One line on standard error with the minutes since the start."""
    seconds = time.perf_counter() - _BEGIN
    print(f"[{int(seconds // 60):2d}:{seconds % 60:04.1f}] {message}", file=sys.stderr, flush=True)


def table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """Rows as aligned text: ``columns`` maps keys to headings with an optional format after a bar (``"ratio|.2f"``).

    A missing value is a dash; a repeated value in the leading text columns is printed all the same, so that any line
    can be read alone.
    """
    heads = [heading.partition("|")[0] for heading in columns.values()]
    formats = [heading.partition("|")[2] for heading in columns.values()]
    cells = [[cell(row.get(key), form) for key, form in zip(columns, formats, strict=True)] for row in rows]
    numeric = [any(isinstance(row.get(key), int | float) for row in rows) for key in columns]
    widths = [max(len(line[c]) for line in [heads, *cells]) for c in range(len(heads))]
    lines = [_line(heads, widths, numeric), "  ".join("-" * width for width in widths)]
    return "\n".join([*lines, *(_line(line, widths, numeric) for line in cells)])


def cell(value: Any, form: str) -> str:
    if value is None:
        return "–"
    return format(value, form) if form and isinstance(value, int | float) else str(value)


def _line(cells: Iterable[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    placed = [
        cell.rjust(width) if number else cell.ljust(width)
        for cell, width, number in zip(cells, widths, numeric, strict=True)
    ]
    return "  ".join(placed).rstrip()


class Report:
    """Prints each section as it comes and remembers it for the JSON file."""

    def __init__(self) -> None:
        self.sections: dict[str, Any] = {}

    def note(self, key: str, lines: Mapping[str, Any]) -> None:
        """Facts about the run, one a line."""
        self.sections[key] = dict(lines)
        width = max(len(name) for name in lines)
        print("\n".join(f"{name.ljust(width)}  {value}" for name, value in lines.items()), flush=True)

    def section(
        self, key: str, title: str, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], remark: str = ""
    ) -> None:
        """One table under its title, and a remark that says how to read it."""
        self.sections.setdefault(key, []).extend(dict(row) for row in rows)
        print(f"\n{title}\n{'=' * len(title)}\n{table(rows, columns)}", flush=True)
        if remark:
            print(remark, flush=True)

    def write(self, path: Path | None) -> None:
        """All sections as one JSON object; nothing without a path."""
        if path is not None:
            path.write_text(json.dumps(self.sections, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def add_json(parser: ArgumentParser) -> None:
    """The option of every benchmark that keeps its numbers; ``record`` reads them."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to this file, too")
