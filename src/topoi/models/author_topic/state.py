"""Conversion of a corpus to the sampler's data (author lists, shards of documents, chains) and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import Chain, log_joints
from topoi.engine.samples import Sample, compact
from topoi.engine.shards import cut
from topoi.errors import ModelError
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet, log_probability_rows
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.kernels.word_lists import SparseCounts, count_lists, empty_lists
from topoi.models import inputs
from topoi.models.author_topic import equations, kernels, word_major
from topoi.models.averages import Averaged, frozen, mean_counts, mean_lists
from topoi.models.inputs import WeightedAuthors
from topoi.models.sparse.scheme import SparseScheme, chosen_documents, shuffled
from topoi.models.sparse.word_shard import SparseShard
from topoi.models.validation import fits_kernels

_LARGEST_UINT16 = 2**16 - 1


class DocumentShard:
    """Consecutive documents, sampled in document order by the author-topic kernel."""

    def __init__(self, documents: Documents):
        self.documents = documents
        n = len(documents.tokens)
        self.assignments = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16))

    def set_assignments(self, topic: NDArray[Any], slot: NDArray[Any]) -> None:
        """Set the assignments, given in document order."""
        self.assignments.topic[:] = topic
        self.assignments.slot[:] = slot

    def in_document_order(self) -> Assignments:
        """Assignments in document order."""
        return self.assignments

    def sweep(self, counts: Counts, priors: Priors, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        kernels.sweep(self.documents, self.assignments, counts, priors, stream)


class WordShard:
    """Consecutive documents with only private authors, sampled word by word: the faster order for LDA."""

    def __init__(self, documents: Documents, layout: word_major.WordLayout):
        self.documents = documents
        self.runs, self._order, self._block_docs = layout
        self.topic = np.zeros(len(documents.tokens), np.uint16)

    def set_assignments(self, topic: NDArray[Any], slot: NDArray[Any]) -> None:
        """Set the assignments, given in document order."""
        self.topic[:] = topic[self._order]

    def in_document_order(self) -> Assignments:
        """Assignments in document order."""
        topic = np.empty_like(self.topic)
        topic[self._order] = self.topic
        return Assignments(topic, np.zeros(len(topic), np.uint16))

    def sweep(self, counts: Counts, priors: Priors, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        word_major.sweep_words(self.runs, self.topic, counts, priors, self._block_docs, stream)


def make_priors(alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> Priors:
    """Priors in the form that kernels read: float32, alpha padded with zeros to whole lanes.

    The sums are exactly rounded sums of the float32 values, so they are the same on every machine and after a save.
    """
    wide = np.zeros(padded(len(alpha)), np.float32)
    wide[: len(alpha)] = alpha
    narrow = beta.astype(np.float32)
    return Priors(wide, math.fsum(wide.tolist()), narrow, math.fsum(narrow.tolist()))


# Priors and shards are those of the family that shares the sampler: ``Priors``, or one row of alpha for each document.
TopicChain: TypeAlias = Chain[Counts | SparseCounts, Any, Any]


class AuthorTopicSampler(SparseScheme[TopicChain]):
    """Sampler of the author-topic family for the engine's loop (see ``topoi.engine.gibbs.Sampler``).

    ``sparse`` other than False requires that documents have only private authors (LDA).
    """

    def __init__(
        self,
        corpus: Corpus,
        lists: WeightedAuthors,
        alpha: NDArray[np.float64],
        beta: NDArray[np.float64],
        n_shards: int = 1,
        learn_alpha: str | None = None,
        learn_beta: bool = False,
        sparse: bool | str = False,
    ):
        self.sparse = sparse
        self.n_docs = corpus.n_docs
        self.n_tokens = corpus.n_tokens
        self.n_topics = len(alpha)
        self.n_words = corpus.n_words
        self.lists = lists
        self._alpha, self._beta = alpha, beta
        self._learn_alpha, self._learn_beta = learn_alpha, learn_beta
        self._corpus = corpus
        self._ranges = cut(np.diff(corpus.doc_start), n_shards)
        self._check_sizes()
        longest = int(np.diff(corpus.doc_start).max(initial=0))
        self.by_words = lists.all_private and longest <= _LARGEST_UINT16
        if sparse and not self.by_words:
            raise ModelError(
                f"a document has {longest:,} words; with sparse={sparse!r} at most {_LARGEST_UINT16:,} are possible: "
                "cut it into parts"
            )

    @cached_property
    def _parts(self) -> list[Documents]:
        """Documents of the shards, shared by all chains."""
        return [self.documents(first, last) for first, last in self._ranges]

    @cached_property
    def _layouts(self) -> list[word_major.WordLayout]:
        """Tokens of the shards sorted by words, shared by all chains."""
        width = padded(self.n_topics)
        return [word_major.word_runs(part.tokens, part.doc_start, width) for part in self._parts]

    @cached_property
    def _word_times(self) -> NDArray[np.int64]:
        return np.bincount(self._corpus.tokens, minlength=self.n_words)

    def _check_sizes(self) -> None:
        if self.n_topics > _LARGEST_UINT16:
            raise ModelError(f"n_topics is {self.n_topics}; at most {_LARGEST_UINT16} are possible")
        most = int(np.diff(self.lists.start).max(initial=0))
        if most > _LARGEST_UINT16:
            raise ModelError(f"a document has {most} authors; at most {_LARGEST_UINT16} are possible")
        self._word_type = inputs.word_count_type(self._corpus)
        self._author_type = inputs.author_count_type(self._corpus, self.lists)

    def documents(self, first: int, last: int) -> Documents:
        """Documents ``first`` to ``last`` with their tokens and authors, counted from zero."""
        doc_start, author_start = self._corpus.doc_start, self.lists.start
        authors = slice(author_start[first], author_start[last])
        return Documents(
            np.ascontiguousarray(self._corpus.tokens[doc_start[first] : doc_start[last]], np.int32),
            (doc_start[first : last + 1] - doc_start[first]).astype(np.int64),
            self.lists.author[authors],
            author_start[first : last + 1] - author_start[first],
            self.lists.weight[authors],
        )

    def _new_chain(self, index: int, alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> TopicChain:
        if self.sparse:
            shards: list[Any] = [SparseShard(part) for part in self._parts]
            lists = empty_lists(self._word_times, self.n_topics, self._word_type)
            chain: TopicChain = Chain(index, lists, make_priors(alpha, beta), shards)
            chain.merge = self._merge(chain)
            return chain
        width = padded(self.n_topics)
        counts = Counts(
            np.zeros((self.n_words, width), self._word_type),
            np.zeros(self.n_topics),
            np.zeros((self.lists.n_shared + 1, width), self._author_type),
            np.zeros(self.lists.n_shared + 1),
        )
        shards = [DocumentShard(part) for part in self._parts]
        if self.by_words:
            shards = [WordShard(part, layout) for part, layout in zip(self._parts, self._layouts, strict=True)]
        return Chain(index, counts, make_priors(alpha, beta), shards)

    def start(self, seed: int, index: int) -> TopicChain:
        """A chain with random assignments, from the stream (seed, chain, sweep 0, shard)."""
        chain = self._new_chain(index, self._alpha, self._beta)
        if self.sparse is True:
            chain.sparse = self._new_state(len(chain.shards), shuffled(self.n_docs, seed, index), 0)
            return chain
        chain.sparse = self._new_state(len(chain.shards), None, None)
        for number, shard in enumerate(chain.shards):
            n = len(shard.documents.tokens)
            drawn = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16))
            equations.random_assignments(shard.documents, self.n_topics, drawn, new_stream(seed, index, 0, number))
            shard.set_assignments(drawn.topic, drawn.slot)
        self.recount(chain)
        return chain

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> TopicChain:
        """Restore a chain from the arrays of ``to_arrays``; its counts are recounted from the assignments."""
        n = self.n_tokens
        topic = arrays["topic"]
        slot = arrays.get("slot", np.zeros(n, np.uint16))
        if not topic.dtype == slot.dtype == np.uint16:
            raise ModelError("the saved assignments are not what a sampler writes")
        self.check_sample({"topic": topic, "slot": slot})
        alpha, beta = arrays["alpha"], arrays["beta"]
        if not (fits_kernels(alpha, self.n_topics) and fits_kernels(beta, self.n_words)):
            raise ModelError("the saved priors do not fit this corpus")
        chain = self._new_chain(index, alpha, beta)
        chain.sparse = self._restore_state(arrays, len(chain.shards))
        at = 0
        for shard in chain.shards:
            here = slice(at, at + len(shard.documents.tokens))
            shard.set_assignments(topic[here], slot[here])
            at = here.stop
        self.recount(chain)
        chain.trace = [(int(s), float(v)) for s, v in trace]
        return chain

    @property
    def sampled(self) -> tuple[str, ...]:
        """Names of a sample's arrays."""
        return ("topic",) if self.lists.all_private else ("topic", "slot")

    def snapshot(self, chain: TopicChain) -> Sample | None:
        """Topics, a byte per token (two if there are more than 256), and likewise authors where documents have any."""
        if chain.sparse is not None and not chain.sparse.whole:
            return None
        _, assignments = self.whole(chain)
        limits = {"topic": self.n_topics, "slot": int(np.diff(self.lists.start).max(initial=1))}
        return {name: compact(getattr(assignments, name), limits[name]) for name in self.sampled}

    def check_sample(self, sample: Sample) -> None:
        """Raise an error for assignments that do not fit this corpus, since kernels do not check bounds."""
        topic, n = sample["topic"], self.n_tokens
        slot = sample.get("slot", np.zeros(n, np.uint8))
        if topic.shape != (n,) or slot.shape != (n,) or int(topic.max(initial=0)) >= self.n_topics:
            raise ModelError("the saved assignments do not fit this corpus")
        if (slot >= np.repeat(np.diff(self.lists.start), np.diff(self._corpus.doc_start))).any():
            raise ModelError("the saved assignments name authors that this corpus does not have")

    def mean_counts(self, chain: TopicChain, averaged: Averaged) -> Counts | SparseCounts:
        """Means of the counts of a chain's samples; the chain's own counts if the last is the only sample."""
        if self.sparse:
            return self.mean_lists(averaged)
        if len(averaged) == 1:
            return frozen(chain.counts)
        tokens, sizes = np.ascontiguousarray(self._corpus.tokens, np.int32), (self.n_words, self.n_topics)
        if self.lists.all_private:
            return mean_counts(tokens, averaged, *sizes)
        return mean_counts(tokens, averaged, *sizes, self._writers, self.lists.n_shared)

    def mean_lists(self, averaged: Averaged) -> SparseCounts:
        """``mean_counts`` as sparse lists, where all authors are private."""
        tokens = np.ascontiguousarray(self._corpus.tokens, np.int32)
        return mean_lists(tokens, averaged, self.n_words, self.n_topics)

    def _writers(self, part: slice) -> Callable[[NDArray[Any]], NDArray[np.int32]]:
        """Function that maps slots of consecutive tokens to authors."""
        doc_start = self._corpus.doc_start
        docs = slice(np.searchsorted(doc_start, part.start, "right") - 1, np.searchsorted(doc_start, part.stop, "left"))
        bounds = np.clip(doc_start[docs.start : docs.stop + 1], part.start, part.stop)
        first = np.repeat(self.lists.start[docs], bounds[1:] - bounds[:-1])
        return lambda slot: self.lists.author[first + slot]

    def recount(self, chain: TopicChain) -> None:
        """Recompute the shared counts from the assignments."""
        documents, assignments = self._counted(chain)
        if self.sparse:
            count_lists(documents.tokens, assignments.topic[None], chain.counts)
            return
        equations.count(documents, assignments, chain.counts)

    def _counted(self, chain: TopicChain) -> tuple[Documents, Assignments]:
        """Documents added so far, and their assignments."""
        documents, assignments = self.whole(chain)
        if chain.sparse is None or chain.sparse.whole:
            return documents, assignments
        documents, at = chosen_documents(documents, np.sort(chain.sparse.order[: chain.sparse.n_in]).astype(np.int64))
        return documents, Assignments(assignments.topic[at], assignments.slot[at])

    def whole(self, chain: TopicChain) -> tuple[Documents, Assignments]:
        """All documents and all assignments, in document order."""
        parts = [shard.in_document_order() for shard in chain.shards]
        assignments = Assignments(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        return self.documents(0, len(self._corpus.doc_start) - 1), assignments

    def to_arrays(self, chain: TopicChain) -> dict[str, NDArray[Any]]:
        """Assignments (two bytes each per token) and priors."""
        parts = [shard.in_document_order() for shard in chain.shards]
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in self.sampled}
        return arrays | {"alpha": chain_alpha(chain), "beta": chain_beta(chain)} | self._growing(chain)

    def sample(self, chain: TopicChain, shard: int, counts: Counts | SparseCounts, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        if not self.sparse:
            chain.shards[shard].sweep(counts, chain.priors, stream)
            return
        before, new = chain.sparse.before_and_new(chain.sweep, *self._ranges[shard])
        everything = self._layouts[shard] if chain.sparse.whole else None
        chain.sparse.tally[shard] = chain.shards[shard].sweep(
            counts, chain.priors, before, new, self._pruned(chain.sweep), everything, stream
        )

    def learn(self, chain: TopicChain, sweep: int) -> None:
        """Update alpha and beta by maximum likelihood every ten sweeps, from the twentieth on."""
        self._settle(chain)
        if not self._learning_due(sweep) or not (self._learn_alpha or self._learn_beta):
            return
        alpha, beta = chain_alpha(chain), chain_beta(chain)
        if self._learn_alpha:
            alpha = learn_dirichlet(self._alpha_histogram(chain), alpha, self._learn_alpha == "symmetric")
        if self._learn_beta:
            w, _, values = chain.counts.word_cells()
            histogram = CountHistogram.from_counts(np.zeros_like(w), values, chain.counts.topic, self.n_words)
            beta = learn_dirichlet(histogram, beta, symmetric=True)
        chain.priors = make_priors(alpha, beta)

    def _alpha_histogram(self, chain: TopicChain) -> CountHistogram:
        """Counts of topics per author, private authors included."""
        rows = chain.counts.author_topic[:-1]
        a, k = np.nonzero(rows)
        columns, values, totals = [k], [rows[a, k]], [chain.counts.author[:-1]]
        doc, topic, number = self._private_counts(chain)
        columns.append(topic)
        values.append(number)
        totals.append(np.bincount(doc, number).astype(np.int64) if len(doc) else np.zeros(0, np.int64))
        return CountHistogram.from_counts(
            np.concatenate(columns), np.concatenate(values), np.concatenate(totals), self.n_topics
        )

    def _private_counts(self, chain: TopicChain) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Nonzero topic counts of private authors: document, topic, number."""
        documents, assignments = self._counted(chain)
        lengths = np.diff(documents.doc_start)
        if len(lengths) == self.n_docs:
            mine = assignments.slot == np.repeat(self.lists.private_slot, lengths)
        else:
            mine = np.ones(len(assignments.slot), bool)  # only where all authors are private
        doc = np.repeat(np.arange(len(lengths)), lengths)[mine]
        keys, number = np.unique(doc * self.n_topics + assignments.topic[mine], return_counts=True)
        return keys // self.n_topics, keys % self.n_topics, number

    def log_joint(self, chain: TopicChain) -> float:
        """log P(words, topics, authors | author lists, alpha, beta), parameters integrated out."""
        return log_joints(self, [chain], SerialExecutor())[0]

    def log_joint_terms(self, chain: TopicChain) -> list[Callable[[], float]]:
        """Terms of words, of authors' topics, and of documents."""
        counts, priors = chain.counts, chain.priors

        def of_authors() -> float:
            rows = counts.author_topic, counts.author, priors.alpha, priors.alpha_sum
            return float(log_probability_rows(*rows, self.lists.n_shared, self.n_topics))

        def of_documents() -> float:
            documents, assignments = self._counted(chain)
            return float(equations.log_joint_documents(documents, assignments, counts, priors))

        return [lambda: counts.log_words(priors.beta, priors.beta_sum), of_authors, of_documents]


def chain_alpha(chain: TopicChain) -> NDArray[np.float64]:
    """Alpha of the chain per topic, without padding."""
    return np.asarray(chain.priors.alpha[: len(chain.counts.topic)], np.float64)


def chain_beta(chain: TopicChain) -> NDArray[np.float64]:
    """Beta of the chain per word."""
    return np.asarray(chain.priors.beta, np.float64)
