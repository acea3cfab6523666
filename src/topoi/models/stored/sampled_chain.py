"""Sampling from rows of a store, common to the families whose documents can be sampled there.

Sampling a document needs only the counts of its own words (and authors); they are fetched, and the kernels of the fit
run on them.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.samples import Sample
from topoi.errors import StoreError
from topoi.kernels.counts import Counts, Documents
from topoi.kernels.folding import Labels, SamplingPlan, content_key
from topoi.kernels.lanes import padded
from topoi.kernels.random import seed_stream
from topoi.models.averages import settled
from topoi.models.stored import chain
from topoi.models.stored.chain import StoredDocument
from topoi.store.arrays import get_rows

_NOBODY = np.zeros(0, np.int64)
_ROUNDING = 1e-3


def _are_probabilities(values: NDArray[np.float64]) -> bool:
    return bool(((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all())


class SampledChain(chain.StoredChain):
    """The first chain of a model in a store that samples documents; a family adds its kernels."""

    can_sample = True

    @abstractmethod
    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Any]:
        """One document with its own small vocabulary and author rows, as ``folding`` makes it from all counts."""

    @abstractmethod
    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> Any:
        """Random assignments of a new document's tokens, counted in ``rows``."""

    @abstractmethod
    def _stored_assignments(self, document: StoredDocument) -> Any:
        """Assignments of a training document, in the form that the kernel reads."""

    @abstractmethod
    def _private(self, authors: NDArray[np.int64]) -> bool:
        """Whether a training document by these authors also has a private one."""

    @abstractmethod
    def _run(self, small: Documents, assignments: Any, wanted: NDArray[Any], rows: Counts, *rest: Any) -> None:
        """Run the kernel; ``rest`` is priors, plan, stream, and the outputs: shares, scores and labels."""

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

    def label_document(self, document: StoredDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors (positions, a private one last) for a training document's tokens.

        Sampling starts from the stored sample, whose counts include the document; other documents have their mean
        counts. Without burn-in and with one sample, the probabilities are those of the stored sample itself.
        """
        authors = document.authors
        small, rows, priors = self._local_problem(document.tokens, authors, self._private(authors), weighted=True)
        if self.n_samples > 1:
            rows = self._as_in_last(document, small, rows)
        stream = self._stream(document.tokens, authors, plan, 2)
        return self._sampled(small, self._stored_assignments(document), rows, priors, plan, stream, True)[1]

    def _as_in_last(self, document: StoredDocument, small: Documents, rows: Counts) -> Counts:
        """Mean counts, but with the document's own tokens counted as in its last sample."""
        n = self.n_samples
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
        if any(each.min(initial=0.0) < 0 for each in sums):
            raise StoreError(f"{self._store.path}: document {document.number} is not in the counts; they are damaged")
        kinds = (np.float32, np.float64, np.float32, np.float64)
        return Counts(*((each / n).astype(kind) for each, kind in zip(sums, kinds, strict=True)))

    def document_samples(self, document: StoredDocument) -> list[Sample]:
        """Assignments of a training document in all samples that counts are means of, the last sample last."""
        first, end = (int(each) for each in self._doc_start[document.number : document.number + 2])
        return self._samples_between(first, end, self._last_sample(document), self._n_slots(len(document.authors)))

    def _samples_between(self, first: int, end: int, last: Sample, n_slots: int) -> list[Sample]:
        """All samples of tokens ``first`` to ``end`` of the corpus; ``last`` is the last of them."""
        shape = int(self._doc_start[-1]), self._averaging.n_kept
        if end - first != len(last["topic"]):
            raise StoreError(f"{self._store.path}: the topics of words are damaged")
        with self._store.connection() as connection:
            names = [f"chain{self.index}_samples_{name}" for name in last]
            tables = dict(zip(last, get_rows(connection, self._model_id, names, shape, range(first, end)), strict=True))
        samples = []
        for i, topics in enumerate(self._averaging.changed):
            sample = {name: table[:, i] for name, table in tables.items()}
            self._check_sample(sample, max(n_slots, 1))
            samples.append(settled(sample, last, topics))
        return [*samples, last]

    @cached_property
    def _doc_start(self) -> NDArray[np.int64]:
        return np.concatenate(([0], np.cumsum(np.rint(self.documents.totals)))).astype(np.int64)

    @abstractmethod
    def _last_sample(self, document: StoredDocument) -> Sample:
        """The stored sample of a document, by array name."""

    @abstractmethod
    def _check_sample(self, sample: Sample, n_slots: int) -> None:
        """Raise an error for unknown topics, authors or paths; documents have at most ``n_slots`` authors."""

    def _sampled(
        self,
        small: Documents,
        assignments: Any,
        rows: Counts,
        priors: Any,
        plan: SamplingPlan,
        stream: NDArray[np.uint64],
        labels: bool,
    ) -> tuple[NDArray[np.float64], Labels]:
        n = len(small.tokens) if labels else 0
        room = Labels(np.zeros((n, self.n_topics)), np.zeros((n, len(small.author))))
        shares, nothing = np.zeros(self.n_topics), np.zeros(0, np.int64)
        self._run(small, assignments, nothing, rows, priors, plan, stream, shares, np.zeros(0), room)
        if not all(_are_probabilities(values) for values in (shares, *room)):
            raise StoreError(f"{self._store.path} is damaged: counts of words do not fit the topics of a document")
        return shares, room

    def _stream(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan, purpose: int
    ) -> NDArray[np.uint64]:
        """Random stream of a document, named by its words and authors in the numbers of the whole model."""
        author = authors.astype(np.int32) if len(authors) else np.array([self._n_authors], np.int32)
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
        word_topic[:, : self.n_topics] = self._word_rows(words.astype(np.int64))
        small = Documents(
            np.ascontiguousarray(place.astype(np.int32)),
            np.array([0, len(tokens)]),
            slots,
            np.array([0, len(slots)]),
            weight,
        )
        counts = Counts(word_topic, self.topic_totals.copy(), authors, totals)
        return small, counts, self.beta[words].astype(np.float32)
