"""Arrays in files: opened without reading them, made in unnamed files, and dropped from memory after use.

Kernels cannot tell such an array from one in memory. The pages that they touch count as memory of the process until
``release`` gives them back: the system keeps them as long as it has nothing better to do with its memory.
"""

from __future__ import annotations

import math
import mmap
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from topoi.errors import CorpusError, StoreError

# Linux alone promises that dropped pages of a shared mapping are read again from the file.
_DROP = getattr(mmap, "MADV_DONTNEED", None) if sys.platform == "linux" else None


class Scratch:
    """Maker of arrays with numbers for every token: in memory or, with a folder, in files without a name.

    The system frees such a file when the last array that shows it is gone, whichever way the process ends.

    Parameters
    ----------
    folder : path, optional
        The folder of the files; None for arrays in memory.

    Examples
    --------
    >>> import tempfile
    >>> from topoi.corpus.mapped import Scratch
    >>> Scratch().zeros(2, "u2").tolist(), Scratch(tempfile.mkdtemp()).zeros(2, "u2").tolist()
    ([0, 0], [0, 0])
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)

    def zeros(self, n: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros; a disk that has no room for it is a ``StoreError``.

        Examples
        --------
        >>> from topoi.corpus.mapped import Scratch
        >>> Scratch().zeros(3, "i4").tolist()
        [0, 0, 0]
        """
        if self.folder is None or n == 0:
            return np.zeros(n, dtype)
        size = int(n) * np.dtype(dtype).itemsize
        try:
            with tempfile.TemporaryFile(prefix=".topoi-", dir=self.folder) as file:
                _reserve(file.fileno(), size)
                return np.ndarray(n, dtype, mmap.mmap(file.fileno(), size))
        except OSError as error:
            raise StoreError(
                f"cannot make a file of {math.ceil(size / 1e6):,} MB in {self.folder}: {error.strerror or error}; "
                "make room, or name another folder with topoi.open_corpus(…, scratch=…)"
            ) from error

    def keep(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array itself, or a copy of it in a file.

        Examples
        --------
        >>> import numpy as np, tempfile
        >>> from topoi.corpus.mapped import Scratch
        >>> Scratch(tempfile.mkdtemp()).keep(np.arange(3)).tolist()
        [0, 1, 2]
        """
        if self.folder is None:
            return array
        kept = self.zeros(len(array), array.dtype)
        kept[:] = array
        release(kept)
        return kept


def _reserve(file: int, size: int) -> None:
    """Make the file as long as this, with room on the disk: a page that finds none later would kill the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.truncate(file, size)


def map_file(path: Path, dtype: DTypeLike, n: int) -> NDArray[Any]:
    """Return the numbers in a file without reading them; another size than that of ``n`` is a ``CorpusError``.

    The array is writable, as compiled loops expect, but the file is never changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.mapped import map_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "three.i4")
    >>> _ = path.write_bytes(bytes([7, 0, 0, 0]))
    >>> map_file(path, "<i4", 1).tolist()
    [7]
    """
    wanted = n * np.dtype(dtype).itemsize
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise CorpusError("not a plain file", path)
        if status.st_size != wanted:
            raise CorpusError(f"the file has {status.st_size:,} bytes; {wanted:,} were promised", path)
        if not n:
            return np.zeros(0, dtype)
        with path.open("rb") as file:
            return np.ndarray(n, dtype, mmap.mmap(file.fileno(), wanted, access=mmap.ACCESS_COPY))
    except OSError as error:
        raise CorpusError(f"cannot be read: {error.strerror or error}", path) from error


def release(*arrays: Any) -> None:
    """Give back the memory of arrays in files; their contents stay. Arrays in memory are left alone.

    Parameters
    ----------
    *arrays : array, or tuple of arrays
        Anything else in a tuple is passed over.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from topoi.corpus.mapped import Scratch, release
    >>> made = Scratch(tempfile.mkdtemp()).keep(np.arange(3))
    >>> release(made, np.arange(3))
    >>> made.tolist()
    [0, 1, 2]
    """
    for array in arrays:
        if isinstance(array, tuple):
            release(*array)
        elif isinstance(array, np.ndarray) and array.size:
            _drop(array)


def _drop(array: NDArray[Any]) -> None:
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    if _DROP is None or not isinstance(whole.base, mmap.mmap):
        return
    first = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    begin = first - first % mmap.PAGESIZE
    whole.base.madvise(_DROP, begin, min(first + array.nbytes, len(whole.base)) - begin)


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array shows a file.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.mapped import is_mapped
    >>> is_mapped(np.arange(3))
    False
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(array.base, mmap.mmap)
