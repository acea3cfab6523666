"""Gaussians represented by fixed points, so that integrals over them are the same each time."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

N_DRAWS = 512


def softmax_points(
    mean: NDArray[np.float64], spread: NDArray[np.float64], n_draws: int = N_DRAWS
) -> NDArray[np.float64]:
    """Fixed points that represent a Gaussian, points × topics.

    ``spread`` are standard deviations, or a root of the covariance matrix.
    """
    points = standard_points(len(mean), n_draws)
    return np.asarray(mean + (points * spread if spread.ndim == 1 else points @ spread.T))


def root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Square root of each covariance matrix, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :])


@lru_cache(maxsize=32)
def standard_points(n_topics: int, n_draws: int = N_DRAWS) -> NDArray[np.float64]:
    """Standard normal points, each with its mirror image: low-discrepancy, always the same."""
    from scipy.stats import qmc

    half = (n_draws + 1) // 2
    sequence = qmc.Halton(n_topics, scramble=True, rng=np.random.default_rng(20120421))
    points = ndtri(np.clip(sequence.random(half), 1e-12, 1.0 - 1e-12))
    points /= np.sqrt((points**2).mean(axis=0))
    both = np.concatenate((points, -points))
    both.flags.writeable = False
    return both
