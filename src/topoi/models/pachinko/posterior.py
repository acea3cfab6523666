"""Frozen result of one chain's samples: probabilities, and predictions for new documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.kernels.counts import Counts, Documents
from topoi.kernels.folding import SamplingPlan, Scored
from topoi.kernels.word_lists import SparseCounts
from topoi.models.averages import Averaged, average
from topoi.models.pachinko import likelihood
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.graph import slot_nodes
from topoi.models.pachinko.inference import document_nodes, document_topics, fold_in
from topoi.models.pachinko.nodes import passing, slot_sizes
from topoi.models.pachinko.state import PachinkoSampler, chain_alpha
from topoi.models.ranges import document_range
from topoi.models.simulation import dirichlet_rows
from topoi.models.topic_counts import TopicCounts


class PachinkoPosterior(TopicCounts):
    """Paths and mean counts of one chain's samples, and the point estimates they give.

    It answers the same queries about topics and documents as the author-topic family's ``Posterior``.
    """

    def __init__(self, chain: Chain, sampler: PachinkoSampler):
        self.index = chain.index
        self.priors = chain.priors
        self.trace = list(chain.trace)
        self.assignments = sampler.whole(chain)
        self.averaged = average(chain, self.assignments._asdict(), sampler.n_topics)
        self._chain, self._sampler = chain, sampler
        self.graph = sampler.graph
        self.n_super = sampler.n_super
        self.edge_alpha = chain_alpha(chain)
        self._documents = sampler.documents
        self._doc_start = sampler.documents.doc_start

    averaged: Averaged

    @cached_property
    def counts(self) -> Counts | SparseCounts:  # type: ignore[override]
        """Means of the samples' counts."""
        return self._sampler.mean_counts(self._chain, self.averaged)

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self._sampler.n_topics

    @cached_property
    def alpha(self) -> NDArray[np.float64]:
        """Prior share of each topic, before any token is seen, times the sum of the root's parameters.

        A Dirichlet with these parameters has the topics' prior means and about the root's spread. It is used wherever a
        document's counts are smoothed by a prior per topic.
        """
        nothing = Documents(
            np.zeros(0, np.int32), np.zeros(2, np.int64), np.zeros(1, np.int32), np.arange(2), np.ones(1, np.float32)
        )
        share = np.zeros((1, self.n_topics))
        document_topics(nothing, self.assignments, self.priors, self.graph, share)
        return np.asarray(share[0] * max(float(np.asarray(self.priors.alpha_sum)[0]), 1e-30))

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic mixture of each document: posterior means multiplied along all paths; rows sum to one."""
        return self.doc_topic_range(0, len(self._documents.doc_start) - 1)

    def document_shares(self, document: int) -> NDArray[np.float64]:
        """Topic shares of one training document: posterior means summed over paths."""
        return self.doc_topic_range(document, document + 1)[0]

    def topic_shares(self, topic: int) -> NDArray[np.float64]:
        """Share of a topic in every training document."""
        return self.doc_topic[:, topic]

    def doc_topic_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Rows ``first`` to ``last`` of ``doc_topic``."""
        return self._mean_shares(document_topics, first, last, self.n_topics)

    def doc_node_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Posterior mean probabilities of passing through each node, for documents ``first`` to ``last``."""
        return self._mean_shares(document_nodes, first, last, len(self.graph.n_paths))

    def _mean_shares(self, shares_of: Any, first: int, last: int, n: int) -> NDArray[np.float64]:
        """Mean over the samples of documents' shares."""
        part = document_range(self._documents, first, last)
        total, shares = np.zeros((last - first, n)), np.zeros((last - first, n))
        for paths in self.paths(first, last):
            shares_of(part, paths, self.priors, self.graph, shares)
            total += shares
        return total / self.n_samples

    def paths(self, first: int, last: int) -> Iterator[Paths]:
        """Paths of the words of some documents in all samples."""
        tokens = slice(self._doc_start[first], self._doc_start[last])
        for sample in self.averaged.samples:
            yield Paths(sample["topic"][tokens].astype(np.uint16), sample["path"][tokens].astype(np.uint32))

    @cached_property
    def slot_sizes(self) -> NDArray[np.float64]:
        """Number of tokens that took each slot: means over the samples."""
        each = [slot_sizes(self.graph, *paths) for paths in self.paths(0, len(self._doc_start) - 1)]
        return np.asarray(sum(each) / self.n_samples)

    def passing(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Numbers of tokens of documents ``first`` to ``last`` through each node: documents, nodes, means."""
        doc = np.repeat(np.arange(first, last), np.diff(self._doc_start[first : last + 1]))
        each = [passing(self.graph, doc, *paths) for paths in self.paths(first, last)]
        d, node, number = (np.concatenate(parts) for parts in zip(*each, strict=True))
        keys, at = np.unique(d * len(self.graph.n_paths) + node, return_inverse=True)
        return *np.divmod(keys, len(self.graph.n_paths)), np.bincount(at, number, len(keys)) / self.n_samples

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Mixtures of each node's children drawn from its Dirichlet, multiplied along all paths to the topics."""
        rng = np.random.default_rng(name)
        graph, child = self.graph, slot_nodes(self.graph)
        reach = np.zeros((n, len(graph.n_paths)))
        reach[:, 0] = 1.0
        for u in range(len(graph.n_paths)):
            slots = np.arange(graph.slot_start[u], graph.slot_start[u + 1])
            if not len(slots):
                continue
            shares = reach[:, u, None] * dirichlet_rows(rng, self.edge_alpha[slots], n)
            below = child[slots] >= 0
            reach[:, child[slots[below]]] += shares[:, below]
            if not below.all():
                # From here on the node stands for the words drawn at it; its children have received their shares.
                reach[:, u] = shares[:, -1]
        return reach[:, graph.topic_node]

    def _fold_in(self, part: Documents, wanted: Scored, plan: SamplingPlan, *outputs: Any) -> None:
        fold_in(part, wanted, self.counts, self.priors, self.graph, self.n_super, plan, *outputs)

    def _log_likelihood(self, part: Documents, *how: Any) -> None:
        likelihood.log_likelihood(part, self.counts, self.priors, self.graph, self.n_super, *how)
