"""Probabilities of terms in documents and by authors under a topic model, one chain at a time.

A term is a column over topics: of a word P(word | topic) / P(word), of an author P(topic | author) / P(topic), which by
Bayes' rule is P(author | topic) / P(author). A document's mixture times that column says how much more likely the term
is in the document than anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.models.contract import HasTopics
from topoi.retrieval.index import DocumentIndex
from topoi.retrieval.terms import Terms

Array = NDArray[np.float64]
MIXTURES = ("authors", "documents")


def has_topics(model: Any) -> bool:
    """Whether a fitted model, or a view of one, has topics."""
    return model is not None and isinstance(next(iter(model.chains_), None), HasTopics)


class TopicEvidence:
    """The chains of a model, asked about terms.

    Parameters
    ----------
    chains : list of posteriors
        The chains of a fitted model.
    index : DocumentIndex
        The training documents.
    mixtures : {"authors", "documents"}
        Whose mixtures a document has: the mean of its authors' (AT09, equation 11), or its own words'. Documents
        without authors have their own.
    """

    def __init__(self, chains: list[Any], index: DocumentIndex, mixtures: str) -> None:
        self._chains, self._index, self._by_authors = chains, index, mixtures == "authors"

    def columns(self, terms: Terms, background: Array) -> Iterator[tuple[Any, Array]]:
        """Each chain with its columns: topics × terms, words first."""
        for chain in self._chains:
            words = chain.word_columns(terms.words) / background[: len(terms.words)]
            yield chain, np.hstack([words, self._author_columns(chain, terms.authors)])

    def _author_columns(self, chain: Any, authors: NDArray[np.int64]) -> Array:
        share = np.asarray(chain.topic_totals + chain.alpha, np.float64)
        mixtures = [self._author_mixture(chain, int(a)) for a in authors]
        return np.reshape(mixtures, (len(authors), chain.n_topics)).T / (share / share.sum())[:, None]

    def _author_mixture(self, chain: Any, author: int) -> Array:
        """An author's mixture; without authors in the model, the mean of those of the author's documents."""
        if chain.source.n_authors:
            return np.asarray(chain.authors.shares(author)[0])
        return self.document_mixtures(chain, self._index.catalogue.author_documents(author)).mean(axis=0)

    def document_mixtures(self, chain: Any, documents: NDArray[np.int64]) -> Array:
        """The mixtures of some documents, documents × topics."""
        own = chain.documents.shares(documents) if chain.mixtures_are_counts else chain.mixtures[documents]
        found = np.asarray(own, np.float64)
        if self._uses_authors(chain):
            start, author = self._index.document_authors
            for at, (first, last) in enumerate(zip(start[documents], start[documents + 1], strict=True)):
                if last > first:
                    found[at] = chain.authors.shares(author[first:last]).mean(axis=0)
        return found

    def _uses_authors(self, chain: Any) -> bool:
        return self._by_authors and bool(chain.source.n_authors)

    def of_documents(self, chain: Any, columns: Array) -> Array:
        """Σ over topics of a document's mixture times the columns: documents × terms."""
        if not self._uses_authors(chain):
            return self._of_own_words(chain, columns)
        start, author = self._index.document_authors
        each = chain.authors.word_probabilities(columns)
        found = row_means(each, start, author)
        alone = start[1:] == start[:-1]
        if alone.any():
            found[alone] = self._of_own_words(chain, columns)[alone]
        return found

    def _of_own_words(self, chain: Any, columns: Array) -> Array:
        return np.asarray(chain.times_mixtures(columns))

    def of_authors(self, chain: Any, columns: Array) -> Array:
        """Σ over topics of an author's mixture times the columns: authors × terms.

        Without authors in the model, the mean over the author's documents.
        """
        if chain.source.n_authors:
            return np.asarray(chain.authors.word_probabilities(columns))
        start, author = self._index.document_authors
        each, document = self._of_own_words(chain, columns), np.repeat(np.arange(len(start) - 1), np.diff(start))
        found = np.zeros((self._index.n_authors, columns.shape[1]))
        np.add.at(found, author, each[document])
        return np.asarray(found / np.maximum(np.bincount(author, minlength=len(found)), 1)[:, None])


def row_means(values: Array, start: NDArray[Any], rows: NDArray[Any]) -> Array:
    """Means of groups of rows: group g has ``values[rows[start[g]:start[g + 1]]]``; zeros for an empty group.

    Examples
    --------
    >>> import numpy as np
    >>> row_means(np.array([[1.0], [3.0]]), np.array([0, 2, 2]), np.array([0, 1])).tolist()
    [[2.0], [0.0]]
    """
    found = np.zeros((len(start) - 1, values.shape[1]))
    some = np.flatnonzero(start[1:] > start[:-1])
    if len(some):
        # Empty groups between two others add no rows, so each sum ends where the next begins.
        sums = np.add.reduceat(values[rows], start[some], axis=0)
        found[some] = sums / (start[some + 1] - start[some])[:, None]
    return found
