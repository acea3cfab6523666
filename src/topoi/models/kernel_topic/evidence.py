"""Hyper-parameters by maximum evidence: the kernel's shape, and each topic's amplitude and noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import Kernel

from topoi.errors import ModelError
from topoi.models.features.table import Coordinates, as_dense
from topoi.models.kernel_topic.cholesky import solve_lower
from topoi.models.kernel_topic.gaussian_process import Each, Prior, Sites, Solution, serially, solve

Array = NDArray[np.float64]
AMPLITUDES, NOISES = (1e-3, 1e2), (1e-4, 25.0)
# A standard deviation of two for the log of a topic's overall odds: wide, but not flat.
MEAN_VARIANCE = 4.0
# Smallest gain worth a step, in nats: the sites change before the next maximisation, so digits beyond are wasted.
_STEPS, _NEXT_TO_NOTHING = 15, 0.05
# Largest change of a log in one maximisation: sites are a local approximation, and an unrestricted line search would
# try the corners of the bounds, where rounding dominates the evidence.
_FARTHEST = 1.5
# Standard deviation of the Gaussian priors of logs about their start: a factor of seven either way.
_PRIOR_SPREAD = 2.0


class Shape:
    """The matrix that all topics share up to amplitudes: a kernel at the documents' coordinates, or a given matrix.

    ``learned`` is the ``theta`` that the kernel was made with, if any: the property has its exponential's logarithm,
    which may differ in the last bit.
    """

    def __init__(self, kernel: Kernel | None, coordinates: Coordinates, learned: Array | None = None) -> None:
        self.kernel, self.coordinates, self.learned = kernel, coordinates, learned

    @property
    def theta(self) -> Array:
        """Logs of its hyper-parameters."""
        return np.zeros(0) if self.kernel is None else np.asarray(self.kernel.theta, np.float64)

    @property
    def bounds(self) -> Array:
        """Bounds of ``theta``."""
        return np.zeros((0, 2)) if self.kernel is None or not len(self.theta) else np.asarray(self.kernel.bounds)

    def at(self, theta: Array) -> Shape:
        """The same with other hyper-parameters."""
        if self.kernel is None:
            return self
        return Shape(self.kernel.clone_with_theta(theta), self.coordinates, np.array(theta, np.float64))

    def matrix(self) -> Array:
        """Matrix between the training documents."""
        return self._checked(self.coordinates if self.kernel is None else self.kernel(self.coordinates))

    def with_gradient(self) -> tuple[Array, Array]:
        """The matrix and its derivatives by ``theta``, on the last axis."""
        if self.kernel is None or not len(self.theta):
            return self.matrix(), np.empty((*self.coordinates.shape[:1] * 2, 0))
        value, gradient = self.kernel(self.coordinates, eval_gradient=True)
        return self._checked(value), gradient

    def cross(self, coordinates: Coordinates, diagonal: float | None = None) -> tuple[Array, Array]:
        """Matrix between new and training documents, and the new documents' diagonal."""
        if self.kernel is None:
            own = np.mean(np.diag(as_dense(self.coordinates))) if diagonal is None else diagonal
            return as_dense(coordinates), np.full(coordinates.shape[0], own, np.float64)
        return self.kernel(coordinates, self.coordinates), np.asarray(self.kernel.diag(coordinates), np.float64)

    def _checked(self, matrix: Coordinates) -> Array:
        found, n_docs = np.asarray(matrix, np.float64), self.coordinates.shape[0]
        if found.shape != (n_docs, n_docs):
            raise ModelError(
                f"the kernel gave a matrix of shape {found.shape} for {n_docs} documents; use one that gives a single "
                "number for each pair"
            )
        if not np.isfinite(found).all():
            raise ModelError("the kernel's matrix has entries that are not finite numbers")
        return found


class Hyper(NamedTuple):
    """Hyper-parameters: the shape, and amplitude and noise (variances) of each topic."""

    shape: Shape
    amplitude: Array
    noise: Array

    def prior(self, matrix: Array | None = None) -> Prior:
        """The prior for these hyper-parameters."""
        return Prior(self.shape.matrix() if matrix is None else matrix, self.amplitude, self.noise, MEAN_VARIANCE)


class Layout(NamedTuple):
    """Layout of hyper-parameters in one vector of logs: theta, amplitudes (one or one per topic), noises."""

    n_theta: int
    n_topics: int
    shared: bool

    def pack(self, hyper: Hyper) -> Array:
        """Hyper-parameters as a vector."""
        amplitude = hyper.amplitude[:1] if self.shared else hyper.amplitude
        return np.concatenate((hyper.shape.theta, np.log(amplitude), np.log(hyper.noise)))

    def unpack(self, x: Array, hyper: Hyper) -> Hyper:
        """A vector as hyper-parameters."""
        amplitude = np.exp(x[self.n_theta : -self.n_topics])
        if self.shared:
            amplitude = np.repeat(amplitude, self.n_topics)
        return Hyper(hyper.shape.at(x[: self.n_theta]), amplitude, np.exp(x[-self.n_topics :]))

    def bounds(self, hyper: Hyper) -> list[tuple[float, float]]:
        """Bounds of each entry."""
        ranges = [(float(low), float(high)) for low, high in hyper.shape.bounds]
        ranges += [(np.log(AMPLITUDES[0]), np.log(AMPLITUDES[1]))] * (1 if self.shared else self.n_topics)
        return ranges + [(np.log(NOISES[0]), np.log(NOISES[1]))] * self.n_topics


def evidence_and_gradient(
    x: Array, layout: Layout, hyper: Hyper, sites: Sites, each: Each = serially
) -> tuple[float, Array]:
    """Log evidence for fixed sites and its gradient by the vector of logs; O(topics × documents³).

    With a = C⁻¹ŷ and G = (C + W⁻¹)⁻¹, the derivative by any parameter of C_k is ½ aᵀC'a − ½ tr(G_kk C'); G_kk is
    E_k − E_k (Σ E)⁻¹ E_k.
    """
    at = layout.unpack(x, hyper)
    matrix, slopes = at.shape.with_gradient()
    prior = at.prior(matrix)
    found = solve(prior, sites, each)

    def one(k: int) -> tuple[Array, float, float]:
        pulled = _pulled(found, k)
        return prior.amplitude[k] * pulled, float((pulled * matrix).sum()), float(np.trace(pulled))

    parts = each(one, layout.n_topics)
    total = parts[0][0]
    for part in parts[1:]:
        total = total + part[0]
    by_theta = np.einsum("ij,ijt->t", total, slopes)
    by_amplitude = prior.amplitude * np.array([part[1] for part in parts])
    by_noise = prior.noise * np.array([part[2] for part in parts])
    if layout.shared:
        by_amplitude = by_amplitude.sum(keepdims=True)
    return found.log_evidence, 0.5 * np.concatenate((by_theta, by_amplitude, by_noise))


def _pulled(found: Solution, k: int) -> Array:
    """aaᵀ − G_kk, the weight of the derivative of C_k."""
    half = solve_lower(found.joint, found.gain[k])
    return np.asarray(np.outer(found.a[:, k], found.a[:, k]) - found.gain[k] + half.T @ half)


class Learned(NamedTuple):
    """Result of learning."""

    hyper: Hyper
    log_evidence: float  # including the priors' logs, if there are any
    n_evaluations: int


def learn(
    hyper: Hyper, sites: Sites, shared: bool, each: Each = serially, n_steps: int = _STEPS, centre: Hyper | None = None
) -> Learned:
    """Maximise the evidence for fixed sites."""
    layout = Layout(len(hyper.shape.theta), len(hyper.noise), shared)
    return maximise(lambda x: evidence_and_gradient(x, layout, hyper, sites, each), layout, hyper, n_steps, centre)


def maximise(
    evidence: Callable[[Array], tuple[float, Array]],
    layout: Layout,
    hyper: Hyper,
    n_steps: int = _STEPS,
    centre: Hyper | None = None,
) -> Learned:
    """Maximise by L-BFGS within bounds, from ``hyper``; it ends when a step gains next to nothing.

    With a ``centre``, the start of learning, weak priors about it are added to the evidence.
    """
    low, high = np.array(layout.bounds(hyper)).T
    start = np.clip(layout.pack(hyper), low, high)
    near = np.maximum(low, start - _FARTHEST), np.minimum(high, start + _FARTHEST)
    bounds = [(float(least), float(most)) for least, most in zip(*near, strict=True)]
    about = None if centre is None else layout.pack(centre)
    before = np.inf

    def loss(x: Array) -> tuple[float, Array]:
        value, gradient = evidence(x)
        away = np.zeros_like(x) if about is None else (x - about) / _PRIOR_SPREAD
        return -value + 0.5 * float(away @ away), -gradient + away / _PRIOR_SPREAD

    def enough(intermediate_result: Any) -> None:
        nonlocal before
        gain, before = before - intermediate_result.fun, intermediate_result.fun
        if gain < _NEXT_TO_NOTHING:
            raise StopIteration

    options: Any = {"maxiter": n_steps}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=enough, options=options)
    return Learned(layout.unpack(np.asarray(found.x), hyper), float(-found.fun), int(found.nfev))
