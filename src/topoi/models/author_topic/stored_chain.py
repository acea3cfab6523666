"""The author-topic family in a store, with all that a ``Posterior`` can do.

Sampling a document needs the counts of its own words and authors only; they are fetched, and the kernels of the fit
run on them.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Assignments, Counts, Documents, Priors
from topoi.kernels.folding import Labels, SamplingPlan, content_key
from topoi.kernels.lanes import padded
from topoi.kernels.random import seed_stream
from topoi.models.author_topic.inference import sample_document, start_document
from topoi.models.stored import chain
from topoi.models.stored.chain import StoredDocument
from topoi.store.store import Store


class StoredChain(chain.StoredChain):
    """The first chain of a model in a store; see ``topoi.models.author_topic.posterior.Posterior``.

    Parameters
    ----------
    store : Store
        The file.
    model_id, n_authors : int
        The model, and how many authors it tells apart (none for LDA).
    settings : dict
        The model's settings.
    """

    can_sample = True

    def __init__(self, store: Store, model_id: int, n_authors: int, settings: dict[str, Any]) -> None:
        super().__init__(store, model_id, n_authors, settings)
        self._fictitious = bool(settings.get("fictitious_authors", False))
        weight = settings.get("fictitious_weight")
        self._fictitious_weight = None if weight is None else float(weight)

    def _n_slots(self, n_authors: int) -> int:
        # One past the last is the document's own, if it has one.
        return n_authors + (self._fictitious or not n_authors)

    def label_text(self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors for every token of a new text; no authors: somebody new."""
        return self._sample_new(tokens, authors, plan, labels=True)[1]

    def text_topics(self, tokens: NDArray[Any], plan: SamplingPlan) -> NDArray[np.float64]:
        """Topic shares of a new text by somebody new."""
        return self._sample_new(tokens, np.zeros(0, np.int64), plan, labels=False)[0]

    def _sample_new(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], plan: SamplingPlan, labels: bool
    ) -> tuple[NDArray[np.float64], Labels]:
        whole = _one_document(tokens, authors, self._n_authors)
        small, rows, priors = self._local_problem(tokens, authors, private=not len(authors), weighted=False)
        stream = np.empty(2, np.uint64)
        seed_stream(stream, plan.seed, plan.chain, content_key(whole, 0), 1)
        assignments = Assignments(np.zeros(len(tokens), np.uint16), np.zeros(len(tokens), np.uint16))
        start_document(small, assignments, rows, stream)
        return self._sampled(small, assignments, rows, priors, plan, stream, labels)

    def label_document(self, document: StoredDocument, plan: SamplingPlan) -> Labels:
        """Probabilities of topics and authors (positions, a private one last) for a training document's tokens.

        Sampling starts from the stored sample, in whose counts the document is. Without burn-in and with one sample,
        the probabilities are those of the stored sample itself.
        """
        authors = document.authors
        private = self._fictitious or not len(authors)
        small, rows, priors = self._local_problem(document.tokens, authors, private, weighted=True)
        stream = np.empty(2, np.uint64)
        whole = _one_document(document.tokens, authors, self._n_authors)
        seed_stream(stream, plan.seed, plan.chain, content_key(whole, 0), 2)
        return self._sampled(small, document.assignments, rows, priors, plan, stream, True)[1]

    def _sampled(
        self,
        small: Documents,
        assignments: Assignments,
        rows: Counts,
        priors: Priors,
        plan: SamplingPlan,
        stream: NDArray[np.uint64],
        labels: bool,
    ) -> tuple[NDArray[np.float64], Labels]:
        n = len(small.tokens) if labels else 0
        room = Labels(np.zeros((n, self.n_topics)), np.zeros((n, len(small.author))))
        shares, nothing = np.zeros(self.n_topics), np.zeros(0, np.int64)
        sample_document(small, assignments, nothing, rows, priors, plan, stream, shares, np.zeros(0), room)
        return shares, room

    def _local_problem(
        self, tokens: NDArray[Any], authors: NDArray[np.int64], private: bool, weighted: bool
    ) -> tuple[Documents, Counts, Priors]:
        """One document with its own small vocabulary and author rows, as ``inference`` makes it from whole counts."""
        words, place = np.unique(tokens, return_inverse=True)
        width = padded(self.n_topics)
        word_topic = np.zeros((len(words), width), np.float32)
        author_topic = np.zeros((len(authors) + 1, width), np.float32)
        word_topic[:, : self.n_topics] = self._word_rows(words.astype(np.int64))
        author_topic[:-1, : self.n_topics] = self._author_rows(authors)
        author = author_topic.astype(np.int64).sum(axis=1)
        slots = np.arange(len(authors) + private, dtype=np.int32)
        weight = np.ones(len(slots), np.float32)
        if weighted and private and len(authors) and self._fictitious_weight is not None:
            weight[:] = (1.0 - self._fictitious_weight) / len(authors)
            weight[-1] = self._fictitious_weight
        small = Documents(
            np.ascontiguousarray(place.astype(np.int32)),
            np.array([0, len(tokens)]),
            slots,
            np.array([0, len(slots)]),
            weight,
        )
        alpha = np.zeros(width, np.float32)
        alpha[: self.n_topics] = self.alpha
        beta = self.beta[words].astype(np.float32)
        counts = Counts(word_topic, self.topic_sizes.copy(), author_topic, author)
        return small, counts, Priors(alpha, self._parameters["alpha_sum"], beta, self._parameters["beta_sum"])

    def _author_rows(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        query = """
            SELECT author_id, topic, n_tokens FROM author_topic
            WHERE model_id = :model AND author_id IN (SELECT value FROM json_each(:authors))"""
        known = np.unique(authors)
        table = np.array(self._query(query, authors=json.dumps(known.tolist())), np.int64).reshape(-1, 3)
        counts = np.zeros((len(known), self.n_topics), np.int64)
        counts[np.searchsorted(known, table[:, 0]), self._checked(table[:, 1])] = table[:, 2]
        return counts[np.searchsorted(known, authors)]


def _one_document(tokens: NDArray[Any], authors: NDArray[np.int64], n_authors: int) -> Documents:
    """The document in the numbers of the whole model: what its random stream is named by."""
    author = authors.astype(np.int32) if len(authors) else np.array([n_authors], np.int32)
    edges = np.array([0, len(tokens)]), np.array([0, len(author)])
    weight = np.ones(len(author), np.float32)
    return Documents(np.ascontiguousarray(tokens, np.int32), edges[0], author, edges[1], weight)
