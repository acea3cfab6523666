"""Guidance of topics by what a person knows: seed words, words banned or pinned, labels of documents.

All of it changes the prior, never the draw:

* A **seed** word w of topic k is a number n of *phantom tokens*: the prior of w in k is beta[w] + n.
* A **banned** word of a topic has the prior zero there, so it is never drawn from it.
* **Labels** of a document set the prior of all topics but its labels' and the shared ones to zero in that document.

A sampler's counts hold real and phantom tokens together. A banned cell holds exactly -beta[w], so that the kernels'
``count + beta`` is exactly zero: they need not know of any of this. Counts of a posterior and of a store are real
tokens alone; ``Phantoms`` adds the others where probabilities are computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from topoi.errors import ModelError

# Nonzero counts row by row: start of each row, columns, sums over the samples.
Rows: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
MOST_PHANTOMS = 2**22
# Sums of beta over banned words are rounded to this, so that float64 counts of tokens stay exact.
_GRID = 2.0**-20


@dataclass(frozen=True)
class Phantoms:
    """Prior of words in topics beyond beta: cells of phantom tokens, and cells that are banned.

    Parameters
    ----------
    word, topic, times : arrays
        Phantom tokens of words in topics; whole numbers.
    banned_word, banned_topic : arrays
        Words that topics cannot have.
    n_words, n_topics : int
        Numbers of words and topics.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.guidance.phantoms import Phantoms
    >>> one = Phantoms(*(np.array([n]) for n in (0, 1, 50, 2, 0)), 3, 2)
    >>> one.rows([0, 2], np.array([0.5, 0.5, 0.5])).tolist()
    [[0.0, 50.0], [-0.5, 0.0]]
    """

    word: NDArray[np.int64]
    topic: NDArray[np.int64]
    times: NDArray[np.int64]
    banned_word: NDArray[np.int64]
    banned_topic: NDArray[np.int64]
    n_words: int
    n_topics: int

    @classmethod
    def from_array(cls, cells: NDArray[Any], n_words: int, n_topics: int) -> Phantoms:
        """Phantoms from the array of ``to_array``, checked; a ``ModelError`` if it does not fit."""
        whole = cells.ndim == 2 and cells.shape[1] == 3 and cells.dtype == np.int64
        if not whole or not _fit(cells, n_words, n_topics):
            raise ModelError("the saved guidance does not fit the words and topics")
        seeds, banned = cells[cells[:, 2] > 0], cells[cells[:, 2] < 0]
        return cls(seeds[:, 0], seeds[:, 1], seeds[:, 2], banned[:, 0], banned[:, 1], n_words, n_topics)

    def to_array(self) -> NDArray[np.int64]:
        """Words, topics and phantom tokens, -1 for banned cells; one row for each."""
        seeds = np.stack([self.word, self.topic, self.times], axis=1)
        banned = np.stack([self.banned_word, self.banned_topic, np.full(len(self.banned_word), -1)], axis=1)
        return np.concatenate([seeds, banned]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.word) + len(self.banned_word)

    @cached_property
    def retired(self) -> NDArray[np.bool_]:
        """Topics whose every word is banned."""
        return np.asarray(np.bincount(self.banned_topic, minlength=self.n_topics) == self.n_words)

    def totals(self, beta: NDArray[Any]) -> NDArray[np.float64]:
        """Phantom tokens per topic, less beta of the words that it cannot have."""
        found = np.bincount(self.topic, self.times, self.n_topics)
        lost = np.bincount(self.banned_topic, np.asarray(beta, np.float64)[self.banned_word], self.n_topics)
        # A retired topic has no words at all, and its weights are zero whatever they are divided by.
        lost[self.retired] = 0.0
        return np.asarray(found - np.rint(lost / _GRID) * _GRID)

    def rows(self, words: Any, beta: NDArray[Any]) -> NDArray[np.float64]:
        """Phantom tokens of some words per topic, words × topics; -beta where a word is banned."""
        chosen = np.asarray(words, np.int64)
        found = self.seed_rows(chosen)
        at, row = _places(self.banned_word, chosen)
        found[row, self.banned_topic[at]] = -np.asarray(beta, np.float64)[self.banned_word[at]]
        return found

    def seed_rows(self, words: NDArray[np.int64]) -> NDArray[np.float64]:
        """Phantom tokens of some words per topic, words × topics; zero where a word is banned."""
        found = np.zeros((len(words), self.n_topics))
        at, row = _places(self.word, words)
        np.add.at(found, (row, self.topic[at]), self.times[at])
        return found

    def at(self, word: NDArray[Any], topic: NDArray[Any]) -> NDArray[np.float64]:
        """Phantom tokens of pairs of words and topics that are not banned."""
        keys, order = self._sorted
        wanted = np.asarray(word, np.int64) * self.n_topics + np.asarray(topic, np.int64)
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        if not len(keys):
            return np.zeros(len(wanted))
        return np.where(keys[place] == wanted, self.times[order][place], 0).astype(np.float64)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        keys = self.word * self.n_topics + self.topic
        order = np.argsort(keys)
        return keys[order], order

    def with_seeds(self, cells: Rows, samples: int) -> Rows:
        """Word counts of topics, as sums over samples row by row, with the phantom tokens of seeds."""
        start, word, number = cells
        topic = np.concatenate([np.repeat(np.arange(self.n_topics), np.diff(start)), self.topic])
        both = topic * (int(max(word.max(initial=0), self.word.max(initial=0))) + 1) + np.concatenate([word, self.word])
        keys, place = np.unique(both, return_inverse=True)
        sums = np.bincount(place, np.concatenate([number, self.times * samples]), len(keys))
        at = np.zeros(len(keys), np.int64)
        at[place] = np.arange(len(both))
        found = topic[at], np.concatenate([word, self.word])[at]
        return np.searchsorted(found[0], np.arange(self.n_topics + 1)), found[1], np.rint(sums).astype(np.int64)

    def add_to(self, counts: Any, beta: NDArray[Any]) -> None:
        """Add the phantoms to a sampler's counts of real tokens."""
        np.add.at(counts.word_topic, (self.word, self.topic), self.times.astype(counts.word_topic.dtype))
        counts.topic[...] += self.totals(beta)
        self._ban(counts, beta)

    def change_beta(self, counts: Any, old: NDArray[Any], new: NDArray[Any]) -> None:
        """Bring counts with phantoms to another beta."""
        counts.topic[...] += self.totals(new) - self.totals(old)
        self._ban(counts, new)

    def _ban(self, counts: Any, beta: NDArray[Any]) -> None:
        if len(self.banned_word):
            counts.word_topic[self.banned_word, self.banned_topic] = -np.asarray(beta, np.float32)[self.banned_word]

    def log_constant(self, beta: NDArray[Any], beta_sum: float) -> float:
        """What ``Counts.log_words`` gives for the phantoms alone: their part of counts with phantoms."""
        own = np.asarray(beta, np.float64)[self.word]
        cells = gammaln(self.times + own) - gammaln(own)
        return float(cells.sum() - (gammaln(self.totals(beta) + beta_sum) - math.lgamma(beta_sum)).sum())

    def unguided(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Words and topics, as masks, such that no cell of theirs has phantoms.

        Given these topics and the tokens of these words in them, the words have a Dirichlet prior with beta alone:
        what beta is learned from. Topics with many phantoms are left out, and the words of all others' phantoms.
        """
        both = [np.concatenate(pair) for pair in ((self.word, self.banned_word), (self.topic, self.banned_topic))]
        topics = np.bincount(both[1], minlength=self.n_topics) <= max(self.n_words // 20, 10)
        words = np.ones(self.n_words, bool)
        words[both[0][topics[both[1]]]] = False
        return words, topics


def _fit(cells: NDArray[np.int64], n_words: int, n_topics: int) -> bool:
    word, topic, times = cells.T
    inside = (word >= 0) & (word < n_words) & (topic >= 0) & (topic < n_topics)
    known = (times == -1) | ((times > 0) & (times <= MOST_PHANTOMS))
    return bool((inside & known).all()) and len(np.unique(word * n_topics + topic)) == len(cells)


def _places(among: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in ``among`` of values that are in ``wanted``, and their positions there; ``wanted`` is distinct."""
    if not len(among) or not len(wanted):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(wanted, kind="stable")
    place = np.minimum(np.searchsorted(wanted[order], among), len(wanted) - 1)
    at = np.flatnonzero(wanted[order][place] == among)
    return at, order[place[at]]
