"""Dirichlet parameters by matching moments of observed proportions (Li and McCallum, section 2.4, corrected).

Proportions x[j] of documents have mean m[j] and variance m[j] (1 − m[j]) / (s + 1), with s the sum of the parameters,
*if they are drawn from the Dirichlet itself*. Proportions n[j] / n counted from n tokens have the larger variance
m (1 − m) [h + (1 − h) / (s + 1)], with h the mean of 1 / n. Ignoring that makes s tend to s (n − 1) / (s + n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Beyond this a Dirichlet is indistinguishable from a fixed distribution.
LARGEST_SUM = 1e4
SMALLEST_SUM = 1e-2
SMALLEST = 1e-6


class Proportions(NamedTuple):
    """Sums over the documents in which a node has tokens: ``n_docs``, Σ 1/n, and for each child Σ x and Σ x²."""

    n_docs: float
    inverse: float
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> Proportions:
        """Compute the sums from a matrix of counts, documents × children.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.kernels.moments import Proportions
        >>> Proportions.of_counts(np.array([[1, 3], [0, 0], [2, 0]])).first.tolist()
        [1.25, 0.75]
        """
        total = counts.sum(axis=1)
        x = counts[total > 0] / total[total > 0, None]
        return cls(float(len(x)), float((1.0 / total[total > 0]).sum()), x.sum(axis=0), (x**2).sum(axis=0))


def match_moments(found: Proportions, alpha: NDArray[np.float64], corrected: bool = True) -> NDArray[np.float64]:
    """Estimate the parameters of one Dirichlet; return ``alpha`` itself if there are no data.

    A pseudo-document with every child once is included, so that no parameter becomes zero (section 2.4). With
    ``corrected`` the sum is estimated from the variances of all children together, without the multinomial noise.
    Otherwise it is the paper's geometric mean over children, which divides by their number (the paper prints one less)
    and multiplies the mean (the paper prints a division).

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.moments import Proportions, match_moments
    >>> rng = np.random.default_rng(0)
    >>> true = np.array([4.0, 10.0, 6.0])
    >>> counts = rng.multinomial(20, rng.dirichlet(true, 20_000))
    >>> match_moments(Proportions.of_counts(counts), np.ones(3)).round().tolist()
    [4.0, 10.0, 6.0]
    >>> match_moments(Proportions.of_counts(counts), np.ones(3), corrected=False).round().tolist()
    [2.0, 5.0, 3.0]
    """
    n_children = len(alpha)
    if found.n_docs == 0 or n_children == 1:
        return alpha
    n = found.n_docs + 1.0
    mean = (found.first + 1.0 / n_children) / n
    variance = np.maximum((found.second + 1.0 / n_children**2) / n - mean**2, 0.0)
    if corrected:
        total = _corrected_sum(mean, variance, (found.inverse + 1.0 / n_children) / n, alpha.sum())
    else:
        total = _sum_of_the_paper(mean, variance, alpha.sum())
    return np.maximum(mean * min(max(total, SMALLEST_SUM), LARGEST_SUM), SMALLEST)


def _corrected_sum(mean: NDArray[np.float64], variance: NDArray[np.float64], noise: float, before: float) -> float:
    """Solve Σ var = Σ mean(1−mean) · [h + (1−h)/(s+1)] for s; arithmetic only, so bit-identical on every machine."""
    spread = float((mean * (1.0 - mean)).sum())
    ratio = float(variance.sum()) / spread
    if 1.0 - noise < 1e-9:
        return before
    if ratio <= noise:
        return LARGEST_SUM
    return (1.0 - noise) / (ratio - noise) - 1.0


def _sum_of_the_paper(mean: NDArray[np.float64], variance: NDArray[np.float64], before: float) -> float:
    """Geometric mean over children of m = mean(1−mean)/var − 1; children without a positive m are left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = mean * (1.0 - mean) / variance - 1.0
    usable = np.isfinite(each) & (each > 0.0)
    return float(np.exp(np.log(each[usable]).mean())) if usable.any() else before
