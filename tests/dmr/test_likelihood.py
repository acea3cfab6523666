"""Value, gradient and curvature of the coefficients' posterior, against definitions and finite differences."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import gammaln

from topoi.models.dmr import grouping, likelihood
from topoi.models.dmr.grouping import grouped, same_rows
from topoi.models.dmr.likelihood import (
    Density,
    Gaussian,
    GroupedCells,
    TopicCells,
    alpha_rows,
    covariance,
    curvature,
    linear_covariance,
    log_counts,
    maximise,
    objective,
    standard_errors,
)
from topoi.models.dmr.selection import held_out, some_cells


def cells_of(counts):
    d, k = np.nonzero(counts)
    start = np.searchsorted(d, np.arange(len(counts) + 1))
    return TopicCells(start.astype(np.int64), k.astype(np.int64), counts[d, k].astype(float), counts.sum(axis=1) * 1.0)


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    design = csr_matrix(np.column_stack([np.ones(12), rng.integers(0, 2, 12), rng.standard_normal(12)]))
    counts = rng.poisson(3.0, (12, 4)) * rng.integers(0, 2, (12, 4)) * rng.choice([1, 9], (12, 1))
    counts[3] = 0
    prior = Gaussian(rng.standard_normal((4, 3)) * 0.1, np.array([10.0, 0.5, 0.7]))
    return design, counts, prior, rng.standard_normal((4, 3)) * 0.7


def by_definition(design, counts, prior, x):
    alpha = np.exp(design @ x.T)
    whole = alpha.sum(axis=1)
    value = (gammaln(whole) - gammaln(whole + counts.sum(axis=1))).sum()
    value += (gammaln(alpha + counts) - gammaln(alpha)).sum()
    return value - ((x - prior.mean) ** 2 / (2 * prior.variance)).sum()


def test_value_is_the_definition(problem):
    design, counts, prior, x = problem
    assert objective(design, cells_of(counts), x, prior)[0] == pytest.approx(by_definition(*problem), rel=1e-12)
    alpha = alpha_rows(design, x)
    away = ((x - prior.mean) ** 2 / (2 * prior.variance)).sum()
    assert log_counts(cells_of(counts), alpha) == pytest.approx(by_definition(*problem) + away, rel=1e-12)


@pytest.fixture
def repeated():
    """Documents with one of three rows of features, some of them with the same counts."""
    rng = np.random.default_rng(2)
    rows = np.array([[1.0, 0.0, 0.3], [1.0, 1.0, -0.4], [1.0, 1.0, 0.3]])[rng.integers(0, 3, 40)]
    counts = rng.poisson(1.0, (40, 4)) * rng.choice([1, 9], (40, 1))
    counts[:, 2] *= rows[:, 1] == 0.0
    prior = Gaussian(rng.standard_normal((4, 3)) * 0.1, np.array([10.0, 0.5, 0.7]))
    return csr_matrix(rows), counts, prior, rng.standard_normal((4, 3)) * 0.7


def test_documents_with_the_same_features_are_taken_together(repeated):
    design, counts, prior, x = repeated
    together, cells = grouped(same_rows(design), design, cells_of(counts))
    assert together.shape == (3, 3) and isinstance(cells, GroupedCells)
    assert cells.times.sum() == np.count_nonzero(counts) and cells.times.max() > 1
    value, gradient = objective(together, cells, x, prior)
    alone = objective(design, cells_of(counts), x, prior)
    assert value == pytest.approx(by_definition(*repeated), rel=1e-12)
    np.testing.assert_allclose(gradient, alone[1], rtol=1e-10)
    own, shared = curvature(cells, alpha_rows(together, x))
    group = same_rows(design).group
    for each, of_documents in zip((own.T, [shared]), curvature(cells_of(counts), alpha_rows(design, x)), strict=True):
        for found, one in zip(each, of_documents.reshape(len(group), -1).T, strict=True):
            np.testing.assert_allclose(found, np.bincount(group, one), rtol=1e-10)


def test_blocks_on_threads_have_the_same_bits(monkeypatch, problem):
    monkeypatch.setattr(likelihood, "_CELLS_IN_BLOCK", 5)
    design, counts, prior, x = problem
    density = Density(design, cells_of(counts), prior)
    assert len(density._parts) > 3
    value, gradient = density.at(x)
    with ThreadPoolExecutor(3) as threads:
        shared = Density(design, cells_of(counts), prior, threads).at(x)
    assert value == shared[0] == pytest.approx(by_definition(*problem), rel=1e-12)
    np.testing.assert_array_equal(gradient, shared[1])
    monkeypatch.undo()
    np.testing.assert_allclose(gradient, objective(design, cells_of(counts), x, prior)[1], rtol=1e-10)


@pytest.mark.parametrize("room", [0, 10**6])
def test_pairs_are_counted_by_sorting_or_without(monkeypatch, room):
    monkeypatch.setattr(grouping, "_ROOM", room)
    key, number, times = grouping._distinct(np.array([3, 0, 3, 3]), np.array([1.0, 0.0, 1.0, 2.0]))
    assert (key.tolist(), number.tolist(), times.tolist()) == ([0, 3, 3], [0.0, 1.0, 2.0], [1.0, 2.0, 1.0])


def test_rows_that_differ_or_counts_that_are_not_whole_stay_apart(problem, repeated):
    assert same_rows(problem[0]) is None
    design, counts, _, _ = repeated
    halves = cells_of(counts)._replace(number=cells_of(counts).number + 0.5)
    assert grouped(same_rows(design), design, halves) == (design, halves)


def test_gradient_equals_finite_differences(problem):
    design, counts, prior, x = problem
    gradient = objective(design, cells_of(counts), x, prior)[1]
    for k in range(4):
        for f in range(3):
            step = np.zeros_like(x)
            step[k, f] = 1e-5
            ends = [by_definition(design, counts, prior, x + s * step) for s in (1, -1)]
            assert gradient[k, f] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)


def hessian(problem, x):
    design, counts, prior, _ = problem
    size = x.size
    found = np.empty((size, size))
    for i in range(size):
        step = np.zeros(size)
        step[i] = 1e-5
        ends = [objective(design, cells_of(counts), x + (s * step).reshape(x.shape), prior)[1] for s in (1, -1)]
        found[i] = ((ends[0] - ends[1]) / 2e-5).ravel()
    return found


def test_covariance_is_the_inverse_of_the_curvature(problem, monkeypatch):
    design, counts, prior, start = problem
    mode = maximise(design, cells_of(counts), start, prior, 1000)
    curved = -hessian(problem, mode)
    found = covariance(design, cells_of(counts), mode, prior)
    np.testing.assert_allclose(found.reshape(12, 12), np.linalg.inv(curved), rtol=1e-4, atol=1e-6)
    # Too many coefficients for the whole matrix: the topics' own blocks, inverted one by one.
    monkeypatch.setattr("topoi.models.dmr.likelihood._MOST_UNKNOWNS", 0)
    blocks = covariance(design, cells_of(counts), mode, prior)
    for k in range(4):
        own = curved.reshape(4, 3, 4, 3)[k, :, k]
        np.testing.assert_allclose(blocks[k], np.linalg.inv(own), rtol=1e-4, atol=1e-6)
    monkeypatch.setattr("topoi.models.dmr.likelihood._MOST_NUMBERS", 0)
    alone = covariance(design, cells_of(counts), mode, prior)
    np.testing.assert_allclose(alone, 1.0 / np.diagonal(curved).reshape(4, 3), rtol=1e-4)
    for each, expected in ((found, np.linalg.inv(curved)), (alone, np.diag(alone.ravel()))):
        np.testing.assert_allclose(standard_errors(each), np.sqrt(np.diagonal(expected)).reshape(4, 3), rtol=1e-4)
    np.testing.assert_allclose(standard_errors(blocks)[1], np.sqrt(np.diagonal(blocks[1])))
    np.testing.assert_allclose(np.diagonal(linear_covariance(design, alone)[5]), alone @ design.toarray()[5] ** 2)
    assert linear_covariance(design, blocks).shape == linear_covariance(design, found).shape == (12, 4, 4)
    dense = design.toarray()
    expected = [[dense[2] @ found[k, :, j] @ dense[2] for j in range(4)] for k in range(4)]
    np.testing.assert_allclose(linear_covariance(design, found)[2], expected, rtol=1e-9)


def test_maximise_finds_a_mode_and_never_falls(problem):
    design, counts, prior, start = problem
    cells = cells_of(counts)
    values = [objective(design, cells, maximise(design, cells, start, prior, n), prior)[0] for n in (1, 5, 20, 1000)]
    assert objective(design, cells, start, prior)[0] < values[0]
    assert all(b >= a - 1e-9 for a, b in zip(values, values[1:], strict=False))
    mode = maximise(design, cells, start, prior, 1000)
    assert np.abs(objective(design, cells, mode, prior)[1]).max() < 1e-2


def test_alpha_stays_in_range():
    rows = alpha_rows(csr_matrix(np.array([[1.0], [-1.0]])), np.array([[1e4], [0.0]]))
    assert rows.max() == pytest.approx(1e6) and rows.min() == pytest.approx(1e-6)


def test_coefficients_are_recovered_from_counts():
    rng = np.random.default_rng(0)
    n = 3000
    design = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.standard_normal(n)])
    truth = np.array([[0.2, 1.0, -0.5], [-0.4, -0.8, 0.0], [0.0, 0.3, 0.7]])
    shares = [rng.dirichlet(row) for row in np.exp(design @ truth.T)]
    counts = np.array([rng.multinomial(50, share) for share in shares])
    prior = Gaussian(np.zeros((3, 3)), np.full(3, 100.0))
    sparse = csr_matrix(design)
    found = maximise(sparse, cells_of(counts), prior.mean, prior, 1000)
    error = np.sqrt(np.diagonal(covariance(sparse, cells_of(counts), found, prior).reshape(9, 9))).reshape(3, 3)
    assert np.abs((found - truth) / error).max() < 4
    assert error.max() < 0.1


def test_held_out_score_prefers_a_sensible_variance(problem):
    rng = np.random.default_rng(3)
    group = rng.integers(0, 30, 200)
    design = csr_matrix(np.column_stack([np.ones(200), np.eye(30)[group]]))
    effect = rng.standard_normal((30, 3)) * 0.7
    counts = np.array([rng.multinomial(30, rng.dirichlet(np.exp(effect[g]))) for g in group])
    prior = [Gaussian(np.zeros((3, 31)), np.r_[10.0, np.full(30, v)]) for v in (1e-4, 0.5, 1e3)]
    low, good, high = held_out(design, cells_of(counts), prior)
    assert good > low and good > high
    part = some_cells(cells_of(counts), np.array([5, 2]))
    again = cells_of(counts[[5, 2]])
    assert all(np.array_equal(a, b) for a, b in zip(part, again, strict=True))
