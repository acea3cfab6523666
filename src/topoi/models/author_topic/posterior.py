"""Frozen result of one chain's samples: probabilities, and predictions for new documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.kernels.counts import Counts, Documents
from topoi.kernels.folding import SamplingPlan, Scored
from topoi.kernels.word_lists import SparseCounts
from topoi.models.author_topic import likelihood
from topoi.models.author_topic.inference import fold_in
from topoi.models.author_topic.state import AuthorTopicSampler
from topoi.models.averages import Averaged, average
from topoi.models.mixtures import Mixtures
from topoi.models.simulation import dirichlet_rows
from topoi.models.topic_counts import TopicCounts


class Posterior(TopicCounts):
    """Mean counts of one chain's samples, and the point estimates they give (AT09, equations 6 and 7)."""

    averaged: Averaged

    def __init__(self, chain: Chain, sampler: AuthorTopicSampler, doc_start: NDArray[np.int64]):
        self.index = chain.index
        self.priors = chain.priors
        self.trace = list(chain.trace)
        self.assignments = sampler.whole(chain)[1]
        last = {name: getattr(self.assignments, name) for name in sampler.sampled}
        self.averaged = average(chain, last, sampler.n_topics)
        self._chain, self._sampler = chain, sampler
        self._doc_start = doc_start

    @cached_property
    def counts(self) -> Counts | SparseCounts:  # type: ignore[override]
        """Means of the samples' counts."""
        return self._sampler.mean_counts(self._chain, self.averaged)

    def _counts_without_zeros(self) -> SparseCounts | None:
        return self._sampler.mean_lists(self.averaged) if self._sampler.lists.all_private else None

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self._sampler.n_topics

    @property
    def alpha(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each topic."""
        return np.asarray(self.priors.alpha[: self.n_topics], np.float64)

    @property
    def alpha_sum(self) -> float:
        """Sum of alpha."""
        return float(self.priors.alpha_sum)

    @cached_property
    def authors(self) -> Mixtures:
        """Sparse topic counts of the authors."""
        return Mixtures.from_counts(self.counts.author_topic[:-1, : self.n_topics], self.alpha, self.n_samples)

    @cached_property
    def author_topic(self) -> NDArray[np.float64]:
        """P(topic | author): authors × topics, rows sum to one; authors without tokens have the prior's mean."""
        counts = self.authors.counts(np.arange(len(self.authors))) + self.alpha
        return np.asarray(counts / (self.authors.totals[:, None] + self.priors.alpha_sum))

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic shares of each document's own words, smoothed by alpha: documents × topics, rows sum to one."""
        lengths = np.diff(self._doc_start)
        counts = self.documents.counts(np.arange(len(lengths))) + self.alpha
        return np.asarray(counts / (lengths[:, None] + self.priors.alpha_sum))

    def is_integrated(self, documents: Documents) -> NDArray[np.bool_]:
        """Whether a document has a private author, whose mixture is unknown."""
        private = len(self.counts.author) - 1
        upto = np.concatenate(([0], np.cumsum(documents.author == private)))
        return np.asarray(upto[documents.author_start[1:]] > upto[documents.author_start[:-1]])

    def prior_groups(self, documents: Documents) -> NDArray[np.int64]:
        """Group numbers: documents with the same authors, equally weighted, have the same prior."""
        number: dict[bytes, int] = {}
        groups = np.zeros(len(documents.doc_start) - 1, np.int64)
        for d in range(len(groups)):
            authors = slice(documents.author_start[d], documents.author_start[d + 1])
            key = documents.author[authors].tobytes() + documents.author_weight[authors].tobytes()
            groups[d] = number.setdefault(key, len(number))
        return groups

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures of authors from Dir(counts + alpha), of a private author from Dir(alpha), averaged by weight."""
        authors = slice(documents.author_start[d], documents.author_start[d + 1])
        weights = documents.author_weight[authors].astype(np.float64)
        mixtures = np.zeros((n, self.n_topics))
        for a, weight in zip(documents.author[authors].tolist(), weights / weights.sum(), strict=True):
            known = a < len(self.counts.author) - 1
            counts = self.counts.author_topic[a, : self.n_topics] if known else 0.0
            mixtures += weight * dirichlet_rows(np.random.default_rng((*name, a)), counts + self.alpha, n)
        return mixtures

    def _fold_in(self, part: Documents, wanted: Scored, plan: SamplingPlan, *outputs: Any) -> None:
        fold_in(part, wanted, self.counts, self.priors, plan, *outputs)

    def _log_likelihood(self, part: Documents, *how: Any) -> None:
        likelihood.log_likelihood(part, self.counts, self.priors, *how)
