"""The arrays every count-based sampler works on, as named tuples that numba understands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import lean


class Documents(NamedTuple):
    """Some documents of a corpus, as a sampler reads them.

    ``author`` lists, for each document (``author_start``), rows of ``Counts.author_topic``; the last row stands
    for the document's private author, whose counts live only while its document is being sampled.
    """

    tokens: NDArray[np.int32]
    doc_start: NDArray[np.int64]
    author: NDArray[np.int32]
    author_start: NDArray[np.int64]
    author_weight: NDArray[np.float32]


class Assignments(NamedTuple):
    """What a sweep changes: for each token its topic, and its author as a position in the document's list."""

    topic: NDArray[np.uint16]
    slot: NDArray[np.uint16]


class Counts(NamedTuple):
    """Shared counts. Rows are padded to whole lanes; values are whole numbers, exact in float32 below 2**24."""

    word_topic: NDArray[np.float32]
    topic: NDArray[np.int64]
    author_topic: NDArray[np.float32]
    author: NDArray[np.int64]


class Priors(NamedTuple):
    """Dirichlet parameters: ``alpha`` per topic (padded with zeros) and ``beta`` per word, with their sums."""

    alpha: NDArray[np.float32]
    alpha_sum: float
    beta: NDArray[np.float32]
    beta_sum: float


@lean
def most_authors(documents):
    """The length of the longest list of authors, at least one."""
    most = 1
    for d in range(documents.author_start.shape[0] - 1):
        most = max(most, documents.author_start[d + 1] - documents.author_start[d])
    return most
