"""Conversion of a corpus to the sampler's data (author lists, shards of documents, chains) and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.mapped import release
from topoi.corpus.pieces import occurrences, row_blocks
from topoi.engine.executors import Executor, SerialExecutor
from topoi.engine.gibbs import Chain, log_joints, sweep_chains
from topoi.engine.samples import Sample, narrowest
from topoi.engine.shards import Shards, cut
from topoi.errors import ModelError
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.dirichlet import NO_PRIOR, CountHistogram, GammaPrior, learn_dirichlet, log_probability_rows, rounded
from topoi.kernels.lanes import padded
from topoi.kernels.random import new_stream
from topoi.kernels.word_lists import SparseCounts, count_lists, empty_lists
from topoi.models import inputs
from topoi.models.author_topic import equations, word_major
from topoi.models.author_topic.priors import FIRST_PRIVATE_WEIGHT, FIRST_SWEEPS, SETTLING_SWEEPS
from topoi.models.author_topic.shards import FEWEST_FOR_LISTS, release_shard
from topoi.models.author_topic.work import AllowedTopics, FirstPriors, TopicWork, log_documents, private_histograms
from topoi.models.averages import Averaged, frozen, mean_counts, mean_lists
from topoi.models.growing import widened_vector
from topoi.models.guidance.guidance import Guidance
from topoi.models.inputs import WeightedAuthors
from topoi.models.sparse.scheme import SparseScheme, chosen_documents, shuffled
from topoi.models.sparse.word_shard import SparseShard
from topoi.models.validation import fits_kernels

_LARGEST_UINT16 = 2**16 - 1
# Numbers of sweeps over copies of chains begin here, beyond those of any fit.
_SETTLING = 2**41


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

    ``sparse`` other than False requires that documents have only private authors (LDA). ``guidance`` adds phantom
    tokens to the counts, and may limit documents to some topics.
    """

    def __init__(
        self,
        corpus: Corpus,
        lists: WeightedAuthors,
        alpha: NDArray[np.float64],
        beta: NDArray[np.float64],
        n_shards: Shards = 1,
        learn_alpha: str | None = None,
        learn_beta: bool = False,
        sparse: bool | str = False,
        alpha_prior: GammaPrior = NO_PRIOR,
        beta_prior: GammaPrior = NO_PRIOR,
        guidance: Guidance | None = None,
    ):
        self.sparse, self.guidance = sparse, guidance
        self.n_docs = corpus.n_docs
        self.n_tokens = corpus.n_tokens
        self.n_topics = len(alpha)
        self.n_words = corpus.n_words
        self.lists = lists
        self._alpha, self._beta = alpha, beta
        self._learn_alpha, self._learn_beta = learn_alpha, learn_beta
        self._alpha_prior, self._beta_prior = alpha_prior, beta_prior
        self._corpus = corpus
        self.scratch = corpus.scratch
        self._ranges = cut(np.diff(corpus.doc_start), n_shards)
        self._check_sizes()
        longest = int(np.diff(corpus.doc_start).max(initial=0))
        limited = guidance is not None and guidance.limits_documents
        self.by_words = lists.all_private and longest <= _LARGEST_UINT16 and not limited
        if sparse and guidance is not None:
            raise ModelError(f"sparse={sparse!r} takes no seeds, bans or labels; leave sparse out")
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
        """Tokens of the shards sorted by words, for sparse schemes."""
        return [work.orders.get(by_lists=False).layout for work in self._works]

    @cached_property
    def _works(self) -> list[TopicWork]:
        """Documents of the shards with what samples them, shared by all chains."""
        sizes = self.n_topics, self.n_words, self.lists.n_shared, self.by_words
        how = self.scratch, self._times_for_lists
        return [
            TopicWork(part, *sizes, *how, self._allowed(*here))
            for part, here in zip(self._parts, self._ranges, strict=True)
        ]

    def _allowed(self, first: int, last: int) -> AllowedTopics | None:
        """Topics that documents ``first`` to ``last`` may have; None for all."""
        return None if self.guidance is None else self.guidance.of_documents(first, last)

    @cached_property
    def _word_times(self) -> NDArray[np.int64]:
        return occurrences(self._corpus.tokens, self.n_words)

    @property
    def _times_for_lists(self) -> NDArray[np.int64] | None:
        """Numbers of tokens of the words, if there are enough topics for lists of them."""
        if self.n_topics < FEWEST_FOR_LISTS or self.by_words:
            return None
        if self.guidance is None:
            return self._word_times
        # The sweep over lists knows neither words that are banned nor documents that may not have all topics.
        phantoms = self.guidance.phantoms
        if len(phantoms.banned_word) or self.guidance.limits_documents:
            return None
        return self._word_times + np.bincount(phantoms.word, phantoms.times, self.n_words).astype(np.int64)

    def _check_sizes(self) -> None:
        if self.n_topics > _LARGEST_UINT16:
            raise ModelError(f"n_topics is {self.n_topics}; at most {_LARGEST_UINT16} are possible")
        most = int(np.diff(self.lists.start).max(initial=0))
        if most > _LARGEST_UINT16:
            raise ModelError(f"a document has {most} authors; at most {_LARGEST_UINT16} are possible")
        self._word_type = inputs.word_count_type(self._corpus)
        self._author_type = inputs.author_count_type(self._corpus, self.lists)
        if self.guidance is not None:
            self.guidance.check_type(self._word_type)

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
        return Chain(index, counts, make_priors(alpha, beta), [work.new() for work in self._works])

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
            topic = drawn.topic
            if self.guidance is not None:
                topic = self.guidance.started(self._corpus, topic, (seed, index, number), *self._ranges[number])
            shard.set_assignments(topic, drawn.slot)
            release_shard(shard)
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
        if self.guidance is not None:
            topic = self.guidance.repaired(self._corpus, topic, (0, index, 0))
        chain = self._new_chain(index, alpha, beta)
        chain.sparse = self._restore_state(arrays, len(chain.shards))
        at = 0
        for shard in chain.shards:
            here = slice(at, at + len(shard.documents.tokens))
            shard.set_assignments(topic[here], slot[here])
            release_shard(shard)
            release(topic[here], slot[here])
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
        if (chain.sparse is not None and not chain.sparse.whole) or self._is_first(chain.sweep):
            return None
        limits = {"topic": self.n_topics, "slot": int(np.diff(self.lists.start).max(initial=1))}
        return self._gathered(chain, {name: narrowest(limits[name]) for name in self.sampled})

    def check_sample(self, sample: Sample) -> None:
        """Raise an error for assignments that do not fit this corpus, since kernels do not check bounds."""
        topic, n, doc_start = sample["topic"], self.n_tokens, self._corpus.doc_start
        slot = sample.get("slot", np.zeros(n, np.uint8))
        if topic.shape != (n,) or slot.shape != (n,):
            raise ModelError("the saved assignments do not fit this corpus")
        for part in row_blocks(doc_start):
            own = doc_start[part.start : part.stop + 1]
            here = slice(own[0], own[-1])
            if int(topic[here].max(initial=0)) >= self.n_topics:
                raise ModelError("the saved assignments do not fit this corpus")
            n_slots = np.diff(self.lists.start[part.start : part.stop + 1])
            if (slot[here] >= np.repeat(n_slots, np.diff(own))).any():
                raise ModelError("the saved assignments name authors that this corpus does not have")
            release(topic[here], slot[here])

    def mean_counts(self, chain: TopicChain, averaged: Averaged) -> Counts | SparseCounts:
        """Means of the counts of a chain's samples; the chain's own counts if the last is the only sample."""
        if self.sparse:
            return self.mean_lists(averaged)
        if len(averaged) == 1 and self.guidance is None:
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
        if self.sparse:
            parts = list(self._counted(chain))
            tokens = np.concatenate([documents.tokens for documents, _ in parts])
            topic = np.concatenate([assignments.topic for _, assignments in parts])
            count_lists(tokens, topic[None], chain.counts)
            return
        for counts in chain.counts:
            counts[...] = 0
        for documents, assignments in self._counted(chain):
            equations.add_counts(documents, assignments, chain.counts)
        if self.guidance is not None:
            self.guidance.phantoms.add_to(chain.counts, chain.priors.beta)

    def _counted(self, chain: TopicChain) -> Iterator[tuple[Documents, Assignments]]:
        """Documents added so far, and their assignments, shard by shard."""
        for number, shard in enumerate(chain.shards):
            yield self._counted_in(chain, number)
            release_shard(shard)

    def _counted_in(self, chain: TopicChain, shard: int) -> tuple[Documents, Assignments]:
        """Documents of a shard added so far, and their assignments."""
        documents, assignments = self._parts[shard], chain.shards[shard].in_document_order()
        if chain.sparse is not None and not chain.sparse.whole:
            documents, at = chosen_documents(documents, chain.sparse.before_and_new(0, *self._ranges[shard])[0])
            assignments = Assignments(assignments.topic[at], assignments.slot[at])
        return documents, assignments

    def whole(self, chain: TopicChain) -> tuple[Documents, Assignments]:
        """All documents and all assignments, in document order."""
        kinds = dict.fromkeys(Assignments._fields, np.dtype(np.uint16))
        return self.documents(0, len(self._corpus.doc_start) - 1), Assignments(**self._gathered(chain, kinds))

    def _gathered(self, chain: TopicChain, kinds: dict[str, np.dtype[Any]]) -> Sample:
        """Assignments of all shards in document order, as arrays of these types."""
        made = {name: self.scratch.zeros(self.n_tokens, kind) for name, kind in kinds.items()}
        at = 0
        for shard in chain.shards:
            own = shard.in_document_order()
            here = slice(at, at + len(own.topic))
            for name in self.sampled:
                if name in made:
                    made[name][here] = getattr(own, name)
            release_shard(shard)
            release(*(values[here] for values in made.values()))
            at = here.stop
        return made

    def to_arrays(self, chain: TopicChain) -> dict[str, NDArray[Any]]:
        """Assignments (two bytes each per token) and priors."""
        arrays = self._gathered(chain, dict.fromkeys(self.sampled, np.dtype(np.uint16)))
        told = {} if self.guidance is None else {"phantoms": self.guidance.phantoms.to_array()}
        return arrays | {"alpha": chain_alpha(chain), "beta": chain_beta(chain)} | told | self._growing(chain)

    def widened(self, arrays: Mapping[str, NDArray[Any]], old: Any, part: float) -> dict[str, NDArray[Any]]:
        """Alpha and beta; new words have the median beta, new topics a part of the median alpha."""
        return {
            "alpha": widened_vector(arrays["alpha"], self.n_topics, part),
            "beta": widened_vector(arrays["beta"], self.n_words),
        }

    def token_rows(
        self, arrays: Mapping[str, NDArray[Any]], at: NDArray[np.int64], topics: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Authors of tokens, private ones told apart by their documents, and alpha."""
        doc = np.searchsorted(self._corpus.doc_start, at, side="right") - 1
        slot = arrays["slot"][at].astype(np.int64) if "slot" in self.sampled else np.zeros(len(at), np.int64)
        author = self.lists.author[self.lists.start[doc] + slot].astype(np.int64)
        keys, row = np.unique(np.where(author < self.lists.n_shared, author, author + doc), return_inverse=True)
        return row.astype(np.int64), np.tile(arrays["alpha"][topics], (len(keys), 1))

    def with_weight_moved(
        self, arrays: Mapping[str, NDArray[Any]], source: int, target: int, part: float, fresh: bool
    ) -> dict[str, NDArray[Any]]:
        """Arrays with another alpha; sums of alpha stay."""
        alpha = np.array(arrays["alpha"], np.float64)
        alpha[target] = part * alpha[source] + (0.0 if fresh else alpha[target])
        alpha[source] *= 1.0 - part
        return {**arrays, "alpha": alpha}

    def sample(self, chain: TopicChain, shard: int, counts: Counts | SparseCounts, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        if not self.sparse:
            assert isinstance(counts, Counts)
            self.shard_work(shard).sweep(chain.shards[shard], counts, self._priors_of(chain, chain.sweep), stream)
            release_shard(chain.shards[shard])
            return
        before, new = chain.sparse.before_and_new(chain.sweep, *self._ranges[shard])
        everything = self._layouts[shard] if chain.sparse.whole else None
        chain.sparse.tally[shard] = chain.shards[shard].sweep(
            counts, chain.priors, before, new, self._pruned(chain.sweep), everything, stream
        )

    def learn(self, chain: TopicChain, sweep: int) -> None:
        """Update alpha and beta every ten sweeps, from the twentieth on."""
        self._settle(chain)
        if self.learns(sweep):
            self.learn_from(chain, sweep, list(self._private_histograms(chain)))

    @property
    def alpha_left_open(self) -> bool:
        """Whether alpha is learned because nothing was said of it."""
        return self._learn_alpha is not None and self._alpha_prior != NO_PRIOR

    def learns(self, sweep: int) -> bool:
        """Whether alpha or beta are learned after a sweep."""
        return self._learning_due(sweep) and bool(self._learn_alpha or self._learn_beta)

    def learn_from(self, chain: TopicChain, sweep: int, statistics: Sequence[CountHistogram]) -> None:
        """Learn alpha and beta from counts of topics per private author, and the shared counts."""
        alpha, beta = chain_alpha(chain), chain_beta(chain)
        if self._learn_alpha:
            histogram = self._alpha_histogram(chain, statistics)
            alpha = learn_dirichlet(histogram, alpha, self._learn_alpha == "symmetric", prior=self._alpha_prior)
            alpha = alpha if self._alpha_prior == NO_PRIOR else rounded(alpha)
        if self._learn_beta:
            beta = learn_dirichlet(self._beta_histogram(chain), beta, symmetric=True, prior=self._beta_prior)
            beta = beta if self._beta_prior == NO_PRIOR else rounded(beta)
        before, chain.priors = chain.priors, make_priors(alpha, beta)
        if self.guidance is not None:
            self.guidance.phantoms.change_beta(chain.counts, before.beta, chain.priors.beta)

    def _beta_histogram(self, chain: TopicChain) -> CountHistogram:
        """Counts of words per topic; of words and topics without phantoms, whose prior is beta alone."""
        w, k, values = chain.counts.word_cells()
        if self.guidance is None:
            return CountHistogram.from_counts(np.zeros_like(w), values, chain.counts.topic, self.n_words)
        words, topics = self.guidance.phantoms.unguided()
        here = words[w] & topics[k]
        totals = np.bincount(k[here], values[here], self.n_topics)
        return CountHistogram.from_counts(np.zeros_like(w[here]), values[here], totals, int(words.sum()))

    def _alpha_histogram(self, chain: TopicChain, private: Sequence[CountHistogram]) -> CountHistogram:
        """Counts of topics per author, private authors included."""
        rows = chain.counts.author_topic[:-1]
        a, k = np.nonzero(rows)
        shared = CountHistogram.from_counts(k, rows[a, k], chain.counts.author[:-1], self.n_topics)
        return CountHistogram.joined([shared, *private])

    def _private_histograms(self, chain: TopicChain) -> Iterator[CountHistogram]:
        """Counts of topics per private author, in blocks of documents."""
        for documents, assignments in self._counted(chain):
            yield from private_histograms(documents, assignments, self.lists.n_shared, self.n_topics)

    def log_joint(self, chain: TopicChain) -> float:
        """log P(words, topics, authors | author lists, alpha, beta), parameters integrated out."""
        return log_joints(self, [chain], SerialExecutor())[0]

    def shared_terms(self, chain: TopicChain) -> list[Callable[[], float]]:
        """Terms of words and of authors' topics."""
        counts, priors = chain.counts, chain.priors

        def of_authors() -> float:
            rows = counts.author_topic, counts.author, priors.alpha, priors.alpha_sum
            return float(log_probability_rows(*rows, self.lists.n_shared, self.n_topics))

        def of_words() -> float:
            found = counts.log_words(priors.beta, priors.beta_sum)
            told = self.guidance
            return found if told is None else found - told.phantoms.log_constant(priors.beta, priors.beta_sum)

        return [of_words, of_authors]

    def log_joint_terms(self, chain: TopicChain) -> list[Callable[[], float]]:
        """Terms of words, of authors' topics, and of the documents of each shard."""

        def of_documents(shard: int) -> float:
            documents, assignments = self._counted_in(chain, shard)
            result = log_documents(documents, assignments, chain.counts, chain.priors)
            release_shard(chain.shards[shard])
            return result

        return self.shared_terms(chain) + [partial(of_documents, s) for s in range(len(chain.shards))]

    def undistributable(self) -> str | None:
        """Counts in lists are recounted by the client."""
        return f"sparse={self.sparse!r}" if self.sparse else None

    def shard_work(self, shard: int) -> TopicWork:
        """The documents of a shard."""
        return self._works[shard]

    def give_assignments(self, chain: TopicChain, shard: int) -> dict[str, NDArray[Any]]:
        """Topics and authors of a shard's tokens."""
        found = self._works[shard].assignments(chain.shards[shard])
        release_shard(chain.shards[shard])
        return found

    def take_assignments(self, chain: TopicChain, shard: int, assignments: Mapping[str, NDArray[Any]]) -> None:
        """Replace the topics and authors of a shard's tokens."""
        topic = assignments["topic"]
        chain.shards[shard].set_assignments(topic, assignments.get("slot", np.zeros(len(topic), np.uint16)))
        release_shard(chain.shards[shard])

    def sent_priors(self, chain: TopicChain) -> Any:
        """Those of the next sweep: they change after sweeps in which something is learned."""
        return self._priors_of(chain, chain.sweep + 1)

    def _priors_of(self, chain: TopicChain, sweep: int) -> Any:
        """Priors of a sweep."""
        return FirstPriors(chain.priors, FIRST_PRIVATE_WEIGHT) if self._is_first(sweep) else chain.priors

    def _is_first(self, sweep: int) -> bool:
        """Whether private authors weigh more in a sweep than later."""
        return sweep <= FIRST_SWEEPS and self.lists.fictitious and self.alpha_left_open

    def settled(self, chains: list[TopicChain], sweep: int, seed: int, executor: Executor) -> list[TopicChain]:
        """The chains that estimates are made from: copies after some later sweeps if the last was one of the first.

        The running chains are not touched, so that they go on in the same way wherever a fit ends.
        """
        if self.sparse or sweep == 0 or not self._is_first(sweep):
            return super().settled(chains, sweep, seed, executor)
        copies = [self.restore(chain.index, self.to_arrays(chain), chain.trace) for chain in chains]
        for number in range(SETTLING_SWEEPS):
            sweep_chains(self, copies, _SETTLING + SETTLING_SWEEPS * sweep + number, seed, executor)
        for chain, copy in zip(chains, copies, strict=True):
            copy.sweep, copy.samples = sweep, chain.samples
        return copies


def chain_alpha(chain: TopicChain) -> NDArray[np.float64]:
    """Alpha of the chain per topic, without padding."""
    return np.asarray(chain.priors.alpha[: len(chain.counts.topic)], np.float64)


def chain_beta(chain: TopicChain) -> NDArray[np.float64]:
    """Beta of the chain per word."""
    return np.asarray(chain.priors.beta, np.float64)
