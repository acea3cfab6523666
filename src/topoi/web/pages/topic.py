"""A topic: words, authors, documents, neighbours, trend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from topoi.drawing import charts
from topoi.models.ranking import largest, relevance_scores
from topoi.models.share_moments import Moments
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import super_topics_of
from topoi.web.pages.page import Kept, Page, PageFile, Picture, has_topics, numbered
from topoi.web.pages.parts import banded_documents, name_of_author
from topoi.web.pages.selection import documents_of_topics
from topoi.web.pages.shapes import AuthorName, SuperTopicPart, TopicDocument, TopicSummary, YearShares
from topoi.web.pages.text import short
from topoi.web.pages.timespan import YearSpan, collection_span, limits
from topoi.web.pages.together import TopicTogether, together_with
from topoi.web.tables import Tables, lists_in, rows_by_year

N_WORDS, N_AUTHORS, N_DOCUMENTS, N_NEIGHBOURS = 30, 20, 15, 6
N_LEADERS = 200
RELEVANCE = 0.6
_LONGEST_WORD = 100
_ALL = -1


class TopicWord(TypedDict):
    """A word of a topic: P(word | topic), and P(topic | word) as share_of_word."""

    word_id: int
    word: str
    n_tokens: int
    probability: float
    share_of_word: float


class TopicAuthor(AuthorName):
    """An author of a topic: P(author | topic), and P(topic | author) as ``share``, with its interval (0.9)."""

    n_tokens: int
    probability: float
    share: float
    lower: float | None
    upper: float | None


class Neighbour(TypedDict):
    """A topic near another; symmetrised KL."""

    topic: TopicSummary
    distance: float


class TopicPage(TypedDict):
    """A topic; ``super_topics`` are the nodes that draw from it, in a model over a graph.

    ``lower`` and ``upper`` are the ends of the interval (0.9) of its share of all words; ``n_documents`` have a
    tenth of their words or more in it.
    """

    kind: Literal["topic"]
    topic: TopicSummary
    lower: float
    upper: float
    n_tokens: int
    n_documents: int
    relevance: float
    words: list[TopicWord]
    rank: Literal["most", "specialists"]
    authors: list[TopicAuthor]
    together: list[TopicTogether]
    documents: list[TopicDocument]
    neighbours: list[Neighbour]
    trend: YearShares | None
    super_topics: list[SuperTopicPart]
    span: YearSpan | None


def topic_page(
    context: PageContext,
    topic: parameters.Topic,
    relevance: parameters.Relevance = RELEVANCE,
    from_: parameters.FirstYear = None,
    to: parameters.LastYear = None,
    authors: parameters.TopicAuthors = "most",
) -> TopicPage:
    """A topic's words in the order of their relevance, its authors, documents, neighbours and trend."""
    context.check_topic(topic)
    return TopicPage(
        kind="topic",
        topic=context.summary(topic),
        lower=context.cache.topics[topic]["lower"],
        upper=context.cache.topics[topic]["upper"],
        n_tokens=context.cache.topics[topic]["n_tokens"],
        n_documents=int(documents_of_topics(context)[topic]),
        relevance=relevance,
        words=topic_words(context, topic, relevance),
        rank=authors,
        authors=_authors(context, topic, authors),
        together=together_with(context, topic),
        documents=banded_documents(
            context,
            "topic",
            topic,
            context.rows("topic_works", topic=topic, n=N_DOCUMENTS),
            context.view.chains_[0].document_moments,
        ),
        neighbours=[
            Neighbour(topic=context.badge(other), distance=distance) for other, distance in _neighbours(context, topic)
        ],
        trend=trend_of(context, topic),
        super_topics=super_topics_of(context, topic),
        span=collection_span(context, from_, to),
    )


def _neighbours(context: PageContext, topic: int) -> list[tuple[int, float]]:
    retired = context.cache.retired
    rows = context.rows("topic_neighbours", topic=topic, n=N_NEIGHBOURS + len(retired))
    return [row for row in rows if row[0] not in retired][:N_NEIGHBOURS]


def topic_words(context: PageContext, topic: int, relevance: float = RELEVANCE) -> list[TopicWord]:
    """A topic's most relevant words."""
    rows = context.rows("topic_word_counts", topic=topic, n=N_WORDS if relevance == 1 else _ALL)
    if not rows:
        return []
    rows.sort(key=lambda row: row[0])  # ties are broken by the word's number, as everywhere
    probability = np.array([row[3] for row in rows], np.float64)
    scores = relevance_scores(probability[None], np.array([row[4] for row in rows], np.int64), relevance)
    best = [rows[i] for i in largest(scores, N_WORDS)[0]]
    return [
        TopicWord(
            word_id=number,
            word=short(word, _LONGEST_WORD),
            n_tokens=n_tokens,
            probability=p,
            share_of_word=n_tokens / max(total, 1),
        )
        for number, word, n_tokens, p, total in best
    ]


def _authors(context: PageContext, topic: int, rank: str) -> list[TopicAuthor]:
    """Authors with most words of the topic or, among the first 200 of those, with the largest part of their own in it.

    Specialists are in the order of the lower end of the interval: somebody with ten words is no specialist yet.
    """
    if not context.has_authors:
        return []
    rows = context.rows("topic_leaders", topic=topic, n=N_AUTHORS if rank == "most" else N_LEADERS)
    if not rows:
        return []
    moments = context.view.chains_[0].author_moments(np.array([row[0] for row in rows], np.int64))
    share = moments.mean[:, topic]
    spread = None if moments.deviation is None else moments.deviation[:, topic]
    lower, upper = Moments(share, spread).interval()
    places = range(len(rows)) if rank == "most" else np.argsort(-(share if spread is None else lower), kind="stable")
    return [
        TopicAuthor(
            author_id=rows[i][0],
            author=name_of_author(rows[i][1]),
            n_tokens=rows[i][2],
            probability=rows[i][3],
            share=float(share[i]),
            lower=None if spread is None else float(lower[i]),
            upper=None if spread is None else float(upper[i]),
        )
        for i in places
    ][:N_AUTHORS]


def trend_of(context: PageContext, topic: int) -> YearShares | None:
    """Share of a topic in each year's words."""
    years, tokens, *shares = context.cache.trends
    if not years:
        return None
    share, lower, upper = (each[topic].tolist() for each in shares)
    return YearShares(years=years, share=share, lower=lower, upper=upper, n_tokens=tokens[topic].tolist())


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if not view["trend"] or len(view["trend"]["years"]) < 2:
        return None
    title = f"{charts.topic_name(view['topic'], 60)} (topic {view['topic']['topic']}), share of each year’s words"
    return Picture(charts.columns(view["trend"], view["topic"], shown=limits(view["span"])), title)


def _tables(view: Mapping[str, Any]) -> Tables:
    return lists_in(view, trend=rows_by_year(view["trend"]))


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return numbered("topic", topic_page, context.topics)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return f"model.top_words({N_WORDS}, topic={view['topic']['topic']}, relevance={view['relevance']!r})"


PAGE = Page(
    "topic",
    "Topic",
    "topic/{topic}",
    topic_page,
    TopicPage,
    place=20,
    needs=has_topics,
    in_menu=False,
    below="overview",
    chart=_chart,
    tables=_tables,
    files=_files,
    python=_python,
)
