"""Words along time, split into the topics they come from, and words in context."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.corpus.pieces import row_positions
from topoi.drawing.colours import author_hue
from topoi.store.search import StoreIndex
from topoi.web.pages.context import PageContext
from topoi.web.pages.shapes import TopicSummary
from topoi.web.pages.text import one_line

MOST_SPANS = 40
N_TOPICS = 5
N_LINES, LINES_OF_A_DOCUMENT = 16, 2
AROUND = 48
_LONGEST_TEXT = 200_000
_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class TopicUse(TypedDict):
    """A topic's part of a word's share of all words, for each span of years."""

    topic: TopicSummary
    share: list[float]


class WordUse(TypedDict):
    """A word's share of all words in each span of years."""

    word_id: int
    word: str
    hue: int
    n_tokens: list[int]
    share: list[float]


class WordYears(TypedDict):
    """Words along time: spans of years, all words of each, the words' shares, and the first word's by topic."""

    first: list[int]
    last: list[int]
    n_tokens: list[int]
    words: list[WordUse]
    topics: list[TopicUse]


class ContextLine(TypedDict):
    """A use of a word with the text before and after it; its topic is the likeliest in the document."""

    document_id: int
    title: str
    year: int | None
    before: str
    word: str
    after: str
    topic: TopicSummary | None


def years_of_words(context: PageContext, words: Sequence[int]) -> WordYears | None:
    """Shares of some words in spans of years, and the first one's by topic; None without two years."""
    columns = context.snapshot.columns
    known = ~np.isnan(columns.years)
    years = np.unique(columns.years[known]).astype(np.int64)
    if len(years) < 2:
        return None
    width = next((w for w in _WIDTHS if years[-1] // w - years[0] // w < MOST_SPANS), _WIDTHS[-1])
    start = years[0] // width
    n_spans = int(years[-1] // width - start) + 1
    span = np.where(known, np.where(known, columns.years, 0) // width - start, -1).astype(np.int64)
    total = np.bincount(span[known], columns.lengths[known], n_spans)
    postings = StoreIndex(context.view.store).postings(np.array(words, np.int64))
    uses, topics = [], []
    for at, (word, (documents, times)) in enumerate(zip(words, postings, strict=True)):
        own = np.bincount(span[documents][known[documents]], times[known[documents]], n_spans)
        uses.append(
            WordUse(
                word_id=word,
                word=str(context.view.vocabulary_.words[word]),
                hue=author_hue(at),
                n_tokens=own.astype(int).tolist(),
                share=_shares(own, total),
            )
        )
        if at == 0 and context.has_topics:
            topics = _by_topic(context, word, documents, np.where(known[documents], times, 0), span, total)
    first = (np.arange(n_spans) + start) * width
    return WordYears(
        first=np.maximum(first, years[0]).tolist(),
        last=np.minimum(first + width - 1, years[-1]).tolist(),
        n_tokens=total.astype(int).tolist(),
        words=uses,
        topics=topics,
    )


def _shares(number: NDArray[Any], total: NDArray[Any]) -> list[float]:
    return [round(float(share), 9) for share in number / np.maximum(total, 1.0)]


def _by_topic(
    context: PageContext,
    word: int,
    documents: NDArray[np.int64],
    times: NDArray[np.float64],
    span: NDArray[np.int64],
    total: NDArray[Any],
) -> list[TopicUse]:
    """A word's uses by span and topic: each document's are split by P(topic | document, word)."""
    row, topic, part = _topic_parts(context, word, documents)
    n_spans, n_topics = len(total), context.view.n_topics
    cell = span[documents][row] * n_topics + topic
    table = np.bincount(cell[cell >= 0], (times[row] * part)[cell >= 0], n_spans * n_topics).reshape(n_spans, n_topics)
    leading = np.argsort(-table.sum(axis=0), kind="stable")[:N_TOPICS]
    return [
        TopicUse(topic=context.badge(int(k)), share=_shares(table[:, k], total)) for k in leading if table[:, k].any()
    ]


def _topic_parts(
    context: PageContext, word: int, documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """P(topic | document, word): places in ``documents``, topics, probabilities."""
    chain = context.view.chains_[0]
    start, column, number = chain.documents.sums
    here, own = row_positions(start, documents)
    row = np.repeat(np.arange(len(documents)), np.diff(own))
    topic = column[here].astype(np.int64)
    weight = number[here] * chain.word_columns(np.array([word]))[:, 0][topic]
    whole = np.bincount(row, weight, len(documents))
    return row, topic, weight / np.maximum(whole[row], 1e-300)


def lines_in_context(context: PageContext, word: int, documents: Sequence[int]) -> list[ContextLine]:
    """Uses of a word in some documents, with the text around them; two of a document at most."""
    if not context.has_texts or not documents:
        return []
    rows = context.rows("passages", ids=json.dumps(list(documents)), n=_LONGEST_TEXT)
    leading = _leading_topics(context, word, [row[0] for row in rows])
    sizes = context.snapshot.corpus
    found = []
    for number, title, year, words, starts, lengths, text in rows:
        tokens = np.frombuffer(words, f"<u{sizes.word_id_bytes}")
        if text is None or starts is None or lengths is None:
            continue
        start = np.frombuffer(starts, f"<u{sizes.start_bytes}").astype(np.int64)
        length = np.frombuffer(lengths, f"<u{sizes.length_bytes}").astype(np.int64)
        if not len(tokens) == len(start) == len(length):
            continue
        for at in np.flatnonzero(tokens == word)[:LINES_OF_A_DOCUMENT]:
            first, last = int(start[at]), int(start[at] + length[at])
            if last <= len(text):
                line = _line(str(text), first, last)
                topic = None if number not in leading else context.badge(leading[number])
                name = one_line(str(title or ""))[:200]
                found.append(ContextLine(document_id=number, title=name, year=year, topic=topic, **line))  # type: ignore[typeddict-item]
    return found[:N_LINES]


def _line(text: str, first: int, last: int) -> dict[str, str]:
    before = one_line(text[max(first - 3 * AROUND, 0) : first])
    after = one_line(text[last : last + 3 * AROUND])
    # A blank that stood between the word and its neighbours is kept.
    before += " " if first and text[first - 1].isspace() else ""
    after = (" " if last < len(text) and text[last].isspace() else "") + after
    return {"before": _last_words(before), "word": one_line(text[first:last]), "after": _first_words(after)}


def _last_words(text: str) -> str:
    return text if len(text) <= AROUND else "…" + text[-AROUND:].partition(" ")[2]


def _first_words(text: str) -> str:
    return text if len(text) <= AROUND else text[:AROUND].rpartition(" ")[0] + "…"


def _leading_topics(context: PageContext, word: int, documents: Sequence[int]) -> dict[int, int]:
    """The likeliest topic of a word in each document."""
    if not context.has_topics or not documents:
        return {}
    row, topic, part = _topic_parts(context, word, np.array(documents, np.int64))
    order = np.lexsort((-part, row))
    _, first = np.unique(row[order], return_index=True)
    return {int(documents[row[i]]): int(topic[i]) for i in order[first]}
