"""Documents: all, or those that pass filters, in an order of choice, with counts beside every value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.facets import Facets, count_facets
from topoi.web.pages.oddities import known_surprises
from topoi.web.pages.page import Kept, Page, PageFile, in_parts
from topoi.web.pages.parts import lines
from topoi.web.pages.selection import (
    Chosen,
    Pairs,
    Selection,
    choose,
    described,
    ids_in_order,
    parse_selection,
    ranked_by_words,
    topic_cells,
    words_of,
)
from topoi.web.pages.shapes import DocumentLine
from topoi.web.tables import Tables, lists_in

A_PAGE = 30


class ChosenLine(DocumentLine):
    """A document in the list; ``share`` is that of the topics asked for, null without one."""

    share: float | None


class DocumentsPage(TypedDict):
    """Documents that pass some filters; ``title`` says them in words, and ``sorts`` are the orders to choose from."""

    kind: Literal["documents"]
    title: str
    query: str
    year: int | None
    sort: str
    sorts: list[str]
    page: int
    n_pages: int
    n_found: int
    documents: list[ChosenLine]
    facets: Facets


def documents_page(
    context: PageContext, asked: Pairs = (), sort: parameters.Sort = None, page: parameters.PageNumber = 1
) -> DocumentsPage:
    """Documents that pass all filters, by relevance, time or size, with counts of topics, authors, years and values."""
    selection = parse_selection(context, asked)
    chosen = choose(context, selection)
    sorts = _sorts(context, selection)
    order = sort if sort in sorts else sorts[0]
    found = ordered(context, selection, chosen, order)
    shown = found[(page - 1) * A_PAGE : page * A_PAGE].tolist()
    query = "works_with_texts" if selection.query else "works"
    rows = context.rows(query, ids=json.dumps(shown)) if shown else []
    facets = count_facets(context, selection)
    names = {int(one["value"]): one["label"] for one in facets["chosen"] if one["parameter"] == "author"}
    return DocumentsPage(
        kind="documents",
        title=words_of(context, selection, names),
        query=selection.query,
        year=selection.first if selection.first == selection.last else None,
        sort=order,
        sorts=sorts,
        page=page,
        n_pages=max(-(-len(found) // A_PAGE), 1),
        n_found=len(found),
        documents=_lines(context, selection, rows),
        facets=facets,
    )


def _lines(context: PageContext, selection: Selection, rows: Sequence[Any]) -> list[ChosenLine]:
    share = _share(context, selection)
    return [
        ChosenLine(**line, share=None if share is None else round(float(share[line["document"]["document_id"]]), 6))
        for line in lines(context, rows, selection.query)
    ]


def _share(context: PageContext, selection: Selection) -> NDArray[np.float64] | None:
    """Share of the topics asked for in each document's words; None without any."""
    if not selection.topics:
        return None
    cells = topic_cells(context)
    return np.sum([cells.of(topic) for topic in selection.topics], axis=0, dtype=np.float64)


def _sorts(context: PageContext, selection: Selection) -> list[str]:
    """Orders that make sense for a selection, the default first."""
    first = ["relevance"] if selection.query else []
    first += ["topic"] if selection.topics else []
    has_years = bool((~np.isnan(context.snapshot.columns.years)).any())
    surprising = ["surprising"] if known_surprises(context) is not None else []
    return [*first, "file", *(["newest", "oldest"] if has_years else []), "longest", *surprising]


def ordered(context: PageContext, selection: Selection, chosen: Chosen, sort: str) -> NDArray[np.int64]:
    """Numbers of the chosen documents in an order; ties as in the file."""
    columns = context.snapshot.columns
    if sort == "relevance":
        ranked = ranked_by_words(context, selection.query, int(chosen.passed.sum()))
        if ranked is not None:
            return ranked[chosen.passed[ranked]]
    keys: list[NDArray[Any]] = []
    if sort in ("newest", "oldest"):
        years = columns.years if sort == "oldest" else -columns.years
        keys.append(np.where(np.isnan(years), np.inf, years))
    elif sort == "topic":
        share = _share(context, selection)
        keys += [] if share is None else [-share]
    elif sort == "longest":
        keys.append(-columns.lengths)
    elif sort == "surprising" and (perplexity := known_surprises(context)) is not None:
        keys.append(np.where(np.isnan(perplexity), np.inf, -perplexity))
    return ids_in_order(chosen.passed, keys)


def _tables(view: Mapping[str, Any]) -> Tables:
    facets = view["facets"]
    years = [{name: row[name] for name in ("first", "last", "n_documents")} for row in facets["years"]]
    values = [
        {"column": column["name"], "value": row["value"], "n_documents": row["n_documents"]}
        for column in facets["columns"]
        for row in column["values"]
    ]
    made = {name: [{k: v for k, v in row.items() if k != "is_chosen"} for row in facets[name]] for name in _COUNTED}
    return {**lists_in(view), **made, "years": years, "values": values}


_COUNTED = ("topics", "authors")


def _files(context: PageContext, kept: Kept) -> Iterator[PageFile]:
    return in_parts("documents", documents_page, context)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str | None:
    numbers = [one["document"]["document_id"] for one in view["documents"]]
    query = f"SELECT document_id, title, year FROM document WHERE document_id IN ({', '.join(map(str, numbers))})"
    return f"model.store.sql({query!r}).set_index('document_id').loc[{numbers}].reset_index()" if numbers else None


PAGE = Page(
    "documents",
    "Documents",
    "documents",
    documents_page,
    DocumentsPage,
    place=80,
    filters=described(),
    tables=_tables,
    files=_files,
    python=_python,
)
