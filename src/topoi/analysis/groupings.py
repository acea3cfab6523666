"""Groups of documents by the values of a column: what is compared with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.analysis.trends import column_of
from topoi.errors import ModelError, NotFoundError

REST = "all others"
MOST_GROUPS = 30

Array = NDArray[np.float64]


class Pair(NamedTuple):
    """Two groups: their names, and the documents of each."""

    name: str
    other: str
    ours: NDArray[np.int64]
    theirs: NDArray[np.int64]


def find_pairs(
    model: Any, documents: pd.DataFrame, lengths: Array, by: str, groups: Any, own_authors: bool = True
) -> list[Pair]:
    """Pairs of groups to compare; documents without words or without a value are in none."""
    usable = lengths > 0
    if by == "authors" and "authors" not in documents:
        return [_authors_pair(model, groups, usable, own_authors)]
    values = column_of(documents, by)
    usable = usable & values.notna().to_numpy()
    if not usable.any():
        raise ModelError(f"no document with words has a value for {by!r}")
    chosen = _chosen(groups)
    if chosen is not None:
        return [_pair([(_shown(value), _having(values, value, by) & usable) for value in chosen], usable)]
    found = _distinct(values[usable], by)
    if len(found) == 1:
        raise ModelError(f"all documents have the same value of {by!r}, {found[0]!r}: there is nothing to compare")
    if len(found) > MOST_GROUPS:
        raise ModelError(f"{by!r} has {len(found)} values; name one, or two, as groups=, or ranges of numbers")
    members = [(_shown(value), _having(values, value, by) & usable) for value in found]
    return [_pair(members, usable)] if len(found) == 2 else [_pair([each], usable) for each in members]


def make_pair(
    name: str, ours: NDArray[np.bool_], other: str | None = None, theirs: NDArray[np.bool_] | None = None
) -> Pair:
    """A pair of groups of documents that pass two filters; without the second, all others.

    Documents of both groups are in neither.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.groupings import make_pair
    >>> make_pair("early", np.array([True, True, False, False, False])).theirs.tolist()
    [2, 3, 4]
    """
    members = [(name, ours)] + ([] if other is None or theirs is None else [(other, theirs)])
    return _pair(members, np.ones(len(ours), bool))


def numbered_pair(groups: Any, usable: NDArray[np.bool_]) -> Pair:
    """A pair of groups given by one or two arrays of numbers of documents; of one, all others are the second.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.analysis.groupings import numbered_pair
    >>> numbered_pair([[0, 1]], np.ones(5, bool)).theirs.tolist()
    [2, 3, 4]
    """
    if not isinstance(groups, Sequence) or isinstance(groups, str) or not 1 <= len(groups) <= 2:
        raise ModelError("without a column, groups must be a list of one or two arrays of numbers of documents")
    masks = []
    for numbers in groups:
        rows = np.asarray(numbers)
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise ModelError("without a column, each of the groups must be an array of numbers of documents")
        if rows.size and not 0 <= rows.min() <= rows.max() < len(usable):
            raise NotFoundError(f"documents are numbered 0 to {len(usable) - 1}")
        mask = np.zeros(len(usable), bool)
        mask[rows.astype(np.int64)] = True
        masks.append(mask & usable)
    names = ("first", REST) if len(masks) == 1 else ("first", "second")
    return _pair(list(zip(names, masks, strict=False)), usable)


def _chosen(groups: Any) -> list[Any] | None:
    """The named values: one or two; a tuple of two numbers alone is a range."""
    if groups is None:
        return None
    is_range = isinstance(groups, tuple) and len(groups) == 2 and all(isinstance(each, int | float) for each in groups)
    chosen = [groups] if isinstance(groups, str) or is_range or not isinstance(groups, Sequence) else list(groups)
    if not 1 <= len(chosen) <= 2:
        raise ModelError(f"groups has {len(chosen)} values; name one, or two to compare with each other")
    return chosen


def _distinct(values: pd.Series, by: str) -> list[Any]:
    flat = values.explode() if values.map(lambda value: isinstance(value, list | tuple)).any() else values
    try:
        return sorted(flat.dropna().unique().tolist())
    except TypeError:
        raise ModelError(f"the values of {by!r} are of several kinds; name one, or two, as groups=") from None


def _having(values: pd.Series, value: Any, by: str) -> NDArray[np.bool_]:
    """Whether each document has a value: an equal one, one in a range, or a list with it."""
    ends = _range(value) if pd.api.types.is_numeric_dtype(values) else None
    if ends is not None:
        number = pd.to_numeric(values).to_numpy(np.float64, na_value=np.nan)
        found = (number >= ends[0]) & (number <= ends[1])
    elif pd.api.types.is_numeric_dtype(values) and not isinstance(value, str):
        found = pd.to_numeric(values).to_numpy(np.float64, na_value=np.nan) == float(value)
    else:
        text = str(value)
        found = np.array(
            [text in map(str, each) if isinstance(each, list | tuple) else str(each) == text for each in values]
        )
    if not found.any():
        there = ", ".join(repr(_shown(each)) for each in values.dropna().map(str).value_counts().index[:5])
        raise NotFoundError(f"no document has {_shown(value)!r} as {by!r}; there are, for example, {there}")
    return np.asarray(found)


def _range(value: Any) -> tuple[float, float] | None:
    """Both ends of a range of numbers, or None."""
    ends = value
    if isinstance(value, str):
        low, dots, high = value.partition("..")
        ends = (low or "-inf", high or "inf") if dots else (value, value)
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        return None
    try:
        return float(ends[0]), float(ends[1])
    except (TypeError, ValueError):
        return None


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"{value[0]}..{value[1]}"
    return f"{value:g}" if isinstance(value, float) and value == int(value) else str(value)


def _pair(members: list[tuple[str, NDArray[np.bool_]]], usable: NDArray[np.bool_]) -> Pair:
    """Two groups, without the documents of both; a single one is compared with all others."""
    name, ours = members[0]
    other, theirs = members[1] if len(members) == 2 else (REST, usable & ~ours)
    both = ours & theirs
    rows = np.flatnonzero(ours & ~both), np.flatnonzero(theirs & ~both)
    for who, mine in zip((name, other), rows, strict=True):
        if len(mine) < 2:
            raise ModelError(f"{who!r} has {len(mine)} documents with words of its own; a comparison needs two or more")
    return Pair(name, other, *rows)


def _authors_pair(model: Any, groups: Any, usable: NDArray[np.bool_], own: bool) -> Pair:
    chosen = _chosen(groups)
    if chosen is None or not own:
        raise ModelError("name one author, or two, as groups=; documents are those that the model was fitted to")
    members = []
    for name in chosen:
        mine = np.zeros(len(usable), bool)
        mine[model.catalogue_.author_documents(model.catalogue_.find_author(str(name)))] = True
        members.append((str(name), mine & usable))
    return _pair(members, usable)
