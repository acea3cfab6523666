"""Estimates average the samples of a chain: which of them agree on what topics are, and the means of their counts.

Within a chain topics keep their identity as a rule, and the mean of counts is then an estimate of their posterior mean.
A topic that has become another one since an earlier sample is taken as it is now: tokens that it had then or has now
keep their present assignment in that sample, so that every sample still assigns every token once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import BLOCK, occurrences, ranges
from topoi.engine.loop import Chain
from topoi.engine.samples import Sample
from topoi.kernels.counts import Counts, add_cells
from topoi.kernels.lanes import padded
from topoi.kernels.word_lists import SparseCounts, empty_lists

# Counts of words × topics that are worked on at once.
_CELLS_AT_ONCE = 2**23
_WORDS_AT_ONCE = 4096


@dataclass(frozen=True)
class Averaged:
    """The samples that estimates average, the chain's last state at the end.

    ``sweeps`` are those of the earlier samples; ``changed`` has for each of them the topics that have become others
    since, and that have the last state's assignments in it. ``kept`` is how many samples a file of the chain has, the
    last state possibly among them.
    """

    samples: list[Sample]
    sweeps: list[int]
    changed: list[list[int]]
    kept: int

    def __len__(self) -> int:
        return len(self.samples)

    def stacked(self, name: str, dtype: Any) -> NDArray[Any]:
        """One of the samples' arrays: samples × tokens."""
        return np.stack([np.asarray(sample[name], dtype) for sample in self.samples])


def average(chain: Chain, last: Sample, n_topics: int = 0) -> Averaged:
    """The samples of a chain that ended with ``last``; without topics (0) nothing can have changed."""
    sweeps = [sweep for sweep in sorted(chain.samples) if sweep != chain.sweep]
    samples, changed = [], []
    for sweep in sweeps:
        sample = chain.samples[sweep]
        topics = changed_topics(sample["topic"], last["topic"], n_topics) if n_topics else np.zeros(0, np.int64)
        samples.append(settled(sample, last, topics) if len(topics) else sample)
        changed.append(topics.tolist())
    return Averaged([*samples, last], sweeps, changed, len(chain.samples))


def changed_topics(before: NDArray[Any], now: NDArray[Any], n_topics: int) -> NDArray[np.int64]:
    """Topics that have become others: more of their present tokens were in one other topic than in this one.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.averages import changed_topics
    >>> changed_topics(np.array([0, 0, 1, 2, 2, 2]), np.array([2, 2, 1, 0, 0, 2]), 3).tolist()
    [0, 2]
    """
    pairs = np.bincount(before.astype(np.int64) * n_topics + now, minlength=n_topics**2).reshape(n_topics, n_topics)
    own = pairs.diagonal().copy()
    np.fill_diagonal(pairs, 0)
    return np.flatnonzero(pairs.max(axis=0, initial=0) > own)


def settled(sample: Sample, last: Sample, topics: Sequence[int] | NDArray[np.int64]) -> Sample:
    """The sample with the last one's assignments for tokens that one of the topics had then or has now."""
    other = np.isin(sample["topic"], topics) | np.isin(last["topic"], topics)
    return {name: np.where(other, last[name], values) for name, values in sample.items()}


def mean_counts(
    tokens: NDArray[np.int32],
    averaged: Averaged,
    n_words: int,
    n_topics: int,
    writers: Callable[[slice], Callable[[NDArray[Any]], NDArray[np.int32]]] | None = None,
    n_authors: int = 0,
) -> Counts:
    """Means of the samples' counts; ``writers`` tells who wrote some tokens by their slots, ``n_authors`` is private.

    Sums of whole numbers divided once: the same bits however the samples were made.
    """
    width, n = padded(n_topics), len(averaged)
    words = np.zeros((n_words, width), np.uint32)
    authors = np.zeros((n_authors + 1, width), np.uint32)
    for part in ranges(len(tokens)):
        writer = None if writers is None else writers(part)
        for sample in averaged.samples:
            topic = sample["topic"][part].astype(np.uint16)
            add_cells(tokens[part], topic, words)
            if writer is not None:
                add_cells(writer(sample["slot"][part]), topic, authors)
    authors[-1] = 0
    sizes = words.sum(axis=0, dtype=np.int64)[:n_topics] / n, authors.sum(axis=1, dtype=np.int64) / n
    return Counts(_divided(words, n), sizes[0], _divided(authors, n), sizes[1])


def mean_lists(tokens: NDArray[np.int32], averaged: Averaged, n_words: int, n_topics: int) -> SparseCounts:
    """The same for counts without zeros, where every document has a private author; some words at a time."""
    n, width = len(averaged), padded(n_topics)
    lists = empty_lists(occurrences(tokens, n_words) * n, n_topics)
    total = np.zeros(width, np.int64)
    for part in ranges(n_words, max(_CELLS_AT_ONCE // width, 1)):
        words = np.zeros((part.stop - part.start, width), np.uint32)
        for here in ranges(len(tokens)):
            word, among = tokens[here], None
            if len(words) < n_words:
                among = (word >= part.start) & (word < part.stop)
                word = word[among] - np.int32(part.start)
            for sample in averaged.samples:
                topic = sample["topic"][here]
                add_cells(word, (topic if among is None else topic[among]).astype(np.uint16), words)
        total += words.sum(axis=0, dtype=np.int64)
        _fill_lists(lists, words, part.start)
    number = _divided(lists.entry_number.view(np.uint32), n)
    return lists._replace(entry_number=number, topic=total[:n_topics] / n)


def _fill_lists(lists: SparseCounts, words: NDArray[np.uint32], first: int) -> None:
    """Set the lists of words from ``first`` on to counts of theirs."""
    for part in ranges(len(words), _WORDS_AT_ONCE):
        word, topic = np.nonzero(words[part])
        length = np.bincount(word, minlength=part.stop - part.start)
        here = slice(first + part.start, first + part.stop)
        at = np.arange(len(word)) + np.repeat(lists.start[:-1][here] - np.cumsum(length) + length, length)
        lists.entry_topic[at], lists.entry_number[at] = topic, words[part][word, topic]
        lists.length[here] = length


def _divided(sums: NDArray[np.uint32], n: int) -> NDArray[np.float32]:
    """Sums divided by ``n`` in their own place, as float32: a copy in float64 would be twice as large again."""
    means = sums.view(np.float32)
    for part in ranges(len(sums), max(BLOCK * len(sums) // max(sums.size, 1), 1)):
        means[part] = sums[part] / np.float64(n)
    return means
