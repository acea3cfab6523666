"""Uncertainty of shares in groups of documents, by posterior draws and resampled documents.

Two things are uncertain about the share of a topic in, say, the documents of 1990: the topics of their words, and how
well these documents stand for all that might have been written then. Every replicate therefore takes one of a chain's
samples, in which topics keep their identity, and weights its documents at random: independent exponential weights,
divided by their sum, are a draw from the Bayesian bootstrap (Rubin 1981).

On its own the bootstrap knows nothing beyond a group's own documents, and is sure of a share that rests on one of them.
So every group gets ``EXTRA`` documents more, drawn anew in every replicate from all groups: a Dirichlet process prior
centred on the collection. For a group of a hundred documents they hardly matter; for one of three they say that the
next document may be like any other. ``python -m studies.band_coverage`` shows what intervals hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges, row_positions
from topoi.models.validation import checked_tail

REPLICATES = 200
EXTRA = 2
LEVEL = 0.9
# Groups × columns × replicates to hold at once, eight bytes each.
_CELLS_AT_ONCE = 2**23

Array = NDArray[np.float64]


class Draw(NamedTuple):
    """Words of documents per topic (or other column) in one posterior draw, row by row, without zeros."""

    start: NDArray[Any]
    column: NDArray[Any]
    number: NDArray[Any]


class Block(NamedTuple):
    """Documents ``first``, ``first + 1``, … in all draws."""

    first: int
    draws: list[Draw]


class Draws(NamedTuple):
    """Posterior draws of the topics of documents' words, a block of documents at a time, in order."""

    n_draws: int
    n_columns: int
    blocks: Callable[[], Iterator[Block]]


class Groups(NamedTuple):
    """Group of each document, -1 for those in none; the documents' numbers of words; the number of groups."""

    of: NDArray[np.int64]
    lengths: Array
    n: int


class Replicates(NamedTuple):
    """Weighted words of resampled documents: groups × columns × replicates, and of all columns, groups × replicates."""

    counts: Array
    words: Array

    @property
    def shares(self) -> Array:
        """Shares of the columns, groups × columns × replicates."""
        return np.asarray(self.counts / np.maximum(self.words, 1e-300)[:, None])


def one_draw(counts: NDArray[Any]) -> Draws:
    """Draws of documents whose words per column are known, documents × columns.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.resampling import one_draw
    >>> next(one_draw(np.array([[0.0, 2.0], [1.0, 1.0]])).blocks()).draws[0].start.tolist()
    [0, 1, 3]
    """
    return stacked_draws([np.asarray(counts, np.float64)])


def stacked_draws(tables: list[Array]) -> Draws:
    """Draws of documents from a table of words per draw, documents × columns each."""

    def draw(table: Array) -> Draw:
        doc, column = np.nonzero(table)
        return Draw(np.searchsorted(doc, np.arange(len(table) + 1)), column, table[doc, column])

    return Draws(len(tables), tables[0].shape[1], lambda: iter([Block(0, [draw(table) for table in tables])]))


def joined_draws(draws: Draws, unit: NDArray[np.int64], n_units: int) -> Draws:
    """Draws of units in place of documents, -1 for documents in none; held in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.resampling import joined_draws, one_draw
    >>> draws = joined_draws(one_draw(np.array([[1.0, 0.0], [2.0, 3.0], [5.0, 5.0]])), np.array([0, 0, -1]), 1)
    >>> next(draws.blocks()).draws[0].number.tolist()
    [3.0, 3.0]
    """
    from scipy.sparse import csr_array

    found = [csr_array((n_units, draws.n_columns)) for _ in range(draws.n_draws)]
    for first, each in draws.blocks():
        for s, (start, column, number) in enumerate(each):
            row = np.repeat(unit[first : first + len(start) - 1], np.diff(start))
            inside = row >= 0
            part = (np.asarray(number, np.float64)[inside], (row[inside], column[inside]))
            found[s] = found[s] + csr_array(part, found[s].shape)
    block = Block(0, [Draw(each.indptr.astype(np.int64), each.indices, each.data) for each in found])
    return Draws(draws.n_draws, draws.n_columns, lambda: iter([block]))


def share_bands(
    groups: Groups, draws: Draws, share: Array, level: float = LEVEL, n_replicates: int = REPLICATES, seed: int = 0
) -> tuple[Array, Array]:
    """Lower and upper ends of the interval around each share, groups × columns.

    Parameters
    ----------
    groups : Groups
        The documents' groups.
    draws : Draws
        Words per topic of the documents.
    share : array
        Shares that the intervals are about, groups × columns; intervals are widened to include them.
    level : float
        Each interval holds this much probability.
    n_replicates, seed : int
        Number of replicates, and the seed of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.resampling import Groups, one_draw, share_bands
    >>> counts = np.array([[9.0, 1.0], [7.0, 3.0], [8.0, 2.0], [1.0, 9.0]])
    >>> groups = Groups(np.array([0, 0, 0, 1]), counts.sum(axis=1), 2)
    >>> lower, upper = share_bands(groups, one_draw(counts), np.array([[0.8, 0.2], [0.1, 0.9]]))
    >>> bool((upper - lower)[0, 0] < (upper - lower)[1, 0])
    True
    """
    return several_bands([(groups, share)], draws, level, n_replicates, seed)[0]


def several_bands(
    given: Sequence[tuple[Groups, Array]],
    draws: Draws,
    level: float = LEVEL,
    n_replicates: int = REPLICATES,
    seed: int = 0,
) -> list[tuple[Array, Array]]:
    """``share_bands`` of several groupings of the same documents, each with its shares: the draws are made once.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.resampling import Groups, one_draw, several_bands, share_bands
    >>> counts = np.array([[9.0, 1.0], [7.0, 3.0]])
    >>> one = Groups(np.array([0, 0]), counts.sum(axis=1), 1), np.array([[0.8, 0.2]])
    >>> two = Groups(np.array([0, 1]), counts.sum(axis=1), 2), np.array([[0.9, 0.1], [0.7, 0.3]])
    >>> found = several_bands([one, two], one_draw(counts))
    >>> alone = [share_bands(groups, one_draw(counts), share) for groups, share in (one, two)]
    >>> [np.array_equal(each, other) for each, other in zip(found, alone)]
    [True, True]
    """
    tail = checked_tail(level)
    size = max(_CELLS_AT_ONCE // (max(draws.n_columns, 1) * n_replicates), 1)
    ends = [(np.empty(share.shape), np.empty(share.shape)) for _, share in given]
    for parts in zip_longest(*(ranges(groups.n, size) for groups, _ in given)):
        here = [(i, part) for i, part in enumerate(parts) if part is not None]
        found = resample_several([(given[i][0], part) for i, part in here], draws, n_replicates, seed)
        for (i, part), each in zip(here, found, strict=True):
            ends[i][0][part], ends[i][1][part] = np.quantile(each.shares, (tail, 1.0 - tail), axis=2)
    return [(np.minimum(lower, s), np.maximum(upper, s)) for (lower, upper), (_, s) in zip(ends, given, strict=True)]


def resample(
    groups: Groups, draws: Draws, some: slice | None = None, n_replicates: int = REPLICATES, seed: int = 0
) -> Replicates:
    """Replicates of some groups, or all; every draw serves as many replicates as the others, or one more or less.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.resampling import Groups, one_draw, resample
    >>> draws = one_draw(np.array([[4.0, 0.0], [0.0, 6.0]]))
    >>> found = resample(Groups(np.array([0, 1]), np.array([4.0, 6.0]), 2), draws, n_replicates=5)
    >>> found.counts.shape, bool(np.allclose(found.counts.sum(axis=1), found.words))
    ((2, 2, 5), True)
    """
    return resample_several([(groups, some or slice(0, groups.n))], draws, n_replicates, seed)[0]


def resample_several(
    given: Sequence[tuple[Groups, slice]], draws: Draws, n_replicates: int = REPLICATES, seed: int = 0
) -> list[Replicates]:
    """``resample`` some groups of each of several groupings; the draws are made once."""
    turns = [range(s, n_replicates, draws.n_draws) for s in range(draws.n_draws)]
    weights = [np.random.default_rng([seed, s]) for s in range(draws.n_draws)]
    sums = [
        [_Sums(groups, some, draws.n_columns, len(turn), [seed, s, some.start]) for s, turn in enumerate(turns)]
        for groups, some in given
    ]
    for first, each in draws.blocks():
        for s, (draw, turn, rng) in enumerate(zip(each, turns, weights, strict=True)):
            if not len(turn):
                continue
            # Every document has its weights, whatever groups are asked for, however work is divided.
            own = rng.standard_exponential((len(draw.start) - 1, len(turn)))
            for of in sums:
                of[s].add(draw, first, own)
    return [
        _replicates(of, some, turns, draws.n_columns, n_replicates) for of, (_, some) in zip(sums, given, strict=True)
    ]


def _replicates(sums: list[_Sums], some: slice, turns: list[range], n_columns: int, n_replicates: int) -> Replicates:
    """Sums of all draws, each in its turn."""
    n = some.stop - some.start
    counts, words = np.empty((n, n_columns, n_replicates)), np.empty((n, n_replicates))
    for turn in turns:
        mine, found = slice(turn.start, turn.stop, turn.step), sums.pop(0)
        counts[:, :, mine], words[:, mine] = found.counts.reshape(n, n_columns, len(turn)), found.words
    return Replicates(counts, words)


class _Sums:
    """Weighted words of some groups in the replicates of one draw, by columns and in all."""

    def __init__(self, groups: Groups, some: slice, n_columns: int, n_replicates: int, name: list[int]) -> None:
        n = some.stop - some.start
        self._groups, self._some, self._n_columns = groups, some, n_columns
        self.counts, self.words = np.zeros((n * n_columns, n_replicates)), np.zeros((n, n_replicates))
        self._others = _Others(groups, n, n_replicates, name)

    def add(self, draw: Draw, first: int, weights: Array) -> None:
        """Add a block of documents, with their weights, and those among them that are added to other groups."""
        own = _own_words(self._groups, draw, first, self._some, self._n_columns, weights)
        self.counts += own[0]
        self.words += own[1]
        table = self.counts.reshape(len(self.words), self._n_columns, self.words.shape[1])
        self._others.add(draw, first, table, self.words)


def _own_words(
    groups: Groups, draw: Draw, first: int, some: slice, n_columns: int, weights: Array
) -> tuple[Array, Array]:
    """Weighted words of groups' documents: groups · columns × replicates, and groups × replicates."""
    from scipy.sparse import csc_array

    n_groups, n_docs = some.stop - some.start, len(draw.start) - 1
    here = slice(first, first + n_docs)
    group, lengths = groups.of[here] - some.start, groups.lengths[here]
    inside = np.flatnonzero((groups.of[here] >= 0) & (group >= 0) & (group < n_groups) & (lengths > 0))
    group, weights, columns = group[inside], weights[inside], np.arange(len(inside) + 1)
    at: Any = slice(None)
    start = draw.start
    if len(inside) < n_docs:
        at, start = row_positions(draw.start, inside)
    row = np.repeat(group * n_columns, np.diff(start)) + draw.column[at]
    counts: Array = (
        csc_array((draw.number[at].astype(np.float64), row, start), (n_groups * n_columns, len(inside))) @ weights
    )
    words = csc_array((lengths[inside], group, columns), (n_groups, len(inside))) @ weights
    return counts, np.asarray(words)


class _Others:
    """Documents of the whole collection that are added to groups: ``EXTRA`` to each in every replicate."""

    def __init__(self, groups: Groups, n_groups: int, n_replicates: int, name: list[int]) -> None:
        rng, pool = np.random.default_rng(name), np.flatnonzero((groups.of >= 0) & (groups.lengths > 0))
        size = EXTRA * n_groups * n_replicates if len(pool) else 0
        chosen = pool[rng.integers(0, max(len(pool), 1), size)]
        order = np.argsort(chosen, kind="stable")
        place = order % max(n_groups * n_replicates, 1)
        self._doc, self._weight = chosen[order], rng.standard_exponential(size)[order]
        self._group, self._replicate = np.divmod(place, max(n_replicates, 1))
        self._lengths = groups.lengths

    def add(self, draw: Draw, first: int, counts: Array, words: Array) -> None:
        """Add the chosen ones among some documents, weighted as the groups' own are."""
        here = slice(*np.searchsorted(self._doc, (first, first + len(draw.start) - 1)))
        doc, weight = self._doc[here], self._weight[here]
        at, start = row_positions(draw.start, doc - first)
        times = np.diff(start)
        group, replicate = np.repeat(self._group[here], times), np.repeat(self._replicate[here], times)
        np.add.at(counts, (group, draw.column[at], replicate), draw.number[at] * np.repeat(weight, times))
        np.add.at(words, (self._group[here], self._replicate[here]), weight * self._lengths[doc])
