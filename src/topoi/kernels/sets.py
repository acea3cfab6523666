"""Mutable sets of small integers for compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import compiled, inlined


class Bag(NamedTuple):
    """A set of small integers: its members, unordered; the index of each among them, or -1; and its size."""

    member: NDArray[np.int64]
    place: NDArray[np.int64]
    size: NDArray[np.int64]


@compiled
def empty_bag(n):
    """Make an empty set for integers below ``n``."""
    return Bag(np.zeros(n, np.int64), np.full(n, -1), np.zeros(1, np.int64))


@inlined
def put(bag, x):
    """Add a number if it is not a member."""
    if bag.place[x] < 0:
        bag.place[x] = bag.size[0]
        bag.member[bag.size[0]] = x
        bag.size[0] += 1


@inlined
def remove(bag, x):
    """Remove a member; the last one takes its place."""
    last = bag.member[bag.size[0] - 1]
    bag.member[bag.place[x]] = last
    bag.place[last] = bag.place[x]
    bag.place[x] = -1
    bag.size[0] -= 1
