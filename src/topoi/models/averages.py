"""Estimates average the samples of a chain: which of them agree on what topics are, and the means of their counts.

Within a chain topics keep their identity as a rule, and the mean of counts is then an estimate of their posterior mean.
A topic that has become another one since an earlier sample is taken as it is now: tokens that it had then or has now
keep their present assignment in that sample, so that every sample still assigns every token once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.engine.samples import Sample
from topoi.kernels.counts import Counts, add_cells
from topoi.kernels.lanes import padded
from topoi.kernels.word_lists import SparseCounts, count_lists, empty_lists


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
    writers: Any = None,
    n_authors: int = 0,
) -> Counts:
    """Means of the samples' counts; ``writers`` says who wrote each token of a sample, ``n_authors`` is private.

    Sums of whole numbers divided once: the same bits however the samples were made.
    """
    width, n = padded(n_topics), len(averaged)
    words = np.zeros((n_words, width), np.uint32)
    authors = np.zeros((n_authors + 1, width), np.uint32)
    for sample in averaged.samples:
        topic = sample["topic"].astype(np.uint16)
        add_cells(tokens, topic, words)
        if writers is not None:
            add_cells(writers(sample), topic, authors)
    authors[-1] = 0
    return Counts(
        (words / np.float64(n)).astype(np.float32),
        words.sum(axis=0, dtype=np.int64)[:n_topics] / n,
        (authors / np.float64(n)).astype(np.float32),
        authors.sum(axis=1, dtype=np.int64) / n,
    )


def mean_lists(tokens: NDArray[np.int32], averaged: Averaged, n_words: int, n_topics: int) -> SparseCounts:
    """The same for counts without zeros, where every document has a private author."""
    n = len(averaged)
    lists = empty_lists(np.bincount(tokens, minlength=n_words) * n, n_topics)
    count_lists(tokens, averaged.stacked("topic", np.uint16), lists)
    number = (lists.entry_number / np.float64(n)).astype(np.float32)
    return lists._replace(entry_number=number, topic=lists.topic / n)
