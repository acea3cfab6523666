"""Warnings about values that no training document has: names, new or misspelt, and numbers out of range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from topoi.models.contract import MetadataLike
from topoi.models.features.columns import Column, Names, Number, as_names, as_numbers, is_somebody
from topoi.models.features.table import as_source, values_of
from topoi.models.names import closest
from topoi.models.notices import warn_user

_TOLD = 3


def warn_unknown(columns: Sequence[Column], features: MetadataLike) -> None:
    """Warn about names that no training document has, with similar ones, and numbers outside the training range.

    Examples
    --------
    >>> import warnings
    >>> from topoi.models.features.columns import Names
    >>> from topoi.models.features.unknown import warn_unknown
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_unknown([Names("authors", ["Ann", "Bob"], False)], {"authors": [["Anm"], ["Bob"]]})
    >>> str(caught[0].message)
    "no document has authors 'Anm': taken as new; did you mean 'Ann'?"
    """
    source = as_source(features)
    for column in columns:
        if isinstance(column, Number):
            _warn_outside(column, values_of(source, column.name))
            continue
        known = column.levels if isinstance(column, Names) else column.ids
        single = isinstance(column, Names) and column.single
        given = dict.fromkeys(name for row in as_names(values_of(source, column.name), single) for name in row)
        there = set(known)
        unknown = [name for name in given if name not in there and not is_somebody(name)]
        which = column.name if isinstance(column, Names) else "the id"
        for name in unknown[:_TOLD]:
            near = " or ".join(map(repr, closest(name, known, 0.6)[:_TOLD]))
            warn_user(f"no document has {which} {name!r}: taken as new{f'; did you mean {near}?' if near else ''}")
        if len(unknown) > _TOLD:
            warn_user(f"{len(unknown) - _TOLD:,} other names of {column.name!r} are in no document: taken as new")


def _warn_outside(column: Number, values: Sequence[Any]) -> None:
    """Warn about the number farthest beyond the range, with the number of such values."""
    found = as_numbers(column.name, values, column.date)
    away = np.nan_to_num(np.maximum(column.low - found, found - column.high))
    n = int((away > 0).sum())
    if n:
        which = f"{column.name} {found[away.argmax()]:g}"
        are = "is" if n == 1 else f"and {n - 1:,} more are"
        warn_user(f"{which} {are} outside the documents' range, {column.low:g} to {column.high:g}: an extrapolation")
