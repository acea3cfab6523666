"""Writing to a store: a model as entry and rows, its corpus, and labels."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from topoi import __version__
from topoi.corpus.blocks import Blocks, Table, table_rows
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.errors import NotFoundError, StoreError
from topoi.store.arrays import checksum, put_arrays, to_json
from topoi.store.corpus_rows import bare, put_corpus
from topoi.store.migrate import migrated
from topoi.store.read import find_model
from topoi.store.replace import change, sole_writer

# The tables that only models over a graph have.
GRAPH_TABLES = ("dag_node", "dag_edge", "document_node", "node_trend", "node_decade", "document_path")
# All tables that belong to a model; each family fills those that apply to it.
MODEL_TABLES = (
    "topic",
    "topic_word",
    "author_topic",
    "topic_author",
    "document_topic",
    "topic_document",
    "topic_neighbour",
    "mixture",
    "document_share",
    "topic_trend",
    "topic_decade",
    "author_word",
    "author_document",
    "document_assignment",
    *GRAPH_TABLES,
    "trace",
    "edit",
)


@dataclass(frozen=True)
class ModelEntry:
    """A fitted model as rows and a bundle, so that the store need not know model families.

    Attributes
    ----------
    name : str
        The model's name within the file.
    model : str
        The class name, from which ``topoi.load`` finds the class.
    n_topics : int or None
        None if the model has no topics.
    n_iter, n_chains, seed : int
        Settings of the fit.
    chain : str
        Digest of what identifies the chain (corpus, settings, seed); labels survive a save while it is unchanged.
    meta : mapping
        Settings that JSON can hold; together with ``arrays``, all that the model is rebuilt from.
    arrays : mapping of arrays
        Numbers only, whole or in pieces.
    tables : mapping of tables
        For some of ``MODEL_TABLES`` the columns after ``model_id``, all of one length; or ``Blocks`` of such columns.
    parameters : mapping
        Fitted numbers outside the tables.
    names : mapping
        Names that edits have given to topics; they become labels of topics that have none.
    """

    name: str
    model: str
    n_topics: int | None
    n_iter: int
    n_chains: int
    seed: int | None
    chain: str
    meta: Mapping[str, Any]
    arrays: Mapping[str, ArrayOrPieces]
    tables: Mapping[str, Table]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)


_LONGEST_NAME = 200
_LONGEST_LABEL = 1000
LONGEST_TITLE, LONGEST_SENTENCE = 200, 1000
# The collection's own title and sentence: a table that a file has once somebody gave them.
_COLLECTION = """
    CREATE TABLE IF NOT EXISTS collection (
        collection_id INTEGER PRIMARY KEY CHECK (collection_id = 0), title TEXT, sentence TEXT, created TEXT NOT NULL
    )"""


def save_model(
    path: Path,
    corpus: Corpus,
    entry: ModelEntry,
    texts: bool = True,
    fresh: bool = False,
    given_labels: Sequence[tuple[Any, ...]] = (),
) -> None:
    """Write a model and its corpus to the store at ``path`` atomically; the file is created if missing.

    A model of the same name is replaced. Its labels are kept if the chain is the same (equal corpus, settings and seed,
    perhaps more sweeps); otherwise the topic numbers mean other topics.

    Parameters
    ----------
    path : Path
        The file.
    corpus : Corpus
        The training corpus. If the file holds another, that is a ``StoreError``.
    entry : ModelEntry
        The model.
    texts : bool
        Whether to store texts and metadata. Those already in the file stay.
    fresh : bool
        Replace the whole file.
    given_labels : sequence of (topic, label, created)
        Labels besides those that are kept.
    """
    check_name(entry.name)
    if not fresh and path.exists() and path.stat().st_size > 0:
        migrated(path)

    def edit(connection: sqlite3.Connection) -> None:
        _share_corpus(connection, corpus if texts else bare(corpus), corpus.fingerprint(), texts, path)
        labels = {row[0]: row for row in [*_remove(connection, entry), *given_labels]}
        named = {topic: (topic, name, now()) for topic, name in entry.names.items()}
        put_entry(connection, entry, list((named | labels).values()))

    change(path, edit, fresh)


def put_entry(connection: sqlite3.Connection, entry: ModelEntry, labels: Sequence[tuple[Any, ...]]) -> int:
    """Write all rows of a model whose name is free, and labels (topic, label, created); return its id."""
    model_id = _put_model(connection, entry)
    for table, columns in entry.tables.items():
        _put_table(connection, model_id, table, columns)
    connection.executemany("INSERT INTO label VALUES (?, ?, ?, ?)", [(model_id, *row) for row in labels])
    return model_id


def check_name(name: str) -> None:
    """Refuse an invalid model name."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise StoreError(
            f"a model's name is a text of 1 to {_LONGEST_NAME} printable characters, not {str(name)[:_LONGEST_NAME]!r}"
        )


def _share_corpus(connection: sqlite3.Connection, corpus: Corpus, fingerprint: str, texts: bool, path: Path) -> None:
    row = connection.execute("SELECT fingerprint, has_texts, n_documents, n_tokens FROM corpus").fetchone()
    if row is not None and row[0] != fingerprint:
        raise StoreError(
            f"{path} holds another corpus ({row[2]:,} documents, {row[3]:,} words of text; this model's has "
            f"{corpus.n_docs:,} and {corpus.n_tokens:,}): one file, one corpus; save to another file"
        )
    if row is None or (texts and not row[1] and corpus.texts is not None):
        put_corpus(connection, corpus, texts)


def _remove(connection: sqlite3.Connection, entry: ModelEntry) -> list[tuple[Any, ...]]:
    """Remove the model of the same name and return the labels that the new one inherits."""
    row = connection.execute("SELECT model_id, chain FROM model WHERE name = ?", (entry.name,)).fetchone()
    if row is None:
        return []
    model_id, chain = row
    labels = connection.execute("SELECT topic, label, created FROM label WHERE model_id = ?", (model_id,)).fetchall()
    remove_rows(connection, model_id)
    return labels if chain == entry.chain else []


def remove_rows(connection: sqlite3.Connection, model_id: int) -> None:
    """Remove all rows of a model."""
    parts = "DELETE FROM array_part WHERE array_id IN (SELECT array_id FROM array WHERE model_id = ?)"
    connection.execute(parts, (model_id,))
    for table in (*MODEL_TABLES, "edit_state", "label", "array"):
        connection.execute(f"DELETE FROM {table} WHERE model_id = ?", (model_id,))
    connection.execute("DELETE FROM model WHERE model_id = ?", (model_id,))


def _put_model(connection: sqlite3.Connection, entry: ModelEntry) -> int:
    # Always a new id, so that the model saved last has the largest.
    model_id = connection.execute("SELECT coalesce(max(model_id), 0) + 1 FROM model").fetchone()[0]
    row = (
        *(model_id, entry.name, entry.model, entry.n_topics, entry.n_iter, entry.n_chains, entry.seed, now()),
        *(__version__, to_json(entry.parameters), entry.chain, to_json(entry.meta)),
        checksum(entry.meta, entry.arrays),
    )
    connection.execute(f"INSERT INTO model VALUES ({', '.join('?' * len(row))})", row)
    put_arrays(connection, model_id, entry.arrays)
    return int(model_id)


def _put_table(connection: sqlite3.Connection, model_id: int, table: str, contents: Table) -> None:
    if table not in MODEL_TABLES:
        raise StoreError(f"a store has no table {table!r} for models; there are: {', '.join(MODEL_TABLES)}")
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")][1:]
    marks = ", ".join("?" * (1 + len(names)))
    for columns in contents if isinstance(contents, Blocks) else (contents,):
        if set(columns) != set(names):
            raise StoreError(f"table {table} needs the columns {', '.join(names)}, but was given {', '.join(columns)}")
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", table_rows(columns, names, model_id))


def set_label(path: Path, model: str | None, topic: int, text: str | None) -> None:
    """Set or remove a topic's label: a short write in place, under SQLite's rollback journal."""
    text = None if text is None else str(text).strip()
    if text is not None and (len(text) > _LONGEST_LABEL or "\0" in text):
        raise StoreError(f"a label has at most {_LONGEST_LABEL} characters and no null character")
    migrated(path)
    with sole_writer(path.resolve()) as connection:
        model_id, given = find_model(connection, model, "model_id, n_topics")
        n_topics = given if isinstance(given, int) else 0
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < n_topics:
            there = f"topics are numbered 0 to {n_topics - 1}" if n_topics else "the model has no topics"
            raise NotFoundError(f"there is no topic {topic!r}; {there}")
        connection.execute("DELETE FROM label WHERE model_id = ? AND topic = ?", (model_id, int(topic)))
        if text:
            row = (model_id, int(topic), text, now())
            connection.execute("INSERT INTO label VALUES (?, ?, ?, ?)", row)
        connection.execute("COMMIT")


def set_about(path: Path, title: str | None, sentence: str | None) -> None:
    """Set the collection's title and sentence; an empty text removes it."""
    given = [" ".join(str(text or "").replace("\0", "").split()) or None for text in (title, sentence)]
    for what, text, most in zip(("title", "sentence"), given, (LONGEST_TITLE, LONGEST_SENTENCE), strict=True):
        if text is not None and len(text) > most:
            raise StoreError(f"a collection's {what} has at most {most} characters, not {len(text):,}")
    migrated(path)
    with sole_writer(path.resolve()) as connection:
        connection.execute(_COLLECTION)
        connection.execute("DELETE FROM collection")
        connection.execute("INSERT INTO collection VALUES (0, ?, ?, ?)", (*given, now()))
        connection.execute("COMMIT")


def now() -> str:
    """The time, ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
