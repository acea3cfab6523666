"""How uncertain coefficients are, and with them each document's log alpha: by draws, or by the curvature at a mode."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from topoi.models.dmr.likelihood import linear_covariance, standard_errors

Array = NDArray[np.float64]
# Two draws are the fewest that have a spread.
_LEAST_WORTH, _MOST_ROUNDS = 2.0, 50


class Spread(Protocol):
    """What is asked of either."""

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        ...

    def of_logs(self, design: Any) -> Array:
        """The covariance of some documents' log alpha: documents × topics × topics."""
        ...


class CurvatureSpread:
    """The inverse of the curvature at the mode, given counts of topics (see ``likelihood.covariance``)."""

    def __init__(self, covariance: Array):
        self._covariance = covariance

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return standard_errors(self._covariance)

    def of_logs(self, design: Any) -> Array:
        """The covariance of some documents' log alpha: documents × topics × topics."""
        return linear_covariance(design, self._covariance)


class DrawnSpread:
    """Draws × topics × columns, from the posterior of coefficients and topics together.

    The draws of a chain are correlated, and few: they are worth ``effective`` independent ones. Errors are made larger
    so that 1.645 of them on either side hold 90 %, by Student's t for a next draw from a Gaussian of which so many are
    known.
    """

    def __init__(self, draws: Array):
        self.effective = effective_draws(draws)
        scale = spread_factor(len(draws), self.effective) / np.sqrt(len(draws) - 1)
        self._away = scale * (draws - draws.mean(axis=0))

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return np.asarray(np.sqrt((self._away**2).sum(axis=0)))

    def of_logs(self, design: Any) -> Array:
        """The covariance of some documents' log alpha: documents × topics × topics."""
        n_draws, n_topics, n_columns = self._away.shape
        logs = design @ self._away.reshape(-1, n_columns).T
        logs = np.asarray(logs).reshape(-1, n_draws, n_topics)
        return np.asarray(np.einsum("dmk,dml->dkl", logs, logs, optimize=True))


def spread_factor(n_draws: int, worth: float) -> float:
    """By what the standard deviation of draws is raised that are worth so many independent ones.

    (1 − 1/n) / (1 − 1/worth): correlated draws lie closer to their own mean. 1 + 1/worth: that mean is uncertain. And
    the 95 % quantile of Student's t, worth − 1 degrees of freedom, over that of a Gaussian: so is their variance.
    """
    variance = (1.0 - 1.0 / n_draws) / (1.0 - 1.0 / worth) * (1.0 + 1.0 / worth)
    return float(np.sqrt(variance) * stdtrit(worth - 1.0, 0.95) / ndtri(0.95))


def effective_draws(draws: Array) -> float:
    """How many independent draws those of a chain are worth: n / τ, where τ = 1 + 2 Σ autocorrelation.

    Autocorrelations are averaged over all coefficients, and summed as long as pairs of them are positive, none larger
    than the one before (Geyer 1992). About the draws' own mean each comes out τ / n too small, a good part of it in a
    short chain: it is added again until τ does not change.

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
