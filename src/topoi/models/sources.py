"""Counts of a chain in memory; a store has the same by SQL (``topoi.store.counts``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import occurrences, ranges
from topoi.engine.samples import Sample
from topoi.errors import StoreError
from topoi.kernels.counts import Assignments, Counts
from topoi.kernels.lanes import padded
from topoi.kernels.word_lists import SparseCounts
from topoi.models.averages import Averaged
from topoi.models.contract import Chosen
from topoi.models.guidance.phantoms import Phantoms
from topoi.models.share_moments import DEVIATION_TYPE, Moments, deviations_of_rows
from topoi.models.smoothed_counts import Cells, blocks, count_samples, sparse_rows, whole_tokens
from topoi.models.written import written_words

# Words × topics from which on dense counts are avoided: 64 megabytes.
_MANY_CELLS = 2**24

# Nonzero counts row by row: start of each row, columns, sums over the samples.
Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class TrainingDocument(NamedTuple):
    """A training document: its tokens, their places in its text, and their assignments in the last sample.

    ``paths`` are set if the model's topics are nodes of a graph; ``number`` is the document's number.
    """

    tokens: NDArray[np.int32]
    start: NDArray[np.int64] | None
    end: NDArray[np.int64] | None
    assignments: Assignments
    authors: NDArray[np.int64]
    paths: NDArray[np.uint32] | None = None
    number: int = 0


class WordPriors(Protocol):
    """Priors of a family, of which a source reads those of the words."""

    @property
    def beta(self) -> NDArray[Any]:
        """The Dirichlet parameter of each word."""
        ...

    @property
    def beta_sum(self) -> float:
        """Sum of beta, as kernels read it."""
        ...


class ArraySource:
    """Mean counts of one chain's samples, from arrays; see ``topoi.models.contract.CountSource``.

    Parameters
    ----------
    corpus : Corpus
        The training corpus.
    index, n_topics : int
        The chain's number, and its topics.
    assignments : named tuple, or callable
        The last sample: the topic of every token (and its author's position, or its path); or a function that makes it.
    counts : callable
        Returns the counts, made when needed.
    priors : named tuple
        Has ``beta`` and ``beta_sum``.
    alpha : callable
        Returns the weight by which each topic's count in a document is smoothed, and the sum of these weights.
    averaged : Averaged, optional
        The samples that ``counts`` are means of; the last one alone if not given.
    lists : callable, optional
        Returns ``counts`` as sparse lists.
    n_authors : int
        Number of authors that the model distinguishes.
    phantoms : Phantoms, optional
        Prior of words in topics beyond beta; ``counts`` are without it.
    """

    def __init__(
        self,
        corpus: Corpus,
        index: int,
        n_topics: int,
        assignments: NamedTuple | Callable[[], NamedTuple],
        counts: Callable[[], Counts | SparseCounts],
        priors: WordPriors,
        alpha: Callable[[], tuple[NDArray[np.float64], float]],
        averaged: Averaged | None = None,
        lists: Callable[[], SparseCounts] | None = None,
        n_authors: int = 0,
        phantoms: Phantoms | None = None,
    ) -> None:
        self.phantoms = phantoms
        self.index, self.n_topics, self.n_authors, self.averaged = index, n_topics, n_authors, averaged
        self._corpus, self._priors, self._alpha = corpus, priors, alpha
        self._given, self._make_counts, self._make_lists = assignments, counts, lists

    @cached_property
    def assignments(self) -> Any:
        """The last sample."""
        return self._given() if callable(self._given) else self._given

    @cached_property
    def counts(self) -> Counts | SparseCounts:
        """Means of the samples' counts, of all words and authors."""
        return self._make_counts()

    @property
    def doc_start(self) -> NDArray[np.int64]:
        """Offset of each document's first token, then the end of the last document."""
        return self._corpus.doc_start

    @cached_property
    def _prior(self) -> tuple[NDArray[np.float64], float]:
        return self._alpha()

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Weight by which each topic's count in a document is smoothed."""
        return self._prior[0]

    @property
    def alpha_sum(self) -> float:
        """Sum of alpha, as kernels read it."""
        return self._prior[1]

    @property
    def beta(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each word."""
        return np.asarray(self._priors.beta, np.float64)

    @property
    def beta_sum(self) -> float:
        """Sum of beta, as kernels read it."""
        return float(self._priors.beta_sum)

    @property
    def n_samples(self) -> int:
        """Number of samples that the counts are means of."""
        return 1 if self.averaged is None else len(self.averaged)

    @property
    def topic_sizes(self) -> NDArray[np.int64]:
        """Tokens per topic, rounded."""
        return whole_tokens(self.counts.topic)

    @property
    def topic_totals(self) -> NDArray[np.float64]:
        """Tokens per topic: means over the samples."""
        if self.averaged is None or "counts" in self.__dict__:
            return np.asarray(self.counts.topic, np.float64)
        sums = [occurrences(sample["topic"], self.n_topics) for sample in self.averaged.samples]
        return np.asarray(np.sum(sums, axis=0) / len(sums))

    def exact(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        """Exact means, as sums of whole numbers divided once, from counts held in float32."""
        wide, n = np.asarray(counts, np.float64), self.n_samples
        return wide if n == 1 else np.rint(wide * n) / n

    def sparing(self) -> Self:
        """A copy for a single pass over all counts: large counts that do not exist yet are made sparse."""
        cells = len(self._priors.beta) * padded(self.n_topics)
        if "counts" in self.__dict__ or self.n_samples == 1 or cells <= _MANY_CELLS or self._make_lists is None:
            return self
        other = copy(self)
        other.__dict__["counts"] = self._make_lists()
        return other

    def damaged(self, what: str) -> StoreError:
        """An error about numbers that do not fit together."""
        return StoreError(what)

    # Rows of counts.

    def word_rows(self, words: Chosen) -> NDArray[np.float64]:
        """Tokens of some words per topic, words × topics: means over the samples."""
        return self.exact(self.counts.word_rows(words))

    def author_rows(self, authors: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Tokens of some authors per topic (authors × topics) and in all: means over the samples."""
        return self.counts.author_topic[authors, : self.n_topics], np.asarray(self.counts.author[authors])

    def word_blocks(self) -> Iterator[Cells]:
        """Nonzero topic counts of words, in blocks of words."""
        for part in blocks(len(self._priors.beta)):
            w, k, n = self.counts.word_cells(part)
            yield w, k, self.exact(n)

    def author_blocks(self) -> Iterator[Cells]:
        """Nonzero topic counts of authors, in blocks of authors."""
        for part in blocks(self.n_authors):
            counts = self.counts.author_topic[part, : self.n_topics]
            a, k = np.nonzero(counts)
            yield a + part.start, k, self.exact(counts[a, k])

    def document_cells(self) -> Rows:
        """Nonzero topic counts of documents."""
        topics = [self.assignments.topic]
        if self.averaged is not None:
            topics = [sample["topic"] for sample in self.averaged.samples]
        return count_samples(self.doc_start, topics, self.n_topics)

    def document_mixtures(self) -> NDArray[np.float32] | None:
        """None: the posterior has what mixtures are computed from."""
        return None

    def author_cells(self) -> Rows:
        """Nonzero topic counts of authors."""
        counts = np.asarray(self.counts.author_topic[: self.n_authors, : self.n_topics], np.float64)
        return sparse_rows(np.rint(counts * self.n_samples))

    def author_deviations(self) -> NDArray[np.float16]:
        """Standard deviations between samples of authors' shares, for the cells of ``author_cells``.

        Cost: O(tokens × samples).
        """
        if self.averaged is None or self.n_samples == 1:
            return np.zeros(len(self.author_cells()[1]), DEVIATION_TYPE)
        counts = (self._author_counts(sample) for sample in self.averaged.samples)
        return deviations_of_rows(counts, self.alpha, self.alpha_sum).astype(DEVIATION_TYPE)

    def written_cells(self) -> tuple[Rows, NDArray[np.float16]]:
        """Nonzero topic counts of what authors wrote, and deviations of shares (``topoi.models.written``)."""
        last = {"topic": self.assignments.topic, "slot": self.assignments.slot}
        samples = [last] if self.averaged is None else self.averaged.samples
        start, topic, sums, deviation = written_words(self._corpus, samples, self.alpha, self.alpha_sum)
        return (start, topic, sums), deviation

    def _author_counts(self, sample: Sample) -> Any:
        """Tokens of all authors per topic in one sample, a sparse matrix; those of private authors are left out."""
        from scipy.sparse import csr_array

        corpus, found = self._corpus, csr_array((self.n_authors, self.n_topics))
        n_authors = np.diff(corpus.doc_author_start)
        for part in ranges(corpus.n_tokens):
            ends = np.clip(self.doc_start, part.start, part.stop)
            doc = np.repeat(np.arange(corpus.n_docs), ends[1:] - ends[:-1])
            slot, topic = sample["slot"][part].astype(np.int64), sample["topic"][part]
            named = slot < n_authors[doc]
            author = corpus.doc_author[(corpus.doc_author_start[doc] + slot)[named]]
            ones = np.ones(len(author))
            found = found + csr_array((ones, (author, topic[named].astype(np.int64))), found.shape)
        found.sort_indices()
        return found

    def size_deviations(self) -> NDArray[np.float64] | None:
        """None: the posterior has what they are computed from."""
        return None

    def document_moments(self, document: int) -> Moments | None:
        """None: the posterior has what mixtures are computed from."""
        return None

    def topic_cells(self) -> Rows:
        """Nonzero word counts of topics."""
        w, k, n = self.counts.word_cells()
        by_topic = np.argsort(k, kind="stable")
        start = np.searchsorted(k[by_topic], np.arange(self.n_topics + 1))
        return start, w[by_topic], np.rint(n[by_topic] * self.n_samples).astype(np.int64)

    def words_before(self, word: int, topics: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Number of words that rank before a word in some topics: the more probable and, on ties, the earlier ones.

        Words of which a topic has less than half a token rank last, by number. Without ``topics``, in all of them.
        """
        own = self._listed([word])[0]
        before = np.zeros(self.n_topics, np.int64)
        for part in blocks(len(self.beta)):
            weight = self._listed(part)
            before += (weight > own).sum(axis=0) + (weight[: max(word - part.start, 0)] == own).sum(axis=0)
        return before if topics is None else before[topics]

    def _listed(self, words: Chosen) -> NDArray[np.float64]:
        """Weights that rank the words of topics, words × topics: a topic's probabilities up to a factor."""
        counts, prior = self.counts.word_rows(words), self.beta[words, None]
        if self.phantoms is None:
            return np.where(counts >= 0.5, counts + prior, 0.0)
        told = self.phantoms.seed_rows(np.arange(len(self.beta))[words])
        return np.where(counts + told >= 0.5, self.exact(counts) + told + prior, 0.0)

    # Documents.

    def document(self, number: int) -> TrainingDocument:
        """A training document with its last sample."""
        corpus, here = self._corpus, slice(self.doc_start[number], self.doc_start[number + 1])
        last = {name: values[here] for name, values in self.assignments._asdict().items()}
        by = slice(corpus.doc_author_start[number], corpus.doc_author_start[number + 1])
        places = [
            None if each is None else np.asarray(each[here], np.int64)
            for each in (corpus.token_start, corpus.token_end)
        ]
        slot = last.get("slot", np.zeros(here.stop - here.start, np.uint16))
        return TrainingDocument(
            corpus.tokens[here],
            places[0],
            places[1],
            Assignments(last["topic"], slot),
            np.asarray(corpus.doc_author[by], np.int64) if self.n_authors else np.zeros(0, np.int64),
            last.get("path"),
            number,
        )

    def document_samples(self, document: TrainingDocument) -> list[Sample]:
        """All samples of a training document's tokens, the last sample last."""
        return self.samples(document.number, document.number + 1)

    def samples(self, first: int, last: int) -> list[Sample]:
        """All samples of the tokens of documents ``first`` to ``last``, the last sample last."""
        tokens = slice(self.doc_start[first], self.doc_start[last])
        each = [self.assignments._asdict()] if self.averaged is None else self.averaged.samples
        return [{name: values[tokens] for name, values in sample.items()} for sample in each]

    def topic_samples(self, first: int, last: int) -> list[NDArray[Any]]:
        """Topics of the tokens of documents ``first`` to ``last`` in all samples, the last sample last."""
        return [sample["topic"] for sample in self.samples(first, last)]
