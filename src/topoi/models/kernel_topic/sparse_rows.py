"""Product of a sparse matrix and a few columns, compiled; rows in ranges, for several threads."""

from __future__ import annotations

from topoi.kernels.jit import compiled


@compiled
def multiply_rows(start, index, value, columns, first, last, result):
    """Set rows ``first`` to ``last`` of ``result`` to those of the product; O(entries × columns).

    Each row is summed in the order of its entries, whatever the ranges.
    """
    n_columns = columns.shape[1]
    for d in range(first, last):
        for k in range(n_columns):
            result[d, k] = 0.0
        for i in range(start[d], start[d + 1]):
            other, weight = index[i], value[i]
            for k in range(n_columns):
                result[d, k] += weight * columns[other, k]
