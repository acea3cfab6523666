"""Conversion of a corpus and a graph to the sampler's data (shards of documents, chains) and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.mapped import release
from topoi.corpus.pieces import occurrences, ranges
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import Chain, log_joints
from topoi.engine.samples import Sample, narrowest
from topoi.engine.shards import Shards, cut
from topoi.errors import ModelError
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.kernels.word_lists import SparseCounts, count_lists, empty_lists
from topoi.models.averages import Averaged, frozen, mean_counts, mean_lists
from topoi.models.dag import Dag
from topoi.models.graph import Graph, four_level_widths, make_graph, slot_children
from topoi.models.growing import widened_vector
from topoi.models.guidance.guidance import Guidance
from topoi.models.inputs import word_count_type
from topoi.models.pachinko import blocks, equations, row_blocks
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.learning import learn_alpha_from, statistics
from topoi.models.pachinko.limited_learning import learn_limited
from topoi.models.pachinko.limits import TopicLimits
from topoi.models.pachinko.work import PathWork
from topoi.models.ranges import document_range
from topoi.models.sparse import pruned, pruned_equations
from topoi.models.sparse.pruned import enter_documents
from topoi.models.sparse.scheme import SparseScheme, chosen_documents, shuffled
from topoi.models.validation import fits_kernels


def make_priors(graph: Graph, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> Priors:
    """Priors in the form that kernels read: alpha per slot and its sum per node.

    The sums are exactly rounded sums of the float32 values, so they are the same on every machine and after a save.
    """
    narrow, narrow_beta = alpha.astype(np.float32), beta.astype(np.float32)
    edges = zip(graph.slot_start[:-1], graph.slot_start[1:], strict=True)
    sums = np.array([math.fsum(narrow[first:last].tolist()) for first, last in edges])
    return Priors(narrow, sums, narrow_beta, math.fsum(narrow_beta.tolist()))  # type: ignore[arg-type]


def private_documents(corpus: Corpus) -> Documents:
    """A corpus in the form that kernels read; its authors are ignored."""
    n_docs = corpus.n_docs
    return Documents(
        np.ascontiguousarray(corpus.tokens, np.int32),
        corpus.doc_start.astype(np.int64),
        np.zeros(n_docs, np.int32),
        np.arange(n_docs + 1),
        np.ones(n_docs, np.float32),
    )


PachinkoChain: TypeAlias = Chain[Counts | SparseCounts, Priors, Paths]


class PachinkoSampler(SparseScheme[PachinkoChain]):
    """Sampler of the pachinko family for the engine's loop (see ``topoi.engine.gibbs.Sampler``).

    A chain's shards are ``Paths``. The four-level model has its own sweep; any other graph uses the general one.
    ``guidance`` adds phantom tokens to the counts, and may limit documents to some topics.
    """

    def __init__(
        self,
        corpus: Corpus,
        dag: Dag,
        alpha: NDArray[np.float64],
        beta: NDArray[np.float64],
        n_shards: Shards = 1,
        rule: str | None = None,
        sparse: bool | str = False,
        guidance: Guidance | None = None,
    ):
        self._word_type = word_count_type(corpus)
        self.guidance, self._corpus = guidance, corpus
        if guidance is not None:
            _check_guidance(guidance, sparse, rule, self._word_type)
        self.scratch = corpus.scratch
        self.sparse = sparse
        self.n_docs = corpus.n_docs
        self.n_tokens = corpus.n_tokens
        self.n_words = corpus.n_words
        self.n_topics = len(dag.topics)
        self.dag = dag
        self.graph = make_graph(dag)
        widths = four_level_widths(dag)
        self.n_super = widths[0] if widths else 0
        self.documents = private_documents(corpus)
        self._alpha, self._beta, self._rule = alpha, beta, rule
        self._ranges = cut(np.diff(corpus.doc_start), n_shards)
        self._parts = [document_range(self.documents, first, last) for first, last in self._ranges]
        self._sets = TopicLimits.from_guidance(self.graph, guidance)
        self.limits = None if self._sets is None else self._sets.if_any
        self._works = [
            PathWork(part, self.graph, self.n_super, rule, self.scratch, self._limits_of(*here))
            for part, here in zip(self._parts, self._ranges, strict=True)
        ]

    def _limits_of(self, first: int, last: int) -> TopicLimits | None:
        """Topics that documents ``first`` to ``last`` may have; None for all."""
        return None if self.limits is None else self.limits.some(slice(first, last))

    def _empty_counts(self) -> Counts | SparseCounts:
        if self.sparse:
            times = occurrences(self.documents.tokens, self.n_words)
            return empty_lists(times, self.n_topics, self._word_type)
        width = padded(self.n_topics)
        return Counts(
            np.zeros((self.n_words, width), self._word_type),
            np.zeros(self.n_topics),
            np.zeros((1, width), np.float32),
            np.zeros(1),
        )

    def _new_chain(self, index: int, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> PachinkoChain:
        shards = [work.new() for work in self._works]
        chain = Chain(index, self._empty_counts(), make_priors(self.graph, alpha, beta), shards)
        chain.merge = self._merge(chain)
        return chain

    def start(self, seed: int, index: int) -> PachinkoChain:
        """A chain with random paths, from the stream (seed, chain, sweep 0, shard), or without documents yet."""
        chain = self._new_chain(index, self._alpha, self._beta)
        if self.sparse is True:
            chain.sparse = self._new_state(len(chain.shards), shuffled(self.n_docs, seed, index), 0)
            return chain
        chain.sparse = self._new_state(len(chain.shards), None, None)
        for number, (part, paths) in enumerate(zip(self._parts, chain.shards, strict=True)):
            stream = new_stream(seed, index, 0, number)
            equations.random_paths(part, self.graph, paths, stream)
            if self.guidance is not None:
                before = paths.topic.copy()
                key = seed, index, number
                paths.topic[:] = self.guidance.started(self._corpus, before, key, *self._ranges[number])
                equations.new_paths(self.graph, before, paths, stream)
            release(part, paths)
        self.recount(chain)
        return chain

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> PachinkoChain:
        """Restore a chain from the arrays of ``to_arrays``; its counts are recounted from the paths."""
        topic, path, alpha, beta = (arrays[name] for name in ("topic", "path", "alpha", "beta"))
        if topic.dtype != np.uint16 or path.dtype != np.uint32:
            raise ModelError("the saved paths are not what a sampler writes")
        self.check_sample({"topic": topic, "path": path})
        if not (fits_kernels(alpha, len(self._alpha)) and fits_kernels(beta, self.n_words)):
            raise ModelError("the saved priors do not fit this corpus and graph")
        if self.guidance is not None:
            fitting = Paths(self.guidance.repaired(self._corpus, topic, (0, index, 0)), np.array(path))
            equations.new_paths(self.graph, topic, fitting, new_stream(0, index))
            topic, path = fitting
        chain = self._new_chain(index, alpha, beta)
        chain.sparse = self._restore_state(arrays, len(chain.shards))
        at = 0
        for paths in chain.shards:
            here = slice(at, at + len(paths.topic))
            paths.topic[:], paths.path[:] = topic[here], path[here]
            release(paths, topic[here], path[here])
            at = here.stop
        self.recount(chain)
        chain.trace = [(int(s), float(v)) for s, v in trace]
        return chain

    sampled = ("topic", "path")

    def snapshot(self, chain: PachinkoChain) -> Sample | None:
        """Topics and paths, a byte each per token (two if there are more than 256 of them)."""
        if chain.sparse is not None and not chain.sparse.whole:
            return None
        n_paths = int(self.graph.n_paths[self.graph.topic_node].max())
        return self._gathered(chain, {"topic": narrowest(self.n_topics), "path": narrowest(n_paths)})

    def check_sample(self, sample: Sample) -> None:
        """Raise an error for paths that do not fit this corpus and graph, since kernels do not check bounds."""
        topic, path = sample["topic"], sample["path"]
        if topic.shape != (self.n_tokens,) or path.shape != topic.shape:
            raise ModelError("the saved paths do not fit this corpus")
        for part in ranges(self.n_tokens):
            if (topic[part] >= self.n_topics).any():
                raise ModelError("the saved paths do not fit this corpus")
            if (path[part] >= self.graph.n_paths[self.graph.topic_node[topic[part]]]).any():
                raise ModelError("the saved paths are not in this graph")
            release(topic[part], path[part])

    def mean_counts(self, chain: PachinkoChain, averaged: Averaged) -> Counts | SparseCounts:
        """Means of the counts of a chain's samples; the chain's own counts if the last is the only sample."""
        if self.sparse:
            return mean_lists(self.documents.tokens, averaged, self.n_words, self.n_topics)
        if len(averaged) == 1 and self.guidance is None:
            return frozen(chain.counts)
        return mean_counts(self.documents.tokens, averaged, self.n_words, self.n_topics)

    def recount(self, chain: PachinkoChain) -> None:
        """Recompute the shared counts from the paths."""
        if not self.sparse:
            for counts in chain.counts:
                counts[...] = 0
            for documents, paths in self._counted(chain):
                equations.add_counts(documents, paths, chain.counts)
            if self.guidance is not None:
                self.guidance.phantoms.add_to(chain.counts, chain.priors.beta)
            return
        parts = list(self._counted(chain))
        tokens = np.concatenate([documents.tokens for documents, _ in parts])
        count_lists(tokens, np.concatenate([paths.topic for _, paths in parts])[None], chain.counts)

    def _counted(self, chain: PachinkoChain) -> Iterator[tuple[Documents, Paths]]:
        """Documents added so far, with their paths, shard by shard."""
        for documents, paths, (first, last) in zip(self._parts, chain.shards, self._ranges, strict=True):
            if chain.sparse is None or chain.sparse.whole:
                yield documents, paths
            else:
                few, at = chosen_documents(documents, chain.sparse.before_and_new(0, first, last)[0])
                yield few, Paths(paths.topic[at], paths.path[at])
            release(documents, paths)

    def whole(self, chain: PachinkoChain) -> Paths:
        """All paths, in document order."""
        return Paths(**self._gathered(chain, {"topic": np.dtype(np.uint16), "path": np.dtype(np.uint32)}))

    def _gathered(self, chain: PachinkoChain, kinds: dict[str, np.dtype[Any]]) -> Sample:
        """Paths of all shards in document order, as arrays of these types."""
        made = {name: self.scratch.zeros(self.n_tokens, kind) for name, kind in kinds.items()}
        at = 0
        for paths in chain.shards:
            here = slice(at, at + len(paths.topic))
            for name, values in made.items():
                values[here] = getattr(paths, name)
                release(values[here])
            release(paths)
            at = here.stop
        return made

    def to_arrays(self, chain: PachinkoChain) -> dict[str, NDArray[Any]]:
        """Paths (six bytes per token) and priors."""
        own = {"alpha": chain_alpha(chain), "beta": chain_beta(chain)}
        told = {} if self.guidance is None else {"phantoms": self.guidance.phantoms.to_array()}
        limits = {} if self._sets is None else self._sets.to_arrays()
        return self.whole(chain)._asdict() | own | told | limits | self._growing(chain)

    def widened(self, arrays: Mapping[str, NDArray[Any]], old: Any, part: float) -> dict[str, NDArray[Any]]:
        """Alpha and beta; edges to new topics have a part of the median alpha of their node's other edges."""
        alpha, at = [], 0
        before = slot_children(old.dag)
        for name, below in slot_children(self.dag).items():
            own = arrays["alpha"][at : at + len(before[name])] if name in before else np.zeros(0)
            at += len(own)
            alpha.append(widened_vector(own, len(below), part) if len(own) else own)
        return {"alpha": np.concatenate(alpha), "beta": widened_vector(arrays["beta"], self.n_words)}

    def token_rows(
        self, arrays: Mapping[str, NDArray[Any]], at: NDArray[np.int64], topics: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Super-topics of tokens, those of each document apart, and alpha of their edges; of four levels alone."""
        doc = np.searchsorted(self.documents.doc_start, at, side="right") - 1
        keys, row = np.unique(doc * self.n_super + arrays["path"][at].astype(np.int64), return_inverse=True)
        return row.astype(np.int64), self._super_rows(arrays["alpha"])[keys % self.n_super][:, topics]

    def with_weight_moved(
        self, arrays: Mapping[str, NDArray[Any]], source: int, target: int, part: float, fresh: bool
    ) -> dict[str, NDArray[Any]]:
        """Arrays with another alpha of every super-topic's edges; of four levels alone."""
        rows = self._super_rows(arrays["alpha"]).copy()
        rows[:, target] = part * rows[:, source] + (0.0 if fresh else rows[:, target])
        rows[:, source] *= 1.0 - part
        return {**arrays, "alpha": np.concatenate([arrays["alpha"][: self.n_super], rows.ravel()])}

    def _super_rows(self, alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        """Alpha of the edges between the two lower levels of topics: super-topics × topics."""
        if not self.n_super:
            raise ModelError("topics of a graph that was given cannot be edited; those of the four-level model can")
        return np.asarray(alpha[self.n_super :]).reshape(self.n_super, self.n_topics)

    def sample(
        self, chain: PachinkoChain, shard: int, counts: Counts | SparseCounts, stream: NDArray[np.uint64]
    ) -> None:
        """Sample one shard once against the given counts; in the four-level model, move blocks of tokens afterwards."""
        part, paths, priors = self._parts[shard], chain.shards[shard], chain.priors
        if self.sparse:
            docs = self._sample_sparse(chain, shard, counts, stream)
            if self.n_super:
                blocks.move_blocks(part, docs, paths, priors, self.n_super, self.n_topics, stream)
        else:
            self._works[shard].sweep(paths, counts, priors, stream)
        release(part, paths)

    def _sample_sparse(
        self, chain: PachinkoChain, shard: int, counts: Counts | SparseCounts, stream: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Sample the shard's documents already in, add new ones, and return the former."""
        part, paths = self._parts[shard], chain.shards[shard]
        before, new = chain.sparse.before_and_new(chain.sweep, *self._ranges[shard])
        priors, graph, n_super = chain.priors, self.graph, self.n_super
        lengths = np.diff(part.doc_start)
        n = int(lengths[before].sum())
        if not self._pruned(chain.sweep):
            row_blocks.sweep_rows(part, before, paths, counts, priors, graph, n_super, stream)
            considered = n * int(graph.n_paths[graph.topic_node].sum())
        elif n_super:
            considered = pruned.sweep_pruned(part, before, paths, counts, priors, n_super, stream)
        else:
            considered = pruned_equations.sweep_pruned_plain(part, before, paths, counts, priors, graph, stream)
        if len(new):
            n += int(lengths[new].sum())
            if n_super:
                considered += enter_documents(part, new, paths, counts, priors, n_super, stream)
            else:
                considered += pruned_equations.enter_plain(part, new, paths, counts, priors, graph, stream)
        chain.sparse.tally[shard] = considered, n
        return before

    def learn(self, chain: PachinkoChain, sweep: int) -> None:
        """Update alpha of all nodes but the root every ten sweeps, from the twentieth on."""
        self._settle(chain)
        if self.learns(sweep):
            rule = self._rule or "moments"
            if self.limits is None:
                found = [statistics(self.graph, *part, rule) for part in self._counted(chain)]
            else:
                both = zip(self._works, chain.shards, strict=True)
                found = [work.statistics(paths, chain.priors) for work, paths in both]
            self.learn_from(chain, sweep, found)

    def learns(self, sweep: int) -> bool:
        """Whether alpha is learned after a sweep."""
        return self._rule is not None and self._learning_due(sweep)

    def learn_from(self, chain: PachinkoChain, sweep: int, statistics: Sequence[Any]) -> None:
        """Learn alpha from the statistics of all shards."""
        before, rule = chain_alpha(chain), self._rule or "moments"
        if self.limits is None:
            alpha = learn_alpha_from(self.graph, statistics, before, rule)
        else:
            alpha = learn_limited(self.graph, self.limits, statistics, before, rule)
        chain.priors = make_priors(self.graph, alpha, chain_beta(chain))

    def log_joint(self, chain: PachinkoChain) -> float:
        """log P(words, paths | alpha, beta), parameters integrated out."""
        return log_joints(self, [chain], SerialExecutor())[0]

    def shared_terms(self, chain: PachinkoChain) -> list[Callable[[], float]]:
        """Term of words."""
        counts, priors, told = chain.counts, chain.priors, self.guidance

        def of_words() -> float:
            found = counts.log_words(priors.beta, priors.beta_sum)
            return found if told is None else found - told.phantoms.log_constant(priors.beta, priors.beta_sum)

        return [of_words]

    def log_joint_terms(self, chain: PachinkoChain) -> list[Callable[[], float]]:
        """Terms of words, and of the shards' documents."""
        if self.limits is not None:
            both = zip(self._works, chain.shards, strict=True)
            limited = [partial(work.log_joint, paths, chain.counts, chain.priors) for work, paths in both]
            return self.shared_terms(chain) + limited
        how = chain.priors, self.graph
        each = [partial(equations.log_joint_documents, *part, *how) for part in self._counted(chain)]
        return self.shared_terms(chain) + each

    def undistributable(self) -> str | None:
        """Counts in lists are recounted by the client."""
        return f"sparse={self.sparse!r}" if self.sparse else None

    def shard_work(self, shard: int) -> PathWork:
        """The documents of a shard."""
        return self._works[shard]

    def give_assignments(self, chain: PachinkoChain, shard: int) -> dict[str, NDArray[Any]]:
        """Topics and paths of a shard's tokens."""
        return self._works[shard].assignments(chain.shards[shard])

    def take_assignments(self, chain: PachinkoChain, shard: int, assignments: Mapping[str, NDArray[Any]]) -> None:
        """Replace the topics and paths of a shard's tokens."""
        paths = chain.shards[shard]
        paths.topic[:], paths.path[:] = assignments["topic"], assignments["path"]
        release(paths)

    def sent_priors(self, chain: PachinkoChain) -> Priors:
        """The priors themselves."""
        return chain.priors


def _check_guidance(guidance: Guidance, sparse: bool | str, rule: str | None, word_type: Any) -> None:
    """Raise an error for guidance that the sampler does not take."""
    if sparse:
        raise ModelError(f"sparse={sparse!r} takes no seeds, bans or labels; leave sparse out")
    if guidance.limits_documents and rule == "moments-paper":
        raise ModelError(
            "learn_alpha='moments-paper' knows only documents that may have all topics; with doc_labels or doc_ban "
            "choose 'moments', 'ml' or False"
        )
    guidance.check_type(word_type)


def chain_alpha(chain: PachinkoChain) -> NDArray[np.float64]:
    """Alpha of the chain per slot."""
    return np.asarray(chain.priors.alpha, np.float64)


def chain_beta(chain: PachinkoChain) -> NDArray[np.float64]:
    """Beta of the chain per word."""
    return np.asarray(chain.priors.beta, np.float64)
