"""Many distributions as sparse counts: authors' or documents' mixtures of topics, topics' mixtures of words.

A collection has tens of thousands of authors and hundreds of topics, but an author has words in only a few topics.
Operations over all authors (nearest authors, likelihoods of a text) cost no more than the nonzero counts: smoothing is
a sum that all rows share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus.mapped import release
from topoi.corpus.pieces import BLOCK, occurrences, ranges, row_blocks, row_positions
from topoi.kernels import sparse
from topoi.kernels.counts import count_cells
from topoi.models.validation import choice

MEASURES = ("symmetrised-kl", "jensen-shannon", "hellinger", "cosine")
_ROWS_AT_ONCE = 4096
_CELLS_AT_ONCE = 2**17
# Counts below this are looked up in place of taking their logarithms.
_LOOKED_UP = 128
# A bound is computed first where there are so many times more rows than are asked for; and its rounding errors.
_MANY, _ROUNDING = 20, 1e-12
# Nonzero counts, row by row: rows, columns, numbers.
Cells = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def distances(p: NDArray[Any], rows: NDArray[Any], measure: str) -> NDArray[np.float64]:
    """Distances of ``p`` to each row, all of them distributions; natural logarithms.

    ``symmetrised-kl`` is KL(p‖q) + KL(q‖p); ``jensen-shannon`` the root of the divergence, and ``hellinger`` the
    root of half the squared difference of roots, so that both are metrics; ``cosine`` is one minus the cosine.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import distances
    >>> distances(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.9, 0.1]]), "symmetrised-kl").round(3).tolist()
    [0.0, 0.879]
    """
    choice("measure", measure, MEASURES)
    if measure == "symmetrised-kl":
        with np.errstate(divide="ignore"):
            return np.asarray(((rows - p) * (np.log(rows) - np.log(p))).sum(axis=1))
    if measure == "jensen-shannon":
        middle = (rows + p) / 2
        divergence = (_relative_entropy(rows, middle) + _relative_entropy(p, middle)).sum(axis=1) / 2
        return np.asarray(np.sqrt(np.maximum(divergence, 0.0)))
    if measure == "hellinger":
        return np.asarray(np.sqrt(((np.sqrt(rows) - np.sqrt(p)) ** 2).sum(axis=1) / 2))
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(p)
    return np.asarray(np.maximum(1.0 - rows @ p / lengths, 0.0))


def _relative_entropy(p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
    """p log (p / q), zero where p is zero; elsewhere q must not be zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(p / q), 0.0)


def kl_matrix(p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
    """KL(p‖q) + KL(q‖p) between all rows of ``p`` and of ``q``, by matrix products; zeros are not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import kl_matrix
    >>> kl_matrix(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5], [0.9, 0.1]])).round(3).tolist()
    [[0.0, 0.879]]
    """
    log_p, log_q = np.log(p), np.log(q)
    own = (p * log_p).sum(axis=1)[:, None] + (q * log_q).sum(axis=1)
    # Rounding can push zeros slightly below zero.
    return np.asarray(np.maximum(own - p @ log_q.T - log_p @ q.T, 0.0))


class SmoothedCounts:
    """Tokens per row (an author) and column (a topic), smoothed: P(column | row) = (n + alpha) / (N + Σ alpha).

    Takes four bytes per nonzero count, if neither counts nor columns reach 65,536.

    Parameters
    ----------
    start, column, number : arrays
        The nonzero counts, row by row: those of row r are at ``start[r]:start[r + 1]``.
    alpha : array
        The prior weight of each column; zeros for no smoothing.
    samples : int
        Number of samples that the numbers are sums over; counts are their means.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import SmoothedCounts
    >>> two = SmoothedCounts(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([4, 1, 1]), np.array([1.0, 1.0]))
    >>> two.shares([0]).round(2).tolist(), two.totals.tolist()
    ([[0.83, 0.17]], [4.0, 2.0])
    """

    def __init__(
        self, start: NDArray[Any], column: NDArray[Any], number: NDArray[Any], alpha: NDArray[Any], samples: int = 1
    ) -> None:
        self._start = np.array(start, np.int64)
        self._column = np.array(column, np.uint16 if len(alpha) <= 2**16 else np.int32)
        largest = int(np.max(number, initial=0))
        self._number = np.array(number, np.uint16 if largest < 2**16 else np.uint32)
        self._samples = samples
        self._set_prior(alpha)
        self._total: NDArray[Any] = np.zeros(len(self), np.int64)
        for part in row_blocks(self._start):
            own = self._start[part.start : part.stop + 1]
            before = np.concatenate(([0], np.cumsum(self._number[own[0] : own[-1]], dtype=np.int64)))
            self._total[part] = before[own[1:] - own[0]] - before[own[:-1] - own[0]]

    def _set_prior(self, alpha: NDArray[Any]) -> None:
        self.alpha = np.array(alpha, np.float64)
        self.alpha_sum = float(self.alpha.sum())
        # (n / S + alpha) / (N / S + Σ alpha) = (n + S alpha) / (N + S Σ alpha): sums need not be divided.
        self._prior, self._prior_sum = self.alpha * self._samples, self.alpha_sum * self._samples

    @classmethod
    def from_counts(cls, counts: NDArray[Any], alpha: NDArray[Any], samples: int = 1) -> SmoothedCounts:
        """Build from a matrix of counts, means over ``samples``."""
        return cls(*sparse_rows(np.rint(np.asarray(counts, np.float64) * samples)), alpha, samples)

    @property
    def totals(self) -> NDArray[np.float64]:
        """Sum of each row's counts."""
        return self._total / self._samples

    @property
    def sums(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Start of each row's counts, their columns, and their sums over the samples."""
        return self._cells

    def cells(self) -> Cells:
        """Nonzero counts, row by row: rows, columns, numbers."""
        return self._part(slice(0, len(self)))

    def cell_blocks(self) -> Iterator[Cells]:
        """``cells`` in blocks of rows."""
        for part in row_blocks(self._start, _CELLS_AT_ONCE):
            yield self._part(part)

    def _part(self, rows: slice) -> Cells:
        own = self._start[rows.start : rows.stop + 1]
        row = np.repeat(np.arange(rows.start, rows.stop), np.diff(own))
        here = slice(own[0], own[-1])
        return row, self._column[here].astype(np.int64), self._number[here].astype(np.float64) / self._samples

    def __len__(self) -> int:
        return len(self._start) - 1

    @property
    def _cells(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self._start, self._column, self._number

    def _sums(self, weight: NDArray[Any]) -> NDArray[np.float64]:
        """Σ n · weight of each row."""
        return np.asarray(sparse.weighted_sums(*self._cells, np.asarray(weight, np.float64)))

    def unsmoothed(self) -> SmoothedCounts:
        """The same counts without a prior."""
        made = object.__new__(SmoothedCounts)
        made._start, made._column, made._number = self._cells
        made._total, made._samples = self._total, self._samples
        made._set_prior(np.zeros_like(self.alpha))
        return made

    def counts(self, rows: int | Sequence[int] | NDArray[Any]) -> NDArray[np.float64]:
        """Dense counts of some rows."""
        return self._dense(rows) / self._samples

    def _dense(self, rows: int | Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
        return self.dense(self._number, rows).astype(np.int64)

    def dense(self, values: NDArray[Any], rows: int | Sequence[int] | NDArray[Any]) -> NDArray[np.float64]:
        """Dense rows of values that stand where the nonzero counts do, in the order of ``sums``.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.smoothed_counts import SmoothedCounts
        >>> SmoothedCounts.from_counts(np.array([[3, 0], [1, 2]]), np.ones(2)).dense(np.array([7, 8, 9]), 1).tolist()
        [[8.0, 9.0]]
        """
        wanted = np.atleast_1d(rows)
        at, start = row_positions(self._start, wanted)
        dense = np.zeros((len(wanted), len(self.alpha)))
        dense[np.repeat(np.arange(len(wanted)), np.diff(start)), self._column[at]] = values[at]
        return dense

    def shares(self, rows: int | Sequence[int] | NDArray[Any]) -> NDArray[np.float64]:
        """P(column | row) of some rows; uniform for a row without words and without prior."""
        return _shares(self._dense(rows) + self._prior)

    def column(self, column: int) -> NDArray[np.float64]:
        """Counts of all rows in one column."""
        return self._dense_column(column) / self._samples

    def _dense_column(self, column: int) -> NDArray[np.int64]:
        here = np.flatnonzero(self._column == column)
        counts = np.zeros(len(self), np.int64)
        counts[np.searchsorted(self._start, here, side="right") - 1] = self._number[here]
        return counts

    def column_shares(self, column: int) -> NDArray[np.float64]:
        """P(column | row) of all rows in one column; uniform for a row without words and without prior."""
        share = (self._dense_column(column) + self._prior[column]) / self._room
        return np.asarray(share if self.alpha_sum else np.where(self._total > 0, share, 1.0 / len(self.alpha)))

    def some_columns(self, columns: NDArray[Any]) -> SmoothedCounts:
        """The same rows restricted to some columns, in the given order."""
        place = np.full(len(self.alpha), -1, np.int64)
        place[columns] = np.arange(len(columns))
        new = place[self._column]
        kept = new >= 0
        before = np.concatenate(([0], np.cumsum(kept)))
        return SmoothedCounts(before[self._start], new[kept], self._number[kept], self.alpha[columns], self._samples)

    def distances(self, p: NDArray[np.float64], measure: str) -> NDArray[np.float64]:
        """Distances of a mixture to every row, as in ``topoi.models.smoothed_counts.distances``."""
        return self.some_distances(p, measure, np.arange(len(self)))

    def some_distances(self, p: NDArray[np.float64], measure: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of a mixture to some rows: the bits of ``distances``."""
        if measure == "symmetrised-kl" and self.alpha.min() > 0:
            return self._symmetrised_kl(p, rows)
        if measure == "jensen-shannon" and self.alpha_sum == 0:
            return self._jensen_shannon(p, rows)
        if measure in ("hellinger", "cosine"):
            return (self._hellinger(p) if measure == "hellinger" else self._cosine(p))[rows]
        found = np.empty(len(rows))
        for part in blocks(len(rows)):
            found[part] = distances(p, self.shares(rows[part]), measure)
        return found

    def nearest(
        self, p: NDArray[np.float64], measure: str, n: int, among: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The ``n`` rows of ``among`` with the smallest distances to a mixture, and these; ties in their order there.

        Rows that cannot be among them, by a bound that is cheaper than the Jensen-Shannon distance, are left out.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.smoothed_counts import SmoothedCounts
        >>> rows = SmoothedCounts.from_counts(np.array([[4, 0], [3, 1], [0, 4]]), np.zeros(2))
        >>> found, distance = rows.nearest(np.array([1.0, 0.0]), "jensen-shannon", 2, np.arange(3))
        >>> found.tolist(), distance.round(3).tolist()
        ([0, 1], [0.0, 0.309])
        """
        rows = np.asarray(among, np.int64)
        if measure == "jensen-shannon" and self.alpha_sum == 0 and len(rows) > _MANY * n:
            bound = self._at_least(p)[rows]
            first = rows[np.argpartition(bound, n)[:n]]
            rows = rows[bound <= self._jensen_shannon(p, first).max(initial=0.0)]
        distance = self.some_distances(p, measure, rows)
        if len(rows) > _MANY * n:
            some = np.flatnonzero(distance <= np.partition(distance, n)[n])
            rows, distance = rows[some], distance[some]
        order = np.argsort(distance, kind="stable")[:n]
        return rows[order], distance[order]

    def log_likelihoods(self, word_topics: NDArray[np.float64], times: NDArray[Any]) -> NDArray[np.float64]:
        """Log probability of a bag of words under each row's mixture alone.

        ``word_topics`` is P(word | topic), topics × words; ``times`` the number of occurrences of each word.
        Cost: O(nonzero counts × distinct words).
        """
        weights = np.ascontiguousarray(word_topics), np.asarray(times, np.float64)
        return np.asarray(sparse.bag_log_likelihoods(*self._cells, self._room, self._prior @ weights[0], *weights))

    def word_probabilities(self, word_topics: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(word | row) of some words, rows × words; ``word_topics`` is P(word | topic), topics × words.

        Cost: O(nonzero counts × words).

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.smoothed_counts import SmoothedCounts
        >>> rows = SmoothedCounts.from_counts(np.array([[2, 0], [0, 2]]), np.ones(2))
        >>> rows.word_probabilities(np.array([[0.5], [0.1]])).round(3).tolist()
        [[0.4], [0.2]]
        """
        columns = np.ascontiguousarray(word_topics, np.float64)
        found = sparse.row_products(*self._cells, columns)
        if not self.alpha_sum:
            found[self._total == 0] = columns.mean(axis=0)
            return np.asarray(found / np.maximum(self._total, 1)[:, None])
        found += self._prior @ columns
        found /= self._room[:, None]
        return np.asarray(found)

    def kl_matrix(self, other: SmoothedCounts) -> NDArray[np.float64]:
        """KL(p‖q) + KL(q‖p) between all rows of this and of another over the same columns; both must be smoothed."""
        own = self._own_entropy[:, None] + other._own_entropy
        # Rounding can push zeros slightly below zero.
        return np.asarray(np.maximum(own - other._crosses(self) - self._crosses(other).T, 0.0))

    def overlaps(self, other: SmoothedCounts) -> NDArray[np.float64]:
        """Overlap Σ min(p, q) of all rows of this and of another over the same columns, without priors.

        1 for the same shares, 0 if no column has tokens in both. Only columns with tokens in both cost time.

        Examples
        --------
        >>> import numpy as np
        >>> from topoi.models.smoothed_counts import SmoothedCounts
        >>> rows = SmoothedCounts.from_counts(np.array([[3, 1, 0], [0, 2, 2], [0, 0, 0]]), np.ones(3))
        >>> rows.overlaps(rows).tolist()
        [[1.0, 0.25, 0.0], [0.25, 1.0, 0.0], [0.0, 0.0, 0.0]]
        """
        by_column = np.argsort(other._column, kind="stable")
        column_start = np.searchsorted(other._column[by_column], np.arange(len(other.alpha) + 1))
        row = np.repeat(np.arange(len(other)), np.diff(other._start))[by_column]
        q = other._number[by_column] / other._total[row]
        found = np.zeros((len(self), len(other)))
        for r in range(len(self)):
            here = slice(self._start[r], self._start[r + 1])
            at, start = row_positions(column_start, self._column[here])
            p = np.repeat(self._number[here] / self._total[r], np.diff(start)) if len(at) else np.zeros(0)
            found[r] = np.bincount(row[at], np.minimum(p, q[at]), len(other))
        return found

    def _crosses(self, others: SmoothedCounts) -> NDArray[np.float64]:
        """Σ p log q for all rows p of others and q of this; each logarithm is taken once."""
        lift = np.log1p(self._number / self._prior[self._column])
        base = np.log(self._prior)
        found = np.empty((len(others), len(self)))
        for r in range(len(others)):
            p = others.shares(r)[0]
            found[r] = sparse.weighted_sums(self._start, self._column, lift, p) + p @ base
        return found - np.log(self._room)

    @cached_property
    def _room(self) -> NDArray[np.float64]:
        """Sum of each row's weights; a tiny positive number for an empty row without prior, to divide by."""
        return np.maximum(self._total + self._prior_sum, 1e-300)

    @cached_property
    def _own_entropy(self) -> NDArray[np.float64]:
        """Σ q log q of each row."""
        beyond = sparse.entropy_sums(*self._cells, self._prior)
        return np.asarray((beyond + (self._prior * np.log(self._prior)).sum()) / self._room - np.log(self._room))

    @cached_property
    def _lifts(self) -> NDArray[np.float64]:
        return np.asarray(sparse.lift_table(self._prior, _LOOKED_UP))

    def _symmetrised_kl(self, p: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of some rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p, room = np.log(p), self._room[rows]
            n_log_p, lifts = sparse.divergence_parts(*self._cells, self._prior, self._lifts, p, log_p, rows)
            q_log_p = (n_log_p + self._prior @ log_p) / room
            p_log_q = lifts + p @ np.log(self._prior) - np.log(room)
            found = self._own_entropy[rows] - q_log_p - p_log_q + (p * log_p).sum()
        return np.asarray(np.maximum(found, 0.0))

    def _jensen_shannon(self, p: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of some rows."""
        divergence = sparse.divergence_sums(*self._cells, self._room, p, rows)
        even = self._total[rows] == 0
        if even.any():
            divergence[even] = distances(p, np.full((1, len(p)), 1.0 / len(p)), "jensen-shannon") ** 2
        return np.asarray(np.sqrt(np.maximum(divergence, 0.0)))

    def _at_least(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """A bound that no row's Jensen–Shannon distance is below: its divergence is at least log 2 · (1 − Σ √(p q))."""
        overlap = sparse.overlap_sums(*self._cells, np.sqrt(p)) / np.sqrt(self._room)
        bound = np.sqrt(np.maximum(math.log(2.0) * (1.0 - overlap) - _ROUNDING, 0.0))
        return np.asarray(np.where(self._total > 0, bound, 0.0))

    def _hellinger(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        beyond = sparse.root_sums(*self._cells, self._prior, np.sqrt(p))
        overlap = (beyond + np.sqrt(p) @ np.sqrt(self._prior)) / np.sqrt(self._room)
        if self.alpha_sum == 0:
            overlap[self._total == 0] = np.sqrt(p / len(p)).sum()
        return np.asarray(np.sqrt(np.maximum(1.0 - overlap, 0.0)))

    def _cosine(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        product = self._sums(p) + self._prior @ p
        length = np.sqrt(sparse.square_sums(*self._cells, self._prior) + (self._prior**2).sum())
        if self.alpha_sum == 0:
            empty = self._total == 0
            product[empty], length[empty] = p.mean(), np.sqrt(1.0 / len(p))
        return np.asarray(np.maximum(1.0 - product / (length * np.linalg.norm(p)), 0.0))


def count_pairs(row: NDArray[Any], column: NDArray[Any], n_columns: int) -> tuple[NDArray[Any], ...]:
    """Number of occurrences of each pair, in order: rows, columns, numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import count_pairs
    >>> [a.tolist() for a in count_pairs(np.array([0, 1, 0]), np.array([2, 0, 2]), 3)]
    [[0, 1], [2, 0], [2, 1]]
    """
    keys, number = np.unique(row.astype(np.int64) * n_columns + column, return_counts=True)
    return keys // n_columns, keys % n_columns, number


def whole_tokens(number: ArrayLike) -> NDArray[np.int64]:
    """Expected counts rounded to whole tokens, halves up, for display.

    Examples
    --------
    >>> from topoi.models.smoothed_counts import whole_tokens
    >>> whole_tokens([0.4, 0.5, 2.5]).tolist()
    [0, 1, 3]
    """
    return np.floor(np.asarray(number, np.float64) + 0.5).astype(np.int64)


def listed(
    row: NDArray[Any], column: NDArray[Any], number: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Expected counts to display: those that round to a whole token or more, rounded."""
    whole = whole_tokens(number)
    shown = whole > 0
    return row[shown], column[shown], whole[shown]


def sparse_rows(counts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Start of each row's counts, their columns and numbers, without zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import sparse_rows
    >>> [part.tolist() for part in sparse_rows(np.array([[0, 2], [1, 3]]))]
    [[0, 1, 3], [1, 0, 1], [2, 1, 3]]
    """
    row, column = np.nonzero(counts)
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(counts))))).astype(np.int64)
    return start, column.astype(np.int32), counts[row, column].astype(np.int64)


def count_topics(
    doc_start: NDArray[Any], topic: NDArray[Any], n_topics: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """``sparse_rows`` of documents × topics, from the topic of every token.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import count_topics
    >>> [part.tolist() for part in count_topics(np.array([0, 3, 4]), np.array([1, 0, 1, 1]), 2)]
    [[0, 2, 3], [0, 1, 1], [1, 2, 1]]
    """
    most = int(np.minimum(np.diff(doc_start), n_topics).sum())
    start, column, number = np.zeros(len(doc_start), np.int64), np.empty(most, np.int32), np.empty(most, np.int64)
    n = count_cells(doc_start, topic, np.zeros(n_topics, np.int64), start, column, number)
    return start, column[:n].copy(), number[:n].copy()


def count_samples(
    doc_start: NDArray[Any], samples: Sequence[NDArray[Any]], n_topics: int
) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.uint32]]:
    """``count_topics`` summed over samples; works in blocks of documents, a long one alone.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.smoothed_counts import count_samples
    >>> topics = [np.array([1, 0, 1, 1]), np.array([1, 1, 1, 0])]
    >>> [part.tolist() for part in count_samples(np.array([0, 3, 4]), topics, 2)]
    [[0, 2, 4], [0, 1, 0, 1], [1, 5, 1, 1]]
    """
    n = len(samples)
    ends: NDArray[Any]
    k: NDArray[Any]
    most = int(np.minimum(np.diff(doc_start) * n, n_topics).sum())
    start, column, number = np.zeros(len(doc_start), np.int64), np.empty(most, np.uint16), np.empty(most, np.uint32)
    for part in row_blocks(doc_start, BLOCK // n):
        own = doc_start[part.start : part.stop + 1]
        here, at = slice(own[0], own[-1]), start[part.start]
        if here.stop - here.start > BLOCK // n:
            sums = np.sum([occurrences(sample[here], n_topics) for sample in samples], axis=0)
            k = np.flatnonzero(sums)
            ends, times = np.array([0, len(k)]), sums[k]
        else:
            topics = np.stack([sample[here] for sample in samples], axis=1, dtype=np.uint16, casting="unsafe")
            ends, k, times = count_topics((own - own[0]) * n, topics.ravel(), n_topics)
        release(*(sample[here] for sample in samples))
        start[part.start + 1 : part.stop + 1] = at + ends[1:]
        column[at : at + len(k)], number[at : at + len(k)] = k, times
    return start, column[: start[-1]], number[: start[-1]]


def blocks(n_rows: int) -> Iterator[slice]:
    """Slices that cover all rows, each small enough to process at once."""
    return ranges(n_rows, _ROWS_AT_ONCE)


def _shares(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Rows divided by their sums; a row of zeros becomes uniform."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.maximum(totals, 1e-300), 1.0 / counts.shape[1])
