"""Guidance as samplers read it: phantoms, and the topics that documents may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.kernels.guided import draw_start
from topoi.kernels.random import new_stream
from topoi.models.guidance.phantoms import Phantoms

_STREAM = 2**60


@dataclass(frozen=True)
class Guidance:
    """What a sampler is told: phantoms, and the topics that each document may have.

    Parameters
    ----------
    phantoms : Phantoms
        Prior of words in topics.
    names : tuple of str
        Names of the first topics: of seeds, then of labels.
    allowed : array of bool, optional
        Sets of topics, sets × topics, if some documents may not have all.
    doc_set : array of int, optional
        Number of each document's set.
    missing : dict
        Seed words that the vocabulary does not have, by topic.
    strength : int
        Phantom tokens of seeds without a number of their own.
    """

    phantoms: Phantoms
    names: tuple[str, ...] = ()
    allowed: NDArray[np.bool_] | None = None
    doc_set: NDArray[np.int32] | None = None
    missing: Mapping[str, list[str]] | None = None
    strength: int = 1

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self.phantoms.n_topics

    @property
    def limits_documents(self) -> bool:
        """Whether some documents may not have all topics."""
        return self.allowed is not None

    def of_documents(self, first: int, last: int) -> tuple[NDArray[np.float32], NDArray[np.int32]] | None:
        """For documents ``first`` to ``last``: sets of topics as rows of zeros and ones, and the number of each's."""
        if self.allowed is None or self.doc_set is None:
            return None
        return self.allowed.astype(np.float32), self.doc_set[first:last]

    def check_type(self, kind: Any) -> None:
        """Raise an error if counts are whole numbers of this type, and a banned cell has to hold a fraction."""
        if len(self.phantoms.banned_word) and np.dtype(kind).kind != "f":
            raise ModelError(
                "a word has more than 2**24 tokens, so counts are whole numbers, and no word can be banned or pinned; "
                "make the most frequent words stop words of the corpus"
            )

    def repaired(
        self, corpus: Corpus, topic: NDArray[np.uint16], key: tuple[int, int, int], first: int = 0
    ) -> NDArray[np.uint16]:
        """The topics of all tokens from document ``first`` on, with those that are not allowed drawn anew.

        A token of a seed word is drawn among the topics that have it as a seed, others uniformly among those allowed.
        """
        return self._drawn(corpus, topic, key, first, corpus.n_docs, anew=False)

    def started(
        self, corpus: Corpus, topic: NDArray[np.uint16], key: tuple[int, int, int], first: int, last: int
    ) -> NDArray[np.uint16]:
        """``repaired`` for documents ``first`` to ``last``, with all tokens of seed words drawn anew."""
        return self._drawn(corpus, topic, key, first, last, anew=True)

    def _drawn(
        self, corpus: Corpus, topic: NDArray[np.uint16], key: tuple[int, int, int], first: int, last: int, anew: bool
    ) -> NDArray[np.uint16]:
        doc_start = corpus.doc_start[first : last + 1]
        tokens = np.ascontiguousarray(corpus.tokens[doc_start[0] : doc_start[-1]], np.int32)
        rows, row = self._word_weights(corpus.n_words)
        sets, doc_set = np.ones((1, self.n_topics), np.float32), np.zeros(last - first, np.int32)
        if self.allowed is not None and self.doc_set is not None:
            sets, doc_set = self.allowed.astype(np.float32), self.doc_set[first:last]
        found = np.array(topic, np.uint16)
        stream = new_stream(*key, _STREAM)
        draw_start(tokens, doc_start - doc_start[0], found, rows, row, sets, doc_set, anew, stream)
        return found

    def _word_weights(self, n_words: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Weights of topics for words with phantoms, a row each, and each word's row; the first row is of all others.

        A seed word has its phantoms; a word that is only banned has ones; banned cells are -1.
        """
        both = np.unique(np.concatenate([self.phantoms.word, self.phantoms.banned_word]))
        row = np.zeros(n_words, np.int32)
        row[both] = 1 + np.arange(len(both))
        rows = np.zeros((1 + len(both), self.n_topics), np.float32)
        np.add.at(rows, (row[self.phantoms.word], self.phantoms.topic), self.phantoms.times)
        rows[row[self.phantoms.banned_word], self.phantoms.banned_topic] = -1.0
        rows[0, self.phantoms.retired] = -1.0
        return rows, row
