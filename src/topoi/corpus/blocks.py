"""Tables in blocks of rows and blobs, so that memory does not grow with the corpus when they are written."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges, row_blocks
from topoi.errors import StoreError

# While written, rows are Python numbers, ten times as large as array elements.
_ROWS_AT_A_TIME = 10_000

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]


class Blocks:
    """A table in lazily made blocks of rows; each block maps column names to columns of one length.

    Examples
    --------
    >>> from topoi.corpus.blocks import Blocks, table_values
    >>> table = Blocks(lambda: ({"word_id": [n, n + 1]} for n in (0, 2)))
    >>> [list(table_values(block, ["word_id"])) for block in table]
    [[[0, 1]], [[2, 3]]]
    """

    def __init__(self, make: Callable[[], Iterable[Columns]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Columns]:
        return iter(self._make())

    def whole(self) -> dict[str, list[Any]]:
        """All rows as one block."""
        found: dict[str, list[Any]] = {}
        for block in self:
            for name, values in block.items():
                found.setdefault(name, []).extend(values)
        return found


Table = Columns | Blocks


class Blobs(Sequence[bytes]):
    r"""Lazy sequence of blobs, one per document, cut from an array over all tokens.

    Parameters
    ----------
    values : array
        A number for every token.
    starts : array
        Offset of each document's first token, then the end of the last document.
    dtype : str
        Data type of the blobs.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.blocks import Blobs
    >>> list(Blobs(np.array([1, 2, 3]), np.array([0, 1, 3]), "<u2"))
    [b'\x01\x00', b'\x02\x00\x03\x00']
    """

    def __init__(self, values: NDArray[Any], starts: NDArray[np.int64], dtype: str) -> None:
        self._values, self._starts, self._dtype = values, starts, dtype

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> Blobs: ...
    def __getitem__(self, at: int | slice) -> bytes | Blobs:
        if isinstance(at, slice):
            first, last, _ = at.indices(len(self))
            return Blobs(self._values, self._starts[first : max(last, first) + 1], self._dtype)
        if not 0 <= at < len(self):
            raise IndexError(at)
        return self._values[self._starts[at] : self._starts[at + 1]].astype(self._dtype).tobytes()

    def __iter__(self) -> Iterator[bytes]:
        size = np.dtype(self._dtype).itemsize
        for part in row_blocks(self._starts):
            bounds = self._starts[part.start : part.stop + 1]
            data = self._values[bounds[0] : bounds[-1]].astype(self._dtype).tobytes()
            ends = ((bounds - bounds[0]) * size).tolist()
            yield from (data[first:last] for first, last in pairwise(ends))


def table_values(columns: Columns, names: Sequence[str], *first: int) -> Iterator[list[Any]]:
    """Yield the values of columns of one length, row by row in the order of ``names``, as Python numbers.

    Every row begins with the values of ``first``. Rows follow each other in one list, many at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.blocks import table_values
    >>> list(table_values({"a": np.arange(2), "b": ["x", "y"]}, ["b", "a"], 7))
    [[7, 'x', 0, 7, 'y', 1]]
    """
    ordered = [columns[name] for name in names]
    n_rows = len(ordered[0])
    if any(len(column) != n_rows for column in ordered):
        raise StoreError("the columns of a table differ in length")
    for part in ranges(n_rows, _ROWS_AT_A_TIME):
        yield _flat([column[part] for column in ordered], first)


def _flat(columns: list[Any], first: tuple[int, ...]) -> list[Any]:
    n_rows = len(columns[0])
    if all(isinstance(column, np.ndarray) and column.dtype.kind == "i" for column in columns):
        table = np.empty((n_rows, len(first) + len(columns)), np.int64)
        for i, column in enumerate((*first, *columns)):
            table[:, i] = column
        return table.ravel().tolist()
    same = (itertools.repeat(value, n_rows) for value in first)
    return list(itertools.chain.from_iterable(zip(*same, *map(_plain, columns), strict=True)))


def _plain(values: object) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else values


def position_blobs(positions: NDArray[Any], starts: NDArray[np.int64]) -> Blobs:
    r"""Authors' positions as one blob per document: one byte each, or two if any position exceeds 255.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.blocks import position_blobs
    >>> list(position_blobs(np.array([1, 0], np.uint16), np.array([0, 2])))
    [b'\x01\x00']
    """
    return Blobs(positions, starts, "<u2" if positions.max(initial=0) > 255 else "u1")
