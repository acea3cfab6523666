"""Conversion between Dirichlet and Gaussian beliefs about a document's topics: Laplace bridge, and projection by KL.

In the softmax basis, π = softmax(y), a Dirichlet has one mode, near its mean, and looks like a Gaussian. The bridge is
its Laplace approximation there and the inverse of that map (Hennig et al. 2012, section 3.3). For a Gaussian that does
not come from a Dirichlet the inverse is over-determined, and its least likely topic alone may set the concentration;
``project`` finds the nearest Dirichlet instead.

Examples
--------
>>> from topoi import laplace_bridge
>>> laplace_bridge.to_dirichlet(*laplace_bridge.to_gaussian([3.0, 1.0, 0.5])).round(6).tolist()
[3.0, 1.0, 0.5]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, polygamma, psi

from topoi.errors import ModelError
from topoi.models.gaussian_points import N_DRAWS, root, softmax_points

_NEWTON_STEPS, _HALVINGS, _SHORT = 200, 30, 1e-3
_SMALLEST, _LARGEST = 1e-8, 1e12


def to_gaussian(alpha: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The Gaussian that approximates a Dirichlet in the softmax basis (equations 15 and 18).

    Parameters
    ----------
    alpha : array
        Dirichlet parameters; the last axis is topics, of which there are at least two.

    Returns
    -------
    mean, variance : ndarray
        Of y where softmax(y) has this Dirichlet, with Σ y = 0; the diagonal of the covariance. With two topics both
        variances are the same and the two are perfectly anticorrelated; with many they are nearly independent.

    Examples
    --------
    >>> from topoi import laplace_bridge
    >>> mean, variance = laplace_bridge.to_gaussian([3.0, 1.0, 1.0])
    >>> mean.round(3).tolist(), variance.round(3).tolist()
    ([0.732, -0.366, -0.366], [0.37, 0.593, 0.593])
    """
    alpha = _positive("alpha", alpha)
    n_topics = alpha.shape[-1]
    logs = np.log(alpha)
    inverse = 1.0 / alpha
    variance = inverse * (1.0 - 2.0 / n_topics) + inverse.sum(axis=-1, keepdims=True) / n_topics**2
    return logs - logs.mean(axis=-1, keepdims=True), variance


def to_dirichlet(mean: ArrayLike, variance: ArrayLike) -> NDArray[np.float64]:
    """The Dirichlet of a Gaussian: the inverse of ``to_gaussian``, exact for its results.

    α_k = (1 − 2/K + exp(μ_k) Σ exp(−μ_l) / K²) / σ²_k. The printed equation 19 has the wrong sign of μ_k.

    Parameters
    ----------
    mean, variance : array
        Of a Gaussian; the last axis is topics. Adding a constant to all means of a document changes nothing.

    Returns
    -------
    ndarray
        Dirichlet parameters.

    Examples
    --------
    >>> from topoi import laplace_bridge
    >>> laplace_bridge.to_dirichlet(*laplace_bridge.to_gaussian([3.0, 1.0, 0.01])).round(6).tolist()
    [3.0, 1.0, 0.01]
    """
    variance = _positive("variance", variance)
    mean = _finite_mean(mean, variance)
    n_topics = mean.shape[-1]
    with np.errstate(divide="ignore"):
        even = np.log(1.0 - 2.0 / n_topics)
    own = mean + logsumexp(-mean, axis=-1, keepdims=True) - 2.0 * np.log(n_topics)
    return np.asarray(np.exp(np.logaddexp(even, own) - np.log(variance)))


def project(mean: ArrayLike, covariance: ArrayLike, n_draws: int = N_DRAWS) -> NDArray[np.float64]:
    """The Dirichlet nearest to a Gaussian: the α that minimises KL(softmax of the Gaussian ‖ Dirichlet).

    That is the α whose expected log π is the Gaussian's. The expectation is taken over a fixed low-discrepancy set of
    points, so the result is always the same.

    Parameters
    ----------
    mean : array
        Means; the last axis is topics.
    covariance : array
        Variances, of the same shape, or full covariance matrices, with an additional axis of topics.
    n_draws : int
        Points for the expectation.

    Examples
    --------
    >>> from topoi import laplace_bridge
    >>> laplace_bridge.project([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]).round(2).tolist()
    [1.32, 1.32, 1.32]
    """
    covariance = np.asarray(covariance, np.float64)
    mean = np.asarray(mean, np.float64)
    full = mean.ndim > 0 and covariance.shape == (*mean.shape, mean.shape[-1])
    variance = np.diagonal(covariance, axis1=-2, axis2=-1) if full else covariance
    _finite_mean(mean, _positive("covariance" if full else "variance", variance))
    if isinstance(n_draws, bool) or n_draws < 2:
        raise ModelError(f"n_draws is {n_draws!r}; pass a whole number of at least 2")
    rows = mean.reshape(-1, mean.shape[-1])
    spread = (root(covariance) if full else np.sqrt(covariance)).reshape(len(rows), *covariance.shape[mean.ndim - 1 :])
    expected = np.empty_like(rows)
    for d, (centre, scale) in enumerate(zip(rows, spread, strict=True)):
        y = softmax_points(centre, scale, int(n_draws))
        expected[d] = (y - logsumexp(y, axis=1, keepdims=True)).mean(axis=0)
    return from_expected_logs(expected).reshape(mean.shape)


def from_expected_logs(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Dirichlets with these E[log π], rows × topics: maximum likelihood, by Newton's method (Minka 2000).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import psi
    >>> from topoi.models.kernel_topic.laplace_bridge import from_expected_logs
    >>> from_expected_logs(psi(np.array([[2.0, 0.5]])) - psi(2.5)).round(8).tolist()
    [[2.0, 0.5]]
    """
    alpha = _first_guess(expected)
    value = _likelihood(alpha, expected)
    active = np.arange(len(alpha))
    for _ in range(_NEWTON_STEPS):
        now, wanted = alpha[active], expected[active]
        step = _newton_step(now, wanted)
        new = np.clip(now * np.exp(np.clip(step, -2.0, 2.0)), _SMALLEST, _LARGEST)
        found = _likelihood(new, wanted)
        for _ in range(_HALVINGS):
            # For a short step the likelihood is dominated by rounding; Newton's step is trusted there.
            worse = ~(found >= value[active]) & (np.abs(step).max(axis=1) > _SHORT)
            if not worse.any():
                break
            step[worse] *= 0.5
            new[worse] = np.clip(now[worse] * np.exp(np.clip(step[worse], -2.0, 2.0)), _SMALLEST, _LARGEST)
            found[worse] = _likelihood(new[worse], wanted[worse])
        alpha[active], value[active] = new, found
        active = active[np.abs(np.log(new / now)).max(axis=1) > 1e-12]
        if not len(active):
            break
    return alpha


def _first_guess(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares from exp E[log π]; the concentration from the difference of their sum from one."""
    total = np.exp(expected).sum(axis=1, keepdims=True)
    n_topics = expected.shape[1]
    # For a large concentration A: Σ exp E[log π] ≈ 1 − (K − 1) / (2A).
    strength = np.clip((n_topics - 1) / (2.0 * np.maximum(1.0 - total, 1e-9)), 1e-2, 1e9)
    return np.clip(np.exp(expected) / total * strength, 1e-4, _LARGEST)


def _newton_step(alpha: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's step for log α, whose Hessian is a diagonal plus a matrix of rank one; O(topics) a row."""
    total = alpha.sum(axis=1, keepdims=True)
    slope = alpha * (psi(total) - psi(alpha) + expected)
    # Without the slope's own term, which vanishes at the maximum, the Hessian is negative definite everywhere.
    diagonal = -(alpha**2) * polygamma(1, alpha)
    shared = polygamma(1, total)
    inner = (alpha * slope / diagonal).sum(axis=1, keepdims=True)
    bend = 1.0 / shared + (alpha**2 / diagonal).sum(axis=1, keepdims=True)
    return np.asarray(-(slope - alpha * inner / bend) / diagonal)


def _likelihood(alpha: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import gammaln

    return np.asarray(gammaln(alpha.sum(axis=1)) + (alpha * expected - gammaln(alpha)).sum(axis=1))


def _positive(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is not an array of numbers") from None
    if array.ndim == 0 or array.shape[-1] < 2:
        raise ModelError(f"{name} has the shape {array.shape}; its last axis must be topics, at least two")
    if not (np.isfinite(array).all() and (array > 0).all()):
        wrong = array[~(np.isfinite(array) & (array > 0))][0]
        raise ModelError(f"{name} has the value {wrong}; it must be positive and finite")
    return array


def _finite_mean(mean: ArrayLike, variance: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = np.asarray(mean, np.float64)
    if mean.shape != variance.shape:
        raise ModelError(f"mean has the shape {mean.shape} and variance {variance.shape}; they must agree")
    if not np.isfinite(mean).all():
        raise ModelError("mean has entries that are not finite numbers")
    return mean
