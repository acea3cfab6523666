"""Frozen result of one chain of a sampler that runs on a single document: new ones, and those of the fit again."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from topoi.engine.samples import Sample
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.folding import Labels, SamplingPlan, content_key
from topoi.kernels.lanes import padded
from topoi.kernels.random import seed_stream
from topoi.models.posterior import Posterior
from topoi.models.sources import TrainingDocument

_NOBODY = np.zeros(0, np.int64)
_ROUNDING = 1e-3
_ROUNDED = 2.0**-23

# Topics of tokens with what else a family draws for each: the position of its author, or its path.
AssignmentsT = TypeVar("AssignmentsT")


class SampledPosterior(Posterior, Generic[AssignmentsT]):
    """A posterior that samples one document at a time from the counts of its own words and authors alone.

    These are fetched from the source, and the kernels of the fit run on them; a family adds its kernels.
    """

    @property
    def can_sample(self) -> bool:
        """Whether documents can be labelled."""
        return True

    @abstractmethod
    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Priors]:
        """One document with its own small vocabulary and author rows, as ``folding`` makes it from all counts."""

    @abstractmethod
    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> AssignmentsT:
        """Random assignments of a new document's tokens, counted in ``rows``."""

    @abstractmethod
    def _last_assignments(self, document: TrainingDocument) -> AssignmentsT:
        """Last sample of a training document, in the form that the kernel reads."""

    @abstractmethod
    def _has_private(self, authors: NDArray[np.int64]) -> bool:
        """Whether a training document by these authors also has a private one."""

    @abstractmethod
    def _run(
        self,
        small: Documents,
        assignments: AssignmentsT,
        rows: Counts,
        priors: Priors,
        plan: SamplingPlan,
        stream: NDArray[np.uint64],
        shares: NDArray[np.float64],
        labels: Labels,
    ) -> None:
        """Run the kernel on one document; ``shares`` and ``labels`` are set."""

    def _priors_of(self, document: int, priors: Priors) -> Priors:
        """Priors of a training document, if they are not those of new ones."""
        return priors

    def _rows_of(self, document: int, rows: Counts) -> Counts:
        """Counts as a training document sees them, if it may not have all topics."""
        return rows

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors for every token of a new text; without authors, as by somebody new."""
        return self._sample_new(tokens, authors, plan, labels=True)[1]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Topic shares of a new text, as by somebody new."""
        return self._sample_new(tokens, _NOBODY, plan, labels=False)[0]

    def _sample_new(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan, labels: bool
    ) -> tuple[NDArray[np.float64], Labels]:
        small, rows, priors = self._local_problem(tokens, authors, private=not len(authors), weighted=False)
        stream = self._stream(tokens, authors, plan, 1)
        return self._sampled(small, self._start(small, rows, stream), rows, priors, plan, stream, labels)

    def label_document(self, document: TrainingDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors (positions, a private one last) for a training document's tokens.

        Sampling starts from the last sample, whose counts include the document; other documents have their mean
        counts. Without burn-in and with one sample, the probabilities are those of the last sample itself.
        """
        authors = document.authors
        small, rows, priors = self._local_problem(document.tokens, authors, self._has_private(authors), weighted=True)
        if self.n_samples > 1:
            rows = self._as_in_last(document, small, rows)
        rows, priors = self._rows_of(document.number, rows), self._priors_of(document.number, priors)
        stream = self._stream(document.tokens, authors, plan, 2)
        return self._sampled(small, self._last_assignments(document), rows, priors, plan, stream, True)[1]

    def document_samples(self, document: TrainingDocument) -> list[Sample]:
        """Assignments of a training document in all samples that counts are means of, the last sample last."""
        return self.source.document_samples(document)

    def _as_in_last(self, document: TrainingDocument, small: Documents, rows: Counts) -> Counts:
        """Mean counts, but with the document's own tokens counted as in its last sample."""
        n, told = self.n_samples, self._phantom_rows(document.tokens)
        if told is not None:
            rows = rows._replace(word_topic=rows.word_topic - told[0], topic=rows.topic - told[1])
        sums = [np.rint(np.asarray(each, np.float64) * n) for each in rows]
        samples = self.document_samples(document)
        for sample, weight in [*((sample, -1.0) for sample in samples), (samples[-1], float(n))]:
            topic, author = sample["topic"], small.author[sample["slot"]] if "slot" in sample else None
            np.add.at(sums[0], (small.tokens, topic), weight)
            np.add.at(sums[1], topic, weight)
            if author is not None:
                np.add.at(sums[2], (author, topic), weight)
                np.add.at(sums[3], author, weight)
        # The private author's row is recounted whenever the document is sampled.
        sums[2][-1] = sums[3][-1] = 0.0
        # Means were rounded to float32, so that a large count may come out a little below zero.
        if any((each < -_ROUNDED * n * whole).any() for each, whole in zip(sums, rows, strict=True)):
            raise self.source.damaged(f"document {document.number} is not in the counts; they are damaged")
        kinds = (np.float32, np.float64, np.float32, np.float64)
        found = Counts(*((np.maximum(each, 0.0) / n).astype(kind) for each, kind in zip(sums, kinds, strict=True)))
        if told is None:
            return found
        return found._replace(word_topic=found.word_topic + told[0], topic=found.topic + told[1])

    def _phantom_rows(self, tokens: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float64]] | None:
        """Phantom tokens of a document's distinct words, padded, and of topics; None if the model was not guided."""
        told = self.source.phantoms
        if told is None:
            return None
        words = np.unique(tokens).astype(np.int64)
        rows = np.zeros((len(words), padded(self.n_topics)), np.float32)
        rows[:, : self.n_topics] = told.rows(words, self.beta.astype(np.float32))
        return rows, told.totals(self.beta)

    def _sampled(
        self,
        small: Documents,
        assignments: AssignmentsT,
        rows: Counts,
        priors: Priors,
        plan: SamplingPlan,
        stream: NDArray[np.uint64],
        labels: bool,
    ) -> tuple[NDArray[np.float64], Labels]:
        n = len(small.tokens) if labels else 0
        room = Labels(np.zeros((n, self.n_topics)), np.zeros((n, len(small.author))))
        shares = np.zeros(self.n_topics)
        self._run(small, assignments, rows, priors, plan, stream, shares, room)
        if not all(_are_probabilities(values) for values in (shares, *room)):
            raise self.source.damaged("counts of words do not fit the topics of a document; they are damaged")
        return shares, room

    def _stream(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan, purpose: int
    ) -> NDArray[np.uint64]:
        """Random stream of a document, named by its words and authors in the numbers of the whole model."""
        author = authors.astype(np.int32) if len(authors) else np.array([self.source.n_authors], np.int32)
        edges = np.array([0, len(tokens)]), np.array([0, len(author)])
        weight = np.ones(len(author), np.float32)
        whole = Documents(np.ascontiguousarray(tokens, np.int32), edges[0], author, edges[1], weight)
        stream = np.empty(2, np.uint64)
        seed_stream(stream, plan.seed, plan.chain, content_key(whole, 0), purpose)
        return stream

    def _local_rows(
        self,
        tokens: NDArray[Any],
        slots: NDArray[np.int32],
        weight: NDArray[np.float32],
        authors: NDArray[np.float32],
        totals: NDArray[np.float64],
    ) -> tuple[Documents, Counts, NDArray[np.float32]]:
        """The document with the counts of its words, given those of its authors, and its words' beta."""
        words, place = np.unique(tokens, return_inverse=True)
        word_topic = np.zeros((len(words), padded(self.n_topics)), np.float32)
        word_topic[:, : self.n_topics] = self.source.word_rows(words.astype(np.int64))
        small = Documents(
            np.ascontiguousarray(place.astype(np.int32)),
            np.array([0, len(tokens)]),
            slots,
            np.array([0, len(slots)]),
            weight,
        )
        topic, told = self.topic_totals.copy(), self._phantom_rows(tokens)
        if told is not None:
            word_topic, topic = word_topic + told[0], topic + told[1]
        counts = Counts(word_topic, topic, authors, totals)
        return small, counts, self.beta[words].astype(np.float32)


def _are_probabilities(values: NDArray[np.float64]) -> bool:
    return bool(((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all())
