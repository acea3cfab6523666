"""Random streams for the samplers: xoroshiro128+ seeded through splitmix64.

A stream is keyed by what is being sampled (seed, chain, sweep, shard; or seed, chain and a document's content), never
by a worker, so results do not depend on the number of threads or their timing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import compiled, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_FLOAT_STEP = np.float32(2.0**-24)
_DOUBLE_STEP = 2.0**-53


@inlined
def _mix(x):
    """Splitmix64's output function: every input bit reaches every output bit."""
    x = np.uint64(x)
    x = (x ^ (x >> np.uint64(30))) * _MIX_A
    x = (x ^ (x >> np.uint64(27))) * _MIX_B
    return x ^ (x >> np.uint64(31))


@compiled
def seed_stream(stream, seed, a, b, c):
    """Set ``stream`` (uint64, two words) to the start of the stream keyed by four integers."""
    x = _mix(np.uint64(seed) + _GOLDEN)
    x = _mix(x + np.uint64(a) * _MIX_A + _GOLDEN)
    x = _mix(x + np.uint64(b) * _MIX_B + _GOLDEN)
    x = _mix(x + np.uint64(c) + _GOLDEN)
    stream[0] = _mix(x + _GOLDEN)
    stream[1] = _mix(x + _GOLDEN + _GOLDEN) | np.uint64(1)  # never all zero


def new_stream(seed: int, a: int = 0, b: int = 0, c: int = 0) -> NDArray[np.uint64]:
    """Start the stream keyed by four non-negative integers below 2**63.

    Examples
    --------
    >>> from topoi.kernels.random import new_stream
    >>> bool((new_stream(1, 2, 3, 4) == new_stream(1, 2, 3, 4)).all())
    True
    """
    stream = np.empty(2, np.uint64)
    seed_stream(stream, seed, a, b, c)
    return stream


@inlined
def next_bits(stream):
    """Draw 64 random bits (the lowest few are weak; use the upper ones)."""
    s0 = stream[0]
    s1 = stream[1]
    bits = s0 + s1
    s1 ^= s0
    stream[0] = ((s0 << np.uint64(24)) | (s0 >> np.uint64(40))) ^ s1 ^ (s1 << np.uint64(16))
    stream[1] = (s1 << np.uint64(37)) | (s1 >> np.uint64(27))
    return bits


@inlined
def uniform(stream):
    """Draw a float64 in [0, 1) with 53 random bits."""
    return np.float64(np.int64(next_bits(stream) >> np.uint64(11))) * _DOUBLE_STEP


@inlined
def high_float(bits):
    """Return a float32 in [0, 1) from the upper 24 of 64 bits."""
    return np.float32(np.int64(bits >> np.uint64(40))) * _FLOAT_STEP


@inlined
def low_float(bits):
    """Return a float32 in [0, 1) from the next 24 of 64 bits, independent of ``high_float``."""
    return np.float32(np.int64((bits >> np.uint64(16)) & np.uint64(0xFFFFFF))) * _FLOAT_STEP
