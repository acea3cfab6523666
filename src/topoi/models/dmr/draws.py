"""Draws of the coefficients from their posterior given the counts of topics.

Hamiltonian Monte Carlo (Neal 2011) on ``likelihood.Density``. The metric, the curvature near the
mode, is a function of the counts alone, never of the coefficients being replaced. So, together with the Gibbs draws of
the topics, each step leaves the joint posterior of topics and coefficients invariant.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_matrix

from topoi.engine.executors import Executor
from topoi.models.blas import one_thread
from topoi.models.dmr.likelihood import (
    Cells,
    Density,
    Gaussian,
    alpha_rows,
    curvature,
    maximise,
)
from topoi.models.draws import most_draws

Array = NDArray[np.float64]
# Steps of L-BFGS from the prior mean that lead near enough to the mode for a metric.
_STEPS_TO_METRIC = 20
# Up to this many products a metric has a matrix for each topic; beyond, a scale for each coefficient.
_MOST_PRODUCTS = 200_000_000
# Length of a trajectory, about a quarter turn of a standard Gaussian; its longest step, and the most steps.
_QUARTER, _LONGEST_STEP, _MOST_LEAPS = 0.5 * math.pi, 1.2, 60
# Trial trajectories from near the mode: the step is shortened until the error of the log density is small enough.
_TRIALS, _TRIAL_LEAPS, _LARGEST_GAIN = 4, 8, 0.5
# Given the topics, trajectories are cheap compared with their metric, and most of the spread is that of draws given
# topics. So several are drawn in a row, fewer if those of a hundred sweeps could not be kept.
_MOST_AT_ONCE, _STEPS_KEPT = 4, 100


def draws_at_once(size: int) -> int:
    """Number of draws after each sweep that learns ``size`` coefficients: four, or fewer if few can be kept."""
    return min(max(most_draws(size) // _STEPS_KEPT, 1), _MOST_AT_ONCE)


class Metric(NamedTuple):
    """Metric of trajectories: the step, and a linear map from standard normals to coefficients.

    The map is topics × columns × columns, or, one scale for each coefficient, topics × columns.
    """

    root: Array
    step: float

    def forth(self, x: Array) -> Array:
        """Map standard directions to directions of coefficients."""
        return self.root * x if self.root.ndim == 2 else np.einsum("kij,kj->ki", self.root, x)

    def back(self, gradient: Array) -> Array:
        """Gradient in standard coordinates."""
        return self.root * gradient if self.root.ndim == 2 else np.einsum("kij,ki->kj", self.root, gradient)


def metric_of(
    design: csr_matrix, cells: Cells, prior: Gaussian, rng: np.random.Generator, executor: Executor | None = None
) -> Metric:
    """Roots of the inverse curvature near the mode, topic by topic, and a step that is short enough there.

    It depends only on the counts, the prior and random numbers. Cost: about thirty gradients.
    """
    near = maximise(design, cells, prior.mean, prior, _STEPS_TO_METRIC, executor)
    density = Density(design, cells, prior, executor)
    metric = Metric(_root(design, cells, near, prior), _LONGEST_STEP * near.size**-0.25)
    for _ in range(_TRIALS):
        _, gain = _trajectory(density, near, metric, _TRIAL_LEAPS, rng)
        if abs(gain) < _LARGEST_GAIN:
            break
        shorter = max((_LARGEST_GAIN / abs(gain)) ** (1 / 3), 0.25) if math.isfinite(gain) else 0.25
        metric = metric._replace(step=0.9 * shorter * metric.step)
    return metric


def _root(design: csr_matrix, cells: Cells, near: Array, prior: Gaussian) -> Array:
    alpha = alpha_rows(design, near, cells.limits)
    own, shared = curvature(cells, alpha)
    weight = np.maximum(own - shared[:, None] * alpha**2, 0.0)
    n_rows, n_columns = design.shape
    precision = 1.0 / prior.variance
    if n_rows * n_columns**2 * weight.shape[1] > _MOST_PRODUCTS:
        # An upper bound of the curvature in any direction: the columns of a document may all pull the same way.
        size = abs(design)
        bends = size.multiply(np.asarray(size.sum(axis=1))).T @ weight
        return np.asarray(1.0 / np.sqrt(bends.T + precision))
    dense = np.asarray(design.todense())
    with one_thread():
        bends = np.array([(dense * each[:, None]).T @ dense for each in weight.T]) + np.diag(precision)
        return np.array([solve_triangular(each.T, np.eye(n_columns)) for each in np.linalg.cholesky(bends)])


def draw(density: Density, start: Array, metric: Metric, rng: np.random.Generator) -> tuple[Array, bool]:
    """One Metropolis-corrected trajectory from ``start``, and whether its end was accepted.

    The step and the number of steps are random, so that no trajectory is periodic. Cost: up to sixty gradients.
    """
    metric = metric._replace(step=metric.step * rng.uniform(0.7, 1.0))
    n_leaps = min(max(round(_QUARTER * rng.uniform(0.5, 1.5) / metric.step), 1), _MOST_LEAPS)
    end, gain = _trajectory(density, start, metric, n_leaps, rng)
    accepted = bool(_log_uniform(rng) < gain)
    return (end if accepted else start), accepted


def _log_uniform(rng: np.random.Generator) -> float:
    return math.log1p(-rng.random())


def _trajectory(
    density: Density, here: Array, metric: Metric, n_leaps: int, rng: np.random.Generator
) -> tuple[Array, float]:
    """Leapfrog steps with a momentum drawn at the start; return the end and the gain in log joint density."""
    step, momentum = metric.step, rng.standard_normal(here.shape)
    value, gradient = density.at(here)
    before = value - 0.5 * float((momentum**2).sum())
    for _ in range(n_leaps):
        momentum = momentum + 0.5 * step * metric.back(gradient)
        here = here + step * metric.forth(momentum)
        value, gradient = density.at(here)
        momentum = momentum + 0.5 * step * metric.back(gradient)
    return here, value - 0.5 * float((momentum**2).sum()) - before
