"""What a topic model says of terms in documents and by authors, one chain at a time.

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
        documents = self._index.catalogue.author_documents(author)
        return np.mean([self.document_mixture(chain, int(d)) for d in documents], axis=0)

    def document_mixture(self, chain: Any, document: int) -> Array:
        """The mixture of one document."""
        start, author = self._index.document_authors
        own = author[start[document] : start[document + 1]]
        if self._uses_authors(chain) and len(own):
            return np.asarray(chain.authors.shares(own).mean(axis=0))
        if chain.mixtures_are_counts:
            return np.asarray(chain.documents.shares(document)[0])
        return np.asarray(chain.mixtures[document], np.float64)

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
        if chain.mixtures_are_counts:
            return np.asarray(chain.documents.word_probabilities(columns))
        return np.asarray(chain.mixtures @ columns.astype(np.float32), np.float64)

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
