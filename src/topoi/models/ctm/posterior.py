"""The posterior after a fit: mean counts of a chain's samples, documents' mixtures, and new documents."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.gibbs import Chain
from topoi.errors import ModelError
from topoi.kernels.counts import Assignments, Documents
from topoi.kernels.folding import FilterPlan, Labels, SamplingPlan, Scored, content_key
from topoi.kernels.moments import Proportions, match_moments
from topoi.kernels.random import seed_stream
from topoi.models.averages import average, mean_counts
from topoi.models.ctm import inference, normal
from topoi.models.ctm.correlations import Correlations, mean_covariance, summarise
from topoi.models.ctm.kernels import Gaussian
from topoi.models.ctm.sampler import CorrelatedSampler, Shard, summed_sweeps
from topoi.models.posterior import Posterior
from topoi.models.share_moments import Moments, between_samples
from topoi.models.sources import ArraySource, TrainingDocument

Array = NDArray[np.float64]
# Names, in a file, of what a view reads: the best chain's normal distribution and its documents' mixtures.
# How far the sum of a document's shares is from one, by rounding alone at most.
_LATE = 1e-3
MEAN, COVARIANCE, SHARES = "point_mean", "point_covariance", "point_shares"


class CorrelatedPosterior(Posterior):
    """The posterior of one chain; its counts come from arrays after a fit, from rows in a store.

    Mean and covariance of eta are means over the chain's draws, documents' mixtures the mean of softmax(eta).

    Parameters
    ----------
    source, priors
        As in ``Posterior``.
    chain : Chain, optional
        The chain; a view has none and reads ``MEAN``, ``COVARIANCE`` and ``SHARES`` from its file.
    averages : bool
        Whether documents' mixtures are means over sweeps, or those of the last one.
    """

    mixtures_are_counts = False
    can_sample = True

    def __init__(self, source: Any, priors: Any = None, chain: Chain | None = None, averages: bool = True) -> None:
        super().__init__(source, priors)
        self._chain, self._averages = chain, averages

    @classmethod
    def from_chain(cls, chain: Chain, sampler: CorrelatedSampler, corpus: Corpus, averages: bool) -> Self:
        """Freeze a chain."""
        topic = sampler.topics(chain)
        averaged = average(chain, {"topic": topic}, sampler.n_topics)
        tokens = np.ascontiguousarray(corpus.tokens, np.int32)
        source = ArraySource(
            corpus,
            chain.index,
            sampler.n_topics,
            Assignments(topic, np.zeros(len(topic), np.uint16)),
            partial(mean_counts, tokens, averaged, sampler.n_words, sampler.n_topics),
            chain.priors,
            partial(nearest_dirichlet, chain.shards),
            averaged,
        )
        found = cls(source, chain.priors, chain, averages)
        found.trace = list(chain.trace)
        return found

    @classmethod
    def from_source(cls, source: Any, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        return cls(source)

    # Mean, covariance and correlations of eta.

    @cached_property
    def settled_since(self) -> NDArray[np.int64]:
        """For each topic the last averaged sweep at which it was another topic; 0 if there is none."""
        since, averaged = np.zeros(self.n_topics, np.int64), self.averaged
        for sweep, topics in zip(averaged.sweeps, averaged.changed, strict=True) if averaged else ():
            since[topics] = np.maximum(since[topics], sweep)
        return since

    @cached_property
    def covariance(self) -> Array:
        """Covariance of eta, topics × topics; rows sum to zero."""
        if self._chain is None:
            stored = self.source.array(COVARIANCE, (self.n_topics, self.n_topics))  # type: ignore[attr-defined]
            return normal.checked_covariance(np.asarray(stored, np.float64))
        priors = self._chain.priors
        return normal.centred(mean_covariance(priors.draws, priors.covariance, self.settled_since))

    @cached_property
    def mean(self) -> Array:
        """Mean of eta, which sums to zero: that of the chain in the end."""
        if self._chain is None:
            stored = self.source.array(MEAN, (self.n_topics,))  # type: ignore[attr-defined]
            return normal.checked_eta(np.asarray(stored, np.float64)[None])[0]
        return np.asarray(self._chain.priors.gaussian.mean)

    @cached_property
    def gaussian(self) -> Gaussian:
        """The distribution of new documents' eta, as kernels read it."""
        return normal.gaussian(self.mean, self.covariance)

    @cached_property
    def _root(self) -> Array:
        return normal.root(self.covariance)

    def correlations(self, level: float = 0.9) -> Correlations:
        """Correlations of the components of eta, and intervals that hold ``level`` of the draws."""
        if self._chain is None:
            raise ModelError("a model in a store has no draws of correlations in its rows; load it with topoi.load")
        priors = self._chain.priors
        return summarise(priors.draws, priors.covariance, self.settled_since, level)

    # Training documents.

    @cached_property
    def doc_topic(self) -> Array:
        """Mean of softmax(eta) over the sweeps of the second half, documents × topics.

        The share of a topic that was another one in some of those sweeps comes from the samples of tokens' topics,
        which can tell.
        """
        if self._chain is None:
            shape = len(self._doc_start) - 1, self.n_topics
            return np.asarray(self.source.array(SHARES, shape), np.float64)  # type: ignore[attr-defined]
        begin, _ = summed_sweeps(self._chain.sweep)
        if not self._averages or self._chain.sweep == 0:
            return shares_now(self._chain.shards)
        sums = np.concatenate([shard.state.shares.astype(np.float64) + shard.older for shard in self._chain.shards])
        shares = sums / (self._chain.sweep - begin)
        # Documents that came in later have sums over other numbers of sweeps.
        total = shares.sum(axis=1)
        late = np.abs(total - 1.0) > _LATE
        shares[late] /= total[late, None]
        changed = self.settled_since > begin
        if changed.any():
            shares[:, changed] = self.documents.shares(np.arange(len(shares)))[:, changed]
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def document_shares(self, document: int) -> Array:
        """Topic shares of one training document."""
        return np.asarray(self.doc_topic[document])

    def topic_shares(self, topic: int) -> Array:
        """Share of a topic in every training document."""
        return np.asarray(self.doc_topic[:, topic])

    def document_moments(self, document: int) -> Moments:
        """Mixture of a training document, with deviations by a Laplace approximation.

        Given the topics of its N words, with counts n, eta has the posterior precision Σ⁻¹ + N J about its mode, where
        J = diag(p) − p pᵀ is also the derivative of p = softmax(eta). To first order p then has the covariance J C J,
        with C the inverse of that precision, and other counts n + δ move it by J C δ, which gives what the samples of
        the words' topics leave open.
        """
        p, counts = self.document_shares(document), self._sample_counts(document, document + 1)[:, 0]
        slope = np.diag(p) - np.outer(p, p)
        precision_free = np.eye(self.n_topics) + self.covariance @ (counts[0].sum() * slope)
        moved = slope @ np.linalg.solve(precision_free, self.covariance)
        within = np.maximum(np.einsum("ij,ji->i", moved, slope), 0.0)
        between = between_samples((counts - counts.mean(axis=0)) @ moved.T)
        return Moments(p, np.sqrt(within + between**2))

    def shares_of(self, doc: NDArray[Any], topic: NDArray[Any], n: NDArray[Any]) -> Array:
        """Share of a topic in a document."""
        return np.asarray(self.doc_topic[doc, topic])

    # New documents.

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> Array:
        """Mixtures from the logistic normal distribution."""
        normals = np.random.default_rng(name).standard_normal((n, len(self._root)))
        return softmax(self.mean + normals @ self._root)

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
            mine = labels.topic[here] if len(labels.topic) else labels.topic
            self._sample(part.tokens[here], wanted.tokens[there], plan, doc_topic[d], scores[there], mine)
            if len(labels.topic):
                labels.slot[here, 0] = 1.0

    def _sample(
        self,
        tokens: NDArray[Any],
        wanted: NDArray[Any],
        plan: SamplingPlan,
        shares: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: NDArray[np.float64],
    ) -> None:
        how = plan.burn_in, plan.n_samples, plan.lag, _stream(tokens, plan.seed, plan.chain, 1)
        inference.fold_in(self._word_rows(tokens), self._word_rows(wanted), self.gaussian, *how, shares, scores, labels)

    def _word_rows(self, tokens: NDArray[Any]) -> NDArray[np.float64]:
        """P(word | topic) of some tokens, tokens × topics."""
        return np.ascontiguousarray(self.word_columns(np.asarray(tokens, np.int64)).T)

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: NDArray[np.float64]) -> None:
        how = plan.n_particles, plan.n_moves, plan.resample_below, plan.weighted
        for d in range(len(result)):
            tokens = part.tokens[part.doc_start[d] : part.doc_start[d + 1]]
            stream = _stream(tokens, plan.seed, plan.chain, 2)
            result[d] = inference.log_likelihood(self._word_rows(tokens), self.gaussian, self._root, *how, stream)

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> Array:
        """Topic shares of a new text."""
        shares = np.zeros(self.n_topics)
        self._sample(tokens, tokens[:0], plan, shares, np.zeros(0), np.zeros((0, self.n_topics)))
        return shares

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of topics for every token of a new text."""
        labels = Labels(np.zeros((len(tokens), self.n_topics)), np.ones((len(tokens), 1)))
        self._sample(tokens, tokens[:0], plan, np.zeros(self.n_topics), np.zeros(0), labels.topic)
        return labels

    def label_document(self, document: TrainingDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics for every token of a training document."""
        return self.label_text(document.tokens, document.authors, plan)


def softmax(eta: Array) -> Array:
    """Shares of topics, along the last axis."""
    powers = np.exp(eta - eta.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def shares_now(shards: list[Shard]) -> Array:
    """Softmax of every document's eta at present."""
    return np.concatenate([softmax(shard.state.eta) for shard in shards])


def nearest_dirichlet(shards: list[Shard]) -> tuple[Array, float]:
    """The Dirichlet whose mean and total variance are those of the documents' shares, and its sum."""
    shares = shares_now(shards)
    moments = Proportions(float(len(shares)), 0.0, shares.sum(axis=0), (shares**2).sum(axis=0))
    alpha = match_moments(moments, np.ones(shares.shape[1]))
    return alpha, float(alpha.sum())


def _stream(tokens: NDArray[Any], seed: int, chain: int, purpose: int) -> NDArray[np.uint64]:
    """Random stream of a document, named by its words: the same in a model and in a view of it."""
    nobody = np.zeros(0, np.int32), np.zeros(2, np.int64), np.zeros(0, np.float32)
    document = Documents(np.ascontiguousarray(tokens, np.int32), np.array([0, len(tokens)]), *nobody)
    stream = np.empty(2, np.uint64)
    seed_stream(stream, seed, chain, content_key(document, 0), purpose)
    return stream
