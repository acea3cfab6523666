"""Topics of a chain, common to all families: counts of words, leading words, topic counts of documents."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import occurrences
from topoi.kernels.counts import Counts, Documents
from topoi.kernels.folding import Labels, SamplingPlan, Scored, label_room
from topoi.kernels.lanes import padded
from topoi.kernels.word_lists import SparseCounts
from topoi.models.averages import Averaged
from topoi.models.mixtures import Cells, DocumentMixtures, Mixtures, blocks, count_samples, whole_tokens
from topoi.models.ranges import document_range, for_documents

# Words × topics from which on dense counts are avoided: 64 megabytes.
_MANY_CELLS = 2**24


class TopicCounts(DocumentMixtures):
    """Mean counts of one chain's samples; a family's posterior adds ``alpha`` and its other parameters.

    ``counts`` are means over the samples in ``averaged``; ``priors`` and ``assignments`` (the topic of every token, in
    the order of documents) are those of the last sample. Whole numbers for display are rounded means.
    """

    counts: Counts | SparseCounts
    priors: Any
    assignments: Any
    averaged: Averaged | None = None
    index: int
    _doc_start: NDArray[np.int64]

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Weight by which each topic's count in a document is smoothed."""
        raise NotImplementedError  # abstract: each family's own

    @property
    def alpha_sum(self) -> float:
        """Sum of alpha."""
        return float(self.alpha.sum())

    @property
    def beta(self) -> NDArray[np.float64]:
        """The Dirichlet parameter of each word."""
        return np.asarray(self.priors.beta, np.float64)

    @property
    def n_topics(self) -> int:
        """The number of topics."""
        return len(self.counts.topic)

    @property
    def n_samples(self) -> int:
        """Number of samples that the counts are means of."""
        return 1 if self.averaged is None else len(self.averaged)

    @property
    def topic_sizes(self) -> NDArray[np.int64]:
        """Tokens per topic, rounded."""
        return whole_tokens(self.counts.topic)

    def exact(self, counts: NDArray[Any]) -> NDArray[np.float64]:
        """Exact means, as sums of whole numbers divided once, from counts held in float32."""
        wide, n = np.asarray(counts, np.float64), self.n_samples
        return wide if n == 1 else np.rint(wide * n) / n

    @property
    def topic_totals(self) -> NDArray[np.float64]:
        """Tokens per topic: means over the samples."""
        if self.averaged is None or "counts" in self.__dict__:
            return np.asarray(self.counts.topic, np.float64)
        sums = [occurrences(sample["topic"], self.n_topics) for sample in self.averaged.samples]
        return np.asarray(np.sum(sums, axis=0) / len(sums))

    def sparing(self) -> Self:
        """A copy for a single pass over all counts: large counts that do not exist yet are made sparse."""
        cells = len(self.priors.beta) * padded(self.n_topics)
        if "counts" in self.__dict__ or self.n_samples == 1 or cells <= _MANY_CELLS:
            return self
        lists = self._counts_without_zeros()
        if lists is None:
            return self
        other = copy(self)
        other.__dict__["counts"] = lists
        return other

    def _counts_without_zeros(self) -> SparseCounts | None:
        """Means of the samples' counts as sparse lists; None if the family has none."""
        return None

    @cached_property
    def documents(self) -> Mixtures:
        """Sparse topic counts of the training documents."""
        topics = [self.assignments.topic]
        if self.averaged is not None:
            topics = [sample["topic"] for sample in self.averaged.samples]
        return Mixtures(*count_samples(self._doc_start, topics, self.n_topics), self.alpha, len(topics))

    @cached_property
    def topics(self) -> Mixtures:
        """Sparse word counts of the topics."""
        w, k, n = self.counts.word_cells()
        by_topic = np.argsort(k, kind="stable")
        start = np.searchsorted(k[by_topic], np.arange(self.n_topics + 1))
        number = np.rint(n[by_topic] * self.n_samples).astype(np.int64)
        return Mixtures(start, w[by_topic], number, self.beta, self.n_samples)

    def word_blocks(self) -> Iterator[Cells]:
        """Nonzero topic counts of words, in blocks of words."""
        for part in blocks(len(self.priors.beta)):
            w, k, n = self.counts.word_cells(part)
            yield w, k, self.exact(n)

    def word_sums(self, words: Any) -> NDArray[np.float64]:
        """Tokens of some words in each topic, summed over the samples: whole numbers, words × topics."""
        return np.rint(np.asarray(self.counts.word_rows(words), np.float64) * self.n_samples)

    def word_columns(self, words: Any) -> NDArray[np.float64]:
        """P(word | topic) of some words, topics × words: these columns of ``topic_word`` alone."""
        counts = self.exact(self.counts.word_rows(words)) + self.beta[words, None]
        return np.asarray((counts / (self.counts.topic + self.priors.beta_sum)).T)

    def word_counts(self, word: int) -> NDArray[np.int64]:
        """Tokens of one word per topic."""
        return whole_tokens(self.counts.word_rows([word])[0])

    @property
    def word_times(self) -> NDArray[np.float64]:
        """Tokens of each word in all topics together."""
        w, _, n = self.counts.word_cells()
        return np.rint(np.bincount(w, n, len(self.beta)))

    def words_before(self, word: int) -> NDArray[np.int64]:
        """Number of words that rank before a word in each topic: the more probable and, on ties, the earlier ones.

        Words of which a topic has less than half a token rank last, by number.
        """
        own = self._listed([word])[0]
        before = np.zeros(self.n_topics, np.int64)
        for part in blocks(len(self.beta)):
            weight = self._listed(part)
            before += (weight > own).sum(axis=0) + (weight[: max(word - part.start, 0)] == own).sum(axis=0)
        return before

    def _listed(self, words: Any) -> NDArray[np.float64]:
        """Weights that rank the words of topics, words × topics: a topic's probabilities up to a factor."""
        counts = self.counts.word_rows(words)
        return np.where(counts >= 0.5, counts + self.beta[words, None], 0.0)

    @cached_property
    def topic_word(self) -> NDArray[np.float64]:
        """P(word | topic): topics × words, rows sum to one."""
        result = np.empty((self.n_topics, len(self.beta)))
        for part in blocks(len(self.beta)):
            result[:, part] = self.word_columns(part)
        return result

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
        room = label_room(documents, self.n_topics, labels)

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
        self, documents: Documents, seed: int, n_particles: int, n_moves: int, n_jobs: int = 1, *more: Any
    ) -> NDArray[np.float64]:
        """Log probability of each document (see the family's ``likelihood``, also for ``more``)."""
        result = np.zeros(len(documents.doc_start) - 1)

        def run(first: int, last: int) -> None:
            part = document_range(documents, first, last)
            self._log_likelihood(part, n_particles, n_moves, seed, self.index, result[first:last], *more)

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

    def _fold_in(self, part: Documents, wanted: Scored, plan: SamplingPlan, *outputs: Any) -> None:
        """Sample some documents and add to the outputs: topic shares, scores, labels."""
        raise NotImplementedError  # abstract: each family's own kernel

    def _log_likelihood(self, part: Documents, *how: Any) -> None:
        """Log probabilities of some documents; ``how`` is particles, moves, seed, chain, output array, and more."""
        raise NotImplementedError  # abstract: each family's own kernel
