"""Likely neighbours of every document at once: matrix products in place of a pass over the collection for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from topoi.models.smoothed_counts import SmoothedCounts

# Of smaller collections all documents are compared.
LEAST = 2000
N_LIKELY = 64
_ROWS_AT_ONCE = 256


def likely_neighbours(
    documents: SmoothedCounts, wanted: Sequence[int], n: int = N_LIKELY
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """For each document wanted, the others whose topic shares overlap most, in the order of their numbers.

    The overlap is Σ √(p q), which orders documents nearly as the Jensen–Shannon distance does, by which pages choose
    the nearest of these.

    Parameters
    ----------
    documents : SmoothedCounts
        Tokens of each document and topic; used without the prior.
    wanted : sequence of int
        Numbers of documents.
    n : int
        Number of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import SmoothedCounts
    >>> from topoi.web.reader.near import likely_neighbours
    >>> rows = SmoothedCounts.from_counts(np.array([[4, 0], [3, 1], [0, 4], [0, 0]]), np.ones(2))
    >>> [(d, near.tolist()) for d, near in likely_neighbours(rows, [0, 2], 1)]
    [(0, [1]), (2, [1])]
    """
    roots = _roots(documents)
    some = np.asarray(wanted, np.int64)
    n = min(n, len(roots) - 1)
    for first in range(0, len(some), _ROWS_AT_ONCE):
        rows = some[first : first + _ROWS_AT_ONCE]
        overlap = roots[rows] @ roots.T
        overlap[np.arange(len(rows)), rows] = -1.0
        best = np.argpartition(-overlap, n - 1, axis=1)[:, :n] if n > 0 else np.zeros((len(rows), 0), np.int64)
        for i, document in enumerate(rows.tolist()):
            yield document, np.sort(best[i][overlap[i, best[i]] > 0])


def _roots(documents: SmoothedCounts) -> NDArray[np.float32]:
    """Roots of shares, zero for documents without words."""
    roots = np.zeros((len(documents), len(documents.alpha)), np.float32)
    for row, column, number in documents.cell_blocks():
        roots[row, column] = np.sqrt(number)
    length = np.sqrt((roots**2).sum(axis=1, keepdims=True))
    return np.divide(roots, length, out=roots, where=length > 0)
