"""Differences between models on the same documents, with standard errors over documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# A difference of more standard errors than this is called clear.
CLEAR = 2.0


class Difference(NamedTuple):
    """Difference of two log likelihoods per word, and its standard error over documents."""

    mean: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether it is larger than documents' luck explains."""
        return bool(np.isinf(self.mean) or abs(self.mean) > CLEAR * self.error)


def paired_difference(log_p: NDArray[np.float64], other: NDArray[np.float64], lengths: NDArray[np.int64]) -> Difference:
    """Difference of two models' log likelihoods per word: Σ (a_d − b_d) / Σ n_d.

    Both score the same documents, so what makes a document hard for both cancels. The standard error is that of a ratio
    of sums over documents drawn at random; NaN for fewer than two documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluation.paired import paired_difference
    >>> found = paired_difference(np.array([-2.0, -5.0]), np.array([-4.0, -8.0]), np.array([2, 2]))
    >>> found.mean, round(found.error, 6)
    (1.25, 0.25)
    """
    used = lengths > 0
    difference, n = log_p[used] - other[used], lengths[used]
    if not len(n):
        return Difference(float("nan"), float("nan"))
    with np.errstate(invalid="ignore"):
        mean = difference.sum() / n.sum()
        residual = difference - mean * n
        spread = (residual**2).sum() * len(n) / (len(n) - 1) if len(n) > 1 else np.nan
    return Difference(float(mean), float(np.sqrt(spread) / n.sum()))


def best_of(scores: NDArray[np.float64]) -> int | None:
    """Position of the largest score, NaN left out; None if all are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluation.paired import best_of
    >>> best_of(np.array([np.nan, -7.0, -6.5])), best_of(np.array([np.nan]))
    (2, None)
    """
    return None if np.isnan(scores).all() else int(np.nanargmax(scores))
