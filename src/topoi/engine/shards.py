"""Shards of documents for parallel sampling, with the same result on any number of threads.

In a sweep each shard is sampled against a private copy of the shared counts, and the differences are summed
(approximate distributed Gibbs, Newman et al. 2009). One shard is exact serial Gibbs. The result depends on the number
of shards, never on the number of threads: counts are integers, so the order of summation does not matter.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges
from topoi.engine.executors import Executor
from topoi.errors import ModelError
from topoi.kernels.jit import lean

_SINGLE_BELOW = 2_000_000
_TOKENS_PER_SHARD = 1_500_000
_MOST_BY_DEFAULT = 16
# Counts that are copied or added up at a time: two megabytes, a tenth of a millisecond.
_BLOCK = 2**19
# Multiples of it, without their whole parts, are spread evenly, however many there are.
_GOLDEN = 0.6180339887498949


def resolve_shards(n_shards: int | str, n_tokens: int, n_docs: int) -> int:
    """Turn the setting ``n_shards`` into a number; "auto" depends on the corpus, never on the machine.

    Examples
    --------
    >>> from topoi.engine.shards import resolve_shards
    >>> resolve_shards("auto", 500_000, 1000), resolve_shards("auto", 5_000_000, 60_000)
    (1, 4)
    """
    if n_shards == "auto":
        if n_tokens < _SINGLE_BELOW:
            return 1
        # A power of two, so that two, four or eight threads share the work evenly.
        wanted = 2 ** int(np.ceil(np.log2(n_tokens / _TOKENS_PER_SHARD)))
        return max(1, min(wanted, _MOST_BY_DEFAULT, n_docs))
    if isinstance(n_shards, bool) or not isinstance(n_shards, int | np.integer) or n_shards < 1:
        raise ModelError(f"n_shards is {n_shards!r}; it must be 'auto' or a whole number of at least 1")
    return int(min(n_shards, max(n_docs, 1)))


# The number of shards; or the documents at which they begin, the first shard's left out.
Shards: TypeAlias = int | tuple[int, ...]


def cut(doc_lengths: NDArray[np.int64], n_shards: Shards) -> list[tuple[int, int]]:
    """Cut documents into ``n_shards`` consecutive ranges of about equally many tokens, or at the given documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.engine.shards import cut
    >>> cut(np.array([5, 1, 1, 1, 2]), 2), cut(np.array([5, 1, 1, 1, 2]), (3,))
    ([(0, 1), (1, 5)], [(0, 3), (3, 5)])
    """
    if isinstance(n_shards, tuple):
        return list(pairwise((0, *n_shards, len(doc_lengths))))
    ends = np.cumsum(doc_lengths)
    total = int(ends[-1]) if len(ends) else 0
    targets = total * np.arange(1, n_shards) / n_shards
    inner = np.searchsorted(ends, targets) + 1
    edges = np.concatenate(([0], inner, [len(doc_lengths)]))
    edges = np.minimum(np.maximum.accumulate(edges), len(doc_lengths))
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


@lean
def _assign(to, values):
    """Copy ``values`` element by element, without holding the GIL."""
    for i in range(to.size):
        to[i] = values[i]


@lean
def _add_difference(total, changed, base):
    """Compute ``total += changed - base`` element by element, without holding the GIL."""
    for i in range(total.size):
        total[i] += changed[i] - base[i]


class _Block(NamedTuple):
    """Part of an array of counts, which one thread at a time adds to."""

    array: int
    here: slice
    lock: threading.Lock


class Merger:
    """Private copies of the counts, and their running sum, for one chain's sweep over several shards.

    Memory: one copy of the counts for the sum, and one per thread. The sum is locked by blocks, and shards begin at
    different ones, so that threads that finish together do not wait for each other. Counts in lists cannot be
    subtracted: for them ``merge`` is called instead of summing, and recounts from the shards' assignments.
    """

    def __init__(self, counts: Any, merge: Callable[[], None] | None = None):
        self._counts = counts
        self._kind = type(counts)
        self._merge = merge
        self._total = () if merge else self._copy(counts)
        self._blocks = [
            _Block(number, here, threading.Lock())
            for number, array in enumerate(self._total)
            for here in ranges(array.size, _BLOCK)
        ]
        self._spare: list[Any] = []
        self._lock = threading.Lock()
        self._n_finished = 0

    def _copy(self, counts: Any) -> Any:
        return self._kind(*(np.array(array) for array in counts))

    def begin(self, executor: Executor) -> None:
        """Start a sweep: set the sum to the current counts."""
        self._assign(self._total, self._counts, executor)

    def _assign(self, to: Any, values: Any, executor: Executor) -> None:
        """Copy all arrays, a block to a task."""
        flat = [(a.reshape(-1), b.reshape(-1)) for a, b in zip(to, values, strict=not self._merge)]
        list(executor.map(lambda b: _assign(flat[b.array][0][b.here], flat[b.array][1][b.here]), self._blocks))

    def sample(self, sample: Callable[[Any], None]) -> None:
        """Run ``sample(private_counts)`` and add its changes to the sum."""
        with self._lock:
            private = self._spare.pop() if self._spare else None
        if private is None:
            private = self._copy(self._counts)
        else:
            for mine, base in zip(private, self._counts, strict=True):
                mine[...] = base
        sample(private)
        self._add(private)
        with self._lock:
            self._spare.append(private)

    def _add(self, private: Any) -> None:
        """Add the changes to the sum: whole numbers, so the order of additions does not matter."""
        with self._lock:
            self._n_finished += 1
            first = int(_GOLDEN * self._n_finished % 1.0 * len(self._blocks))
        tables = [[a.reshape(-1) for a in arrays] for arrays in zip(self._total, private, self._counts, strict=False)]
        for number, here, lock in self._blocks[first:] + self._blocks[:first]:
            with lock:
                _add_difference(*(table[here] for table in tables[number]))

    def finish(self, executor: Executor) -> None:
        """End a sweep: set the counts to the sum."""
        if self._merge:
            self._merge()
            return
        self._assign(self._counts, self._total, executor)
