"""What is known after a fit: the mean counts of a chain's samples, in memory or in a store, and new documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.kernels.counts import Assignments, Counts, Documents
from topoi.kernels.folding import Labels, SamplingPlan, Scored
from topoi.models.averages import Averaged, average, mean_counts
from topoi.models.stored import chain as stored
from topoi.models.stored.chain import StoredDocument
from topoi.models.topic_counts import TopicCounts
from unigram_mixture.sampler import Sampler

# A document has one topic, and its shares are how often the samples gave it each. Tables of documents smooth them by
# this many words, spread as topics are spread over documents, which is then also what they show of an empty document.
_SMOOTHING = 1e-3


def topic_given_words(theta: NDArray[Any], word_columns: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """P(topic | words), and log P(words), of a document; ``word_columns`` is P(word | topic), topics × its words."""
    log_weight = np.log(theta) + np.log(word_columns).sum(axis=1)
    best = log_weight.max()
    weight = np.exp(log_weight - best)
    return weight / weight.sum(), float(best + np.log(weight.sum()))


class Posterior(TopicCounts):
    """The posterior of one chain in memory."""

    averaged: Averaged

    def __init__(self, chain: Chain, sampler: Sampler, tokens: NDArray[Any], doc_start: NDArray[np.int64]):
        self.index, self.trace, self.priors = chain.index, list(chain.trace), chain.priors
        topic = sampler.token_topics(chain)
        self.assignments = Assignments(topic, np.zeros(len(topic), np.uint16))
        self.averaged = average(chain, {"topic": topic}, sampler.n_topics)
        self._sizes = sampler.n_words, sampler.n_topics
        self._tokens, self._doc_start = np.ascontiguousarray(tokens, np.int32), doc_start

    @cached_property
    def counts(self) -> Counts:  # type: ignore[override]
        """Means of the samples' counts of words in topics."""
        return mean_counts(self._tokens, self.averaged, *self._sizes)

    @cached_property
    def theta(self) -> NDArray[np.float64]:
        """P(topic) of a document: the mean over samples, smoothed by alpha."""
        first = self._doc_start[:-1][np.diff(self._doc_start) > 0]
        samples = [np.bincount(sample["topic"][first], minlength=self.n_topics) for sample in self.averaged.samples]
        share = np.mean(samples, axis=0) + self.priors.alpha
        return share / share.sum()

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Words by which each topic's count in a document is smoothed."""
        return _SMOOTHING * self.theta

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """P(topic | document) of the training documents."""
        return self.documents.shares(np.arange(len(self._doc_start) - 1))

    # New documents: everything is exact, so nothing is sampled and no seed matters.

    def is_integrated(self, documents: Documents) -> NDArray[np.bool_]:
        """Whether log likelihoods are estimates: never."""
        return np.zeros(len(documents.doc_start) - 1, bool)

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Draws of one topic each from theta, as mixtures of zeros and a one."""
        return np.random.default_rng(name).multinomial(1, self.theta, n).astype(np.float64)

    def _fold_in(self, part: Documents, wanted: Scored, plan: SamplingPlan, *outputs: Any) -> None:
        doc_topic, scores, labels = outputs
        for d in range(len(part.doc_start) - 1):
            here = slice(part.doc_start[d], part.doc_start[d + 1])
            there = slice(wanted.start[d], wanted.start[d + 1])
            doc_topic[d], _ = topic_given_words(self.theta, self.word_columns(part.tokens[here]))
            scores[there] = doc_topic[d] @ self.word_columns(wanted.tokens[there])
            if len(labels.topic):
                labels.topic[here], labels.slot[here, 0] = doc_topic[d], 1.0

    def _log_likelihood(self, part: Documents, *how: Any) -> None:
        result = how[4]
        for d in range(len(result)):
            words = part.tokens[part.doc_start[d] : part.doc_start[d + 1]]
            result[d] = topic_given_words(self.theta, self.word_columns(words))[1]


class StoredChain(stored.StoredChain):
    """The same posterior in a store, whose rows are read on demand."""

    can_sample = True

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """P(topic | words) of a new text."""
        words, place = np.unique(np.asarray(tokens, np.int64), return_inverse=True)
        return topic_given_words(self.alpha / self.alpha_sum, self.word_columns(words)[:, place])[0]

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """The same for every token of a new text."""
        topic = self.text_topics(tokens, plan)
        return Labels(np.tile(topic, (len(tokens), 1)), np.ones((len(tokens), 1)))

    def label_document(self, document: StoredDocument, plan: SamplingPlan) -> Labels:
        """The same for every token of a training document."""
        return self.label_text(document.tokens, document.authors, plan)
