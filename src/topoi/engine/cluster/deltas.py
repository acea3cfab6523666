"""Changes of counts during a sweep: found, added up, and applied; sparse or dense, whichever takes fewer bytes.

Counts are whole numbers, so sums do not depend on the order of additions. All arrays of the counts are cut into the
same number of ranges; a ``Piece`` has the changes within one range of each, so that the work of adding up, and of
sending the sums, is divided among workers.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import lean


class Change(NamedTuple):
    """Changes of consecutive cells: at ``places`` counted from the first cell, or of all cells if that is None."""

    places: NDArray[np.uint32] | None
    values: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Bytes that are sent."""
        return self.values.nbytes + (0 if self.places is None else self.places.nbytes)


class Piece(NamedTuple):
    """Changes within one range of every array of the counts."""

    changes: tuple[Change, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that are sent."""
        return sum(change.nbytes for change in self.changes)


def bounds(size: int, n_ranges: int) -> list[slice]:
    """Cut ``size`` cells into ranges.

    Examples
    --------
    >>> from topoi.engine.cluster.deltas import bounds
    >>> bounds(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    edges = [size * r // n_ranges for r in range(n_ranges + 1)]
    return [slice(first, last) for first, last in zip(edges[:-1], edges[1:], strict=True)]


@lean
def _subtract(new, old, difference):
    """Write ``new - old``; return how many cells differ, and the largest difference without its sign."""
    n_changed, most = 0, 0
    for i in range(new.size):
        change = np.int32(new[i] - old[i])
        difference[i] = change
        n_changed += change != 0
        most = max(most, abs(change))
    return n_changed, most


@lean
def _extent(difference):
    """Number of cells that differ, and the largest difference without its sign."""
    n_changed, most = 0, 0
    for i in range(difference.size):
        n_changed += difference[i] != 0
        most = max(most, abs(difference[i]))
    return n_changed, most


@lean
def _pick(difference, places, values):
    """Write the places and values of the cells that differ; both have room for one more."""
    n = 0
    for i in range(difference.size):
        places[n], values[n] = i, difference[i]
        n += difference[i] != 0


@lean
def _add_at(cells, places, values):
    """Add values to the cells at the given places."""
    for i in range(places.size):
        cells[places[i]] += values[i]


def _change(difference: NDArray[Any], n_changed: int, most: int) -> Change:
    """Dense differences in the form that takes fewer bytes."""
    kind = next(kind for kind in (np.int8, np.int16, np.int32) if most <= np.iinfo(kind).max)
    size = np.dtype(kind).itemsize
    if n_changed * (4 + size) >= difference.size * size:
        return Change(None, difference.astype(kind, copy=False))
    places, values = np.empty(n_changed + 1, np.uint32), np.empty(n_changed + 1, difference.dtype)
    _pick(difference, places, values)
    return Change(places[:-1], values[:-1].astype(kind))


def differences(base: Sequence[NDArray[Any]], changed: Sequence[NDArray[Any]], n_ranges: int) -> list[Piece]:
    """Changes from ``base`` to ``changed``, a piece for each range.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.engine.cluster.deltas import apply, differences
    >>> old, new = [np.array([5.0, 5.0, 0.0])], [np.array([4.0, 5.0, 1.0])]
    >>> pieces = differences(old, new, 2)
    >>> apply(old, pieces); old[0].tolist()
    [4.0, 5.0, 1.0]
    """
    flat = [(a.reshape(-1), b.reshape(-1)) for a, b in zip(base, changed, strict=True)]
    cut = [bounds(old.size, n_ranges) for old, _ in flat]
    return [
        Piece(tuple(_compared(old[ranges[r]], new[ranges[r]]) for (old, new), ranges in zip(flat, cut, strict=True)))
        for r in range(n_ranges)
    ]


def _compared(old: NDArray[Any], new: NDArray[Any]) -> Change:
    """Change from ``old`` to ``new``: nearly always a byte for a cell is enough."""
    difference: NDArray[Any] = np.empty(old.size, np.int8)
    n_changed, most = _subtract(new, old, difference)
    if most > np.iinfo(np.int8).max:
        difference = np.empty(old.size, np.int32)
        _subtract(new, old, difference)
    return _change(difference, n_changed, most)


def added(pieces: Sequence[Piece], sizes: Sequence[int]) -> Piece:
    """Sum of the pieces of one range; ``sizes`` are the numbers of its cells in every array.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.engine.cluster.deltas import added, differences
    >>> one = differences([np.zeros(3)], [np.array([1.0, 0.0, -1.0])], 1)[0]
    >>> added([one, one], [3]).changes[0].values.tolist()
    [2, 0, -2]
    """
    if len(pieces) == 1:
        return pieces[0]
    changes = []
    for number, size in enumerate(sizes):
        total = np.zeros(size, np.int32)
        for piece in pieces:
            _add(total, piece.changes[number])
        changes.append(_change(total, *_extent(total)))
    return Piece(tuple(changes))


def apply(counts: Sequence[NDArray[Any]], pieces: Sequence[Piece]) -> None:
    """Add the changes of all ranges, in order, to the counts."""
    for number, array in enumerate(counts):
        flat = array.reshape(-1)
        for here, piece in zip(bounds(flat.size, len(pieces)), pieces, strict=True):
            _add(flat[here], piece.changes[number])


def _add(cells: NDArray[Any], change: Change) -> None:
    if change.places is None:
        cells += change.values
    else:
        _add_at(cells, change.places, change.values)
