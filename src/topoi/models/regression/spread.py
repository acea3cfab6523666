"""How uncertain coefficients are, and with them each document's log alpha: by draws, or by the curvature at a mode."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoi.models.regression.draws import spread_factor
from topoi.models.regression.likelihood import linear_covariance, standard_errors

Array = NDArray[np.float64]


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
    """Draws × topics × columns, from the posterior of coefficients and topics together."""

    def __init__(self, draws: Array):
        self._away = draws - draws.mean(axis=0)
        self._weight = spread_factor(len(draws)) / (len(draws) - 1)

    def errors(self) -> Array:
        """Standard errors: topics × columns."""
        return np.asarray(np.sqrt(self._weight * (self._away**2).sum(axis=0)))

    def of_logs(self, design: Any) -> Array:
        """The covariance of some documents' log alpha: documents × topics × topics."""
        n_draws, n_topics, n_columns = self._away.shape
        logs = design @ self._away.reshape(-1, n_columns).T
        logs = np.asarray(logs).reshape(-1, n_draws, n_topics)
        return np.asarray(self._weight * np.einsum("dmk,dml->dkl", logs, logs, optimize=True))
