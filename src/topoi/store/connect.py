"""Connections to a store, restricted so that an untrusted file can be read but cannot do harm."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from topoi.errors import StoreError

# Small, since each reading thread has its own connection and the operating system caches the file's pages for all.
_READER_CACHE_KIB = 500
APPLICATION_ID = 0x746F706F
VERSION = 1
# Time to wait for another program's write lock, or for another save to end.
WAIT_SECONDS = 60.0
_LOCKED = ("database is locked", "database table is locked")
_LONGEST_MESSAGE = 200
# Tables that files of this version may lack: they were added later, and are made with the next change of a file.
LATER = ("document_place",)
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def schema() -> str:
    """SQL that creates an empty store.

    Examples
    --------
    >>> from topoi.store.connect import schema
    >>> "CREATE TABLE document" in schema()
    True
    """
    return files("topoi.store").joinpath("schema.sql").read_text(encoding="utf-8")


@contextmanager
def store_errors(path: Path, doing: str = "read") -> Iterator[None]:
    """Turn errors of SQLite and the operating system into a ``StoreError`` that names the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        # Some of SQLite's messages quote contents of the file, at any length; their beginning says what happened.
        message = str(error)[:_LONGEST_MESSAGE]
        if message == "interrupted":
            raise
        if message.startswith(_LOCKED):
            raise StoreError(f"cannot {doing} {path}: another program is using it; try again") from error
        if message.startswith(("attempt to write a readonly", "unable to open")):
            raise StoreError(f"cannot {doing} {path}: no permission, or its folder cannot be written to") from error
        raise StoreError(f"cannot {doing} {path}: {message}") from error
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        message = str(error)[:_LONGEST_MESSAGE]
        raise StoreError(f"cannot {doing} {path}: it is damaged or cannot be used ({message})") from error
    except OSError as error:
        raise StoreError(f"cannot {doing} {path}: {error.strerror or error}") from error


def open_plain(path: Path, mode: str) -> sqlite3.Connection:
    """Open a connection ("ro" or "rw") to a file with a store's header; version and tables are not yet checked.

    The header is read through SQLite: opening and closing the file separately would release the POSIX locks that other
    connections of this process hold on it.
    """
    if not path.exists():
        raise StoreError(f"{path} does not exist")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a .topoi file")
    if not path.is_file():
        raise StoreError(f"{path} is not a file")  # opening a pipe would block for ever
    try:
        return _open(path, mode)
    except sqlite3.OperationalError as error:
        if mode != "ro" or str(error).startswith(_LOCKED) or not path.with_name(f"{path.name}-journal").exists():
            raise
    # A writer was killed while writing. Opening the file for writing rolls its journal back.
    _open(path, "rw").close()
    return _open(path, mode)


def _check_journal(path: Path) -> None:
    """Refuse a journal that names another file: SQLite would delete that file, and topoi's journals name none."""
    try:
        with open(path.with_name(f"{path.name}-journal"), "rb") as stream:
            stream.seek(max(stream.seek(0, 2) - len(_JOURNAL_MAGIC), 0))
            forged = stream.read() == _JOURNAL_MAGIC
    except FileNotFoundError:
        return
    if forged:
        raise StoreError(f"{path} comes with a journal that topoi did not write; remove {path.name}-journal if you can")


def _open(path: Path, mode: str) -> sqlite3.Connection:
    if mode != "ro":
        _check_journal(path)
    uri = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(f"{path} is not a topoi store")
        version = file_version(connection)
        if version > VERSION:
            raise StoreError(
                f"{path} was written by a newer topoi (schema {version}, this one reads {VERSION}): upgrade"
            )
        # SQLite notices missing pages, but not a truncated last page.
        if path.stat().st_size % connection.execute("PRAGMA page_size").fetchone()[0]:
            raise StoreError(f"{path} is damaged: it has been cut short")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError) and "not a database" in str(error):
            raise StoreError(_what_else(path)) from error
        raise
    return connection


def _what_else(path: Path) -> str:
    with open(path, "rb") as stream:
        zipped = stream.read(4) == b"PK\x03\x04"
    if zipped:
        return f"{path} is not a topoi store; if it is a checkpoint, continue it with fit and checkpoint={path.name!r}"
    return f"{path} is not a topoi store, or is damaged"


def file_version(connection: sqlite3.Connection) -> int:
    """Schema version of an open file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a read-only connection, after checking that the file is a store of this version.

    Safe for untrusted files: views and triggers get no functions with side effects, the schema is not writable, and
    the tables are compared with the expected schema, so that none of them is a view in disguise.
    """
    with store_errors(path):
        connection = _checked(path, "ro")
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
    return connection


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open a connection that may write: for labels, and to hold the write lock."""
    with store_errors(path, "write"):
        connection = _checked(path, "rw")
        if has_triggers(connection):
            connection.close()
            raise StoreError(f"cannot write {path}: it has triggers, which topoi does not make; remove them first")
    return connection


def has_triggers(connection: sqlite3.Connection) -> bool:
    """Whether the file has triggers: topoi creates none, and writing would run them."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").fetchone()[0])


def _checked(path: Path, mode: str) -> sqlite3.Connection:
    connection = open_plain(path, mode)
    try:
        if file_version(connection) < VERSION:
            raise StoreError(
                f"{path} has schema {file_version(connection)}; open it with topoi.open_store to migrate it"
            )
        check_schema(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@cache
def expected_schema() -> dict[str, str]:
    """Tables and indexes of this version's schema, each with the SQL that creates it, whitespace normalised."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema())
        return _schema_of(connection)


def _schema_of(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {str(name): f"{kind} {_evened(str(sql))}" for kind, name, sql in rows}


def _evened(sql: str) -> str:
    """Strip comments and extra whitespace from SQL: a comment edited in schema.sql must not reject older files."""
    return " ".join(re.sub(r"--[^\n]*", " ", sql).split())


def add_later_tables(connection: sqlite3.Connection) -> None:
    """Create the tables that a file of an earlier version lacks; in the caller's transaction."""
    there = _schema_of(connection)
    for name in LATER:
        if name not in there:
            connection.execute(expected_schema()[name].removeprefix("table "))


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file whose tables are not those of the schema; others are ignored, and those of ``LATER`` may lack."""
    found = _schema_of(connection)
    for name, sql in expected_schema().items():
        # The search index's shadow tables are created by SQLite, and their SQL may differ between its versions.
        inside = name.startswith("document_search_") and found.get(name, "").startswith("table ")
        if name in LATER and name not in found:
            continue
        if found.get(name) != sql and not inside:
            raise StoreError(f"{path} is damaged or has been altered: {name} is not as topoi makes it")
