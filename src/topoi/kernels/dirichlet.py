"""Dirichlet-multinomial distributions: log probabilities of counts, and parameters learned from them (Minka 2000)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import inlined, lean

_SMALLEST, _LARGEST = 1e-6, 1e6
_NEWTON_STEPS, _HALVINGS = 200, 30


@inlined
def log_rising(n, prior):
    """log Γ(n + prior) − log Γ(prior): the log of a rising factorial; zero for n = 0."""
    if n == 0.0:
        return 0.0
    return math.lgamma(n + prior) - math.lgamma(prior)


@lean
def log_probability_rows(counts, totals, prior, prior_sum, n_rows, n_columns):
    """Σ over rows of log P(row as a sequence | Dirichlet(prior)); O(rows × columns), cheap where counts are zero."""
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
    """``log_probability_rows`` for matrices whose columns are the distributions, as ``word_topic``; prior per row."""
    result = 0.0
    for w in range(counts.shape[0]):
        for k in range(totals.shape[0]):
            if counts[w, k] > 0:
                result += log_rising(np.float64(counts[w, k]), np.float64(prior[w]))
    for k in range(totals.shape[0]):
        result -= log_rising(np.float64(totals[k]), prior_sum)
    return result


class CountHistogram(NamedTuple):
    """Histogram of many rows of counts: sufficient statistics of a Dirichlet-multinomial.

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
        """Build the histogram from nonzero counts, given as (column, value) pairs, and the rows' totals."""
        largest = int(values.max(initial=0)) + 1
        keys, times = np.unique(columns.astype(np.int64) * largest + values.astype(np.int64), return_counts=True)
        total, total_times = np.unique(totals[totals > 0].astype(np.int64), return_counts=True)
        return cls(keys // largest, keys % largest, times, total, total_times, n)

    @classmethod
    def joined(cls, parts: Iterable[CountHistogram]) -> CountHistogram:
        """The histogram of several parts' rows together, the same as if it were built at once.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.kernels.dirichlet import CountHistogram
        >>> one = CountHistogram.from_counts(np.array([0, 1]), np.array([3, 2]), np.array([5]), 2)
        >>> CountHistogram.joined([one, one]).times.tolist()
        [2, 2]
        """
        listed = list(parts)
        column, value, times, total, total_times = (
            np.concatenate(each) for each in zip(*(p[:5] for p in listed), strict=True)
        )
        largest = int(value.max(initial=0)) + 1
        keys, at = np.unique(column * largest + value, return_inverse=True)
        totals, total_at = np.unique(total, return_inverse=True)
        times = np.bincount(at, times, len(keys)).astype(np.int64)
        total_times = np.bincount(total_at, total_times, len(totals)).astype(np.int64)
        return cls(keys // largest, keys % largest, times, totals, total_times, listed[0].n_columns)

    def log_likelihood(self, alpha: NDArray[np.float64]) -> float:
        """Log probability of the counts (as sequences) under Dirichlet(alpha)."""
        from scipy.special import gammaln

        a = alpha[self.column]
        s = alpha.sum()
        gain = (self.times * (gammaln(self.value + a) - gammaln(a))).sum()
        return float(gain - (self.total_times * (gammaln(self.total + s) - gammaln(s))).sum())


class GammaPrior(NamedTuple):
    """Gamma density of a Dirichlet's concentration, the sum of its parameters; the default says nothing."""

    shape: float = 1.0
    rate: float = 0.0

    def log_density(self, total: float) -> float:
        """Log density, up to a constant.

        Examples
        --------
        >>> from topoi.kernels.dirichlet import GammaPrior
        >>> GammaPrior(3.0, 0.5).log_density(4.0) > GammaPrior(3.0, 0.5).log_density(5.0)  # the mode is 2 / 0.5
        True
        """
        return (self.shape - 1.0) * math.log(total) - self.rate * total


NO_PRIOR = GammaPrior()


def learn_dirichlet(
    histogram: CountHistogram,
    alpha: NDArray[np.float64],
    symmetric: bool,
    n_steps: int = 20,
    tolerance: float = 1e-4,
    prior: GammaPrior = NO_PRIOR,
) -> NDArray[np.float64]:
    """Increase the likelihood of the counts by Minka's fixed-point iteration from ``alpha``; no step lowers it.

    With a ``prior`` of the concentration, it is the posterior density of alpha that no step lowers: the logarithm of
    the sum in it has the lower bound Σ (α_k / s) log α_k' + constant, which is of the same form as Minka's bound.

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
    from scipy.special import digamma  # slow to import, and not needed for sampling alone

    alpha = np.array(alpha, np.float64)
    if not len(histogram.total) or not len(histogram.value):
        return alpha
    for _ in range(n_steps):
        a = alpha[histogram.column]
        gains = histogram.times * (digamma(histogram.value + a) - digamma(a))
        total = alpha.sum()
        loss = (histogram.total_times * (digamma(histogram.total + total) - digamma(total))).sum() + prior.rate
        pull = (prior.shape - 1.0) / total
        if symmetric:
            ratio = np.full_like(alpha, (gains.sum() + histogram.n_columns * pull) / (histogram.n_columns * loss))
        else:
            ratio = (np.bincount(histogram.column, gains, histogram.n_columns) + pull) / loss
        new = np.clip(alpha * ratio, _SMALLEST, _LARGEST)
        moved = np.abs(new / alpha - 1.0).max()
        alpha = new
        if moved < tolerance:
            break
    return alpha


def rounded(values: NDArray[np.float64], bits: int = 16) -> NDArray[np.float64]:
    """Values with so many binary digits.

    Sums and digamma functions differ in their last digits from one machine to another; the rounded values do so only
    where they are next to half a digit, by chance one of many millions.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.dirichlet import rounded
    >>> rounded(np.array([0.1, 1000.0]), bits=4).tolist()
    [0.1015625, 1024.0]
    """
    digits, exponent = np.frexp(values)
    return np.ldexp(np.round(digits * 2.0**bits) / 2.0**bits, exponent)


def maximise_dirichlet(
    mean_log: NDArray[np.float64], alpha: NDArray[np.float64], least: float = _SMALLEST, most: float = _LARGEST
) -> NDArray[np.float64]:
    """Maximum-likelihood Dirichlet of rows with these mean logarithms, by Newton's method from ``alpha``.

    The log likelihood per row, log Γ(Σ α) − Σ log Γ(α) + Σ α · mean_log, is concave; a step that would lower it is
    halved (Minka 2000, section 1). O(columns) per step.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.dirichlet import maximise_dirichlet
    >>> rows = np.random.default_rng(0).dirichlet([2.0, 0.5, 7.0], 20_000)
    >>> bool(np.allclose(maximise_dirichlet(np.log(rows).mean(axis=0), np.ones(3)), [2.0, 0.5, 7.0], rtol=0.02))
    True
    """
    from scipy.special import digamma, gammaln, polygamma

    def value(at: NDArray[np.float64]) -> float:
        return float(gammaln(at.sum()) - gammaln(at).sum() + at @ mean_log)

    alpha = np.clip(np.array(alpha, np.float64), least, most)
    if len(alpha) == 1:
        return alpha  # with one component the prior has no effect
    for _ in range(_NEWTON_STEPS):
        gradient = digamma(alpha.sum()) - digamma(alpha) + mean_log
        new = _newton(alpha, gradient, polygamma(1, alpha), float(polygamma(1, alpha.sum())), value, least, most)
        moved = np.abs(new / alpha - 1.0).max()
        alpha = new
        if moved < 1e-9:
            break
    return alpha


def maximise_polya(
    counts: NDArray[np.float64], alpha: NDArray[np.float64], n_steps: int = 5, least: float = _SMALLEST,
    most: float = _LARGEST,
) -> NDArray[np.float64]:  # fmt: skip
    """Increase the likelihood of rows of real-valued counts under a Dirichlet-multinomial, by Newton's method.

    The log likelihood is not concave in the sum of the parameters, which therefore gets a separate step; steps that do
    not increase the likelihood are halved. O(rows × columns) per step.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.dirichlet import maximise_polya
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.multinomial(100, rng.dirichlet([2.0, 0.5])) for _ in range(2000)])
    >>> bool(np.allclose(maximise_polya(rows, np.ones(2), 50), [2.0, 0.5], rtol=0.1))
    True
    """
    from scipy.special import digamma, gammaln, polygamma

    rows, totals = np.asarray(counts, np.float64), np.sum(counts, axis=1)

    def value(at: NDArray[np.float64]) -> float:
        gain = (gammaln(rows + at) - gammaln(at)).sum()
        return float(gain - (gammaln(totals + at.sum()) - gammaln(at.sum())).sum())

    def slopes(at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        gain = (digamma(rows + at) - digamma(at)).sum(axis=0)
        loss = (digamma(totals + at.sum()) - digamma(at.sum())).sum()
        curve = (polygamma(1, at) - polygamma(1, rows + at)).sum(axis=0)
        common = (polygamma(1, at.sum()) - polygamma(1, totals + at.sum())).sum()
        return gain - loss, curve, float(common)

    alpha = np.clip(np.array(alpha, np.float64), least, most)
    if len(alpha) == 1:
        return alpha
    for _ in range(n_steps):
        new = _scaled(alpha, *slopes(alpha), value, least, most)
        new = _newton(new, *slopes(new), value, least, most)
        moved = np.abs(new / alpha - 1.0).max()
        alpha = new
        if moved < 1e-9:
            break
    return alpha


def _newton(
    alpha: NDArray[np.float64],
    gradient: NDArray[np.float64],
    curve: NDArray[np.float64],
    common: float,
    value: Any,
    least: float,
    most: float,
) -> NDArray[np.float64]:
    """Newton step for the Hessian −diag(curve) + common, halved until ``value`` increases; ``alpha`` if none does."""
    curve = np.maximum(curve, 1e-300)
    shared = (gradient / curve).sum() / (1.0 / max(common, 1e-300) - (1.0 / curve).sum())
    step = (gradient + shared) / curve
    return _climb(alpha, lambda share: np.clip(alpha + share * step, 0.1 * alpha, 10.0 * alpha), value, least, most)


def _climb(alpha: NDArray[np.float64], along: Any, value: Any, least: float, most: float) -> NDArray[np.float64]:
    """Backtracking line search: the first of ``along(1)``, ``along(1/2)``, … to increase ``value``, else ``alpha``."""
    before, share = value(alpha), 1.0
    for _ in range(_HALVINGS):
        new = np.clip(along(share), least, most)
        if value(new) > before:
            return np.asarray(new)
        share /= 2.0
    return alpha


def _scaled(
    alpha: NDArray[np.float64],
    gradient: NDArray[np.float64],
    curve: NDArray[np.float64],
    common: float,
    value: Any,
    least: float,
    most: float,
) -> NDArray[np.float64]:
    """Step in the logarithm of the sum, proportions fixed: the direction in which the likelihood is not concave."""
    slope = float(alpha @ gradient)
    bend = float(common * alpha.sum() ** 2 - alpha**2 @ curve) + slope
    step = float(np.clip(-slope / bend, -2.0, 2.0)) if bend < 0 else 2.0 * float(np.sign(slope))
    return _climb(alpha, lambda share: alpha * np.exp(share * step), value, least, most)
