"""Scores of all documents, or all authors, for a query's terms, in blocks of terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import row_positions
from topoi.errors import ModelError
from topoi.kernels.ranking import log_likelihoods
from topoi.models.mixing import MU, WEIGHT, background_shares
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

    weight: float = WEIGHT
    mu: float = MU
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
        return background_shares(times, self.index.n_tokens)

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

    def postings(self, postings: list[Postings]) -> list[Postings]:
        """The units of documents with some terms, in order, and the counts in each unit."""
        return [self._of_authors(*one) for one in postings] if self._authors else postings

    def counts(self, postings: list[Postings]) -> Array:
        """Counts of some terms in each unit: units × terms."""
        found = np.zeros((len(self.lengths), len(postings)))
        for j, (units, number) in enumerate(self.postings(postings)):
            found[units, j] = number
        return found

    def _of_authors(self, documents: NDArray[Any], number: NDArray[Any]) -> Postings:
        """Counts of some documents, added up for each of their authors."""
        start, author = self._index.document_authors
        at, own = row_positions(start, documents)
        total = np.bincount(author[at], np.repeat(number, np.diff(own)), self._index.n_authors)
        there = np.flatnonzero(total)
        return there, total[there]

    def topic_ratios(self, evidence: Evidence, part: slice) -> Iterator[NDArray[Any]]:
        """Each chain's P(term | unit) / P(term), units × terms."""
        topics = evidence.topics
        for chain, columns in evidence.columns:
            if topics is not None:
                some = np.ascontiguousarray(columns[:, part])
                yield topics.of_authors(chain, some) if self._authors else topics.of_documents(chain, some)


def scores(units: Units, evidence: Evidence, method: str, settings: Settings) -> Array:
    """Score of every unit.

    For likelihoods the mean, over the query's terms, of log(P(term | unit) / P(term)); for BM25 the usual sum.
    The compiled loop computes what ``equations`` says in whole matrices: the tests compare the two.
    """
    if method == "bm25":
        return _bm25(units, evidence, settings)
    weight = {"mixture": settings.weight, "topics": 0.0, "language": 1.0}[method]
    totals: list[Array] = []
    for part in evidence.parts():
        found = [
            _log_likelihoods(units, evidence, part, weight, settings.mu, topics)
            for topics in _topic_ratios(units, evidence, part, method, settings)
        ]
        totals = found if not totals else [a + b for a, b in zip(totals, found, strict=True)]
    return np.asarray((totals[0] if len(totals) == 1 else equations.averaged(totals)) / evidence.terms.n)


def _log_likelihoods(
    units: Units, evidence: Evidence, part: slice, weight: float, mu: float, topics: NDArray[Any]
) -> Array:
    """Logarithm of the product over some terms, of every unit; ``topics`` has the topic model's ratios."""
    postings = units.postings(evidence.postings[part])
    start = np.cumsum([0, *(len(there) for there, _ in postings)])
    unit = np.concatenate([np.zeros(0, np.int64), *(there for there, _ in postings)])
    pairs = zip(postings, evidence.background[part], strict=True)
    count = np.concatenate([np.zeros(0), *(number / background for (_, number), background in pairs)])
    ratios, times = np.ascontiguousarray(topics.T), evidence.weights[part]
    return np.asarray(log_likelihoods(start, unit, count, units.lengths, mu, weight, ratios, times))


def _topic_ratios(
    units: Units, evidence: Evidence, part: slice, method: str, settings: Settings
) -> Iterator[NDArray[Any]]:
    """P(term | unit) / P(term) by topics, units × terms: the mean of chains, or each if products are averaged."""
    if method == "language":
        yield np.zeros((0, part.stop - part.start))
    elif settings.average == "products":
        yield from units.topic_ratios(evidence, part)
    else:
        yield _mean(units.topic_ratios(evidence, part))


def _mean(each: Iterator[NDArray[Any]]) -> NDArray[Any]:
    total, n = next(each), 1
    for one in each:
        total, n = total + one, n + 1
    return total if n == 1 else total / n


def _bm25(units: Units, evidence: Evidence, settings: Settings) -> Array:
    lengths, total = units.lengths, np.zeros(len(units.lengths))
    mean_length = float(lengths.mean()) if lengths.any() else 1.0
    idf = equations.inverse_document_frequency(evidence.n_documents, len(evidence.index.lengths), settings.idf)
    for part in evidence.parts():
        counts = units.counts(evidence.postings[part])
        weights = idf[part], evidence.weights[part]
        total += equations.bm25(counts, lengths, *weights, settings.k1, settings.b, mean_length)
    return total
