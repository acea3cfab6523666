"""Parts shared by several pages: documents in lists, labelled texts, shares."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from topoi.drawing.colours import author_hue
from topoi.errors import StoreError
from topoi.models.share_moments import Moments
from topoi.models.smoothed_counts import whole_tokens
from topoi.store.door import stored_json
from topoi.web.pages.context import PageContext, Trends
from topoi.web.pages.shapes import (
    AuthorName,
    AuthorShare,
    BandedShare,
    Doc,
    DocumentLine,
    Move,
    Passing,
    Piece,
    TopicDocument,
    TopicShare,
    TopicSummary,
)
from topoi.web.pages.text import finder, one_line, short

if TYPE_CHECKING:
    import pandas as pd

LONGEST_TITLE = 500
LONGEST_NAME = 200
LONGEST_IDENTIFIER = 300
# A web browser takes seconds to lay out a page of more words.
MOST_WORDS_SHOWN = 30_000
MOST_CHARACTERS_SHOWN = 1_000_000
N_LEADING = 3
MOST_RANKED = 20_000
THIS_DOCUMENT = "this document alone"


def doc_of(row: Sequence[Any], longest: int = LONGEST_TITLE) -> Doc:
    """A document from the columns that every list of documents begins with."""
    number, identifier, title, year, authors = row[:5]
    name = one_line(str(identifier)) or str(number)
    people = [(a, name_of_author(n)) for a, n in listed_rows(authors, f"the authors of document {number}", 2)]
    return Doc(
        document_id=int(number),
        identifier=short(name, LONGEST_IDENTIFIER),
        title=short(one_line(str(title)) if title is not None else "", longest) or short(name, LONGEST_IDENTIFIER),
        year=year if isinstance(year, int) else None,
        authors=[AuthorName(author_id=a, author=n) for a, n in people],
    )


def listed_rows(packed: object, what: str, width: int) -> list[list[Any]]:
    """Rows that a query packed as JSON, each a number and its data."""
    rows = stored_json(packed, what, [list])
    if not all(len(row) == width and type(row[0]) is int and row[0] >= 0 for row in rows):
        raise StoreError(f"{what} cannot be read: damaged")
    return list(rows)


def name_of_author(name: object) -> str:
    """Name of an author for lists, never empty."""
    return short(one_line(str(name)), LONGEST_NAME) or "(no name)"


def documents_by_id(context: PageContext, ids: Iterable[int]) -> dict[int, Doc]:
    """Some documents, by number."""
    wanted = json.dumps(sorted({int(d) for d in ids}))
    return {row[0]: doc_of(row) for row in context.rows("works", ids=wanted)}


def leading_topics(
    context: PageContext, of: Literal["authors", "documents"], ids: Sequence[int]
) -> dict[int, list[TopicSummary]]:
    """Topics with most words of each author or document; background topics come last."""
    if not context.has_topics or not ids or (of == "authors" and not context.has_authors):
        return {}
    chain = context.view.chains_[0]
    counts = (chain.written if of == "authors" else chain.documents).counts(np.array(ids, np.int64))
    is_background = np.array([topic["summary"]["glue"] for topic in context.cache.topics])
    order = np.lexsort((-counts, np.broadcast_to(is_background, counts.shape)), axis=1)[:, :N_LEADING]
    return {
        number: context.badges(k for k in best if row[k] > 0)
        for number, row, best in zip(ids, counts, order, strict=True)
    }


def lines(
    context: PageContext,
    rows: Sequence[Sequence[Any]],
    query: str = "",
    carried: Mapping[int, Sequence[int]] | None = None,
) -> list[DocumentLine]:
    """Documents of a list with topics and, for a query, snippets with its words.

    Topics are those that ``carried`` names for a document, or its own leading ones.
    """
    given = carried or {}
    own = leading_topics(context, "documents", [int(row[0]) for row in rows if not given.get(int(row[0]))])
    find = finder(query)
    return [
        DocumentLine(
            document=doc_of(row),
            snippet=find(str(row[5])) if find is not None and len(row) > 5 and row[5] else None,
            topics=context.badges(given.get(int(row[0]), ())) or own.get(int(row[0]), []),
        )
        for row in rows
    ]


def found(context: PageContext, match: str, n: int) -> list[Any]:
    """Some documents that match a query, the best first."""
    n_found = context.rows("n_found", match=match)[0][0]
    # Ranking by very common words takes long and is not informative.
    query = "found" if n_found <= MOST_RANKED else "found_unranked"
    return context.rows(query, match=match, n=n, skip=0) if n_found else []


def moves(context: PageContext, by: Literal["year", "decade"] = "year") -> list[dict[str, Any]]:
    """``topic_moves`` of all topics, from the steepest rise to the steepest fall."""
    return context.cache.keep(("moves", by), lambda: _moves(context, by))


def _moves(context: PageContext, by: Literal["year", "decade"]) -> list[dict[str, Any]]:
    from topoi.analysis.trends import topic_moves

    if len(shares_by(context, by).periods) < 2:
        return []
    rows: list[Any] = topic_moves(context.view, _trend_frame(context, by)).to_dict("records")
    return rows


def passing(context: PageContext, n: int) -> list[Passing]:
    """The topics that came and went, without background topics."""
    rows = context.cache.keep("passing", lambda: _passing(context))
    wanted = ((context.summary(row["topic"]), row) for row in rows)
    found = [
        Passing(topic=summary, **{name: row[name] for name in Passing.__annotations__ if name != "topic"})  # type: ignore[typeddict-item]
        for summary, row in wanted
        if not summary["glue"]
    ]
    return found[:n]


def _passing(context: PageContext) -> list[dict[str, Any]]:
    from topoi.analysis.passing import passing_topics

    if not context.has_topics or len(context.cache.trends.periods) < 3:
        return []
    rows: list[Any] = passing_topics(context.view, _trend_frame(context, "year")).to_dict("records")
    return rows


def _trend_frame(context: PageContext, by: Literal["year", "decade"]) -> pd.DataFrame:
    """Frame as ``topic_trends`` makes it, without intervals."""
    import pandas as pd

    periods, tokens, share, *_ = shares_by(context, by)
    n_topics = len(tokens)
    return pd.DataFrame(
        {
            by: np.repeat(periods, n_topics),
            "topic": np.tile(np.arange(n_topics), len(periods)),
            "share": share.T.ravel(),
            "n_words": tokens.T.ravel(),
        }
    )


def shares_by(context: PageContext, by: Literal["year", "decade"]) -> Trends:
    """Shares of topics by year or decade."""
    return context.cache.trends if by == "year" else context.cache.decades


def rising(context: PageContext, n: int, by: Literal["year", "decade"] = "year") -> list[Move]:
    """The topics that rise most, without background topics."""
    return _first_moves(context, moves(context, by), 1, n)


def falling(context: PageContext, n: int, by: Literal["year", "decade"] = "year") -> list[Move]:
    """The topics that fall most."""
    return _first_moves(context, moves(context, by)[::-1], -1, n)


def _first_moves(context: PageContext, rows: list[dict[str, Any]], direction: int, n: int) -> list[Move]:
    wanted = ((context.summary(row["topic"]), row) for row in rows if row["direction"] == direction)
    found = [
        Move(topic=summary, **{name: row[name] for name in Move.__annotations__ if name != "topic"})  # type: ignore[typeddict-item]
        for summary, row in wanted
        if not summary["glue"]
    ]
    return found[:n]


def pieces_of(text: str, labels: dict[str, Any]) -> tuple[list[Piece], int]:
    """A text in pieces, and the number of known words beyond the part shown.

    Parameters
    ----------
    text : str
        The text.
    labels : dict of lists
        Columns start, end, word_id, topic, p and, if there are authors, author and q.
    """
    text = text[:MOST_CHARACTERS_SHOWN]
    pieces: list[Piece] = []
    at = shown = 0
    for i, (start, end) in enumerate(zip(labels["start"], labels["end"], strict=True)):
        if i >= MOST_WORDS_SHOWN or end > len(text):
            text = text[:at]
            break
        if start < at:
            continue  # words that overlap cannot both be coloured
        if start > at:
            pieces.append(Piece(text=text[at:start]))
        pieces.append(_piece(text[start:end], labels, i))
        at, shown = end, i + 1
    if at < len(text):
        pieces.append(Piece(text=text[at:]))
    return pieces, len(labels["start"]) - shown


def pieces_of_words(words: Sequence[str], labels: dict[str, Any]) -> tuple[list[Piece], int]:
    """Words in reading order, for a document without a text."""
    pieces: list[Piece] = []
    for i, word in enumerate(words[:MOST_WORDS_SHOWN]):
        if pieces:
            pieces.append(Piece(text=" "))
        pieces.append(_piece(str(word), labels, i))
    return pieces, max(len(words) - MOST_WORDS_SHOWN, 0)


def _piece(text: str, labels: dict[str, Any], i: int) -> Piece:
    piece = Piece(text=text, word_id=labels["word_id"][i], topic=labels["topic"][i], p=round(labels["p"][i], 4))
    if "author" in labels:
        piece["author"], piece["q"] = labels["author"][i], round(labels["q"][i], 4)
    return piece


def topic_shares(context: PageContext, topics: Iterable[int], n: int = 10) -> list[TopicShare]:
    """Shares of topics in a text's words."""
    counts = Counter(topics)
    total = max(sum(counts.values()), 1)
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:n]
    return [TopicShare(topic=context.summary(k), share=number / total, n_tokens=number) for k, number in order]


def banded_shares(
    context: PageContext,
    moments: Moments,
    share: NDArray[np.float64],
    counts: NDArray[np.float64],
    n: int | None = None,
) -> list[BandedShare]:
    """Topics of which there is half a word or more, the largest share first, with intervals."""
    whole = whole_tokens(counts)
    order = np.lexsort((np.arange(len(share)), -share))
    chosen = order[whole[order] > 0][:n]
    lower, upper = moments.some(chosen).interval(share=share[chosen])
    known = moments.deviation is not None
    return [
        BandedShare(
            topic=context.summary(int(k)),
            share=float(share[k]),
            n_tokens=int(whole[k]),
            lower=float(first) if known else None,
            upper=float(last) if known else None,
        )
        for k, first, last in zip(chosen, lower, upper, strict=True)
    ]


def banded_documents(
    context: PageContext,
    kind: Literal["topic", "node"],
    column: int,
    rows: Sequence[Sequence[Any]],
    moments_of: Callable[[int], Moments],
) -> list[TopicDocument]:
    """Documents with their words and shares of a topic or node, which is a column of each document's moments."""

    def deviations() -> list[float]:
        moments = [moments_of(row[0]) for row in rows]
        return [float(each.deviation[column]) for each in moments if each.deviation is not None]

    # They take three queries a document, so they are kept: a few numbers for each topic that is looked at.
    spread = context.cache.keep(f"documents of {kind} {column}", deviations)
    known = len(spread) == len(rows)
    share = np.array([row[6] for row in rows], np.float64)
    lower, upper = Moments(share, np.array(spread, np.float64) if known else None).interval()
    return [
        TopicDocument(
            document=doc_of(row),
            share=row[6],
            n_tokens=row[5],
            lower=float(first) if known else None,
            upper=float(last) if known else None,
        )
        for row, first, last in zip(rows, lower, upper, strict=True)
    ]


def author_shares(names: Sequence[tuple[int | None, str]], positions: Iterable[int]) -> list[AuthorShare]:
    """Shares of authors in a text's words, in the order given."""
    counts = Counter(positions)
    total = max(sum(counts.values()), 1)
    share = np.array([counts[i] / total for i in range(len(names))])
    return banded_authors(names, Moments(share, None), total)


def banded_authors(names: Sequence[tuple[int | None, str]], moments: Moments, n_tokens: int) -> list[AuthorShare]:
    """Shares of authors in a text of so many words, with intervals if they are known; in the order given."""
    lower, upper = moments.interval()
    known = moments.deviation is not None
    whole = whole_tokens(moments.mean * n_tokens)
    return [
        AuthorShare(
            author_id=a,
            author=name,
            share=float(moments.mean[i]),
            n_tokens=int(whole[i]),
            lower=float(lower[i]) if known else None,
            upper=float(upper[i]) if known else None,
            hue=author_hue(i),
        )
        for i, (a, name) in enumerate(names)
    ]


def badges_of(context: PageContext, pieces: Iterable[Piece]) -> dict[str, TopicSummary]:
    """Badges of all topics in a text."""
    return {str(k): context.badge(k) for k in sorted({piece["topic"] for piece in pieces if "topic" in piece})}
