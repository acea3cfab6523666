"""Gaussian processes whose observations are counts of topics, or independent Gaussian messages.

With counts, the joint posterior of all documents' y is concave. Newton's method and the Laplace approximation follow
Rasmussen and Williams 2006, algorithm 3.3, with the counts n_d in place of single labels: W is then
D − D R N⁻¹ Rᵀ D with D = diag(N_d π_dk) and R = K stacked identity matrices, and the algorithm applies as printed.
Cost of one step: O(topics × documents³).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from topoi.errors import ModelError
from topoi.models.kernel_topic import cholesky

Array = NDArray[np.float64]
# Runs a function for every topic; results in their order.
Each = Callable[[Callable[[int], Any], int], list[Any]]

_NEWTON_STEPS, _HALVINGS = 100, 40
# Smallest weight of a document, for one without words: the algebra divides by it.
LEAST_WEIGHT = 1e-6


def serially(function: Callable[[int], Any], n: int) -> list[Any]:
    """Run a function for one topic after the other."""
    return [function(k) for k in range(n)]


class Prior(NamedTuple):
    """Prior of y before any word is seen: C_k = amplitude_k · shape + mean_variance · 11ᵀ + noise_k · I.

    The constant mean of each topic is integrated out.
    """

    shape: Array
    amplitude: Array
    noise: Array
    mean_variance: float

    def covariance(self, k: int) -> Array:
        """Covariance matrix of topic k between the documents."""
        found = self.amplitude[k] * self.shape
        found += self.mean_variance
        found[np.diag_indices_from(found)] += self.noise[k]
        return found

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(self.amplitude)


class Sites(NamedTuple):
    """Quadratic approximation of the likelihood at some y: exp(−½ yᵀWy + bᵀy); ``weight`` is N_d π_dk."""

    weight: Array
    total: Array
    linear: Array


class Solution(NamedTuple):
    """Gaussian posterior for given sites: its mean y, a = C⁻¹ y, and factors for variances and the evidence.

    ``gain[k]`` is E_k = (C_k + D_k⁻¹)⁻¹, ``joint`` the lower Cholesky factor of Σ E_k.
    """

    y: Array
    a: Array
    gain: list[Array]
    joint: Array
    log_evidence: float


def sites_at(y: Array, counts: Array) -> Sites:
    """Quadratic approximation of the counts' likelihood at y; documents × topics."""
    total = np.maximum(counts.sum(axis=1), LEAST_WEIGHT)
    share = np.exp(y - logsumexp(y, axis=1, keepdims=True))
    weight = total[:, None] * np.maximum(share, 1e-300)
    bent = weight * (y - (share * y).sum(axis=1, keepdims=True))
    return Sites(weight, total, bent + counts - weight)


def solve(prior: Prior, sites: Sites, each: Each = serially) -> Solution:
    """Posterior mean and evidence for fixed sites (Rasmussen and Williams 2006, algorithm 3.3)."""
    n_docs, n_topics = sites.weight.shape

    def one(k: int) -> tuple[Array, Array, float]:
        covariance = prior.covariance(k)
        pull = covariance @ sites.linear[:, k]
        gain, log_det = _gain(covariance, sites.weight[:, k])
        return gain, pull, log_det

    found = each(one, n_topics)
    gain = [part[0] for part in found]
    together = gain[0].copy()
    for other in gain[1:]:
        together += other
    joint = _factor(together)
    back = np.stack([gain[k] @ found[k][1] for k in range(n_topics)], axis=1)
    common = cholesky.solve(joint, back.sum(axis=1))
    a = np.stack([sites.linear[:, k] - back[:, k] + gain[k] @ common for k in range(n_topics)], axis=1)
    y = np.stack(each(lambda k: prior.covariance(k) @ a[:, k], n_topics), axis=1)
    log_det = sum(part[2] for part in found) + 2.0 * np.log(np.diag(joint)).sum() - np.log(sites.total).sum()
    return Solution(y, a, gain, joint, float(0.5 * (sites.linear * y).sum() - 0.5 * log_det))


def _gain(covariance: Array, weight: Array) -> tuple[Array, float]:
    """(C + D⁻¹)⁻¹ and log |I + C D|, stable for any non-negative weights; O(documents³). Overwrites ``covariance``."""
    root = np.sqrt(weight)
    covariance *= root[:, None]
    covariance *= root
    covariance[np.diag_indices_from(covariance)] += 1.0
    factor = _factor(covariance)
    log_det = 2.0 * np.log(np.diag(factor)).sum()
    inverse = cholesky.inverse(factor)
    inverse *= root[:, None]
    inverse *= root
    return inverse, float(log_det)


def _factor(matrix: Array) -> Array:
    try:
        return cholesky.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise ModelError(
            "the kernel's matrix is not positive definite; use a positive definite kernel, or more noise"
        ) from None


def log_counts(y: Array, counts: Array) -> float:
    """Σ n_dk log softmax(y_d)_k."""
    return float((counts * (y - logsumexp(y, axis=1, keepdims=True))).sum())


def start_at(prior: Prior, y: Array, each: Each = serially) -> Array:
    """a = C⁻¹ y, to start Newton's method at y: a change of hyper-parameters keeps y, not a."""
    return np.stack(each(lambda k: cholesky.solve(_factor(prior.covariance(k)), y[:, k]), prior.n_topics), axis=1)


class Mode(NamedTuple):
    """Result of Newton's method."""

    y: Array
    a: Array
    objective: float
    n_steps: int
    converged: bool


def find_mode(
    prior: Prior,
    counts: Array,
    y: Array,
    a: Array,
    each: Each = serially,
    tol: float = 1e-8,
    n_steps: int | None = None,
) -> Mode:
    """Most probable y given counts, by Newton's method with a line search; the objective never decreases."""

    def whole_step(y: Array, a: Array) -> tuple[Array, Array]:
        found = solve(prior, sites_at(y, counts), each)
        return found.y, found.a

    return climb(counts, whole_step, y, a, tol, n_steps)


def climb(
    counts: Array,
    whole_step: Callable[[Array, Array], tuple[Array, Array]],
    y: Array,
    a: Array,
    tol: float = 1e-8,
    n_steps: int | None = None,
) -> Mode:
    """Newton's method with a line search on log p(counts | y) − ½ aᵀy, a = C⁻¹ y; ``whole_step`` is the full step."""

    def objective(y: Array, a: Array) -> float:
        return log_counts(y, counts) - 0.5 * float((a * y).sum())

    value, most = objective(y, a), _NEWTON_STEPS if n_steps is None else n_steps
    for step in range(1, most + 1):
        far_y, far_a = whole_step(y, a)
        length = 1.0
        for _ in range(_HALVINGS):
            new_y, new_a = y + length * (far_y - y), a + length * (far_a - a)
            new = objective(new_y, new_a)
            if new >= value:
                break
            length *= 0.5
        else:
            return Mode(y, a, value, step, True)  # no ascent beyond rounding
        gain, (y, a, value) = new - value, (new_y, new_a, new)
        if gain < tol * (1.0 + abs(value)):
            return Mode(y, a, value, step, True)
    return Mode(y, a, value, most, False)


def deviation(prior: Prior, sites: Sites, random: np.random.Generator, each: Each = serially) -> Array:
    """A draw of all documents' y, given sites, less its mean; documents × topics.

    (C⁻¹ + W)⁻¹ (C⁻¹ f + e) with f drawn from the prior and e from N(0, W) has the posterior's covariance.
    """
    share = sites.weight / sites.total[:, None]
    plain, root = random.standard_normal(share.shape), np.sqrt(share)
    noise = np.sqrt(sites.total)[:, None] * (root * plain - share * (root * plain).sum(axis=1, keepdims=True))
    plain = random.standard_normal(share.shape)

    def pull(k: int) -> Array:
        factor = _factor(prior.covariance(k))
        return cholesky.solve(factor, factor @ plain[:, k])

    return solve(prior, sites._replace(linear=noise + np.stack(each(pull, prior.n_topics), axis=1)), each).y


def marginals(prior: Prior, solution: Solution, each: Each = serially) -> Array:
    """Posterior covariance of each training document's y: documents × topics × topics."""
    n_docs, n_topics = solution.y.shape
    found = np.zeros((n_docs, n_topics, n_topics))

    def one(k: int) -> tuple[Array, Array]:
        covariance = prior.covariance(k)
        return _cross_parts(covariance, np.diag(covariance).copy(), solution, k)

    return _assemble(each(one, n_topics), found)


def predict(
    prior: Prior, solution: Solution, cross: Array, diagonal: Array, noise: bool, each: Each = serially
) -> tuple[Array, Array]:
    """Mean (documents × topics) and covariance (documents × topics × topics) of y at new documents.

    ``cross`` is the shape's matrix between new and training documents, ``diagonal`` its values at the new ones. With
    ``noise`` y is that of a new document, without it that of the function. Rasmussen and Williams 2006, algorithm 3.4.
    """
    n_new, n_topics = len(cross), prior.n_topics
    mean = np.empty((n_new, n_topics))

    def one(k: int) -> tuple[Array, Array]:
        between = prior.amplitude[k] * cross + prior.mean_variance
        mean[:, k] = between @ solution.a[:, k]
        own = prior.amplitude[k] * diagonal + prior.mean_variance + (prior.noise[k] if noise else 0.0)
        return _cross_parts(between.T, own, solution, k)

    return mean, _assemble(each(one, n_topics), np.zeros((n_new, n_topics, n_topics)))


def _cross_parts(between: Array, own: Array, solution: Solution, k: int) -> tuple[Array, Array]:
    """Variance of topic k without the other topics, and its contribution to the covariances, training × new."""
    seen = solution.gain[k] @ between
    return own - (between * seen).sum(axis=0), cholesky.solve_lower(solution.joint, seen)


def _assemble(parts: list[tuple[Array, Array]], found: Array) -> Array:
    for k, (own, one) in enumerate(parts):
        found[:, k, k] = own
        for l, (_, other) in enumerate(parts[: k + 1]):  # noqa: E741
            shared = np.einsum("ij,ij->j", one, other)
            found[:, k, l] += shared
            if l != k:
                found[:, l, k] += shared
    return found


class Regression(NamedTuple):
    """A Gaussian process given independent Gaussian messages: mean and variance at the training documents, evidence."""

    mean: Array
    variance: Array
    log_evidence: float
    a: Array
    gain: Array


def regress(covariance: Array, precision: Array, shift: Array) -> Regression:
    """Regression on messages N(y_d; shift_d / precision_d, 1 / precision_d); precisions may be zero.

    Equations 10 and 11 of Hennig et al., without log |S| and the messages' own normalisers, which do not depend on the
    covariance; Rasmussen and Williams 2006, algorithms 3.5 and 3.6.
    """
    gain, log_det = _gain(covariance.copy(), precision)
    pull = covariance @ shift
    a = shift - gain @ pull
    mean = covariance @ a
    variance = np.diag(covariance) - ((covariance @ gain) * covariance).sum(axis=1)
    return Regression(mean, variance, float(0.5 * shift @ mean - 0.5 * log_det), a, gain)
