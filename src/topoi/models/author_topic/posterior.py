"""One chain's last sample as a frozen result: probabilities, and predictions for new documents."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.kernels.counts import Assignments, Documents
from topoi.kernels.folding import Labels, SamplingPlan, Scored, label_room
from topoi.models.author_topic import likelihood
from topoi.models.author_topic.inference import fold_in
from topoi.models.mixtures import Mixtures
from topoi.models.ranges import document_range, for_documents
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

    def sample_documents(
        self,
        documents: Documents,
        plan: SamplingPlan,
        scored: Scored | None = None,
        labels: bool = False,
        n_jobs: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Labels]:
        """Sample new documents (see ``inference.fold_in``): topic shares, scores, labels."""
        n_docs = len(documents.doc_start) - 1
        scored = scored or Scored(np.zeros(0, np.int32), np.zeros(n_docs + 1, np.int64))
        doc_topic = np.zeros((n_docs, self.n_topics))
        scores = np.zeros(len(scored.tokens))
        room = label_room(documents, self.n_topics, labels)

        def run(first: int, last: int) -> None:
            part = document_range(documents, first, last)
            here = slice(documents.doc_start[first], documents.doc_start[last])
            there = slice(scored.start[first], scored.start[last])
            wanted = Scored(scored.tokens[there], scored.start[first : last + 1] - scored.start[first])
            mine = Labels(room.topic[here], room.slot[here]) if labels else room
            fold_in(part, wanted, self.counts, self.priors, plan, doc_topic[first:last], scores[there], mine)

        for_documents(run, documents, n_jobs)
        return doc_topic, scores, room

    def log_likelihood(
        self, documents: Documents, seed: int, n_particles: int, n_moves: int, n_jobs: int = 1
    ) -> NDArray[np.float64]:
        """Log probability of each document (see ``likelihood.log_likelihood``)."""
        result = np.zeros(len(documents.doc_start) - 1)

        def run(first: int, last: int) -> None:
            part = document_range(documents, first, last)
            likelihood.log_likelihood(
                part, self.counts, self.priors, n_particles, n_moves, seed, self.index, result[first:last]
            )

        for_documents(run, documents, n_jobs)
        return result
