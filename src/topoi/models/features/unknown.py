"""Names that no training document has, told to whoever asks for a prediction: they may be new, or misspelt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topoi.models.features.columns import SOMEBODY, Column, Links, Names, as_names
from topoi.models.features.table import as_source, values_of
from topoi.models.names import closest
from topoi.models.notices import warn_user

_TOLD = 3


def warn_unknown(columns: Sequence[Column], features: Any) -> None:
    """Warn of names among the features that no training document has, with those that resemble them.

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
        if not isinstance(column, Names | Links):
            continue
        known = column.levels if isinstance(column, Names) else column.ids
        single = isinstance(column, Names) and column.single
        given = dict.fromkeys(name for row in as_names(values_of(source, column.name), single) for name in row)
        there = set(known)
        unknown = [name for name in given if name not in there and name.rstrip("'") != SOMEBODY]
        which = column.name if isinstance(column, Names) else "the id"
        for name in unknown[:_TOLD]:
            near = " or ".join(map(repr, closest(name, known, 0.6)[:_TOLD]))
            warn_user(f"no document has {which} {name!r}: taken as new{f'; did you mean {near}?' if near else ''}")
        if len(unknown) > _TOLD:
            warn_user(f"{len(unknown) - _TOLD:,} other names of {column.name!r} are in no document: taken as new")
