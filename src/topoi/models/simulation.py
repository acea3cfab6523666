"""What every family's generative story is told with: draws from Dirichlets, lengths, corpora whose truth is known."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError


class SimulatedCorpus(Corpus):
    """A corpus whose truth is known."""

    truth: Any


def dirichlet_rows(rng: np.random.Generator, parameters: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """``n`` draws; by logarithms of gammas, so that tiny parameters do not give rows of zeros."""
    shape = (n, len(parameters))
    log_gamma = np.log(rng.standard_gamma(parameters + 1.0, shape)) + np.log(rng.random(shape)) / parameters
    log_gamma -= log_gamma.max(axis=1, keepdims=True, initial=-np.inf)
    draws = np.exp(log_gamma)
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


def document_lengths(rng: np.random.Generator, doc_length: float, n_docs: int) -> NDArray[np.int64]:
    """Poisson lengths with the given mean."""
    if not isinstance(doc_length, numbers.Real) or not 0 <= doc_length < 2**31:
        raise ModelError(f"doc_length is {doc_length!r}; it is a mean number of words, 0 or more")
    return rng.poisson(doc_length, n_docs)


def categorical(rng: np.random.Generator, cumulative: NDArray[np.float64], row: NDArray[np.int64]) -> NDArray[np.int64]:
    """One draw per entry of ``row`` from that row's distribution, by grouping equal rows."""
    result = np.zeros(len(row), np.int64)
    u = rng.random(len(row))
    for r in np.unique(row):
        where = row == r
        result[where] = np.searchsorted(cumulative[r], u[where] * cumulative[r, -1], side="right")
    return np.minimum(result, cumulative.shape[1] - 1)
