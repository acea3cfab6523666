"""One draw of every training token's aspect, for queries and stores that count words by topic."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.kernels import lanes
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.folding import content_key
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream, uniform
from topoi.models.aspect.particles import log_likelihood
from topoi.models.aspect.state import Parameters
from topoi.models.prediction import make_documents
from topoi.models.simulation import dirichlet_rows
from topoi.models.topic_counts import TopicCounts
from topoi.models.weighted_authors import WeightedAuthors

# Smoothing of words' counts for queries that need it; P(word | aspect) itself has no prior.
_BETA = 0.01


@compiled
def draw_labels(documents, word_aspect, gamma, n_aspects, seed, topic):
    """Draw each token's aspect a with probability ∝ p(w|a) γ_a, its share under the document's mean mixture."""
    stream, upto = np.zeros(2, np.uint64), np.empty(n_aspects)
    for d in range(documents.doc_start.shape[0] - 1):
        seed_stream(stream, seed, 0, 2, content_key(documents, d))
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            total = 0.0
            for a in range(n_aspects):
                total += word_aspect[documents.tokens[i], a] * gamma[d, a]
                upto[a] = total
            target, a = uniform(stream) * total, 0
            while a < n_aspects - 1 and upto[a] <= target:
                a += 1
            topic[i] = a


class AspectChain(TopicCounts):
    """The fitted aspects in the form of a chain: each token of the corpus has one aspect, drawn once.

    Counts are whole numbers, as in the sampled families; their expectations are the posterior's. P(word | aspect) is
    the fitted one.
    """

    index = 0

    def __init__(self, corpus: Corpus, parameters: Parameters, gamma: NDArray[np.float64], seed: int) -> None:
        self._corpus, self._parameters, self._gamma, self._seed = corpus, parameters, gamma, seed
        self._doc_start = corpus.doc_start
        n_words = len(parameters.word_aspect)
        self.priors = Priors(self.alpha.astype(np.float32), self.alpha_sum, np.full(n_words, _BETA), _BETA * n_words)

    @property
    def alpha(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each aspect."""
        return self._parameters.alpha[: self._parameters.n_aspects]

    @property
    def n_topics(self) -> int:
        """The number of aspects."""
        return self._parameters.n_aspects

    @property
    def topic_word(self) -> NDArray[np.float64]:  # type: ignore[override]
        """P(word | aspect): aspects × words, rows sum to one."""
        return np.ascontiguousarray(self._parameters.word_aspect[:, : self.n_topics].T)

    @property
    def doc_topic(self) -> NDArray[np.float64]:
        """Posterior means of the training documents' mixtures."""
        return np.asarray(self._gamma / self._gamma.sum(axis=1, keepdims=True))

    def word_columns(self, words: Any) -> NDArray[np.float64]:
        """P(word | aspect) of some words, aspects × words."""
        return np.asarray(self._parameters.word_aspect[words, : self.n_topics].T)

    @cached_property
    def assignments(self) -> Assignments:  # type: ignore[override]
        """The aspect of every token."""
        topic = np.zeros(self._corpus.n_tokens, np.uint16)
        words, gamma = self._parameters.writable().word_aspect, np.require(self._gamma, requirements=("C", "W"))
        draw_labels(self._documents, words, gamma, self.n_topics, self._seed, topic)
        return Assignments(topic, np.zeros(len(topic), np.uint16))

    @property
    def _documents(self) -> Documents:
        return make_documents(self._corpus, WeightedAuthors.private(self._corpus.n_docs))

    @cached_property
    def counts(self) -> Counts:  # type: ignore[override]
        """Tokens per word and aspect, and per aspect; there are no authors."""
        n_words, width = len(self._parameters.word_aspect), lanes.padded(self.n_topics)
        cells = np.bincount(
            self._corpus.tokens.astype(np.int64) * width + self.assignments.topic, minlength=n_words * width
        )
        word_topic = cells.reshape(n_words, width).astype(np.float32)
        topic = np.bincount(self.assignments.topic, minlength=self.n_topics).astype(np.float64)
        return Counts(word_topic, topic, np.zeros((1, width), np.float32), np.zeros(1))

    def _fold_in(self, *arguments: Any) -> None:
        raise NotImplementedError  # nothing is sampled: the model infers

    def _log_likelihood(self, part: Documents, *how: Any) -> None:
        log_likelihood(part, self._parameters.writable().word_aspect, self.priors, self.n_topics, *how)

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures from Dir(alpha), the same for all documents."""
        return dirichlet_rows(np.random.default_rng(name), self.alpha, n)
