"""The generative story, for tests and for people who want to see what the model can find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.models.simulation import SimulatedCorpus, dirichlet_rows, document_lengths, draw_corpus


class Truth(NamedTuple):
    """What a simulated corpus was drawn from, and every document's topic."""

    topic_word: NDArray[np.float64]
    theta: NDArray[np.float64]
    document_topic: NDArray[np.int64]


def simulate(
    n_docs: int,
    doc_length: float,
    alpha: NDArray[np.float64],
    beta: NDArray[np.float64],
    random_state: int | np.random.Generator = 0,
) -> SimulatedCorpus:
    """Draw theta, phi, documents' topics and words; the corpus has them in ``truth``.

    Examples
    --------
    >>> import numpy as np
    >>> corpus = simulate(5, 10.0, np.ones(2), np.ones(4))
    >>> corpus.n_docs, corpus.truth.topic_word.shape
    (5, (2, 4))
    """
    rng = np.random.default_rng(random_state)
    theta, topic_word = dirichlet_rows(rng, alpha, 1)[0], dirichlet_rows(rng, beta, len(alpha))
    document_topic = rng.choice(len(alpha), n_docs, p=theta)
    lengths = document_lengths(rng, doc_length, n_docs)
    words = [f"w{w}" for w in range(len(beta))]
    corpus = draw_corpus(rng, lengths, np.repeat(document_topic, lengths), topic_word, words)
    corpus.truth = Truth(topic_word, theta, document_topic)
    return corpus
