"""``topoi.Search``: ranked documents for some words and authors, each with the reasons for its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError, NotFoundError
from topoi.models.validation import choice, whole_number
from topoi.retrieval.explain import Explanation, Reasons
from topoi.retrieval.index import CorpusIndex, DocumentIndex, HasSearchIndex
from topoi.retrieval.ranking import METHODS, Evidence, Settings, Units, scores
from topoi.retrieval.terms import Terms, find_terms
from topoi.retrieval.topic_evidence import MIXTURES, TopicEvidence, has_topics

_TOPICS_SHOWN = 3
# Smallest part of the query's likelihood that a topic must account for to be listed as a reason.
_LEAST_SHARE = 0.05


class Found(NamedTuple):
    """Documents that answer a query, the best first, with the terms that each has and the topics that carry it."""

    documents: NDArray[np.int64]
    score: NDArray[np.float64]
    matched: list[list[str]]
    topics: list[list[int]]
    terms: Terms
    n_candidates: int
    method: str


class Search:
    """Search in a collection by words and authors: BM25, a language model, a topic model, or a mixture.

    The mixture adds P(term | document) of a language model and of a topic model, term by term, before the product over
    the query's terms is taken. So documents that have the query's words come first, and those that have none of them
    but are about the same are found as well.

    Parameters
    ----------
    collection : Corpus, fitted model, ModelView or Store
        The documents. A store keeps its index, and reads only what a query needs.
    model : fitted model or str, optional
        The topic model, fitted to these documents; all its chains are averaged. For a store, the name of one of its
        models (by default the one saved last, of which the first, best chain is used). A model without topics is
        ignored.
    weight : float
        Weight of the language model in the mixture (the pachinko paper's lambda).
    mu : float
        Dirichlet smoothing of the language model: a document's words count as if ``mu`` words of the whole collection
        had been added.
    mixtures : {"authors", "documents"}, optional
        Mixture of topics that a document has in a model with authors: the mean of its authors' (AT09, equation 11),
        or that of its own words. By default its own.
    average : {"words", "products"}
        Whether chains' probabilities are averaged for each word, as in the pachinko paper, or for the whole query, as
        in AT09.
    k1, b, idf : float, float, {"robertson", "positive"}
        BM25: saturation, normalisation by length, and the weight of rare words. ``"robertson"`` is the formula of the
        paper, negative for words of more than half of all documents; ``"positive"`` is Lucene's, which never is.

    Examples
    --------
    >>> import topoi
    >>> rows = [["sun", "star", "sky"], ["cell", "gene"], ["star", "sky", "moon"], ["gene", "protein"]] * 5
    >>> corpus = topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Eve", "Kim"] * 5)
    >>> model = topoi.LDA(2, alpha=0.1, n_iter=100, random_state=0).fit(corpus)
    >>> search = topoi.Search(corpus, model)
    >>> search.query("The sun", n=6)["matched"].tolist()
    [['sun'], ['sun'], ['sun'], ['sun'], ['sun'], []]
    """

    def __init__(
        self,
        collection: Any,
        model: Any = None,
        *,
        weight: float = Settings.weight,
        mu: float = Settings.mu,
        mixtures: str | None = None,
        average: str = Settings.average,
        k1: float = Settings.k1,
        b: float = Settings.b,
        idf: str = Settings.idf,
    ) -> None:
        self.settings = Settings(weight, mu, average, k1, b, idf)
        self.index, found = _opened(collection, model)
        self.model = found if has_topics(found) else None
        own = "documents" if mixtures is None else choice("mixtures", mixtures, MIXTURES)
        self.topics = None if self.model is None else TopicEvidence(self.model.chains_, self.index, own)

    def __repr__(self) -> str:
        about = "no topics" if self.model is None else f"{self.model.chains_[0].n_topics} topics"
        return f"<Search: {len(self.index.lengths):,} documents, {about}>"

    def query(
        self,
        text: str,
        authors: Sequence[str] | str | None = None,
        n: int = 10,
        method: str | None = None,
        *,
        by: Sequence[str] | str | None = None,
        years: tuple[int | None, int | None] | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """The documents that answer a query best.

        Parameters
        ----------
        text : str
            The query, in words; they are found as in the documents. It may be empty if there are authors.
        authors : list of str, optional
            Authors as part of the query: documents of theirs come first, then those on their topics.
        n : int
            Number of documents.
        method : {"mixture", "topics", "language", "bm25"}, optional
            The mixture by default, or the language model if there are no topics.
        by : list of str, optional
            Only documents by one of these authors.
        years : pair of int or None, optional
            Only documents of these years, both included; None is open.
        where : mapping, optional
            Only documents with these values in their metadata, compared as text, as in ``{"venue": "ACL"}``.

        Returns
        -------
        DataFrame
            document (position), rank, id, title and year if there are any, score, matched (list of the query's words
            and authors that the document has; empty if it was found by its topics alone), topics (list of at most three
            topics that account for at least a twentieth of the score's probabilities, the first first).
            The score is the mean over the query's terms of log(P(term | document) / P(term)), so that scores of
            different queries are comparable; for BM25 it is the usual sum.
            ``frame.attrs`` has ``unknown`` (words that no document has), ``n_known``, ``n_candidates`` (documents that
            were ranked), ``method``.

        Examples
        --------
        >>> import topoi
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["sun", "sun"], ["cell"]])
        >>> frame = topoi.Search(corpus).query("sun and snow")
        >>> frame["document"].tolist(), frame.attrs["unknown"]
        ([1, 0], ['and', 'snow'])
        """
        found = self.find(self.evidence(text, authors), n, method, by=by, years=years, where=where)
        columns = self.index.catalogue.document_columns(found.documents) | {
            "score": found.score,
            "matched": pd.Series(found.matched, dtype=object),
            "topics": pd.Series(found.topics, dtype=object),
        }
        frame = _with_rank(columns)
        unknown, known = list(found.terms.unknown), int(found.terms.times.sum())
        frame.attrs |= {"rows": found.documents.tolist(), "unknown": unknown, "n_known": known}
        frame.attrs |= {"n_candidates": found.n_candidates, "method": found.method}
        return frame

    def find(
        self,
        evidence: Evidence,
        n: int = 10,
        method: str | None = None,
        *,
        by: Sequence[str] | str | None = None,
        years: tuple[int | None, int | None] | None = None,
        where: Mapping[str, Any] | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Found:
        """The answer of ``query`` as arrays and lists, for those who know the documents' names.

        ``among`` says of each document whether it may be found.

        Examples
        --------
        >>> import topoi
        >>> search = topoi.Search(topoi.Corpus.from_tokens([["sun", "star"], ["sun", "sun"], ["cell"]]))
        >>> search.find(search.evidence("sun"), n=1).documents.tolist()
        [1]
        """
        wanted, how = whole_number("n", n), self._method(method)
        rows = self._candidates(evidence, how, by, years, where)
        rows = rows if among is None else rows[among[rows]]
        score = self.scores(evidence, how)
        best = leading(score, rows, wanted)
        reasons = Reasons(evidence, best, how, self.settings)
        topics = reasons.leading_topics(_TOPICS_SHOWN, _LEAST_SHARE)
        return Found(best, score[best], reasons.matched(), topics, evidence.terms, len(rows), how)

    def explain(
        self, text: str, document: int | str, authors: Sequence[str] | str | None = None, method: str | None = None
    ) -> Explanation:
        """Why a document has its score for a query: words, topics, and the text with the words marked.

        Parameters
        ----------
        text, authors, method
            As in ``query``.
        document : int or str
            A document's position, or its id.

        Examples
        --------
        >>> import topoi
        >>> texts = ["The sun is a star.", "A star in the sky", "Genes in a cell"]
        >>> search = topoi.Search(topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0))
        >>> why = search.explain("star", 0)
        >>> [part for part, hit in why.pieces if hit], why.terms["n_in_document"].tolist()
        (['star'], [1])
        """
        at, how = np.array([self._position(document)]), self._method(method)
        return Reasons(self.evidence(text, authors), at, how, self.settings).explanation()

    def ranked(
        self, text: str, authors: Sequence[str] | str | None = None, n: int = 1000, method: str | None = None
    ) -> pd.DataFrame:
        """A long ranked list without reasons: document, rank, id, title and year if there are any, score.

        A query without a known term has no rows.

        Examples
        --------
        >>> import topoi
        >>> search = topoi.Search(topoi.Corpus.from_tokens([["sun", "star"], ["sun", "sun"]]))
        >>> search.ranked("sun")["document"].tolist(), len(search.ranked("snow"))
        ([1, 0], 0)
        """
        method = self._method(method)
        terms = find_terms(self.index, text, authors, allow_none=True)
        evidence = Evidence(self.index, terms, self.topics)
        score = self.scores(evidence, method) if terms else self.index.lengths
        best = leading(score, self._candidates(evidence, method) if terms else np.zeros(0, np.int64), n)
        return _with_rank(self.index.catalogue.document_columns(best) | {"score": score[best]})

    def evidence(self, text: str, authors: Sequence[str] | str | None = None) -> Evidence:
        """A query's terms, with what the collection and the model say of them.

        Examples
        --------
        >>> import topoi
        >>> search = topoi.Search(topoi.Corpus.from_tokens([["sun", "star"], ["sun", "sun"], ["cell"]]))
        >>> search.evidence("sun and snow").terms.unknown
        ('and', 'snow')
        """
        return Evidence(self.index, find_terms(self.index, text, authors), self.topics)

    def scores(self, evidence: Evidence, method: str) -> NDArray[np.float64]:
        """Score of every document.

        Examples
        --------
        >>> import topoi
        >>> search = topoi.Search(topoi.Corpus.from_tokens([["sun", "star"], ["sun", "sun"], ["cell"]]))
        >>> int(search.scores(search.evidence("sun"), "language").argmax())
        1
        """
        return scores(Units(self.index), evidence, method, self.settings)

    def _method(self, method: str | None) -> str:
        if method is None:
            return "language" if self.topics is None else "mixture"
        choice("method", method, METHODS)
        if self.topics is None and method in ("mixture", "topics"):
            raise ModelError(f"method is {method!r}, but there is no model with topics; pass one, or use 'language'")
        return method

    def _position(self, document: Any) -> int:
        if isinstance(document, str):
            at = self.index.catalogue.find_document(document)
            if at is None:
                near = self.index.catalogue.near_documents(document)
                raise NotFoundError(f"there is no document with the id {document!r}{near}")
            return int(at)
        n = len(self.index.lengths)
        if isinstance(document, bool) or not isinstance(document, int | np.integer) or not 0 <= document < n:
            raise NotFoundError(f"there is no document {document!r}; documents are numbered 0 to {n - 1}")
        return int(document)

    def _candidates(
        self, evidence: Evidence, method: str, by: Any = None, years: Any = None, where: Mapping[str, Any] | None = None
    ) -> NDArray[np.int64]:
        """Documents with words that pass the filters and, if there are no topics to find others by, have a term."""
        chosen = self.index.lengths > 0
        if method in ("language", "bm25"):
            chosen &= evidence.with_a_term()
        if by is not None:
            chosen &= self._written_by(by)
        if years is not None:
            chosen &= _within(self.index.years, years)
        for column, value in (where or {}).items():
            chosen &= self.index.matching(str(column), value)
        return np.flatnonzero(chosen)

    def _written_by(self, by: Sequence[str] | str) -> NDArray[np.bool_]:
        names = [by] if isinstance(by, str) else list(by)
        if not names or not all(isinstance(name, str) for name in names):
            raise ModelError(f"by is {by!r}; pass a list of names")
        if not self.index.n_authors:
            raise ModelError("the documents have no authors")
        found = np.zeros(len(self.index.lengths), bool)
        for name in names:
            found[self.index.catalogue.author_documents(self.index.catalogue.find_author(name))] = True
        return found


def leading(score: NDArray[np.float64], rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The ``n`` of some rows with the largest scores, largest first, ties by number.

    Examples
    --------
    >>> import numpy as np
    >>> leading(np.array([1.0, 3.0, 2.0, 3.0]), np.array([0, 1, 2, 3]), 3).tolist()
    [1, 3, 2]
    """
    values = score[rows]
    if n < len(rows):
        # Everything above the n-th value, and as many of its equals as there is room for, in order.
        least = np.partition(values, len(values) - n)[len(values) - n]
        above, equal = np.flatnonzero(values > least), np.flatnonzero(values == least)
        kept = np.sort(np.concatenate([above, equal[: n - len(above)]]))
        rows, values = rows[kept], values[kept]
    return rows[np.argsort(-values, kind="stable")]


def _with_rank(columns: Mapping[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame(columns)
    frame.insert(1, "rank", np.arange(1, len(frame) + 1))
    return frame


def _within(years: NDArray[np.float64], wanted: Any) -> NDArray[np.bool_]:
    try:
        first, last = (None if year is None else int(year) for year in wanted)
    except (TypeError, ValueError):
        raise ModelError(f"years is {wanted!r}; pass a pair, as in (1990, 1995); None is open") from None
    known = ~np.isnan(years)
    with np.errstate(invalid="ignore"):
        return known & (years >= (-np.inf if first is None else first)) & (years <= (np.inf if last is None else last))


def _opened(collection: Any, model: Any) -> tuple[DocumentIndex, Any]:
    """The index of a collection, and the model to search it with."""
    if isinstance(collection, HasSearchIndex):
        return _stored(collection, model)
    if not isinstance(collection, Corpus):
        from topoi.models.base import FittedModel  # slow to import, and a store does without

        if not isinstance(collection, FittedModel):
            raise ModelError(f"cannot search in {type(collection).__name__}; pass a corpus, a fitted model or a store")
        if model is not None:
            raise ModelError("two models were given; pass the corpus and one model")
        collection, model = collection.catalogue_ and collection.corpus_, collection
    if isinstance(model, str):
        raise ModelError("a model's name needs a store; pass the fitted model itself")
    if model is not None and _differ(collection, model):
        raise ModelError("the model was fitted to other documents; search in model.corpus_, or fit it to these")
    return CorpusIndex(collection), model


def _stored(collection: HasSearchIndex, model: Any) -> tuple[DocumentIndex, Any]:
    """The index of a store, or of a model in one, and the model in it."""
    if model is not None and not isinstance(model, str):
        raise ModelError("for a store, model is the name of one of its models")
    return collection.search_index(), collection.searched_model(model)


def _differ(corpus: Corpus, model: Any) -> bool:
    own = model.corpus_
    return own is not corpus and own.fingerprint() != corpus.fingerprint()
