"""The lists of a page as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from topoi.errors import NotFoundError

# Characters that make a spreadsheet run a cell as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_FACE_COLUMNS = ("topic", "label", "words")


def tables_of(page: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Lists of records in a page, by name, including those one level down, such as a result's.

    Examples
    --------
    >>> from topoi.web.tables import tables_of
    >>> sorted(tables_of({"kind": "word", "topics": [], "documents": [{"title": "x"}]}))
    ['documents', 'topics']
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name, value in page.items():
        if name in ("pieces", "authors", "exclude", "choices") and value and not isinstance(value[0], Mapping):
            continue
        if name == "trend" or name == "by_year":
            found[name] = _columns_to_rows(value) if value else []
        elif name == "matrix":
            found[name] = _matrix_rows(value) if value else []
        elif name == "result" and value:
            found |= tables_of(value)
        elif isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
            found[name] = value
    if page.get("kind") == "metadata":
        found = {"curves": _curve_rows(page)} | {name: found[name] for name in ("linked", "choices") if name in found}
    if page.get("kind") == "trends":
        found["series"] = _series_rows(page)
    return found


def to_csv(page: Mapping[str, Any], table: str | None) -> str:
    """One list of a page as CSV; without a name, the first.

    Parameters
    ----------
    page : mapping
        The JSON view of a page.
    table : str or None
        Name of the list; an unknown one is a ``NotFoundError`` that lists the names.
    """
    tables = tables_of(page)
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
            columns |= {f"{prefix}{part}": _joined(value[part]) for part in _FACE_COLUMNS}
        elif isinstance(value, Mapping):
            columns |= _flat(value)
        elif isinstance(value, list):
            columns[name] = _joined(value)
        else:
            columns[name] = value
    return columns


def _joined(value: Any) -> Any:
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


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and value - value != 0):
        return ""
    if isinstance(value, str):
        text = value.replace("\0", "\ufffd")
        return f"'{text}" if text.startswith(_FORMULA) else text
    return value


def _columns_to_rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table stored by columns; topics in it become columns of their own."""
    plain = {name: value for name, value in table.items() if name not in ("years", "topics")}
    rows = []
    for at, year in enumerate(table["years"]):
        row: dict[str, Any] = {"year": year} | {name: values[at] for name, values in plain.items()}
        row |= {f"topic_{line['topic']['topic']}": line["share"][at] for line in table.get("topics", ())}
        rows.append(row)
    return rows


def _series_rows(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = {"years": page["years"], "n_tokens": page["n_tokens"], "topics": page["series"]}
    return _columns_to_rows(columns)


def _curve_rows(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for every position along the feature, group and topic."""
    return [
        {"feature": page["along"], "at": at, "given": group["name"], "topic": curve["topic"]["topic"]}
        | {name: curve[name][i] for name in ("mean", "lower", "upper")}
        for group in page["groups"]
        for curve in group["curves"]
        for i, at in enumerate(page["at"])
    ]


def _matrix_rows(matrix: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = [f"topic_{k}" for k in matrix["columns"]]
    rows = zip(matrix["rows"], matrix["shared"], strict=True)
    return [{"topic": k} | dict(zip(columns, shares, strict=True)) for k, shares in rows]
