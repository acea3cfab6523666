"""Tables of a store as Parquet files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoi.errors import StoreError
from topoi.exchange.folders import new_folder
from topoi.store.connect import expected_schema
from topoi.store.store import Store

# Numbers of a document's tokens, which a store packs as bytes: lists of numbers in Parquet.
LISTS = ("word_ids", "starts", "lengths", "topics", "author_positions", "paths")
# The index of words in texts; the texts themselves are in the table of documents.
_INDEX = "document_search"
_BYTES_AT_ONCE = 2**25
_ROWS_AT_ONCE = 1000
_MISSING = 'Parquet needs pyarrow: pip install "topoi[parquet]"'


class _Column(NamedTuple):
    name: str
    kind: str
    is_list: bool


def to_parquet(store: Store | str | Path, folder: str | Path, replace: bool = False) -> list[str]:
    """Write every table of a store as a Parquet file.

    Whole numbers are ``int64``, others ``double``, texts ``string``. Numbers of a document's words (their ids, places,
    topics, authors, paths) are lists; all other packed columns are the bytes of the store, described in
    ``docs/store.md``. The full-text index is left out.

    Parameters
    ----------
    store : Store, str or Path
        The store, or its file.
    folder : str or Path
        A folder for the files, ``topic.parquet`` and so on: a new or an empty one.
    replace : bool
        Whether an earlier export in that folder may be replaced.

    Returns
    -------
    list of str
        Names of the tables.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile, topoi
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(place / "small.topoi")
    >>> "topic_word" in topoi.exchange.to_parquet(place / "small.topoi", place / "tables")
    True
    >>> pd.read_parquet(place / "tables" / "word.parquet")["n_tokens"].tolist()
    [3, 3]
    """
    _pyarrow()
    tables = table_names()
    with ExitStack() as stack:
        opened = store if isinstance(store, Store) else stack.enter_context(Store(store))
        made = stack.enter_context(new_folder(folder, [f"{table}.parquet" for table in tables], replace))
        connection = stack.enter_context(opened.connection())
        connection.execute("BEGIN")  # one state of the file for all tables
        stack.callback(connection.execute, "ROLLBACK")
        for table in tables:
            _write_table(connection, table, made / f"{table}.parquet", opened.path)
    return tables


def table_names() -> list[str]:
    """Tables of a store that are written, in alphabetical order.

    Examples
    --------
    >>> from topoi.exchange.parquet import table_names
    >>> table_names()[:4]
    ['array', 'array_part', 'author', 'author_document']
    """
    tables = [name for name, sql in expected_schema().items() if sql.startswith("table ")]
    return sorted(name for name in tables if not name.startswith(_INDEX))


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise StoreError(f"{_MISSING} ({error})") from error
    return pyarrow


def _write_table(connection: sqlite3.Connection, table: str, path: Path, store: Path) -> None:
    pyarrow = _pyarrow()
    columns = _columns(connection, table)
    schema = pyarrow.schema([(column.name, _type(pyarrow, column)) for column in columns])
    try:
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for rows in _blocks(connection, table, columns):
                values = list(zip(*rows, strict=True))
                arrays = [pyarrow.array(each, field.type) for each, field in zip(values, schema, strict=True)]
                writer.write_batch(pyarrow.record_batch(arrays, schema))
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"{store}: table {table} is damaged ({str(error)[:200]})") from error
    except OSError as error:
        raise StoreError(f"cannot write {path.name}: {error.strerror or error}") from error


def _columns(connection: sqlite3.Connection, table: str) -> list[_Column]:
    rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [_Column(str(name), str(kind), kind == "BLOB" and name in LISTS) for _, name, kind, *_ in rows]


def _type(pyarrow: Any, column: _Column) -> Any:
    if column.is_list:
        return pyarrow.list_(pyarrow.uint32())
    kinds = {"INTEGER": pyarrow.int64, "REAL": pyarrow.float64, "TEXT": pyarrow.string, "BLOB": pyarrow.binary}
    return kinds[column.kind]()


def _blocks(connection: sqlite3.Connection, table: str, columns: Sequence[_Column]) -> Iterator[list[list[Any]]]:
    """Rows of a table in blocks of a bounded size, with lists of numbers in place of packed ones."""
    lists = [at for at, column in enumerate(columns) if column.is_list]
    names = ", ".join(f"t.{column.name}" for column in columns)
    query = f"SELECT {names} FROM {table} AS t"
    if lists:
        query = f"SELECT {names}, d.n_tokens FROM {table} AS t JOIN document AS d USING (document_id)"
    block: list[list[Any]] = []
    size = 0
    for found in connection.execute(query):
        row = list(found)
        n_tokens = row.pop() if lists else 0
        for at in lists:
            row[at] = None if row[at] is None else _numbers(row[at], n_tokens)
        block.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes | str | np.ndarray))
        if size > _BYTES_AT_ONCE or len(block) == _ROWS_AT_ONCE:
            yield block
            block, size = [], 0
    if block:
        yield block


def _numbers(blob: bytes, n_tokens: int) -> Any:
    """One number for each token; their width follows from the number of tokens."""
    width = len(blob) // n_tokens if n_tokens else 1
    if width not in (1, 2, 4) or width * n_tokens != len(blob):
        raise ValueError(f"{len(blob)} bytes for {n_tokens} words")
    return np.frombuffer(blob, f"<u{width}")
