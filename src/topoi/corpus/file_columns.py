"""Files of numbers and strings in a folder, appended to, and read and replaced in place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from topoi.corpus.folder import string_files
from topoi.corpus.pieces import string_pieces
from topoi.errors import CorpusError


class FileColumns:
    """Files of a folder that arrays are appended to.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from topoi.corpus.file_columns import FileColumns
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with FileColumns(folder) as columns:
    ...     columns.append("tokens.i32", np.array([3, 1]))
    >>> (folder / "tokens.i32").stat().st_size
    8
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._open.close()

    def file(self, name: str) -> BinaryIO:
        """Return the file of this name, empty at first.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from topoi.corpus.file_columns import FileColumns
        >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
        ...     columns.file("texts.utf8").write(b"On dust")
        7
        """
        if name not in self._files:
            self._files[name] = self._open.enter_context((self.folder / name).open("w+b"))
        return self._files[name]

    def append(self, name: str, values: NDArray[Any] | Sequence[int]) -> None:
        """Append numbers to a file, whose suffix says how they are written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from topoi.corpus.file_columns import FileColumns
        >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
        ...     columns.append("doc_start.i64", [0, 2])
        """
        self.file(name).write(np.ascontiguousarray(values, _dtype(name)).data)

    def strings(self, name: str, values: Sequence[str] | NDArray[Any]) -> int:
        """Write a list of strings; return its number of bytes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from topoi.corpus.file_columns import FileColumns
        >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
        ...     columns.strings("words", ["dust", "sand"])
        8
        """
        files = string_files(self.folder, name)
        data, ends = string_pieces(values)
        file = self.file(files.data.name)
        for block in data.blocks():
            file.write(block.data)
        self.append(files.ends.name, ends)
        return data.shape[0]

    def read(self, name: str, first: int, n: int) -> NDArray[Any]:
        """Read ``n`` numbers of a file.

        Examples
        --------
        >>> import numpy as np, pathlib, tempfile
        >>> from topoi.corpus.file_columns import FileColumns
        >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
        ...     columns.append("tokens.i32", np.arange(5))
        ...     columns.read("tokens.i32", 2, 2).tolist()
        [2, 3]
        """
        values, file = np.empty(n, _dtype(name)), self.file(name)
        file.seek(first * values.itemsize)
        if n and file.readinto(values.data.cast("B")) != values.nbytes:  # type: ignore[attr-defined]
            raise CorpusError("the file ends too early", self.folder / name)
        return values

    def put(self, name: str, first: int, values: NDArray[Any]) -> None:
        """Replace numbers of a file, from number ``first`` on.

        Examples
        --------
        >>> import numpy as np, pathlib, tempfile
        >>> from topoi.corpus.file_columns import FileColumns
        >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
        ...     columns.append("tokens.i32", np.arange(3))
        ...     columns.put("tokens.i32", 1, np.array([7]))
        ...     columns.read("tokens.i32", 0, 3).tolist()
        [0, 7, 2]
        """
        self.file(name).seek(first * np.dtype(_dtype(name)).itemsize)
        self.append(name, values)

    def cut(self, name: str, n: int) -> None:
        """Keep the first ``n`` numbers of a file.

        Examples
        --------
        >>> import numpy as np, pathlib, tempfile
        >>> from topoi.corpus.file_columns import FileColumns
        >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
        ...     columns.append("tokens.i32", np.arange(3))
        ...     columns.cut("tokens.i32", 1)
        """
        self.file(name).truncate(n * np.dtype(_dtype(name)).itemsize)


def _dtype(name: str) -> DTypeLike:
    return {"i32": "<i4", "i64": "<i8", "u8": "u1"}[name.rpartition(".")[2]]
