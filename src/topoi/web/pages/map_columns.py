"""Colours of the map by year, author or any column of the documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from typing_extensions import TypedDict

from topoi.analysis.trends import column_of
from topoi.drawing.colours import author_hue
from topoi.errors import NotFoundError
from topoi.store.queries import QUERIES
from topoi.web.pages.context import Answers, PageContext
from topoi.web.pages.groups import AUTHORS, group_columns
from topoi.web.pages.map_codes import coded
from topoi.web.pages.text import one_line, short

# Values with a hue of their own, and steps of a scale of numbers.
N_VALUES, N_STEPS = 12, 10
_OTHER = 63
_LONGEST_VALUE = 60
# Hues of a scale, from the lowest number to the highest.
_FIRST_HUE, _LAST_HUE = 265, 30


class MapValue(TypedDict):
    """A value, or a range of numbers, its hue and the number of documents that have it."""

    value: str
    hue: int
    n_documents: int


class MapColour(TypedDict):
    """A colouring: ``codes`` has a character for each document, its value's number, or 63 for any other value."""

    column: str
    is_scale: bool
    values: list[MapValue]
    n_others: int
    codes: str


def coloured_by(context: PageContext) -> list[str]:
    """Columns that the map can be coloured by, besides topics."""
    return [column["name"] for column in group_columns(context)]


def colour_of(context: PageContext, column: str) -> MapColour:
    """The colouring by a column."""
    known = {each["name"]: each for each in group_columns(context)}
    if column not in known:
        there = ", ".join(repr(short(name, 40)) for name in list(known)[:8])
        raise NotFoundError(f"the map cannot be coloured by {short(column, 60)!r}; there are: {there or 'no columns'}")
    answers: Answers = context.cache.keep("map colours", Answers)
    return answers.get(column, lambda: _colour(context, column, known[column]["is_number"]))


def _colour(context: PageContext, column: str, is_number: bool) -> MapColour:
    documents = context.view.catalogue_.documents
    if column == AUTHORS and AUTHORS not in documents:
        names, code = _authors(context, len(documents))
    elif is_number:
        numbers = pd.to_numeric(column_of(documents, column)).to_numpy(np.float64, na_value=np.nan)
        names, code = _steps(numbers)
    else:
        names, code = _values(column_of(documents, column))
    return MapColour(
        column=column,
        is_scale=is_number,
        values=[
            MapValue(
                value=short(one_line(name), _LONGEST_VALUE) or "(empty)",
                hue=_scale_hue(i, len(names)) if is_number else author_hue(i),
                n_documents=int((code == i).sum()),
            )
            for i, name in enumerate(names)
        ],
        n_others=int((code == _OTHER).sum()),
        codes=coded(code, 1),
    )


def _scale_hue(step: int, n: int) -> int:
    return round(_FIRST_HUE + (_LAST_HUE - _FIRST_HUE) * step / max(n - 1, 1)) % 360


def _steps(numbers: NDArray[np.float64]) -> tuple[list[str], NDArray[np.int64]]:
    """Numbers in ranges with about equally many documents each, named by their ends."""
    known = numbers[~np.isnan(numbers)]
    distinct = np.unique(known)
    if len(distinct) <= N_STEPS:
        edges = distinct
    else:
        edges = np.unique(np.quantile(known, np.arange(N_STEPS) / N_STEPS, method="lower"))
    code = np.where(np.isnan(numbers), _OTHER, np.searchsorted(edges, np.nan_to_num(numbers), side="right") - 1)
    names = []
    for i in range(len(edges)):
        own = known[np.searchsorted(edges, known, side="right") - 1 == i]
        low, high = float(own.min()), float(own.max())
        names.append(f"{low:g}" if low == high else f"{low:g}–{high:g}")
    return names, code.astype(np.int64)


def _values(values: pd.Series) -> tuple[list[str], NDArray[np.int64]]:
    """The commonest values; of a list, the first that is among them."""
    texts: list[list[str]] = [
        [str(one) for one in each] if isinstance(each, list | tuple) else [] if _is_missing(each) else [str(each)]
        for each in values
    ]
    counts = pd.Series([one for each in texts for one in each], dtype=object).value_counts()
    names = [str(name) for name in counts.index[:N_VALUES]]
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([next((place[one] for one in each if one in place), _OTHER) for each in texts], np.int64)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value != value


def _authors(context: PageContext, n_docs: int) -> tuple[list[str], NDArray[np.int64]]:
    """The authors with most documents; a document of several goes to the first of them."""
    rows = context.view.store.rows(QUERIES["authors_by_documents"], {"n": N_VALUES, "skip": 0}, context.view.limits)
    code = np.full(n_docs, _OTHER, np.int64)
    for i, (author, _, _) in reversed(list(enumerate(rows))):
        code[context.view.catalogue_.author_documents(author)] = i
    return [str(row[1]) for row in rows], code
