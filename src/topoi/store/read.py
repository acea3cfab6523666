"""Reading from a store: models as bundles, lists of models, and users' own SQL queries."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError, NotFoundError, StoreError
from topoi.models.editing.records import Edit
from topoi.store.arrays import checksum, from_json, get_arrays
from topoi.store.connect import store_errors
from topoi.store.corpus_rows import check_digest, get_corpus
from topoi.store.door import check_corpus, check_model, check_sizes, stored_json
from topoi.store.rows import read_rows

_MODEL_COLUMNS = (
    "name, model, n_topics, n_iter, n_chains, seed, created, topoi_version",
    ["name", "model", "n_topics", "n_iter", "n_chains", "seed", "created", "topoi_version"],
)
# Largest value that a query may make; without a limit, a line of SQL could ask for a gigabyte.
_LARGEST_VALUE = 64 * 2**20
_STEPS_BETWEEN_CLOCKS = 10_000
_ROWS_AT_A_TIME = 1000
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, getattr(sqlite3, "SQLITE_RECURSIVE", 33)}
)


class StoredModel(NamedTuple):
    """Settings and arrays from which a model is rebuilt."""

    model: str
    corpus: Corpus
    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    labels: Sequence[str] = ()
    names: Mapping[int, str] = {}


def find_model(connection: sqlite3.Connection, name: str | None, columns: str) -> tuple[Any, ...]:
    """Return the given columns of the model of that name (None: the model saved last)."""
    if name is None:
        found = read_rows(connection, f"SELECT {columns} FROM model ORDER BY model_id DESC LIMIT 1")
    else:
        found = read_rows(connection, f"SELECT {columns} FROM model WHERE name = ?", (str(name),))
    if not found:
        names = [r[0] for r in connection.execute("SELECT name FROM model ORDER BY model_id LIMIT 20")]
        there = f"; there are: {', '.join(map(repr, names))}" if names else "; there is none"
        raise NotFoundError(f"there is no model {name!r}{there}" if name is not None else f"no model{there}")
    return found[0]


def automatic_labels(connection: sqlite3.Connection, model_id: int) -> list[tuple[int, str]]:
    """Topics of a model and the labels that they were saved with; names that people gave are elsewhere."""
    rows = read_rows(connection, "SELECT topic, label FROM topic WHERE model_id = ? ORDER BY topic", (model_id,))
    return [(int(topic), str(label)) for topic, label in rows]


def read_model(connection: sqlite3.Connection, path: Path, name: str | None = None) -> StoredModel:
    """Read a model's settings and arrays in one read transaction; damage is a ``StoreError`` that names the file."""
    with store_errors(path):
        connection.execute("BEGIN")  # for a consistent snapshot: a label may be set meanwhile
        try:
            columns = "model_id, model, n_topics, bundle, digest"
            model_id, model, n_topics, bundle, digest = find_model(connection, name, columns)
            check_corpus(connection)
            check_model(connection, model_id, n_topics or 0)
            meta = stored_json(bundle, "the model", "model.bundle")
            check_sizes(connection, model_id, meta["settings"], n_topics or 0)
            arrays = get_arrays(connection, model_id)
            check_digest(checksum(meta, arrays), digest, "the model")
            if edits := read_edits(connection, model_id):
                # Names that were given in the store itself are in the table alone.
                meta["fit_info"] = meta["fit_info"] | {"edits": [edit.to_dict() for edit in edits]}
            labels = [label for _, label in automatic_labels(connection, model_id)]
            return StoredModel(model, get_corpus(connection), meta, arrays, labels, _names(connection, model_id))
        except NotFoundError as error:
            raise NotFoundError(f"{path}: {error}") from None
        except StoreError as error:
            raise StoreError(f"{path}: {error}") from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def read_edits(connection: sqlite3.Connection, model_id: int) -> list[Edit]:
    """Edits of a model, the first one first; damage is a ``StoreError``."""
    rows = connection.execute("SELECT record FROM edit WHERE model_id = ? ORDER BY number", (model_id,)).fetchall()
    try:
        return [Edit.from_dict(from_json(record, "the record of an edit")) for (record,) in rows]
    except ModelError as error:
        raise StoreError(f"the edits are damaged: {error}") from error


def list_models(connection: sqlite3.Connection) -> pd.DataFrame:
    """One row per model, in the order in which they were saved."""
    columns, names = _MODEL_COLUMNS
    found = connection.execute(f"SELECT {columns} FROM model ORDER BY model_id").fetchall()
    # Bytes are of a damaged file.
    rows: list[list[Any]] = [[None if isinstance(value, bytes) else value for value in row] for row in found]
    frame = pd.DataFrame(rows, columns=names)
    for at, name in enumerate(names):
        if name in ("n_topics", "n_iter", "n_chains"):
            whole = [row[at] if isinstance(row[at], int) and abs(row[at]) < 2**62 else None for row in rows]
            if name == "n_topics" or None in whole:  # a model without topics has <NA>; so have damaged numbers
                frame[name] = pd.array(whole, dtype="Int64")
    return frame


def list_labels(connection: sqlite3.Connection, model: str | None) -> dict[int, str]:
    """The labels of a model's topics."""
    (model_id,) = find_model(connection, model, "model_id")
    return _names(connection, model_id)


def _names(connection: sqlite3.Connection, model_id: int) -> dict[int, str]:
    """Names that people gave to a model's topics."""
    rows = connection.execute("SELECT topic, label FROM label WHERE model_id = ? ORDER BY topic", (model_id,))
    return {topic: str(label) for topic, label in rows if isinstance(topic, int)}


def run_query(
    connection: sqlite3.Connection,
    path: Path,
    query: str,
    parameters: Sequence[Any] | Mapping[str, Any],
    max_rows: int,
    timeout: float,
) -> pd.DataFrame:
    """Run one SELECT with limits on rows, time and sizes; they stay set, so the connection serves no other query."""
    until = time.monotonic() + timeout
    # A damaged search index may ask for any amount of memory; queries that do not use it must still work.
    with suppress(sqlite3.Error, MemoryError):
        # The first use of the index opens its shadow tables, which the authorizer would deny: do it before.
        connection.execute("SELECT rowid FROM document_search LIMIT 0").fetchall()
    connection.set_authorizer(_authorize)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS_BETWEEN_CLOCKS)
    rows: list[Any] = []
    try:
        with store_errors(path, "query"):
            cursor = connection.execute(query, parameters)
            if cursor.description is None:
                raise StoreError("the query returns no rows; a store is opened to be read, with SELECT")
            names = [column[0] for column in cursor.description]
            while some := cursor.fetchmany(_ROWS_AT_A_TIME):
                rows += some
                if len(rows) > max_rows:
                    raise StoreError(f"the query gives more than {max_rows:,} rows; add LIMIT, or raise max_rows")
                if time.monotonic() > until:
                    raise sqlite3.OperationalError("interrupted")
    except sqlite3.OperationalError as error:
        raise StoreError(f"the query took more than {timeout:g} seconds; raise timeout, or ask for less") from error
    return pd.DataFrame(rows, columns=names)


def _authorize(action: int, first: str | None, second: str | None, place: str | None, source: str | None) -> int:
    """SQLite authorizer that allows reading only: no ATTACH, no PRAGMA except data_version, no writing."""
    harmless = action == sqlite3.SQLITE_PRAGMA and first == "data_version"  # how the search index notices changes
    return sqlite3.SQLITE_OK if action in _ALLOWED or harmless else sqlite3.SQLITE_DENY
