"""Topic counts of all authors, or all documents, packed in one row, so that nearest neighbours take one read."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges

# Documents to a row of ``document_share``, and the type of its numbers.
SHARES_AT_ONCE, SHARE_TYPE = 1024, "<f2"
_TYPES = {"row_start": "<i8", "topic": "<u2", "n_tokens": "<u4"}


def pack_mixture(cells: Iterable[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]], n_rows: int) -> dict[str, Any]:
    """Columns of a ``mixture`` row after its kind, from blocks of (row, topic, count) triples sorted by row.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.mixture_rows import pack_mixture
    >>> sorted(pack_mixture([(np.array([0, 0, 2]), np.array([1, 4, 0]), np.array([7, 1, 2]))], 3))
    ['n_rows', 'n_tokens', 'row_start', 'topic']
    """
    start, topics, numbers = np.zeros(n_rows + 1, np.int64), _Packer("topic"), _Packer("n_tokens")
    for row, topic, n_tokens in cells:
        if len(row):
            start[row[0] + 1 : row[-1] + 2] += np.bincount(row - row[0])
        topics.add(topic)
        numbers.add(n_tokens)
    np.cumsum(start, out=start)
    starts = _Packer("row_start")
    for part in ranges(n_rows + 1):
        starts.add(start[part])
    return {"n_rows": n_rows, "row_start": starts.bytes(), "topic": topics.bytes(), "n_tokens": numbers.bytes()}


def pack_shares(shares: NDArray[Any]) -> bytes:
    """Mixtures of some documents as a blob of ``document_share``."""
    return zlib.compress(shares.astype(SHARE_TYPE).tobytes(), 1)


class _Packer:
    """Incremental compression of numbers."""

    def __init__(self, name: str) -> None:
        self._dtype, self._packer, self._parts = _TYPES[name], zlib.compressobj(1), list[bytes]()

    def add(self, values: NDArray[Any]) -> None:
        self._parts.append(self._packer.compress(values.astype(self._dtype).tobytes()))

    def bytes(self) -> bytes:
        return b"".join([*self._parts, self._packer.flush()])
