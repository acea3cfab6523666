"""Serialise named arrays as rows of a store, with checksums. Numeric types only: nothing in a file is ever executed."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.characters import without_surrogates
from topoi.corpus.checked_json import read_json
from topoi.corpus.pieces import ArrayOrPieces, Pieces
from topoi.errors import StoreError

# Below SQLite's limit for one value, and small enough that memory grows only with the bytes a file really holds.
PART_BYTES = 16 * 2**20
# Smaller parts for arrays of samples: they are read one document at a time, and zlib unpacks a part from its start.
_SAMPLES, _SAMPLE_BYTES = "_samples_", 2**16
_DTYPES = frozenset({"|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"})
_MOST_DIMENSIONS = 8
# Names of arrays that a model had before an edit begin with this, and the edit's step.
_UNDO = "undo"
# Largest expansion ratio of zlib.
_MOST_UNPACKED = 1032


def put_arrays(connection: sqlite3.Connection, model_id: int | None, arrays: Mapping[str, ArrayOrPieces]) -> None:
    """Write arrays as rows of ``array`` and ``array_part``."""
    for name, array in arrays.items():
        plain = array if isinstance(array, Pieces) else little_endian(name, array)
        cursor = connection.execute(
            "INSERT INTO array (model_id, name, dtype, shape) VALUES (?, ?, ?, ?)",
            (model_id, name, plain.dtype.newbyteorder("<").str, json.dumps(plain.shape)),
        )
        for part, data in enumerate(_cut(_raw(name, plain), _part_bytes(name))):
            packed = zlib.compress(data, 1)
            connection.execute("INSERT INTO array_part VALUES (?, ?, ?)", (cursor.lastrowid, part, packed))


def _raw(name: str, array: ArrayOrPieces) -> Iterator[memoryview]:
    """Yield the bytes of an array, C order and little-endian, in one or more pieces."""
    for block in array.blocks() if isinstance(array, Pieces) else (array,):
        yield little_endian(name, block).reshape(-1).view(np.uint8).data


def _cut(pieces: Iterator[memoryview], size: int) -> Iterator[memoryview | bytearray]:
    """Yield the same bytes in parts of ``size``; the last may be shorter."""
    begun = bytearray()
    for piece in pieces:
        at = 0
        while at < len(piece):
            if not begun and at + size <= len(piece):
                yield piece[at : at + size]
                at += size
                continue
            taken = piece[at : at + size - len(begun)]
            begun += taken
            at += len(taken)
            if len(begun) == size:
                yield begun
                begun = bytearray()
    if begun:
        yield begun


def get_arrays(
    connection: sqlite3.Connection, model_id: int | None, step: int | None = None
) -> dict[str, NDArray[Any]]:
    """Read the arrays of a model (None: of the corpus); raise ``StoreError`` if they are inconsistent.

    ``step`` is that of an edit: the arrays are then those of the model before it.
    """
    prefix = "" if step is None else undo_prefix(step)
    which = f"NOT GLOB '{_UNDO}[0-9]*'" if step is None else f"GLOB '{prefix}*'"
    rows = connection.execute(
        f"SELECT array_id, name, dtype, shape FROM array WHERE model_id IS ? AND name {which} ORDER BY array_id",
        (model_id,),
    ).fetchall()
    return {
        str(name).removeprefix(prefix): _get_array(connection, key, name, dtype, shape)
        for key, name, dtype, shape in rows
    }


def undo_prefix(step: int) -> str:
    """Beginning of the names of arrays that a model had before a step of edits.

    Examples
    --------
    >>> from topoi.store.arrays import undo_prefix
    >>> undo_prefix(3)
    'undo3_'
    """
    return f"{_UNDO}{int(step)}_"


def get_array(
    connection: sqlite3.Connection, model_id: int | None, name: str, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Read one array of a known shape (None: any length); ``StoreError`` if it is missing or has another shape."""
    row = connection.execute(
        "SELECT array_id, name, dtype, shape FROM array WHERE model_id IS ? AND name = ?", (model_id, name)
    ).fetchone()
    if row is None:
        raise StoreError(f"there is no array {name!r}")
    if not _fits(row[3], shape):
        raise StoreError(f"array {name!r} has not the shape {shape}")
    return _get_array(connection, *row)


def _fits(stored: object, shape: tuple[int | None, ...]) -> bool:
    """Whether a shape in a file is the expected one."""
    try:
        sizes = read_json(stored)
    except ValueError:
        return False
    if not isinstance(sizes, list) or len(sizes) != len(shape):
        return False
    return all(n is None or n == there for n, there in zip(shape, sizes, strict=True))


class LastParts:
    """Parts of arrays that were read last, for readers that go through an array in order.

    A part that is asked for once is unpacked as far as needed; asked for again, as a whole, and kept.

    Examples
    --------
    >>> import zlib
    >>> from topoi.store.arrays import LastParts
    >>> parts, packed = LastParts(), zlib.compress(b"topoi")
    >>> parts.read("a", packed, 2), parts.read("a", packed, 2), parts.read("a", packed, 3)
    (b'to', b'to', b'top')
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[bytes, bytes | None]] = {}

    def read(self, name: str, packed: bytes, end: int) -> bytes:
        """The first bytes of a part of an array."""
        known, whole = self._kept.get(name, (None, None))
        if known != packed:
            self._kept[name] = packed, None
            return zlib.decompressobj().decompress(packed, end)
        if whole is None:
            whole = zlib.decompressobj().decompress(packed, _SAMPLE_BYTES)
            self._kept[name] = packed, whole
        return whole[:end]


def get_rows(
    connection: sqlite3.Connection,
    model_id: int | None,
    names: Sequence[str],
    shape: tuple[int, int],
    rows: range,
    last: LastParts | None = None,
) -> list[NDArray[Any]]:
    """Read a range of rows of sample arrays of one known shape: one query, and only the parts needed are unpacked.

    ``last`` saves a reader that goes through the rows in order from unpacking a part for each of them.
    """
    last = LastParts() if last is None else last
    if not len(rows):
        return [np.zeros((0, shape[1]), np.uint8) for _ in names]
    query = """
        SELECT a.name, a.dtype, a.shape, p.part, p.data FROM (
            SELECT array_id, name, dtype, shape, CASE dtype WHEN '|u1' THEN 1 WHEN '<u2' THEN 2 ELSE 4 END AS bytes
            FROM array WHERE model_id IS :model AND name IN (SELECT value FROM json_each(:names))
        ) AS a JOIN array_part AS p ON p.array_id = a.array_id
            AND p.part BETWEEN :first * bytes / :size AND (:last * bytes - 1) / :size ORDER BY p.part"""
    given = {"first": rows.start * shape[1], "last": rows.stop * shape[1], "size": _SAMPLE_BYTES}
    named = {"model": model_id, "names": json.dumps(list(names))}
    parts = connection.execute(query, named | given).fetchall()
    return [_rows_of(name, [row[1:] for row in parts if row[0] == name], shape, rows, last) for name in names]


def _part_bytes(name: object) -> int:
    return _SAMPLE_BYTES if _SAMPLES in str(name) else PART_BYTES


def _rows_of(
    name: str, parts: list[tuple[Any, ...]], shape: tuple[int, int], rows: range, last: LastParts
) -> NDArray[Any]:
    """Assemble rows of one matrix from the parts that hold them; each part is (dtype, shape, number, packed bytes)."""
    if not parts or parts[0][0] not in ("|u1", "<u2", "<u4") or parts[0][1] != json.dumps(shape):
        raise StoreError(f"there is no array {name!r} of the shape {shape}")
    width = shape[1] * np.dtype(parts[0][0]).itemsize
    begin, end = rows.start * width, rows.stop * width
    found = bytearray()
    for _, _, part, data in parts:
        try:
            here = last.read(name, data, min(end - part * _SAMPLE_BYTES, _SAMPLE_BYTES))
        except (TypeError, zlib.error) as error:
            raise StoreError(f"array {name!r} is damaged ({error})") from error
        found += here[max(begin - part * _SAMPLE_BYTES, 0) :]
    if len(found) != end - begin:
        raise StoreError(f"array {name!r} is damaged: a part has more, or less, than it should")
    return np.frombuffer(found, parts[0][0]).reshape(len(rows), shape[1])


def _get_array(connection: sqlite3.Connection, key: int, name: object, dtype: object, shape: object) -> NDArray[Any]:
    if dtype not in _DTYPES:
        raise StoreError(f"array {name!r} holds {dtype!r}, not numbers: refused")
    try:
        sizes = read_json(shape)
    except ValueError:
        sizes = None
    whole = isinstance(sizes, list) and len(sizes) <= _MOST_DIMENSIONS
    if not whole or not all(type(n) is int and 0 <= n < 2**48 for n in sizes):
        raise StoreError(f"array {name!r} has no valid shape")
    expected = math.prod(sizes) * np.dtype(dtype).itemsize
    _check_size(connection, key, name, expected)
    data = bytearray()
    parts = connection.execute("SELECT data FROM array_part WHERE array_id = ? ORDER BY part", (key,))
    for (packed,) in parts:
        data += unpacked(packed, min(_part_bytes(name), expected - len(data)), name)
    if len(data) != expected:
        raise StoreError(f"array {name!r} promises {expected:,} bytes, but the file holds {len(data):,}")
    return np.frombuffer(data, dtype).reshape(sizes)


def _check_size(connection: sqlite3.Connection, key: int, name: object, expected: int) -> None:
    """Refuse a size that the packed bytes cannot expand to, before memory is allocated for it."""
    query = "SELECT coalesce(sum(length(data)), 0) FROM array_part WHERE array_id = ? AND typeof(data) = 'blob'"
    there = connection.execute(query, (key,)).fetchone()[0]
    if expected > there * _MOST_UNPACKED:
        raise StoreError(f"array {name!r} promises {expected:,} bytes, but the file holds {there:,}, packed")


def unpacked(packed: object, size: int, name: object) -> bytes:
    """Decompress ``size`` bytes; any other length is a ``StoreError``, found without unpacking the rest."""
    if not isinstance(packed, bytes):
        raise StoreError(f"array {name!r} is damaged: a part is not binary")
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, max(size, 1))
        if not unpacker.eof:
            data += unpacker.decompress(unpacker.unconsumed_tail, 1)
    except zlib.error as error:
        raise StoreError(f"array {name!r} is damaged ({error})") from error
    if len(data) != size or not unpacker.eof:
        raise StoreError(f"array {name!r} is damaged: a part has more, or less, than it should")
    return data


def little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in C order and little-endian; refuse anything but numbers."""
    array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        raise StoreError(f"array {name!r} holds {array.dtype}, not numbers: refused")
    return np.array(array, array.dtype.newbyteorder("<"), order="C", copy=None)


def checksum(meta: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> str:
    """Digest of settings and arrays: equal on every machine, different if any bit differs.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.arrays import checksum
    >>> checksum({"a": 1}, {"x": np.arange(2)}) == checksum({"a": 1}, {"x": np.arange(3)})
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(to_json(meta).encode())
    for name in sorted(arrays):
        given = arrays[name]
        array = given if isinstance(given, Pieces) else little_endian(name, given)
        head = f"\0{name}\0{array.dtype.newbyteorder('<').str}\0{array.shape}\0"
        digest.update(head.encode())
        for data in _raw(name, array):
            digest.update(data)
    return digest.hexdigest()


def to_json(meta: Mapping[str, Any]) -> str:
    """Serialise settings as JSON with sorted keys; raise ``StoreError`` for what JSON cannot hold.

    Lone surrogates, as in file names that are not UTF-8, are replaced: SQLite text must be valid UTF-8.
    """
    try:
        return without_surrogates(json.dumps(dict(meta), allow_nan=False, sort_keys=True, ensure_ascii=False))
    except (TypeError, ValueError) as error:
        raise StoreError(f"settings cannot be saved: {error}") from error


def from_json(text: object, what: str) -> dict[str, Any]:
    """Parse the settings that ``to_json`` wrote."""
    try:
        return dict(read_json(text, dict))
    except ValueError as error:
        raise StoreError(f"{what} is damaged ({error})") from error
