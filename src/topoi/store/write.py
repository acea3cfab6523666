"""Writing to a store: a model as entry and rows, its corpus, and labels."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoi import __version__
from topoi.corpus.blocks import Blocks, Columns, Table, table_values
from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import ArrayOrPieces
from topoi.errors import NotFoundError, StoreError
from topoi.models.editing.records import Edit, given_names
from topoi.store.arrays import checksum, put_arrays, to_json
from topoi.store.corpus_rows import bare, has_other_metadata, knows_metadata, put_corpus, put_metadata
from topoi.store.insert import insert_rows, table_columns
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
    "document_place",
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
    edits : sequence of Edit
        Edits of the model by hand. Names that the file does not know yet become labels.
    names : mapping
        Names that people gave to topics, as the model knows them: labels if the file has no model of the same chain.
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
    edits: Sequence[Edit] = ()
    names: Mapping[int, str] = field(default_factory=dict)


# Numbers under which rows of states before edits are; those of a model are never taken for such.
_ROWS_OF_STATES = """
    SELECT DISTINCT json_extract(labels, '$.rows') AS rows FROM edit_state
    WHERE model_id = ? AND json_valid(labels) AND typeof(json_extract(labels, '$.rows')) = 'integer'
        AND json_extract(labels, '$.rows') NOT IN (SELECT model_id FROM model)"""
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
    given_labels: Sequence[tuple[Any, ...]] | None = None,
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
        Whether to store texts and metadata. Texts already in the file stay. Metadata that differ from those of the file
        replace them if the file has no other model, and are a ``StoreError`` if it has.
    fresh : bool
        Replace the whole file.
    given_labels : sequence of (topic, label, created), optional
        Labels in place of those that the model knows.
    """
    check_name(entry.name)
    if not fresh and path.exists() and path.stat().st_size > 0:
        migrated(path)

    def edit(connection: sqlite3.Connection) -> None:
        given = corpus if texts else bare(corpus)
        _share_corpus(connection, given, corpus.fingerprint(), texts, path, entry.name)
        there = _remove(connection, entry)
        labels: dict[int, tuple[Any, ...] | None] = {row[0]: row for row in there.labels} if there else {}
        names: Mapping[int, str | None] = given_names(entry.edits, there.n_edits) if there else entry.names
        if given_labels is not None:
            labels, names = labels | {row[0]: row for row in given_labels}, {}
        labels |= {topic: (topic, name, now()) if name else None for topic, name in names.items()}
        put_entry(connection, entry, [row for row in labels.values() if row])

    change(path, edit, fresh)


def put_entry(
    connection: sqlite3.Connection,
    entry: ModelEntry,
    labels: Sequence[tuple[Any, ...]],
    model_id: int | None = None,
) -> int:
    """Write all rows of a model whose name is free, and labels (topic, label, created); return its id, a new one."""
    if model_id is None:
        # The model saved last has the largest.
        model_id = int(connection.execute("SELECT coalesce(max(model_id), 0) + 1 FROM model").fetchone()[0])
    put_model(connection, entry, model_id)
    put_arrays(connection, model_id, entry.arrays)
    for table, columns in entry.tables.items():
        put_table(connection, model_id, table, columns)
    put_labels(connection, model_id, labels)
    return model_id


def put_labels(connection: sqlite3.Connection, model_id: int, labels: Sequence[tuple[Any, ...]]) -> None:
    """Write labels: topic, label, created."""
    connection.executemany("INSERT INTO label VALUES (?, ?, ?, ?)", [(model_id, *row) for row in labels])


def check_name(name: str) -> None:
    """Refuse an invalid model name."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise StoreError(
            f"a model's name is a text of 1 to {_LONGEST_NAME} printable characters, not {str(name)[:_LONGEST_NAME]!r}"
        )


def _share_corpus(
    connection: sqlite3.Connection, corpus: Corpus, fingerprint: str, texts: bool, path: Path, name: str
) -> None:
    """Write the corpus if the file has none, or knows less of it; refuse another one."""
    row = connection.execute("SELECT fingerprint, has_texts, n_documents, n_tokens FROM corpus").fetchone()
    if row is not None and row[0] != fingerprint:
        raise StoreError(
            f"{path} holds another corpus ({row[2]:,} documents, {row[3]:,} words of text; this model's has "
            f"{corpus.n_docs:,} and {corpus.n_tokens:,}): one file, one corpus; save to another file"
        )
    if row is None or (texts and not row[1] and corpus.texts is not None):
        put_corpus(connection, corpus, texts)
    elif texts and has_other_metadata(connection, corpus):
        others = [
            found
            for (found,) in connection.execute("SELECT name FROM model WHERE name <> ? ORDER BY model_id", (name,))
        ]
        if others and knows_metadata(connection):
            raise StoreError(
                f"{path} holds the same words with other metadata of the documents, and {others[0]!r} was fitted with "
                "those: one file, one corpus; save to another file, or give the documents the same metadata"
            )
        put_metadata(connection, corpus)


class _SameChain(NamedTuple):
    """What a model inherits from one of the same chain: labels (topic, label, created), and their number of edits."""

    labels: list[tuple[Any, ...]]
    n_edits: int


def _remove(connection: sqlite3.Connection, entry: ModelEntry) -> _SameChain | None:
    """Remove the model of the same name; return what the new one inherits, None if there was none of its chain."""
    row = connection.execute("SELECT model_id, chain FROM model WHERE name = ?", (entry.name,)).fetchone()
    if row is None:
        return None
    model_id, chain = row
    labels = connection.execute("SELECT topic, label, created FROM label WHERE model_id = ?", (model_id,)).fetchall()
    (n_edits,) = connection.execute("SELECT count(*) FROM edit WHERE model_id = ?", (model_id,)).fetchone()
    remove_rows(connection, model_id)
    return _SameChain(labels, n_edits) if chain == entry.chain else None


def remove_rows(connection: sqlite3.Connection, model_id: int, states: bool = True) -> None:
    """Remove all rows of a model, and those of states before its edits if ``states``."""
    if states:
        for (rows,) in connection.execute(_ROWS_OF_STATES, (model_id,)).fetchall():
            remove_tables(connection, rows)
    parts = "DELETE FROM array_part WHERE array_id IN (SELECT array_id FROM array WHERE model_id = ?)"
    connection.execute(parts, (model_id,))
    remove_tables(connection, model_id)
    for table in ("edit_state", "label", "array", "model"):
        connection.execute(f"DELETE FROM {table} WHERE model_id = ?", (model_id,))


def remove_tables(connection: sqlite3.Connection, model_id: int) -> None:
    """Remove the rows of a model's tables."""
    for table in MODEL_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE model_id = ?", (model_id,))


def put_model(connection: sqlite3.Connection, entry: ModelEntry, model_id: int) -> None:
    """Write the row of a model."""
    row = (
        *(model_id, entry.name, entry.model, entry.n_topics, entry.n_iter, entry.n_chains, entry.seed, now()),
        *(__version__, to_json(entry.parameters), entry.chain, to_json(entry.meta)),
        checksum(entry.meta, entry.arrays),
    )
    connection.execute(f"INSERT INTO model VALUES ({', '.join('?' * len(row))})", row)


def put_table(connection: sqlite3.Connection, model_id: int, table: str, contents: Table) -> None:
    """Write rows of one of a model's tables."""
    if table not in MODEL_TABLES:
        raise StoreError(f"a store has no table {table!r} for models; there are: {', '.join(MODEL_TABLES)}")
    names = list(table_columns(connection, table))[1:]

    def values(columns: Columns) -> Iterator[list[Any]]:
        if set(columns) != set(names):
            raise StoreError(f"table {table} needs the columns {', '.join(names)}, but was given {', '.join(columns)}")
        return table_values(columns, names, model_id)

    blocks = contents if isinstance(contents, Blocks) else (contents,)
    insert_rows(connection, table, chain.from_iterable(map(values, blocks)))


def edit_columns(edits: Sequence[Edit]) -> Columns:
    """Columns of the table ``edit``."""
    return {
        "number": [edit.number for edit in edits],
        "step": [edit.step for edit in edits],
        "created": [edit.created for edit in edits],
        "kind": [edit.kind for edit in edits],
        "text": [edit.text for edit in edits],
        "record": [to_json(edit.to_dict()) for edit in edits],
        "undone": [int(edit.undone) for edit in edits],
    }


def set_label(path: Path, model: str | None, topic: int, text: str | None, who: str | None = None) -> None:
    """Set or remove a topic's label: a short write in place, under SQLite's rollback journal.

    With ``who`` it is an edit of the model's history, which can be undone.
    """
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
        if who is not None:
            from topoi.store.edit_states import StoredStates  # it writes entries

            StoredStates(connection, model_id).note_name(int(topic), text or "", who)
        connection.execute("DELETE FROM label WHERE model_id = ? AND topic = ?", (model_id, int(topic)))
        put_labels(connection, model_id, [(int(topic), text, now())] if text else [])
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
