"""Samples of a chain that estimates average: choice of sweeps, storage in memory, serialisation.

The choice depends on the number of the last sweep alone: a fit of 700 sweeps, one of 500 resumed for 200 more, and one
that was killed and resumed average the same samples. After an update by new documents it begins anew: earlier states
have no topics for these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch, release
from topoi.corpus.pieces import BLOCK, ArrayOrPieces, Pieces, ranges
from topoi.errors import ModelError

Sample = dict[str, NDArray[Any]]
_FEWEST = 5
# Largest number of averaged states: ten earlier ones and the last.
MOST_SAMPLES = 2 * _FEWEST + 1


def spacing(sweep: int) -> int:
    """Sweeps between samples: the largest power of two that leaves at least five in the second half of a run."""
    step = 1
    while 4 * _FEWEST * step <= sweep:
        step *= 2
    return step


def retained(sweep: int, since: int = 0) -> range:
    """Sweeps whose states are averaged, besides the last, when a run ends after ``sweep``; at most ten.

    They lie in the second half, ``spacing(sweep)`` apart, one before its multiples, because sparse schemes prune at
    even sweeps. A longer run retains a subset of them (and later ones), so a dropped sample is never needed again.
    Sweeps are counted from ``since``, an even number.

    Examples
    --------
    >>> from topoi.engine.samples import retained
    >>> list(retained(500)), list(retained(7)), list(retained(507, 500))
    ([255, 287, 319, 351, 383, 415, 447, 479], [4, 5, 6, 7], [504, 505, 506, 507])
    """
    sweep -= since
    step = spacing(sweep)
    first = -(-(sweep // 2 + 2) // step) * step - 1
    return range(since + first, since + sweep + 1, step)


def compact(values: NDArray[Any], n: int) -> NDArray[Any]:
    """Copy integers below ``n`` to the narrowest type that holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.engine.samples import compact
    >>> compact(np.arange(3), 256).dtype, compact(np.arange(3), 257).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    return np.array(values, narrowest(n))


def narrowest(n: int) -> np.dtype[Any]:
    """The narrowest type of integers below ``n``.

    Examples
    --------
    >>> from topoi.engine.samples import narrowest
    >>> narrowest(256), narrowest(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(n - 1, 0))


def packed(samples: Mapping[int, Sample]) -> dict[str, ArrayOrPieces]:
    """Serialise samples as arrays: ``sampled`` (their sweeps) and ``samples_<name>`` (tokens × samples, in pieces).

    All samples of a token are adjacent, so that the samples of one document are read from one range of rows.
    """
    if not samples:
        return {}
    sweeps = sorted(samples)
    stacked = {f"samples_{name}": _stacked([samples[s][name] for s in sweeps]) for name in samples[sweeps[0]]}
    return {"sampled": np.array(sweeps, np.int64), **stacked}


def _stacked(columns: list[NDArray[Any]]) -> Pieces:
    """Stack arrays as columns, a block of rows at a time."""
    n, dtype = len(columns[0]), np.result_type(*columns)
    parts = list(ranges(n, max(BLOCK // len(columns), 1)))
    return Pieces(
        dtype, (n, len(columns)), lambda: (np.stack([c[part] for c in columns], axis=1, dtype=dtype) for part in parts)
    )


def unpacked(
    arrays: Mapping[str, NDArray[Any]],
    names: Sequence[str],
    n_tokens: int,
    sweep: int,
    scratch: Scratch | None = None,
    since: int = 0,
) -> dict[int, Sample]:
    """Parse the arrays of ``packed`` of a chain at ``sweep``; shapes and types are checked, values are not."""
    sampled = arrays.get("sampled")
    if sampled is None:
        return {}
    sweeps = sampled.tolist() if sampled.dtype == np.int64 and sampled.ndim == 1 else [-1]
    if sweeps != sorted(set(sweeps)) or not set(sweeps) <= set(retained(sweep, since)):
        raise ModelError("the saved samples are not of the sweeps that a fit of this length keeps")
    found: list[Sample] = [{} for _ in sweeps]
    for name in names:
        table = arrays[f"samples_{name}"]
        if table.dtype.kind != "u" or table.shape != (n_tokens, len(sweeps)):
            raise ModelError("the saved samples do not fit this corpus")
        for sample in found:
            sample[name] = (scratch or Scratch()).zeros(n_tokens, table.dtype)
        for part in ranges(n_tokens):
            for sample, column in zip(found, table[part].T, strict=True):
                sample[name][part] = column
            release(table[part], *(sample[name][part] for sample in found))
    return dict(zip(sweeps, found, strict=True))
