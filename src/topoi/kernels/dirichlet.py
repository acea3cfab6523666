"""Dirichlet-multinomial pieces: log probabilities of counts, and maximum-likelihood parameters (Minka 2000)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import inlined, lean

_SMALLEST, _LARGEST = 1e-6, 1e6


@inlined
def log_rising(n, prior):
    """log Γ(n + prior) − log Γ(prior): the log of a rising factorial; zero for n = 0."""
    if n == 0.0:
        return 0.0
    return math.lgamma(n + prior) - math.lgamma(prior)


@lean
def log_probability_rows(counts, totals, prior, prior_sum, n_rows, n_columns):
    """Σ over rows of log P(row's sequence | Dirichlet(prior)); O(rows × columns), cheap where counts are zero."""
    result = 0.0
    for r in range(n_rows):
        if totals[r] > 0:
            result -= log_rising(np.float64(totals[r]), prior_sum)
            for c in range(n_columns):
                if counts[r, c] > 0:
                    result += log_rising(np.float64(counts[r, c]), np.float64(prior[c]))
    return result


@lean
def log_probability_columns(counts, totals, prior, prior_sum):
    """The same for columns that are the distributions, as in ``word_topic``; ``prior`` is per row."""
    result = 0.0
    for w in range(counts.shape[0]):
        for k in range(totals.shape[0]):
            if counts[w, k] > 0:
                result += log_rising(np.float64(counts[w, k]), np.float64(prior[w]))
    for k in range(totals.shape[0]):
        result -= log_rising(np.float64(totals[k]), prior_sum)
    return result


class CountHistogram(NamedTuple):
    """All a Dirichlet's likelihood needs of many rows of counts.

    ``value[j]`` occurs in column ``column[j]`` of ``times[j]`` rows (zeros left out); ``total`` likewise for the
    rows' sums.
    """

    column: NDArray[np.int64]
    value: NDArray[np.int64]
    times: NDArray[np.int64]
    total: NDArray[np.int64]
    total_times: NDArray[np.int64]
    n_columns: int

    @classmethod
    def from_counts(cls, columns: NDArray[Any], values: NDArray[Any], totals: NDArray[Any], n: int) -> CountHistogram:
        """Collect non-zero counts, given as (column, value) pairs, and the rows' totals."""
        largest = int(values.max(initial=0)) + 1
        keys, times = np.unique(columns.astype(np.int64) * largest + values.astype(np.int64), return_counts=True)
        total, total_times = np.unique(totals[totals > 0].astype(np.int64), return_counts=True)
        return cls(keys // largest, keys % largest, times, total, total_times, n)

    def log_likelihood(self, alpha: NDArray[np.float64]) -> float:
        """Log probability of the counts (as sequences) under Dirichlet(alpha)."""
        from scipy.special import gammaln

        a = alpha[self.column]
        s = alpha.sum()
        gain = (self.times * (gammaln(self.value + a) - gammaln(a))).sum()
        return float(gain - (self.total_times * (gammaln(self.total + s) - gammaln(s))).sum())


def learn_dirichlet(
    histogram: CountHistogram, alpha: NDArray[np.float64], symmetric: bool, n_steps: int = 20, tolerance: float = 1e-4
) -> NDArray[np.float64]:
    """Raise the likelihood of the counts by Minka's fixed-point iteration from ``alpha``; it never falls.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.multinomial(100, rng.dirichlet([2.0, 0.5])) for _ in range(2000)])
    >>> r, c = np.nonzero(rows)
    >>> histogram = CountHistogram.from_counts(c, rows[r, c], rows.sum(1), 2)
    >>> found = learn_dirichlet(histogram, np.ones(2), symmetric=False, n_steps=500)
    >>> bool(np.allclose(found, [2.0, 0.5], rtol=0.1))
    True
    """
    from scipy.special import digamma  # takes time and memory that sampling alone need not spend

    alpha = np.array(alpha, np.float64)
    if not len(histogram.total) or not len(histogram.value):
        return alpha
    for _ in range(n_steps):
        a = alpha[histogram.column]
        gains = histogram.times * (digamma(histogram.value + a) - digamma(a))
        total = alpha.sum()
        loss = (histogram.total_times * (digamma(histogram.total + total) - digamma(total))).sum()
        if symmetric:
            ratio = np.full_like(alpha, gains.sum() / (histogram.n_columns * loss))
        else:
            ratio = np.bincount(histogram.column, gains, histogram.n_columns) / loss
        new = np.clip(alpha * ratio, _SMALLEST, _LARGEST)
        moved = np.abs(new / alpha - 1.0).max()
        alpha = new
        if moved < tolerance:
            break
    return alpha
