"""Rows into tables, many in one statement.

``executemany`` of single rows gives the interpreter's lock away and takes it back once a row. A thread that computes
beside it has the lock for milliseconds then, and the rows wait. A statement of thousands of rows waits once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

# Rows of a statement: of numbers alone, and of texts or blobs, which are held in memory until it has run.
_NUMBERS, _OTHERS = 2048, 16


def table_columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Columns of a table, with their declared types."""
    return {str(row[1]): str(row[2]) for row in connection.execute(f"PRAGMA table_info({table})")}


def insert_rows(connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows, each with a value for every column of the table; or several rows, one after the other, in each.

    Examples
    --------
    >>> import sqlite3
    >>> from topoi.store.insert import insert_rows
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE pair (a INTEGER, b TEXT)")
    >>> insert_rows(connection, "pair", ((n, "x" * n) for n in range(40)))
    >>> connection.execute("SELECT count(*), sum(a), max(length(b)) FROM pair").fetchone()
    (40, 780, 39)
    """
    kinds = table_columns(connection, table).values()
    width, wanted = len(kinds), _NUMBERS if set(kinds) <= {"INTEGER", "REAL"} else _OTHERS
    n_rows = max(min(wanted, connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width), 1)
    values, full = chain.from_iterable(rows), n_rows * width
    group = list(islice(values, full))

    def groups() -> Iterator[list[Any]]:
        nonlocal group
        while len(group) == full:
            yield group
            group = list(islice(values, full))

    if len(group) == full:
        connection.executemany(_statement(table, width, n_rows), groups())
    if group:
        connection.execute(_statement(table, width, len(group) // width), group)


def _statement(table: str, width: int, n_rows: int) -> str:
    row = f"({', '.join('?' * width)})"
    return f"INSERT INTO {table} VALUES {', '.join([row] * n_rows)}"
