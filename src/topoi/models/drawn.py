"""Posteriors without counts: P(word | topic) and documents' mixtures are fitted, and no word has a topic of its own.

For queries and stores that count words by topic, every training token's topic is drawn once.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.kernels import lanes
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.folding import Labels, SamplingPlan, content_key
from topoi.kernels.jit import compiled
from topoi.kernels.random import seed_stream, uniform
from topoi.models.contract import Chosen, CountSource
from topoi.models.inputs import WeightedAuthors
from topoi.models.kept_mixtures import KeptMixtures
from topoi.models.prediction import make_documents
from topoi.models.sources import ArraySource, TrainingDocument

# Smoothing of words' counts for queries that need it; P(word | topic) itself has no prior.
_BETA = 0.01

T = TypeVar("T")


@compiled
def draw_labels(
    documents: Documents,
    word_topic: NDArray[np.float64],
    gamma: NDArray[np.float64],
    n_topics: int,
    seed: int,
    topic: NDArray[np.uint16],
) -> None:
    """Draw each token's topic k with probability ∝ p(w|k) γ_k, its share under the document's mean mixture."""
    stream, upto = np.zeros(2, np.uint64), np.empty(n_topics)
    for d in range(documents.doc_start.shape[0] - 1):
        seed_stream(stream, seed, 0, 2, content_key(documents, d))
        for i in range(documents.doc_start[d], documents.doc_start[d + 1]):
            total = 0.0
            for a in range(n_topics):
                total += word_topic[documents.tokens[i], a] * gamma[d, a]
                upto[a] = total
            target, a = uniform(stream) * total, 0
            while a < n_topics - 1 and upto[a] <= target:
                a += 1
            topic[i] = a


def _itself(value: T) -> T:
    return value


class DrawnSource(ArraySource):
    """Counts of topics that are drawn once for every training token: whole numbers, with the posterior's expectations.

    Parameters
    ----------
    corpus : Corpus
        The training corpus.
    word_topic : array
        P(word | topic), words × topics, which may be padded.
    gamma : array
        Mixtures of the documents up to a factor, documents × topics.
    alpha : array
        The Dirichlet parameter of each topic.
    seed : int
        Seed of the draw.
    """

    def __init__(
        self,
        corpus: Corpus,
        word_topic: NDArray[np.float64],
        gamma: NDArray[np.float64],
        alpha: NDArray[np.float64],
        seed: int,
    ) -> None:
        self._word_topic, self._gamma, self._seed = word_topic, gamma, seed
        n_words, total = len(word_topic), float(alpha.sum())
        priors = Priors(alpha.astype(np.float32), total, np.full(n_words, _BETA), _BETA * n_words)
        self._drawn_priors = priors
        super().__init__(
            corpus, 0, len(alpha), self._drawn, self._counted, priors, partial(_itself, (np.asarray(alpha), total))
        )

    @property
    def priors(self) -> Priors:
        """Dirichlet parameters of topics and words."""
        return self._drawn_priors

    def _listed(self, words: Chosen) -> NDArray[np.float64]:
        """Weights that rank the words of topics, words × topics: the fitted probabilities, as a store has them."""
        return np.where(self.counts.word_rows(words) >= 0.5, self._word_topic[words, : self.n_topics], 0.0)

    def _drawn(self) -> Assignments:
        topic = np.zeros(self._corpus.n_tokens, np.uint16)
        words, gamma = (np.require(each, requirements=("C", "W")) for each in (self._word_topic, self._gamma))
        documents = make_documents(self._corpus, WeightedAuthors.private(self._corpus.n_docs))
        draw_labels(documents, words, gamma, self.n_topics, self._seed, topic)
        return Assignments(topic, np.zeros(len(topic), np.uint16))

    def _counted(self) -> Counts:
        n_words, width = len(self._word_topic), lanes.padded(self.n_topics)
        cells = np.bincount(
            self._corpus.tokens.astype(np.int64) * width + self.assignments.topic, minlength=n_words * width
        )
        word_topic = cells.reshape(n_words, width).astype(np.float32)
        topic = np.bincount(self.assignments.topic, minlength=self.n_topics).astype(np.float64)
        return Counts(word_topic, topic, np.zeros((1, width), np.float32), np.zeros(1))


class DrawnPosterior(KeptMixtures):
    """Fitted topics; a family adds inference of new texts.

    Parameters
    ----------
    source : CountSource
        Counts of drawn topics.
    priors : Priors, optional
        Dirichlet parameters of topics and words.
    gamma : array, optional
        Mixtures of the training documents up to a factor; a store has them in its rows.
    """

    can_sample = True
    words_by_tokens = False
    tokens_have_topics = False

    def __init__(
        self, source: CountSource, priors: Priors | None = None, gamma: NDArray[np.float64] | None = None
    ) -> None:
        super().__init__(source, priors)
        self._gamma = gamma

    @cached_property
    def word_topic(self) -> NDArray[np.float64]:
        """P(word | topic), words × topics."""
        raise NotImplementedError  # abstract: each family's own

    def _label_tokens(self, tokens: NDArray[Any]) -> tuple[NDArray[np.float64], Labels]:
        """Mean mixture of a text, and the probabilities of topics for its tokens."""
        raise NotImplementedError  # abstract: each family's own inference

    @cached_property
    def topic_word(self) -> NDArray[np.float64]:
        """P(word | topic): topics × words, rows sum to one."""
        return np.ascontiguousarray(self.word_topic.T)

    def word_columns(self, words: Chosen) -> NDArray[np.float64]:
        """P(word | topic) of some words, topics × words."""
        return np.asarray(self.word_topic[words].T)

    @property
    def doc_topic(self) -> NDArray[np.float64]:
        """Posterior means of the training documents' mixtures."""
        gamma = np.zeros((0, self.n_topics)) if self._gamma is None else self._gamma
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def shares_of(self, doc: NDArray[Any], topic: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        """Share of a topic in a document: the mean of the fitted mixture."""
        return np.asarray(self.doc_topic[doc, topic])

    def probabilities_of(self, word: NDArray[Any], topic: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        """P(word | topic), as fitted."""
        return np.asarray(self.word_topic[word, topic])

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of topics for every token of a new text; nothing is sampled, so the plan has no effect."""
        return self._label_tokens(tokens)[1]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Mean mixture of a new text."""
        return self._label_tokens(tokens)[0]

    def label_document(self, document: TrainingDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics for every token of a training document."""
        return self._label_tokens(document.tokens)[1]
