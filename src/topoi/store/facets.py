"""Columns of all documents as arrays, read once, for filters and for counts beside every value.

Counts over 62,444 documents take milliseconds, so that a page of documents needs no SQL for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.store.catalogue import StoreCatalogue
from topoi.store.search import StoreIndex
from topoi.store.store import Store

# Longer values are texts; nobody filters by them.
LONGEST_VALUE = 200
# A column with more values than this is no facet, though its values can be asked for.
MOST_DISTINCT = 2000
# Smallest share of a document's words that is kept of a topic.
SMALLEST_SHARE = 0.01
_OWN = ("id", "title", "date", "year", "authors")

Mask = NDArray[np.bool_]


def value_text(value: object) -> str | None:
    """A metadata value as it is written in addresses; None if it is missing, too long, or no single value.

    Examples
    --------
    >>> from topoi.store.facets import value_text
    >>> value_text("ACL"), value_text(2.0), value_text(True), value_text({"a": 1})
    ('ACL', '2', 'true', None)
    """
    if value is None or isinstance(value, dict | list | tuple):
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, float | np.floating):
        number = float(value)
        if not np.isfinite(number):
            return None
        return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)
    text = str(value)
    return text if 0 < len(text) <= LONGEST_VALUE else None


class Column(NamedTuple):
    """A column: its values, and pairs of a document and the number of one of its values."""

    name: str
    values: list[str]
    row: NDArray[np.int32]
    code: NDArray[np.int32]
    place: Mapping[str, int]
    is_facet: bool

    def having(self, wanted: Iterable[str], n_documents: int) -> Mask:
        """Whether each document has one of some values."""
        codes = [self.place[value] for value in wanted if value in self.place]
        found = np.zeros(n_documents, bool)
        found[self.row[np.isin(self.code, codes)]] = True
        return found

    def counts(self, chosen: Mask) -> NDArray[np.int64]:
        """Number of chosen documents with each value."""
        return np.bincount(self.code[chosen[self.row]], minlength=len(self.values))


class DocumentColumns:
    """Years, lengths, authors and metadata of all documents of a store.

    Parameters
    ----------
    store : Store
        The file.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.store.facets import DocumentColumns
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> corpus = topoi.Corpus.from_tokens([["a"], ["b"], ["a"]], metadata={"venue": ["ACL", "ACL", "NIPS"]})
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(path)
    >>> columns = DocumentColumns(topoi.open_store(path))
    >>> columns["venue"].values, columns["venue"].having(["ACL"], 3).tolist()
    (['ACL', 'NIPS'], [True, True, False])
    """

    def __init__(self, store: Store) -> None:
        index = StoreIndex(store)
        self.n_documents = store.sizes.n_documents
        self.n_authors = store.sizes.n_authors
        self.lengths, self.years = index.lengths, index.years
        start, author = index.document_authors
        self.author_row = np.repeat(np.arange(self.n_documents, dtype=np.int32), np.diff(start))
        self.author = author
        frame = StoreCatalogue(store).documents
        named = {str(name): frame[name] for name in frame if name not in _OWN}
        self._columns = {name: column for name, values in named.items() if (column := make_column(name, values))}

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    @cached_property
    def facets(self) -> list[Column]:
        """Columns with a few values that many documents have, those with fewest values first."""
        found = [column for column in self._columns.values() if column.is_facet]
        return sorted(found, key=lambda column: len(column.values))

    @cached_property
    def last_years(self) -> NDArray[np.float64]:
        """Last year of each author's documents; NaN without one."""
        last = np.full(self.n_authors, -np.inf)
        known = ~np.isnan(self.years[self.author_row])
        np.maximum.at(last, self.author[known], self.years[self.author_row[known]])
        return np.where(np.isfinite(last), last, np.nan)

    def of_author(self, author: int) -> Mask:
        """Whether each document is by an author."""
        found = np.zeros(self.n_documents, bool)
        found[self.author_row[self.author == author]] = True
        return found

    def author_counts(self, chosen: Mask) -> NDArray[np.int64]:
        """Number of chosen documents of each author."""
        return np.bincount(self.author[chosen[self.author_row]], minlength=self.n_authors)

    def within(self, first: int | None, last: int | None) -> Mask:
        """Whether each document is of some years, both included; None is open."""
        if first is None and last is None:
            return np.ones(self.n_documents, bool)
        with np.errstate(invalid="ignore"):
            low = self.years >= (-np.inf if first is None else first)
            return np.asarray(low & (self.years <= (np.inf if last is None else last)))

    def by_year(self, chosen: Mask) -> tuple[list[int], list[int]]:
        """Years that the collection has, and the number of chosen documents in each."""
        known = ~np.isnan(self.years)
        years, place = np.unique(self.years[known].astype(np.int64), return_inverse=True)
        counts = np.bincount(place[chosen[known]], minlength=len(years))
        return years.tolist(), counts.tolist()


class TopicCells:
    """Shares of topics in documents of a model, without those below a hundredth.

    Parameters
    ----------
    chain : posterior
        The model's posterior, whose ``documents`` are counts.
    """

    def __init__(self, chain: Any) -> None:
        start, topic, sums = chain.documents.sums
        totals = np.maximum(chain.documents.totals * chain.n_samples, 1)
        row = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
        share = (sums / totals[row]).astype(np.float32)
        kept = (share >= SMALLEST_SHARE) & (sums >= 0.5 * chain.n_samples)
        self.n_documents, self.n_topics = len(start) - 1, int(chain.n_topics)
        self.row, self.topic, self.share = row[kept], topic[kept], share[kept]

    def of(self, topic: int) -> NDArray[np.float32]:
        """Share of a topic in each document."""
        found = np.zeros(self.n_documents, np.float32)
        own = self.topic == topic
        found[self.row[own]] = self.share[own]
        return found

    def counts(self, chosen: Mask, least: float) -> NDArray[np.int64]:
        """Number of chosen documents of which each topic has a share of at least ``least``."""
        cells = (self.share >= least) & chosen[self.row]
        return np.bincount(self.topic[cells], minlength=self.n_topics)


def make_column(name: str, values: pd.Series) -> Column | None:
    """A column of a frame of documents, numbered; None if it has no value that can be asked for."""
    listed = values.map(lambda value: isinstance(value, list | tuple)).to_numpy(bool)
    flat = values.reset_index(drop=True)
    flat = flat.explode() if listed.any() else flat
    texts = flat.map(value_text, na_action="ignore")
    known = texts.notna().to_numpy(bool)
    if not known.any():
        return None
    code, distinct = pd.factorize(texts[known], sort=True)
    row = texts.index[known].to_numpy(np.int32)
    if listed.any():  # a value that a document lists twice counts once
        pairs = np.unique(np.stack([row, code.astype(np.int32)]), axis=1)
        row, code = pairs[0], pairs[1]
    words = [str(value) for value in distinct]
    place = {value: at for at, value in enumerate(words)}
    repeated = bool(np.bincount(code).max() > 1)
    is_facet = 2 <= len(words) <= MOST_DISTINCT and repeated
    return Column(name, words, row.astype(np.int32), code.astype(np.int32), place, is_facet)
