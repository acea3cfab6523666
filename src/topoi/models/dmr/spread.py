"""Uncertainty of coefficients and of documents' log alpha: by draws, or by the curvature at a mode."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import ndtri, stdtrit

from topoi.models.dmr.likelihood import linear_covariance, standard_errors

Array = NDArray[np.float64]
# Fewest draws that have a spread.
_LEAST_WORTH, _MOST_ROUNDS = 2.0, 50


class Spread(Protocol):
    """Interface of the two."""

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        ...

    def of_logs(self, design: csr_matrix) -> Array:
        """Covariance of some documents' log alpha: documents × topics × topics."""
        ...


class CurvatureSpread:
    """Inverse of the curvature at the mode, given counts of topics (see ``likelihood.covariance``)."""

    def __init__(self, covariance: Array):
        self._covariance = covariance

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return standard_errors(self._covariance)

    def of_logs(self, design: csr_matrix) -> Array:
        """Covariance of some documents' log alpha: documents × topics × topics."""
        return linear_covariance(design, self._covariance)


class DrawnSpread:
    """Draws × topics × columns, from the joint posterior of coefficients and topics.

    The draws of a chain are correlated and few: they are worth ``effective`` independent ones. Errors are enlarged so
    that ±1.645 of them cover 90 %, by Student's t for the next draw from a Gaussian of which that many draws are known.
    """

    def __init__(self, draws: Array):
        self.effective = effective_draws(draws)
        scale = spread_factor(len(draws), self.effective) / np.sqrt(len(draws) - 1)
        self._away = scale * (draws - draws.mean(axis=0))

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return np.asarray(np.sqrt((self._away**2).sum(axis=0)))

    def of_logs(self, design: csr_matrix) -> Array:
        """Covariance of some documents' log alpha: documents × topics × topics."""
        n_draws, n_topics, n_columns = self._away.shape
        logs = design @ self._away.reshape(-1, n_columns).T
        logs = np.asarray(logs).reshape(-1, n_draws, n_topics)
        return np.asarray(np.einsum("dmk,dml->dkl", logs, logs, optimize=True))


def spread_factor(n_draws: int, worth: float) -> float:
    """Factor that enlarges the standard deviation of ``n_draws`` draws worth ``worth`` independent ones.

    (1 − 1/n) / (1 − 1/worth): correlated draws lie closer to their own mean. 1 + 1/worth: that mean is uncertain. The
    95 % quantile of Student's t, worth − 1 degrees of freedom, over that of a Gaussian: the variance is uncertain too.
    """
    variance = (1.0 - 1.0 / n_draws) / (1.0 - 1.0 / worth) * (1.0 + 1.0 / worth)
    return float(np.sqrt(variance) * stdtrit(worth - 1.0, 0.95) / ndtri(0.95))


def effective_draws(draws: Array) -> float:
    """Effective number of independent draws of a chain: n / τ, where τ = 1 + 2 Σ autocorrelation.

    Autocorrelations are averaged over all coefficients, and summed as long as pairs of them are positive, none larger
    than the one before (Geyer 1992). Measured about the draws' own mean each is τ / n too small, which matters in a
    short chain: it is added back until τ does not change.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dmr.spread import effective_draws
    >>> draws = np.random.default_rng(0).standard_normal((50, 3, 4))
    >>> 40 < effective_draws(draws) <= 50, 7 < effective_draws(np.repeat(draws, 5, axis=0)[:50]) < 13
    (True, True)
    """
    n_draws = len(draws)
    away = (draws - draws.mean(axis=0)).reshape(n_draws, -1)
    size = np.sqrt((away**2).sum(axis=0))
    away = away[:, size > 0.0] / size[size > 0.0]
    if not away.size:
        return float(n_draws)
    even = n_draws // 2 * 2
    found = np.array([(away[: n_draws - lag] * away[lag:]).sum() for lag in range(even)]) / away.shape[1]
    tau = 1.0
    for _ in range(_MOST_ROUNDS):
        pairs = (found + tau / n_draws * (1.0 - np.arange(even) / n_draws)).reshape(-1, 2).sum(axis=1)
        pairs = np.minimum.accumulate(pairs) * np.logical_and.accumulate(pairs > 0.0)
        before, tau = tau, min(max(2.0 * float(pairs.sum()) - 1.0, 1.0), n_draws / _LEAST_WORTH)
        if abs(tau - before) < 1e-3 * tau:
            break
    return n_draws / tau
