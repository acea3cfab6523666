"""The largest values of many groups, found in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import lean


class Ranked(NamedTuple):
    """Leading values, group by group from the largest on: groups, ranks from 1, values, numbers and tokens."""

    group: NDArray[np.int64]
    rank: NDArray[np.int64]
    value: NDArray[np.float64]
    number: NDArray[np.int64]
    tokens: NDArray[np.int64]


class Leaders:
    """The ``n`` largest values of each group, ties broken by number. Cost: O(log n) for a value that leads so far.

    Attributes
    ----------
    least : array
        Threshold of each group: smaller values cannot lead and need not be added.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.leaders import Leaders
    >>> leaders = Leaders(2, 2)
    >>> for number, value in enumerate([3.0, 5.0, 4.0, 5.0]):
    ...     leaders.add(np.array([1]), np.array([value]), np.array([number]))
    >>> leaders.found().number.tolist(), leaders.least.tolist()
    ([1, 3], [-inf, 5.0])
    """

    def __init__(self, n_groups: int, n: int) -> None:
        self.least = np.full(n_groups, -np.inf)
        self._size = np.zeros(n_groups, np.int64)
        self._value = np.empty((n_groups, n))
        self._number, self._tokens = np.empty((n_groups, n), np.int64), np.empty((n_groups, n), np.int64)

    def add(
        self,
        group: NDArray[Any],
        value: NDArray[np.float64],
        number: NDArray[Any],
        tokens: NDArray[Any] | None = None,
    ) -> None:
        """Add values with their numbers and, optionally, tokens."""
        given = np.zeros(len(group), np.int64) if tokens is None else tokens
        # Of one type each, so that one version is compiled.
        whole = [np.ascontiguousarray(each, np.int64) for each in (group, number, given)]
        heaps = self._size, self._value, self._number, self._tokens
        _add(whole[0], whole[1], whole[2], np.ascontiguousarray(value, np.float64), *heaps)
        full = self._size == self._value.shape[1]
        self.least[full] = self._value[full, 0]

    def found(self) -> Ranked:
        """Return the current leaders."""
        held = np.arange(self._value.shape[1]) < self._size[:, None]
        group = np.repeat(np.arange(len(self._size)), self._size)
        value, number, tokens = self._value[held], self._number[held], self._tokens[held]
        order = np.lexsort((number, -value, group))
        rank = np.arange(1, len(group) + 1) - np.searchsorted(group, group, side="left")
        return Ranked(group, rank, value[order], number[order], tokens[order])


@lean
def _add(group: Any, number: Any, tokens: Any, value: Any, size: Any, values: Any, numbers: Any, others: Any) -> None:
    """Add values to a heap of each group, whose first element is the one that the next better value replaces."""
    most = values.shape[1]
    for i in range(group.shape[0]):
        g, v, own = group[i], value[i], number[i]
        if size[g] < most:
            at = size[g]
            size[g] += 1
            while at > 0:  # up, past parents that are better
                parent = (at - 1) // 2
                if values[g, parent] < v or (values[g, parent] == v and numbers[g, parent] >= own):
                    break
                values[g, at], numbers[g, at] = values[g, parent], numbers[g, parent]
                others[g, at] = others[g, parent]
                at = parent
        else:
            if v < values[g, 0] or (v == values[g, 0] and own >= numbers[g, 0]):
                continue
            at, child = 0, 1
            while child < most:  # down, past children that are worse
                right = child + 1
                if right < most and (
                    values[g, right] < values[g, child]
                    or (values[g, right] == values[g, child] and numbers[g, right] > numbers[g, child])
                ):
                    child = right
                if v < values[g, child] or (v == values[g, child] and own >= numbers[g, child]):
                    break
                values[g, at], numbers[g, at] = values[g, child], numbers[g, child]
                others[g, at] = others[g, child]
                at, child = child, 2 * child + 1
        values[g, at], numbers[g, at], others[g, at] = v, own, tokens[i]
