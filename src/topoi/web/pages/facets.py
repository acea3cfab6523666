"""Counts beside every value that documents can be filtered by."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.web.pages.context import Answers, PageContext
from topoi.web.pages.parts import name_of_author
from topoi.web.pages.selection import Chosen, Selection, choose, parameter_of, topic_cells, years_of
from topoi.web.pages.shapes import AuthorSize, TopicSummary

N_TOPICS, N_AUTHORS, N_COLUMNS, N_VALUES = 30, 30, 4, 40
MOST_BINS = 25
_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class ChosenFilter(TypedDict):
    """A filter that is on: its parameter and value, and words for it."""

    parameter: str
    value: str
    label: str
    topic: NotRequired[TopicSummary]


class TopicCount(TypedDict):
    """A topic, and how many of the documents have it."""

    topic: TopicSummary
    n_documents: int
    is_chosen: bool


class AuthorCount(AuthorSize):
    """An author, and how many of the documents are theirs."""

    is_chosen: bool


class YearCount(TypedDict):
    """Years, both included, and how many documents pass all filters but that of the years."""

    first: int
    last: int
    n_documents: int
    is_chosen: bool


class ValueCount(TypedDict):
    """A value of a column, and how many documents have it and pass the filters of other columns."""

    value: str
    n_documents: int
    is_chosen: bool


class ColumnCounts(TypedDict):
    """A column of the metadata: its parameter, its commonest values, and the number of values."""

    name: str
    parameter: str
    values: list[ValueCount]
    n_values: int


class Facets(TypedDict):
    """What documents can be filtered by, with counts."""

    chosen: list[ChosenFilter]
    topics: list[TopicCount]
    authors: list[AuthorCount]
    years: list[YearCount]
    columns: list[ColumnCounts]
    least: float
    unknown: list[str]


def count_facets(context: PageContext, selection: Selection, n_authors: int = N_AUTHORS) -> Facets:
    """Counts of topics, authors, years and values among the documents that pass a selection."""
    chosen = choose(context, selection)
    topics, authors, years, columns = context.cache.keep("facets", Answers).get(
        selection, lambda: _counted(context, selection, chosen)
    )
    authors = authors[:n_authors]
    wanted = list(dict.fromkeys([*selection.authors, *(a for a, _ in authors)]))
    names = (
        {row[0]: name_of_author(row[1]) for row in context.rows("authors", ids=json.dumps(wanted))} if wanted else {}
    )
    return Facets(
        chosen=chosen_filters(context, selection, names),
        topics=[TopicCount(topic=context.badge(k), n_documents=n, is_chosen=k in selection.topics) for k, n in topics],
        authors=[
            AuthorCount(author_id=a, author=names[a], n_documents=n, is_chosen=a in selection.authors)
            for a, n in authors
            if a in names
        ],
        years=years,
        columns=columns,
        least=selection.least,
        unknown=list(selection.unknown),
    )


def author_names(context: PageContext, selection: Selection) -> dict[int, str]:
    """Names of the authors of a selection."""
    if not selection.authors:
        return {}
    rows = context.rows("authors", ids=json.dumps(list(selection.authors)))
    return {row[0]: name_of_author(row[1]) for row in rows}


def chosen_filters(context: PageContext, selection: Selection, names: dict[int, str]) -> list[ChosenFilter]:
    """Filters of a selection, each with words for it; ``names`` are those of authors."""
    found = (
        [ChosenFilter(parameter="q", value=selection.query, label=f"“{selection.query}”")] if selection.query else []
    )
    for topic in selection.topics:
        badge = context.badge(topic)
        label = badge["label"] or badge["auto_label"]
        found.append(ChosenFilter(parameter="topic", value=str(topic), label=label, topic=badge))
    found += [
        ChosenFilter(parameter="author", value=str(a), label=names.get(a, f"author {a}")) for a in selection.authors
    ]
    if span := years_of(selection):
        name = "year" if selection.first == selection.last else "from"
        found.append(ChosenFilter(parameter=name, value=span, label=span))
    for column, values in selection.values:
        parameter = parameter_of(column)
        found += [ChosenFilter(parameter=parameter, value=value, label=f"{column}: {value}") for value in values]
    return found


def _counted(
    context: PageContext, selection: Selection, chosen: Chosen
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[YearCount], list[ColumnCounts]]:
    columns = context.snapshot.columns
    topics: list[tuple[int, int]] = []
    if context.has_topics:
        counts = topic_cells(context).counts(chosen.passed, selection.least)
        background = [topic["summary"]["glue"] for topic in context.cache.topics]
        counts[np.array(background, bool)] = 0
        counts[list(context.cache.retired)] = 0
        topics = _commonest(counts, N_TOPICS, selection.topics)
    authors = _commonest(columns.author_counts(chosen.passed), N_AUTHORS, selection.authors)
    return topics, authors, _years(context, selection, chosen), _columns(context, selection, chosen)


def _commonest(counts: NDArray[np.int64], n: int, always: Sequence[int] = ()) -> list[tuple[int, int]]:
    """The ``n`` largest counts with their places, ties by place; those of ``always``, if not 0, come first."""
    if len(counts) > 4 * n:
        least = np.partition(counts, len(counts) - n)[len(counts) - n]
        places = np.flatnonzero(counts >= max(least, 1))
    else:
        places = np.flatnonzero(counts)
    places = places[np.argsort(-counts[places], kind="stable")[:n]]
    kept = [*(k for k in always if counts[k]), *(int(k) for k in places if k not in always)]
    return [(int(k), int(counts[k])) for k in kept]


def _years(context: PageContext, selection: Selection, chosen: Chosen) -> list[YearCount]:
    years, counts = context.snapshot.columns.by_year(chosen.but_years)
    if len(years) < 2:
        return []
    # Years far from all others, mostly mistakes, would leave no room for the rest: bins are of years that are there.
    width = next((w for w in _WIDTHS if len({year // w for year in years}) <= MOST_BINS), _WIDTHS[-1])
    bins: dict[int, int] = {}
    for year, n in zip(years, counts, strict=True):
        bins[year // width] = bins.get(year // width, 0) + n
    # The outer bins end with the years that there are, not with the round ones.
    earliest, latest = min(years), max(years)
    spans = [(max(at * width, earliest), min(at * width + width - 1, latest), n) for at, n in sorted(bins.items())]
    return [
        YearCount(
            first=first,
            last=last,
            n_documents=n,
            is_chosen=_overlaps(selection, first, last),
        )
        for first, last, n in spans
    ]


def _overlaps(selection: Selection, first: int, last: int) -> bool:
    if selection.first is None and selection.last is None:
        return False
    begins_before = selection.first is None or selection.first <= last
    return begins_before and (selection.last is None or first <= selection.last)


def _columns(context: PageContext, selection: Selection, chosen: Chosen) -> list[ColumnCounts]:
    columns = context.snapshot.columns
    asked = dict(selection.values)
    shown = [columns[name] for name in asked]
    shown += [column for column in columns.facets if column.name not in asked]
    found = []
    for column in shown[: max(N_COLUMNS, len(asked))]:
        counts = column.counts(chosen.but_column.get(column.name, chosen.passed))
        own = asked.get(column.name, ())
        listed = _commonest(counts, N_VALUES, [column.place[value] for value in own if value in column.place])
        values = [
            ValueCount(value=column.values[k], n_documents=n, is_chosen=column.values[k] in own) for k, n in listed
        ]
        found.append(
            ColumnCounts(
                name=column.name,
                parameter=parameter_of(column.name),
                values=values,
                n_values=int(np.count_nonzero(counts)),
            )
        )
    return found
