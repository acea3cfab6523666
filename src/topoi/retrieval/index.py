"""Index of a collection for search: documents of words, lengths and authors of documents.

``CorpusIndex`` has it of a corpus in memory; a store has the same by SQL (``topoi.store.search``).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import NotFoundError
from topoi.models.catalogue import Catalogue, CorpusCatalogue

# Documents in which a word occurs, and how often.
Postings = tuple[NDArray[Any], NDArray[Any]]


class Passage(NamedTuple):
    """A document's words and, if they are known, their places in its text."""

    tokens: NDArray[Any]
    start: NDArray[Any] | None
    end: NDArray[Any] | None
    text: str | None


class DocumentIndex(Protocol):
    """Words, documents and authors of a collection, all numbered from 0."""

    @property
    def catalogue(self) -> Catalogue:
        """Names of authors and documents."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, and the analyser that finds them in a text."""
        ...

    @property
    def n_tokens(self) -> int:
        """Number of words in all documents together, repetitions counted."""
        ...

    @property
    def n_authors(self) -> int:
        """Number of authors."""
        ...

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Number of words of each document."""
        ...

    @property
    def years(self) -> NDArray[np.float64]:
        """Year of each document; NaN if it has none."""
        ...

    @property
    def document_authors(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Authors of documents: those of document d are at ``start[d]:start[d + 1]`` of the second array."""
        ...

    def postings(self, words: NDArray[np.int64]) -> list[Postings]:
        """The documents in which each of some words occurs, in order, and how often."""
        ...

    def matching(self, column: str, value: Any) -> NDArray[np.bool_]:
        """Whether each document's metadata have a value; an unknown column is a ``NotFoundError``."""
        ...

    def passage(self, document: int) -> Passage:
        """A document's words and text."""
        ...


@runtime_checkable
class HasSearchIndex(Protocol):
    """A collection that keeps its index: a store, or a model in one."""

    def search_index(self) -> DocumentIndex:
        """The index of the documents."""
        ...

    def searched_model(self, name: str | None) -> Any:
        """The model of that name, or the one to search with if no name is given."""
        ...


class CorpusIndex:
    """The index of a corpus in memory: six bytes for each pair of a word and a document, made in one pass.

    Parameters
    ----------
    corpus : Corpus
        The documents.

    Examples
    --------
    >>> import numpy as np
    >>> import topoi
    >>> from topoi.retrieval.index import CorpusIndex
    >>> index = CorpusIndex(topoi.Corpus.from_tokens([["sun", "sun"], ["moon", "sun"]]))
    >>> [(documents.tolist(), counts.tolist()) for documents, counts in index.postings(np.array([0, 1]))]
    [([0, 1], [2, 1]), ([1], [1])]
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self.catalogue: Catalogue = CorpusCatalogue(corpus)
        self.vocabulary, self.n_tokens, self.n_authors = corpus.vocabulary, corpus.n_tokens, corpus.n_authors
        self.lengths = corpus.doc_lengths.astype(np.float64)
        self.document_authors = corpus.doc_author_start, corpus.doc_author

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Start of each word's documents, the documents, and counts."""
        by_word = self._corpus.to_matrix().tocsc()
        by_word.sort_indices()
        largest = int(by_word.data.max(initial=0))
        counts = by_word.data.astype(np.uint16 if largest < 2**16 else np.uint32)
        return by_word.indptr.astype(np.int64), by_word.indices, counts

    @cached_property
    def years(self) -> NDArray[np.float64]:
        """Year of each document; NaN if it has none."""
        if "year" not in self._corpus.documents:
            return np.full(len(self.lengths), np.nan)
        given = self._corpus.documents["year"].astype("Float64")
        return np.asarray(given.to_numpy(np.float64, na_value=np.nan), np.float64)

    def postings(self, words: NDArray[np.int64]) -> list[Postings]:
        """The documents in which each of some words occurs, in order, and how often."""
        start, documents, counts = self._columns
        return [(documents[a:b], counts[a:b]) for a, b in zip(start[words], start[words + 1], strict=True)]

    def matching(self, column: str, value: Any) -> NDArray[np.bool_]:
        """Whether each document's metadata have a value."""
        frame = self._corpus.documents
        if column not in frame:
            raise NotFoundError(f"no column {column!r} in the metadata; there are: {', '.join(map(str, frame))}")
        wanted = str(value)
        return np.array([is_value(cell, wanted) for cell in frame[column]], bool)

    def passage(self, document: int) -> Passage:
        """A document's words and text."""
        corpus = self._corpus
        here = slice(corpus.doc_start[document], corpus.doc_start[document + 1])
        start, end = (None if each is None else each[here] for each in (corpus.token_start, corpus.token_end))
        return Passage(corpus.tokens[here], start, end, None if corpus.texts is None else corpus.texts[document])


def is_value(cell: Any, wanted: str) -> bool:
    """Whether a cell of the metadata is a value, or a list that has it; compared as text.

    Examples
    --------
    >>> from topoi.retrieval.index import is_value
    >>> is_value("ACL", "ACL"), is_value(["a", "b"], "b"), is_value(3, "3"), is_value(None, "None")
    (True, True, True, False)
    """
    if isinstance(cell, list | tuple | set | np.ndarray):
        return any(is_value(each, wanted) for each in cell)
    return not pd.isna(cell) and str(cell) == wanted
