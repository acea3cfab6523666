"""The steps of ``migrate``: what each version of the schema adds to the one before, as far as the rows tell.

What only a model can work out stays empty, or at its simplest, until the model is saved again.
"""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np

from topoi.errors import StoreError
from topoi.store.connect import schema
from topoi.store.entry import FACE_RELEVANCE, N_WORDS
from topoi.store.hues import golden_places, place_hues
from topoi.store.mixture_rows import pack_mixture

_NEW_IN_2 = ("author_by_documents", "topic_neighbour", "mixture", "author_document")
_NEW_IN_3 = ("dag_node", "dag_edge", "document_node", "node_trend", "document_path")
_INDEXES_IN_3 = ("dag_edge_by_parent", "dag_edge_by_child", "document_node_by_node")


def from_1_to_2(connection: sqlite3.Connection) -> None:
    """Version 2: faces of topics (hue, place, words), neighbours, packed mixtures, surprising documents."""
    for name in _NEW_IN_2:
        connection.execute(_statement(name))
    topics = connection.execute(
        "SELECT model_id, topic, n_tokens, share, alpha FROM topic ORDER BY model_id, topic"
    ).fetchall()
    # A table made anew has the same text as in a new file, comments included; a column added to it would not.
    connection.execute("DROP TABLE topic")
    connection.execute(_statement("topic"))
    for (model_id,) in connection.execute("SELECT model_id FROM model ORDER BY model_id").fetchall():
        rows = [row for row in topics if row[0] == model_id]
        hues = place_hues(golden_places(len(rows))).tolist()
        for row, hue in zip(rows, hues, strict=True):
            face = (hue, None, None, 0, _leading_words(connection, *row[:2]))
            connection.execute("INSERT INTO topic VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, *face))
        _put_mixture(connection, model_id, "document")
        _put_mixture(connection, model_id, "author")


def from_2_to_3(connection: sqlite3.Connection) -> None:
    """Version 3: the graph of a model over one, its nodes' documents and years, and the paths of words.

    A family that has a graph fills them in when its model is next looked at: see ``put_missing_tables``.
    """
    for name in (*_NEW_IN_3, *_INDEXES_IN_3):
        connection.execute(_statement(name))


def _statement(name: str) -> str:
    """The SQL that makes a table or an index, as a new file has it."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(schema())
        return str(empty.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0])


def _leading_words(connection: sqlite3.Connection, model_id: Any, topic: Any) -> str:
    rows = connection.execute(
        "SELECT w.word, t.probability, w.n_tokens FROM topic_word AS t INDEXED BY topic_word_by_topic "
        "JOIN word AS w ON w.word_id = t.word_id WHERE t.model_id = ? AND t.topic = ? ORDER BY t.word_id",
        (model_id, topic),
    )
    telling = [(math.log(p) - (1.0 - FACE_RELEVANCE) * math.log(n), str(word)) for word, p, n in rows if n > 0]
    telling.sort(key=lambda pair: -pair[0])
    return json.dumps([word for _, word in telling[:N_WORDS]], ensure_ascii=False)


def _put_mixture(connection: sqlite3.Connection, model_id: int, kind: str) -> None:
    table, column = f"{kind}_topic", f"{kind}_id"
    rows = connection.execute(
        f"SELECT {column}, topic, n_tokens FROM {table} WHERE model_id = ? ORDER BY {column}, topic", (model_id,)
    ).fetchall()
    if not rows:
        return
    # Counted, not taken from what the file says of itself.
    n_rows = connection.execute(f"SELECT count(*) FROM {kind}").fetchone()[0]
    try:
        counts = np.array(rows, np.int64).reshape(-1, 3)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{table} does not hold whole numbers") from error
    if counts.min() < 0 or counts[:, 0].max() >= n_rows or counts[:, 1].max() >= 2**16 or counts[:, 2].max() >= 2**32:
        raise StoreError(f"{table} holds numbers out of range")
    packed = pack_mixture([(counts[:, 0], counts[:, 1], counts[:, 2])], n_rows)
    row = (model_id, kind, packed["n_rows"], packed["row_start"], packed["topic"], packed["n_tokens"])
    connection.execute("INSERT INTO mixture VALUES (?, ?, ?, ?, ?, ?)", row)
