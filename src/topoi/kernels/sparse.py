"""Sums over the nonzero counts of sparse rows, for comparing one distribution with many; and sets of small integers.

Rows are ``start[r]:start[r + 1]`` of ``column`` and ``number`` (CSR). With a prior ``alpha`` per column, the weights of
a row are n + alpha; a sum over all columns is then the sum for the prior alone, which all rows share, plus a correction
from the nonzero counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.kernels.jit import compiled, inlined

_WORDS_AT_ONCE = 128


@compiled
def weighted_sums(start, column, number, weight):
    """Σ n · weight of each row."""
    sums = np.zeros(len(start) - 1)
    for r in range(len(sums)):
        for i in range(start[r], start[r + 1]):
            sums[r] += number[i] * weight[column[i]]
    return sums


@compiled
def row_products(start, column, number, columns):
    """Σ n · columns of each row, for several words at once: rows × words. ``columns`` is columns × words."""
    n_words = columns.shape[1]
    found = np.zeros((len(start) - 1, n_words))
    for r in range(len(found)):
        own = found[r]
        for i in range(start[r], start[r + 1]):
            n, k = np.float64(number[i]), column[i]
            for j in range(n_words):
                own[j] += n * columns[k, j]
    return found


@compiled
def lift_table(alpha, width):
    """log(n + alpha) − log alpha for n below ``width``: columns × numbers."""
    table = np.empty((len(alpha), width))
    for k in range(len(alpha)):
        for n in range(width):
            table[k, n] = np.log1p(n / alpha[k])
    return table


@compiled
def divergence_parts(start, column, number, alpha, table, p, log_p, rows):
    """Σ n · log p and Σ (log(n + alpha) − log alpha) · p of some rows; most counts are small and looked up."""
    own, other = np.zeros(len(rows)), np.zeros(len(rows))
    width = table.shape[1]
    for at in range(len(rows)):
        r, first, second = rows[at], 0.0, 0.0
        for i in range(start[r], start[r + 1]):
            n, k = np.int64(number[i]), column[i]
            first += n * log_p[k]
            second += (table[k, n] if n < width else np.log1p(n / alpha[k])) * p[k]
        own[at], other[at] = first, second
    return own, other


@compiled
def entropy_sums(start, column, number, alpha):
    """Σ (n + alpha) log(n + alpha) − alpha log alpha of each row."""
    sums = np.zeros(len(start) - 1)
    for r in range(len(sums)):
        for i in range(start[r], start[r + 1]):
            a = alpha[column[i]]
            sums[r] += (number[i] + a) * np.log(number[i] + a) - a * np.log(a)
    return sums


@compiled
def root_sums(start, column, number, alpha, weight):
    """Σ (√(n + alpha) − √alpha) · weight of each row."""
    sums = np.zeros(len(start) - 1)
    for r in range(len(sums)):
        for i in range(start[r], start[r + 1]):
            a = alpha[column[i]]
            sums[r] += (np.sqrt(number[i] + a) - np.sqrt(a)) * weight[column[i]]
    return sums


@compiled
def square_sums(start, column, number, alpha):
    """Σ (n + alpha)² − alpha² of each row."""
    sums = np.zeros(len(start) - 1)
    for r in range(len(sums)):
        for i in range(start[r], start[r + 1]):
            n = float(number[i])
            sums[r] += n * n + 2.0 * n * alpha[column[i]]
    return sums


@compiled
def overlap_sums(start, column, number, root):
    """Σ √n · root of each row; the roots of small counts are looked up."""
    table = np.sqrt(np.arange(1024.0))
    sums = np.zeros(len(start) - 1)
    for r in range(len(sums)):
        total = 0.0
        for i in range(start[r], start[r + 1]):
            n = np.int64(number[i])
            total += (table[n] if n < 1024 else np.sqrt(np.float64(n))) * root[column[i]]
        sums[r] = total
    return sums


@compiled
def divergence_sums(start, column, number, room, p, rows):
    """Jensen–Shannon divergence of ``p`` from some rows n / room, without a prior.

    A column where only one of the two is nonzero contributes its share times log 2 / 2, so that only columns that both
    have need logarithms.
    """
    found = np.zeros(len(rows))
    for at in range(len(rows)):
        r = rows[at]
        both, q_alone, p_shared = 0.0, 0.0, 0.0
        for i in range(start[r], start[r + 1]):
            q, own = number[i] / room[r], p[column[i]]
            if own > 0.0:
                middle = (q + own) / 2.0
                both += q * np.log(q / middle) + own * np.log(own / middle)
                p_shared += own
            else:
                q_alone += q
        found[at] = (both + np.log(2.0) * (q_alone + 1.0 - p_shared)) / 2.0
    return found


@inlined
def log_product(weight, times):
    """Σ times · log weight, for integer times; multiplies many weights before taking one logarithm."""
    total, product = 0.0, 1.0
    for j in range(len(weight)):
        if times[j] > 4.0:
            total += times[j] * np.log(weight[j])
            continue
        for _ in range(int(times[j])):
            product *= weight[j]
        if product < 1e-200:  # four more factors above 1e-25 do not underflow
            total += np.log(product)
            product = 1.0
    return total + np.log(product)


@compiled
def bag_log_likelihoods(start, column, number, room, prior, columns, times):
    """Σ times · log((prior + Σ n · columns) / room) of each row: log likelihood of a bag of words under each mixture.

    ``columns`` is columns × words; ``prior`` is each word's part from smoothing alone. Words are processed in blocks,
    so that their columns stay in the processor's cache. Visiting only the columns that a word occurs in was slower:
    common words occur in many, and these loops vectorise.
    """
    found = np.zeros(len(start) - 1)
    for first in range(0, len(prior), _WORDS_AT_ONCE):
        last = min(first + _WORDS_AT_ONCE, len(prior))
        some, often = columns[:, first:last].copy(), times[first:last]
        weight = np.empty(last - first)
        for r in range(len(found)):
            for j in range(len(weight)):  # an assignment of arrays takes numba three seconds to compile
                weight[j] = prior[first + j]
            for i in range(start[r], start[r + 1]):
                n, k = np.float64(number[i]), column[i]
                for j in range(len(weight)):  # explicit loop: an array expression would allocate
                    weight[j] += n * some[k, j]
            found[r] += log_product(weight, often)
    n_times = times.sum()
    for r in range(len(found)):
        found[r] -= n_times * np.log(room[r])
    return found


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
