"""Newton's method for y of very many documents: conjugate gradients on the exact covariance, all topics at once.

A step needs (W⁻¹ + C)⁻¹. The diagonal Δ of C (what its smooth factor leaves) is combined with W, so that each
document's block G = (W⁻¹ + Δ)⁻¹ is diag(e) − e eᵀ / Σe with e = 1 / (Δ + 1 / weight), as in Rasmussen and Williams
2006, equation 3.47; it has the root L = √Σe (diag(√p) − p √pᵀ), p = e / Σe. Then (W⁻¹ + C)⁻¹ = L (I + Lᵀ (C − Δ) L)⁻¹
Lᵀ, and what remains to be preconditioned is of low rank, except for pairs of documents that share a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from topoi.errors import ModelError
from topoi.models.kernel_topic.gaussian_process import LEAST_WEIGHT, Each, serially
from topoi.models.kernel_topic.operators import Operator

Array = NDArray[np.float64]
# A looser tolerance would not save iterations, as Newton's method would then take more steps.
_STEP_TOLERANCE, _START_TOLERANCE, _MOST_ITERATIONS = 1e-6, 1e-9, 400
_PRECONDITIONED = 64


class LargePrior(NamedTuple):
    """The covariance C_k = amplitude_k · shape + mean_variance · 11ᵀ + noise_k · I of ``Prior``, as an operator."""

    shape: Operator
    amplitude: Array
    noise: Array
    mean_variance: float

    def times(self, columns: Array, each: Each = serially) -> Array:
        """Each topic's covariance times its column; documents × topics."""
        found = self.shape.times(columns, each)
        found *= self.amplitude
        found += self.mean_variance * columns.sum(axis=0)
        found += self.noise * columns
        return found

    @property
    def diagonal(self) -> Array:
        """Δ: what the smooth factor leaves of each covariance's diagonal; documents × topics."""
        return np.asarray(self.shape.rest[:, None] * self.amplitude + self.noise)


class Root(NamedTuple):
    """L of each document: √Σe (diag(√p) − p √pᵀ), or, where topics are not coupled, diag(√e)."""

    size: Array
    root: Array
    share: Array

    @classmethod
    def of(cls, e: Array, coupled: bool) -> Root:
        """Build from e; documents × topics."""
        if not coupled:
            return cls(np.ones((len(e), 1)), np.sqrt(e), np.zeros_like(e))
        total = e.sum(axis=1, keepdims=True)
        return cls(np.sqrt(total), np.sqrt(e / total), e / total)

    def times(self, columns: Array) -> Array:
        """L times columns."""
        inner = np.einsum("dk,dk->d", self.root, columns)[:, None]
        return np.asarray(self.size * (self.root * columns - self.share * inner))

    def back(self, columns: Array) -> Array:
        """Lᵀ times columns."""
        inner = np.einsum("dk,dk->d", self.share, columns)[:, None]
        return np.asarray(self.size * self.root * (columns - inner))


class Preconditioner:
    """(I + Lᵀ Φ Φᵀ L)⁻¹, with Φ the smooth factor and the constant of every topic, by Woodbury's identity."""

    def __init__(self, prior: LargePrior, root: Root) -> None:
        shape, n_topics = prior.shape, len(prior.amplitude)
        n_points = len(shape.factor)
        self._value, self._root = shape.value, root
        self._factor = np.hstack((shape.factor[:, :_PRECONDITIONED], np.ones((n_points, 1))))
        n_columns = self._factor.shape[1]
        self._scale = np.sqrt(np.tile(prior.amplitude[:, None], n_columns))
        self._scale[:, -1] = np.sqrt(prior.mean_variance)
        self._members: Any = csr_matrix(
            (np.ones(len(self._value)), (self._value, np.arange(len(self._value)))), shape=(n_points, len(self._value))
        )
        size = n_topics * n_columns
        inner = self._inner(root).reshape(size, size)
        inner[np.diag_indices_from(inner)] += 1.0
        try:
            self._solved = cho_factor(inner, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ModelError(
                "the kernel's values are too large, or not finite; scale it such that a document is 1 to itself"
            ) from None

    def _inner(self, root: Root) -> Array:
        """Φᵀ L Lᵀ Φ, topics × columns × topics × columns."""
        own = (root.size * root.root) ** 2
        linked = root.size * root.share
        n_topics, n_columns = self._scale.shape
        found = np.empty((n_topics, n_columns, n_topics, n_columns))
        for k in range(n_topics):
            weight = self._members @ (linked[:, k : k + 1] * linked[:, : k + 1])
            np.negative(weight, out=weight)
            weight[:, k] += self._members @ own[:, k]
            for other in range(k + 1):
                block = (self._factor * weight[:, other : other + 1]).T @ self._factor
                block *= self._scale[k][:, None] * self._scale[other]
                found[k, :, other] = block
                found[other, :, k] = block.T
        return found

    def times(self, columns: Array) -> Array:
        """The preconditioner times columns."""
        sums = self._members @ self._root.times(columns)
        down = (self._factor.T @ sums).T * self._scale
        found = cho_solve(self._solved, down.ravel(), check_finite=False).reshape(self._scale.shape) * self._scale
        return np.asarray(columns - self._root.back((self._factor @ found.T)[self._value]))


class Gain:
    """Operator (W⁻¹ + C)⁻¹, by preconditioned conjugate gradients; ``n_iterations`` counts them."""

    def __init__(self, prior: LargePrior, e: Array, coupled: bool, each: Each) -> None:
        self._prior, self._each = prior, each
        self._diagonal = prior.diagonal
        self._root = Root.of(e, coupled)
        self._preconditioner = Preconditioner(prior, self._root)
        self.n_iterations = 0

    def _matrix(self, x: Array) -> Array:
        """I + Lᵀ (C − Δ) L times x."""
        inner = self._root.times(x)
        return x + self._root.back(self._prior.times(inner, self._each) - self._diagonal * inner)

    def times(self, columns: Array, tolerance: float) -> Array:
        """The solution, to a residual of ``tolerance`` relative to the right-hand side."""
        x, n = conjugate_gradients(self._matrix, self._preconditioner.times, self._root.back(columns), tolerance)
        self.n_iterations += n
        return self._root.times(x)


def conjugate_gradients(
    matrix: Callable[[Array], Array], preconditioner: Callable[[Array], Array], wanted: Array, tolerance: float
) -> tuple[Array, int]:
    """Solve matrix · x = wanted; return x and the number of iterations. Sums are taken in a fixed order."""
    x, left = np.zeros_like(wanted), wanted.copy()
    enough = tolerance**2 * _inner(wanted, wanted)
    direction = preconditioner(left)
    slope = _inner(left, direction)
    for n in range(_MOST_ITERATIONS):
        if _inner(left, left) <= enough:
            return x, n
        forward = matrix(direction)
        curvature = _inner(direction, forward)
        if not curvature > 0.0:
            raise ModelError(
                "the kernel's matrix is not positive definite; use a positive definite kernel, or more noise"
            )
        length = slope / curvature
        x += length * direction
        left -= length * forward
        new = preconditioner(left)
        slope, before = _inner(left, new), slope
        direction = new + (slope / before) * direction
    return x, _MOST_ITERATIONS


def _inner(one: Array, other: Array) -> float:
    return float((one * other).sum())


def newton_step(
    prior: LargePrior, counts: Array, y: Array, a: Array, each: Each = serially
) -> tuple[Array, Array, int]:
    """New y and a of Newton's method from y = C a, and the number of iterations.

    With r the slope of the objective, counts − weight − a, the step is r − (W⁻¹ + C)⁻¹ C r for a, and C times that for
    y: the two agree however exact the solution is.
    """
    total = np.maximum(counts.sum(axis=1), LEAST_WEIGHT)
    weight = total[:, None] * np.maximum(np.exp(y - logsumexp(y, axis=1, keepdims=True)), 1e-300)
    slope = counts - weight - a
    gain = Gain(prior, weight / (1.0 + prior.diagonal * weight), True, each)
    step = slope - gain.times(prior.times(slope, each), _STEP_TOLERANCE)
    return y + prior.times(step, each), a + step, gain.n_iterations


def start_large(prior: LargePrior, y: Array, each: Each = serially) -> tuple[Array, Array, int]:
    """y and a = C⁻¹ y, to start Newton's method at y, and the number of iterations."""
    gain = Gain(prior, 1.0 / prior.diagonal, False, each)
    a = gain.times(y, _START_TOLERANCE)
    return prior.times(a, each), a, gain.n_iterations
