"""Inverted index of an exported site: words of titles and texts, and their documents, in files fetched by need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from topoi.errors import StoreError
from topoi.web.reader.packing import script

# Postings to a file; each takes about a byte when compressed.
_MOST_POSTINGS = 60_000


class IndexFile(NamedTuple):
    """A data file of the index: its name and contents."""

    name: str
    body: bytes


def index_files(
    words: Iterable[tuple[str, Mapping[int, int]]],
    n_documents: int,
    kept: Collection[int] | None = None,
    most: int = _MOST_POSTINGS,
) -> Iterator[IndexFile]:
    """Data files of the index, ``terms-0`` and on, and last ``index``, which has the first word of each.

    A file of words has columns: number of documents of each word; by how much each document exceeds the one before it;
    how often it has the word. ``index`` has the number of words in each document, on which ranking depends.

    Parameters
    ----------
    words : iterable of (str, mapping)
        Words in order, each with the number of its occurrences in each document that has it.
    n_documents : int
        Number of all documents.
    kept : collection of int, optional
        The documents to index; by default all.
    most : int
        Postings to a file, but for a single word with more.

    Examples
    --------
    >>> from topoi.web.reader.index import index_files
    >>> from topoi.web.reader.packing import contents
    >>> terms, index = index_files([("moon", {1: 2}), ("sun", {0: 1, 1: 1})], 2)
    >>> contents(terms.body)
    ({'terms': ['moon', 'sun'], 'columns': [2, 3, 3]}, [[1, 2], [1, 0, 1], [2, 1, 1]])
    >>> contents(index.body)
    ({'first': ['moon'], 'n_documents': 2, 'columns': [2]}, [[1, 3]])
    """
    lengths = np.zeros(n_documents, np.int64)
    allowed = None if kept is None else frozenset(kept)
    firsts: list[str] = []
    part = _Part()
    for word, counts in words:
        documents = sorted(counts if allowed is None else counts.keys() & allowed)
        if not documents:
            continue
        if documents[0] < 0 or documents[-1] >= n_documents:
            raise StoreError("it is damaged: the full-text index names a document that is not there")
        number = [counts[d] for d in documents]
        lengths[documents] += number
        part.add(word, documents, number)
        if len(part.number) >= most:
            yield part.file(len(firsts))
            firsts.append(part.terms[0])
            part = _Part()
    if part.terms:
        yield part.file(len(firsts))
        firsts.append(part.terms[0])
    about: dict[str, Any] = {"first": firsts, "n_documents": n_documents if allowed is None else len(allowed)}
    yield IndexFile("index", script("index", about, [lengths]))


class _Part:
    """Words of one file."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.size: list[int] = []
        self.gap: list[int] = []
        self.number: list[int] = []

    def add(self, word: str, documents: list[int], number: list[int]) -> None:
        self.terms.append(word)
        self.size.append(len(documents))
        self.gap += [documents[0], *(b - a for a, b in zip(documents, documents[1:], strict=False))]
        self.number += number

    def file(self, at: int) -> IndexFile:
        name = f"terms-{at}"
        return IndexFile(name, script(name, {"terms": self.terms}, [self.size, self.gap, self.number]))
