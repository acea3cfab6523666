"""A topic: words, authors, documents, neighbours, trend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from topoi.drawing import charts
from topoi.models.ranking import largest, relevance_scores
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.graph import super_topics_of
from topoi.web.pages.page import Kept, Page, PageFile, Picture, has_topics, numbered
from topoi.web.pages.parts import banded_documents, name_of_author
from topoi.web.pages.shapes import AuthorName, SuperTopicPart, TopicDocument, TopicSummary, YearShares
from topoi.web.pages.text import short
from topoi.web.tables import Tables, lists_in, rows_by_year

N_WORDS, N_AUTHORS, N_DOCUMENTS, N_NEIGHBOURS = 30, 20, 15, 6
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
    """An author of a topic: P(author | topic)."""

    n_tokens: int
    probability: float


class Neighbour(TypedDict):
    """A topic near another; symmetrised KL."""

    topic: TopicSummary
    distance: float


class TopicPage(TypedDict):
    """A topic; ``super_topics`` are the nodes that draw from it, in a model over a graph.

    ``lower`` and ``upper`` are the ends of the interval (0.9) of its share of all words.
    """

    kind: Literal["topic"]
    topic: TopicSummary
    lower: float
    upper: float
    n_tokens: int
    relevance: float
    words: list[TopicWord]
    authors: list[TopicAuthor]
    documents: list[TopicDocument]
    neighbours: list[Neighbour]
    trend: YearShares | None
    super_topics: list[SuperTopicPart]


def topic_page(context: PageContext, topic: parameters.Topic, relevance: parameters.Relevance = 0.6) -> TopicPage:
    """A topic's words in the order of their relevance, its authors, documents, neighbours and trend."""
    context.check_topic(topic)
    return TopicPage(
        kind="topic",
        topic=context.summary(topic),
        lower=context.cache.topics[topic]["lower"],
        upper=context.cache.topics[topic]["upper"],
        n_tokens=context.cache.topics[topic]["n_tokens"],
        relevance=relevance,
        words=_words(context, topic, relevance),
        authors=_authors(context, topic),
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
    )


def _neighbours(context: PageContext, topic: int) -> list[tuple[int, float]]:
    retired = context.cache.retired
    rows = context.rows("topic_neighbours", topic=topic, n=N_NEIGHBOURS + len(retired))
    return [row for row in rows if row[0] not in retired][:N_NEIGHBOURS]


def _words(context: PageContext, topic: int, relevance: float) -> list[TopicWord]:
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


def _authors(context: PageContext, topic: int) -> list[TopicAuthor]:
    if not context.has_authors:
        return []
    rows = context.rows("topic_leaders", topic=topic, n=N_AUTHORS)
    return [TopicAuthor(author_id=a, author=name_of_author(name), n_tokens=n, probability=p) for a, name, n, p in rows]


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
    return Picture(charts.columns(view["trend"], view["topic"]), title)


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
