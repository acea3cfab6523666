"""Odd documents of the whole collection: those that no topic explains, and those unlike their authors' others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.analysis.surprise import AuthorSurprises, Surprises, author_surprises
from topoi.errors import StoreError
from topoi.store.whole import surprises_in
from topoi.web.background import Background, Report
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page, has_topics
from topoi.web.pages.parts import doc_of, leading_topics, name_of_author
from topoi.web.pages.shapes import AuthorName, Doc, TopicSummary, WordLine
from topoi.web.pages.text import short

N_DOCUMENTS = 25
_LONGEST_WORD = 100


class OddDocument(TypedDict):
    """A document that its topics explain badly: how many times the median perplexity, and the words that are why."""

    document: Doc
    times: float
    perplexity: float
    topics: list[TopicSummary]
    words: list[WordLine]


class OddForAuthor(TypedDict):
    """A document unlike its authors' others: how many times the median of the author whom it surprises least.

    ``topics`` are the document's, ``usual`` the author's.
    """

    document: Doc
    author: AuthorName
    times: float
    topics: list[TopicSummary]
    usual: list[TopicSummary]


class OdditiesPage(TypedDict):
    """Odd documents; ``done`` is the part computed so far, and the lists are empty until it is 1.

    ``n_documents`` were long enough to be judged.
    """

    kind: Literal["oddities"]
    done: float
    n_documents: int
    median: float | None
    overall: list[OddDocument]
    for_authors: list[OddForAuthor]


class Odd(NamedTuple):
    """What the page needs of all documents."""

    surprises: Surprises
    by_author: AuthorSurprises | None


def oddities_page(context: PageContext) -> OdditiesPage:
    """The most surprising documents of the collection, overall and for their authors, with reasons."""
    page = OdditiesPage(kind="oddities", done=1.0, n_documents=0, median=None, overall=[], for_authors=[])
    if not context.has_topics:
        return page
    work = _work(context)
    odd = work.result()
    page["done"] = work.done
    if odd is None:
        return page
    perplexity = odd.surprises.perplexity
    judged = np.isfinite(perplexity)
    page["n_documents"] = int(judged.sum())
    if not judged.any():
        return page
    page["median"] = median = float(np.median(perplexity[judged]))
    overall = _largest(perplexity)
    own = np.where(judged, odd.by_author.times, np.nan) if odd.by_author is not None else np.zeros(0)
    for_authors = [d for d in _largest(own) if own[d] > 1]
    shown = list(dict.fromkeys([*overall, *for_authors]))
    documents = {row[0]: doc_of(row) for row in context.rows("works", ids=json.dumps(shown))}
    if len(documents) != len(shown):
        raise StoreError(f"{context.view.store.path} is damaged: a document is missing")
    topics = leading_topics(context, "documents", shown)
    page["overall"] = [
        OddDocument(
            document=documents[d],
            times=float(perplexity[d]) / median,
            perplexity=float(perplexity[d]),
            topics=topics.get(d, []),
            words=_reasons(context, odd.surprises.reasons[d]),
        )
        for d in overall
    ]
    if for_authors and odd.by_author is not None:
        page["for_authors"] = _for_authors(context, for_authors, odd.by_author, documents, topics)
    return page


def known_surprises(context: PageContext) -> NDArray[np.float64] | None:
    """Perplexity of each document, if it has been computed."""
    odd = _work(context).known if context.has_topics else None
    return None if odd is None else odd.surprises.perplexity


def _work(context: PageContext) -> Background[Odd]:
    return context.cache.keep("oddities", lambda: Background(lambda report: _find(context, report)))


def _find(context: PageContext, report: Report) -> Odd:
    found = surprises_in(context.view, lambda part: report(0.95 * part))
    by_author = None
    if context.has_authors:
        parts = [
            np.array([(a, d, np.nan if p is None else p) for a, d, p in block], np.float64)
            for block in context.blocks("all_perplexities")
        ]
        table = np.concatenate([np.zeros((0, 3)), *parts])
        numbers = table[:, :2].astype(np.int64)
        by_author = author_surprises(numbers[:, 0], numbers[:, 1], table[:, 2], len(found.perplexity))
    return Odd(found, by_author)


def _largest(values: NDArray[np.float64]) -> list[int]:
    known = np.flatnonzero(np.isfinite(values))
    return [int(d) for d in known[np.argsort(-values[known], kind="stable")[:N_DOCUMENTS]]]


def _reasons(context: PageContext, words: NDArray[np.int32]) -> list[WordLine]:
    spelled = context.view.vocabulary_.words
    return [
        WordLine(word_id=int(w), word=short(str(spelled[w]), _LONGEST_WORD), n_tokens=0)
        for w in words.tolist()
        if w >= 0
    ]


def _for_authors(
    context: PageContext,
    chosen: Sequence[int],
    found: AuthorSurprises,
    documents: Mapping[int, Doc],
    topics: Mapping[int, list[TopicSummary]],
) -> list[OddForAuthor]:
    authors = [int(found.author[d]) for d in chosen]
    rows = context.rows("authors", ids=json.dumps(sorted(set(authors))))
    names = {a: name_of_author(name) for a, name, _ in rows}
    usual = leading_topics(context, "authors", sorted(set(authors)))
    return [
        OddForAuthor(
            document=documents[d],
            author=AuthorName(author_id=a, author=names[a]),
            times=float(found.times[d]),
            topics=topics.get(d, []),
            usual=usual.get(a, []),
        )
        for d, a in zip(chosen, authors, strict=True)
        if a in names
    ]


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    return f"model.surprising_documents({N_DOCUMENTS})" if view["overall"] else None


PAGE = Page(
    "oddities",
    "Oddities",
    "oddities",
    oddities_page,
    OdditiesPage,
    place=85,
    needs=has_topics,
    needs_server=True,
    python=_python,
)
