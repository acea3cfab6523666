"""Authors and documents of a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.vocabulary import close_matches, object_array
from topoi.errors import StoreError
from topoi.models.names import find_name, matching_titles
from topoi.store.corpus_rows import stored_documents
from topoi.store.store import Store

# Number of ids searched for ones that resemble a mistyped id.
_MOST_COMPARED = 20_000


class StoredNames:
    """Names of a table, indexed like an array: by a number or an array of numbers."""

    def __init__(self, catalogue: StoreCatalogue, n: int) -> None:
        self._catalogue, self._n = catalogue, n

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue.author_names(np.arange(self._n)))

    def __getitem__(self, rows: Any) -> Any:
        names = self._catalogue.author_names(np.atleast_1d(rows))
        return names[0] if np.ndim(rows) == 0 else names


class StoreCatalogue:
    """The catalogue of a store; see ``topoi.models.catalogue.Catalogue``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _rows(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self._store.rows(query, parameters, self._store.sizes.limits)

    def _column(self, query: str, **parameters: object) -> NDArray[np.int64]:
        return np.array([row[0] for row in self._rows(query, **parameters)], np.int64)

    def _all_of(self, found: dict[int, Any], wanted: list[int], what: str) -> list[Any]:
        """Entries of ``found`` for each number in ``wanted``; a ``StoreError`` if one is missing."""
        if not found.keys() >= set(wanted):
            raise StoreError(f"{self._store.path} is damaged: a table names a {what} that is not there")
        return [found[number] for number in wanted]

    @property
    def size(self) -> int:
        """Number of documents."""
        return self._store.sizes.n_documents

    @property
    def documents(self) -> pd.DataFrame:
        """See ``Catalogue``."""
        return self._documents.copy(deep=False)

    @cached_property
    def _documents(self) -> pd.DataFrame:
        with self._store.connection() as connection, self._store.named():
            frame = stored_documents(connection)
        if len(frame) != self.size:
            raise StoreError(f"{self._store.path} is damaged: metadata of {len(frame)} documents, not {self.size}")
        return frame

    def find_author(self, name: str) -> int:
        """See ``Catalogue``; all names are read only if this one is not found."""
        given = str(name)
        rows = self._rows("SELECT author_id, author FROM author WHERE author = :name COLLATE NOCASE", name=given)
        same = [a for a, spelled in rows if spelled == given] or [a for a, _ in rows]
        if len(same) == 1 or (same and rows and rows[0][1] == given):
            return int(same[0])
        names = self._rows("SELECT author FROM author ORDER BY author_id")
        return find_name(given, object_array([row[0] for row in names]), "author")

    def authors_named(self, names: Iterable[str]) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        wanted = [name.strip() for name in names]
        quick = "SELECT author_id FROM author JOIN json_each(:names) ON author = value COLLATE NOCASE"
        found = set(self._column(quick, names=json.dumps(wanted)).tolist())
        folded = {name.casefold() for name in wanted if not name.isascii()}
        if folded:  # SQLite folds ASCII letters only
            rows = self._rows("SELECT author_id, author FROM author")
            found |= {a for a, name in rows if name.casefold() in folded}
        return np.array(sorted(found), np.int64)

    def author_names(self, rows: object) -> NDArray[Any]:
        """See ``Catalogue``."""
        wanted = np.asarray(rows, np.int64).tolist()
        query = "SELECT author_id, author FROM author WHERE author_id IN (SELECT value FROM json_each(:rows))"
        names = dict(self._rows(query, rows=json.dumps(wanted)))
        return object_array(self._all_of(names, wanted, "author"))

    def author_documents(self, author: int) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        query = "SELECT DISTINCT document_id FROM document_author WHERE author_id = :author ORDER BY document_id"
        return self._column(query, author=int(author))

    def documents_of(self, authors: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """See ``Catalogue``."""
        query = """
            SELECT DISTINCT author_id, document_id FROM document_author
            WHERE author_id IN (SELECT value FROM json_each(:authors)) ORDER BY author_id, document_id"""
        table = np.array(self._rows(query, authors=json.dumps(authors.tolist())), np.int64).reshape(-1, 2)
        return [table[table[:, 0] == author, 1] for author in authors.tolist()]

    def last_years(self, authors: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """See ``Catalogue``."""
        some = "" if authors is None else "WHERE da.author_id IN (SELECT value FROM json_each(:authors))"
        query = f"""
            SELECT da.author_id, max(d.year) AS year FROM document_author AS da
            JOIN document AS d ON d.document_id = da.document_id {some} GROUP BY da.author_id"""
        given = {} if authors is None else {"authors": json.dumps(authors.tolist())}
        found = np.full(self._store.sizes.n_authors, np.nan)
        for author, year in self._rows(query, **given):
            found[author] = np.nan if year is None else year
        return found if authors is None else found[authors]

    def coauthors(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        query = """
            SELECT DISTINCT b.author_id FROM document_author AS a JOIN document_author AS b USING (document_id)
            WHERE a.author_id IN (SELECT value FROM json_each(:authors))"""
        found = self._column(query, authors=json.dumps(authors.tolist()))
        return np.union1d(authors, found).astype(np.int64)

    def n_documents(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        wanted = authors.tolist()
        query = "SELECT author_id, n_documents FROM author WHERE author_id IN (SELECT value FROM json_each(:rows))"
        numbers = dict(self._rows(query, rows=json.dumps(wanted)))
        return np.array(self._all_of(numbers, wanted, "author"), np.int64)

    def find_document(self, identifier: str) -> int | None:
        """See ``Catalogue``."""
        query = "SELECT document_id FROM document WHERE identifier = :id ORDER BY document_id LIMIT 1"
        rows = self._rows(query, id=identifier)
        return int(rows[0][0]) if rows else None

    def find_titles(self, title: str) -> list[int]:
        """See ``Catalogue``; all titles are read, since SQLite folds ASCII letters only."""
        query = "SELECT document_id, title FROM document WHERE typeof(title) = 'text' ORDER BY document_id"
        rows = self._rows(query)
        return [int(rows[i][0]) for i in matching_titles(title, [row[1] for row in rows])]

    def near_documents(self, identifier: str) -> str:
        """See ``Catalogue``."""
        rows = self._rows("SELECT identifier FROM document LIMIT :n", n=_MOST_COMPARED)
        return close_matches(identifier, [row[0] for row in rows])

    def document_columns(self, rows: NDArray[Any]) -> dict[str, Any]:
        """See ``Catalogue``."""
        wanted = np.asarray(rows, np.int64).tolist()
        query = """
            SELECT document_id, identifier, title, year FROM document
            WHERE document_id IN (SELECT value FROM json_each(:rows))"""
        found = {row[0]: row[1:] for row in self._rows(query, rows=json.dumps(wanted))}
        named = self._all_of(found, wanted, "document")
        columns: dict[str, Any] = {"document": np.array(wanted, np.int64), "id": object_array([n[0] for n in named])}
        if any(n[1] is not None for n in named):
            columns["title"] = object_array([n[1] for n in named])
        if any(n[2] is not None for n in named):
            columns["year"] = pd.array([n[2] for n in named], dtype="Int64")
        return columns

    def document_years(self) -> NDArray[np.float64]:
        """See ``Catalogue``."""
        rows = self._rows("SELECT year FROM document ORDER BY document_id")
        return np.array([np.nan if row[0] is None else row[0] for row in rows], np.float64)
