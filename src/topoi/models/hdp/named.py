"""Named topics: guided, numbered first, there with or without tokens. The others come after them, and come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.guidance.guidance import Guidance
from topoi.models.guidance.phantoms import Phantoms


class NamedTopics:
    """What a sampler is told of its named topics, for any number of topics.

    Parameters
    ----------
    told : Guidance or None
        Of ``resolve_named``: its last topic stands for all topics without a name.
    beta : array of float32
        Prior of each word.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.guidance.settings import resolve_named
    >>> from topoi.models.hdp.named import NamedTopics
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"]])
    >>> named = NamedTopics(resolve_named(corpus, 9, seeds={"sky": ["star"]}, pin={"sky": ["sun"]}), np.full(2, 0.5))
    >>> named.number, named.guidance(3).phantoms.to_array().tolist()
    (1, [[1, 0, 1], [0, 1, -1], [0, 2, -1]])
    """

    def __init__(self, told: Guidance | None, beta: NDArray[np.float32]) -> None:
        self._told, self._beta = told, beta
        self.number = 0 if told is None else told.n_topics - 1
        self._known: dict[int, Guidance] = {}

    def limits(self) -> tuple[NDArray[np.float32], NDArray[np.int32]] | tuple[()]:
        """For kernels: sets of named topics, and the number of each document's; nothing if all may have all."""
        if self._told is None or self._told.allowed is None or self._told.doc_set is None:
            return ()
        return self._told.allowed[:, : self.number].astype(np.float32), self._told.doc_set

    def guidance(self, n_topics: int) -> Guidance | None:
        """The guidance of so many topics; None if there is none."""
        if self._told is None:
            return None
        if n_topics not in self._known:
            # Only the latest: the number of topics changes often at first, and later hardly ever.
            self._known = {n_topics: self._of(self._told, n_topics)}
        return self._known[n_topics]

    def _of(self, told: Guidance, n_topics: int) -> Guidance:
        given, n_others = told.phantoms, n_topics - self.number
        unnamed = given.banned_topic == self.number
        word = np.concatenate([given.banned_word[~unnamed], np.repeat(given.banned_word[unnamed], n_others)])
        others = np.tile(np.arange(self.number, n_topics), int(unnamed.sum()))
        topic = np.concatenate([given.banned_topic[~unnamed], others])
        phantoms = Phantoms(given.word, given.topic, given.times, word, topic, given.n_words, n_topics)
        allowed = told.allowed
        if allowed is not None:
            allowed = np.concatenate([allowed[:, :-1], np.repeat(allowed[:, -1:], n_others, axis=1)], axis=1)
        return Guidance(phantoms, told.names, allowed, told.doc_set, told.missing)

    def totals(self, n_topics: int) -> NDArray[np.float64]:
        """Phantom tokens of so many topics, less beta of the words that they cannot have."""
        if self._told is None:
            return np.zeros(n_topics)
        found = self._told.phantoms.totals(self._beta)
        return np.concatenate([found[:-1], np.full(n_topics - self.number, found[-1])])

    def add_phantoms(
        self, word_topic: NDArray[Any], topic: NDArray[np.float64], first: int, last: int | None = None
    ) -> None:
        """Add the phantoms of topics ``first`` to ``last``, all if it is not given, to counts that are zero there."""
        if self._told is None:
            return
        last = len(topic) if last is None else last
        given = self._told.phantoms
        seeds = (given.topic >= first) & (given.topic < last)
        word_topic[given.word[seeds], given.topic[seeds]] += given.times[seeds].astype(word_topic.dtype)
        for k in range(first, last):
            own = given.banned_word[given.banned_topic == min(k, self.number)]
            word_topic[own, k] = -self._beta[own]
        topic[first:last] += self.totals(last)[first:]

    def repaired(self, corpus: Corpus, topic: NDArray[np.uint16], n_topics: int, index: int) -> NDArray[np.uint16]:
        """The topics of all tokens, with those that are not allowed drawn anew among ``n_topics``."""
        told = self.guidance(n_topics)
        if told is None:
            return topic
        found = told.repaired(corpus, topic, (0, index, 0))
        banned = told.phantoms.rows(np.arange(corpus.n_words), np.ones(corpus.n_words)) < 0
        if banned[corpus.tokens, found].any():
            raise ModelError("a word of the saved model is now banned from every topic that it has; fit it anew")
        return found
