"""The samples of a chain that estimates average: which sweeps, how they are kept, written and read again.

A rule over the last sweep's number alone says which: a fit of 700 sweeps, one of 500 that was resumed for 200, and one
that was killed on the way average the same samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import BLOCK, ArrayOrPieces, Pieces, ranges
from topoi.errors import ModelError

Sample = dict[str, NDArray[Any]]
_FEWEST = 5
# What estimates average at most: ten earlier states and the last.
MOST_SAMPLES = 2 * _FEWEST + 1


def spacing(sweep: int) -> int:
    """Sweeps between samples: the largest power of two that leaves five or more in the second half of a run."""
    step = 1
    while 4 * _FEWEST * step <= sweep:
        step *= 2
    return step


def retained(sweep: int) -> range:
    """The sweeps whose states are averaged when a run ends after ``sweep``, besides the last; at most ten.

    They lie in the second half, ``spacing(sweep)`` apart, and come just before multiples of it: sparse schemes prune
    even sweeps. What a longer run retains of these sweeps is among them, so nothing that was dropped is ever missed.

    Examples
    --------
    >>> from topoi.engine.samples import retained
    >>> list(retained(500)), list(retained(7))
    ([255, 287, 319, 351, 383, 415, 447, 479], [4, 5, 6, 7])
    """
    step = spacing(sweep)
    first = -(-(sweep // 2 + 2) // step) * step - 1
    return range(first, sweep + 1, step)


def compact(values: NDArray[Any], n: int) -> NDArray[Any]:
    """A copy of whole numbers below ``n`` in the narrowest type that holds them all.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.engine.samples import compact
    >>> compact(np.arange(3), 256).dtype, compact(np.arange(3), 257).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    return np.array(values, np.min_scalar_type(max(n - 1, 0)))


def packed(samples: Mapping[int, Sample]) -> dict[str, ArrayOrPieces]:
    """Samples as the arrays of a file: ``sampled``, their sweeps, and ``samples_<name>``, tokens × samples, in pieces.

    The samples of a document's tokens stand together: a reader who wants one document reads one piece.
    """
    if not samples:
        return {}
    sweeps = sorted(samples)
    stacked = {f"samples_{name}": _stacked([samples[s][name] for s in sweeps]) for name in samples[sweeps[0]]}
    return {"sampled": np.array(sweeps, np.int64), **stacked}


def _stacked(columns: list[NDArray[Any]]) -> Pieces:
    """Arrays side by side, some rows at a time."""
    n, dtype = len(columns[0]), np.result_type(*columns)
    parts = list(ranges(n, max(BLOCK // len(columns), 1)))
    return Pieces(
        dtype, (n, len(columns)), lambda: (np.stack([c[part] for c in columns], axis=1, dtype=dtype) for part in parts)
    )


def unpacked(arrays: Mapping[str, NDArray[Any]], names: Sequence[str], n_tokens: int, sweep: int) -> dict[int, Sample]:
    """The samples that ``packed`` wrote of a chain at ``sweep``; shapes and types are checked, values are not."""
    sampled = arrays.get("sampled")
    if sampled is None:
        return {}
    sweeps = sampled.tolist() if sampled.dtype == np.int64 and sampled.ndim == 1 else [-1]
    if sweeps != sorted(set(sweeps)) or not set(sweeps) <= set(retained(sweep)):
        raise ModelError("the saved samples are not of the sweeps that a fit of this length keeps")
    found: list[Sample] = [{} for _ in sweeps]
    for name in names:
        table = arrays[f"samples_{name}"]
        if table.dtype.kind != "u" or table.shape != (n_tokens, len(sweeps)):
            raise ModelError("the saved samples do not fit this corpus")
        for sample, column in zip(found, table.T, strict=True):
            sample[name] = np.array(column)
    return dict(zip(sweeps, found, strict=True))
