"""The index of a store, for ``topoi.Search``: the documents of a query's words come by SQL, one blob a word.

What all queries need, lengths, years and authors of documents, is read once and kept: 16 bytes a document, and eight
for each pair of a document and an author, which is read only if a query needs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import NotFoundError, StoreError
from topoi.models.catalogue import Catalogue
from topoi.retrieval.index import Passage, Postings
from topoi.store.catalogue import StoreCatalogue
from topoi.store.postings import read_postings
from topoi.store.store import Store
from topoi.store.words import stored_vocabulary

_OWN_COLUMNS = {"id": "identifier", "title": "title", "date": "date", "year": "year"}
_LONGEST_TEXT = 2_000_000
_DOCUMENTS_AT_ONCE = 4096


class StoreIndex:
    """The index of the documents in a store; see ``topoi.retrieval.index.DocumentIndex``.

    Parameters
    ----------
    store : Store
        The file.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
    >>> topoi.open_store(path).search_index().lengths.tolist()
    [3.0, 3.0]
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.catalogue: Catalogue = StoreCatalogue(store)
        self.n_tokens, self.n_authors = store.sizes.n_tokens, store.sizes.n_authors

    def _rows(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return self._store.rows(query, parameters, self._store.sizes.limits)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words, and the analyser that finds them in a text."""
        return stored_vocabulary(self._store)

    @cached_property
    def _documents(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Length and year of each document."""
        n, limits = self._store.sizes.n_documents, self._store.sizes.limits
        lengths, years = np.zeros(n), np.full(n, np.nan)
        for rows in self._store.blocks("SELECT document_id, n_tokens, year FROM document", (), limits):
            number = np.array([row[0] for row in rows], np.int64)
            lengths[number] = [row[1] for row in rows]
            years[number] = [np.nan if row[2] is None else row[2] for row in rows]
        return lengths, years

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Number of words of each document."""
        return self._documents[0]

    @property
    def years(self) -> NDArray[np.float64]:
        """Year of each document; NaN if it has none."""
        return self._documents[1]

    @cached_property
    def document_authors(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Authors of documents: those of document d are at ``start[d]:start[d + 1]`` of the second array."""
        query = "SELECT document_id, author_id FROM document_author ORDER BY document_id, position"
        pairs = [np.array(rows, np.int64) for rows in self._store.blocks(query, (), self._store.sizes.limits)]
        table = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
        lengths = np.bincount(table[:, 0], minlength=self._store.sizes.n_documents)
        return np.concatenate(([0], np.cumsum(lengths))), table[:, 1].astype(np.int32)

    def postings(self, words: NDArray[np.int64]) -> list[Postings]:
        """The documents in which each of some words occurs, in order, and how often."""
        query = """
            SELECT w.word_id, w.n_tokens, w.n_documents, p.postings AS postings_or_null FROM json_each(:ids) AS i
            CROSS JOIN word AS w ON w.word_id = i.value LEFT JOIN word_document AS p ON p.word_id = w.word_id
            ORDER BY i.key, p.part"""
        parts: dict[int, tuple[int, int, list[bytes]]] = {}
        for word, n_tokens, n_docs, data in self._rows(query, ids=json.dumps(sorted(set(words.tolist())))):
            parts.setdefault(word, (n_tokens, n_docs, []))[2].extend([] if data is None else [data])
        if not parts.keys() >= set(words.tolist()) or any(n and not data for _, n, data in parts.values()):
            raise StoreError(f"{self._store.path} is damaged: a word has no postings")
        limit = self._store.sizes.n_documents
        with self._store.named():
            read = {w: read_postings(data, n_tokens, n, limit) for w, (n_tokens, n, data) in parts.items()}
        return [read[w] for w in words.tolist()]

    def matching(self, column: str, value: Any) -> NDArray[np.bool_]:
        """Whether each document's metadata have a value; lists have each of theirs."""
        found = np.zeros(self._store.sizes.n_documents, bool)
        if column in _OWN_COLUMNS:
            query = f"SELECT document_id FROM document WHERE CAST({_OWN_COLUMNS[column]} AS TEXT) = :value"
        else:
            self._check_column(column)
            query = """
                SELECT d.document_id FROM document AS d, json_each(d.metadata) AS f,
                    json_each(CASE f.type WHEN 'array' THEN f.value ELSE json_array(f.value) END) AS v
                WHERE f.key = :column AND CAST(v.value AS TEXT) = :value"""
        found[[row[0] for row in self._rows(query, column=column, value=str(value))]] = True
        return found

    def _check_column(self, column: str) -> None:
        query = """
            SELECT EXISTS (SELECT 1 FROM document AS d, json_each(d.metadata) AS f WHERE f.key = :column) AS is_there"""
        if not self._rows(query, column=column)[0][0]:
            raise NotFoundError(f"no column {column!r} in the metadata of {self._store.path}")

    def tokens(self, documents: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Documents and words of all tokens of some documents, in blocks; a document's tokens are in one block."""
        query = """
            SELECT t.document_id, t.word_ids FROM json_each(:ids) AS i
            CROSS JOIN document_token AS t ON t.document_id = i.value"""
        width = self._store.sizes.word_id_bytes
        for part in ranges(len(documents), _DOCUMENTS_AT_ONCE):
            rows = self._rows(query, ids=json.dumps(documents[part.start : part.stop].tolist()))
            words = np.frombuffer(b"".join(row[1] for row in rows), f"<u{width}").astype(np.int64)
            lengths = [len(row[1]) // width for row in rows]
            if len(words) != sum(lengths) or words.max(initial=0) >= self._store.sizes.n_words:
                raise StoreError(f"{self._store.path} is damaged: the words of documents do not fit together")
            yield np.repeat(np.array([row[0] for row in rows], np.int64), lengths), words

    def passage(self, document: int) -> Passage:
        """A document's words and text."""
        query = """
            SELECT t.word_ids, t.starts, t.lengths, substr(d.text, 1, :most) AS text
            FROM document_token AS t JOIN document AS d USING (document_id) WHERE document_id = :document"""
        rows, sizes = self._rows(query, document=int(document), most=_LONGEST_TEXT), self._store.sizes
        if not rows:
            raise NotFoundError(f"there is no document {document}")
        words, starts, lengths, text = rows[0]
        n = len(words) // sizes.word_id_bytes
        tokens = _numbers(words, sizes.word_id_bytes, n)
        start, length = _numbers(starts, sizes.start_bytes, n), _numbers(lengths, sizes.length_bytes, n)
        if tokens is None or (starts is not None and (start is None or length is None)):
            raise StoreError(f"{self._store.path} is damaged: the words of document {document} do not fit together")
        return Passage(tokens, start, None if start is None or length is None else start + length, text)


def _numbers(data: bytes | None, width: int, n: int) -> NDArray[np.int64] | None:
    """A number for each of ``n`` tokens; None if there are not as many."""
    if data is None or len(data) != n * width:
        return None
    return np.frombuffer(data, f"<u{width}").astype(np.int64)
