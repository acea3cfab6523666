"""Parser of feature values on the command line: ``year=1893``, ``year=1900:1950:10``, ``"authors=Ann; Bob"``."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topoi.errors import ModelError

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 10_000


def grid(given: Sequence[str], columns: Sequence[Any]) -> pd.DataFrame:
    """Build a frame with a row for every combination of the values; features without a value are missing in all rows.

    ``columns`` are the model's (``feature_columns_``). Several values of a feature are given as several arguments;
    numbers also separated by commas, or as a range ``first:last`` or ``first:last:step``, ends included. Names in one
    value are separated by semicolons.

    Examples
    --------
    >>> from topoi.models.features.columns import Names, Number
    >>> year, authors = Number("year", False, 1950, 9, 1900, 2000), Names("authors", ["Ann", "Bob"], False)
    >>> found = grid(["year=1900:1910:5", "authors=Ann; Bob"], [year, authors])
    >>> found["year"].tolist(), found["authors"].tolist()[0]
    ([1900, 1905, 1910], ['Ann', 'Bob'])
    """
    import pandas as pd

    by_name = {column.name: column for column in columns}
    values: dict[str, list[Any]] = {name: [] for name in by_name}
    for each in given:
        name, equals, text = (piece.strip() for piece in each.partition("="))
        if not equals:
            raise typer.BadParameter(f"{each!r}: write FEATURE=VALUE; the model's features are {_listed(by_name)}")
        if name not in by_name:
            raise typer.BadParameter(f"{each!r}: the model has no feature {name!r}; there are {_listed(by_name)}")
        if not text:
            raise typer.BadParameter(f"{each!r}: no value; to leave it open, leave {name} out")
        values[name] += _values(each, text, by_name[name])
    n_rows = 1
    for found in values.values():
        n_rows *= max(len(found), 1)
        if n_rows > MOST_ROWS:
            raise typer.BadParameter(f"these are more than {MOST_ROWS:,} combinations; ask for fewer values")
    rows = product(*(found or [None] for found in values.values()))
    return pd.DataFrame(dict(zip(values, map(_series, zip(*rows, strict=True)), strict=True)))


def _series(values: Any) -> Any:
    import pandas as pd

    return pd.Series(list(values), dtype=object)


def _listed(names: Any) -> str:
    return ", ".join(names) or "none"


def _names(text: str, column: object) -> list[str]:
    """Split names at semicolons, unless the whole is a known name that contains one."""
    if text.strip() in getattr(column, "levels", ()):
        return [text.strip()]
    return [part.strip() for part in text.split(";") if part.strip()]


def _values(whole: str, text: str, column: Any) -> list[Any]:
    if column.kind != "number":
        return [text if getattr(column, "single", False) else _names(text, column)]
    found: list[Any] = []
    for part in text.split(","):
        ends = [_number(piece) for piece in part.split(":")]
        if len(ends) > 1 and all(end is not None for end in ends):
            found += _range(whole, ends)
        elif ends[0] is not None and len(ends) == 1:
            found.append(ends[0])
        elif column.date:
            found.append(_date(whole, part.strip()))
        else:
            raise typer.BadParameter(f"{whole!r}: {part.strip()!r} is no number, nor a range such as 1900:1950:10")
    return found


def _number(text: str) -> int | float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not abs(number) < float("inf"):
        return None
    return int(number) if number.is_integer() else number


def _range(whole: str, ends: list[Any]) -> list[Any]:
    """Numbers from first to last, the last included if a step meets it."""
    first, last, step = [*ends, 1][:3]
    if len(ends) > 3 or step == 0 or (last - first) / step < 0:
        raise typer.BadParameter(f"{whole!r}: a range is FIRST:LAST or FIRST:LAST:STEP, with a step that leads there")
    n = int((last - first) / step + 1e-9) + 1
    if n > MOST_ROWS:
        raise typer.BadParameter(f"{whole!r}: more than {MOST_ROWS:,} values; use a larger step")
    return [first + i * step for i in range(n)]


def _date(whole: str, text: str) -> str:
    from topoi.corpus.metadata import parse_date
    from topoi.errors import CorpusError

    try:
        parse_date(text)
    except CorpusError:
        message = (
            f"{whole!r}: {text!r} is neither a year, nor a date such as 2004-07-08, nor a range such as 1900:1950:10"
        )
        raise typer.BadParameter(message) from None
    return text


def read_table(path: Path, columns: Sequence[Any]) -> pd.DataFrame:
    """Read a file of features, one row per document: .csv, .tsv, .jsonl or .parquet, with or without .gz.

    Names in one cell of a .csv or .tsv are separated by semicolons, as ``topoi fit`` reads them.
    """
    import pandas as pd

    if not path.exists():
        raise FileNotFoundError(2, "No such file", str(path))
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((".csv", ".tsv", ".jsonl", ".json", ".parquet")):
        raise ModelError(f"{path}: give a .csv, .tsv, .jsonl or .parquet file of features")
    try:
        if name.endswith((".csv", ".tsv")):
            frame = pd.read_csv(path, sep="," if name.endswith(".csv") else "\t", dtype=object, keep_default_na=False)
        elif name.endswith(".parquet"):
            frame = pd.read_parquet(path)
        else:
            frame = pd.DataFrame(_json_lines(path), dtype=object)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is no table of features: {error}") from None
    missing = [column.name for column in columns if column.name not in frame]
    if missing:
        raise ModelError(f"{path} has no column {missing[0]!r}; it has {_listed(map(str, frame))}")
    if not len(frame):
        raise ModelError(f"{path} has no rows")
    return pd.DataFrame({column.name: _series(_cells(frame[column.name], column)) for column in columns})


def _json_lines(path: Path) -> list[dict[str, Any]]:
    read = gzip.open if path.name.lower().endswith(".gz") else open
    with read(path, "rt", encoding="utf-8") as lines:
        text = lines.read()
    array = text.lstrip()[:1] == "["
    found = json.loads(text) if array else [json.loads(line) for line in text.split("\n") if line.strip()]
    if not all(isinstance(row, dict) for row in found):
        raise ValueError("a record is no object")
    return found


def _cells(values: Any, column: Any) -> list[Any]:
    many = column.kind != "number" and not getattr(column, "single", False)
    found = []
    for value in values:
        if isinstance(value, str):
            value = value.strip()
            value = _names(value, column) if many else value or None
        if column.kind == "number" and isinstance(value, str):
            number = _number(value)
            value = value if number is None else number
        found.append(value)
    return found


def notes(frame: pd.DataFrame, columns: Sequence[Any], given: bool) -> list[str]:
    """Notes about features without values; ``predict`` itself warns of unknown names and of numbers out of range."""
    from topoi.models.features.columns import is_missing

    found = []
    for column in columns:
        if given and all(is_missing(value) for value in frame[column.name].tolist()):
            open_to = "its mean" if column.kind == "number" else "somebody or something new"
            found.append(f"{column.name} is not given: taken as {open_to}")
    return found
