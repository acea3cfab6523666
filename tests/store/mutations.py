"""Damage to a store, made by number: the same number always does the same to the same file."""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

# Columns whose texts are JSON.
JSON_COLUMNS = (
    ("corpus", "settings"),
    ("model", "bundle"),
    ("model", "parameters"),
    ("topic", "words"),
    ("dag_node", "words"),
    ("document", "metadata"),
    ("array", "shape"),
)
DEEP = "[" * 100_000
HUGE = 3 * 10**8
NUMBERS = (-1, 0, 1, 2, 7, 255, 65_535, 65_536, HUGE, 2**31, 2**62, -(2**63), 10**300, 1e300, 0.5, -0.5)
FLOATS = (float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1e-320)
TEXTS = ("", "x", "\0", "a" * 5000, "\x1b[2J", "nan", "12", "[]", "{}", "null", "NaN", "os.system", DEEP)
JSON_VALUES = (None, True, -1, 0, HUGE, 10**400, 1e308, "x", [], {}, [[]], {"x": 1}, [None], ["a", 3], "NaN", "\ud800")


def mutate(path: Path, number: int) -> str:
    """Damage the file in place; returns what was done, to be read in a report."""
    chance = random.Random(number)
    if chance.random() < 0.12:
        return _damage_bytes(path, chance)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("ignore_check_constraints = ON", "journal_mode = OFF", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        done = []
        for _ in range(chance.choice((1, 1, 1, 2))):
            kinds: list[Callable[[sqlite3.Connection, random.Random], str]] = [
                *[_damage_cell] * 10,
                *[_damage_json] * 7,
                *[_damage_blob] * 4,
                *[_damage_array] * 4,
                *[_damage_rows] * 4,
                _damage_schema,
            ]
            try:
                done.append(chance.choice(kinds)(connection, chance))
            except (sqlite3.IntegrityError, sqlite3.OperationalError) as error:  # a key twice, a table that is a view
                done.append(f"nothing ({error})")
        return "; ".join(done)


def _damage_bytes(path: Path, chance: random.Random) -> str:
    data = bytearray(path.read_bytes())
    if chance.random() < 0.3:
        share = chance.random()
        path.write_bytes(data[: int(len(data) * share)])
        return f"cut to {share:.3f}"
    used = [i for i, byte in enumerate(data) if byte]
    n = chance.choice((1, 4, 40))
    for _ in range(n):
        data[chance.choice(used)] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    return f"{n} bits flipped"


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'document_search%' ORDER BY name"
    ).fetchall()
    return [name for (name,) in rows if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {name})").fetchone()[0]]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})")]


def _some_row(connection: sqlite3.Connection, table: str, chance: random.Random) -> tuple[str, list[Any]]:
    """A condition that holds for one row, or for all of them."""
    if chance.random() < 0.25:
        return "1", []
    keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]] or ["rowid"]
    rows = connection.execute(f"SELECT {', '.join(keys)} FROM {table} ORDER BY {', '.join(keys)}").fetchall()
    return " AND ".join(f"{key} IS ?" for key in keys), list(chance.choice(rows))


def _set(connection: sqlite3.Connection, table: str, column: str, value: Any, where: str, given: list[Any]) -> None:
    """An update that no constraint prevents: whoever forges a file writes its pages."""
    kept = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    if value is None:
        _rewrite_schema(connection, table, kept.replace("NOT NULL", ""))
    try:
        connection.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {where}", (value, *given))
    finally:
        if value is None:
            _rewrite_schema(connection, table, kept)


def _rewrite_schema(connection: sqlite3.Connection, table: str, sql: str) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table))
    version = connection.execute("PRAGMA schema_version").fetchone()[0]
    connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.execute("PRAGMA writable_schema = RESET")


def _some_value(chance: random.Random) -> Any:
    values = chance.choice((NUMBERS, NUMBERS, FLOATS, TEXTS, (None,), (b"", b"\0\xff", bytes(4000))))
    value = chance.choice(values)
    return float(value) if isinstance(value, int) and abs(value) >= 2**63 else value


def _damage_cell(connection: sqlite3.Connection, chance: random.Random) -> str:
    table = chance.choice(_tables(connection))
    column, _ = chance.choice(_columns(connection, table))
    value = _some_value(chance)
    where, given = _some_row(connection, table, chance)
    _set(connection, table, column, value, where, given)
    return f"{table}.{column} = {str(value)[:20]!r} of {given or 'all'}"


def _walk(value: Any, chance: random.Random) -> tuple[Any, Any]:
    """A container somewhere in a JSON value, and one of its keys."""
    place, key = None, None
    while isinstance(value, dict | list) and value and (place is None or chance.random() < 0.75):
        place = value
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        value = value[key]
    return place, key


def damaged_json(text: str, chance: random.Random) -> tuple[str, str]:
    """A JSON text with one thing wrong, and what."""
    kind = chance.choice(("cut", "deep", "value", "value", "value", "remove", "rename", "whole", "wrap"))
    value = json.loads(text)
    if kind == "cut":
        return text[: chance.randrange(len(text) + 1)], kind
    if kind == "deep":
        n = chance.choice((40, 900, 100_000))
        return chance.choice(("[" * n + "]" * n, '{"a":' * n + "1" + "}" * n)), f"{kind} {n}"
    if kind == "whole":
        return json.dumps(chance.choice(JSON_VALUES)), kind
    place, key = _walk(value, chance)
    if place is None:
        return json.dumps(chance.choice(JSON_VALUES)), "whole"
    what = f"{kind} {key!r}"
    if kind == "value":
        place[key] = chance.choice((*JSON_VALUES, float("nan"), float("inf")))
        what += f" = {str(place[key])[:20]!r}"
    elif kind == "wrap":
        place[key] = chance.choice(([place[key]], {"x": place[key]}, [place[key]] * 3, str(place[key])))
    elif kind == "remove":
        del place[key]
    elif isinstance(place, dict):
        place[f"{key}_"] = place.pop(key)
    return json.dumps(value), what


def _damage_json(connection: sqlite3.Connection, chance: random.Random) -> str:
    there = set(_tables(connection))
    table, column = chance.choice([pair for pair in JSON_COLUMNS if pair[0] in there])
    where, given = _some_row(connection, table, chance)
    row = connection.execute(f"SELECT {column} FROM {table} WHERE {where}", given).fetchone()
    try:
        text, what = damaged_json(row[0], chance)
    except (TypeError, ValueError, RecursionError):  # damaged before
        text, what = DEEP, "deep"
    _set(connection, table, column, text, where, given)
    return f"{table}.{column} {what} of {given or 'all'}"


def _damage_blob(connection: sqlite3.Connection, chance: random.Random) -> str:
    places = [(t, c) for t in _tables(connection) for c, kind in _columns(connection, t) if kind == "BLOB"]
    table, column = chance.choice(places)
    where, given = _some_row(connection, table, chance)
    row = connection.execute(f"SELECT {column} FROM {table} WHERE {where}", given).fetchone()
    blob = row[0] if isinstance(row[0], bytes) else b"\0"
    packed = table in ("mixture", "array_part", "document_share") and blob != b"\0"
    try:
        data = bytearray(zlib.decompress(blob) if packed else blob)
    except zlib.error:
        data, packed = bytearray(blob), False
    kind = chance.choice(("cut", "longer", "garble", "ones", "empty", "bomb"))
    if kind == "cut":
        data = data[: chance.randrange(len(data) + 1)]
    elif kind == "longer":
        data += bytes(chance.choice((1, 2, 4, 8, 1000)))
    elif kind == "garble" and data:
        for _ in range(3):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif kind == "ones":
        data = bytearray(b"\xff" * len(data))
    elif kind == "empty":
        data = bytearray()
    elif kind == "bomb":
        data = bytearray(30_000_000 if packed else 30_000)
    new = zlib.compress(bytes(data), 1) if packed else bytes(data)
    _set(connection, table, column, new, where, given)
    return f"{table}.{column} {kind} of {given or 'all'}"


def _damage_array(connection: sqlite3.Connection, chance: random.Random) -> str:
    rows = connection.execute("SELECT array_id, name, dtype, shape FROM array ORDER BY array_id").fetchall()
    key, name, dtype, shape = chance.choice(rows)
    kind = chance.choice(("dtype", "shape", "values", "values", "name", "documents", "documents"))
    if kind == "dtype":
        value = chance.choice(("|O", "<U4", "<f4", "<f8", "<i8", "<u2", "|u1", "<c16", "", "int64", ">i4"))
        connection.execute("UPDATE array SET dtype = ? WHERE array_id = ?", (value, key))
    elif kind == "shape":
        value = chance.choice(("[]", f"[{HUGE}]", f"[{HUGE}, {HUGE}]", "[0]", "[-1]", "[1.5]", '["3"]', "[[3]]", DEEP))
        connection.execute("UPDATE array SET shape = ? WHERE array_id = ?", (value, key))
    elif kind == "name":
        value = chance.choice(("x", "", *[row[1] for row in rows]))
        connection.execute("UPDATE array SET name = ? WHERE array_id = ?", (value, key))
    else:
        if kind == "documents":
            found = [row for row in rows if row[1] == "documents"]
            key, name, dtype, shape = found[0] if found else rows[0]
        value = _changed_values(connection, chance, key, name)
    return f"array {name} {kind} {str(value)[:30]}"


def _changed_values(connection: sqlite3.Connection, chance: random.Random, key: int, name: str) -> str:
    import numpy as np

    row = connection.execute("SELECT a.dtype, p.data FROM array AS a JOIN array_part AS p USING (array_id) "
                             "WHERE array_id = ? AND part = 0", (key,)).fetchone()  # fmt: skip
    try:
        data = zlib.decompress(row[1])
        values = np.frombuffer(data, row[0]).copy()
    except (TypeError, ValueError, zlib.error):
        return "nothing"
    what = "values"
    if name == "documents":
        try:
            text, what = damaged_json(data.decode(), chance)
        except ValueError:
            return "nothing"
        data = text.encode("utf-8", "surrogatepass")
    elif len(values):
        new = chance.choice((-1, 0, 1, HUGE, 2**62, float("nan"), float("inf"), 1e300, 1e-320, -0.5))
        where = slice(None) if chance.random() < 0.3 else chance.randrange(len(values))
        with np.errstate(all="ignore"):
            values[where] = np.array([new]).astype(values.dtype)[0]
        data, what = values.tobytes(), f"values {new}"
    shape = connection.execute("SELECT shape FROM array WHERE array_id = ?", (key,)).fetchone()[0]
    if name == "documents":
        shape = json.dumps([len(data)])
    connection.execute("UPDATE array SET shape = ? WHERE array_id = ?", (shape, key))
    connection.execute("UPDATE array_part SET data = ? WHERE array_id = ? AND part = 0", (zlib.compress(data, 1), key))
    return what


def _damage_rows(connection: sqlite3.Connection, chance: random.Random) -> str:
    table = chance.choice(_tables(connection))
    where, given = _some_row(connection, table, chance)
    columns = _columns(connection, table)
    keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
    kind = chance.choice(("delete", "twice", "shift"))
    if kind == "delete" or not keys:
        connection.execute(f"DELETE FROM {table} WHERE {where}", given)
    else:
        listed = ", ".join(f"{name} + {chance.choice((1, 1000))}" if name == keys[-1] else name for name, _ in columns)
        if kind == "twice":
            connection.execute(f"INSERT OR REPLACE INTO {table} SELECT {listed} FROM {table} WHERE {where}", given)
        else:
            step = chance.choice((1, -1, 7, 10**6))
            connection.execute(f"UPDATE OR REPLACE {table} SET {keys[-1]} = {keys[-1]} + ? WHERE {where}",
                               (step, *given))  # fmt: skip
    return f"{table} {kind} of {given or 'all'}"


def _damage_schema(connection: sqlite3.Connection, chance: random.Random) -> str:
    table = chance.choice(_tables(connection))
    kind = chance.choice(("drop", "column", "index", "view", "version"))
    if kind == "drop":
        connection.execute(f"DROP TABLE {table}")
    elif kind == "column":
        connection.execute(f"ALTER TABLE {table} ADD COLUMN evil TEXT DEFAULT 'x'")
    elif kind == "index":
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL").fetchall()
        connection.execute(f"DROP INDEX {chance.choice(names)[0]}")
    elif kind == "view":
        connection.execute(f"ALTER TABLE {table} RENAME TO evil")
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM evil")
    else:
        connection.execute(f"PRAGMA user_version = {chance.choice((0, 2, 3, 99))}")
    return f"{table} {kind}"
