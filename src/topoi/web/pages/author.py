"""An author: topics, documents over time, the most surprising and the most typical, similar authors."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from typing_extensions import TypedDict

from topoi.analysis.authors import enough_words
from topoi.drawing import charts
from topoi.drawing.words import clip
from topoi.errors import NotFoundError, StoreError
from topoi.models.smoothed_counts import whole_tokens
from topoi.web.pages import parameters
from topoi.web.pages.author_trends import BesideYears, beside_collection
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, Picture, has_some_authors, numbered
from topoi.web.pages.parts import banded_shares, documents_by_id, listed_rows, name_of_author
from topoi.web.pages.shapes import AuthorName, AuthorSize, BandedShare, Doc, Series, TopicSummary, WordLine
from topoi.web.pages.text import listed, one_line, short
from topoi.web.pages.timespan import YearSpan, chosen_span, limits
from topoi.web.tables import Tables, lists_in, rows_by_year

N_TOPICS, N_WORDS, N_YEAR_TOPICS, N_EXTREMES = 10, 30, 5, 5
N_DOCUMENTS, N_SIMILAR, N_COAUTHORS, N_VARIANTS = 50, 10, 10, 10
_LONGEST_NAME = 5000
_LONGEST_WORD = 100
_ROWS_AT_ONCE = 2048


class AuthorHead(TypedDict):
    """An author with the size of the work."""

    author_id: int
    name: str
    n_documents: int
    n_tokens: int
    first_year: int | None
    last_year: int | None


class AuthorYears(TypedDict):
    """An author along time."""

    years: list[int]
    n_documents: list[int]
    topics: list[Series]


class Surprise(TypedDict):
    """A document and how surprising it is under an author's name: its perplexity, and how many times the median's."""

    document: Doc
    perplexity: float
    multiple: float


class AuthorNear(AuthorName):
    """An author near another, with topics of both."""

    distance: float
    topics: list[TopicSummary]


class AuthorWord(WordLine):
    """A word of an author, in a model without topics."""

    probability: float


class AuthorPage(TypedDict):
    """An author; ``also`` are names that may be the same person's."""

    kind: Literal["author"]
    author: AuthorHead
    summary: str
    topics: list[BandedShare]
    words: list[AuthorWord]
    by_year: AuthorYears | None
    beside: BesideYears | None
    median_perplexity: float | None
    surprising: list[Surprise]
    typical: list[Surprise]
    documents: list[Doc]
    similar: list[AuthorNear]
    coauthors: list[AuthorSize]
    also: list[AuthorSize]
    span: YearSpan | None
    pending: list[str]


class Work(NamedTuple):
    """One of an author's documents: its number, its year, and its perplexity."""

    document_id: int
    year: int | None
    perplexity: float | None


def author_page(
    context: PageContext,
    author: parameters.AuthorId,
    from_: parameters.FirstYear = None,
    to: parameters.LastYear = None,
) -> AuthorPage:
    """An author: topics, years, co-authors, and odd documents."""
    rows = context.rows("author", author_id=author, n=N_COAUTHORS)
    if not rows:
        n_authors = context.collection["n_authors"]
        there = f"authors are numbered 0 to {n_authors - 1}" if n_authors else "the collection has none"
        raise NotFoundError(f"there is no author {author}; {there}")
    name, n_documents, coauthors = rows[0]
    works = [_work(row) for row in context.rows("author_works", author_id=author)]
    topics, n_tokens = _topics(context, author, works)
    words = _words(context, author)
    years = [work.year for work in works if work.year is not None]
    head = AuthorHead(
        author_id=author,
        name=short(one_line(str(name)), _LONGEST_NAME) or "(no name)",
        n_documents=n_documents,
        n_tokens=n_tokens if context.has_topics else sum(word["n_tokens"] for word in words),
        first_year=min(years, default=None),
        last_year=max(years, default=None),
    )
    latest = sorted(works, key=lambda work: (work.year is None, -(work.year or 0), -work.document_id))[:N_DOCUMENTS]
    surprising, typical, median = _extremes(works)
    documents = documents_by_id(context, [work.document_id for work in (*latest, *surprising, *typical)])
    by_year, beside = _by_year(context, works, topics)
    also, similar = _others(context, author)
    return AuthorPage(
        kind="author",
        author=head,
        summary=_summary(head, topics, words),
        topics=topics[:N_TOPICS],
        words=words[:N_WORDS],
        by_year=by_year,
        beside=beside,
        median_perplexity=median,
        surprising=_surprises(surprising, documents, median),
        typical=_surprises(typical, documents, median),
        documents=[documents[work.document_id] for work in latest],
        similar=similar,
        coauthors=_coauthors(coauthors),
        also=also,
        pending=context.pending("near"),
        span=chosen_span(by_year["years"], by_year["n_documents"], from_, to) if by_year else None,
    )


def _work(row: Sequence[Any]) -> Work:
    number, year, perplexity = row
    return Work(int(number), year if isinstance(year, int) else None, perplexity)


def _topics(context: PageContext, author: int, works: list[Work]) -> tuple[list[BandedShare], int]:
    """Topics with words of the author (of the documents, in a model without authors), and the number of words.

    Shares are those of ``author_topics``; in a model without authors, the parts of the words of all the documents.
    """
    if not context.has_topics:
        return [], 0
    chain = context.view.chains_[0]
    if context.has_authors:
        counts = chain.written.counts(author)[0]
        moments = chain.author_moments(np.array([author])).some(0)
        share = moments.mean
    else:
        documents = np.array([work.document_id for work in works], np.int64)
        counts = _tokens_by_year(context, documents, np.zeros(len(works), np.int64), 1)[0]
        moments, share = chain.group_moments(documents), counts / max(float(counts.sum()), 1.0)
    return banded_shares(context, moments, share, counts), int(whole_tokens(float(counts.sum())))


def _words(context: PageContext, author: int) -> list[AuthorWord]:
    """Words of an author in a model without topics."""
    if context.has_topics:
        return []
    rows = context.rows("author_vocabulary", author_id=author)
    return [
        AuthorWord(word_id=number, word=short(word, _LONGEST_WORD), n_tokens=n_tokens, probability=p)
        for number, word, n_tokens, p in rows
    ]


def _extremes(works: list[Work]) -> tuple[list[Work], list[Work], float | None]:
    """The most surprising and the most typical documents, without overlap, and the median perplexity."""
    scored = [work for work in works if work.perplexity is not None]
    scored.sort(key=lambda work: (-(work.perplexity or 0.0), work.document_id))
    if len(scored) < 2:
        return [], [], scored[0].perplexity if scored else None
    n_odd = min(N_EXTREMES, len(scored) // 2)
    n_typical = min(N_EXTREMES, len(scored) - n_odd)
    median = statistics.median(work.perplexity or 0.0 for work in scored)
    return scored[:n_odd], scored[: -n_typical - 1 : -1], median


def _surprises(works: list[Work], documents: dict[int, Doc], median: float | None) -> list[Surprise]:
    usual = median or 1.0
    return [
        Surprise(
            document=documents[w.document_id], perplexity=w.perplexity or 0.0, multiple=(w.perplexity or 0.0) / usual
        )
        for w in works
    ]


def _by_year(
    context: PageContext, works: list[Work], topics: list[BandedShare]
) -> tuple[AuthorYears | None, BesideYears | None]:
    """Documents per year, and the topic shares of their words; the same beside the collection's."""
    dated = [work for work in works if work.year is not None]
    years = sorted({work.year for work in dated if work.year is not None})
    if not years:
        return None, None
    place = {year: at for at, year in enumerate(years)}
    at = np.array([place[work.year or 0] for work in dated])
    shown = [share for share in topics if not share["topic"]["glue"]][:N_YEAR_TOPICS]
    series: list[Series] = []
    n_documents = np.bincount(at, minlength=len(years)).tolist()
    beside = None
    if shown:
        table = _tokens_by_year(context, np.array([work.document_id for work in dated]), at, len(years))
        totals = np.maximum(table.sum(axis=1), 1)
        series = [
            Series(topic=context.summary(k), share=(table[:, k] / totals).round(6).tolist())
            for k in (share["topic"]["topic"] for share in shown)
        ]
        beside = beside_collection(context, years, n_documents, table, [share["topic"]["topic"] for share in shown])
    return AuthorYears(years=years, n_documents=n_documents, topics=series), beside


def _tokens_by_year(context: PageContext, documents: Any, at: Any, n_years: int) -> Any:
    """Words per year and topic of some documents."""
    mixtures = context.view.chains_[0].documents
    if documents.max(initial=0) >= len(mixtures):
        raise StoreError(f"{context.view.store.path}: an author has a document that is not there")
    table = np.zeros((n_years, context.view.n_topics))
    for first in range(0, len(documents), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        np.add.at(table, at[part], mixtures.counts(documents[part]))
    return table


def _others(context: PageContext, author: int) -> tuple[list[AuthorSize], list[AuthorNear]]:
    """Names that may be the author's too, and the authors of ``topoi.similar_authors``."""
    variants = context.snapshot.names.variants(author)[:N_VARIANTS]
    near = _nearest(context, author)
    numbers = [*variants, *(a for a, *_ in near)]
    rows = context.rows("authors", ids=json.dumps(list(dict.fromkeys(numbers)))) if numbers else []
    known = {a: AuthorSize(author_id=a, author=name_of_author(name), n_documents=n) for a, name, n in rows}
    similar = [
        AuthorNear(author_id=a, author=known[a]["author"], distance=distance, topics=topics)
        for a, distance, topics in near
    ]
    return [known[a] for a in variants], similar


def _nearest(context: PageContext, author: int) -> list[tuple[int, float, list[TopicSummary]]]:
    """Authors with the nearest topics: number, distance, shared topics; none before the kernels are compiled."""
    if not context.has_topics or not context.has_authors or not context.is_ready("near"):
        return []
    authors = context.view.chains_[0].written
    own = authors.shares(author)[0]
    likely = context.likely_authors.get(author)
    known = enough_words(context.view, None) if likely is None else likely
    chosen, distance = authors.nearest(own, "symmetrised-kl", N_SIMILAR, known[known != author])
    shares = authors.shares(chosen) if len(chosen) else []
    return [
        (int(a), float(value), context.shared_badges(own, row))
        for a, value, row in zip(chosen, distance, shares, strict=True)
    ]


def _coauthors(packed: str) -> list[AuthorSize]:
    rows = listed_rows(packed, "a list of co-authors", 3)
    return [AuthorSize(author_id=a, author=name_of_author(name), n_documents=n) for a, name, n in rows]


def _summary(head: AuthorHead, topics: list[BandedShare], words: list[AuthorWord]) -> str:
    """One sentence about an author's topics, number of documents and years."""
    content = [share for share in topics if not share["topic"]["glue"]] or topics
    number = f"{head['n_documents']:,} document{'' if head['n_documents'] == 1 else 's'}"
    first, last = head["first_year"], head["last_year"]
    when = "" if first is None else f" of {first}" if first == last else f" from {first} to {last}"
    if content:
        main = [
            f"{short(share['topic']['label'] or share['topic']['auto_label'], 80)} ({share['share']:.0%})"
            for share in content[:2]
        ]
        return f"Writes mostly about {' and about '.join(main)}, in {number}{when}."
    if words:
        return f"{number}{when}; the most frequent words are {listed([word['word'] for word in words[:5]])}."
    return f"{number}{when}."


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if not view["by_year"] or not view["by_year"]["years"]:
        return None
    name = view["author"]["name"]
    return Picture(charts.stacked(view["by_year"], name, shown=limits(view["span"])), clip(name, 120))


def _tables(view: Mapping[str, Any]) -> Tables:
    return {**lists_in(view, by_year=rows_by_year(view["by_year"])), "beside": _beside_rows(view["beside"])}


def _beside_rows(beside: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    if beside is None:
        return []
    return [
        {"topic": one["topic"]["topic"], "first": first, "last": last, "share": share, "whole": whole}
        for one in beside["topics"]
        for first, last, share, whole in zip(beside["first"], beside["last"], one["share"], one["whole"], strict=True)
    ]


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return numbered("author", author_page, kept.authors)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    number = view["author"]["author_id"]
    if not site["has_topics"]:
        return f"model.rows('author_words', author_id={number}, n={N_WORDS})"
    if site["has_authors"]:
        return f"model.author_topics({number}, {N_TOPICS})"
    works = f"[row[0] for row in model.rows('author_documents', author_id={number}, n=-1)]"
    return f"model.chains_[0].documents.counts({works}).sum(axis=0)"


PAGE = Page(
    "author",
    "Author",
    "author/{author}",
    author_page,
    AuthorPage,
    place=70,
    needs=has_some_authors,
    in_menu=False,
    below="authors",
    chart=_chart,
    tables=_tables,
    files=_files,
    python=_python,
)
