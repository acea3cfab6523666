"""All documents, those of a year, or those with some words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept, Page, PageFile, in_parts
from topoi.web.pages.parts import found, lines
from topoi.web.pages.shapes import DocumentLine
from topoi.web.pages.text import match_for

A_PAGE = 30


class DocumentsPage(TypedDict):
    """Documents."""

    kind: Literal["documents"]
    query: str
    year: int | None
    page: int
    n_pages: int
    n_found: int
    documents: list[DocumentLine]


def documents_page(
    context: PageContext, q: parameters.Query = "", year: parameters.Year = None, page: parameters.PageNumber = 1
) -> DocumentsPage:
    """Documents that have all words asked for, best first; without a question, in the order of the collection."""
    skip = (page - 1) * A_PAGE
    match = match_for(q)
    n_found = 0
    rows: list[Any] = []
    if match is not None:
        n_found, rows = found(context, match, year, A_PAGE, skip)
    elif not q.strip() and year is not None:
        n_found = context.rows("n_of_year", year=year)[0][0]
        rows = context.rows("works_of_year", year=year, n=A_PAGE, skip=skip) if skip < n_found else []
    elif not q.strip():
        n_found = context.collection["n_documents"]
        rows = context.rows("works", ids=json.dumps(list(range(skip, min(skip + A_PAGE, n_found)))))
    return DocumentsPage(
        kind="documents",
        query=q,
        year=year,
        page=page,
        n_pages=max(-(-n_found // A_PAGE), 1),
        n_found=n_found,
        documents=lines(context, rows, q),
    )


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return in_parts("documents", documents_page, context)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    first, match = (view["page"] - 1) * A_PAGE, match_for(view["query"])
    if match is not None:
        own = "" if view["year"] is None else f" if row[3] == {view['year']}"
        return f"[row for row in model.rows('search', match={match!r}, n=-1){own}][{first}:{first + A_PAGE}]"
    if view["query"].strip():
        return None
    where = "" if view["year"] is None else f" WHERE year = {view['year']}"
    query = f"SELECT document_id, title, year FROM document{where} ORDER BY document_id LIMIT {A_PAGE} OFFSET {first}"
    return f"model.store.sql({query!r})"


PAGE = Page(
    "documents",
    "Documents",
    "documents",
    documents_page,
    DocumentsPage,
    place=80,
    files=_files,
    python=_python,
)
