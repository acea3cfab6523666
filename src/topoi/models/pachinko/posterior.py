"""One chain's last sample as a frozen result: probabilities, and predictions for new documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.loop import Chain
from topoi.kernels.counts import Documents
from topoi.kernels.folding import SamplingPlan, Scored
from topoi.models.pachinko import likelihood
from topoi.models.pachinko.graph import slot_nodes
from topoi.models.pachinko.inference import document_nodes, document_shares, fold_in
from topoi.models.pachinko.plain import Paths
from topoi.models.pachinko.state import PachinkoSampler, chain_alpha
from topoi.models.ranges import document_range
from topoi.models.simulation import dirichlet_rows
from topoi.models.topic_counts import TopicCounts


class PachinkoPosterior(TopicCounts):
    """Paths and counts of one chain's last sample, and the point estimates they give.

    The same questions about topics and documents can be asked of it as of the author-topic family's ``Posterior``.
    """

    def __init__(self, chain: Chain, sampler: PachinkoSampler):
        self.index = chain.index
        self.counts = chain.counts
        self.priors = chain.priors
        self.trace = list(chain.trace)
        self.assignments = sampler.whole(chain)
        self.graph = sampler.graph
        self.n_super = sampler.n_super
        self.edge_alpha = chain_alpha(chain)
        self._documents = sampler.documents
        self._doc_start = sampler.documents.doc_start

    @cached_property
    def alpha(self) -> NDArray[np.float64]:
        """For each topic its share before any token is seen, times the sum of the root's parameters.

        A Dirichlet with these parameters has the topics' prior means and about the root's spread: questions that
        smooth a document's counts by a prior per topic use it.
        """
        nothing = Documents(
            np.zeros(0, np.int32), np.zeros(2, np.int64), np.zeros(1, np.int32), np.arange(2), np.ones(1, np.float32)
        )
        share = np.zeros((1, self.n_topics))
        document_shares(nothing, self.assignments, self.priors, self.graph, 0, 1, share)
        return np.asarray(share[0] * max(float(np.asarray(self.priors.alpha_sum)[0]), 1e-30))

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Each document's mixture of topics: posterior means multiplied along all paths; rows sum to one."""
        return self.doc_topic_range(0, len(self._documents.doc_start) - 1)

    def document_shares(self, document: int) -> NDArray[np.float64]:
        """The topics' shares of one training document: posterior means summed over paths."""
        return self.doc_topic_range(document, document + 1)[0]

    def topic_shares(self, topic: int) -> NDArray[np.float64]:
        """A topic's share of every training document."""
        return self.doc_topic[:, topic]

    def doc_topic_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Rows ``first`` to ``last`` of ``doc_topic``."""
        shares = np.zeros((last - first, self.n_topics))
        document_shares(self._documents, self.assignments, self.priors, self.graph, first, last, shares)
        return shares

    def doc_node_range(self, first: int, last: int) -> NDArray[np.float64]:
        """For documents ``first`` to ``last`` the posterior mean probability of passing through each node."""
        tokens = slice(self._doc_start[first], self._doc_start[last])
        paths = Paths(self.assignments.topic[tokens], self.assignments.path[tokens])
        shares = np.zeros((last - first, len(self.graph.n_paths)))
        document_nodes(document_range(self._documents, first, last), paths, self.priors, self.graph, shares)
        return shares

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """Every node's mixture of its children from its Dirichlet, multiplied along all paths to the topics."""
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
                # From here on the node stands for the words drawn at it: its children have their parts.
                reach[:, u] = shares[:, -1]
        return reach[:, graph.topic_node]

    def _fold_in(self, part: Documents, wanted: Scored, plan: SamplingPlan, *outputs: Any) -> None:
        fold_in(part, wanted, self.counts, self.priors, self.graph, self.n_super, plan, *outputs)

    def _log_likelihood(self, part: Documents, *how: Any) -> None:
        likelihood.log_likelihood(part, self.counts, self.priors, self.graph, self.n_super, *how)
