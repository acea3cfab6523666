"""Documents as bags of words with real-valued powers, the input of inference without sampling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus

_ENTRIES_AT_ONCE = 2**15


class Bags(NamedTuple):
    """Documents as (word, count) entries; those of document d are ``doc_start[d]:doc_start[d + 1]``.

    ``row`` is each entry's row in a table of words, usually the word's number. ``times`` is the power of the word's
    term, any positive number.
    """

    doc_start: NDArray[np.int64]
    row: NDArray[np.int64]
    times: NDArray[np.float64]

    @classmethod
    def from_corpus(cls, corpus: Corpus) -> Bags:
        """The distinct words of each document, ordered by number, and their counts.

        Examples
        --------
        >>> import topoi
        >>> from topoi.models.bags import Bags
        >>> bags = Bags.from_corpus(topoi.Corpus.from_tokens([["b", "a", "b"], ["a"]]))
        >>> bags.doc_start.tolist(), bags.times.tolist()
        ([0, 2, 3], [2.0, 1.0, 1.0])
        """
        doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
        cell, number = np.unique(doc * max(corpus.n_words, 1) + corpus.tokens, return_counts=True)
        start = np.searchsorted(cell, np.arange(corpus.n_docs + 1) * max(corpus.n_words, 1))
        return cls(start.astype(np.int64), cell % max(corpus.n_words, 1), number.astype(np.float64))

    @classmethod
    def from_matrix(cls, matrix: Any) -> Bags:
        """The positive entries of a matrix, documents × words, as powers; they need not be whole numbers.

        Examples
        --------
        >>> from topoi.models.bags import Bags
        >>> Bags.from_matrix([[0.5, 0.0, 2.0]]).times.tolist()
        [0.5, 2.0]
        """
        import scipy.sparse

        found = scipy.sparse.csr_matrix(matrix, dtype=np.float64, copy=True)
        found.sum_duplicates()
        found.eliminate_zeros()
        return cls(found.indptr.astype(np.int64), found.indices.astype(np.int64), found.data)

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return len(self.doc_start) - 1

    def part(self, first: int, last: int) -> Bags:
        """Documents ``first`` to ``last``, counted from zero."""
        here = slice(self.doc_start[first], self.doc_start[last])
        return Bags(self.doc_start[first : last + 1] - self.doc_start[first], self.row[here], self.times[here])

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Sum of counts of each document."""
        before = np.concatenate(([0.0], np.cumsum(self.times)))
        return np.asarray(before[self.doc_start[1:]] - before[self.doc_start[:-1]])

    def shared(self, word_topic: NDArray[np.float64], mixture: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected words of each topic, documents × topics: a word's are ∝ P(word | topic) × the document's mixture.

        ``word_topic`` is words × topics. A word that no topic has is split as the document's other words are.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.bags import Bags
        >>> bags = Bags(np.array([0, 2]), np.array([0, 1]), np.array([3.0, 1.0]))
        >>> bags.shared(np.array([[1.0, 0.0], [0.2, 0.6]]), np.array([[0.5, 0.5]])).round(6).tolist()
        [[3.25, 0.75]]
        """
        found = np.zeros_like(mixture)
        doc = np.repeat(np.arange(self.n_docs), np.diff(self.doc_start))
        for first in range(0, len(doc), _ENTRIES_AT_ONCE):
            here = slice(first, first + _ENTRIES_AT_ONCE)
            part = word_topic[self.row[here]] * mixture[doc[here]]
            total = part.sum(axis=1, keepdims=True)
            part = np.where(total > 0, part / np.maximum(total, 1e-300), mixture[doc[here]])
            np.add.at(found, doc[here], self.times[here, None] * part)
        return found
