"""What is known after a fit: the mean counts of a chain's samples, in memory or in a store, and new documents."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain
from topoi.kernels.counts import Assignments, Documents
from topoi.kernels.folding import FilterPlan, Labels, SamplingPlan, Scored
from topoi.models.averages import Averaged, average, mean_counts
from topoi.models.contract import StoredSource
from topoi.models.posterior import Posterior
from topoi.models.sources import ArraySource, TrainingDocument
from unigram_mixture.sampler import UnigramSampler

# A document has one topic, and its shares are how often the samples gave it each. Tables of documents smooth them by
# this many words, spread as topics are spread over documents, which is then also what they show of an empty document.
_SMOOTHING = 1e-3


def topic_given_words(theta: NDArray[Any], word_columns: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """P(topic | words), and log P(words), of a document; ``word_columns`` is P(word | topic), topics × its words."""
    log_weight = np.log(theta) + np.log(word_columns).sum(axis=1)
    best = log_weight.max()
    weight = np.exp(log_weight - best)
    return weight / weight.sum(), float(best + np.log(weight.sum()))


class UnigramPosterior(Posterior):
    """The posterior of one chain; its counts come from arrays after a fit, from rows in a store."""

    can_sample = True

    @classmethod
    def from_chain(cls, chain: Chain, sampler: UnigramSampler, corpus: Corpus) -> Self:
        """Freeze a chain."""
        topic = sampler.token_topics(chain)
        averaged = average(chain, {"topic": topic}, sampler.n_topics)
        tokens = np.ascontiguousarray(corpus.tokens, np.int32)
        source = ArraySource(
            corpus,
            chain.index,
            sampler.n_topics,
            Assignments(topic, np.zeros(len(topic), np.uint16)),
            partial(mean_counts, tokens, averaged, sampler.n_words, sampler.n_topics),
            chain.priors,
            partial(smoothing, corpus.doc_start, averaged, chain.priors.alpha),
            averaged,
        )
        found = cls(source, chain.priors)
        found.trace = list(chain.trace)
        return found

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        return cls(source)

    @property
    def theta(self) -> NDArray[np.float64]:
        """P(topic) of a document: the mean over samples, smoothed by alpha."""
        return self.alpha / self.alpha_sum

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

    def _fold_in(
        self,
        part: Documents,
        wanted: Scored,
        plan: SamplingPlan,
        doc_topic: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        for d in range(len(part.doc_start) - 1):
            here = slice(part.doc_start[d], part.doc_start[d + 1])
            there = slice(wanted.start[d], wanted.start[d + 1])
            doc_topic[d], _ = topic_given_words(self.theta, self.word_columns(part.tokens[here]))
            scores[there] = doc_topic[d] @ self.word_columns(wanted.tokens[there])
            if len(labels.topic):
                labels.topic[here], labels.slot[here, 0] = doc_topic[d], 1.0

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: NDArray[np.float64]) -> None:
        for d in range(len(result)):
            words = part.tokens[part.doc_start[d] : part.doc_start[d + 1]]
            result[d] = topic_given_words(self.theta, self.word_columns(words))[1]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """P(topic | words) of a new text."""
        return topic_given_words(self.theta, self.word_columns(np.asarray(tokens, np.int64)))[0]

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """The same for every token of a new text."""
        return Labels(np.tile(self.text_topics(tokens, plan), (len(tokens), 1)), np.ones((len(tokens), 1)))

    def label_document(self, document: TrainingDocument, plan: SamplingPlan) -> Labels:
        """The same for every token of a training document."""
        return self.label_text(document.tokens, document.authors, plan)


def smoothing(
    doc_start: NDArray[np.int64], averaged: Averaged, alpha: NDArray[Any]
) -> tuple[NDArray[np.float64], float]:
    """Words by which each topic's count in a document is smoothed, in proportion to P(topic); and their sum."""
    first = doc_start[:-1][np.diff(doc_start) > 0]
    share = np.mean([np.bincount(sample["topic"][first], minlength=len(alpha)) for sample in averaged.samples], axis=0)
    found = _SMOOTHING * (share + alpha) / (share + alpha).sum()
    return found, float(found.sum())
