"""Sampling from rows: what the families whose documents can be sampled in a store have in common.

Sampling a document needs the counts of its own words (and authors) only; they are fetched, and the kernels of the fit
run on them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import StoreError
from topoi.kernels.counts import Counts, Documents
from topoi.kernels.folding import Labels, SamplingPlan, content_key
from topoi.kernels.lanes import padded
from topoi.kernels.random import seed_stream
from topoi.models.stored import chain
from topoi.models.stored.chain import StoredDocument

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
        """One document with its own small vocabulary and author rows, as ``folding`` makes it from whole counts."""

    @abstractmethod
    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> Any:
        """Random assignments of a new document's tokens, counted in ``rows``."""

    @abstractmethod
    def _stored_assignments(self, document: StoredDocument) -> Any:
        """A training document's own, in the form that the kernel reads."""

    @abstractmethod
    def _private(self, authors: NDArray[np.int64]) -> bool:
        """Whether a training document by these authors has a private one besides."""

    @abstractmethod
    def _run(self, small: Documents, assignments: Any, wanted: NDArray[Any], rows: Counts, *rest: Any) -> None:
        """Sample: priors, plan, stream, and where shares, scores and labels are added up."""

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors for every token of a new text; no authors: somebody new."""
        return self._sample_new(tokens, authors, plan, labels=True)[1]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Topic shares of a new text by somebody new."""
        return self._sample_new(tokens, _NOBODY, plan, labels=False)[0]

    def _sample_new(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan, labels: bool
    ) -> tuple[NDArray[np.float64], Labels]:
        small, rows, priors = self._local_problem(tokens, authors, private=not len(authors), weighted=False)
        stream = self._stream(tokens, authors, plan, 1)
        return self._sampled(small, self._start(small, rows, stream), rows, priors, plan, stream, labels)

    def label_document(self, document: StoredDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors (positions, a private one last) for a training document's tokens.

        Sampling starts from the stored sample, in whose counts the document is. Without burn-in and with one sample,
        the probabilities are those of the stored sample itself.
        """
        authors = document.authors
        small, rows, priors = self._local_problem(document.tokens, authors, self._private(authors), weighted=True)
        stream = self._stream(document.tokens, authors, plan, 2)
        return self._sampled(small, self._stored_assignments(document), rows, priors, plan, stream, True)[1]

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
        """The random stream of a document, named by its words and authors in the numbers of the whole model."""
        author = authors.astype(np.int32) if len(authors) else np.array([self._n_authors], np.int32)
        edges = np.array([0, len(tokens)]), np.array([0, len(author)])
        weight = np.ones(len(author), np.float32)
        whole = Documents(np.ascontiguousarray(tokens, np.int32), edges[0], author, edges[1], weight)
        stream = np.empty(2, np.uint64)
        seed_stream(stream, plan.seed, plan.chain, content_key(whole, 0), purpose)
        return stream

    def _local_rows(
        self, tokens: NDArray[Any], slots: NDArray[np.int32], weight: NDArray[np.float32], authors: NDArray[np.float32]
    ) -> tuple[Documents, Counts, NDArray[np.float32]]:
        """The document with the rows of its words, given those of its authors; and its words' beta."""
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
        counts = Counts(word_topic, self.topic_sizes.copy(), authors, authors.astype(np.int64).sum(axis=1))
        return small, counts, self.beta[words].astype(np.float32)
