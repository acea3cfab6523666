"""Output of frames: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import numbers
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from topoi.cli import look
from topoi.cli.look import console, percent, printable
from topoi.errors import safe_text

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

SHARES = ("probability", "share")
# Characters that control a terminal and that JSON does not escape; escaped, they decode to the same.
_NOT_ESCAPED = re.compile("[\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]")
LIST_SEPARATOR = "; "


def print_frame(
    frame: pd.DataFrame,
    *,
    as_json: bool = False,
    as_csv: bool = False,
    render: Callable[[pd.DataFrame, Console], None] | None = None,
) -> None:
    """Print a frame on standard output; as JSON or CSV, nothing else is printed there.

    Parameters
    ----------
    frame
        The frame. Cells may be lists, which become arrays in JSON and are joined by ``"; "`` in CSV.
    as_json, as_csv
        The format; with neither, a table for people.
    render
        Function that prints the table for people; a plain table by default.
    """
    if as_json:
        look.say(json_text(frame))
    elif as_csv:
        text = csv_text(frame)
        # Programs get the data unchanged; on a terminal, control characters are escaped.
        typer.echo(safe_text(text) if sys.stdout.isatty() else text, nl=False, color=True)
    else:
        screen = console()
        if render is None:
            screen.print(plain_table(frame))
        else:
            render(frame, screen)


def check_one_format(as_json: bool, as_csv: bool) -> None:
    """Refuse ``--json`` and ``--csv`` together, before anything is computed."""
    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")


def json_text(frame: pd.DataFrame) -> str:
    """JSON array with one object per row, each on its own line for reading and diffs."""
    if frame.empty:
        return "[]"
    rows = frame.to_json(orient="records", lines=True, force_ascii=False, double_precision=15, date_format="iso")
    text = "[\n" + ",\n".join(rows.strip("\n").split("\n")) + "\n]"
    return _NOT_ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def csv_text(frame: pd.DataFrame) -> str:
    """Comma-separated values with a header; lists are joined."""
    flat = frame.map(lambda cell: LIST_SEPARATOR.join(map(str, cell)) if isinstance(cell, list) else cell)
    return flat.to_csv(index=False, lineterminator="\n")


def plain_table(frame: pd.DataFrame) -> Table:
    """Table without boxes: numbers right-aligned, shares in per cent, one rule under the header."""
    from pandas.api.types import is_numeric_dtype
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False, padding=(0, 1))
    for name in frame.columns:
        table.add_column(
            str(name).replace("_", " "), justify="right" if is_numeric_dtype(frame[name]) else "left", overflow="fold"
        )
    for row in frame.itertuples(index=False, name=None):
        table.add_row(*(_cell(str(name), value) for name, value in zip(frame.columns, row, strict=True)))
    return table


def _cell(name: str, value: object) -> str:
    import pandas as pd

    if isinstance(value, list):
        return LIST_SEPARATOR.join(map(printable, value))
    if pd.isna(value):  # type: ignore[call-overload]
        return ""
    if name.endswith(SHARES):
        return percent(float(value))  # type: ignore[arg-type]
    if name.startswith("n_") and isinstance(value, numbers.Real):
        return f"{float(value):,.1f}".removesuffix(".0")  # expected numbers need not be whole
    if isinstance(value, float):
        return f"{value:,.4g}"
    return printable(value)
