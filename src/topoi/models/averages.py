"""Averages of a chain's samples: the samples in which topics still mean the same, and the means of their counts.

Within a chain topics usually keep their identity, and the mean of counts then estimates their posterior mean. Where a
topic has become another one since an earlier sample, its present state is used: tokens that it had then or has now get
their present assignment in that sample, so that every sample still assigns every token once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from topoi.corpus.mapped import Scratch, release
from topoi.corpus.pieces import BLOCK, occurrences, ranges
from topoi.engine.gibbs import Chain
from topoi.engine.samples import Sample
from topoi.kernels.counts import Counts, add_cells
from topoi.kernels.lanes import padded
from topoi.kernels.word_lists import SparseCounts, empty_lists
from topoi.models import inputs

# Size of a block of work: counts of words × topics.
_CELLS_AT_ONCE = 2**23
_WORDS_AT_ONCE = 4096


@dataclass(frozen=True)
class Averaged:
    """The samples that estimates average; the chain's last state comes last.

    ``sweeps`` are those of the earlier samples. ``changed`` lists, for each of them, the topics that have become others
    since; their tokens get the last state's assignments. ``kept`` is the number of samples in a file of the chain,
    which may include the last state.
    """

    samples: list[Sample]
    sweeps: list[int]
    changed: list[list[int]]
    kept: int

    def __len__(self) -> int:
        return len(self.samples)

    def stacked(self, name: str, dtype: DTypeLike) -> NDArray[Any]:
        """One array of all samples, stacked: samples × tokens."""
        return np.stack([np.asarray(sample[name], dtype) for sample in self.samples])


def average(chain: Chain, last: Sample, n_topics: int = 0, scratch: Scratch | None = None) -> Averaged:
    """The samples of a chain that ended with ``last``; with ``n_topics=0`` no topic can have changed.

    ``scratch`` makes the arrays of samples with changed topics.
    """
    sweeps = [sweep for sweep in sorted(chain.samples) if sweep != chain.sweep]
    samples, changed = [], []
    for sweep in sweeps:
        sample = chain.samples[sweep]
        topics = changed_topics(sample["topic"], last["topic"], n_topics) if n_topics else np.zeros(0, np.int64)
        samples.append(settled(sample, last, topics, scratch) if len(topics) else sample)
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
    number = np.zeros(n_topics**2, np.int64)
    for part in ranges(len(now), max(BLOCK, n_topics**2)):
        number += np.bincount(before[part].astype(np.int64) * n_topics + now[part], minlength=n_topics**2)
        release(before[part], now[part])
    pairs = number.reshape(n_topics, n_topics)
    own = pairs.diagonal().copy()
    np.fill_diagonal(pairs, 0)
    return np.flatnonzero(pairs.max(axis=0, initial=0) > own)


def settled(
    sample: Sample, last: Sample, topics: Sequence[int] | NDArray[np.int64], scratch: Scratch | None = None
) -> Sample:
    """The sample, with the last one's assignments for tokens that one of ``topics`` had then or has now."""
    zeros, n = (scratch or Scratch()).zeros, len(sample["topic"])
    made = {name: zeros(n, np.result_type(last[name], values)) for name, values in sample.items()}
    for part in ranges(n):
        other = np.isin(sample["topic"][part], topics) | np.isin(last["topic"][part], topics)
        for name, values in sample.items():
            made[name][part] = np.where(other, last[name][part], values[part])
            release(made[name][part], last[name][part], values[part])
    return made


def mean_counts(
    tokens: NDArray[np.int32],
    averaged: Averaged,
    n_words: int,
    n_topics: int,
    writers: Callable[[slice], Callable[[NDArray[Any]], NDArray[np.int32]]] | None = None,
    n_authors: int = 0,
) -> Counts:
    """Means of the samples' counts.

    ``writers`` maps tokens' slots to authors; number ``n_authors`` stands for private authors, who are not counted.
    Sums of whole numbers are divided once, so the bits do not depend on how the samples were made.
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
            release(*(values[part] for values in sample.values()))
        release(tokens[part])
    authors[-1] = 0
    sizes = words.sum(axis=0, dtype=np.int64)[:n_topics] / n, authors.sum(axis=1, dtype=np.int64) / n
    return Counts(_divided(words, n), sizes[0], _divided(authors, n), sizes[1])


def mean_lists(tokens: NDArray[np.int32], averaged: Averaged, n_words: int, n_topics: int) -> SparseCounts:
    """``mean_counts`` as sparse lists, where every document has a private author; works in blocks of words."""
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
                release(topic)
            release(tokens[here])
        total += words.sum(axis=0, dtype=np.int64)
        _fill_lists(lists, words, part.start)
    number = _divided(lists.entry_number.view(np.uint32), n)
    return lists._replace(entry_number=number, topic=total[:n_topics] / n)


def _fill_lists(lists: SparseCounts, words: NDArray[np.uint32], first: int) -> None:
    """Fill the lists of the words from ``first`` on with their counts."""
    for part in ranges(len(words), _WORDS_AT_ONCE):
        word, topic = np.nonzero(words[part])
        length = np.bincount(word, minlength=part.stop - part.start)
        here = slice(first + part.start, first + part.stop)
        at = np.arange(len(word)) + np.repeat(lists.start[:-1][here] - np.cumsum(length) + length, length)
        lists.entry_topic[at], lists.entry_number[at] = topic, words[part][word, topic]
        lists.length[here] = length


def frozen(counts: Any) -> Counts:
    """A sampler's dense counts as those of a posterior: integers become means of one sample."""
    whole = {name: np.array(each, np.uint32) for name, each in counts._asdict().items() if each.dtype == np.int32}
    return Counts(*counts)._replace(**{name: _divided(each, 1) for name, each in whole.items()})


def _divided(sums: NDArray[np.uint32], n: int) -> NDArray[Any]:
    """Sums divided by ``n`` in place, as float32; float64, in twice the memory, where float32 would round a count."""
    if int(sums.max(initial=0)) > n * inputs.EXACT_IN_FLOAT32:
        return np.asarray(sums / np.float64(n))
    means = sums.view(np.float32)
    for part in ranges(len(sums), max(BLOCK * len(sums) // max(sums.size, 1), 1)):
        means[part] = sums[part] / np.float64(n)
    return means
