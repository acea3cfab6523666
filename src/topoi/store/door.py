"""Checks of a store before it is used: the sizes it claims are those of its tables; and a diagnosis after an error.

The checks read indexes and a few rows, however large the file: sizes are counted and compared with the claimed ones,
and no memory is allocated for a size that is only claimed. Rows are checked as they are read (``topoi.store.rows``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from topoi.corpus.checked_json import Between, read_json
from topoi.errors import StoreError
from topoi.store.rows import MOST_TOPICS, read_rows

_NUMBERED = (("document", "document_id"), ("word", "word_id"), ("author", "author_id"))
_WIDTHS = {"word_id_bytes": (2, 4), "start_bytes": (2, 4), "length_bytes": (1, 4)}
_CORPUS = "n_documents, n_tokens, n_words, n_authors, has_texts, word_id_bytes, start_bytes, length_bytes"
_POSITIVE = Between(1e-300, 1e300)
# Settings that give a model's size; each is at most the number of stored topics or nodes.
_SIZES = ("n_topics", "n_aspects", "n_super", "n_sub")

SHAPES: Mapping[str, Any] = {
    "corpus.settings": {"analyzer": dict, "report": dict, "fingerprint": str},
    "model.bundle": {"model": str, "settings": dict, "progress": dict, "fit_info": dict},
    "words": [str],
    "metadata": dict,
}


class Sizes(NamedTuple):
    """Sizes of a store's corpus, as its row claims them; ``check_corpus`` compares them with counts of rows."""

    n_documents: int
    n_tokens: int
    n_words: int
    n_authors: int
    has_texts: bool
    word_id_bytes: int
    start_bytes: int
    length_bytes: int

    @property
    def limits(self) -> dict[str, int]:
        """Exclusive upper bounds of the id columns of queries, as ``read_rows`` takes them."""
        return {"document_id": self.n_documents, "word_id": self.n_words, "author_id": self.n_authors}


def check_corpus(connection: sqlite3.Connection) -> Sizes:
    """Return the sizes of the corpus, after checking that documents, words and authors are numbered from 0."""
    rows = read_rows(connection, f"SELECT {_CORPUS} FROM corpus")
    if not rows:
        raise StoreError("the store holds no corpus")
    sizes = Sizes(*rows[0])
    if not all(getattr(sizes, name) in known for name, known in _WIDTHS.items()):
        raise StoreError("the corpus is damaged: the widths of its numbers are not valid")
    for table, key in _NUMBERED:
        _check_numbered(connection, table, key, getattr(sizes, f"n_{table}s"))
    return sizes


def _check_numbered(
    connection: sqlite3.Connection, table: str, key: str, n: int, where: str = "1", parameters: tuple[Any, ...] = ()
) -> None:
    query = f"SELECT count(*), min({key}), max({key}) FROM {table} WHERE {where}"
    found = connection.execute(query, parameters).fetchone()
    if found != ((n, 0, n - 1) if n else (0, None, None)):
        there = f"but {found[0]:,} are there" if found[0] != n else "but they have other numbers"
        raise StoreError(f"it is damaged: {n:,} rows of table {table} are claimed, numbered from 0, {there}")


def check_model(connection: sqlite3.Connection, model_id: int, n_topics: int) -> None:
    """Refuse a model whose topics are not as many as it claims, numbered from 0."""
    if n_topics > MOST_TOPICS:
        raise StoreError(f"it is damaged: a model has at most {MOST_TOPICS:,} topics")
    _check_numbered(connection, "topic", "topic", n_topics, "model_id = ?", (model_id,))


def check_sizes(connection: sqlite3.Connection, model_id: int, settings: Mapping[str, Any], n_topics: int) -> None:
    """Refuse settings that claim more topics or nodes than are stored, before memory is allocated for them."""
    n_nodes = connection.execute("SELECT count(*) FROM dag_node WHERE model_id = ?", (model_id,)).fetchone()[0]
    # A model with a limit learns how many topics there are; n_topics is only the number that it began with.
    for name in () if settings.get("dag") or "max_topics" in settings else _SIZES:
        claimed = settings.get(name)
        # A file of an older version has no node rows; then two-byte numbering is the only bound.
        most = MOST_TOPICS if name == "n_super" and not n_nodes else max(n_topics, n_nodes)
        if isinstance(claimed, int | float) and not claimed <= most:
            raise StoreError(f"its settings claim {name}={claimed:,}, but {n_topics:,} topics are there: damaged")


def stored_json(text: object, what: str, shape: object = None) -> Any:
    """Parse a JSON value of the store, checking its size and shape (``shape``: a name in ``SHAPES``, or a shape).

    Examples
    --------
    >>> from topoi.store.door import stored_json
    >>> stored_json('["sun", "star"]', "the words of a topic", "words")
    ['sun', 'star']
    """
    try:
        return read_json(text, SHAPES[shape] if isinstance(shape, str) else shape)
    except ValueError as error:
        raise StoreError(f"{what} is damaged ({error})") from error


def model_parameters(text: object) -> dict[str, float]:
    """Sums of the model's priors: ``alpha_sum`` and ``beta_sum``."""
    given = stored_json(text, "the model's parameters", {"alpha_sum": _POSITIVE, "beta_sum": _POSITIVE})
    return {name: float(given[name]) for name in ("alpha_sum", "beta_sum")}


_KINDS = {"INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",), "BLOB": ("blob",)}
# Tables that must have rows.
_NEEDED = ("corpus", "model")
# Columns that refer to a node of the model's graph, and one that refers to a topic.
_NODES = (
    ("dag_edge", "parent"),
    ("dag_edge", "child"),
    ("document_node", "node"),
    ("node_trend", "node"),
    ("node_decade", "node"),
)
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
    >>> from topoi.store.door import find_damage
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
    if kind == "INTEGER" and column not in ("seed", "year", "decade"):
        wrong += f" OR {column} < 0"
    query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE {wrong})"
    return bool(connection.execute(query, kinds).fetchone()[0])
