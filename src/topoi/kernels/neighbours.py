"""Nearest neighbours of sparse rows of unit length, exactly, and their probabilities for a neighbour embedding.

Rows are square roots of shares, so that a scalar product is the Bhattacharyya coefficient of two documents and the
distance is Hellinger's. Every row is computed alone, so that the bits do not depend on the number of threads.
"""

from __future__ import annotations

import math

import numpy as np

from topoi.kernels.jit import compiled, lean

_MOST_HALVINGS = 64
_CLOSE_ENOUGH = 1e-5


@compiled
def nearest_rows(first, last, k, start, column, value, list_start, list_row, list_value, found, squared):
    """Set the ``k`` rows with the largest products with each of the rows ``first`` to ``last``, the nearest first.

    Rows are given twice: row by row (``start``, ``column``, ``value``) and column by column (``list_…``), so that only
    rows that share a column are multiplied. Ties go to the row that comes next in order, from the last to the first
    again, so that equal rows do not all name the same few. Sets ``found`` and ``squared``, the squared distances.
    Cost: O(Σ over the row's columns of the lengths of their lists + rows) per row.
    """
    n_rows = start.shape[0] - 1
    product = np.empty(n_rows, np.float32)
    heap = np.empty(k, np.float32)
    who = np.empty(k, np.int32)
    for d in range(first, last):
        product[:] = 0.0
        for i in range(start[d], start[d + 1]):
            c, v = column[i], value[i]
            for j in range(list_start[c], list_start[c + 1]):
                product[list_row[j]] += v * list_value[j]
        n = 0
        for e in range(d + 1, n_rows):
            n = _offer(heap, who, n, product[e], e)
        for e in range(d):
            n = _offer(heap, who, n, product[e], e)
        _sort_heap(heap, who, n)
        for i in range(k):
            found[d, i] = who[i]
            squared[d, i] = max(2.0 - 2.0 * np.float64(heap[i]), 0.0)


@lean
def _offer(heap, who, n, value, row):
    """Put a value into a heap of the largest if it belongs there; its root is the smallest. Return the size."""
    k = heap.shape[0]
    if n < k:
        i = n
        while i > 0 and heap[(i - 1) // 2] > value:
            heap[i], who[i] = heap[(i - 1) // 2], who[(i - 1) // 2]
            i = (i - 1) // 2
        heap[i], who[i] = value, row
        return n + 1
    if value > heap[0]:
        _sift(heap, who, k, value, row)
    return n


@lean
def _sift(heap, who, n, value, row):
    """Replace the root of the first ``n`` by a value."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[i], who[i] = heap[child], who[child]
        i = child
    heap[i], who[i] = value, row


@lean
def _sort_heap(heap, who, n):
    """Sort a heap, the largest first."""
    for last in range(n - 1, 0, -1):
        value, row = heap[last], who[last]
        heap[last], who[last] = heap[0], who[0]
        _sift(heap, who, last, value, row)


@lean
def neighbour_probabilities(first, last, squared, perplexity, probability):
    """Set P(neighbour | row) ∝ exp(−b · squared distance), with b such that each row has the given perplexity.

    Rows whose distances are all equal have equal probabilities, whatever their perplexity. Van der Maaten and Hinton
    (2008), equation 1; b by bisection.
    """
    k = squared.shape[1]
    wanted = math.log(perplexity)
    for d in range(first, last):
        nearest = squared[d, 0]
        b, low, high = 1.0, 0.0, math.inf
        for _ in range(_MOST_HALVINGS):
            total, weighted = 0.0, 0.0
            for i in range(k):
                gap = squared[d, i] - nearest
                p = math.exp(-b * gap)
                probability[d, i] = p
                total += p
                weighted += p * gap
            entropy = math.log(total) + b * weighted / total
            if abs(entropy - wanted) < _CLOSE_ENOUGH:
                break
            if entropy > wanted:
                low = b
                b = 2.0 * b if high == math.inf else 0.5 * (b + high)
            else:
                high = b
                b = 0.5 * (b + low)
        for i in range(k):
            probability[d, i] /= total
