"""The largest values of each group, from values that arrive in blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranked(NamedTuple):
    """Leading values, group by group from the largest on: groups, ranks from 1, values, numbers and tokens."""

    group: NDArray[np.int64]
    rank: NDArray[np.int64]
    value: NDArray[np.float64]
    number: NDArray[np.int64]
    tokens: NDArray[np.int64]


class Leaders:
    """The ``n`` largest values of each group, ties broken by number; at most two blocks are held.

    Attributes
    ----------
    least : array
        Threshold of each group: smaller values cannot lead and need not be added.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.leaders import Leaders
    >>> leaders = Leaders(2, 2)
    >>> for number, value in enumerate([3.0, 5.0, 4.0, 5.0]):
    ...     leaders.add(np.array([1]), np.array([value]), np.array([number]))
    >>> leaders.found().number.tolist(), leaders.least.tolist()
    ([1, 3], [-inf, 5.0])
    """

    def __init__(self, n_groups: int, n: int) -> None:
        self._n = n
        self.least = np.full(n_groups, -np.inf)
        whole = np.zeros(0, np.int64)
        self._best: tuple[NDArray[Any], ...] = (whole, np.zeros(0), whole, whole)

    def add(
        self,
        group: NDArray[Any],
        value: NDArray[np.float64],
        number: NDArray[Any],
        tokens: NDArray[Any] | None = None,
    ) -> None:
        """Add values with their numbers and, optionally, tokens."""
        kept = value >= self.least[group]
        new = group[kept], value[kept], number[kept], np.zeros(kept.sum(), np.int64) if tokens is None else tokens[kept]
        group, value, number, tokens = (np.concatenate(pair) for pair in zip(self._best, new, strict=True))
        order = np.lexsort((number, -value, group))
        best = order[_ranks(group[order]) <= self._n]
        self._best = group[best], value[best], number[best], tokens[best]
        last = _ranks(self._best[0]) == self._n
        self.least[self._best[0][last]] = self._best[1][last]

    def found(self) -> Ranked:
        """Return the current leaders."""
        group, value, number, tokens = self._best
        return Ranked(group, _ranks(group), value, number, tokens)


def _ranks(group: NDArray[Any]) -> NDArray[np.int64]:
    """1, 2, … within each group of a sorted array."""
    return np.arange(1, len(group) + 1) - np.searchsorted(group, group, side="left")
