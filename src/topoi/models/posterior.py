"""Frozen result of one chain, common to all families with topics; its counts come from arrays or from a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import BLOCK, occurrences, row_blocks
from topoi.errors import ModelError
from topoi.kernels.counts import Counts, Documents
from topoi.kernels.folding import FilterPlan, Labels, SamplingPlan, Scored, label_room
from topoi.kernels.ranking import term_products
from topoi.kernels.word_lists import SparseCounts
from topoi.models.averages import Averaged
from topoi.models.contract import Chosen, CountSource, SeedLike
from topoi.models.ranges import document_range, for_documents
from topoi.models.resampling import Block, Draw, Draws
from topoi.models.share_moments import (
    Moments,
    Sums,
    between_samples,
    group_moments,
    mixture_moments,
    sampled_moments,
    sums_of,
    writer_moments,
)
from topoi.models.smoothed_counts import SmoothedCounts, blocks, count_topics, whole_tokens
from topoi.models.sources import ArraySource, Rows, TrainingDocument
from topoi.models.validation import resolve_seed, whole_number

if TYPE_CHECKING:
    from topoi.models.guidance.guidance import Guidance
    from topoi.models.labels.make import TopicNames

# Documents × topics up to which shares are kept as one matrix, four bytes each.
_MOST_SHARES = 2**26


class Posterior:
    """Topics of one chain, and the point estimates that their counts give.

    Parameters
    ----------
    source : CountSource
        Where the counts come from: arrays of a fitted model (``topoi.models.sources.ArraySource``) or a store's rows.
        Counts are means over samples; whole numbers for display are rounded means.
    priors : named tuple
        Parameters in the form in which the family's kernels read them.
    """

    # Whether a topic's words are ordered by their tokens, so that rows of a store that are ordered by tokens begin with
    # its leading words.
    words_by_tokens = True
    # Whether documents' mixtures are their smoothed counts; otherwise they are the rows of ``doc_topic``.
    mixtures_are_counts = True
    # What the fit was told of its topics; a store has the names as labels.
    guidance: Guidance | None = None
    # Whether sampling gave each training token a topic; otherwise topics of tokens are drawn from mixtures, for counts.
    tokens_have_topics = True
    # Whether a document's mixture is drawn from a Dirichlet with parameter ``alpha``, which expectation propagation and
    # importance sampling take for granted; documents with authors have those of their authors.
    mixtures_are_dirichlet = False
    trace: list[tuple[int, float]] = []
    priors: Any = None

    def __init__(self, source: CountSource, priors: Any = None) -> None:
        self.source = source
        if priors is not None:
            self.priors = priors

    @property
    def can_sample(self) -> bool:
        """Whether documents can be labelled."""
        return False

    @property
    def arrays(self) -> ArraySource:
        """The counts of a fitted model in memory; a view of a store has none."""
        if not isinstance(self.source, ArraySource):
            raise ModelError("a model in a store has its counts in rows; load it with topoi.load")
        return self.source

    @property
    def index(self) -> int:
        """The chain's number."""
        return self.source.index

    @property
    def counts(self) -> Counts | SparseCounts:
        """Means of the samples' counts, of all words and authors; a model in a store has none in memory."""
        return self.arrays.counts

    @property
    def assignments(self) -> Any:
        """The last sample: the topic of every token, in the order of documents; not in a store."""
        return self.arrays.assignments

    @property
    def averaged(self) -> Averaged | None:
        """The samples that the counts are means of; not in a store."""
        return self.arrays.averaged

    @property
    def _doc_start(self) -> NDArray[np.int64]:
        return self.source.doc_start

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Weight by which each topic's count in a document is smoothed."""
        return self.source.alpha

    @property
    def alpha_sum(self) -> float:
        """Sum of alpha."""
        return self.source.alpha_sum

    @property
    def beta(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each word."""
        return self.source.beta

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return self.source.n_topics

    @property
    def n_samples(self) -> int:
        """Number of samples that the counts are means of."""
        return self.source.n_samples

    @property
    def topic_sizes(self) -> NDArray[np.int64]:
        """Tokens per topic, rounded."""
        return self.source.topic_sizes

    @property
    def topic_totals(self) -> NDArray[np.float64]:
        """Tokens per topic: means over the samples."""
        return self.source.topic_totals

    @cached_property
    def documents(self) -> SmoothedCounts:
        """Sparse topic counts of the training documents."""
        return _smoothed(self.source.document_cells(), self.alpha, self.n_samples)

    @cached_property
    def authors(self) -> SmoothedCounts:
        """Sparse topic counts of the authors."""
        return _smoothed(self.source.author_cells(), self.alpha, self.n_samples)

    @property
    def has_private_authors(self) -> bool:
        """Whether documents have private authors beside their named ones."""
        return False

    @cached_property
    def _written(self) -> tuple[SmoothedCounts, NDArray[np.float16]]:
        if not self.has_private_authors:
            return self.authors, self.source.author_deviations()
        cells, deviations = self.source.written_cells()
        return _smoothed(cells, self.alpha, self.n_samples), deviations

    @property
    def written(self) -> SmoothedCounts:
        """Sparse topic counts of what authors wrote: their own words, and their parts of private authors' words."""
        return self._written[0] if self.has_private_authors else self.authors

    @property
    def written_deviations(self) -> NDArray[np.float16]:
        """Deviations of topics' shares, for the cells of ``written``."""
        return self._written[1]

    @cached_property
    def author_topic(self) -> NDArray[np.float64]:
        """P(topic | author): authors × topics, rows sum to one; authors without tokens have the prior's mean."""
        counts = self.authors.counts(np.arange(len(self.authors))) + self.alpha
        return np.asarray(counts / (self.authors.totals[:, None] + self.alpha_sum))

    @cached_property
    def topics(self) -> SmoothedCounts:
        """Sparse word counts of the topics; of a store this reads a million rows or more."""
        cells, told = self.source.topic_cells(), self.source.phantoms
        # Here a word that is banned from a topic has its beta there: there is no place for a zero.
        cells = cells if told is None else told.with_seeds(cells, self.n_samples)
        return _smoothed(cells, self.beta, self.n_samples)

    @cached_property
    def word_room(self) -> NDArray[np.float64]:
        """What P(word | topic) is divided by: each topic's tokens and prior together."""
        told = self.source.phantoms
        room = self.topic_totals + self.source.beta_sum
        return room if told is None else room + told.totals(self.beta)

    def word_columns(self, words: Chosen) -> NDArray[np.float64]:
        """P(word | topic) of some words, topics × words: these columns of ``topic_word`` alone."""
        return np.asarray((self._prior_rows(words) / self.word_room).T)

    def positive_columns(self, words: Chosen) -> NDArray[np.float64]:
        """``word_columns`` in which a word that is banned from a topic has its beta there, for logarithms."""
        told = self.source.phantoms
        if told is None:
            return self.word_columns(words)
        counts = self.source.word_rows(words) + self.beta[words, None] + told.seed_rows(self._numbers(words))
        return np.asarray((counts / self.word_room).T)

    def _prior_rows(self, words: Chosen) -> NDArray[np.float64]:
        """Tokens and prior of some words in each topic, words × topics."""
        told, counts = self.source.phantoms, self.source.word_rows(words) + self.beta[words, None]
        if told is None:
            return counts
        # A topic whose every word is banned has no words; its row is the prior, for rows have to be probabilities.
        lost = np.where(told.retired, 0.0, told.rows(self._numbers(words), self.beta))
        return np.maximum(counts + lost, 0.0)

    def _numbers(self, words: Chosen) -> NDArray[np.int64]:
        return np.arange(len(self.beta))[words]

    @cached_property
    def kernel_counts(self) -> Any:
        """``counts`` as kernels read them: with the phantom tokens of a guided model."""
        counts, told = self.counts, self.source.phantoms
        if told is None:
            return counts
        if not isinstance(counts, Counts):
            raise ModelError("a guided model has its counts in a matrix")
        copy = counts._replace(word_topic=counts.word_topic.copy(), topic=counts.topic.copy())
        told.add_to(copy, self.beta)
        return copy

    def word_counts(self, word: int) -> NDArray[np.int64]:
        """Tokens of one word per topic."""
        return whole_tokens(self.source.word_rows(np.array([word]))[0])

    @property
    def word_times(self) -> NDArray[np.float64]:
        """Tokens of each word in all topics together."""
        times = np.zeros(len(self.beta))
        for w, _, n in self.source.word_blocks():
            times += np.bincount(w, n, len(times))
        return np.rint(times)

    def words_before(self, word: int, topics: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Number of words that rank before a word in some topics: the more probable and, on ties, the earlier ones."""
        return self.source.words_before(word, topics)

    @cached_property
    def topic_word(self) -> NDArray[np.float64]:
        """P(word | topic): topics × words, rows sum to one."""
        result = np.empty((self.n_topics, len(self.beta)))
        for part in blocks(len(self.beta)):
            result[:, part] = self.word_columns(np.arange(part.start, part.stop))
        return result

    def named(self, corpus: Corpus) -> TopicNames:
        """Automatic labels of the topics and flags of background topics, made once; ``corpus`` is that of the fit."""
        known = self.__dict__.get("_named")
        if known is None or known[0] is not corpus:
            from topoi.models.labels.make import name_topics

            given = () if self.guidance is None else self.guidance.names
            former = self.__dict__.get("_former", ())
            if known is not None and corpus.texts is None and known[0].texts is not None:
                former = known[1].labels  # a copy of the corpus without its texts; people know the labels
            names = name_topics(corpus, self, former)
            known = self.__dict__["_named"] = corpus, names.with_names(given)
        return known[1]  # type: ignore[no-any-return]

    @property
    def labels_so_far(self) -> list[str]:
        """Automatic labels if they have been made, or those that were there before; otherwise none."""
        known = self.__dict__.get("_named")
        return list(self.__dict__.get("_former", ()) if known is None else known[1].labels)

    def remember_labels(self, labels: Sequence[str]) -> None:
        """Take over labels that people may know: of the chain before it went on, or of a file.

        Each stays while it is nearly as good as the best (``topoi.models.labels.memory``).
        """
        self.__dict__["_former"] = tuple(labels)

    @property
    def names_known(self) -> tuple[dict[int, str], int]:
        """Names that people gave to topics in a file, and the number of edits that these names are later than."""
        names, n_edits = self.__dict__.get("_names_known", ({}, 0))
        return dict(names), n_edits

    def remember_names(self, names: Mapping[int, str], n_edits: int) -> None:
        """Take over names that people gave: of a file, or of the chain before it went on."""
        self.__dict__["_names_known"] = {k: name for k, name in names.items() if 0 <= k < self.n_topics}, n_edits

    def remember(self, before: Posterior) -> None:
        """Take over the labels and names of the same topics, as they were before a model went on."""
        self.remember_labels(before.labels_so_far)
        self.remember_names(*before.names_known)

    # Training documents; families with a better estimate of a mixture than its counts override the shares.

    def document(self, number: int) -> TrainingDocument:
        """A training document with its last sample."""
        return self.source.document(number)

    def document_draws(self) -> Draws:
        """Words of the training documents per topic in every sample."""
        return Draws(self.n_samples, self.n_topics, self._draw_blocks)

    def _draw_blocks(self) -> Iterator[Block]:
        for part in row_blocks(self._doc_start, BLOCK // self.n_samples):
            own = self._doc_start[part.start : part.stop + 1]
            topics = self.source.topic_samples(part.start, part.stop)
            rows = (count_topics(own - own[0], each.astype(np.uint16), self.n_topics) for each in topics)
            yield Block(part.start, [Draw(*each) for each in rows])

    def document_shares(self, document: int) -> NDArray[np.float64]:
        """Topic shares of one training document."""
        return self.documents.shares(document)[0]

    def topic_shares(self, topic: int) -> NDArray[np.float64]:
        """Share of a topic in every training document."""
        return self.documents.column_shares(topic)

    # How uncertain shares are; see ``topoi.models.share_moments``.

    def document_moments(self, document: int) -> Moments:
        """Mixture of a training document, with deviations."""
        counts = self._sample_counts(document, document + 1)[:, 0]
        return Moments(self.document_shares(document), sampled_moments(counts, self.alpha).deviation)

    def _sample_counts(self, first: int, last: int) -> NDArray[np.float64]:
        """Words per topic of documents ``first`` to ``last`` in every sample: samples × documents × topics."""
        row = np.repeat(np.arange(last - first), np.diff(self._doc_start[first : last + 1])) * self.n_topics
        shape = last - first, self.n_topics
        topics = self.source.topic_samples(first, last)
        return np.stack([np.bincount(row + each, minlength=shape[0] * shape[1]).reshape(shape) for each in topics])

    def writer_moments(self, document: int) -> Moments:
        """Shares of a training document's authors in its words, with deviations; a private author comes last."""
        source, stored = self.source, self.source.document(document)
        samples = [each["slot"].astype(np.int64) for each in source.document_samples(stored) if "slot" in each]
        return writer_moments(samples or [stored.assignments.slot.astype(np.int64)], len(stored.authors) + 1)

    def deviation_range(self, first: int, last: int) -> NDArray[np.float64] | None:
        """Deviations of the mixtures of documents ``first`` to ``last``, for a store to keep beside the mixtures.

        None if a store's rows suffice to compute them, or if there is no posterior.
        """
        return None

    def author_moments(self, authors: NDArray[np.int64]) -> Moments:
        """Topics' shares of what some authors wrote, authors × topics, with deviations."""
        written = self.written
        mean, between = written.shares(authors), written.dense(self.written_deviations, authors)
        return mixture_moments(mean, written.totals[authors] + self.alpha_sum, between)

    def group_moments(self, documents: NDArray[np.int64]) -> Moments:
        """Topics' shares of the words of some training documents together, as of documents of their kind.

        The samples' means are resampled, document by document; what samples leave open of single words averages out.
        """
        return group_moments(sums_of(self.documents, documents), self._sums)

    @cached_property
    def _sums(self) -> Sums:
        return sums_of(self.documents)

    @cached_property
    def size_moments(self) -> Moments:
        """Topics' shares of all words, as of documents like these, with deviations."""
        stored, total = self.source.size_deviations(), self.topic_totals
        share = total / max(float(total.sum()), 1.0)
        if stored is not None:
            return Moments(share, stored)
        samples = [] if self.averaged is None else self.averaged.samples
        sizes = np.array([occurrences(each["topic"], self.n_topics) for each in samples], np.float64)
        between = between_samples(sizes / max(float(total.sum()), 1.0)) if len(samples) > 1 else None
        return Moments(share, group_moments(self._sums, between=between).deviation)

    def times_mixtures(self, columns: NDArray[np.float64]) -> NDArray[Any]:
        """Each training document's mixture times some columns over topics: documents × columns.

        A product of dense matrices, with the rounding of float32; of sparse ones if the mixtures of all documents would
        take more than 256 megabytes.
        """
        if self.mixtures_are_counts and len(self.documents) * self.n_topics > _MOST_SHARES:
            return self.documents.word_probabilities(columns)
        return np.asarray(term_products(self.mixtures.T, np.ascontiguousarray(columns, np.float32)).T)

    @cached_property
    def mixtures(self) -> NDArray[np.float32]:
        """Mixtures of all training documents, documents × topics; a store has those that are not counts in its rows.

        Each topic's column is contiguous, as products with a few columns of terms read them fastest.
        """
        stored = None if self.mixtures_are_counts else self.source.document_mixtures()
        if stored is not None:
            return np.asfortranarray(stored)
        n_docs = len(self._doc_start) - 1
        found = np.empty((n_docs, self.n_topics), np.float32, order="F")
        for part in blocks(n_docs):
            found[part] = self.mixture_range(part.start, part.stop)
        return found

    def mixture_range(self, first: int, last: int) -> NDArray[np.float64]:
        """Mixtures of documents ``first`` to ``last``."""
        return self.documents.shares(np.arange(first, last)) if self.mixtures_are_counts else self.doc_topic[first:last]

    @property
    def doc_topic(self) -> NDArray[np.float64]:
        """P(topic | document) of all training documents: documents × topics, rows sum to one."""
        return self.documents.shares(np.arange(len(self.documents)))

    # What a store writes beside its counts.

    def shares_of(self, doc: NDArray[Any], topic: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        """Share of a topic in a document of which it has ``n`` tokens, for consecutive documents."""
        lengths = np.diff(self._doc_start)
        return np.asarray((n + self.alpha[topic]) / (lengths[doc] + self.alpha.sum()))

    def probabilities_of(self, word: NDArray[Any], topic: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
        """P(word | topic) of words of which a topic has ``n`` tokens."""
        told = self.source.phantoms
        weight = n + self.beta[word] if told is None else n + self.beta[word] + told.at(word, topic)
        return np.asarray(weight / self.word_room[topic])

    # New documents.

    def sample_documents(
        self,
        documents: Documents,
        plan: SamplingPlan,
        scored: Scored | None = None,
        labels: bool = False,
        n_jobs: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Labels]:
        """Sample new documents (see the family's ``fold_in``): topic shares, scores, labels."""
        n_docs = len(documents.doc_start) - 1
        scored = scored or Scored(np.zeros(0, np.int32), np.zeros(n_docs + 1, np.int64))
        doc_topic = np.zeros((n_docs, self.n_topics))
        scores = np.zeros(len(scored.tokens))
        room = label_room(len(documents.tokens), self.n_topics, documents[3], labels)

        def run(first: int, last: int) -> None:
            part = document_range(documents, first, last)
            here = slice(documents.doc_start[first], documents.doc_start[last])
            there = slice(scored.start[first], scored.start[last])
            wanted = Scored(scored.tokens[there], scored.start[first : last + 1] - scored.start[first])
            mine = Labels(room.topic[here], room.slot[here]) if labels else room
            self._fold_in(part, wanted, plan, doc_topic[first:last], scores[there], mine)

        for_documents(run, documents, n_jobs)
        return doc_topic, scores, room

    def log_likelihood(
        self,
        documents: Documents,
        seed: int,
        n_particles: int,
        n_moves: int,
        n_jobs: int = 1,
        resample_below: float = 0.5,
        weighted: bool = True,
    ) -> NDArray[np.float64]:
        """Log probability of each document by a particle filter; see ``FilterPlan``."""
        result = np.zeros(len(documents.doc_start) - 1)
        plan = FilterPlan(n_particles, n_moves, seed, self.index, float(resample_below), bool(weighted))

        def run(first: int, last: int) -> None:
            part = document_range(documents, first, last)
            self._log_likelihood(part, plan, result[first:last])

        for_documents(run, documents, n_jobs)
        return result

    def is_integrated(self, documents: Documents) -> NDArray[np.bool_]:
        """Whether each document's mixture is integrated out, so that its log-likelihood is an estimate, not exact."""
        return np.ones(len(documents.doc_start) - 1, bool)

    def prior_groups(self, documents: Documents) -> NDArray[np.int64]:
        """Group number of each document: documents of a group have the same prior of topic mixtures."""
        return np.zeros(len(documents.doc_start) - 1, np.int64)

    def prior_mixtures(self, documents: Documents, d: int, n: int, name: tuple[int, ...]) -> NDArray[np.float64]:
        """``n`` topic mixtures of document ``d`` drawn from its prior, before any word is read; n × topics.

        The draws depend only on the prior and on ``name``: documents of one group get the same.
        """
        raise NotImplementedError  # abstract: each family's own prior

    def _fold_in(
        self,
        part: Documents,
        wanted: Scored,
        plan: SamplingPlan,
        doc_topic: NDArray[np.float64],
        scores: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        """Sample some documents and add to the outputs: topic shares, scores, labels."""
        raise NotImplementedError  # abstract: each family's own kernel

    def _log_likelihood(self, part: Documents, plan: FilterPlan, result: NDArray[np.float64]) -> None:
        """Set ``result`` to the log probabilities of some documents."""
        raise NotImplementedError  # abstract: each family's own kernel

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors for every token of a new text; without authors, as by somebody new."""
        raise NotImplementedError  # abstract: sampled, or inferred

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Topic shares of a new text, as by somebody new."""
        raise NotImplementedError  # abstract: sampled, or inferred

    def label_document(self, document: TrainingDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors (positions, a private one last) for a training document's tokens."""
        raise NotImplementedError  # abstract: sampled, or inferred


def _smoothed(rows: Rows, prior: NDArray[np.float64], n_samples: int) -> SmoothedCounts:
    start, column, number = rows
    return SmoothedCounts(start, column, number, prior, n_samples)


def checked_plan(
    burn_in: int, n_samples: int, lag: int, seed: int, random_state: SeedLike = None, chain: int = 0
) -> SamplingPlan:
    """A sampling plan; ``random_state``, if given, replaces the fit's seed.

    Examples
    --------
    >>> from topoi.models.posterior import checked_plan
    >>> checked_plan(20, 10, 2, seed=0).n_samples
    10
    """
    whole_number("burn_in", burn_in, 0)
    seed = seed if random_state is None else resolve_seed(random_state)
    return SamplingPlan(burn_in, whole_number("n_samples", n_samples), whole_number("lag", lag), seed, chain)
