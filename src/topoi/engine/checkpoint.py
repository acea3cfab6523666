"""Checkpoints: a fit that is killed at any moment and resumed ends with bit-identical results.

A checkpoint is a bundle of named arrays and JSON with everything that the next step reads, written atomically. Random
streams of Gibbs chains are keyed by (seed, chain, sweep, shard): of these, only the seed and the sweep are saved.

The file is an ordinary zip archive of ``.npy`` members and one ``manifest.json``, so that numpy (or anything else) can
read it without topoi. Nothing in it is ever executed; object arrays are refused in writing and reading. Writing is
atomic: a temporary file beside its place is renamed, so a reader, or a power cut, finds the old file or the new one.
"""

from __future__ import annotations

import json
import math
import numbers
import os
import re
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch, release
from topoi.corpus.pieces import ArrayOrPieces, Pieces, ranges
from topoi.corpus.writing import UNFINISHED, whole_file
from topoi.errors import ModelError, StoreError

FORMAT = "topoi-bundle"
VERSION = 1
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 64 * 2**20
_LARGEST_ARRAY = 2**40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What untrusted content may raise where it is taken apart.
_DAMAGES = (ArithmeticError, AttributeError, IndexError, KeyError, ModelError, TypeError, ValueError)
_UNITS = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0}


class Bundle(NamedTuple):
    """The contents of a bundle file: JSON-able ``meta`` and named ``arrays``."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_bundle(
    path: str | Path, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces], compress: bool = False
) -> None:
    """Write a bundle of the given kind ("model", "checkpoint", …) atomically.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from topoi.engine.checkpoint import read_bundle, write_bundle
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers.topoi"
    >>> write_bundle(path, "model", {"name": "demo"}, {"x": np.arange(3)})
    >>> read_bundle(path, "model").arrays["x"].tolist()
    [0, 1, 2]
    """
    path = Path(path)
    with whole_file(path) as stream:
        write_bundle_stream(stream, path, kind, meta, arrays, compress)


def write_bundle_stream(
    stream: IO[bytes],
    name: str | Path,
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, ArrayOrPieces],
    compress: bool = False,
) -> None:
    """Write a bundle to an open stream; ``name`` is for messages."""
    manifest = {"format": FORMAT, "version": VERSION, "kind": kind, "arrays": sorted(arrays), "meta": dict(meta)}
    try:
        text = json.dumps(manifest, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"cannot write {name}: {error}") from error
    for each, array in arrays.items():
        _check_type(array.dtype if isinstance(array, Pieces) else np.asarray(array).dtype, each, name)
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", method, compresslevel=1 if compress else None) as archive:
        archive.writestr(_MANIFEST, text)
        for each, array in arrays.items():
            with archive.open(f"{each}.npy", "w", force_zip64=True) as member:
                _write_array(member, array)


def _write_array(member: IO[bytes], array: ArrayOrPieces) -> None:
    """Write an array as numpy does, one in pieces piece by piece."""
    if not isinstance(array, Pieces):
        np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)
        return
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(member, header)
    for block in array.blocks():
        member.write(np.ascontiguousarray(block, array.dtype).data)


def remove_unfinished(path: str | Path) -> None:
    """Remove temporary files left by killed writers of this file."""
    path = Path(path)
    for left in path.parent.iterdir() if path.parent.is_dir() else ():
        if left.name.startswith(f".{path.name}.") and left.name.endswith(UNFINISHED):
            left.unlink(missing_ok=True)


def read_bundle(path: str | Path, kind: str, scratch: Scratch | None = None) -> Bundle:
    """Read a bundle of the given kind; a missing, damaged, foreign or newer file is a ``StoreError``.

    Arrays are made by ``scratch``: in memory, or in files.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            return read_bundle_stream(stream, path, kind, scratch)
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist") from None
    except OSError as error:
        raise StoreError(f"{path} is damaged or is not a topoi file ({error})") from error


def read_bundle_stream(stream: IO[bytes], name: str | Path, kind: str, scratch: Scratch | None = None) -> Bundle:
    """Read a bundle from an open stream; ``name`` is for messages."""
    try:
        with zipfile.ZipFile(stream) as archive:
            manifest = _read_manifest(archive, name)
            _check_manifest(manifest, name, kind)
            arrays = {each: _read_array(archive, each, name, scratch or Scratch()) for each in manifest["arrays"]}
    except StoreError:
        raise
    except Exception as error:  # untrusted bytes may make zipfile, json and numpy raise nearly anything
        raise StoreError(f"{name} is damaged or is not a topoi file ({error})") from error
    return Bundle(manifest["meta"], arrays)


def _read_manifest(archive: zipfile.ZipFile, path: str | Path) -> dict[str, Any]:
    information = archive.getinfo(_MANIFEST)
    _check_member(information, path)
    if information.file_size > _LARGEST_MANIFEST:
        raise StoreError(f"{path} has a manifest of more than {_LARGEST_MANIFEST >> 20} MB: refused")
    manifest = json.loads(archive.read(_MANIFEST))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} is not a topoi file")
    return manifest


def _check_manifest(manifest: dict[str, Any], path: str | Path, kind: str) -> None:
    version = manifest.get("version")
    if not isinstance(version, int) or version < 1:
        raise StoreError(f"{path} has no valid version number")
    if version > VERSION:
        raise StoreError(f"{path} was written by a newer topoi (format {version}, this one reads {VERSION}): upgrade")
    if manifest.get("kind") != kind:
        raise StoreError(f"{path} holds a {manifest.get('kind')}, not a {kind}")
    names = manifest.get("arrays")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names) or len(set(names)) != len(names):
        raise StoreError(f"{path} is damaged: its list of arrays is not a list of names")
    if not isinstance(manifest.get("meta"), dict):
        raise StoreError(f"{path} is damaged: it has no settings")


def _check_member(information: zipfile.ZipInfo, path: str | Path) -> None:
    if information.compress_type not in _METHODS:
        raise StoreError(f"{path} is compressed in a way that topoi does not use: refused")


def _check_type(dtype: np.dtype[Any], name: str, path: str | Path) -> None:
    if dtype.kind not in "biuf":
        raise StoreError(f"{path}: array {name!r} holds {dtype}, not numbers: refused")


def _read_array(archive: zipfile.ZipFile, name: str, path: str | Path, scratch: Scratch) -> NDArray[Any]:
    information = archive.getinfo(f"{name}.npy")
    _check_member(information, path)
    # Arrays of counts compress well, but a ratio of 1000 indicates a zip bomb.
    if information.file_size > max(1000 * information.compress_size, 2**20) or information.file_size > _LARGEST_ARRAY:
        raise StoreError(f"{path}: array {name!r} would unpack to {information.file_size:,} bytes: refused")
    with archive.open(information) as member:
        shape, by_columns, dtype = _read_header(member)
        _check_type(dtype, name, path)
        # The array must fill the member: zipfile checks the checksum only when the last byte is read.
        if math.prod(shape) * dtype.itemsize != information.file_size - member.tell() or min(shape, default=0) < 0:
            raise StoreError(f"{path}: array {name!r} promises more, or less, than the file holds")
        if scratch.folder is not None and not by_columns:
            return _read_into(scratch.zeros(math.prod(shape), dtype), member).reshape(shape)
    with archive.open(information) as member:
        return np.asarray(np.lib.format.read_array(member, allow_pickle=False))


def _read_into(array: NDArray[Any], member: IO[bytes]) -> NDArray[Any]:
    """Fill an array from a file block by block."""
    for part in ranges(len(array)):
        array[part] = np.frombuffer(member.read(array[part].nbytes), array.dtype)
        release(array[part])
    member.read(1)  # the end, where zipfile checks the checksum
    return array


def _read_header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    return np.lib.format.read_array_header_2_0(member)


def parse_interval(every: int | str) -> tuple[int | None, float | None]:
    """Parse a checkpoint interval: (sweeps, None) or (None, seconds), the latter for "30s", "5min", "1h" and the like.

    Examples
    --------
    >>> from topoi.engine.checkpoint import parse_interval
    >>> parse_interval(50), parse_interval("5min")
    ((50, None), (None, 300.0))
    """
    if isinstance(every, numbers.Integral) and not isinstance(every, bool) and every >= 1:
        return int(every), None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|min|h)\s*", every) if isinstance(every, str) else None
    if match is None:
        raise ModelError(
            f"checkpoint_every is {every!r}; pass a number of sweeps, or a time such as '30s', '5min' or '1h'"
        )
    return None, float(match[1]) * _UNITS[match[2]]


def _whole(value: object) -> int:
    """Validate a sweep or a seed; a negative sweep would make the loop run nearly for ever."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{value!r} is no number of a sweep or a seed")
    return value


class Checkpoint:
    """One file that holds the latest complete sweep of a fit, tied to its corpus and settings."""

    def __init__(
        self, path: str | Path, every: int | str, identity: Mapping[str, Any], scratch: Scratch | None = None
    ) -> None:
        self.path = Path(path)
        self._scratch = scratch
        self.identity = dict(identity)
        self._sweeps, self._seconds = parse_interval(every)
        self._last_sweep = 0
        self._last_time = time.monotonic()

    def read(self, seed: int | None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Read the saved progress; None if there is no file, ``ModelError`` if the file is of another fit.

        With ``seed=None`` the saved seed is accepted. A folder that is not writable is an error already here, not only
        when the first checkpoint is due.
        """
        if not os.access(self.path.parent, os.W_OK):
            raise StoreError(f"cannot write checkpoint {self.path}: {self.path.parent} is not a writable folder")
        remove_unfinished(self.path)
        if not self.path.exists():
            return None
        bundle = read_bundle(self.path, "checkpoint", self._scratch)
        try:
            saved, progress = bundle.meta["identity"], bundle.meta["progress"]
            differing = sorted(k for k in saved.keys() | self.identity.keys() if saved.get(k) != self.identity.get(k))
            self._last_sweep, saved_seed = _whole(progress["sweep"]), _whole(progress["seed"])
        except _DAMAGES as error:
            raise self._damaged(error) from error
        if seed is not None and seed != saved_seed:
            differing.append("random_state")
        if differing:
            raise ModelError(
                f"checkpoint {self.path} belongs to another fit (different: {', '.join(differing)}); "
                "remove it, or use another file"
            )
        return progress, bundle.arrays

    def restore(
        self, seed: int | None, n_iter: int, rebuild: Callable[[dict[str, Any], dict[str, NDArray[Any]]], Any]
    ) -> tuple[int, int] | None:
        """Read the saved progress and call ``rebuild`` with it; return its seed and sweep, None if there is no file.

        Whatever ``rebuild`` refuses makes the file a damaged one, a ``StoreError``.
        """
        saved = self.read(seed)
        if saved is None:
            return None
        progress, arrays = saved
        if progress["sweep"] > n_iter:
            raise ModelError(
                f"checkpoint {self.path} is at sweep {progress['sweep']}, beyond n_iter={n_iter}; "
                "raise n_iter or remove the file"
            )
        try:
            rebuild(progress, arrays)
        except _DAMAGES as error:
            raise self._damaged(error) from error
        return progress["seed"], progress["sweep"]

    def _damaged(self, error: Exception) -> StoreError:
        return StoreError(f"checkpoint {self.path} is damaged ({error}); remove it")

    def due(self, sweep: int) -> bool:
        """Whether a checkpoint is due after this sweep; sweeps before the last one written are of another start."""
        if self._sweeps is not None:
            return not 0 <= sweep - self._last_sweep < self._sweeps
        return time.monotonic() - self._last_time >= (self._seconds or 0.0)

    def write(self, sweep: int, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Replace the file with the state after ``sweep``."""
        write_bundle(self.path, "checkpoint", {"identity": self.identity, "progress": dict(progress)}, arrays)
        self._last_sweep = sweep
        self._last_time = time.monotonic()
