"""One chain's last sample as a frozen result: probabilities, and predictions for new documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.kernels.counts import Assignments, Documents
from topoi.kernels.folding import SamplingPlan, Scored
from topoi.models.author_topic import likelihood
from topoi.models.author_topic.inference import fold_in
from topoi.models.mixtures import Mixtures
from topoi.models.simulation import dirichlet_rows
from topoi.models.topic_counts import TopicCounts


class Posterior(TopicCounts):
    """Counts of one chain's last sample, and the point estimates they give (AT09, equations 6 and 7)."""

    def __init__(self, chain: Chain, assignments: Assignments, doc_start: NDArray[np.int64]):
        self.index = chain.index
        self.counts = chain.counts
        self.priors = chain.priors
        self.trace = list(chain.trace)
        self.assignments = assignments
        self._doc_start = doc_start

    @property
    def alpha(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each topic."""
        return np.asarray(self.priors.alpha[: self.n_topics], np.float64)

    @property
    def alpha_sum(self) -> float:
        """What alpha sums to."""
        return float(self.priors.alpha_sum)

    @cached_property
    def authors(self) -> Mixtures:
        """The authors' counts of topics, sparse."""
        return Mixtures.from_counts(self.counts.author_topic[:-1, : self.n_topics], self.alpha)

    @cached_property
    def author_topic(self) -> NDArray[np.float64]:
        """P(topic | author): authors × topics, rows sum to one; authors without tokens have the prior's mean."""
        counts = self.counts.author_topic[:-1, : self.n_topics].astype(np.float64) + self.alpha
        return counts / (self.counts.author[:-1, None] + self.priors.alpha_sum)

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Share of topics in each document's own words, smoothed by alpha: documents × topics, rows sum to one."""
        lengths = np.diff(self._doc_start)
        doc = np.repeat(np.arange(len(lengths)), lengths)
        cells = np.bincount(doc * self.n_topics + self.assignments.topic, minlength=len(lengths) * self.n_topics)
        counts = cells.reshape(len(lengths), self.n_topics).astype(np.float64) + self.alpha
        return counts / (lengths[:, None] + self.priors.alpha_sum)

    def is_integrated(self, documents: Documents) -> NDArray[np.bool_]:
        """Whether a document has a private author, whose mixture is unknown."""
        private = len(self.counts.author) - 1
        upto = np.concatenate(([0], np.cumsum(documents.author == private)))
        return np.asarray(upto[documents.author_start[1:]] > upto[documents.author_start[:-1]])

    def prior_groups(self, documents: Documents) -> NDArray[np.int64]:
        """Documents with the same authors, equally weighted, have the same prior."""
        number: dict[bytes, int] = {}
        groups = np.zeros(len(documents.doc_start) - 1, np.int64)
        for d in range(len(groups)):
            authors = slice(documents.author_start[d], documents.author_start[d + 1])
            key = documents.author[authors].tobytes() + documents.author_weight[authors].tobytes()
            groups[d] = number.setdefault(key, len(number))
        return groups

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Authors' mixtures from Dir(counts + alpha), a private author's from Dir(alpha), averaged by weight."""
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
