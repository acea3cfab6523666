"""Frozen result of one chain's samples: probabilities, and predictions for new documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import BLOCK, row_blocks
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.folding import FilterPlan, Labels, SamplingPlan, Scored
from topoi.kernels.lanes import padded
from topoi.models.averages import average
from topoi.models.contract import CountSource, StoredSource
from topoi.models.graph import Graph, four_level_widths, make_graph, passing, slot_nodes, slot_sizes
from topoi.models.guidance.documents import limits_documents
from topoi.models.pachinko import likelihood
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.inference import (
    document_nodes,
    document_topics,
    fold_in,
    limited_nodes,
    limited_topics,
    sample_document,
    start_document,
)
from topoi.models.pachinko.limits import TopicLimits
from topoi.models.pachinko.node_moments import GraphDeviations, graph_deviations, squared_shares
from topoi.models.pachinko.state import PachinkoChain, PachinkoSampler, chain_alpha, make_priors
from topoi.models.resampling import Block, Draw, Draws
from topoi.models.sampled_posterior import SampledPosterior
from topoi.models.share_moments import Moments, between_samples
from topoi.models.simulation import dirichlet_rows
from topoi.models.smoothed_counts import blocks
from topoi.models.sources import ArraySource, TrainingDocument


class Structure(NamedTuple):
    """The graph of a posterior.

    ``n_super`` is the number of super-topics of the four-level model, which has kernels of its own, and 0 for other
    graphs; ``edge_alpha`` is the Dirichlet parameter of each edge.
    """

    graph: Graph
    n_super: int
    edge_alpha: NDArray[np.float64]
    priors: Priors


class PachinkoPosterior(SampledPosterior[Paths]):
    """Paths and mean counts of one chain's samples, and the point estimates they give.

    Parameters
    ----------
    source : CountSource
        As in ``Posterior``.
    structure : Structure or callable
        The graph and its parameters, or a function that reads them when they are needed.
    """

    mixtures_are_counts = False
    _stored: StoredSource | None = None
    # Whether a store has the topics that its documents may have.
    _has_sets = False

    def __init__(self, source: CountSource, structure: Structure | Callable[[], Structure]) -> None:
        super().__init__(source)
        self._given = structure

    @classmethod
    def from_chain(cls, chain: PachinkoChain, sampler: PachinkoSampler, corpus: Corpus) -> Self:
        """Freeze a chain."""
        paths, graph, priors = sampler.whole(chain), sampler.graph, chain.priors
        averaged = average(chain, paths._asdict(), sampler.n_topics, sampler.scratch)
        source = ArraySource(
            corpus,
            chain.index,
            sampler.n_topics,
            paths,
            partial(sampler.mean_counts, chain, averaged),
            priors,
            partial(prior_weights, graph, priors, sampler.n_topics),
            averaged,
            phantoms=None if sampler.guidance is None else sampler.guidance.phantoms,
        )
        found = cls(source, Structure(graph, sampler.n_super, chain_alpha(chain), priors))
        found.guidance = sampler.guidance
        found.trace = list(chain.trace)
        return found

    @classmethod
    def from_source(cls, source: StoredSource, settings: dict[str, Any]) -> Self:
        """The posterior of a model in a store."""
        found = cls(source, partial(_stored_structure, source))
        found._stored, found._has_sets = source, limits_documents(settings)
        return found

    @property
    def can_sample(self) -> bool:
        """Whether the graph is there; a damaged file may lack it."""
        return self._stored is None or self._stored.has_graph

    @cached_property
    def _structure(self) -> Structure:
        return self._given if isinstance(self._given, Structure) else self._given()

    @cached_property
    def limits(self) -> TopicLimits | None:
        """Topics that the training documents may have; None if all may have all."""
        if self._stored is None:
            found = TopicLimits.from_guidance(self.graph, self.guidance)
        elif self._has_sets:
            found = TopicLimits.from_source(self._stored, self.graph, len(self._doc_start) - 1)
        else:
            return None
        return None if found is None else found.if_any

    @property
    def graph(self) -> Graph:
        """The graph as kernels read it."""
        return self._structure.graph

    @property
    def n_super(self) -> int:
        """Number of super-topics of the four-level model; 0 for other graphs."""
        return self._structure.n_super

    @property
    def edge_alpha(self) -> NDArray[np.float64]:
        """Dirichlet parameter of each edge."""
        return self._structure.edge_alpha

    @property
    def priors(self) -> Priors:  # type: ignore[override]
        """Parameters as kernels read them."""
        return self._structure.priors

    @cached_property
    def doc_topic(self) -> NDArray[np.float64]:
        """Topic mixture of each document: posterior means multiplied along all paths; rows sum to one."""
        return self.doc_topic_range(0, len(self._doc_start) - 1)

    def document_shares(self, document: int) -> NDArray[np.float64]:
        """Topic shares of one training document: posterior means summed over paths."""
        return self.doc_topic_range(document, document + 1)[0]

    def document_moments(self, document: int) -> Moments:
        """Mixture of a training document, with deviations: exact ones, given the paths of its words in a sample."""
        return self._moments(document, document_topics, self.n_topics)

    def document_node_moments(self, document: int) -> Moments:
        """Probabilities that a word of a training document passes through each node, with deviations."""
        return self._moments(document, document_nodes, len(self.graph.n_paths))

    def _moments(self, document: int, shares_of: Callable[..., None], n: int) -> Moments:
        part = _wordless(self._doc_start[document : document + 2] - self._doc_start[document])
        shares, samples = np.zeros((self.n_samples, 1, n)), list(self.paths(document, document + 1))
        priors = self._priors_of(document, self.priors)
        for share, paths in zip(shares, samples, strict=True):
            shares_of(part, paths, priors, self.graph, share)
        alpha = np.where(np.asarray(priors.alpha) > 0, self.edge_alpha, 0.0)
        weights = np.stack([np.asarray(alpha + slot_sizes(self.graph, *paths), np.float64) for paths in samples])
        squares = squared_shares(self.graph, weights)
        square = squares.drawn[:, self.graph.topic_node] if shares_of is document_topics else squares.through
        within = np.maximum(square - shares[:, 0] ** 2, 0.0).mean(axis=0)
        return Moments(shares[:, 0].mean(axis=0), np.sqrt(within + between_samples(shares[:, 0]) ** 2))

    def topic_shares(self, topic: int) -> NDArray[np.float64]:
        """Share of a topic in every training document; reads the paths of all words."""
        share = np.empty(len(self._doc_start) - 1)
        for part in blocks(len(share)):
            share[part] = self.doc_topic_range(part.start, part.stop)[:, topic]
        return share

    def shares_of(self, doc: NDArray[Any], topic: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        """Share of a topic in a document: posterior means summed over paths."""
        return shares_in_blocks(self.doc_topic_range, doc, topic)

    def doc_topic_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Rows ``first`` to ``last`` of ``doc_topic``."""
        return self._mean_shares(document_topics, first, last, self.n_topics)

    def mixture_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Rows of ``doc_topic``, made without the others."""
        return self.doc_topic_range(first, last)

    def doc_node_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Posterior mean probabilities of passing through each node, for documents ``first`` to ``last``."""
        return self._mean_shares(document_nodes, first, last, len(self.graph.n_paths))

    def _mean_shares(self, shares_of: Callable[..., None], first: int, last: int, n: int) -> NDArray[np.float64]:
        """Mean over the samples of documents' shares."""
        part = _wordless(self._doc_start[first : last + 1] - self._doc_start[first])
        total, shares = np.zeros((last - first, n)), np.zeros((last - first, n))
        how: tuple[Any, ...] = self.priors, self.graph
        if self.limits is not None:
            shares_of = limited_topics if shares_of is document_topics else limited_nodes
            how = *how, self.limits.some(slice(first, last)).of(self.priors)
        for paths in self.paths(first, last):
            shares_of(part, paths, *how, shares)
            total += shares
        return total / self.n_samples

    def paths(self, first: int, last: int) -> Iterator[Paths]:
        """Paths of the words of some documents in all samples."""
        for sample in self.source.samples(first, last):
            yield Paths(sample["topic"].astype(np.uint16), sample["path"].astype(np.uint32))

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

    @cached_property
    def inner_nodes(self) -> NDArray[np.int64]:
        """Nodes with children, the root left out."""
        parents = np.unique(self.graph.in_parent)
        return parents[parents > 0]

    @cached_property
    def graph_deviations(self) -> GraphDeviations:
        """Deviations of super-topics' shares of all words, and of their parts of their children's words."""
        return graph_deviations(self.graph, self._path_blocks(), self.n_samples)

    @property
    def node_totals(self) -> NDArray[np.float64]:
        """Number of tokens through each node: means over the samples."""
        parent = np.repeat(np.arange(len(self.graph.n_paths)), np.diff(self.graph.slot_start))
        through = np.asarray(np.bincount(parent, self.slot_sizes, len(self.graph.n_paths)), np.float64)
        return self._with_topics(through, self.topic_totals)

    def node_deviations(self) -> NDArray[np.float64]:
        """Standard deviations of nodes' shares of all words; leaves have those of their topics."""
        sizes = self.size_moments.deviation
        assert sizes is not None  # known of all sampled models
        return self._with_topics(self.graph_deviations.node, sizes)

    def _with_topics(self, values: NDArray[np.float64], topics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of nodes with children, joined with those of topics for the leaves."""
        is_leaf, joined = np.diff(self.graph.slot_start)[self.graph.topic_node] == 0, values.copy()
        joined[self.graph.topic_node[is_leaf]] = topics[is_leaf]
        return joined

    def _path_blocks(self) -> Iterator[tuple[NDArray[np.int64], list[Paths]]]:
        for part in row_blocks(self._doc_start, BLOCK // self.n_samples):
            own = self._doc_start[part.start : part.stop + 1]
            yield np.diff(own), list(self.paths(part.start, part.stop))

    def node_draws(self) -> Draws:
        """Words of the training documents through each inner node in every sample."""
        return Draws(self.n_samples, len(self.inner_nodes), self._node_blocks)

    def _node_blocks(self) -> Iterator[Block]:
        for part in row_blocks(self._doc_start, BLOCK // self.n_samples):
            n_docs = part.stop - part.start
            doc = np.repeat(np.arange(n_docs), np.diff(self._doc_start[part.start : part.stop + 1]))
            draws = []
            for paths in self.paths(part.start, part.stop):
                d, node, number = passing(self.graph, doc, *paths)
                column = np.searchsorted(self.inner_nodes, node)
                draws.append(Draw(np.searchsorted(d, np.arange(n_docs + 1)), column, number))
            yield Block(part.start, draws)

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

    def _fold_in(
        self,
        part: Documents,
        wanted: Scored,
        plan: SamplingPlan,
        doc_topic: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        fold_in(
            part, wanted, self.kernel_counts, self.priors, self.graph, self.n_super, plan, doc_topic, scores, labels
        )

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: NDArray[np.float64]) -> None:
        likelihood.log_likelihood(
            part,
            self.kernel_counts,
            self.priors,
            self.graph,
            self.n_super,
            plan.n_particles,
            plan.n_moves,
            plan.seed,
            plan.chain,
            result,
            plan.resample_below,
            plan.weighted,
        )

    # One document, from the counts of its words alone.

    def _priors_of(self, document: int, priors: Priors) -> Priors:
        return priors if self.limits is None else self.limits.priors_of(priors, document)

    def _has_private(self, authors: NDArray[np.int64]) -> bool:
        return True

    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> Paths:
        n = len(small.tokens)
        paths = Paths(np.zeros(n, np.uint16), np.zeros(n, np.uint32))
        start_document(small, self.graph, paths, rows, stream)
        return paths

    def _last_assignments(self, document: TrainingDocument) -> Paths:
        if document.paths is None:
            raise self.source.damaged("the paths of words are missing; load the model and save it again")
        return Paths(np.array(document.assignments.topic, np.uint16), np.array(document.paths, np.uint32))

    def _run(
        self,
        small: Documents,
        assignments: Paths,
        rows: Counts,
        priors: Priors,
        plan: SamplingPlan,
        stream: NDArray[np.uint64],
        shares: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        nothing = np.zeros(0, np.int64)
        sample_document(
            small,
            assignments,
            nothing,
            rows,
            priors,
            self.graph,
            self.n_super,
            plan,
            stream,
            shares,
            np.zeros(0),
            labels,
        )

    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Priors]:
        nobody = np.zeros((1, padded(self.n_topics)), np.float32)
        slots, weight = np.zeros(1, np.int32), np.ones(1, np.float32)
        small, counts, beta = self._local_rows(tokens, slots, weight, nobody, np.zeros(1))
        return small, counts, self.priors._replace(beta=beta)


def shares_in_blocks(
    of: Callable[[int, int], NDArray[np.float64]], doc: NDArray[Any], column: NDArray[Any]
) -> NDArray[np.float64]:
    """Shares of consecutive documents, in order, in blocks: all at once would be documents × columns."""
    share = np.empty(len(doc))
    first, last = (int(doc[0]), int(doc[-1]) + 1) if len(doc) else (0, 0)
    for part in blocks(last - first):
        begin, end = first + part.start, first + part.stop
        here = slice(*np.searchsorted(doc, [begin, end]))
        share[here] = of(begin, end)[doc[here] - begin, column[here]]
    return share


def _stored_structure(source: StoredSource) -> Structure:
    dag, alpha = source.graph()
    if not ((alpha > 0) & (alpha < np.finfo(np.float32).max)).all():
        raise source.damaged("the graph is damaged: alpha is above zero and finite")
    widths, graph = four_level_widths(dag), make_graph(dag)
    return Structure(graph, widths[0] if widths else 0, alpha, make_priors(graph, alpha, source.beta))


def prior_weights(graph: Graph, priors: Priors, n_topics: int) -> tuple[NDArray[np.float64], float]:
    """Prior share of each topic, before any token is seen, times the sum of the root's parameters; and their sum.

    A Dirichlet with these parameters has the topics' prior means and about the root's spread. It is used wherever a
    document's counts are smoothed by a prior per topic.
    """
    share = np.zeros((1, n_topics))
    nothing = Paths(np.zeros(0, np.uint16), np.zeros(0, np.uint32))
    document_topics(_wordless(np.zeros(2, np.int64)), nothing, priors, graph, share)
    weight = np.asarray(share[0] * max(float(np.asarray(priors.alpha_sum)[0]), 1e-30))
    return weight, float(weight.sum())


def _wordless(doc_start: NDArray[np.int64]) -> Documents:
    """Documents of which only the lengths matter."""
    n_docs = len(doc_start) - 1
    one = np.zeros(n_docs, np.int32), np.arange(n_docs + 1), np.ones(n_docs, np.float32)
    return Documents(np.zeros(0, np.int32), doc_start, *one)
