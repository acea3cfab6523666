"""What inference reads: documents as bags of words with real-valued powers, and the model's parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.kernels.doubles import padded


class Bags(NamedTuple):
    """Documents as (word, count) entries; those of document d are ``doc_start[d]:doc_start[d + 1]``.

    ``row`` is each entry's row in ``Parameters.word_aspect``, the word's number as a rule. ``times`` is the power of
    the word's term, any positive number.
    """

    doc_start: NDArray[np.int64]
    row: NDArray[np.int64]
    times: NDArray[np.float64]

    @classmethod
    def from_corpus(cls, corpus: Corpus) -> Bags:
        """The distinct words of each document, in the order of their numbers, and how often they occur.

        Examples
        --------
        >>> import topoi
        >>> from topoi.models.aspect.state import Bags
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
        """The positive entries of a matrix, documents × words: powers as they are, whole or not.

        Examples
        --------
        >>> from topoi.models.aspect.state import Bags
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
        """Each document's sum of counts."""
        before = np.concatenate(([0.0], np.cumsum(self.times)))
        return np.asarray(before[self.doc_start[1:]] - before[self.doc_start[:-1]])


class ByWord(NamedTuple):
    """The same entries word by word, each word's in the order of documents: how the M-step reads them."""

    start: NDArray[np.int64]
    doc: NDArray[np.int64]
    entry: NDArray[np.int64]

    @classmethod
    def from_bags(cls, bags: Bags, n_words: int) -> ByWord:
        """Sort the entries by word."""
        entry = np.argsort(bags.row, kind="stable")
        doc = np.repeat(np.arange(bags.n_docs), np.diff(bags.doc_start))
        start = np.searchsorted(bags.row[entry], np.arange(n_words + 1))
        return cls(start.astype(np.int64), doc[entry], entry)


class Parameters(NamedTuple):
    """P(word | aspect), words × aspects, and the Dirichlet parameter of each aspect, padded with zeros to vectors."""

    word_aspect: NDArray[np.float64]
    alpha: NDArray[np.float64]
    n_aspects: int

    @classmethod
    def pad(cls, word_aspect: NDArray[np.float64], alpha: NDArray[np.float64]) -> Parameters:
        """From arrays without padding.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.aspect.state import Parameters
        >>> Parameters.pad(np.ones((1, 3)), np.ones(3)).word_aspect.shape
        (1, 8)
        """
        n = len(alpha)
        return cls(with_padding(word_aspect), with_padding(alpha[None, :])[0], n)

    def writable(self) -> Parameters:
        """The same, copied if need be: for read-only arrays, as in a model mapped into memory, numba compiles anew."""
        words, alpha = (np.require(array, requirements=("C", "W")) for array in (self.word_aspect, self.alpha))
        return Parameters(words, alpha, self.n_aspects)

    def with_alpha(self, alpha: NDArray[np.float64]) -> Parameters:
        """The same aspects with other parameters of the mixtures."""
        return self._replace(alpha=with_padding(alpha[None, :])[0])


def with_padding(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows padded with zeros to whole vectors, as the kernels want them."""
    room = np.zeros((len(rows), padded(rows.shape[1])))
    room[:, : rows.shape[1]] = rows
    return room


def checked_aspects(aspect_word: Any) -> NDArray[np.float64]:
    """P(word | aspect) as given by a person, aspects × words: rows that are probabilities, or an error.

    Examples
    --------
    >>> from topoi.models.aspect.state import checked_aspects
    >>> checked_aspects([[0.25, 0.75]]).sum()
    np.float64(1.0)
    """
    try:
        given = np.array(aspect_word, np.float64)
    except (TypeError, ValueError):
        raise ModelError("aspect_word is not a matrix of numbers; pass aspects × words") from None
    if given.ndim != 2 or not given.size:
        raise ModelError(f"aspect_word has the shape {given.shape}; pass a matrix, aspects × words")
    if not np.isfinite(given).all() or (given < 0).any():
        raise ModelError("aspect_word has entries that are negative or not finite; its rows are probabilities")
    sums = given.sum(axis=1)
    if np.abs(sums - 1.0).max() > 1e-6:
        worst = int(np.abs(sums - 1.0).argmax())
        raise ModelError(f"row {worst} of aspect_word sums to {sums[worst]:.6g}; each row must sum to one")
    return np.asarray(given / sums[:, None])
