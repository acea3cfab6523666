"""Shards of documents, each with the assignments of its tokens and the kernel that samples them."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch, release
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.lanes import padded
from topoi.models.author_topic import kernels, topic_lists, word_lists, word_major
from topoi.models.author_topic.lines import MOST_TOPICS
from topoi.models.author_topic.listed_words import mean_word_lines

# The dense sweep is never slower below this number of topics.
FEWEST_FOR_LISTS = 65
# Tokens of the sample of documents whose topics are counted before a sweep.
_SAMPLED_TOKENS = 20_000
# Tokens whose words' topics are counted before a sweep.
_SAMPLED_WORDS = 1000


def word_lists_pay(n_topics: int, n_authors: float, length: float, lines: float, without: float) -> bool:
    """Whether a sweep over lists of the words' topics is expected to take less time than the dense one.

    A function of counts alone, so that it is the same on every machine. The costs are nanoseconds per token, measured
    on abstracts and on papers with 100 to 4,000 topics; ``python -m benchmarks.many_topics_authors --costs`` measures
    them.

    Parameters
    ----------
    n_topics : int
    n_authors, length : float
        Authors of a document, on average over tokens, and tokens of a document, on average over documents.
    lines, without : float
        Lines of sixteen topics in the list of a token's word, and the share of tokens whose words are in too many
        topics for a list.

    Examples
    --------
    >>> from topoi.models.author_topic.shards import word_lists_pay
    >>> word_lists_pay(1000, 3.0, 100.0, 4.0, 0.1), word_lists_pay(100, 1.0, 100.0, 1.0, 0.8)
    (True, False)
    """
    vectors = padded(n_topics) / 16
    dense = 27 + 22 * n_authors + (5.4 + 1.05 * n_authors) * vectors
    opening = 10 * n_authors * vectors / length
    lists = 45 + 25 * n_authors + 20 * min(n_authors - 1, 1) + 20 * lines + (40 + 6.5 * vectors) * without + opening
    return lists < dense


class DocumentShard:
    """Consecutive documents, sampled in document order by one of two author-topic kernels.

    Before each sweep, the topics of some words are counted to choose the kernel, if the words' numbers of tokens in the
    whole corpus are given as ``word_times``. ``allowed`` are the topics that documents may have, if not all.
    """

    def __init__(
        self,
        documents: Documents,
        scratch: Scratch | None = None,
        word_times: NDArray[np.int64] | None = None,
        allowed: tuple[NDArray[np.float32], NDArray[np.int32]] | None = None,
    ):
        self.documents, self.word_times, self._allowed = documents, word_times, allowed
        zeros, n = (scratch or Scratch()).zeros, len(documents.tokens)
        self.assignments = Assignments(zeros(n, np.uint16), zeros(n, np.uint16))
        if word_times is not None:
            lengths, n_authors = np.diff(documents.doc_start), np.diff(documents.author_start)
            self._sampled = documents.tokens[:: max(1, n // _SAMPLED_WORDS)].copy()
            self._sizes = float(lengths @ n_authors / max(n, 1)), n / max(len(lengths), 1)

    def set_assignments(self, topic: NDArray[Any], slot: NDArray[Any]) -> None:
        """Set the assignments, given in document order."""
        self.assignments.topic[:] = topic
        self.assignments.slot[:] = slot

    def in_document_order(self) -> Assignments:
        """Assignments in document order."""
        return self.assignments

    def sweep(self, counts: Counts, priors: Priors, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        self.sweep_weighted(self.documents, counts, priors, stream)

    def sweep_weighted(self, documents: Documents, counts: Counts, priors: Priors, stream: NDArray[np.uint64]) -> None:
        """``sweep`` with other weights of authors: ``documents`` are these documents with them."""
        if self._allowed is not None:
            kernels.sweep_allowed(documents, self.assignments, counts, priors, *self._allowed, stream)
        elif self.use_lists(counts):
            word_lists.sweep_listed(documents, self.assignments, counts, priors, self.word_times, stream)
        else:
            kernels.sweep(documents, self.assignments, counts, priors, stream)
        clear_private_author(counts)

    def use_lists(self, counts: Counts) -> bool:
        """Whether the next sweep is over lists of the words' topics."""
        n_topics = len(counts.topic)
        if self.word_times is None or not FEWEST_FOR_LISTS <= n_topics <= MOST_TOPICS or not len(self._sampled):
            return False
        found = mean_word_lines(self._sampled, self.word_times, counts)
        return word_lists_pay(n_topics, *self._sizes, *found)

    def release(self) -> None:
        """Give back the memory of what is in files."""
        release(self.documents, self.assignments)


def clear_private_author(counts: Counts) -> None:
    """Clear the private author's counts, which a sweep leaves as those of its last document."""
    counts.author_topic[-1] = 0
    counts.author[-1] = 0


class Order:
    """Order of a shard's tokens for a sweep word by word; ``by_lists`` tells for which kernel."""

    def __init__(self, layout: word_major.WordLayout, by_lists: bool) -> None:
        self.layout, self.by_lists = layout, by_lists


class Orders:
    """Orders of one shard's tokens, shared by all chains: made when first needed, freed when no chain uses them.

    ``runs_per_token`` is the number of runs of the dense kernel for each token, estimated from its first block.
    """

    def __init__(self, documents: Documents, n_topics: int, n_words: int, scratch: Scratch) -> None:
        self.documents, self.n_topics, self.n_words = documents, n_topics, n_words
        self._scratch = scratch
        self._made: WeakValueDictionary[bool, Order] = WeakValueDictionary()
        self._lock = threading.Lock()
        block = min(word_major.documents_per_block(padded(n_topics)), len(documents.doc_start) - 1)
        first_block = documents.tokens[: documents.doc_start[block]]
        self.runs_per_token = len(np.unique(first_block)) / max(len(first_block), 1)
        self.sample = _sampled_documents(documents.doc_start)

    def __reduce__(self) -> tuple[type[Orders], tuple[Any, ...]]:
        """Copies and pickles of a fitted model make the orders anew when they are needed."""
        return Orders, (self.documents, self.n_topics, self.n_words, self._scratch)

    def get(self, by_lists: bool) -> Order:
        """The order for the dense kernel, or for that with lists: one block of all documents."""
        with self._lock:
            order = self._made.get(by_lists)
            if order is None:
                order = Order(self._sorted(by_lists), by_lists)
                self._made[by_lists] = order
            return order

    def _sorted(self, by_lists: bool) -> word_major.WordLayout:
        tokens, doc_start = self.documents.tokens, self.documents.doc_start
        per_block = len(doc_start) - 1 if by_lists else word_major.documents_per_block(padded(self.n_topics))
        runs, order, block_docs = word_major.word_runs(tokens, doc_start, per_block)
        kept = word_major.WordRuns(*(self._scratch.keep(array) for array in runs))
        release(self.documents)
        return word_major.WordLayout(kept, self._scratch.keep(order), block_docs)


class Sample(NamedTuple):
    """Some documents: the positions of their tokens in document order, and where each document starts among them."""

    at: NDArray[np.int64]
    start: NDArray[np.int64]


def _sampled_documents(doc_start: NDArray[np.int64]) -> Sample:
    """Documents at even distances, with about ``_SAMPLED_TOKENS`` tokens."""
    n_docs = len(doc_start) - 1
    step = max(1, int(doc_start[-1]) // _SAMPLED_TOKENS)
    docs = np.arange(0, n_docs, step)
    lengths = doc_start[docs + 1] - doc_start[docs]
    start = np.concatenate(([0], np.cumsum(lengths)))
    at = np.arange(start[-1]) + np.repeat(doc_start[docs] - start[:-1], lengths)
    return Sample(at, start)


def lists_pay(n_topics: int, lines: float, runs_per_token: float, words_per_token: float, outside: float) -> bool:
    """Whether a sweep over lists of topics is expected to take less time than the dense one.

    A function of counts alone, so that it is the same on every machine. The costs are nanoseconds per token, measured
    on abstracts and on papers with 100 to 1,000 topics; ``python -m benchmarks.many_topics --costs`` measures them.

    Parameters
    ----------
    n_topics : int
    lines : float
        Lines of sixteen topics in the list of a token's document, on average.
    runs_per_token, words_per_token : float
        How often a word is opened by the dense kernel and by that with lists, for each token.
    outside : float
        Share of the prior in a document's mixture: such draws look beyond the document's topics.

    Examples
    --------
    >>> from topoi.models.author_topic.shards import lists_pay
    >>> lists_pay(1000, 3.0, 0.1, 0.01, 0.3), lists_pay(100, 6.0, 0.1, 0.01, 0.3)
    (True, False)
    """
    vectors = padded(n_topics) / 16
    dense = 60 + 1.8 * vectors + 9 * vectors * runs_per_token
    lists = 55 + 9 * lines + 6 * vectors * words_per_token + 35 * outside
    return lists < dense


class WordShard:
    """Consecutive documents with only private authors, sampled word by word: the faster order for LDA.

    Before each sweep, the topics of some documents are counted to choose the kernel.
    """

    def __init__(self, documents: Documents, orders: Orders, scratch: Scratch | None = None):
        self.documents, self._orders = documents, orders
        self.topic = (scratch or Scratch()).zeros(len(documents.tokens), np.uint16)
        self._order: Order | None = None  # of ``topic``; None is document order
        self._sample_at = orders.sample.at
        self._lengths = np.diff(documents.doc_start)

    def set_assignments(self, topic: NDArray[Any], slot: NDArray[Any]) -> None:
        """Set the assignments, given in document order."""
        self.topic[:] = topic if self._order is None else topic[self._order.layout.order]

    def in_document_order(self) -> Assignments:
        """Assignments in document order."""
        topic = self.topic
        if self._order is not None:
            topic = np.empty_like(self.topic)
            topic[self._order.layout.order] = self.topic
        return Assignments(topic, np.zeros(len(topic), np.uint16))

    def sweep(self, counts: Counts, priors: Priors, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        by_lists = self._use_lists(priors)
        if self._order is None or self._order.by_lists != by_lists:
            self._sort(by_lists)
        assert self._order is not None
        runs, _, block_docs = self._order.layout
        if by_lists:
            topic_lists.sweep_lists(runs, self.topic, counts, priors, self._lengths, stream)
        else:
            word_major.sweep_words(runs, self.topic, counts, priors, block_docs, stream)

    def _use_lists(self, priors: Priors) -> bool:
        orders, n_tokens = self._orders, len(self.topic)
        if not FEWEST_FOR_LISTS <= orders.n_topics <= MOST_TOPICS or n_tokens == 0:
            return False
        start = orders.sample.start
        lines = topic_lists.mean_lines(self.topic, self._sample_at, start, np.zeros(orders.n_topics, np.int64))
        length = float((np.diff(start) ** 2).sum() / max(start[-1], 1))
        outside = priors.alpha_sum / (priors.alpha_sum + length)
        return lists_pay(orders.n_topics, lines, orders.runs_per_token, orders.n_words / n_tokens, outside)

    def _sort(self, by_lists: bool) -> None:
        """Bring the tokens into the order of a kernel."""
        topic = self.in_document_order().topic
        self._order = None  # may free the order in use, before another is made
        self._order = self._orders.get(by_lists)
        order = self._order.layout.order
        self.topic[:] = topic[order]
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        self._sample_at = place[self._orders.sample.at].astype(np.int64)

    def release(self) -> None:
        """Give back the memory of what is in files."""
        layout = () if self._order is None else (self._order.layout.runs, self._order.layout.order)
        release(self.documents, *layout, self.topic)


def release_shard(shard: Any) -> None:
    """Give back the memory of a shard's files, if it has any."""
    if isinstance(shard, DocumentShard | WordShard):
        shard.release()
