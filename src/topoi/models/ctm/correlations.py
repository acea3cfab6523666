"""Correlations of topics: those of the components of eta, with intervals from draws of the covariance.

A pair of topics has only draws from sweeps in which both already were the topics that they are now.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.models.draws import Draws

Array = NDArray[np.float64]


class Correlations(NamedTuple):
    """Correlations of all pairs of topics, and the bounds of their intervals (NaN where there are too few draws)."""

    mean: Array
    low: Array
    high: Array

    def frame(self) -> pd.DataFrame:
        """One row per pair, the largest correlation first: topic, other, correlation, low, high."""
        topic, other = np.triu_indices(len(self.mean), 1)
        cells = {name: values[topic, other] for name, values in zip(self._fields, self, strict=True)}
        frame = pd.DataFrame({"topic": topic, "other": other, "correlation": cells.pop("mean"), **cells})
        return frame.sort_values("correlation", ascending=False, kind="stable", ignore_index=True)


def correlation_of(covariance: Array) -> Array:
    """The correlations of a covariance, or of several; zero where nothing varies.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.ctm.correlations import correlation_of
    >>> correlation_of(np.array([[4.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    spread = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    both = spread[..., :, None] * spread[..., None, :]
    found = np.where(both > 0, covariance / np.where(both > 0, both, 1.0), 0.0)
    diagonal = np.arange(covariance.shape[-1])
    found[..., diagonal, diagonal] = 1.0
    return np.asarray(found)


def summarise(draws: Draws, last: Array, since: NDArray[np.int64], level: float) -> Correlations:
    """Means and intervals over draws; ``since`` is the last sweep at which each topic was another one.

    Without enough draws of a pair its correlation is that of ``last``, the chain's covariance in the end.
    """
    mean = correlation_of(last)
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    tails = [0.5 - level / 2, 0.5 + level / 2]
    for at in np.unique(since):
        if not draws.are_enough(at):
            continue
        found = draws.settled(at)
        spread = np.sqrt(np.diagonal(found, axis1=1, axis2=2))
        # Pairs of which the topic that settled last did so here; row by row, to spare memory.
        pairs = np.maximum(since[:, None], since[None, :]) == at
        for k in range(len(mean)):
            others = pairs[k] & (np.arange(len(mean)) != k)
            rows = found[:, k][:, others] / (spread[:, k, None] * spread[:, others])
            mean[k, others] = rows.mean(axis=0)
            low[k, others], high[k, others] = np.quantile(rows, tails, axis=0)
    return Correlations(mean, low, high)


def mean_covariance(draws: Draws, last: Array, since: NDArray[np.int64]) -> Array:
    """The mean of the draws in which all topics are what they are now; the last covariance if those are too few."""
    at = int(since.max(initial=0))
    return draws.settled(at).mean(axis=0) if draws.are_enough(at) else last


def by_similarity(correlation: Array) -> NDArray[np.int64]:
    """An order of the topics in which correlated ones are neighbours: that of a hierarchical clustering's leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.ctm.correlations import by_similarity
    >>> by_similarity(np.array([[1, -0.5, 0.9], [-0.5, 1, -0.4], [0.9, -0.4, 1]])).tolist()
    [1, 2, 0]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(correlation) < 3:
        return np.arange(len(correlation))
    apart = squareform(np.clip(1.0 - correlation, 0.0, 2.0), checks=False)
    return np.asarray(leaves_list(optimal_leaf_ordering(linkage(apart, "average"), apart)), np.int64)
