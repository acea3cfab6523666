"""Sums over the counts of sparse rows that are not zero: what comparing one distribution with many comes down to.

Rows are ``start[r]:start[r + 1]`` of ``column`` and ``number``. With a prior ``alpha`` per column, a row's weights are
n + alpha; a sum over all columns is then the prior's own, which all rows share, and what the counts add to it.
"""

from __future__ import annotations

import numpy as np

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
def lifted_sums(start, column, number, alpha, weight):
    """Σ (log(n + alpha) − log alpha) · weight of each row."""
    sums = np.zeros(len(start) - 1)
    # Most numbers are small, and alpha is often the same for all: their logarithms are looked up.
    even, table = True, np.empty(1024)
    for k in range(len(alpha)):
        even &= alpha[k] == alpha[0]
    for n in range(len(table)):
        table[n] = np.log1p(n / alpha[0])
    for r in range(len(sums)):
        for i in range(start[r], start[r + 1]):
            n, k = number[i], column[i]
            lift = table[n] if even and n < len(table) else np.log1p(n / alpha[k])
            sums[r] += lift * weight[k]
    return sums


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
def divergence_sums(start, column, number, room, p):
    """The Jensen–Shannon divergence of ``p`` from each row n / room; no prior.

    Where p is zero a row's share counts fully, and where the row is zero p's does: only the columns that both have
    need logarithms.
    """
    found = np.zeros(len(start) - 1)
    for r in range(len(found)):
        both, q_alone, p_shared = 0.0, 0.0, 0.0
        for i in range(start[r], start[r + 1]):
            q, own = number[i] / room[r], p[column[i]]
            if own > 0.0:
                middle = (q + own) / 2.0
                both += q * np.log(q / middle) + own * np.log(own / middle)
                p_shared += own
            else:
                q_alone += q
        found[r] = (both + np.log(2.0) * (q_alone + 1.0 - p_shared)) / 2.0
    return found


@inlined
def log_product(weight, times):
    """Σ times · log weight, for whole times; a logarithm for many weights at once, whose product it is of."""
    total, product = 0.0, 1.0
    for j in range(len(weight)):
        if times[j] > 4.0:
            total += times[j] * np.log(weight[j])
            continue
        for _ in range(int(times[j])):
            product *= weight[j]
        if product < 1e-200:  # four more weights, each above 1e-25, are still far from nothing
            total += np.log(product)
            product = 1.0
    return total + np.log(product)


@compiled
def bag_log_likelihoods(start, column, number, room, prior, columns, times):
    """Σ times · log((prior + Σ n · columns) / room) of each row: a bag of words under each row's mixture.

    ``columns`` is columns × words, ``prior`` what the smoothing alone gives each word. Some words at a time, so that
    their columns stay in the processor's cache. Going only through the columns that a word occurs in was slower:
    common words occur in many, and these loops vectorise.
    """
    found = np.zeros(len(start) - 1)
    for first in range(0, len(prior), _WORDS_AT_ONCE):
        last = min(first + _WORDS_AT_ONCE, len(prior))
        some, often = columns[:, first:last].copy(), times[first:last]
        weight = np.empty(last - first)
        for r in range(len(found)):
            weight[:] = prior[first:last]
            for i in range(start[r], start[r + 1]):
                n, k = np.float64(number[i]), column[i]
                for j in range(len(weight)):  # written out: an expression of arrays would make one anew each time
                    weight[j] += n * some[k, j]
            found[r] += log_product(weight, often)
    n_times = times.sum()
    for r in range(len(found)):
        found[r] -= n_times * np.log(room[r])
    return found
