"""Whether the scatter of importance weights is an error: the shape of their upper tail (Vehtari et al. 2024).

The largest weights follow a generalised Pareto distribution. Its shape k says how many moments they have: from 1/2 on
no variance, from 1 on no mean. Above 0.7, or 1 − 1 / log10(draws) if that is less, the draws are too few for an error
that holds. The shape is that of the draws that were made: what all of them have missed it does not show.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_LARGEST_SHAPE = 0.7
# Fewer weights above a threshold have no shape. The estimate is drawn towards 1/2 as by ten weights more.
_FEWEST, _PRIOR_WEIGHTS, _PRIOR_SHAPE = 5, 10.0, 0.5
# Where the largest weight is not five times the threshold, no weight counts for much, whatever their shape.
_NARROW = 0.2


def tail_length(n_draws: int) -> int:
    """How many of the largest weights make up the tail: a fifth, or 3 √n if that is less."""
    return int(min(0.2 * n_draws, 3.0 * np.sqrt(n_draws)))


def largest_shape(n_draws: int) -> float:
    """The shape up to which so many draws have an error that holds.

    Examples
    --------
    >>> from topoi.models.pareto import largest_shape
    >>> [round(largest_shape(n), 3) for n in (100, 1000, 100_000)]
    [0.5, 0.667, 0.7]
    """
    return min(1.0 - 1.0 / math.log10(max(n_draws, 2)), _LARGEST_SHAPE)


def pareto_shapes(tails: Array) -> Array:
    """The shapes of tails, given as ascending logarithms, of which the first is the threshold; rows × (1 + length).

    By the estimate of Zhang and Stephens (2009). Minus infinity where no weight is much above the threshold,
    infinity where too few are above it.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.pareto import pareto_shapes, tail_length
    >>> draws = np.random.default_rng(0).pareto(2.0, (1, 100_000))
    >>> tails = np.sort(np.log(draws))[:, -tail_length(100_000) - 1 :]
    >>> pareto_shapes(tails).round(1).tolist()
    [0.5]
    """
    return np.array([_shape(row) for row in tails])


def _shape(tail: Array) -> float:
    if tail[-1] == -np.inf:
        return -np.inf
    above = np.exp(tail - tail[-1])
    if len(tail) > _FEWEST and above[0] >= _NARROW:
        return -np.inf
    above = above[1:] - above[0]
    above = above[above > 1e-12]
    n = len(above)
    if n < _FEWEST:
        return np.inf
    m = 30 + int(np.sqrt(n))
    quartile = above[int(n / 4 + 0.5) - 1]
    theta = 1.0 / above[-1] + (1.0 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))) / (3.0 * quartile)
    shapes = np.log1p(-theta[:, None] * above).mean(axis=1)
    profile = n * (np.log(-theta / shapes) - shapes - 1.0)
    weight = np.exp(profile - profile.max())
    best = float(theta @ weight / weight.sum())
    shape = float(np.log1p(-best * above).mean())
    return (n * shape + _PRIOR_WEIGHTS * _PRIOR_SHAPE) / (n + _PRIOR_WEIGHTS)
