"""The lists of a page as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from topoi.errors import NotFoundError

# Characters that make a spreadsheet run a cell as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_TOPIC_COLUMNS = ("topic", "label", "words")

Rows = list[dict[str, Any]]
Tables = Mapping[str, Rows]


def lists_in(view: Mapping[str, Any], **made: Rows) -> dict[str, Rows]:
    """Lists of records in a JSON view, by name; ``made`` are rows of what is no list there.

    Examples
    --------
    >>> from topoi.web.tables import lists_in
    >>> sorted(lists_in({"kind": "word", "topics": [], "documents": [{"title": "x"}]}))
    ['documents', 'topics']
    >>> lists_in({"trend": {"years": [1990], "share": [0.5]}}, trend=[{"year": 1990, "share": 0.5}])
    {'trend': [{'year': 1990, 'share': 0.5}]}
    """
    found: dict[str, Rows] = {}
    for name, value in view.items():
        if name in made:
            found[name] = made[name]
        elif isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
            found[name] = value
    return found


def rows_by_year(table: Mapping[str, Any] | None) -> Rows:
    """Rows of a table along time that a JSON view has by columns; topics in it become columns of their own.

    Examples
    --------
    >>> from topoi.web.tables import rows_by_year
    >>> topics = [{"topic": {"topic": 3}, "share": [0.1, 0.2]}]
    >>> rows_by_year({"years": [1990, 1991], "n_tokens": [7, 9], "topics": topics})
    [{'year': 1990, 'n_tokens': 7, 'topic_3': 0.1}, {'year': 1991, 'n_tokens': 9, 'topic_3': 0.2}]
    """
    if not table:
        return []
    plain = {name: value for name, value in table.items() if name not in ("years", "topics")}
    rows = []
    for at, year in enumerate(table["years"]):
        row: dict[str, Any] = {"year": year} | {name: values[at] for name, values in plain.items()}
        for line in table.get("topics", ()):
            name = f"topic_{line['topic']['topic']}"
            row[name] = line["share"][at]
            row |= {f"{name}_{end}": line[end][at] for end in ("lower", "upper") if end in line}
        rows.append(row)
    return rows


def to_csv(tables: Tables, table: str | None) -> str:
    """One list of a page as CSV; without a name, the first.

    Parameters
    ----------
    tables : mapping
        The lists, by name.
    table : str or None
        Name of the list; an unknown one is a ``NotFoundError`` that lists the names.
    """
    chosen = next(iter(tables), None) if table is None else table
    if chosen is None or chosen not in tables:
        there = f"there are: {', '.join(tables)}" if tables else "it has none"
        raise NotFoundError(f"this page has no table {table!r}; {there}" if table else f"no table: {there}")
    return rows_to_csv(tables[chosen])


def rows_to_csv(rows: list[dict[str, Any]]) -> str:
    r"""Records as lines of CSV, with topics and documents in them flattened to columns.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, as in spreadsheets themselves.

    Examples
    --------
    >>> from topoi.web.tables import rows_to_csv
    >>> rows_to_csv([{"author": "=cmd()", "n_documents": 2}])
    "author,n_documents\r\n'=cmd(),2\r\n"
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow([_cell(name) for name in names])
    for row in flat:
        writer.writerow([_cell(row.get(name)) for name in names])
    return stream.getvalue()


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and "hue" in value and "topic" in value:
            prefix = "" if name == "topic" else f"{name}_"
            shown = {**value, "label": value["label"] or value["auto_label"]}
            columns |= {f"{prefix}{part}": _joined(shown[part]) for part in _TOPIC_COLUMNS}
        elif isinstance(value, Mapping):
            columns |= _flat(value)
        elif isinstance(value, list):
            columns[name] = _joined(value)
        else:
            columns[name] = value
    return columns


def _joined(value: object) -> Any:
    """A list in one cell: names separated by semicolons, words and numbers of topics by spaces."""
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], Mapping):
        if "author" in value[0]:
            return "; ".join(str(item["author"]) for item in value)
        if "hit" in value[0]:
            return "".join(str(item["text"]) for item in value)
        return " ".join(str(item.get("topic", "")) for item in value)
    return " ".join(map(str, value))


def _cell(value: object) -> Any:
    if value is None or (isinstance(value, float) and value - value != 0):
        return ""
    if isinstance(value, str):
        text = value.replace("\0", "\ufffd")
        return f"'{text}" if text.startswith(_FORMULA) else text
    return value
