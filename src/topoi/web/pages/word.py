"""A word: its topics and where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.errors import NotFoundError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, numbered
from topoi.web.pages.parts import doc_of
from topoi.web.pages.shapes import Doc, TopicSummary, WordLine
from topoi.web.pages.text import match_for, short

N_TOPICS, N_DOCUMENTS = 15, 20
_LONGEST_WORD = 1000
_NOTHING = '""'  # a full-text query that no document matches


class Word(WordLine):
    """A word."""

    n_documents: int


class WordTopic(TypedDict):
    """A topic of a word: P(topic | word), and the word's rank within the topic."""

    topic: TopicSummary
    probability: float
    n_tokens: int
    word_rank: int


class WordPage(TypedDict):
    """A word."""

    kind: Literal["word"]
    word: Word
    topics: list[WordTopic]
    documents: list[Doc]


def word_page(context: PageContext, word: parameters.WordId) -> WordPage:
    """The topics that a word comes from, and documents with it."""
    words = context.view.vocabulary_.words
    if word >= len(words):
        raise NotFoundError(f"there is no word {word}; words are numbered 0 to {len(words) - 1}")
    written = str(words[word])
    match = match_for(short(written.replace("_", " "), _LONGEST_WORD))
    rows = context.rows("word_and_works", word_id=word, match=(match or _NOTHING).removesuffix("*"), n=N_DOCUMENTS)
    *_, n_tokens, n_documents = rows[0]
    return WordPage(
        kind="word",
        word=Word(word_id=word, word=short(written, _LONGEST_WORD), n_tokens=n_tokens, n_documents=n_documents),
        topics=_topics(context, written),
        documents=[doc_of(row) for row in rows if row[0] is not None],
    )


def _topics(context: PageContext, word: str) -> list[WordTopic]:
    if not context.has_topics:
        return []
    from topoi.analysis.topics import word_topics

    frame = word_topics(context.view, word, N_TOPICS)
    columns = (frame[name].tolist() for name in ("topic", "probability", "n_words", "word_rank"))
    return [
        WordTopic(topic=context.summary(k), probability=p, n_tokens=n, word_rank=rank)
        for k, p, n, rank in zip(*columns, strict=True)
        if n
    ]


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return numbered("word", word_page, kept.words)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    word = view["word"]["word"]
    return (
        f"topoi.word_topics(model, {word!r}, {N_TOPICS})"
        if site["has_topics"]
        else f"model.rows('word_by_word', word={word!r})"
    )


PAGE = Page(
    "word",
    "Word",
    "word/{word}",
    word_page,
    WordPage,
    place=100,
    in_menu=False,
    below="overview",
    files=_files,
    python=_python,
)
