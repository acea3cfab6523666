"""The generative story as a Chinese restaurant franchise, for tests and for people who want to try it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.simulation import SimulatedCorpus, document_lengths, draw_corpus, draw_topics


class Truth(NamedTuple):
    """Topics of a simulated corpus, the topic of every token, and the number of tables of every topic."""

    topic_word: NDArray[np.float64]
    topic: NDArray[np.int64]
    tables: NDArray[np.int64]


def franchise(
    rng: np.random.Generator, lengths: NDArray[np.int64], alpha: float, gamma: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Topics of all tokens, and tables of all topics, with shares and mixtures integrated out (Teh et al., section 4).

    A token joins a table of its document in proportion to the tokens there, or opens one in proportion to alpha; a new
    table takes a topic in proportion to the topic's tables in all documents, or a new topic in proportion to gamma.
    """
    topics: list[int] = []
    tables: list[int] = []
    for length in lengths.tolist():
        seated: list[int] = []
        topic_of: list[int] = []
        for _ in range(length):
            t = _choose(rng, seated, alpha)
            if t == len(seated):
                k = _choose(rng, tables, gamma)
                _add(tables, k)
                topic_of.append(k)
            _add(seated, t)
            topics.append(topic_of[t])
    return np.array(topics, np.int64), np.array(tables, np.int64)


def _choose(rng: np.random.Generator, numbers: list[int], rest: float) -> int:
    """A place in proportion to its number, or the place after the last in proportion to ``rest``."""
    upto = np.cumsum([*numbers, rest])
    return int(np.searchsorted(upto, rng.random() * upto[-1], side="right"))


def _add(numbers: list[int], place: int) -> None:
    if place == len(numbers):
        numbers.append(0)
    numbers[place] += 1


def simulate(
    n_docs: int,
    doc_length: float,
    alpha: float,
    gamma: float,
    beta: Any = 0.01,
    random_state: int | np.random.Generator = 0,
) -> SimulatedCorpus:
    """Draw topics and words; the corpus has its topics in ``truth``.

    Parameters
    ----------
    n_docs : int
        Number of documents.
    doc_length : float
        Mean length; lengths are Poisson.
    alpha, gamma : float
        Concentrations of mixtures and of shares.
    beta : float or array
        Dirichlet parameter of topics' words; one number means 1,000 words.
    random_state : int or generator
        Seeds the draw.

    Examples
    --------
    >>> from topoi.models.hdp.simulate import simulate
    >>> corpus = simulate(20, 30, alpha=1.0, gamma=2.0)
    >>> corpus.n_docs, len(corpus.truth.topic_word) == len(corpus.truth.tables)
    (20, True)
    """
    rng = np.random.default_rng(random_state)
    lengths = document_lengths(rng, doc_length, n_docs)
    topic, tables = franchise(rng, lengths, alpha, gamma)
    topic_word, words = draw_topics(rng, beta, len(tables))
    corpus = draw_corpus(rng, lengths, topic, topic_word, words)
    corpus.truth = Truth(topic_word, topic, tables)
    return corpus
