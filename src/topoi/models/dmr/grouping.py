"""Documents with the same features, taken together: they have the same alpha, so a pass needs it only once.

Sixty thousand abstracts described by their year are forty groups, and a gradient takes a tenth of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.models.dmr.likelihood import Cells, GroupedCells, Limits, TopicCells

# Groups pay if there are at most half as many as documents.
_MOST_GROUPS = 0.5
# Pairs are counted rather than sorted if there are at most so many times more that could occur.
_ROOM = 4
# Seed of the vectors that rows are multiplied by to find equal ones; any would do.
_SEED = 20120612


class Groups(NamedTuple):
    """Distinct rows of a design, and the row of each document; ``limits`` of the rows, if documents have any."""

    design: csr_matrix
    group: NDArray[np.int64]
    limits: Limits | None = None

    def cells(self, cells: TopicCells) -> GroupedCells:
        """Counts of the groups.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csr_matrix
        >>> from topoi.models.dmr.grouping import same_rows
        >>> from topoi.models.dmr.likelihood import TopicCells
        >>> groups = same_rows(csr_matrix([[1.0, 0.0]] * 4))
        >>> one = np.arange(5), np.zeros(4, np.int64), np.array([1.0, 2.0, 2.0, 2.0]), np.array([3.0, 3.0, 5.0, 5.0])
        >>> found = groups.cells(TopicCells(*one))
        >>> found.number.tolist(), found.times.tolist(), found.total.tolist()
        ([1.0, 2.0], [1.0, 3.0], [3.0, 5.0])
        """
        n_groups = self.design.shape[0]
        doc = np.repeat(np.arange(len(self.group)), np.diff(cells.start))
        n_topics = int(cells.topic.max(initial=0)) + 1
        row, number, times = _distinct(self.group[doc] * n_topics + cells.topic, cells.number)
        start = np.searchsorted(row // n_topics, np.arange(n_groups + 1))
        of_total, total, total_times = _distinct(self.group, cells.total)
        total_start = np.searchsorted(of_total, np.arange(n_groups + 1))
        return GroupedCells(start, row % n_topics, number, times, total_start, total, total_times, self.limits)


def _distinct(
    key: NDArray[np.int64], number: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Distinct pairs of a key and a whole number, in order, and how often each occurs."""
    width = int(number.max(initial=0)) + 1
    pairs = key * width + number.astype(np.int64)
    if int(pairs.max(initial=0)) < _ROOM * len(pairs) + _ROOM:
        counted = np.bincount(pairs)
        pairs = np.flatnonzero(counted)
        times = counted[pairs]
    else:
        pairs, times = np.unique(pairs, return_counts=True)
    return pairs // width, (pairs % width).astype(np.float64), times.astype(np.float64)


def same_rows(design: csr_matrix, limits: Limits | None = None) -> Groups | None:
    """Groups of equal rows, with the same topics that they may have; None if there are too many for groups to pay.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from topoi.models.dmr.grouping import same_rows
    >>> same_rows(csr_matrix([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])).group.tolist()
    [0, 1, 0, 0]
    >>> same_rows(csr_matrix([[1.0, 0.0], [1.0, 1.0]])) is None
    True
    """
    keys = design @ np.random.default_rng(_SEED).standard_normal(design.shape[1])
    if limits is not None:
        # Pairs of a row and a set of topics, numbered.
        keys = np.unique(keys, return_inverse=True)[1].reshape(-1) * len(limits.sets) + limits.row
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    group = place[group.reshape(-1)]
    distinct = design[first[order]]
    # Equal products of different rows are next to impossible, and no reason to be wrong.
    if len(order) > _MOST_GROUPS * len(keys) or abs(design - distinct[group]).max() > 0:
        return None
    return Groups(distinct, group, None if limits is None else limits.some(first[order]))


def grouped(groups: Groups | None, design: csr_matrix, cells: TopicCells) -> tuple[csr_matrix, Cells]:
    """Design and counts of the groups, or of the documents if groups do not pay or counts are no whole numbers."""
    if groups is None or not (cells.number == np.floor(cells.number)).all():
        return design, cells
    return groups.design, groups.cells(cells)
