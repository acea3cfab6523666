"""Search over topics, authors, words and documents, and suggestions while the user types."""

from __future__ import annotations

import bisect
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.errors import StoreError
from topoi.retrieval.ranking import Evidence
from topoi.retrieval.search import Found, Search
from topoi.retrieval.terms import find_terms
from topoi.store.matching import match_for, terms_of
from topoi.web.links import Links
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.facets import Facets, count_facets
from topoi.web.pages.names import fold
from topoi.web.pages.openings import openings_of
from topoi.web.pages.page import Page
from topoi.web.pages.parts import found, lines, name_of_author
from topoi.web.pages.selection import Pairs, choose, described, parse_selection
from topoi.web.pages.shapes import AuthorSize, Completion, DocumentLine, TopicSummary, WordLine
from topoi.web.pages.text import one_line, short

N_TOPICS, N_AUTHORS, N_WORDS, N_DOCUMENTS = 12, 20, 20, 20
N_SUGGESTED_AUTHORS, N_SUGGESTED_TOPICS, N_SUGGESTED_WORDS, N_SUGGESTIONS = 5, 3, 3, 12
_LONGEST_WORD = 100
_LONGEST_LABEL = 120
# A query of so many words that are all in a title is that title.
_WORDS_OF_A_TITLE, N_TITLES = 3, 3


class FoundDocument(DocumentLine):
    """A document that answers a query.

    ``score`` is the mean over the query's words of log(P(word | document) / P(word)), null if full-text search found
        the document; ``matched`` are the query's words that it has, and ``by_topics`` is true if it has none of them.
    """

    score: float | None
    matched: list[str]
    by_topics: bool


class SearchPage(TypedDict):
    """Whatever has to do with some words."""

    kind: Literal["search"]
    query: str
    topics: list[TopicSummary]
    authors: list[AuthorSize]
    words: list[WordLine]
    documents: list[FoundDocument]
    unknown: list[str]
    pending: list[str]
    facets: Facets | None


def search_page(context: PageContext, q: parameters.Query = "", asked: Pairs = ()) -> SearchPage:
    """Topics, authors, words and documents for a question; documents may be filtered as on their own page."""
    selection = parse_selection(context, [pair for pair in asked if pair[0] != "q"])
    among = choose(context, selection).passed if selection else None
    documents, unknown = find_documents(context, q, among)
    return SearchPage(
        kind="search",
        query=q,
        topics=find_topics(context, q)[:N_TOPICS],
        authors=find_authors(context, q, N_AUTHORS),
        words=find_words(context, q, N_WORDS),
        documents=documents,
        unknown=unknown,
        pending=context.pending("search") if match_for(q) else [],
        facets=count_facets(context, replace(selection, query=q), n_authors=0) if match_for(q) else None,
    )


def find_documents(
    context: PageContext, q: str, among: NDArray[np.bool_] | None = None
) -> tuple[list[FoundDocument], list[str]]:
    """Documents by words and topics, all or ``among`` some, and the query's words that no document has.

    A query without a word of the vocabulary, such as a name or the beginning of a word, is left to the full-text index.
    """
    match = match_for(q)
    if not match:
        return [], []
    if not context.is_ready("search"):
        rows = [row for row in found(context, match, N_DOCUMENTS) if among is None or among[row[0]]]
        return [_plain(line) for line in lines(context, rows, q)], []
    search = context.cache.keep("search", lambda: Search(context.view))
    terms = find_terms(search.index, q, allow_none=True)
    unknown = [short(word, _LONGEST_WORD) for word in terms.unknown]
    if not terms:
        rows = [row for row in found(context, match, N_DOCUMENTS) if among is None or among[row[0]]]
        return [_plain(line) for line in lines(context, rows, q)], unknown
    hits = search.find(Evidence(search.index, terms, search.topics), N_DOCUMENTS, among=among)
    # Without any of the words, and less likely than elsewhere by its topics, a document is no answer.
    place = {int(d): at for at, d in enumerate(hits.documents) if hits.matched[at] or hits.score[at] > 0}
    # Each once: those known by their titles, then the others by rank.
    known = [d for d in _with_title(context, q) if among is None or among[d]]
    wanted = list(dict.fromkeys([*known, *place]))
    rows = context.rows("works_with_texts", ids=json.dumps(wanted))
    if [row[0] for row in rows] != wanted:
        raise StoreError(f"{context.view.store.path} is damaged: a document is missing")
    shown = lines(context, rows, q, {number: hits.topics[at] for number, at in place.items()})
    return [
        _hit(line, hits, place[number]) if number in place else _plain(line)
        for number, line in zip(wanted, shown, strict=True)
    ], unknown


def _with_title(context: PageContext, q: str) -> list[int]:
    """Documents whose title has all of several words of the query: somebody knows what they look for."""
    match = match_for(q, column="title")
    if not match or len(terms_of(q)) < _WORDS_OF_A_TITLE:
        return []
    return [int(row[0]) for row in context.rows("found_titles", match=match, n=N_TITLES)]


def _plain(line: DocumentLine) -> FoundDocument:
    return FoundDocument(**line, score=None, matched=[], by_topics=False)


def _hit(line: DocumentLine, hits: Found, at: int) -> FoundDocument:
    matched = [short(word, _LONGEST_WORD) for word in hits.matched[at]]
    return FoundDocument(**line, score=round(float(hits.score[at]), 6), matched=matched, by_topics=not matched)


def completions(context: PageContext, q: parameters.Query = "") -> list[Completion]:
    """At most twelve completions of the text typed so far."""
    if not fold(q):
        return []
    link = Links(context.model["slug"])
    suggested = [
        Completion(
            kind="author",
            label=short(author["author"], _LONGEST_LABEL),
            detail=f"{author['n_documents']:,} document{'' if author['n_documents'] == 1 else 's'}",
            href=link.author(author["author_id"]),
        )
        for author in find_authors(context, q, N_SUGGESTED_AUTHORS)
    ]
    suggested += [
        Completion(
            kind="topic",
            label=short(summary["label"] or summary["auto_label"], _LONGEST_LABEL),
            detail=f"topic {summary['topic']}",
            href=link.topic(summary["topic"]),
        )
        for summary in find_topics(context, q)[:N_SUGGESTED_TOPICS]
    ]
    suggested += [
        Completion(
            kind="word", label=word["word"], detail=f"{word['n_tokens']:,} uses", href=link.word(word["word_id"])
        )
        for word in find_words(context, q, N_SUGGESTED_WORDS)
    ]
    return [*suggested, *_titles(context, q, link, N_SUGGESTIONS - len(suggested))]


class TopicWords:
    """Leading words of topics, sorted, so that those that begin with some letters stand together.

    Parameters
    ----------
    words : list of list of str
        The words of topic 0, 1, …, folded, the leading word first.

    Examples
    --------
    >>> from topoi.web.pages.search import TopicWords
    >>> TopicWords([["star", "sun"], ["gene", "start"]]).places("star")
    {0: 0, 1: 1}
    """

    def __init__(self, words: list[list[str]]) -> None:
        self.words = words
        self._sorted = sorted((word, topic, at) for topic, own in enumerate(words) for at, word in enumerate(own))

    def places(self, beginning: str) -> dict[int, int]:
        """Topics with a word that begins so, and the place of the first such word."""
        found: dict[int, int] = {}
        for i in range(bisect.bisect_left(self._sorted, (beginning,)), len(self._sorted)):
            word, topic, at = self._sorted[i]
            if not word.startswith(beginning):
                break
            found[topic] = min(at, found.get(topic, at))
        return found


def find_topics(context: PageContext, q: str) -> list[TopicSummary]:
    """Topics whose label or leading words match all words of the query as prefixes; the earliest matches first."""
    terms = fold(q).split()
    if not terms or not context.has_topics:
        return []
    topics = context.cache.topics
    words = context.cache.keep("folded", lambda: TopicWords([_searched_words(topic) for topic in topics]))
    each = [words.places(term) for term in terms]
    common = set(each[0]).intersection(*each[1:]) - context.labels.keys()
    places = {topic: sum(found[topic] for found in each) for topic in common}
    for topic, label in context.labels.items():
        if topic < len(topics):
            own = [*fold(label).split(), *words.words[topic]]
            firsts = [next((at for at, word in enumerate(own) if word.startswith(term)), None) for term in terms]
            known = [at for at in firsts if at is not None]
            if len(known) == len(terms):
                places[topic] = sum(known)
    order = sorted(places.keys() - context.cache.retired, key=lambda k: (places[k], -topics[k]["summary"]["share"], k))
    return [context.summary(number) for number in order]


def _searched_words(topic: Mapping[str, Any]) -> list[str]:
    """Words of a topic, folded, and those of its automatic label that are not among them."""
    return list(dict.fromkeys([*map(fold, topic["all_words"]), *fold(topic["summary"]["auto_label"]).split()]))


def find_authors(context: PageContext, q: str, n: int) -> list[AuthorSize]:
    """Authors with these words in their names."""
    if not fold(q) or not context.collection["n_authors"]:
        return []
    ids = context.snapshot.authors.find(q)[:n]
    if not ids:
        return []
    rows = context.rows("authors", ids=json.dumps(ids))
    return [AuthorSize(author_id=a, author=name_of_author(name), n_documents=n_docs) for a, name, n_docs in rows]


def find_words(context: PageContext, q: str, n: int) -> list[WordLine]:
    """Words of the vocabulary that begin with the query."""
    given = one_line(q).lower().replace(" ", "_")
    if not given:
        return []
    rows = context.rows("words_beginning", first=given, beyond=given + "\U0010ffff", n=n)
    exact = sorted(rows, key=lambda row: row[1] != given)
    return [WordLine(word_id=w, word=short(word, _LONGEST_WORD), n_tokens=n_tokens) for w, word, n_tokens in exact]


def _titles(context: PageContext, q: str, link: Links, n: int) -> list[Completion]:
    match = match_for(q, column="title")
    if not match or n <= 0:
        return []
    rows = context.rows("found_titles", match=match, n=n)
    labels = [short(one_line(str(title or identifier)), _LONGEST_LABEL) for _, identifier, title, _ in rows]
    alike = [row[0] for row, label in zip(rows, labels, strict=True) if labels.count(label) > 1]
    openings = openings_of(context, alike) if alike else {}
    return [
        Completion(
            kind="document",
            label=label,
            detail=": ".join(part for part in ("" if year is None else str(year), openings.get(number, "")) if part),
            href=link.document(number),
        )
        for (number, _, _, year), label in zip(rows, labels, strict=True)
    ]


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    ranked = any(row["score"] is not None for row in view["documents"])
    if view["facets"] and any(one["parameter"] != "q" for one in view["facets"]["chosen"]):
        return None
    return f"topoi.Search(model).query({view['query']!r}, n={N_DOCUMENTS})" if ranked else None


PAGE = Page(
    "search",
    "Search",
    "search",
    search_page,
    SearchPage,
    place=130,
    in_menu=False,
    filters=[one for one in described() if one["name"] != "q"],
    needs_server=True,
    python=_python,
)
