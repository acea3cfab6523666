"""Likelihood of documents' topic counts under alpha = exp(X λ), and the coefficients that maximise it.

Σ_d log DirMult(n_d | exp(x_d·λ)) − Σ (λ − mean)² / 2 variance, with its gradient and its curvature. Zero counts cost
nothing but the exponential.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from topoi.engine.executors import Executor, SerialExecutor
from topoi.engine.shards import cut
from topoi.kernels.jit import inlined, lean
from topoi.kernels.special import digamma
from topoi.models.blas import one_thread

Array = NDArray[np.float64]
# Largest |log alpha|, beyond which a float32 sampler could not resolve alpha; the slope is zero there.
_LARGEST_LOG = math.log(1e6)
_FEW = 8
# Counts in a block of rows, some ten thousandths of a second of work, and blocks at the most.
_CELLS_IN_BLOCK, _MOST_BLOCKS = 5000, 16
# Up to this many coefficients the curvature is one matrix; beyond, up to this many numbers, one for each topic.
_MOST_UNKNOWNS, _MOST_NUMBERS = 3000, 30_000_000


class Limits(NamedTuple):
    """Topics that documents (or groups of them) may have: sets of topics, sets × topics, and the number of each's set.

    A topic that a document may not have is not in its Dirichlet: no term of the likelihood has its alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dmr.likelihood import Limits
    >>> limits = Limits(np.array([[True, True], [True, False]]), np.array([0, 1, 1]))
    >>> limits.some(slice(1, 2)).masked(np.full((1, 2), 0.5)).tolist()
    [[0.5, 0.0]]
    """

    sets: NDArray[np.bool_]
    row: NDArray[np.int64]

    def masked(self, alpha: NDArray[Any]) -> NDArray[Any]:
        """Rows of alpha with zeros for the topics that the documents may not have."""
        return np.asarray(alpha * self.sets[self.row])

    def some(self, docs: Any) -> Limits:
        """Those of some documents."""
        return Limits(self.sets, self.row[docs])


class TopicCells(NamedTuple):
    """Nonzero topic counts of documents: start of each document's, topics, numbers; and each document's length.

    ``limits`` are the topics that they may have, if not all.
    """

    start: NDArray[np.int64]
    topic: NDArray[np.int64]
    number: Array
    total: Array
    limits: Limits | None = None


class GroupedCells(NamedTuple):
    """Topic counts of groups of documents: each group's distinct counts of a topic, and how many documents have them.

    ``total`` are each group's distinct lengths, from ``total_start``, with the numbers of documents likewise;
    ``limits`` the topics that a group's documents may have, the same for all of them.
    """

    start: NDArray[np.int64]
    topic: NDArray[np.int64]
    number: Array
    times: Array
    total_start: NDArray[np.int64]
    total: Array
    total_times: Array
    limits: Limits | None = None


Cells: TypeAlias = TopicCells | GroupedCells


def as_groups(cells: Cells) -> GroupedCells:
    """Every document as a group of its own, if they are not groups already."""
    if isinstance(cells, GroupedCells):
        return cells
    start, topic, number, total, limits = cells
    return GroupedCells(
        start, topic, number, np.ones(len(number)), np.arange(len(total) + 1), total, np.ones(len(total)), limits
    )


class Gaussian(NamedTuple):
    """Gaussian prior of the coefficients: means topics × columns, variances per column."""

    mean: Array
    variance: Array


def alpha_rows(design: csr_matrix, coefficients: Array, limits: Limits | None = None) -> Array:
    """exp(x·λ) for every document and topic, clipped to 1e-6 to 1e6; zero where a document may not have the topic."""
    return _within(limits, np.exp(np.clip(design @ coefficients.T, -_LARGEST_LOG, _LARGEST_LOG)))


def _within(limits: Limits | None, alpha: Array) -> Array:
    return alpha if limits is None else limits.masked(alpha)


@inlined
def _rising(n, a):
    """log Γ(n + a) − log Γ(a) and its derivative; few factors are multiplied out."""
    if n <= _FEW and n == math.floor(n):
        product, slope = 1.0, 0.0
        for j in range(int(n)):
            product *= a + j
            slope += 1.0 / (a + j)
        return math.log(product), slope
    return math.lgamma(n + a) - math.lgamma(a), digamma(n + a) - digamma(a)


@lean
def _add_groups(cells, alpha, slope):
    """Log probability of all counts; ``slope`` is set to its derivative by log alpha. O(groups × topics + cells)."""
    result = 0.0
    for d in range(alpha.shape[0]):
        whole = 0.0
        for k in range(alpha.shape[1]):
            whole += alpha[d, k]
        by_whole = 0.0
        for i in range(cells.total_start[d], cells.total_start[d + 1]):
            value, by_total = _rising(cells.total[i], whole)
            result -= cells.total_times[i] * value
            by_whole += cells.total_times[i] * by_total
        for k in range(alpha.shape[1]):
            slope[d, k] = -alpha[d, k] * by_whole
        for i in range(cells.start[d], cells.start[d + 1]):
            k = cells.topic[i]
            value, by_own = _rising(cells.number[i], alpha[d, k])
            result += cells.times[i] * value
            slope[d, k] += cells.times[i] * alpha[d, k] * by_own
    return result


def log_counts(cells: TopicCells, alpha: Array) -> float:
    """Log probability of the documents' topics (as sequences) given each document's Dirichlet."""
    return _log_groups(as_groups(cells), alpha, np.empty_like(alpha))


def _log_groups(cells: GroupedCells, alpha: Array, slope: Array) -> float:
    """``_add_groups``, which reads the limits from alpha: it is zero beyond them, and no count is there."""
    return float(_add_groups(cells._replace(limits=None), alpha, slope))


class Density:
    """Log posterior density of coefficients, up to a constant, with its gradient.

    Rows are added up in blocks, which the executor may give to several threads. Blocks depend on the counts alone, and
    their sums are added in order: the result has the same bits on any number of threads.
    """

    def __init__(self, design: csr_matrix, cells: Cells, prior: Gaussian, executor: Executor | None = None) -> None:
        self.prior, self._executor = prior, executor or SerialExecutor()
        cells = as_groups(cells)
        n_blocks = min(max(len(cells.number) // _CELLS_IN_BLOCK, 1), _MOST_BLOCKS)
        work = np.diff(cells.start) + 1
        self._parts = [
            (design[first:last], _rows(cells, first, last)) for first, last in cut(work, n_blocks) if first < last
        ]

    def at(self, coefficients: Array) -> tuple[float, Array]:
        """Value and gradient; topics × columns."""

        def of_part(part: tuple[csr_matrix, GroupedCells]) -> tuple[float, Array]:
            design, cells = part
            linear = design @ coefficients.T
            alpha = _within(cells.limits, np.exp(np.clip(linear, -_LARGEST_LOG, _LARGEST_LOG)))
            slope = np.empty_like(alpha)
            value = _log_groups(cells, alpha, slope)
            slope[np.abs(linear) > _LARGEST_LOG] = 0.0
            return value, (design.T @ slope).T

        away = coefficients - self.prior.mean
        value, gradient = -0.5 * float((away**2 / self.prior.variance).sum()), -away / self.prior.variance
        for one, slope in self._executor.map(of_part, self._parts):
            value += one
            gradient += slope
        return value, gradient


def _rows(cells: GroupedCells, first: int, last: int) -> GroupedCells:
    """Some consecutive groups."""
    own, totals = (slice(start[first], start[last]) for start in (cells.start, cells.total_start))
    return GroupedCells(
        cells.start[first : last + 1] - own.start,
        cells.topic[own],
        cells.number[own],
        cells.times[own],
        cells.total_start[first : last + 1] - totals.start,
        cells.total[totals],
        cells.total_times[totals],
        None if cells.limits is None else cells.limits.some(slice(first, last)),
    )


def objective(design: csr_matrix, cells: Cells, coefficients: Array, prior: Gaussian) -> tuple[float, Array]:
    """``Density.at`` for one use."""
    return Density(design, cells, prior).at(coefficients)


def maximise(
    design: csr_matrix,
    cells: Cells,
    start: Array,
    prior: Gaussian,
    max_steps: int,
    executor: Executor | None = None,
) -> Array:
    """Improve coefficients by L-BFGS from ``start``; on one BLAS thread, so that the result is reproducible."""
    density = Density(design, cells, prior, executor)

    def loss(x: Array) -> tuple[float, Array]:
        value, gradient = density.at(x.reshape(start.shape))
        return -value, -gradient.ravel()

    with one_thread():
        options: Any = {"maxiter": max_steps, "maxfun": 2 * max_steps + 20}
        found: Any = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x, np.float64).reshape(start.shape)


def curvature(cells: Cells, alpha: Array) -> tuple[Array, Array]:
    """Minus the second derivative by log alpha: a topic's own part, and the part shared by two topics, per group.

    It is diag(first) − second · alpha alphaᵀ for each group of documents, or for each document.
    """
    from scipy.special import digamma as psi
    from scipy.special import polygamma

    cells, whole = as_groups(cells), alpha.sum(axis=1)
    n_groups = len(whole)
    # A document without words may have no topic at all.
    whole = np.where(whole > 0.0, whole, 1.0)
    of_total = np.repeat(np.arange(n_groups), np.diff(cells.total_start))
    each, times = whole[of_total], cells.total_times
    by_whole = np.bincount(of_total, times * (psi(cells.total + each) - psi(each)), n_groups)
    bends = times * (polygamma(1, each) - polygamma(1, cells.total + each))
    shared = np.bincount(of_total, bends, n_groups)
    own = alpha * by_whole[:, None]
    group = np.repeat(np.arange(n_groups), np.diff(cells.start))
    a, n = alpha[group, cells.topic], cells.number
    bend = a * (psi(a + n) - psi(a)) + a**2 * (polygamma(1, a + n) - polygamma(1, a))
    np.subtract.at(own, (group, cells.topic), cells.times * bend)
    return own, np.asarray(shared, np.float64)


def covariance(design: csr_matrix, cells: TopicCells, coefficients: Array, prior: Gaussian) -> Array:
    """Inverse of the curvature at the coefficients: topics × columns × topics × columns.

    With more than 3,000 coefficients, only within topics: topics × columns × columns, without what topics share. Where
    that is too large as well, only for each coefficient alone: topics × columns. No direction gets a larger variance
    than under the prior.
    """
    n_topics, n_columns = coefficients.shape
    alpha = alpha_rows(design, coefficients, cells.limits)
    own, shared = curvature(cells, alpha)
    precision = np.diag(1.0 / prior.variance)
    if n_topics * n_columns**2 > _MOST_NUMBERS:
        bends = design.multiply(design).T @ (own - shared[:, None] * alpha**2)
        least = 1.0 / prior.variance.max()
        return np.asarray(1.0 / np.maximum(bends + 1.0 / prior.variance[:, None], least)).T
    if n_topics * n_columns > _MOST_UNKNOWNS:
        found = np.empty((n_topics, n_columns, n_columns))
        for k in range(n_topics):
            weight = own[:, k] - shared * alpha[:, k] ** 2
            found[k] = _inverse(_weighted(design, weight) + precision, prior)
        return found
    whole = np.zeros((n_topics, n_columns, n_topics, n_columns))
    for k in range(n_topics):
        for other in range(k + 1):
            weight = -shared * alpha[:, k] * alpha[:, other] + (own[:, k] if k == other else 0.0)
            whole[k, :, other] = _weighted(design, weight)
            whole[other, :, k] = whole[k, :, other].T
        whole[k, :, k] += precision
    size = n_topics * n_columns
    return _inverse(whole.reshape(size, size), prior).reshape(whole.shape)


def _weighted(design: csr_matrix, weight: Array) -> Array:
    return np.asarray((design.multiply(weight[:, None]).T @ design).todense())


def _inverse(matrix: Array, prior: Gaussian) -> Array:
    with one_thread():
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
        return np.asarray((vectors / np.maximum(values, 1.0 / prior.variance.max())) @ vectors.T)


def standard_errors(found: Array) -> Array:
    """Square roots of the variances in the result of ``covariance``: topics × columns."""
    if found.ndim == 4:
        return np.sqrt(np.einsum("kiki->ki", found))
    return np.sqrt(found if found.ndim == 2 else np.einsum("kii->ki", found))


def linear_covariance(design: csr_matrix, found: Array) -> Array:
    """Covariance of each document's log alpha: documents × topics × topics."""
    if found.ndim == 2:
        return np.asarray((design.multiply(design) @ found.T)[..., None] * np.eye(len(found)))
    dense = np.asarray(design.todense())
    if found.ndim == 4:
        return np.einsum("di,kilj,dj->dkl", dense, found, dense, optimize=True)
    variance = np.einsum("di,kij,dj->dk", dense, found, dense, optimize=True)
    return np.asarray(variance[..., None] * np.eye(len(found)))
