"""All authors', or all documents', counts of topics as one row of a store: read at once for "who is nearest"."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"row_start": "<i8", "topic": "<u2", "n_tokens": "<u4"}


def pack_mixture(row: NDArray[Any], topic: NDArray[Any], n_tokens: NDArray[Any], n_rows: int) -> dict[str, Any]:
    """The columns of a ``mixture`` after its kind, from counts in the order of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.mixture_rows import pack_mixture
    >>> sorted(pack_mixture(np.array([0, 0, 2]), np.array([1, 4, 0]), np.array([7, 1, 2]), 3))
    ['n_rows', 'n_tokens', 'row_start', 'topic']
    """
    start = np.searchsorted(row, np.arange(n_rows + 1))
    columns = {"row_start": start, "topic": topic, "n_tokens": n_tokens}
    return {"n_rows": n_rows} | {name: _packed(values, _TYPES[name]) for name, values in columns.items()}


def _packed(values: NDArray[Any], dtype: str) -> bytes:
    return zlib.compress(values.astype(dtype).tobytes(), 1)
