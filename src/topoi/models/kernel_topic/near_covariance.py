"""Covariances of single documents' y among very many, given only the most similar documents.

The sites are those at the mode of all documents, and a subset of them is less information than all. So these
covariances are too wide, never too narrow, by as much as the documents left out could have contributed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from topoi.models.kernel_topic.gaussian_process import Each, serially
from topoi.models.kernel_topic.gp_iterative import LargePrior
from topoi.models.kernel_topic.operators import Cross, Places

Array = NDArray[np.float64]
# A training document's own words say most about it, so fewer others suffice.
N_NEAR, N_NEAR_IN_TRAINING = 64, 32
_ROWS_AT_ONCE = 64


def training_covariances(
    prior: LargePrior, weight: Array, each: Each = serially, n_near: int = N_NEAR_IN_TRAINING
) -> Array:
    """Covariances of training documents' y: documents × topics × topics. ``weight`` is N_d π_dk of the sites."""
    shape, n_topics = prior.shape, len(prior.amplitude)

    def one(d: int) -> Array:
        docs = shape.nearest(d, n_near)
        covariance = _prior_among(prior, docs)
        between = covariance[:, 0]
        return given_near(covariance, between, between[:, 0], weight[docs])

    return _for_rows(one, len(weight), n_topics, each)


def new_covariances(
    prior: LargePrior, weight: Array, cross: Cross, noise: bool, each: Each = serially, n_near: int = N_NEAR
) -> Array:
    """Covariances of new documents' y or, without ``noise``, of the function they vary about."""

    def one(row: int) -> Array:
        docs = cross.nearest(row, n_near)
        between = prior.amplitude[:, None] * cross.between(row, docs) + prior.mean_variance
        own = prior.amplitude * cross.own[row] + prior.mean_variance + (prior.noise if noise else 0.0)
        return given_near(_prior_among(prior, docs), between, own, weight[docs])

    return _for_rows(one, len(cross.own), len(prior.amplitude), each)


def _prior_among(prior: LargePrior, docs: Places) -> Array:
    """Covariance of every topic between some documents; topics × documents × documents."""
    found = prior.amplitude[:, None, None] * prior.shape.among(docs) + prior.mean_variance
    found[:, np.arange(len(docs)), np.arange(len(docs))] += prior.noise[:, None]
    return np.asarray(found)


def given_near(covariance: Array, between: Array, own: Array, weight: Array) -> Array:
    """Covariance between one document's topics, given sites at some documents; topics × topics.

    ``covariance`` is topics × documents × documents, ``between`` topics × documents, ``own`` the document's own prior
    variances. Rasmussen and Williams 2006, algorithm 3.4.
    """
    root = np.sqrt(weight.T)
    inner = covariance * (root[:, :, None] * root[:, None, :])
    inner[:, np.arange(len(weight)), np.arange(len(weight))] += 1.0
    gain = np.linalg.inv(inner) * (root[:, :, None] * root[:, None, :])
    seen = np.einsum("kij,kj->ki", gain, between)
    found = seen @ np.linalg.solve(gain.sum(axis=0), seen.T)
    found[np.diag_indices_from(found)] += own - np.einsum("ki,ki->k", between, seen)
    return np.asarray((found + found.T) / 2.0)


def _for_rows(one: Callable[[int], Array], n_rows: int, n_topics: int, each: Each) -> Array:
    found = np.empty((n_rows, n_topics, n_topics))

    def some(part: int) -> None:
        for row in range(part * _ROWS_AT_ONCE, min((part + 1) * _ROWS_AT_ONCE, n_rows)):
            found[row] = one(row)

    each(some, -(-n_rows // _ROWS_AT_ONCE))
    return found
