"""Cholesky factors and what is solved with them, several at a time.

scipy's functions hold the interpreter's lock while LAPACK works: on two threads they take turns. Here the same routines
are called by their addresses, with the lock released, so that threads work side by side. Results are scipy's.
"""

# numba infers the types of compiled loops.
# mypy: allow-untyped-defs, allow-incomplete-defs, no-check-untyped-defs
from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

from topoi.kernels.jit import lean

Array = NDArray[np.float64]
_LOWER, _PLAIN, _TRANSPOSED, _LEFT = (ctypes.c_char(letter) for letter in (b"L", b"N", b"T", b"L"))


# Matrices of LAPACK have their columns together in memory: these are of the transposed ones, whose rows are.


@lean
def _clear(rows):
    """Set what is below the diagonal to zero."""
    for i in range(rows.shape[0]):
        for j in range(i):
            rows[i, j] = 0.0


@lean
def _mirror(rows):
    """Copy what is above the diagonal below it."""
    for i in range(rows.shape[0]):
        for j in range(i):
            rows[i, j] = rows[j, i]


@cache
def _routine(library: str, name: str, n_arguments: int) -> Any:
    address = get_cython_function_address(f"scipy.linalg.cython_{library}", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)


def _whole(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


def cholesky(matrix: Array) -> Array:
    """Lower factor of a symmetric matrix, columns together in memory.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    found, info = np.array(matrix, np.float64, order="F"), ctypes.c_int(0)
    n = _whole(_order(found))
    _routine("lapack", "dpotrf", 5)(ctypes.byref(_LOWER), n, found.ctypes.data, n, ctypes.byref(info))
    if info.value:
        raise np.linalg.LinAlgError(f"the leading {info.value} rows of the matrix are not positive definite")
    _clear(found.T)
    return found


def inverse(factor: Array) -> Array:
    """Inverse of the matrix that has this lower factor.

    Examples
    --------
    >>> inverse(np.array([[2.0, 0.0], [1.0, 2.0]])) @ [[4.0, 2.0], [2.0, 5.0]]
    array([[1., 0.],
           [0., 1.]])
    """
    found, info = np.array(factor, np.float64, order="F"), ctypes.c_int(0)
    n = _whole(_order(found))
    _routine("lapack", "dpotri", 5)(ctypes.byref(_LOWER), n, found.ctypes.data, n, ctypes.byref(info))
    _mirror(found.T)
    return found


def solve_lower(factor: Array, right: Array) -> Array:
    """L⁻¹ B for a lower factor L.

    Examples
    --------
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([[2.0], [5.0]]))
    array([[1.],
           [2.]])
    """
    return _solved(factor, right, _PLAIN)


def solve(factor: Array, right: Array) -> Array:
    """M⁻¹ B for the matrix M = L Lᵀ of a lower factor L; B may be a vector.

    Examples
    --------
    >>> solve(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([6.0, 7.0]))
    array([1., 1.])
    """
    return _solved(factor, _solved(factor, right, _PLAIN), _TRANSPOSED)


def _solved(factor: Array, right: Array, form: ctypes.c_char) -> Array:
    factor, found = np.asarray(factor, np.float64, order="F"), np.array(right, np.float64, order="F")
    n = _order(factor)
    if found.shape[:1] != (n,):
        raise ValueError(f"a factor of {n} rows cannot solve for an array of shape {found.shape}")
    columns, one = found.size // max(n, 1), ctypes.c_double(1.0)
    rows = _whole(max(n, 1))
    _routine("blas", "dtrsm", 11)(
        ctypes.byref(_LEFT), ctypes.byref(_LOWER), ctypes.byref(form), ctypes.byref(_PLAIN), _whole(n), _whole(columns),
        ctypes.byref(one), factor.ctypes.data, rows, found.ctypes.data, rows,
    )  # fmt: skip
    return found


def _order(matrix: Array) -> int:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a square matrix is needed, and this has shape {matrix.shape}")
    return len(matrix)
