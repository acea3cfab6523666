"""Arrays of count-based samplers, as named tuples that numba can compile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.dirichlet import log_probability_columns
from topoi.kernels.jit import compiled, inlined, lean


class Documents(NamedTuple):
    """Documents as a sampler reads them.

    ``author`` lists, for each document (``author_start``), rows of ``Counts.author_topic``; the last row of
    ``author_topic`` is the document's private author, whose counts exist only while its document is being sampled.
    """

    tokens: NDArray[np.int32]
    doc_start: NDArray[np.int64]
    author: NDArray[np.int32]
    author_start: NDArray[np.int64]
    author_weight: NDArray[np.float32]


class Assignments(NamedTuple):
    """State that a sweep changes: for each token its topic, and its author as a position in the document's list."""

    topic: NDArray[np.uint16]
    slot: NDArray[np.uint16]


class Counts(NamedTuple):
    """Shared counts. Rows are padded to whole vectors.

    Counts of a sampler are whole numbers: float32, or int32 where a word or an author has more than 2**24 tokens,
    which float32 cannot count exactly; the draws are the same. Those of a posterior are means over samples, float32 or,
    beyond 2**24, float64.
    """

    word_topic: NDArray[Any]
    topic: NDArray[np.float64]
    author_topic: NDArray[Any]
    author: NDArray[np.float64]

    def word_rows(self, words: Any) -> NDArray[Any]:
        """Counts of the given words: words × topics."""
        return self.word_topic[words, : len(self.topic)]

    def word_cells(
        self, words: slice = slice(None)
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Nonzero counts of consecutive words, word by word: words, topics, numbers."""
        rows = self.word_topic[words, : len(self.topic)]
        w, k = np.nonzero(rows)
        return w + (words.start or 0), k, rows[w, k].astype(np.float64)

    def log_words(self, beta: NDArray[np.float32], beta_sum: float) -> float:
        """log P(words | topics, beta), with the topics' distributions integrated out."""
        return float(log_probability_columns(self.word_topic, self.topic, beta, beta_sum))


class Priors(NamedTuple):
    """Dirichlet parameters: ``alpha`` per topic (padded with zeros) and ``beta`` per word, with their sums."""

    alpha: NDArray[np.float32]
    alpha_sum: float
    beta: NDArray[np.float32]
    beta_sum: float


@lean
def most_authors(documents):
    """Length of the longest list of authors, at least one."""
    most = 1
    for d in range(documents.author_start.shape[0] - 1):
        most = max(most, documents.author_start[d + 1] - documents.author_start[d])
    return most


class Inverses(NamedTuple):
    """1 / (topic[k] + W·beta) for every topic, and the same with one token less or more.

    Moving a token changes two counts, and the next token needs their inverses at once. They are looked up here; the
    divisions for the new ``less`` and ``more`` entries are off the critical path.
    """

    now: NDArray[np.float32]
    less: NDArray[np.float32]
    more: NDArray[np.float32]


@inlined
def inverse(n, prior_sum):
    """1 / (n + prior_sum) in float32; bit-identical for equal counts."""
    return np.float32(1.0) / np.float32(n + prior_sum)


@compiled
def make_inverses(topic, beta_sum, width):
    """Inverses of all topics; zero in the padding."""
    inverses = Inverses(lanes.aligned_floats(width), np.zeros(width, np.float32), np.zeros(width, np.float32))
    for k in range(topic.shape[0]):
        inverses.now[k] = inverse(topic[k], beta_sum)
        inverses.less[k] = inverse(topic[k] - 1, beta_sum)
        inverses.more[k] = inverse(topic[k] + 1, beta_sum)
    return inverses


@inlined
def move_between_topics(topic, inverses, beta_sum, k0, k):
    """Move one token's count from topic ``k0`` to another topic ``k``, and update the inverses."""
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


@lean
def sort_range(values, first, last):
    """Sort ``values[first:last]`` in place: Shell's sort with Ciura's gaps.

    numba's own sort takes more than a second to compile.
    """
    for gap in (1750, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(first + gap, last):
            value, j = values[i], i
            while j >= first + gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value


@compiled
def count_cells(doc_start, topic, room, start, column, number):
    """Count the topics of each document in CSR form, topics ascending; return the number of nonzero counts.

    Sets ``start``, ``column`` (topics) and ``number``. ``room`` is scratch space: one zero per topic, before and after
    the call. O(tokens + cells log cells of a document), or O(tokens + topics) if topics are few enough to look at all.
    """
    n, n_topics = 0, room.shape[0]
    for d in range(doc_start.shape[0] - 1):
        first = n
        for i in range(doc_start[d], doc_start[d + 1]):
            k = topic[i]
            if room[k] == 0:
                column[n] = k
                n += 1
            room[k] += 1
        if n_topics <= 16 * (n - first):
            j = first
            for k in range(n_topics):
                if room[k] != 0:
                    column[j], number[j], room[k] = k, room[k], 0
                    j += 1
        else:
            sort_range(column, first, n)
            for j in range(first, n):
                number[j] = room[column[j]]
                room[column[j]] = 0
        start[d + 1] = n
    return n
