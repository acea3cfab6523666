"""Scores of all documents, or all authors, for a query's terms, in blocks of terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.errors import ModelError
from topoi.models.validation import choice
from topoi.retrieval import equations
from topoi.retrieval.index import DocumentIndex, Postings
from topoi.retrieval.terms import Terms
from topoi.retrieval.topic_evidence import TopicEvidence

Array = NDArray[np.float64]
METHODS = ("mixture", "topics", "language", "bm25")
AVERAGES = ("words", "products")
# Terms that are scored at once: units × terms numbers of eight bytes are held.
_TERMS_AT_ONCE = 16


@dataclass(frozen=True)
class Settings:
    """Parameters of the scores; see ``topoi.Search``."""

    weight: float = 0.7
    mu: float = 1000.0
    average: str = "words"
    k1: float = 2.0
    b: float = 0.75
    idf: str = "robertson"

    def __post_init__(self) -> None:
        for name, low, high in (("weight", 0.0, 1.0), ("mu", 1e-6, 1e9), ("k1", 1e-6, 1e6), ("b", 0.0, 1.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise ModelError(f"{name} is {value!r}; it must be a number from {low:g} to {high:g}")
        choice("average", self.average, AVERAGES)
        choice("idf", self.idf, equations.IDF)


class Evidence:
    """Evidence of a collection, and of a topic model of it, about a query's terms; words come first, then authors.

    Parameters
    ----------
    index : DocumentIndex
        The collection.
    terms : Terms
        The terms.
    topics : TopicEvidence, optional
        The topic model.
    """

    def __init__(self, index: DocumentIndex, terms: Terms, topics: TopicEvidence | None = None) -> None:
        self.index, self.terms, self.topics = index, terms, topics
        self.weights = terms.weights

    @cached_property
    def postings(self) -> list[Postings]:
        """Documents with each term, and how often; an author stands once in each document of theirs."""
        found = self.index.postings(self.terms.words)
        for author in self.terms.authors:
            documents = self.index.catalogue.author_documents(int(author))
            found.append((documents, np.ones(len(documents))))
        return found

    @cached_property
    def n_documents(self) -> Array:
        """Number of documents with each term."""
        return np.array([len(documents) for documents, _ in self.postings], np.float64)

    @cached_property
    def background(self) -> Array:
        """P(term): its share of all words; half an occurrence if there is none."""
        times = np.array([counts.sum(dtype=np.float64) for _, counts in self.postings])
        return np.maximum(times, 0.5) / max(self.index.n_tokens, 1)

    @cached_property
    def columns(self) -> list[tuple[Any, Array]]:
        """Each chain with its columns of the terms, topics × terms."""
        return [] if self.topics is None else list(self.topics.columns(self.terms, self.background))

    def parts(self) -> Iterator[slice]:
        """Slices of terms that are scored at once."""
        for first in range(0, len(self.weights), _TERMS_AT_ONCE):
            yield slice(first, min(first + _TERMS_AT_ONCE, len(self.weights)))

    def counts_in(self, documents: NDArray[np.int64]) -> Array:
        """Counts of all terms in some documents: documents × terms."""
        found = np.zeros((len(documents), len(self.weights)))
        for j, (there, counts) in enumerate(self.postings):
            if len(there):
                at = np.minimum(np.searchsorted(there, documents), len(there) - 1)
                found[:, j] = np.where(there[at] == documents, counts[at], 0)
        return found

    def with_a_term(self) -> NDArray[np.bool_]:
        """Whether each document has a term."""
        found = np.zeros(len(self.index.lengths), bool)
        for documents, _ in self.postings:
            found[documents] = True
        return found


class Units:
    """Units to rank: documents, or authors as the concatenation of their documents.

    Parameters
    ----------
    index : DocumentIndex
        The collection.
    authors : bool
        Whether authors are ranked.
    """

    def __init__(self, index: DocumentIndex, authors: bool = False) -> None:
        self._index, self._authors = index, authors

    @cached_property
    def lengths(self) -> Array:
        """Number of words of each unit."""
        if not self._authors:
            return self._index.lengths
        start, author = self._index.document_authors
        each = np.repeat(self._index.lengths, np.diff(start))
        return np.asarray(np.bincount(author, each, self._index.n_authors), np.float64)

    def counts(self, postings: list[Postings]) -> Array:
        """Counts of some terms in each unit: units × terms."""
        found = np.zeros((len(self.lengths), len(postings)))
        for j, (documents, number) in enumerate(postings):
            if self._authors:
                found[:, j] = self._by_authors(documents, number)
            else:
                found[documents, j] = number
        return found

    def _by_authors(self, documents: NDArray[Any], number: NDArray[Any]) -> Array:
        """Counts of some documents, added up for each of their authors."""
        start, author = self._index.document_authors
        of_document = np.zeros(len(start) - 1)
        of_document[documents] = number
        each = np.repeat(of_document, np.diff(start))
        return np.asarray(np.bincount(author, each, self._index.n_authors), np.float64)

    def topic_ratios(self, evidence: Evidence, part: slice) -> Iterator[Array]:
        """Each chain's P(term | unit) / P(term), units × terms."""
        topics = evidence.topics
        for chain, columns in evidence.columns:
            if topics is not None:
                some = np.ascontiguousarray(columns[:, part])
                yield topics.of_authors(chain, some) if self._authors else topics.of_documents(chain, some)


def scores(units: Units, evidence: Evidence, method: str, settings: Settings) -> Array:
    """Score of every unit.

    For likelihoods the mean, over the query's terms, of log(P(term | unit) / P(term)); for BM25 the usual sum.
    """
    if method == "bm25":
        return _bm25(units, evidence, settings)
    totals: list[Array] = []
    for part in evidence.parts():
        each = _ratios(units, evidence, part, method, settings)
        found = [equations.log_score(one, evidence.weights[part]) for one in each]
        totals = found if not totals else [a + b for a, b in zip(totals, found, strict=True)]
    return np.asarray((totals[0] if len(totals) == 1 else equations.averaged(totals)) / evidence.terms.n)


def _ratios(units: Units, evidence: Evidence, part: slice, method: str, settings: Settings) -> Iterator[Array]:
    """P(term | unit) / P(term), units × terms: one for all chains, or one for each if products are averaged."""
    each = units.topic_ratios(evidence, part)
    if method == "topics":
        yield from each if settings.average == "products" else (_mean(each),)
        return
    counts = units.counts(evidence.postings[part])
    language = equations.language_ratios(counts, units.lengths, evidence.background[part], settings.mu)
    if method == "language":
        yield language
    elif settings.average == "products":
        yield from (equations.mixed(language, one, settings.weight) for one in each)
    else:
        yield equations.mixed(language, _mean(each), settings.weight)


def _mean(each: Iterator[Array]) -> Array:
    total, n = next(each), 1
    for one in each:
        total, n = total + one, n + 1
    return total / n


def _bm25(units: Units, evidence: Evidence, settings: Settings) -> Array:
    lengths, total = units.lengths, np.zeros(len(units.lengths))
    mean_length = float(lengths.mean()) if lengths.any() else 1.0
    idf = equations.inverse_document_frequency(evidence.n_documents, len(evidence.index.lengths), settings.idf)
    for part in evidence.parts():
        counts = units.counts(evidence.postings[part])
        weights = idf[part], evidence.weights[part]
        total += equations.bm25(counts, lengths, *weights, settings.k1, settings.b, mean_length)
    return total
