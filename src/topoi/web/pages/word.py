"""A word: its topics and where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.drawing import doors
from topoi.errors import NotFoundError
from topoi.store.matching import match_for
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, Picture, numbered
from topoi.web.pages.parts import doc_of
from topoi.web.pages.shapes import Doc, TopicSummary, WordLine
from topoi.web.pages.text import one_line, short
from topoi.web.pages.word_years import ContextLine, WordYears, lines_in_context, years_of_words
from topoi.web.tables import Tables, lists_in

N_TOPICS, N_DOCUMENTS = 15, 20
_LONGEST_WORD = 1000
_LONGEST_SHOWN = 100
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


class WordHead(TypedDict):
    """A word, its topics, and documents with it."""

    kind: Literal["word"]
    word: Word
    topics: list[WordTopic]
    documents: list[Doc]


class WordPage(WordHead):
    """A word: topics, shares by year beside other words, uses in context; ``unknown`` are words that are not there."""

    years: WordYears | None
    unknown: list[str]
    lines: list[ContextLine]


def word_page(
    context: PageContext,
    word: parameters.WordId,
    with_: parameters.OtherWords = (),  # type: ignore[assignment]
) -> WordPage:
    """The topics that a word comes from, its share of each year's words, its uses in context, and documents with it."""
    head = word_head(context, word)
    others, unknown = _others(context, with_)
    return WordPage(
        **head,
        years=years_of_words(context, list(dict.fromkeys([word, *others]))),
        unknown=unknown,
        lines=lines_in_context(context, word, [document["document_id"] for document in head["documents"]]),
    )


def word_head(context: PageContext, word: int) -> WordHead:
    """The topics that a word comes from, and documents with it."""
    words = context.view.vocabulary_.words
    if word >= len(words):
        raise NotFoundError(f"there is no word {word}; words are numbered 0 to {len(words) - 1}")
    written = str(words[word])
    match = match_for(short(written.replace("_", " "), _LONGEST_WORD))
    rows = context.rows("word_and_works", word_id=word, match=(match or _NOTHING).removesuffix("*"), n=N_DOCUMENTS)
    *_, n_tokens, n_documents = rows[0]
    return WordHead(
        kind="word",
        word=Word(word_id=word, word=short(written, _LONGEST_WORD), n_tokens=n_tokens, n_documents=n_documents),
        topics=_topics(context, written),
        documents=[doc_of(row) for row in rows if row[0] is not None],
    )


def _others(context: PageContext, given: Sequence[str]) -> tuple[list[int], list[str]]:
    """Numbers of words that are given by number or as they are written, and what is no word of the vocabulary."""
    vocabulary = context.view.vocabulary_
    found, unknown = [], []
    for text in (each.strip() for each in given if each.strip()):
        plain = text.lower().replace(" ", "_")
        if text.isdecimal() and text.isascii() and int(text) < len(vocabulary.words):
            found.append(int(text))
        elif plain in vocabulary or text in vocabulary:
            found.append(vocabulary.index(plain if plain in vocabulary else text))
        else:
            unknown.append(short(one_line(text), _LONGEST_SHOWN))
    return found, unknown


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


def _tables(view: Mapping[str, Any]) -> Tables:
    years = view["years"]
    rows = (
        []
        if years is None
        else [
            {"first": first, "last": last, "n_words": n, **{one["word"]: one["share"][at] for one in years["words"]}}
            | {f"topic_{one['topic']['topic']}": one["share"][at] for one in years["topics"]}
            for at, (first, last, n) in enumerate(zip(years["first"], years["last"], years["n_tokens"], strict=True))
        ]
    )
    return {**lists_in(view), "years": rows}


def _chart(view: Mapping[str, Any], site: Mapping[str, Any]) -> Picture | None:
    if view["years"] is None:
        return None
    words = [one["word"] for one in view["years"]["words"]]
    return Picture(doors.word_chart(view["years"]), short(", ".join(words), 120))


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
    chart=_chart,
    tables=_tables,
    files=_files,
    python=_python,
)
