"""Likely neighbours of many documents or authors at once: matrix products in place of a pass over all for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from topoi.models.smoothed_counts import SmoothedCounts

# Of smaller collections all documents, or authors, are compared.
LEAST = 2000
N_LIKELY = 64
_ROWS_AT_ONCE = 256


def likely_neighbours(
    rows: SmoothedCounts,
    wanted: Sequence[int],
    n: int = N_LIKELY,
    among: NDArray[np.int64] | None = None,
    *,
    smoothed: bool = False,
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """For each row wanted, the others whose topic shares overlap most, in the order of their numbers.

    The overlap is Σ √(p q), which orders rows nearly as the Jensen–Shannon distance and the symmetrised divergence do,
    by which pages choose the nearest of these.

    Parameters
    ----------
    rows : SmoothedCounts
        Tokens of each document, or author, and topic.
    wanted : sequence of int
        Numbers of rows.
    n : int
        Number of neighbours.
    among : array, optional
        The rows that may be neighbours, in order; by default all.
    smoothed : bool
        Whether shares have the prior in them; without it, rows that have no words are nobody's neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import SmoothedCounts
    >>> from topoi.web.reader.near import likely_neighbours
    >>> rows = SmoothedCounts.from_counts(np.array([[4, 0], [3, 1], [0, 4], [0, 0]]), np.ones(2))
    >>> [(d, near.tolist()) for d, near in likely_neighbours(rows, [0, 2], 1)]
    [(0, [1]), (2, [1])]
    """
    roots = _smoothed_roots(rows) if smoothed else _roots(rows)
    others = np.arange(len(roots)) if among is None else among
    compared = roots if among is None else roots[among]
    # One more, since a row is nearest to itself.
    n = min(n + 1, len(others))
    some = np.asarray(wanted, np.int64)
    for first in range(0, len(some), _ROWS_AT_ONCE):
        part = some[first : first + _ROWS_AT_ONCE]
        overlap = roots[part] @ compared.T
        best = np.argpartition(-overlap, n - 1, axis=1)[:, :n] if n > 0 else np.zeros((len(part), 0), np.int64)
        for i, row in enumerate(part.tolist()):
            near = np.sort(others[best[i][overlap[i, best[i]] > 0]])
            yield row, near[near != row]


def _smoothed_roots(rows: SmoothedCounts) -> NDArray[np.float32]:
    roots = np.zeros((len(rows), len(rows.alpha)), np.float32)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        part = np.arange(first, min(first + _ROWS_AT_ONCE, len(rows)))
        roots[part] = np.sqrt(rows.shares(part))
    return roots


def _roots(documents: SmoothedCounts) -> NDArray[np.float32]:
    """Roots of shares, zero for documents without words."""
    roots = np.zeros((len(documents), len(documents.alpha)), np.float32)
    for row, column, number in documents.cell_blocks():
        roots[row, column] = np.sqrt(number)
    length = np.sqrt((roots**2).sum(axis=1, keepdims=True))
    return np.divide(roots, length, out=roots, where=length > 0)
