"""Permutation tests of all topics at once: documents shuffled, or many of them turned in circles by Fourier transforms.

The statistic is the difference of a topic's shares of two groups' words in standard errors, so that the test keeps its
level when groups are of unequal size and spread (Janssen 1997). Words are counted in whole numbers: sums are exact,
whatever their order, and equal statistics are equal.

**Circles.** Shuffling 60,000 documents five hundred times takes seconds. For many documents the groupings are instead
the rotations of circles into which documents are laid at random: they form a group of permutations, so that the test is
as exact as with all permutations (Hemerik and Goeman 2018), and the sums of all rotations are one circular correlation.
Several thousand groupings then cost less than five hundred shuffles.

**Tails.** Of n groupings none gives a p-value below 1 / (n + 1). Where none differs as much as the observed one, the
largest statistics are given a generalised Pareto distribution (Knijnenburg et al. 2009), after the transformation that
makes those of a normal distribution exponential. Its shape is at least that of the predictive distribution of an
exponential tail: never lighter than normal, and the wider the fewer statistics it is fitted to. Levels of 1 / (n + 1)
and above stay exact, since the fitted p-value only replaces the smallest.
``python -m studies.group_levels`` shows what levels the test keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ranges

# Groupings that a tail is fitted to: a quarter of all, or this many if they are fewer.
_TAIL = 500
# From so many documents on, rotations are quicker than shuffles.
MANY_DOCUMENTS = 4096
# Rotations of a circle to look for: enough for a tail far out, few enough for short transforms.
_FEWEST_ROTATIONS, _MOST_ROTATIONS = 2000, 9000
_PERMUTATIONS_AT_ONCE = 64
_BYTES_AT_ONCE = 2**26
# Numbers to hold at once, eight bytes each.
_NUMBERS_AT_ONCE = 2**20
# Parts of a word that are told apart where counts are expectations.
_PARTS = 64

Array = NDArray[np.float64]


class Sums(NamedTuple):
    """Sums over the documents of one group: words of topics, these times lengths, and squared; groupings × topics."""

    words: Array
    products: Array
    squares: Array


class _Tally:
    """Numbers of groupings that differ as much as the observed one, or more, and the largest statistics of others."""

    def __init__(self, seen: Array, n_groupings: int) -> None:
        self.seen, self.n = np.abs(seen), 0
        self.exceeding = np.zeros(len(seen), np.int64)
        self._kept = max(min(n_groupings // 4, _TAIL), 1)
        self.largest = np.zeros((0, len(seen)))

    def add(self, statistics: Array) -> None:
        """Count more groupings: groupings × topics."""
        size = np.abs(statistics)
        # Quotients of equal sums are equal but for the last bits.
        self.exceeding += (size >= self.seen * (1 - 1e-12)).sum(axis=0)
        self.n += len(size)
        both = np.concatenate((self.largest, size))
        first = max(len(both) - self._kept - 1, 0)
        self.largest = np.partition(both, first, axis=0)[first:] if first else both

    def p_values(self, n_groupings: float) -> Array:
        """P-values; the groups as they are count as one of the groupings, of which there are so many (a logarithm)."""
        p = (1.0 + self.exceeding) / (1.0 + self.n)
        for k in np.flatnonzero(self.exceeding == 0):
            p[k] = min(p[k], tail_p_value(self.largest[:, k], float(self.seen[k]), self.n))
        return np.maximum(p, np.exp(-min(n_groupings, 700.0)))


def permutation_p_values(
    counts: Any, lengths: Array, ours: NDArray[np.bool_], n_permutations: int, seed: int, parts: int = 1
) -> Array:
    """P-value of each topic: how often other groups of documents differ by as many standard errors, or more.

    Parameters
    ----------
    counts : sparse array, documents × topics
        Words of each topic in parts of a word: whole numbers, or expectations, which are rounded.
    lengths : array
        Words of the documents.
    ours : boolean array
        The documents of one group.
    n_permutations, seed : int
        Fewest groupings, and the seed of their choice.
    parts : int
        Parts of a word that counts are in.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from topoi.analysis.permutations import permutation_p_values
    >>> counts = csr_array(np.array([[9.0, 1.0], [8.0, 2.0], [9.0, 1.0], [1.0, 9.0], [2.0, 8.0], [0.0, 10.0]]))
    >>> ours = np.array([True] * 3 + [False] * 3)
    >>> permutation_p_values(counts, np.full(6, 10.0), ours, 1999, 0).round(1).tolist()
    [0.1, 0.1]
    """
    from scipy.special import gammaln

    whole, sizes = _whole_numbers(counts.tocsc(), lengths, parts)
    n, m = len(ours), int(ours.sum())
    rng = np.random.default_rng([seed, n])
    batches = _turned if n >= MANY_DOCUMENTS else _shuffled
    p = np.empty(whole.shape[1])
    log_groupings = float(gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1))
    for part, tally in batches(whole, sizes, ours, n_permutations, rng):
        p[part] = tally.p_values(log_groupings)
    return p


def tail_p_value(largest: Array, seen: float, n: int) -> float:
    """P-value of a statistic beyond all of ``n`` others, by a distribution fitted to the largest of them.

    The smallest of ``largest`` is the threshold. If they are all equal nothing can be fitted, and it is one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> from topoi.analysis.permutations import tail_p_value
    >>> largest = norm.isf(np.arange(1, 252) / 1000 / 2)
    >>> bool(0.5 < tail_p_value(largest, norm.isf(1e-5 / 2), 1000) / 1e-5 < 2)
    True
    """
    from scipy.special import log_ndtr

    # Minus the logarithm of the p-value of a normal distribution: exponential if statistics are normal.
    size = np.sort(-(np.log(2.0) + log_ndtr(-largest)))
    beyond = -(np.log(2.0) + float(log_ndtr(-seen))) - size[0]
    excess = size[1:] - size[0]
    q = len(excess)
    scale = float(excess.mean()) if q else 0.0
    if scale <= 1e-9 or beyond <= 0.0:
        return 1.0
    # Probability-weighted moments (Hosking and Wallis 1987); an exponential tail is the lightest.
    weighted = float((excess * (q - np.arange(1.0, q + 1) + 0.35)).sum()) / q**2
    shape = 2.0 - scale / (scale - 2.0 * weighted) if scale > 2.0 * weighted else 0.0
    if shape > 0.0:
        scale = 2.0 * scale * weighted / (scale - 2.0 * weighted)
    shape = max(shape, 0.0) + 1.0 / q
    return float(np.exp(np.log(q / (n + 1.0)) - np.log1p(shape * beyond / scale) / shape))


def statistics(sums: Sums, totals: Sums, mine: Array, whole: Array) -> Array:
    """Difference of shares in standard errors, groupings × topics.

    ``mine`` has sums over one group of lengths, their squares, and ones: groupings × 3; ``whole`` those of all.
    """
    one = _ratio(sums, mine)
    two = _ratio(Sums(*(total - each for total, each in zip(totals, sums, strict=True))), whole - mine)
    error = np.sqrt(one[1] + two[1])
    # Documents of a group may all have the same share: a difference is then beyond any error.
    return np.asarray((one[0] - two[0]) / np.maximum(error, 1e-9))


def _ratio(sums: Sums, lengths: Array) -> tuple[Array, Array]:
    """Share of words, and its variance over documents like these: that of a ratio of means, to first order."""
    words, squares, n = (each[:, None] for each in lengths.T)
    share = sums.words / words
    spread = np.maximum(sums.squares - 2 * share * sums.products + share**2 * squares, 0.0)
    return share, spread / words**2 * (n / np.maximum(n - 1, 1))


def _whole_numbers(counts: Any, lengths: Array, parts: int) -> tuple[Any, Array]:
    """Counts and lengths in the same parts of a word, such that all are whole; expectations are rounded."""
    if not np.issubdtype(counts.dtype, np.integer) and (counts.data != np.rint(counts.data)).any():
        counts, parts = (counts * (_PARTS / parts)), _PARTS
        counts.data = np.rint(counts.data)
    return counts, np.rint(lengths * parts)


def _of_lengths(lengths: Array) -> Array:
    return np.stack([lengths, lengths**2, np.ones_like(lengths)], axis=1)


def _shuffled(
    counts: Any, lengths: Array, ours: NDArray[np.bool_], n_permutations: int, rng: np.random.Generator
) -> Iterator[tuple[slice, _Tally]]:
    """Tallies of some topics after another, with documents shuffled between the groups."""
    n, n_topics = counts.shape
    parts = list(ranges(n_topics, max(_NUMBERS_AT_ONCE // n, 1)))
    tallies: list[_Tally | None] = [None] * len(parts)
    sizes = _of_lengths(lengths)
    for batch in ranges(n_permutations, max(_BYTES_AT_ONCE // n, 1)):
        marks = rng.permuted(np.broadcast_to(ours, (batch.stop - batch.start, n)), axis=1)
        for i, part in enumerate(parts):
            dense = counts[:, part].toarray(order="C").astype(np.float64)
            tables = Sums(dense, dense * lengths[:, None], dense**2)
            totals = Sums(*(each.sum(axis=0) for each in tables))

            def statistic(some: NDArray[np.bool_], tables: Sums = tables, totals: Sums = totals) -> Array:
                mine = some.astype(np.float64)
                return statistics(Sums(*(mine @ each for each in tables)), totals, mine @ sizes, sizes.sum(axis=0))

            tally = tallies[i] or _Tally(statistic(ours[None])[0], n_permutations)
            tallies[i] = tally
            for some in ranges(len(marks), _PERMUTATIONS_AT_ONCE):
                tally.add(statistic(marks[some]))
    yield from ((part, tally) for part, tally in zip(parts, tallies, strict=True) if tally is not None)


def circle_sizes(n_docs: int) -> tuple[int, int]:
    """Number of circles, and of documents in each: hardly any document is left over, and transforms are quick.

    Examples
    --------
    >>> from topoi.analysis.permutations import circle_sizes
    >>> circle_sizes(62_444)
    (13, 4802)
    """
    from scipy.fft import next_fast_len

    most = min(_MOST_ROTATIONS, n_docs // 2)
    sizes = [size for size in range(min(_FEWEST_ROTATIONS, most), most + 1) if next_fast_len(size) == size]
    best = max(sizes, key=lambda size: (n_docs // size * size, size))
    return n_docs // best, best


def _turned(
    counts: Any, lengths: Array, ours: NDArray[np.bool_], n_permutations: int, rng: np.random.Generator
) -> Iterator[tuple[slice, _Tally]]:
    """Tallies of some topics after another, with documents in circles that are turned; a few documents stay."""
    n, n_topics = counts.shape
    n_circles, size = circle_sizes(n)
    rounds = [rng.permutation(n) for _ in range(-(-n_permutations // (size - 1)))]
    sizes = _of_lengths(lengths)
    for part in ranges(n_topics, max(_NUMBERS_AT_ONCE // n, 1)):
        some, tally = counts[:, part], None
        for order in rounds:
            circles = _Circles(ours, order, n_circles, size)
            mine = np.rint(circles.sums(np.ascontiguousarray(sizes.T))).T
            dense = circles.laid_out(some)
            laid = lengths[order]
            tables = Sums(dense, dense * laid, dense**2)
            totals = Sums(*(each.sum(axis=1) for each in tables))
            found = Sums(*(np.rint(circles.sums(each, laid_out=True)).T for each in tables))
            values = statistics(found, totals, mine, sizes.sum(axis=0))
            tally = tally or _Tally(values[0], len(rounds) * (size - 1))
            tally.add(values[1:])
        if tally is not None:
            yield part, tally


class _Circles:
    """Documents laid in circles at random, with one of the groups marked."""

    def __init__(self, ours: NDArray[np.bool_], order: NDArray[np.int64], n_circles: int, size: int) -> None:
        from scipy.fft import rfft

        self._order, self._shape = order, (n_circles, size)
        self._marks = ours[order]
        turning = self._marks[: n_circles * size].reshape(self._shape)
        self._spectrum = np.conj(rfft(turning.astype(np.float64), axis=-1))

    def laid_out(self, columns: Any) -> Array:
        """Columns of a sparse array (CSC), documents in the order of the circles: columns × documents."""
        n, k = columns.shape
        place = np.empty(n, np.int64)
        place[self._order] = np.arange(n)
        dense = np.zeros((k, n))
        dense[np.repeat(np.arange(k), np.diff(columns.indptr)), place[columns.indices]] = columns.data
        return dense

    def sums(self, rows: Array, laid_out: bool = False) -> Array:
        """Sums over the marked group after every turn, none first: rows × turns; rows × documents are given."""
        from scipy.fft import irfft, rfft

        values = rows if laid_out else rows[:, self._order]
        n_turning = self._shape[0] * self._shape[1]
        spectrum = rfft(values[:, :n_turning].reshape(len(values), *self._shape), axis=-1)
        stay = values[:, n_turning:] @ self._marks[n_turning:].astype(np.float64)
        return np.asarray(irfft((spectrum * self._spectrum).sum(axis=1), self._shape[1], axis=-1) + stay[:, None])
