"""Selection of rows from a ragged array (rows of different lengths in one flat array)."""

from __future__ import annotations

import numpy as np


def row_positions(start: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the values of the given rows in the flat array, and the new row starts.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.ragged import row_positions
    >>> positions, start = row_positions(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> positions.tolist(), start.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    lengths = start[rows + 1] - start[rows]
    new_start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=new_start[1:])
    shift = np.repeat(start[rows] - new_start[:-1], lengths)
    return np.arange(new_start[-1], dtype=np.int64) + shift, new_start
