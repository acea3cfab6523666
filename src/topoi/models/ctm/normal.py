"""Normal distributions of vectors that sum to zero, and the draw of their mean and covariance given such vectors.

The softmax ignores a constant added to all components of eta, so eta is taken to sum to zero: K topics have K − 1 free
dimensions. In any orthonormal basis V of that space the prior is the same normal–inverse-Wishart,

    S ~ inverse-Wishart(freedom, variance · (freedom − K) · I),    m | S ~ Normal(0, S / mean_weight),

whose covariance has mean ``variance`` · I, so that no topic is set apart, as it would be if one were the reference.
Means and covariances are kept in the K coordinates of the topics: V m and V S Vᵀ.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from topoi.errors import ModelError
from topoi.models.blas import one_thread
from topoi.models.ctm.kernels import Gaussian

Array = NDArray[np.float64]
# Numbers beyond these in a file could overflow in kernels, which check nothing; no sampler comes near.
_LARGEST_ETA, _LARGEST_VARIANCE, _ROUNDING = 1e4, 1e8, 1e-6


class Hyper(NamedTuple):
    """The prior of mean and covariance: an inverse-Wishart's mean and degrees of freedom, the weight of a zero mean."""

    variance: float
    freedom: float
    mean_weight: float


@lru_cache(maxsize=8)
def basis(n_topics: int) -> Array:
    """Orthonormal columns that sum to zero (Helmert): topics × (topics − 1).

    Examples
    --------
    >>> from topoi.models.ctm.normal import basis
    >>> (basis(3).T @ basis(3)).round(12).tolist(), basis(3).sum(axis=0).round(12).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
    """
    found = np.zeros((n_topics, max(n_topics - 1, 0)))
    for j in range(1, n_topics):
        found[:j, j - 1] = 1.0 / math.sqrt(j * (j + 1))
        found[j, j - 1] = -j / math.sqrt(j * (j + 1))
    found.flags.writeable = False
    return found


def centred(covariance: Array) -> Array:
    """The covariance of vectors after their means are taken away; symmetric to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.ctm.normal import centred
    >>> centred(np.eye(2)).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    found = covariance - covariance.mean(axis=0)
    found = found - found.mean(axis=1, keepdims=True)
    return np.asarray(0.5 * (found + found.T))


def start(n_topics: int, hyper: Hyper) -> tuple[Array, Array]:
    """Mean and covariance before anything is learned: those of the prior."""
    return np.zeros(n_topics), centred(hyper.variance * np.eye(n_topics))


def gaussian(mean: Array, covariance: Array) -> Gaussian:
    """A mean and a covariance in the form that kernels read: with the inverse, within the space of zero sums."""
    v = basis(len(mean))
    with one_thread():
        root = v @ solve_triangular(np.linalg.cholesky(v.T @ covariance @ v).T, np.eye(v.shape[1]))
        return Gaussian(mean, np.ascontiguousarray(root @ root.T))


def draw(eta: Array, hyper: Hyper, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw mean and covariance from their posterior given rows of eta; O(documents × topics²).

    The covariance by Bartlett's decomposition of a Wishart matrix, the mean given the covariance.
    """
    n, n_topics = eta.shape
    v = basis(n_topics)
    size, weight = n_topics - 1, hyper.mean_weight + n
    normal = np.tril(rng.standard_normal((size, size)), -1)
    bartlett = normal + np.diag(np.sqrt(rng.chisquare(hyper.freedom + n - np.arange(size))))
    with one_thread():
        total = v.T @ eta.sum(axis=0)
        scatter = v.T @ (eta.T @ eta) @ v - np.outer(total, total) / weight
        scale = hyper.variance * (hyper.freedom - n_topics) * np.eye(size) + scatter
        root = v @ solve_triangular(bartlett, np.linalg.cholesky(scale).T, lower=True).T
        mean = v @ total / weight + root @ rng.standard_normal(size) / math.sqrt(weight)
        return mean, centred(root @ root.T)


def root(covariance: Array) -> Array:
    """Rows by which independent standard normals are multiplied to have this covariance: (topics − 1) × topics."""
    v = basis(len(covariance))
    with one_thread():
        return np.ascontiguousarray((v @ np.linalg.cholesky(v.T @ covariance @ v)).T)


def log_densities(eta: Array, given: Gaussian) -> float:
    """Sum of the log densities of rows of eta, in the space of zero sums."""
    v = basis(eta.shape[1])
    apart = eta - given.mean
    with one_thread():
        log_determinant = np.linalg.slogdet(v.T @ given.precision @ v)[1] if v.size else 0.0
        square = float(((apart @ given.precision) * apart).sum())
    return float(0.5 * len(eta) * (log_determinant - v.shape[1] * math.log(2 * math.pi)) - 0.5 * square)


def checked_eta(eta: Array) -> Array:
    """Rows of eta from a file, which must sum to zero; of the right shape already."""
    if (np.abs(eta) > _LARGEST_ETA).any() or (
        np.abs(eta.sum(axis=1)) > _ROUNDING * (1 + np.abs(eta).max(initial=0))
    ).any():
        raise ModelError("the saved eta of documents do not sum to zero, or are far too large")
    return eta


def checked_covariance(covariance: Array) -> Array:
    """A covariance from a file: symmetric, with rows that sum to zero, positive definite otherwise."""
    size = float(np.abs(covariance).max(initial=0.0))
    fits = size <= _LARGEST_VARIANCE and np.array_equal(covariance, covariance.T)
    if not fits or (np.abs(covariance.sum(axis=1)) > _ROUNDING * (1 + size)).any():
        raise ModelError("the saved covariance of topics is none of vectors that sum to zero")
    v = basis(len(covariance))
    if (np.linalg.eigvalsh(v.T @ covariance @ v) < 1.0 / _LARGEST_VARIANCE).any():
        raise ModelError("the saved covariance of topics is not positive definite")
    return covariance
