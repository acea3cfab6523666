"""The arrays every count-based sampler works on, as named tuples that numba understands."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.dirichlet import log_probability_columns
from topoi.kernels.jit import compiled, inlined, lean


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
    """Shared counts. Rows are padded to whole lanes.

    A sampler's are whole numbers, exact in float32 below 2**24; a posterior's may be means over several samples.
    """

    word_topic: NDArray[np.float32]
    topic: NDArray[np.float64]
    author_topic: NDArray[np.float32]
    author: NDArray[np.float64]

    def word_rows(self, words: Any) -> NDArray[np.float32]:
        """Counts of some words: words × topics."""
        return self.word_topic[words, : len(self.topic)]

    def word_cells(
        self, words: slice = slice(None)
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The counts of consecutive words that are not zero, word by word: words, topics, numbers."""
        rows = self.word_topic[words, : len(self.topic)]
        w, k = np.nonzero(rows)
        return w + (words.start or 0), k, rows[w, k].astype(np.float64)

    def log_words(self, beta: NDArray[np.float32], beta_sum: float) -> float:
        """log P(words | topics, beta), the topics' distributions integrated out."""
        return float(log_probability_columns(self.word_topic, self.topic, beta, beta_sum))


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


class Inverses(NamedTuple):
    """1 / (topic[k] + W·beta) for every topic, and what it would be with one token less or more.

    A token that moves needs the inverses of two changed counts at once, and the next token waits for them: they are
    looked up, and the divisions that replace them are done while nobody waits.
    """

    now: NDArray[np.float32]
    less: NDArray[np.float32]
    more: NDArray[np.float32]


@inlined
def inverse(n, prior_sum):
    """1 / (n + prior_sum) in float32: the same bits for the same count, however it was reached."""
    return np.float32(1.0) / np.float32(n + prior_sum)


@compiled
def make_inverses(topic, beta_sum, width):
    """The inverses of all topics; zero in the padding."""
    inverses = Inverses(lanes.aligned_floats(width), np.zeros(width, np.float32), np.zeros(width, np.float32))
    for k in range(topic.shape[0]):
        inverses.now[k] = inverse(topic[k], beta_sum)
        inverses.less[k] = inverse(topic[k] - 1, beta_sum)
        inverses.more[k] = inverse(topic[k] + 1, beta_sum)
    return inverses


@inlined
def move_between_topics(topic, inverses, beta_sum, k0, k):
    """Move one token's count from topic ``k0`` to another topic ``k``, with the inverses."""
    topic[k0] -= 1
    topic[k] += 1
    inverses.more[k0] = inverses.now[k0]
    inverses.now[k0] = inverses.less[k0]
    inverses.less[k0] = inverse(topic[k0] - 1, beta_sum)
    inverses.less[k] = inverses.now[k]
    inverses.now[k] = inverses.more[k]
    inverses.more[k] = inverse(topic[k] + 1, beta_sum)


@lean
def add_cells(row, column, counts):
    """Add one to the count of each pair of a row and a column; O(pairs)."""
    for i in range(row.shape[0]):
        counts[row[i], column[i]] += np.uint32(1)


@compiled
def count_cells(doc_start, topic, room, start, column, number):
    """Documents' counts of topics that are not zero, topics in order; how many there are.

    Sets where each document's begin, their topics and numbers. ``room`` is zeros, one per topic, and again in the end.
    O(tokens + cells log cells of a document).
    """
    n = 0
    for d in range(doc_start.shape[0] - 1):
        first = n
        for i in range(doc_start[d], doc_start[d + 1]):
            k = topic[i]
            if room[k] == 0:
                column[n] = k
                n += 1
            room[k] += 1
        column[first:n].sort()
        for j in range(first, n):
            number[j] = room[column[j]]
            room[column[j]] = 0
        start[d + 1] = n
    return n
