"""What every contender offers, so that the measurements need not know which system they measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

import topoi


class Problem(NamedTuple):
    """What a contender is to fit: the same corpus and fixed priors for all; ``alpha`` is per topic.

    Pachinko models have ``n_super`` super-topics over ``n_topics`` sub-topics, and the root's parameter ``root_alpha``.
    """

    corpus: topoi.Corpus
    n_topics: int
    alpha: float
    beta: float = 0.01
    seed: int = 1
    n_super: int = 0
    root_alpha: float = 0.01


class Estimates(NamedTuple):
    """Topic shares of the documents (documents × topics) and word probabilities of the topics (topics × words)."""

    doc_topic: np.ndarray
    topic_word: np.ndarray


class Contender(ABC):
    """One system and one model, on one thread. Making it converts the corpus; that is never timed.

    A *sweep* is one pass over all tokens: a Gibbs sweep, or a pass of variational Bayes.
    """

    name: ClassVar[str]
    algorithm: ClassVar[str] = "exact Gibbs"
    # Sweeps before the clock starts: sparse samplers gain speed as topics form, and compilation is over.
    warm_up: ClassVar[int] = 10

    def __init__(self, problem: Problem):
        self.problem = problem

    @classmethod
    def share(cls, n_topics: int) -> float:
        """The share of the documents to time: less than one where a sweep would take minutes."""
        return 1.0

    @classmethod
    def accepts(cls, problem: Problem) -> bool:
        """Whether the system can fit the problem at all."""
        return True

    @abstractmethod
    def run(self, n_sweeps: int) -> None:
        """Train for ``n_sweeps`` more: for timing, what can be read afterwards may not be up to date."""

    def fit(self, n_sweeps: int) -> None:
        """Train from the start for ``n_sweeps``, once, as a user would; then ``estimates`` may be called."""
        self.run(n_sweeps)

    @abstractmethod
    def estimates(self) -> Estimates:
        """What a fit found, smoothed by the priors; for author-topic models a document is its authors' mean."""

    def topic_word(self) -> np.ndarray:
        """Word probabilities of the topics that a fit found."""
        return self.estimates().topic_word

    def close(self) -> None:  # noqa: B027 - most have nothing to do
        """Let go of what is still running."""


def documents_as_words(corpus: topoi.Corpus) -> list[list[str]]:
    """Documents as lists of words, which share one string per word."""
    words = [str(word) for word in corpus.words]
    rows = np.split(corpus.tokens, corpus.doc_start[1:-1])
    return [[words[w] for w in row.tolist()] for row in rows]


def documents_as_counts(corpus: topoi.Corpus) -> list[list[tuple[int, int]]]:
    """Documents as lists of (word id, count)."""
    matrix = corpus.to_matrix().tocsr()
    edges = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [list(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True)) for a, b in edges]


def mean_of_authors(corpus: topoi.Corpus, author_topic: np.ndarray) -> np.ndarray:
    """The mean of the authors' mixtures, for each document; rows of ``author_topic`` follow ``corpus.authors``."""
    totals = np.add.reduceat(author_topic[corpus.doc_author], corpus.doc_author_start[:-1], axis=0)
    return totals / np.diff(corpus.doc_author_start)[:, None]
