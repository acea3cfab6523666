"""Cholesky factors without the interpreter's lock: scipy's results."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from topoi.models.kernel_topic import cholesky


def _matrix(n: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, n))
    return rows @ rows.T + n * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 200])
def test_results_are_those_of_scipy(n: int) -> None:
    matrix, right = _matrix(n), np.random.default_rng(1).normal(size=(n, 3))
    factor = cholesky.cholesky(matrix)
    np.testing.assert_allclose(factor, linalg.cholesky(matrix, lower=True), rtol=1e-12, atol=1e-12)
    assert not np.triu(factor, 1).any()
    np.testing.assert_allclose(cholesky.inverse(factor) @ matrix, np.eye(n), atol=1e-10)
    np.testing.assert_allclose(
        cholesky.solve_lower(factor, right), linalg.solve_triangular(factor, right, lower=True), rtol=1e-10
    )
    np.testing.assert_allclose(matrix @ cholesky.solve(factor, right[:, 0]), right[:, 0], rtol=1e-9, atol=1e-9)


def test_what_is_given_stays_as_it_is() -> None:
    matrix, right = np.asfortranarray(_matrix(5)), np.asfortranarray(np.ones((5, 2)))
    before = matrix.copy()
    factor = cholesky.cholesky(matrix)
    kept = factor.copy()
    cholesky.inverse(factor), cholesky.solve(factor, right)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(factor, kept)
    np.testing.assert_array_equal(right, 1.0)


def test_bad_matrices_are_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="leading 2 rows"):
        cholesky.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="square"):
        cholesky.cholesky(np.ones((2, 3)))
    with pytest.raises(ValueError, match="3 rows"):
        cholesky.solve(np.eye(3), np.ones(2))
