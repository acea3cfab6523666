"""Posteriors of documents' y, for the training documents and for new ones."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topoi.models.features.table import Coordinates
from topoi.models.gaussian_points import root, softmax_points
from topoi.models.kernel_topic import gaussian_process as gp
from topoi.models.kernel_topic.evidence import Hyper
from topoi.models.kernel_topic.fitting import each_topic, softmax
from topoi.models.kernel_topic.gp_iterative import LargePrior
from topoi.models.kernel_topic.large_process import large_prior, new_covariances, training_covariances
from topoi.models.kernel_topic.structured_operators import Structure
from topoi.models.share_moments import Moments

Array = NDArray[np.float64]
N_DRAWS = 1000


class LaplacePosterior:
    """Gaussian posterior at the mode of y given expected counts of topics."""

    def __init__(self, hyper: Hyper, y: Array, counts: Array, n_jobs: int = 1) -> None:
        self.hyper, self.y, self.counts, self._n_jobs = hyper, y, counts, n_jobs

    @cached_property
    def prior(self) -> gp.Prior:
        """Gaussian process before any word."""
        return self.hyper.prior()

    @cached_property
    def solution(self) -> gp.Solution:
        """Solution at the mode; after a load it is recomputed from y and the counts, to the last bit."""
        with each_topic(self._n_jobs, self.prior.n_topics) as each:
            return gp.solve(self.prior, gp.sites_at(self.y, self.counts), each)

    def training(self) -> tuple[Array, Array]:
        """Mean and covariance of each training document's y."""
        solution = self.solution
        with each_topic(self._n_jobs, self.prior.n_topics) as each:
            return solution.y, gp.marginals(self.prior, solution, each)

    def new(self, coordinates: Coordinates, noise: bool, diagonal: float | None = None) -> tuple[Array, Array]:
        """Mean and covariance of new documents' y."""
        solution, (cross, own) = self.solution, self.hyper.shape.cross(coordinates, diagonal)
        with each_topic(self._n_jobs, self.prior.n_topics) as each:
            return gp.predict(self.prior, solution, cross, own, noise, each)

    def arrays(self) -> dict[str, Array]:
        """Arrays that it is rebuilt from, besides the hyper-parameters."""
        return {"y": self.y, "doc_counts": self.counts}


class LargePosterior:
    """``LaplacePosterior`` for very many documents: covariances from the most similar ones (``large_process``)."""

    def __init__(
        self, hyper: Hyper, structure: Structure | None, y: Array, a: Array, counts: Array, n_jobs: int = 1
    ) -> None:
        self.hyper, self._structure, self._n_jobs = hyper, structure, n_jobs
        self.y, self.a, self.counts = y, a, counts

    @cached_property
    def prior(self) -> LargePrior:
        """Gaussian process before any word."""
        return large_prior(self.hyper, self._structure)

    @cached_property
    def _weight(self) -> Array:
        return gp.sites_at(self.y, self.counts).weight

    def training(self) -> tuple[Array, Array]:
        """Mean and covariance of each training document's y."""
        with each_topic(self._n_jobs, self._n_jobs) as each:
            return self.y, training_covariances(self.prior, self._weight, each)

    def new(self, coordinates: Coordinates, noise: bool, diagonal: float | None = None) -> tuple[Array, Array]:
        """Mean and covariance of new documents' y."""
        prior, cross = self.prior, self.prior.shape.cross(coordinates, diagonal)
        with each_topic(self._n_jobs, self._n_jobs) as each:
            mean = prior.amplitude * cross.times(self.a) + prior.mean_variance * self.a.sum(axis=0)
            return mean, new_covariances(prior, self._weight, cross, noise, each)

    def arrays(self) -> dict[str, Array]:
        """Arrays that it is rebuilt from, besides the hyper-parameters."""
        return {"y": self.y, "a": self.a, "doc_counts": self.counts}


class BridgePosterior:
    """One Gaussian process per topic, given independent Gaussian messages; topics are treated as independent."""

    def __init__(self, hyper: Hyper, precision: Array, shift: Array, counts: Array, n_jobs: int = 1) -> None:
        self.hyper, self.precision, self.shift, self.counts = hyper, precision, shift, counts
        self._n_jobs = n_jobs

    @cached_property
    def prior(self) -> gp.Prior:
        """Gaussian process before any word."""
        return self.hyper.prior()

    @cached_property
    def solution(self) -> list[gp.Regression]:
        """Regression of each topic."""

        def one(k: int) -> gp.Regression:
            return gp.regress(self.prior.covariance(k), self.precision[:, k], self.shift[:, k])

        with each_topic(self._n_jobs, self.prior.n_topics) as each:
            return each(one, self.prior.n_topics)

    def training(self) -> tuple[Array, Array]:
        """Mean and covariance of each training document's y."""
        mean, variance = (np.stack([getattr(s, name) for s in self.solution], 1) for name in ("mean", "variance"))
        return mean, _diagonal(variance)

    def new(self, coordinates: Coordinates, noise: bool, diagonal: float | None = None) -> tuple[Array, Array]:
        """Mean and covariance of new documents' y."""
        cross, values = self.hyper.shape.cross(coordinates, diagonal)
        prior, n_new = self.prior, len(cross)
        mean, variance = np.empty((n_new, prior.n_topics)), np.empty((n_new, prior.n_topics))
        with each_topic(1, prior.n_topics):
            for k, found in enumerate(self.solution):
                between = prior.amplitude[k] * cross + prior.mean_variance
                own = prior.amplitude[k] * values + prior.mean_variance + (prior.noise[k] if noise else 0.0)
                mean[:, k] = between @ found.a
                variance[:, k] = own - (between * (between @ found.gain)).sum(axis=1)
        return mean, _diagonal(np.maximum(variance, 1e-12))

    def arrays(self) -> dict[str, Array]:
        """Arrays that it is rebuilt from, besides the hyper-parameters."""
        return {"precision": self.precision, "shift": self.shift, "doc_counts": self.counts}


def _diagonal(variance: Array) -> Array:
    return np.asarray(variance[..., None] * np.eye(variance.shape[-1]))


def share_draws(mean: Array, covariance: Array, n_draws: int = N_DRAWS) -> Array:
    """Topic shares at fixed points that represent one document's Gaussian; points × topics."""
    return softmax(softmax_points(mean, root(covariance), n_draws))


def mean_shares(mean: Array, covariance: Array) -> Array:
    """Mean of the softmax of each document's Gaussian, not the softmax of its mean; documents × topics."""
    return softmax_moments(mean, covariance).mean


def softmax_moments(mean: Array, covariance: Array) -> Moments:
    """Mean and standard deviation of the softmax of each document's Gaussian; documents × topics."""
    found, spread = np.empty_like(mean), np.empty_like(mean)
    for d in range(len(mean)):
        draws = share_draws(mean[d], covariance[d])
        found[d], spread[d] = draws.mean(axis=0), draws.std(axis=0)
    return Moments(found, spread)
