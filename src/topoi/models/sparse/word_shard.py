"""Shard of documents of LDA on sparse counts; not all of them need have been added yet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.counts import Assignments, Documents, Priors
from topoi.kernels.word_lists import SparseCounts
from topoi.models.author_topic import word_major
from topoi.models.sparse import words
from topoi.models.sparse.scheme import chosen_documents
from topoi.models.sparse.words import enter_documents


class SparseShard:
    """Consecutive documents with only private authors, sampled word by word; topics in document order."""

    def __init__(self, documents: Documents):
        self.documents = documents
        self.topic = np.zeros(len(documents.tokens), np.uint16)
        self._few: tuple[int, word_major.WordLayout] | None = None

    def set_assignments(self, topic: NDArray[Any], slot: NDArray[Any]) -> None:
        """Set the assignments, given in document order."""
        self.topic[:] = topic

    def in_document_order(self) -> Assignments:
        """Assignments in document order."""
        return Assignments(self.topic, np.zeros(len(self.topic), np.uint16))

    def sweep(
        self,
        counts: SparseCounts,
        priors: Priors,
        before: NDArray[np.int64],
        new: NDArray[np.int64],
        pruned: bool,
        everything: word_major.WordLayout | None,
        stream: NDArray[np.uint64],
    ) -> tuple[int, int]:
        """Sample every token of the documents already in once, then add the new ones.

        ``everything`` is the layout of all documents once all are in. Returns the total number of topics considered,
        and the number of tokens they were considered for.
        """
        runs, order, block_docs = everything or self._layout_of(before, counts.author_topic.shape[1])
        topic = self.topic[order]
        n = len(topic)
        if pruned:
            considered = words.sweep_words_pruned(runs, topic, counts, priors, block_docs, stream)
        else:
            considered = n * len(counts.topic)
            words.sweep_words_sparse(runs, topic, counts, priors, block_docs, stream)
        self.topic[order] = topic
        if len(new):
            considered += enter_documents(self.documents, new, self.topic, counts, priors, stream)
            n += int(np.diff(self.documents.doc_start)[new].sum())
        return considered, n

    def _layout_of(self, docs: NDArray[np.int64], width: int) -> word_major.WordLayout:
        """Tokens of some documents sorted by words, cached until the number of documents changes."""
        if self._few is None or self._few[0] != len(docs):
            documents, at = chosen_documents(self.documents, docs)
            runs, order, block_docs = word_major.word_runs(
                documents.tokens, documents.doc_start, word_major.documents_per_block(width)
            )
            self._few = len(docs), word_major.WordLayout(runs, at[order].astype(np.uint32), block_docs)
        return self._few[1]
