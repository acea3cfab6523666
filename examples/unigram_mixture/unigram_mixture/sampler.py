"""A corpus as the kernels read it, and the chain for ``topoi.engine.loop``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain, Sampler
from topoi.engine.samples import Sample, compact
from topoi.engine.shards import cut
from topoi.errors import ModelError
from topoi.kernels.dirichlet import log_probability_columns, log_probability_rows
from topoi.kernels.random import new_stream
from topoi.models.inputs import word_count_type
from topoi.models.validation import fits_kernels
from unigram_mixture import kernels
from unigram_mixture.kernels import Counts, Documents, Priors

_MOST_TOPICS = 2**16 - 1


class UnigramSampler(Sampler):
    """The family's part of the loop; ``topoi.engine.gibbs.Sampler`` says what each method is for."""

    # Arrays of a sample, one number per token each.
    sampled = ("topic",)

    def __init__(self, corpus: Corpus, alpha: NDArray[np.float64], beta: NDArray[np.float64], n_shards: int = 1):
        if len(alpha) > _MOST_TOPICS:
            raise ModelError(f"n_topics is {len(alpha)}; at most {_MOST_TOPICS} are possible")
        self._word_type = word_count_type(corpus)
        self.n_tokens, self.n_words, self.n_topics = corpus.n_tokens, corpus.n_words, len(alpha)
        self.lengths = np.diff(corpus.doc_start)
        self._alpha, self._beta = alpha, beta
        self._ranges = cut(self.lengths, n_shards)
        whole = bags(corpus)
        self._parts = [_part(whole, first, last) for first, last in self._ranges]

    def start(self, seed: int, index: int) -> Chain:
        """A chain whose documents have topics at random, from the streams (seed, chain, sweep 0, shard)."""
        chain = self._new_chain(index, self._alpha, self._beta)
        for number, (part, topic) in enumerate(zip(self._parts, chain.shards, strict=True)):
            kernels.start(part, topic, chain.counts, new_stream(seed, index, 0, number))
        return chain

    def _new_chain(self, index: int, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> Chain:
        word_topic = np.zeros((self.n_words, self.n_topics), self._word_type)
        counts = Counts(word_topic, np.zeros(self.n_topics), np.zeros(self.n_topics))
        topics = [np.zeros(last - first, np.uint16) for first, last in self._ranges]
        return Chain(index, counts, Priors(alpha, beta, math.fsum(beta.tolist())), topics)

    def sample(self, chain: Chain, shard: int, counts: Counts, stream: NDArray[np.uint64]) -> None:
        """Draw the topics of one shard's documents against the given counts."""
        kernels.sweep(self._parts[shard], chain.shards[shard], counts, chain.priors, stream)

    def learn(self, chain: Chain, sweep: int) -> None:
        """Nothing: alpha and beta stay as they were given."""

    def log_joint(self, chain: Chain) -> float:
        """log P(words, topics of documents | alpha, beta)."""
        counts, priors = chain.counts, chain.priors
        n_docs, alpha_sum = np.array([counts.docs.sum()]), float(priors.alpha.sum())
        documents = log_probability_rows(counts.docs[None], n_docs, priors.alpha, alpha_sum, 1, self.n_topics)
        return float(documents + log_probability_columns(counts.word_topic, counts.topic, priors.beta, priors.beta_sum))

    def to_arrays(self, chain: Chain) -> dict[str, NDArray[Any]]:
        """What a checkpoint and a file hold of a chain."""
        topic = np.concatenate(chain.shards)
        return {"document_topic": topic, "alpha": chain.priors.alpha, "beta": chain.priors.beta}

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> Chain:
        """The chain of such arrays, recounted; they come from a file, and kernels check nothing."""
        topic, alpha, beta = arrays["document_topic"], arrays["alpha"], arrays["beta"]
        fits = topic.dtype == np.uint16 and topic.shape == self.lengths.shape
        if not fits or int(topic.max(initial=0)) >= self.n_topics:
            raise ModelError("the saved topics of documents do not fit this corpus")
        if not (fits_kernels(alpha, self.n_topics) and fits_kernels(beta, self.n_words)):
            raise ModelError("the saved priors do not fit this corpus")
        chain = self._new_chain(index, alpha, beta)
        for part, mine, (first, last) in zip(self._parts, chain.shards, self._ranges, strict=True):
            mine[:] = topic[first:last]
            kernels.count(part, mine, chain.counts)
        chain.trace = [(int(sweep), float(value)) for sweep, value in trace]
        return chain

    def token_topics(self, chain: Chain) -> NDArray[np.uint16]:
        """Every token's topic, which is its document's."""
        return np.repeat(np.concatenate(chain.shards), self.lengths)

    def snapshot(self, chain: Chain) -> Sample:
        """The present state, for the average of samples."""
        return {"topic": compact(self.token_topics(chain), self.n_topics)}

    def check_sample(self, sample: Sample) -> None:
        """Refuse a sample of a file that does not fit the corpus."""
        if int(sample["topic"].max(initial=0)) >= self.n_topics:
            raise ModelError("the saved samples name a topic that is not there")


def bags(corpus: Corpus) -> Documents:
    """The documents' distinct words, ascending, with their numbers of occurrences.

    Examples
    --------
    >>> import topoi
    >>> bags(topoi.Corpus.from_tokens([["a", "b", "a"], ["b"]])).times.tolist()
    [2.0, 1.0, 1.0]
    """
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    keys, times = np.unique(doc * corpus.n_words + corpus.tokens, return_counts=True)
    start = np.searchsorted(keys, np.arange(corpus.n_docs + 1) * corpus.n_words)
    return Documents(start, (keys % corpus.n_words).astype(np.int32), times.astype(np.float32))


def _part(documents: Documents, first: int, last: int) -> Documents:
    """Documents ``first`` to ``last``, counted from zero."""
    begin, end = documents.start[first], documents.start[last]
    return Documents(documents.start[first : last + 1] - begin, documents.word[begin:end], documents.times[begin:end])
