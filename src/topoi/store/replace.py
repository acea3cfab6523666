"""Atomic changes of a store: a new file is written beside its place and renamed, an existing one changed in place.

In place means in one transaction. Either way a reader, or a power cut, finds the old contents or the new ones. An
existing file is not replaced by a copy, because programs that have it open would keep the old file and take the new
file's journal for theirs.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from topoi.corpus.writing import UNFINISHED
from topoi.errors import StoreError
from topoi.store.connect import (
    APPLICATION_ID,
    VERSION,
    WAIT_SECONDS,
    add_later_tables,
    connect_writer,
    schema,
    store_errors,
)

_ABANDONED_SECONDS = 600.0
# A new file is discarded on any error, so it needs no journal. Larger pages waste less space on texts and blobs.
_NEW_FILE = (
    "page_size = 8192",
    "auto_vacuum = NONE",
    "journal_mode = OFF",
    "synchronous = OFF",
    "cache_size = -16000",
    f"application_id = {APPLICATION_ID}",
    f"user_version = {VERSION}",
)


def identity(path: Path) -> tuple[int, int]:
    """Device and inode of the file at a path; they change when it is replaced."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


@contextmanager
def sole_writer(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of the file at ``path``; yield the connection. Other writers wait, readers do not."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        with store_errors(path, "write"):
            before = identity(path) if path.exists() else None
        with closing(connect_writer(path)) as connection, store_errors(path, "write"):
            # Keep changes in memory until the commit: spilling pages to the file would lock readers out until then.
            connection.execute("PRAGMA cache_spill = OFF")
            connection.execute("BEGIN IMMEDIATE")
            try:
                # Another writer may have replaced the file while this one waited for the old file's lock.
                if identity(path) == before:
                    yield connection
                    return
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        if time.monotonic() > until:
            raise StoreError(f"cannot write {path}: other programs keep writing to it; try again")


def change(path: Path, edit: Callable[[sqlite3.Connection], None], fresh: bool = False) -> None:
    """Apply ``edit`` to the store in one transaction; start from an empty store if there is none, or if ``fresh``.

    Parameters
    ----------
    path : Path
        The file. One that is not a store is refused, unless it is empty.
    edit : callable
        Function of a connection that is in a transaction.
    fresh : bool
        Replace whatever is there by a new store.
    """
    path = path.resolve()
    if path.is_dir():
        raise StoreError(f"cannot write {path}: it is a folder; name a file")
    if path.exists() and not path.is_file():
        raise StoreError(f"cannot write {path}: it is a device or a pipe; name a file")
    if not path.parent.is_dir():
        raise StoreError(f"cannot write {path}: there is no folder {path.parent}")
    if fresh or not path.exists() or path.stat().st_size == 0:
        if _write_beside(path, edit, replace=fresh or path.exists()):
            return
    with sole_writer(path) as connection:
        _remove_abandoned(path)
        add_later_tables(connection)
        edit(connection)
        connection.execute("COMMIT")


def _write_beside(path: Path, edit: Callable[[sqlite3.Connection], None], replace: bool) -> bool:
    """Make an empty store beside ``path``, edit it, rename it into place; False if another program made one first."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with store_errors(path, "write"):
            # A cached statement would keep its last values, a whole text perhaps, until the next ones.
            with closing(sqlite3.connect(temporary, isolation_level=None, cached_statements=0)) as connection:
                for pragma in _NEW_FILE:
                    connection.execute(f"PRAGMA {pragma}").fetchall()
                connection.executescript(schema())
                connection.execute("BEGIN IMMEDIATE")
                edit(connection)
                connection.execute("COMMIT")
            _settle(temporary, path)
            if not replace and path.exists():
                return False
            _remove_companions(path)
            return _put_in_place(temporary, path, replace)
    finally:
        temporary.unlink(missing_ok=True)


def _settle(temporary: Path, path: Path) -> None:
    if path.exists():
        os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
    with open(temporary, "rb+") as stream:
        os.fsync(stream.fileno())


def _remove_companions(path: Path) -> None:
    """Remove journals of a missing or replaced file: SQLite would play them back into the new one."""
    for ending in ("-journal", "-wal", "-shm"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


def _put_in_place(temporary: Path, path: Path, replace: bool) -> bool:
    if not replace:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:
            replace = True  # the file system has no hard links
    if replace:
        os.replace(temporary, path)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)  # the rename must survive a power cut too
        finally:
            os.close(folder)
    return True


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of killed writers: those not modified for ``_ABANDONED_SECONDS``."""
    for left in path.parent.iterdir():
        if left.name.startswith(f".{path.name}.") and left.name.endswith(UNFINISHED):
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                left.unlink(missing_ok=True)
