"""Lists of topics in lines of sixteen, and parts of the topics: what the kernels for many topics share."""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels import lanes
from topoi.kernels.jit import compiled, inlined, lean

# Topics whose masses outside lists are summed together: 2**PART_BITS.
PART_BITS = 8
PART = 1 << PART_BITS
# The topic of unused places in lists must fit in 16 bits, after all parts.
MOST_TOPICS = (2**16 // PART - 1) * PART


class TopicLists(NamedTuple):
    """Topics of documents, or of words: number d has ``length[d]`` of them, unordered, from line ``first[d]`` on.

    A line is sixteen topics and then their sixteen numbers of tokens: one line of the cache. Unused places hold the
    topic ``unused[0]``, whose weight must be zero.
    """

    first: NDArray[np.int64]
    length: NDArray[np.int32]
    line: NDArray[np.uint16]
    unused: NDArray[np.uint16]


@compiled
def empty_lists(first, total, n_topics):
    """Empty lists that start at the lines ``first``, of ``total`` lines together."""
    unused = np.full(1, n_parts(n_topics) << PART_BITS, np.uint16)
    line = lanes.aligned_floats(16 * total + 16).view(np.uint16)
    lists = TopicLists(first, np.zeros(first.shape[0], np.int32), line, unused)
    _clear(lists, total)
    return lists


@lean
def _clear(lists, total):
    for j in range(total):
        for p in range(16):
            lists.line[32 * j + p] = lists.unused[0]


@inlined
def n_parts(n_topics):
    """Number of parts of the topics."""
    return (n_topics + PART - 1) >> PART_BITS


@inlined
def n_lines(lists, d):
    """Number of lines of a list that are in use."""
    return (np.int64(lists.length[d]) + 15) >> 4


@inlined
def find(lists, d, k):
    """Position of topic ``k`` in a list, or -1."""
    first = 32 * lists.first[d]
    for at in range(first, first + 32 * n_lines(lists, d), 32):
        p = lanes.find_uint16(lists.line, at, k)
        if p < 16:
            return at + p
    return -1


@inlined
def place(lists, d, n):
    """Position of entry number ``n`` of a list."""
    return 32 * (lists.first[d] + (n >> 4)) + (n & 15)


@inlined
def add(lists, d, k):
    """Count one more token of topic ``k`` in a list."""
    at = find(lists, d, k)
    if at < 0:
        n = np.int64(lists.length[d])
        at = place(lists, d, n)
        lists.line[at] = np.uint16(k)
        lists.line[at + 16] = np.uint16(0)
        lists.length[d] = np.int32(n + 1)
    lists.line[at + 16] += np.uint16(1)


@inlined
def take(lists, d, at):
    """Count one token less at a position of a list; an emptied place gets the last entry."""
    lists.line[at + 16] -= np.uint16(1)
    if lists.line[at + 16] == 0:
        n = np.int64(lists.length[d]) - 1
        last = place(lists, d, n)
        lists.line[at] = lists.line[last]
        lists.line[at + 16] = lists.line[last + 16]
        lists.line[last] = lists.unused[0]
        lists.length[d] = np.int32(n)
