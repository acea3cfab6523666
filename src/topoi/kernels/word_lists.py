"""Sparse word–topic counts: for each word a short list of topics and numbers, sorted by topic.

A word that occurs n times is in at most n topics, so the capacity of each list is fixed: min(n, topics) entries of six
bytes, never more than one per token. Since lists are sorted, they do not depend on the order of insertion, and a
sampler that reads them draws the same after a restart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import DTypeLike, NDArray

from topoi.kernels.dirichlet import log_rising
from topoi.kernels.jit import compiled, inlined, lean
from topoi.kernels.lanes import padded


class SparseCounts(NamedTuple):
    """Shared counts, as ``Counts``, with ``word_topic`` in lists.

    Word w has ``length[w]`` topics, ascending, from ``start[w]`` on in ``entry_topic``, and its numbers of tokens in
    ``entry_number``: integers for a sampler, means for a posterior.
    """

    start: NDArray[np.int64]
    length: NDArray[np.int32]
    entry_topic: NDArray[np.uint16]
    entry_number: NDArray[Any]
    topic: NDArray[np.float64]
    author_topic: NDArray[Any]
    author: NDArray[np.float64]

    def word_rows(self, words: Any) -> NDArray[Any]:
        """Dense counts of the given words: words × topics."""
        chosen = np.arange(len(self.length))[words]
        kind = np.float64 if self.entry_number.dtype == np.float64 else np.float32
        rows = np.zeros((len(chosen), len(self.topic)), kind)
        _fill_rows(self, chosen, rows)
        return rows

    def word_cells(
        self, words: slice = slice(None)
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Nonzero counts of consecutive words, word by word: words, topics, numbers."""
        length = self.length[words].astype(np.int64)
        w = np.repeat(np.arange(len(length)) + (words.start or 0), length)
        at = np.arange(len(w)) + np.repeat(self.start[:-1][words] - np.cumsum(length) + length, length)
        return w, self.entry_topic[at].astype(np.int64), self.entry_number[at].astype(np.float64)

    def log_words(self, beta: NDArray[np.float32], beta_sum: float) -> float:
        """log P(words | topics, beta), with the topics' distributions integrated out."""
        return float(_log_words(self, beta, beta_sum))


def empty_lists(times: NDArray[Any], n_topics: int, row_type: DTypeLike = np.float32) -> SparseCounts:
    """Allocate empty lists for words that occur ``times`` times.

    ``row_type`` is the type of ``author_topic`` and of the dense rows into which sweeps expand lists.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.word_lists import empty_lists
    >>> empty_lists(np.array([5, 2]), 3).start.tolist()
    [0, 3, 5]
    """
    room = np.minimum(times, n_topics)
    start = np.concatenate(([0], np.cumsum(room))).astype(np.int64)
    return SparseCounts(
        start,
        np.zeros(len(times), np.int32),
        np.zeros(start[-1], np.uint16),
        np.zeros(start[-1], np.int32),
        np.zeros(n_topics),
        np.zeros((1, padded(n_topics)), row_type),
        np.zeros(1),
    )


@inlined
def open_row(counts, w, row):
    """Unpack a word's list into a dense row of zeros."""
    first = counts.start[w]
    for e in range(first, first + counts.length[w]):
        row[counts.entry_topic[e]] = counts.entry_number[e]


@inlined
def close_row(counts, w, row):
    """Rebuild a word's list from its dense row, and clear the row; O(topics)."""
    first = counts.start[w]
    at = first
    for k in range(counts.topic.shape[0]):
        if row[k] > 0:
            counts.entry_topic[at] = k
            counts.entry_number[at] = np.int32(row[k])
            row[k] = 0
            at += 1
    counts.length[w] = at - first


@inlined
def keep_from_row(counts, w, row):
    """Update a word's listed topics from its dense row, and clear them in the row; new topics stay in the row.

    Followed by ``insert_from_row`` for every topic that may be new, it is a ``close_row`` in O(length of the list).
    """
    first = counts.start[w]
    at = first
    for e in range(first, first + counts.length[w]):
        k = counts.entry_topic[e]
        if row[k] > 0:
            counts.entry_topic[at] = k
            counts.entry_number[at] = np.int32(row[k])
            row[k] = 0
            at += 1
    counts.length[w] = at - first


@inlined
def insert_from_row(counts, w, k, row):
    """Move topic ``k`` from a word's dense row to its list, if its count is not zero."""
    if row[k] > 0:
        _insert(counts, w, k, _place(counts, w, k), np.int32(row[k]))
        row[k] = 0


@inlined
def _place(counts, w, k):
    """Position of topic ``k`` in a word's list, or where it would be inserted (binary search)."""
    low = counts.start[w]
    high = low + counts.length[w]
    while low < high:
        middle = (low + high) >> 1
        if counts.entry_topic[middle] < k:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def add_to_list(counts, w, k):
    """Count one more token of word ``w`` in topic ``k``; O(length of the list)."""
    at = _place(counts, w, k)
    if at < counts.start[w] + counts.length[w] and counts.entry_topic[at] == k:
        counts.entry_number[at] += 1
    else:
        _insert(counts, w, k, at, 1)


@inlined
def _insert(counts, w, k, at, number):
    for e in range(counts.start[w] + counts.length[w], at, -1):
        counts.entry_topic[e] = counts.entry_topic[e - 1]
        counts.entry_number[e] = counts.entry_number[e - 1]
    counts.entry_topic[at] = k
    counts.entry_number[at] = number
    counts.length[w] += 1


@inlined
def take_from_list(counts, w, k):
    """Count one token less of word ``w`` in topic ``k``, which must be listed; O(length of the list)."""
    at = _place(counts, w, k)
    counts.entry_number[at] -= 1
    if counts.entry_number[at] > 0:
        return
    end = counts.start[w] + counts.length[w] - 1
    for e in range(at, end):
        counts.entry_topic[e] = counts.entry_topic[e + 1]
        counts.entry_number[e] = counts.entry_number[e + 1]
    counts.length[w] -= 1


@compiled
def count_lists(tokens, topics, counts):
    """Recount words and topics from the words of all tokens and their topics in one or more samples (samples × tokens).

    Time O(tokens × samples + words × topics); memory two bytes per token and sample.
    """
    n_words = counts.length.shape[0]
    place = np.zeros(n_words + 1, np.int64)
    for i in range(tokens.shape[0]):
        place[tokens[i] + 1] += topics.shape[0]
    for w in range(n_words):
        place[w + 1] += place[w]
    by_word = np.empty(topics.size, np.uint16)
    for s in range(topics.shape[0]):
        for i in range(tokens.shape[0]):
            by_word[place[tokens[i]]] = topics[s, i]
            place[tokens[i]] += 1
    row = np.zeros(counts.topic.shape[0], np.int32)
    counts.topic[:] = 0
    counts.author_topic[:] = np.float32(0.0)
    counts.author[:] = 0
    first = 0
    for w in range(n_words):
        for j in range(first, place[w]):
            row[by_word[j]] += 1
            counts.topic[by_word[j]] += 1
        first = place[w]
        close_row(counts, w, row)


@lean
def _fill_rows(counts, words, rows):
    for r in range(words.shape[0]):
        first = counts.start[words[r]]
        for e in range(first, first + counts.length[words[r]]):
            rows[r, counts.entry_topic[e]] = counts.entry_number[e]


@lean
def _log_words(counts, beta, beta_sum):
    result = 0.0
    for w in range(counts.length.shape[0]):
        first = counts.start[w]
        for e in range(first, first + counts.length[w]):
            result += log_rising(np.float64(counts.entry_number[e]), np.float64(beta[w]))
    for k in range(counts.topic.shape[0]):
        result -= log_rising(np.float64(counts.topic[k]), beta_sum)
    return result


def copy_row(counts: Any, w: int, row: Any) -> None:
    """Copy a word's counts, from ``Counts`` or ``SparseCounts``, to a row of zeros; for compiled code."""
    raise NotImplementedError("only compiled code calls this")


@overload(copy_row)
def _copy_row(counts: Any, w: Any, row: Any) -> Any:
    if "word_topic" in counts.fields:

        def copy(counts: Any, w: Any, row: Any) -> None:
            for k in range(counts.topic.shape[0]):
                row[k] = counts.word_topic[w, k]

        return copy

    def expand(counts: Any, w: Any, row: Any) -> None:
        open_row(counts, w, row)

    return expand
