"""All authors, or those of a name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, has_some_authors, in_parts
from topoi.web.pages.parts import leading_topics, name_of_author
from topoi.web.pages.shapes import AuthorSize, TopicSummary

A_PAGE = 50


class AuthorLine(AuthorSize):
    """An author with the leading topics."""

    topics: list[TopicSummary]


class AuthorsPage(TypedDict):
    """Authors, those with most documents first."""

    kind: Literal["authors"]
    query: str
    page: int
    n_pages: int
    n_found: int
    authors: list[AuthorLine]


def authors_page(context: PageContext, q: parameters.Query = "", page: parameters.PageNumber = 1) -> AuthorsPage:
    """Authors with a word in their name that begins as asked; without a question all, the busiest first."""
    authors = context.snapshot.authors
    found = authors.find(q) if q.strip() else authors.busiest
    shown = [int(a) for a in found[(page - 1) * A_PAGE : page * A_PAGE]]
    rows = context.rows("authors", ids=json.dumps(shown))
    topics = leading_topics(context, "authors", shown)
    return AuthorsPage(
        kind="authors",
        query=q,
        page=page,
        n_pages=max(-(-len(found) // A_PAGE), 1),
        n_found=len(found),
        authors=[
            AuthorLine(author_id=a, author=name_of_author(name), n_documents=n, topics=topics.get(a, []))
            for a, name, n in rows
        ],
    )


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return in_parts("authors", authors_page, context)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    if not view["query"]:
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
