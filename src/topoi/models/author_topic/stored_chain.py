"""A chain of the author-topic family in a store, with the methods of a ``Posterior``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.samples import Sample
from topoi.errors import StoreError
from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.lanes import padded
from topoi.models.author_topic.inference import sample_document, start_document
from topoi.models.stored.chain import StoredDocument
from topoi.models.stored.sampled_chain import SampledChain
from topoi.store.store import Store


class StoredChain(SampledChain):
    """The first chain of a model in a store; see ``topoi.models.author_topic.posterior.Posterior``.

    Parameters
    ----------
    store : Store
        The file.
    model_id, n_authors : int
        The model, and the number of authors it distinguishes (0 for LDA).
    settings : dict
        The model's settings.
    """

    def __init__(self, store: Store, model_id: int, n_authors: int, settings: dict[str, Any]) -> None:
        super().__init__(store, model_id, n_authors, settings)
        self._fictitious = bool(settings.get("fictitious_authors", False))
        weight = settings.get("fictitious_weight")
        if weight is not None and not (isinstance(weight, int | float) and 0 <= weight <= 1):
            raise StoreError(f"{store.path} is damaged: fictitious_weight is a share, not {weight!r}")
        self._fictitious_weight = None if weight is None else float(weight)

    def _n_slots(self, n_authors: int) -> int:
        # The slot after the named authors is the document's private author, if it has one.
        return n_authors + (self._fictitious or not n_authors)

    def _private(self, authors: NDArray[np.int64]) -> bool:
        return self._fictitious or not len(authors)

    def _start(self, small: Documents, rows: Counts, stream: NDArray[np.uint64]) -> Assignments:
        n = len(small.tokens)
        assignments = Assignments(np.zeros(n, np.uint16), np.zeros(n, np.uint16))
        start_document(small, assignments, rows, stream)
        return assignments

    def _stored_assignments(self, document: StoredDocument) -> Assignments:
        return document.assignments

    def _last_sample(self, document: StoredDocument) -> Sample:
        assignments = document.assignments
        return {"topic": assignments.topic} | ({"slot": assignments.slot} if self._n_authors else {})

    def _check_sample(self, sample: Sample, n_slots: int) -> None:
        self._checked(sample["topic"])
        if "slot" in sample and int(sample["slot"].max(initial=0)) >= n_slots:
            raise StoreError(f"{self._store.path}: a document has fewer authors than its samples say")

    def _run(self, small: Documents, assignments: Any, wanted: NDArray[Any], rows: Counts, *rest: Any) -> None:
        sample_document(small, assignments, wanted, rows, *rest)

    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Priors]:
        width = padded(self.n_topics)
        author_topic = np.zeros((len(authors) + 1, width), np.float32)
        author_topic[:-1, : self.n_topics] = self._author_rows(authors)
        totals = author_topic.sum(axis=1, dtype=np.float64)
        if self.n_samples > 1 and len(authors):
            totals[:-1] = self.authors.totals[authors]
        slots = np.arange(len(authors) + private, dtype=np.int32)
        weight = np.ones(len(slots), np.float32)
        if weighted and private and len(authors) and self._fictitious_weight is not None:
            weight[:] = (1.0 - self._fictitious_weight) / len(authors)
            weight[-1] = self._fictitious_weight
        small, counts, beta = self._local_rows(tokens, slots, weight, author_topic, totals)
        alpha = np.zeros(width, np.float32)
        alpha[: self.n_topics] = self.alpha
        return small, counts, Priors(alpha, self._parameters["alpha_sum"], beta, self._parameters["beta_sum"])

    def _author_rows(self, authors: NDArray[np.int64]) -> NDArray[Any]:
        if self.n_samples > 1:
            return self.authors.counts(authors).astype(np.float32)
        query = """
            SELECT author_id, topic, n_tokens FROM author_topic
            WHERE model_id = :model AND author_id IN (SELECT value FROM json_each(:authors))"""
        known = np.unique(authors)
        table = np.array(self._query(query, authors=json.dumps(known.tolist())), np.int64).reshape(-1, 3)
        counts = np.zeros((len(known), self.n_topics), np.int64)
        counts[np.searchsorted(known, table[:, 0]), table[:, 1]] = table[:, 2]
        return counts[np.searchsorted(known, authors)]
