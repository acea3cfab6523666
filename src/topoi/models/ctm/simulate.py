"""The generative story."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.ctm import normal
from topoi.models.ctm.normal import Hyper
from topoi.models.simulation import (
    SimulatedCorpus,
    categorical,
    dirichlet_rows,
    document_lengths,
    draw_corpus,
    invented_words,
)

Array = NDArray[np.float64]


class Truth(NamedTuple):
    """Truth behind a simulated corpus: topics, mean and covariance of eta, eta, and every token's topic."""

    topic_word: Array
    mean: Array
    covariance: Array
    eta: Array
    topic: NDArray[np.int64]


def simulate(
    n_docs: int,
    doc_length: float,
    n_topics: int,
    beta: Array,
    hyper: Hyper,
    random_state: int | np.random.Generator = 0,
    mean: Any = None,
    covariance: Any = None,
    topic_word: Any = None,
    words: list[str] | None = None,
) -> SimulatedCorpus:
    """Draw mean, covariance, topics, documents' eta and words; the corpus has them in ``truth``.

    What is given is not drawn. A covariance need not be of vectors that sum to zero: it is centred, as eta is.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.ctm.normal import Hyper
    >>> from topoi.models.ctm.simulate import simulate
    >>> corpus = simulate(5, 10.0, 3, np.ones(4), Hyper(1.0, 6.0, 1.0))
    >>> corpus.n_docs, corpus.truth.eta.shape
    (5, (5, 3))
    """
    rng = np.random.default_rng(random_state)
    drawn_mean, drawn = normal.draw(np.zeros((0, n_topics)), hyper, rng)
    mean = drawn_mean if mean is None else np.asarray(mean) - np.mean(mean)
    covariance = drawn if covariance is None else normal.centred(np.asarray(covariance, np.float64))
    topic_word = dirichlet_rows(rng, beta, n_topics) if topic_word is None else np.asarray(topic_word)
    values, vectors = np.linalg.eigh(covariance)
    eta = mean + (rng.standard_normal((n_docs, n_topics)) * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    eta -= eta.mean(axis=1, keepdims=True)
    lengths = document_lengths(rng, doc_length, n_docs)
    shares = np.exp(eta - eta.max(axis=1, keepdims=True))
    topic = categorical(rng, np.cumsum(shares, axis=1), np.repeat(np.arange(n_docs), lengths))
    names = invented_words(topic_word.shape[1]) if words is None else words
    corpus = draw_corpus(rng, lengths, topic, topic_word, names)
    corpus.truth = Truth(topic_word, mean, covariance, eta, topic)
    return corpus
