"""Diagnosis of a damaged file after an error: find the values that violate the schema."""

from __future__ import annotations

import sqlite3

_KINDS = {"INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",), "BLOB": ("blob",)}
# Tables that must have rows.
_NEEDED = ("corpus", "model")
# Columns that refer to a node of the model's graph, and one that refers to a topic.
_NODES = (("dag_edge", "parent"), ("dag_edge", "child"), ("document_node", "node"), ("node_trend", "node"))
_REFERENCES = (
    *((table, column, "dag_node", "node") for table, column in _NODES),
    ("dag_node", "topic", "topic", "topic"),
)


def find_damage(connection: sqlite3.Connection) -> str | None:
    """Describe the first value of a wrong type or dangling reference to a node or topic; None if there is none.

    Reads every row: meant for diagnosis after an error, not as a check before use.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.store.check import find_damage
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
    >>> with topoi.open_store(path).connection() as connection:
    ...     find_damage(connection) is None
    True
    """
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'document_search%' "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    for (table,) in tables:
        if table in _NEEDED and connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0:
            return f"table {table} is empty"
        for _, column, kind, required, _, key in connection.execute(f"PRAGMA table_info({table})").fetchall():
            if _has_other_kinds(connection, table, column, kind, bool(required or key)):
                return f"column {column} of table {table} holds something that is no {kind.lower()}"
    for table, column, other, key in _REFERENCES:
        if _names_nothing(connection, table, column, other, key):
            return f"column {column} of table {table} names a {key} that is not there"
    return None


def _names_nothing(connection: sqlite3.Connection, table: str, column: str, other: str, key: str) -> bool:
    query = (
        f"SELECT EXISTS (SELECT 1 FROM {table} AS t WHERE t.{column} IS NOT NULL AND NOT EXISTS "
        f"(SELECT 1 FROM {other} AS o WHERE o.model_id = t.model_id AND o.{key} = t.{column}))"
    )
    return bool(connection.execute(query).fetchone()[0])


def _has_other_kinds(connection: sqlite3.Connection, table: str, column: str, kind: str, required: bool) -> bool:
    kinds = _KINDS[kind] if required else (*_KINDS[kind], "null")
    marks = ", ".join("?" * len(kinds))
    wrong = f"typeof({column}) NOT IN ({marks})"
    if kind == "REAL":
        wrong += f" OR abs({column}) > 1e300"
    if kind == "INTEGER" and column not in ("seed", "year"):
        wrong += f" OR {column} < 0"
    query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {wrong})"
    return bool(connection.execute(query, kinds).fetchone()[0])
