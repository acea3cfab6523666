"""Chains of the hierarchical Dirichlet process for the engine's loop.

Between two sweeps topics are numbered by size, the largest first, without gaps. Numbers change with the sizes, so the
samples that estimates average are renumbered with them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain, Sampler
from topoi.engine.samples import Sample
from topoi.errors import ModelError
from topoi.kernels.dirichlet import log_probability_columns
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.models.guidance.guidance import Guidance
from topoi.models.hdp import kernels
from topoi.models.hdp.kernels import TopicCounts, Words
from topoi.models.hdp.named import NamedTopics
from topoi.models.inputs import word_count_type
from topoi.models.validation import fits_kernels

# Number of the random stream of draws between sweeps, beyond the number of any shard.
_STREAM = 2**62
LARGEST = 2**16 - 1


class Concentration(NamedTuple):
    """A concentration parameter: its value at the start, and its gamma prior (shape and rate) if it is drawn."""

    start: float
    prior: tuple[float, float] | None = None


class Weights(NamedTuple):
    """A chain's knowledge of the topics' prior; all of it is drawn anew after a sweep.

    ``weights`` are alpha · b of the topics and, last, of all new ones together, in an array with room for more.
    ``tables`` are the topics' numbers of tables, named topics' with the phantom one, and ``history`` has topics, alpha
    and gamma after every sweep.
    """

    alpha: float
    gamma: float
    n_topics: int
    weights: NDArray[np.float32]
    tables: NDArray[np.int64]
    history: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """alpha times the mean of b given the tables; the new topics' part is left out."""
        return np.asarray(self.alpha * self.tables / (self.tables.sum() + self.gamma))


class HdpSampler(Sampler):
    """The family's part of the loop; ``topoi.engine.gibbs.Sampler`` says what each method is for.

    Examples
    --------
    >>> import numpy as np, topoi
    >>> from topoi.models.hdp.sampler import Concentration, HdpSampler
    >>> corpus = topoi.Corpus.from_tokens([["a", "b"], ["c"]])
    >>> sampler = HdpSampler(corpus, 2, 10, Concentration(1.0), Concentration(1.0), np.full(3, 0.1))
    >>> chain = sampler.start(0, 0)
    >>> int(chain.counts.topic.sum()), chain.priors.n_topics <= 2
    (3, True)
    """

    # Arrays of a sample, one number per token each.
    sampled = ("topic",)

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        max_topics: int,
        alpha: Concentration,
        gamma: Concentration,
        beta: NDArray[np.float64],
        guidance: Guidance | None = None,
    ):
        self._word_type = word_count_type(corpus)
        self._corpus, self.named = corpus, NamedTopics(guidance, beta.astype(np.float32))
        if guidance is not None:
            guidance.check_type(self._word_type)
            # One topic without a name at least: a word may be banned from all that have one.
            n_topics = max(n_topics, self.named.number + 1)
        if n_topics > max_topics:
            raise ModelError(f"seeds and labels name {self.named.number} topics; raise max_topics above {max_topics}")
        self.n_tokens, self.n_words, self.n_docs = corpus.n_tokens, corpus.n_words, corpus.n_docs
        self.n_start, self.max_topics, self.alpha, self.gamma = n_topics, max_topics, alpha, gamma
        narrow = beta.astype(np.float32)
        tokens = np.ascontiguousarray(corpus.tokens, np.int32)
        self.words = Words(
            tokens, corpus.doc_start.astype(np.int64), narrow, math.fsum(narrow.tolist()), *self.named.limits()
        )
        self.lengths = np.diff(self.words.doc_start)

    def start(self, seed: int, index: int) -> Chain:
        """A chain whose tokens have topics at random, from the streams (seed, chain, sweep 0)."""
        topic = np.zeros(self.n_tokens, np.uint16)
        kernels.start(topic, self.n_start, new_stream(seed, index, 0, 0))
        told = self.named.guidance(self.n_start)
        if told is not None:
            topic = told.started(self._corpus, topic, (seed, index, 0), 0, self.n_docs)
        alpha, gamma = self.alpha.start, self.gamma.start
        even = np.full(self.n_start + 1, alpha / (self.n_start + 1), np.float32)
        tables = np.ones(self.n_start, np.int64)
        chain = self._new_chain(index, topic, Weights(alpha, gamma, self.n_start, even, tables, np.zeros((0, 3))))
        self.settle(chain)
        self.draw(chain, new_stream(seed, index, 0, _STREAM))
        return chain

    def _new_chain(self, index: int, topic: NDArray[np.uint16], weights: Weights) -> Chain:
        """A chain of the given topics, counted."""
        none = TopicCounts(np.zeros((self.n_words, 0), self._word_type), np.zeros(0))
        chain = Chain(index, none, weights, [topic])
        self.widen(chain)
        kernels.count(self.words.tokens, topic, chain.counts)
        return chain

    def widen(self, chain: Chain, least: int = 32) -> None:
        """Give the counts room for as many new topics as there are topics, ``least`` columns or more."""
        old, weights, n_topics = chain.counts, chain.priors.weights, chain.priors.n_topics
        width = padded(max(2 * n_topics, least))
        word_topic, topic = np.zeros((self.n_words, width), self._word_type), np.zeros(width)
        word_topic[:, : old.word_topic.shape[1]], topic[: len(old.topic)] = old
        self.named.add_phantoms(word_topic, topic, len(old.topic))
        wide = np.zeros(width + 1, np.float32)
        wide[: n_topics + 1] = weights[: n_topics + 1]
        chain.counts, chain.priors = TopicCounts(word_topic, topic), chain.priors._replace(weights=wide)

    def sample(self, chain: Chain, shard: int, counts: Any, stream: NDArray[np.uint64]) -> None:
        """Draw every token's topic once. The counts are the chain's own: there is one shard."""
        d, i = 0, 0
        while d < self.n_docs:
            priors = chain.priors
            how = priors.weights, priors.n_topics, self.max_topics, priors.gamma
            d, i, n_topics = kernels.sweep(self.words, chain.shards[0], chain.counts, *how, d, i, stream)
            chain.priors = priors._replace(n_topics=n_topics)
            if d < self.n_docs:
                self.widen(chain)

    def learn(self, chain: Chain, sweep: int) -> None:
        """Number the topics by size, and draw tables, concentrations and shares."""
        self.settle(chain)
        self.draw(chain, new_stream(chain.seed, chain.index, sweep, _STREAM))
        now = np.array([[chain.priors.n_topics, chain.priors.alpha, chain.priors.gamma]])
        chain.priors = chain.priors._replace(history=np.concatenate([chain.priors.history, now]))

    def settle(self, chain: Chain) -> None:
        """Forget topics without tokens, and number the others by size; of equal ones the older comes first.

        Named topics stay the first, in their order, with or without tokens. A token of an earlier sample whose topic is
        gone takes its present topic.
        """
        priors, counts, topic = chain.priors, chain.counts, chain.shards[0]
        whole, n_named = counts.topic[: priors.n_topics].copy(), self.named.number
        sizes = (whole - self.named.totals(priors.n_topics))[n_named:]
        order = np.argsort(-sizes, kind="stable")[: int((sizes > 0).sum())] + n_named
        order = np.concatenate([np.arange(n_named), order])
        if not np.array_equal(order, np.arange(priors.n_topics)):
            place = np.full(self.max_topics, -1, np.int64)
            place[order] = np.arange(len(order))
            kernels.reorder(counts, order, priors.n_topics)
            kernels.renumber(topic, place)
            counts.topic[: priors.n_topics] = 0
            self.named.add_phantoms(counts.word_topic, counts.topic, len(order), priors.n_topics)
            counts.topic[: len(order)] = whole[order]
            weights = np.zeros_like(priors.weights)
            weights[: len(order)] = priors.weights[order]
            chain.priors = priors._replace(n_topics=len(order), weights=weights, tables=np.ones(len(order), np.int64))
            # New arrays, not the same ones: what an interrupted fit returns to may refer to these.
            chain.samples = {s: _renumbered(sample, place, topic) for s, sample in chain.samples.items()}
        if len(order) + 1 > len(counts.topic):
            self.widen(chain)

    def draw(self, chain: Chain, stream: NDArray[np.uint64]) -> None:
        """Draw tables, gamma, alpha and the shares of topics given every token's topic (equations 2 to 5)."""
        priors = chain.priors
        n_topics, alpha, gamma = priors.n_topics, priors.alpha, priors.gamma
        tables = kernels.draw_tables(self.words.doc_start, chain.shards[0], priors.weights, n_topics, stream)
        n_tables, n_named = int(tables.sum()), self.named.number
        tables[:n_named] += 1
        if self.gamma.prior is not None and n_named:
            sizes = n_named, n_topics - n_named, n_tables
            gamma = kernels.draw_gamma_named(gamma, *sizes, *self.gamma.prior, stream)
        elif self.gamma.prior is not None:
            gamma = kernels.draw_gamma(gamma, n_topics, n_tables, *self.gamma.prior, stream)
        if self.alpha.prior is not None:
            alpha = kernels.draw_alpha(alpha, self.lengths, n_tables, *self.alpha.prior, stream)
        weights = np.zeros_like(priors.weights)
        weights[: n_topics + 1] = alpha * kernels.draw_shares(tables, gamma, stream)
        chain.priors = priors._replace(alpha=alpha, gamma=gamma, weights=weights, tables=tables)

    def log_joint(self, chain: Chain) -> float:
        """log P(words, topics | alpha, b, beta): documents' and topics' distributions integrated out."""
        counts, priors, words = chain.counts, chain.priors, self.words
        totals = np.ascontiguousarray(counts.topic[: priors.n_topics])
        by_topics = log_probability_columns(counts.word_topic, totals, words.beta, words.beta_sum)
        told = self.named.guidance(priors.n_topics)
        if told is not None:
            by_topics -= told.phantoms.log_constant(words.beta, words.beta_sum)
        how = words.doc_start, chain.shards[0], priors.weights, priors.n_topics, priors.alpha
        return float(by_topics + kernels.log_documents(*how))

    def to_arrays(self, chain: Chain) -> dict[str, NDArray[Any]]:
        """Every token's topic, and what is known of the topics' prior."""
        priors, told = chain.priors, self.named.guidance(chain.priors.n_topics)
        return ({} if told is None else {"phantoms": told.phantoms.to_array()}) | {
            "topic": chain.shards[0].copy(),
            "beta": self.words.beta.astype(np.float64),
            "weights": priors.weights[: priors.n_topics + 1].copy(),
            "tables": priors.tables,
            "concentrations": np.array([priors.alpha, priors.gamma]),
            "history": priors.history,
        }

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> Chain:
        """The chain of such arrays, recounted; they come from a file, and kernels check nothing."""
        topic, tables, history = (arrays[name] for name in ("topic", "tables", "history"))
        weights, pair = arrays["weights"], arrays["concentrations"]
        n_topics = len(tables)
        if topic.dtype != np.uint16 or topic.shape != (self.n_tokens,) or int(topic.max(initial=0)) >= n_topics:
            raise ModelError("the saved topics of words do not fit this corpus")
        if not np.array_equal(arrays["beta"], self.words.beta.astype(np.float64)):
            raise ModelError("the saved beta is not that of the settings")
        whole = tables.dtype == np.int64 and tables.ndim == 1 and bool((tables > 0).all())
        whole = whole and n_topics >= self.named.number
        if not (whole and n_topics <= self.max_topics and history.dtype == np.float64 and history.shape[1:] == (3,)):
            raise ModelError("the saved tables of topics do not fit the settings")
        known = weights.dtype == np.float32 and fits_kernels(weights[:-1], n_topics) and 0 <= weights[-1] < np.inf
        if not (known and fits_kernels(pair, 2)):
            raise ModelError("the saved weights of topics are not all positive and finite")
        priors = Weights(float(pair[0]), float(pair[1]), n_topics, weights, tables.copy(), history.copy())
        chain = self._new_chain(index, self.named.repaired(self._corpus, topic.copy(), n_topics, index), priors)
        chain.trace = [(int(sweep), float(value)) for sweep, value in trace]
        return chain

    def snapshot(self, chain: Chain) -> Sample:
        """Every token's topic, two bytes each: later there may be many topics."""
        return {"topic": chain.shards[0].copy()}

    def check_sample(self, sample: Sample) -> None:
        """Refuse a sample of a file that names a topic there cannot be."""
        if int(sample["topic"].max(initial=0)) >= self.max_topics:
            raise ModelError("the saved samples name a topic that is not there")

    def notes(self, chains: list[Chain]) -> dict[str, Any]:
        """Number of topics and concentrations of the chains, and whether one had as many topics as it may."""
        most = max((int(chain.priors.history[:, 0].max(initial=0)) for chain in chains), default=0)
        return {
            "n_topics": [chain.priors.n_topics for chain in chains],
            "alpha": [chain.priors.alpha for chain in chains],
            "gamma": [chain.priors.gamma for chain in chains],
            "max_topics_reached": most >= self.max_topics,
        }


def _renumbered(sample: Sample, place: NDArray[np.int64], topic: NDArray[np.uint16]) -> Sample:
    found = np.empty(len(topic), np.uint16)
    kernels.renumbered(np.ascontiguousarray(sample["topic"], np.uint16), place, topic, found)
    return {"topic": found}
