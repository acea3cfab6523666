"""Distances of one distribution to many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.models.validation import choice

MEASURES = ("symmetrised-kl", "jensen-shannon", "hellinger", "cosine")


def distances(p: NDArray[Any], rows: NDArray[Any], measure: str) -> NDArray[np.float64]:
    """Distances of ``p`` to each row, all of them distributions; natural logarithms.

    ``symmetrised-kl`` is KL(p‖q) + KL(q‖p); ``jensen-shannon`` the root of the divergence, and ``hellinger`` the
    root of half the squared difference of roots, so that both are metrics; ``cosine`` is one minus the cosine.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.distances import distances
    >>> distances(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.9, 0.1]]), "symmetrised-kl").round(3).tolist()
    [0.0, 0.879]
    """
    choice("measure", measure, MEASURES)
    if measure == "symmetrised-kl":
        with np.errstate(divide="ignore"):
            return np.asarray(((rows - p) * (np.log(rows) - np.log(p))).sum(axis=1))
    if measure == "jensen-shannon":
        middle = (rows + p) / 2
        divergence = (_relative_entropy(rows, middle) + _relative_entropy(p, middle)).sum(axis=1) / 2
        return np.asarray(np.sqrt(np.maximum(divergence, 0.0)))
    if measure == "hellinger":
        return np.asarray(np.sqrt(((np.sqrt(rows) - np.sqrt(p)) ** 2).sum(axis=1) / 2))
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(p)
    return np.asarray(np.maximum(1.0 - rows @ p / lengths, 0.0))


def _relative_entropy(p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
    """p log (p / q), zero where p is zero; elsewhere q must not be zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(p / q), 0.0)


def kl_matrix(p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
    """KL(p‖q) + KL(q‖p) between all rows of ``p`` and of ``q``, by matrix products; zeros are not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.distances import kl_matrix
    >>> kl_matrix(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5], [0.9, 0.1]])).round(3).tolist()
    [[0.0, 0.879]]
    """
    log_p, log_q = np.log(p), np.log(q)
    own = (p * log_p).sum(axis=1)[:, None] + (q * log_q).sum(axis=1)
    # Rounding can push zeros slightly below zero.
    return np.asarray(np.maximum(own - p @ log_q.T - log_p @ q.T, 0.0))
