"""The shared folder of a fit: documents and assignments of its shards, as files that every worker reads.

Any place that fsspec knows: a path on a file system that all machines have, or an address such as ``s3://bucket/name``.
Files are bundles (``engine.checkpoint``): data, nothing that could run, with checksums.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from topoi.engine.checkpoint import read_bundle_stream, write_bundle_stream
from topoi.errors import StoreError

Arrays = dict[str, NDArray[Any]]
_KIND = "shard"


class SharedFolder:
    """A folder that all workers reach.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from topoi.engine.cluster.files import SharedFolder
    >>> folder = SharedFolder(tempfile.mkdtemp())
    >>> _ = folder.write("one.topoi", {"x": np.arange(2)})
    >>> folder.read("one.topoi")["x"].tolist()
    [0, 1]
    """

    def __init__(self, address: str) -> None:
        from fsspec.core import url_to_fs

        self.address = address
        try:
            self._system, self._root = url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise StoreError(f"cannot use {address} as a shared folder: {error}") from error

    def below(self, name: str) -> SharedFolder:
        """A folder within this one, made if it is not there."""
        made = SharedFolder(f"{self.address.rstrip('/')}/{name}")
        made.make()
        return made

    def make(self) -> None:
        """Make the folder if it is not there."""
        try:
            self._system.makedirs(self._root, exist_ok=True)
        except OSError as error:
            raise self._problem("make", "", error) from error

    def write(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> int:
        """Write arrays; readers find the whole file or none. Return its size."""
        stream = io.BytesIO()
        write_bundle_stream(stream, name, _KIND, {}, arrays)
        final, unfinished = f"{self._root}/{name}", f"{self._root}/.{name}.{secrets.token_hex(8)}"
        try:
            # Object stores show a file when it is closed; other systems rename one that is whole.
            with self._system.open(unfinished, "wb") as file:
                file.write(stream.getbuffer())
            self._system.mv(unfinished, final)
        except OSError as error:
            self._remove_quietly(unfinished)
            raise self._problem("write", name, error) from error
        return stream.tell()

    def read(self, name: str) -> Arrays:
        """Read the arrays of a file."""
        try:
            content = self._system.cat_file(f"{self._root}/{name}")
        except OSError as error:
            raise self._problem("read", name, error) from error
        return read_bundle_stream(io.BytesIO(content), f"{self.address}/{name}", _KIND).arrays

    def remove(self, *names: str) -> None:
        """Remove files; those that are gone already are passed over."""
        for name in names:
            self._remove_quietly(f"{self._root}/{name}")

    def remove_all(self) -> None:
        """Remove the folder and what is in it, as far as that is possible."""
        try:
            self._system.rm(self._root, recursive=True)
        except OSError:
            return

    def _remove_quietly(self, path: str) -> None:
        try:
            self._system.rm(path)
        except OSError:
            return

    def _problem(self, what: str, name: str, error: OSError) -> StoreError:
        reason = error.strerror or str(error) or type(error).__name__
        return StoreError(f"cannot {what} {self.address.rstrip('/')}/{name} in the shared folder: {reason}")


def absolute(address: str) -> str:
    """The address, or the absolute path of a relative one: workers run in folders of their own.

    Examples
    --------
    >>> from topoi.engine.cluster.files import absolute
    >>> absolute("s3://bucket/topoi"), absolute("/scratch/../topoi")
    ('s3://bucket/topoi', '/topoi')
    """
    return address if "://" in address else str(Path(address).resolve())


def documents_file(shard: int) -> str:
    """Name of the file with a shard's documents."""
    return f"documents-{shard:05}.topoi"


def state_file(chain: int, shard: int, sweep: int) -> str:
    """Name of the file with a shard's assignments after a sweep."""
    return f"chain{chain}-shard{shard:05}-sweep{sweep:08}.topoi"
