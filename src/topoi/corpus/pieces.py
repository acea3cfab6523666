"""Block-wise processing of large data: lazy arrays, ranges of rows, rows of ragged arrays, counts of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch, release

# Block size: about a megabyte, or a million numbers.
BLOCK = 2**20


class Pieces(NamedTuple):
    """Lazy array, made in blocks along its first axis each time it is read.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.pieces import Pieces
    >>> made = Pieces(np.dtype("u1"), (4,), lambda: (np.full(2, n, "u1") for n in (3, 5)))
    >>> np.asarray(made).tolist()
    [3, 3, 5, 5]
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    blocks: Callable[[], Iterator[NDArray[Any]]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        whole, at = np.empty(self.shape, self.dtype), 0
        for block in self.blocks():
            whole[at : at + len(block)] = block
            at += len(block)
        return whole if dtype is None else whole.astype(dtype, copy=False)


ArrayOrPieces = NDArray[Any] | Pieces


def row_blocks(start: NDArray[Any], most: int = BLOCK) -> Iterator[slice]:
    """Yield slices that cover all rows of a ragged array, each with at most ``most`` values, or a single row.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.pieces import row_blocks
    >>> [(part.start, part.stop) for part in row_blocks(np.array([0, 2, 3, 9, 10]), 3)]
    [(0, 2), (2, 3), (3, 4)]
    """
    first, n_rows = 0, len(start) - 1
    while first < n_rows:
        last = int(np.searchsorted(start, start[first] + most, side="right")) - 1
        yield slice(first, max(last, first + 1))
        first = max(last, first + 1)


def ranges(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Yield slices of ``size`` that cover ``n`` values; the last may be shorter.

    Examples
    --------
    >>> from topoi.corpus.pieces import ranges
    >>> [(part.start, part.stop) for part in ranges(5, 3)]
    [(0, 3), (3, 5)]
    """
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


def occurrences(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Count each integer below ``n`` block by block; ``np.bincount`` alone would copy all values, eight bytes each.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.pieces import occurrences
    >>> occurrences(np.array([0, 2, 2], np.int32), 4).tolist()
    [1, 0, 2, 0]
    """
    found = np.zeros(n, np.int64)
    # Larger blocks for large n: each block takes a pass over all n counts.
    for part in ranges(len(values), max(BLOCK, n)):
        found += np.bincount(values[part], minlength=n)
        release(values[part])
    return found


def string_pieces(strings: Sequence[str] | NDArray[Any]) -> tuple[Pieces, NDArray[np.int64]]:
    """Pack strings as one array of UTF-8 bytes, in pieces, and the end of each.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.pieces import string_pieces
    >>> data, ends = string_pieces(["a", "é"])
    >>> np.asarray(data).tobytes().decode(), ends.tolist()
    ('aé', [1, 3])
    """
    lengths = (len(s) if s.isascii() else len(s.encode()) for s in strings)
    ends = np.cumsum(np.fromiter(lengths, np.int64, len(strings)), dtype=np.int64)
    size = int(ends[-1]) if len(ends) else 0
    return Pieces(np.dtype(np.uint8), (size,), lambda: _encoded(strings)), ends


def _encoded(strings: Iterable[str]) -> Iterator[NDArray[np.uint8]]:
    batch: list[str] = []
    size = 0
    for string in strings:
        for first in range(0, len(string), BLOCK):  # split a long text
            batch.append(string[first : first + BLOCK])
            size += len(batch[-1])
            if size >= BLOCK:
                yield np.frombuffer("".join(batch).encode(), np.uint8)
                batch, size = [], 0
    yield np.frombuffer("".join(batch).encode(), np.uint8)


def row_positions(start: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the values of the given rows in the flat array, and the new row starts.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.pieces import row_positions
    >>> positions, start = row_positions(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> positions.tolist(), start.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    lengths = start[rows + 1] - start[rows]
    new_start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=new_start[1:])
    shift = np.repeat(start[rows] - new_start[:-1], lengths)
    return np.arange(new_start[-1], dtype=np.int64) + shift, new_start


def take_rows(
    start: NDArray[np.int64], rows: NDArray[np.int64], columns: list[NDArray[Any]], scratch: Scratch
) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """Take rows of ragged arrays, in blocks: the new row starts, and the new columns.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.mapped import Scratch
    >>> from topoi.corpus.pieces import take_rows
    >>> start, (values,) = take_rows(np.array([0, 2, 2, 5]), np.array([2, 0]), [np.arange(5)], Scratch())
    >>> start.tolist(), values.tolist()
    ([0, 3, 5], [2, 3, 4, 0, 1])
    """
    new_start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(start[rows + 1] - start[rows], out=new_start[1:])
    made = [scratch.zeros(int(new_start[-1]), column.dtype) for column in columns]
    for part in row_blocks(new_start):
        at, _ = row_positions(start, rows[part])
        here = slice(new_start[part.start], new_start[part.stop])
        for new, old in zip(made, columns, strict=True):
            new[here] = old[at]
            release(old, new)
    return new_start, made
