"""Authors of documents and their titles: facts about the corpus that queries need besides a model's numbers.

A fitted model reads them from its corpus; a model in a store reads them by SQL (``topoi.store.catalogue``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import row_positions
from topoi.corpus.vocabulary import close_matches
from topoi.models.contract import Chosen
from topoi.models.names import find_name, matching_titles
from topoi.models.periods import years


class Catalogue(Protocol):
    """Facts about authors and documents. Both are numbered from 0."""

    def find_author(self, name: str) -> int:
        """Number of an author; an unknown name is a ``NotFoundError`` that suggests others."""
        ...

    def authors_named(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Numbers of all authors of these names, ignoring case."""
        ...

    def author_names(self, rows: Chosen) -> NDArray[Any]:
        """Names of some authors."""
        ...

    def author_documents(self, author: int) -> NDArray[np.int64]:
        """Distinct documents of an author, in order."""
        ...

    def documents_of(self, authors: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Distinct documents of each of these authors, in order."""
        ...

    def last_years(self, authors: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Last year of the documents of each of these authors, or of all; NaN where there is none."""
        ...

    def coauthors(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        """All authors of the documents of any of these authors, these included."""
        ...

    def n_documents(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of documents of each of these authors."""
        ...

    def find_document(self, identifier: str) -> int | None:
        """Number of the first document of that id, or None."""
        ...

    def find_titles(self, title: str) -> list[int]:
        """Numbers of the documents of that title or, if there are none, of those whose title contains it."""
        ...

    def near_documents(self, identifier: str) -> str:
        """Hint at similar ids, to end an error message with."""
        ...

    def document_columns(self, rows: NDArray[Any]) -> dict[str, Any]:
        """Columns that identify documents: document (the number), id and, where there are any, title and year."""
        ...

    def document_years(self) -> NDArray[np.float64]:
        """Year of every document; NaN where there is none."""
        ...

    @property
    def size(self) -> int:
        """Number of documents."""
        ...

    @property
    def documents(self) -> pd.DataFrame:
        """Metadata of all documents, as ``Corpus.documents``."""
        ...


class CorpusCatalogue:
    """The catalogue of a corpus in memory."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    @property
    def size(self) -> int:
        """Number of documents."""
        return self._corpus.n_docs

    @property
    def documents(self) -> pd.DataFrame:
        """See ``Catalogue``."""
        return self._corpus.documents

    def find_author(self, name: str) -> int:
        """See ``Catalogue``."""
        return find_name(name, self._corpus.authors, "author")

    def authors_named(self, names: Iterable[str]) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        folded = {name.strip().casefold() for name in names}
        return np.array([a for a, name in enumerate(self._corpus.authors) if name.casefold() in folded], np.int64)

    def author_names(self, rows: Chosen) -> NDArray[Any]:
        """See ``Catalogue``."""
        return np.asarray(self._corpus.authors[rows])

    def author_documents(self, author: int) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        return self._documents_of(np.array([author]))

    def _documents_of(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        entries = np.flatnonzero(np.isin(self._corpus.doc_author, authors))
        return np.unique(np.searchsorted(self._corpus.doc_author_start, entries, side="right") - 1)

    def documents_of(self, authors: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """See ``Catalogue``."""
        return [self.author_documents(int(author)) for author in authors]

    def last_years(self, authors: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """See ``Catalogue``."""
        found = np.full(self._corpus.n_authors, -np.inf)
        of_document = np.repeat(self.document_years(), np.diff(self._corpus.doc_author_start))
        known = ~np.isnan(of_document)
        np.maximum.at(found, self._corpus.doc_author[known], of_document[known])
        found[np.isinf(found)] = np.nan
        return found if authors is None else found[authors]

    def coauthors(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        at, _ = row_positions(self._corpus.doc_author_start, self._documents_of(authors))
        return np.union1d(authors, self._corpus.doc_author[at]).astype(np.int64)

    def n_documents(self, authors: NDArray[np.int64]) -> NDArray[np.int64]:
        """See ``Catalogue``."""
        return np.bincount(self._corpus.doc_author, minlength=self._corpus.n_authors)[authors].astype(np.int64)

    def find_document(self, identifier: str) -> int | None:
        """See ``Catalogue``."""
        at = np.flatnonzero(self._corpus.documents["id"].to_numpy() == identifier)
        return int(at[0]) if len(at) else None

    def find_titles(self, title: str) -> list[int]:
        """See ``Catalogue``."""
        if "title" not in self._corpus.documents:
            return []
        titles = self._corpus.documents["title"]
        return matching_titles(title, [each if isinstance(each, str) else "" for each in titles])

    def near_documents(self, identifier: str) -> str:
        """See ``Catalogue``."""
        return close_matches(identifier, self._corpus.documents["id"].tolist())

    def document_columns(self, rows: NDArray[Any]) -> dict[str, Any]:
        """See ``Catalogue``."""
        named = self._corpus.documents.iloc[rows]
        columns: dict[str, Any] = {"document": rows, "id": named["id"].to_numpy()}
        return columns | {name: named[name].array for name in ("title", "year") if name in named}

    def document_years(self) -> NDArray[np.float64]:
        """See ``Catalogue``."""
        return years(self._corpus)
