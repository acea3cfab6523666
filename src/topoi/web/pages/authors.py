"""All authors, or some of them, in an order of choice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, has_some_authors, in_parts
from topoi.web.pages.parts import leading_topics, name_of_author
from topoi.web.pages.shapes import AuthorSize, TopicSummary

A_PAGE = 50
MOST_LETTERS = 40
# A letter that fewer names begin with is not listed, though it can be asked for.
RAREST_LETTER = 0.0005


class AuthorLine(AuthorSize):
    """An author with the year of the last document and the leading topics."""

    last_year: int | None
    topics: list[TopicSummary]


class LetterCount(TypedDict):
    """A letter that family names begin with, and how many do."""

    letter: str
    n_authors: int


class AuthorsPage(TypedDict):
    """Authors: those found by name, with so many documents, active since a year; ``letters`` are those to jump to."""

    kind: Literal["authors"]
    query: str
    sort: Literal["documents", "name", "last"]
    letter: str
    least: int
    since: int | None
    letters: list[LetterCount]
    has_years: bool
    page: int
    n_pages: int
    n_found: int
    authors: list[AuthorLine]


def authors_page(
    context: PageContext,
    q: parameters.Query = "",
    sort: parameters.AuthorSort = "documents",
    letter: parameters.Letter = "",
    least: parameters.FewestDocuments = 1,
    since: parameters.ActiveSince = None,
    page: parameters.PageNumber = 1,
) -> AuthorsPage:
    """Authors with a word in their name that begins as asked; without a question all, the busiest first."""
    last = context.snapshot.columns.last_years
    found = _found(context, q, sort, letter.upper(), least, since)
    shown = found[(page - 1) * A_PAGE : page * A_PAGE].tolist()
    rows = context.rows("authors", ids=json.dumps(shown))
    topics = leading_topics(context, "authors", shown)
    return AuthorsPage(
        kind="authors",
        query=q,
        sort=sort,
        letter=letter.upper()[:1],
        least=least,
        since=since,
        letters=_letters(context),
        has_years=bool(np.isfinite(last).any()),
        page=page,
        n_pages=max(-(-len(found) // A_PAGE), 1),
        n_found=len(found),
        authors=[
            AuthorLine(
                author_id=a,
                author=name_of_author(name),
                n_documents=n,
                last_year=None if np.isnan(last[a]) else int(last[a]),
                topics=topics.get(a, []),
            )
            for a, name, n in rows
        ],
    )


def _found(context: PageContext, q: str, sort: str, letter: str, least: int, since: int | None) -> NDArray[np.int32]:
    """Numbers of the authors asked for, in the order asked for."""
    authors, last = context.snapshot.authors, context.snapshot.columns.last_years
    found = np.array(authors.find(q), np.int32) if q.strip() else authors.busiest
    kept = authors.sizes[found] >= least
    if since is not None:
        with np.errstate(invalid="ignore"):
            kept &= last[found] >= since
    if letter:
        kept &= _initials(context)[found] == letter
    found = found[kept]
    if sort == "name":
        wanted = np.zeros(len(authors), bool)
        wanted[found] = True
        order = context.snapshot.names_in_order
        return order[wanted[order]]
    if sort == "last":
        return found[np.argsort(np.where(np.isnan(last[found]), np.inf, -last[found]), kind="stable")]
    return found


def _initials(context: PageContext) -> NDArray[np.str_]:
    return context.cache.keep("initials", lambda: np.array(context.snapshot.names.initials(), "<U1"))


def _letters(context: PageContext) -> list[LetterCount]:
    """The commonest first letters of family names, in order; all other signs are one."""

    def count() -> list[LetterCount]:
        counts = Counter(_initials(context).tolist())
        rare = sum(counts.values()) * RAREST_LETTER
        common = sorted(letter for letter, n in counts.most_common(MOST_LETTERS) if letter != "#" and n >= rare)
        return [LetterCount(letter=each, n_authors=counts[each]) for each in common + ["#"] * ("#" in counts)]

    return context.cache.keep("letters", count)


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return in_parts("authors", authors_page, context)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if not (view["query"] or view["letter"] or view["since"]) and view["least"] == 1 and view["sort"] == "documents":
        return f"model.rows('authors_by_documents', n={A_PAGE}, skip={(view['page'] - 1) * A_PAGE})"
    numbers = ", ".join(str(one["author_id"]) for one in view["authors"])
    query = f"SELECT author_id, author, n_documents FROM author WHERE author_id IN ({numbers})"
    return f"model.store.sql({query!r})" if numbers else None


PAGE = Page(
    "authors",
    "Authors",
    "authors",
    authors_page,
    AuthorsPage,
    place=60,
    needs=has_some_authors,
    files=_files,
    python=_python,
)
