"""Migration of a store from an older schema version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from topoi.errors import StoreError
from topoi.store import connect

# Migration steps: from a version to the next, a function of a connection in a transaction. After the first release,
# every change of schema.sql adds one.
STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {}


def migrated(path: Path) -> None:
    """Migrate the file to this version's schema in one transaction; do nothing if it is current."""
    with connect.store_errors(path, "migrate"):
        with closing(connect.open_plain(path, "ro")) as connection:
            version = connect.file_version(connection)
        if version == connect.VERSION:
            return
        if any(v not in STEPS for v in range(version, connect.VERSION)):
            raise StoreError(f"{path} has schema {version}, from which this topoi knows no way to {connect.VERSION}")
        with closing(connect.open_plain(path, "rw")) as old:
            old.execute("BEGIN IMMEDIATE")
            if connect.file_version(old) == version:  # otherwise another program has migrated it meanwhile
                _apply(old, version, path)
                old.execute("COMMIT")


def _apply(connection: sqlite3.Connection, version: int, path: Path) -> None:
    if connect.has_triggers(connection):
        raise StoreError(f"cannot migrate {path}: it has triggers, which topoi does not make; remove them first")
    for step in range(version, connect.VERSION):
        try:
            STEPS[step](connection)
        except StoreError as error:
            raise StoreError(f"cannot migrate {path}, it is damaged: {error}") from error
    connection.execute(f"PRAGMA user_version = {connect.VERSION}")
    connect.check_schema(connection, path)
