"""The Laplace bridge and the projection by KL."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, psi

import topoi
from topoi.errors import ModelError
from topoi.models.gaussian_points import standard_points
from topoi.models.kernel_topic.laplace_bridge import (
    from_expected_logs,
    project,
    to_dirichlet,
    to_gaussian,
)


@given(st.lists(st.floats(-6, 6), min_size=2, max_size=60))
def test_a_round_trip_is_the_identity(exponents: list[float]) -> None:
    alpha = 10.0 ** np.array(exponents)
    assert to_dirichlet(*to_gaussian(alpha)) == pytest.approx(alpha, rel=1e-11)


def test_the_last_axis_is_topics() -> None:
    alpha = np.random.default_rng(0).gamma(0.5, size=(3, 4, 5)) + 1e-3
    mean, variance = topoi.laplace_bridge.to_gaussian(alpha)
    assert mean.shape == variance.shape == alpha.shape
    assert np.allclose(mean.sum(axis=-1), 0.0, atol=1e-12)
    assert np.allclose(to_dirichlet(mean, variance), alpha)
    assert np.allclose(to_gaussian(alpha[1, 2])[1], variance[1, 2], rtol=1e-15)


def test_the_gaussian_is_the_laplace_approximation() -> None:
    """The covariance by brute force: the inverse of the Hessian on the subspace Σ y = 0."""
    alpha = np.array([0.3, 2.0, 5.0, 1.1])
    share = alpha / alpha.sum()
    hessian = alpha.sum() * (np.diag(share) - np.outer(share, share))
    covariance = np.linalg.pinv(hessian)
    mean, variance = to_gaussian(alpha)
    assert np.allclose(np.exp(mean) / np.exp(mean).sum(), share)
    assert np.allclose(np.diag(covariance), variance)


def test_a_constant_in_the_mean_changes_nothing_however_large() -> None:
    mean, variance = to_gaussian([3.0, 0.2, 1e-4])
    assert to_dirichlet(mean + 800.0, variance) == pytest.approx([3.0, 0.2, 1e-4], rel=1e-9)


@pytest.mark.parametrize("n_topics", [2, 10, 50])
def test_expected_logs_are_inverted(n_topics: int) -> None:
    alpha = 10.0 ** np.random.default_rng(1).uniform(-2, 5, (200, n_topics))
    expected = psi(alpha) - psi(alpha.sum(axis=1, keepdims=True))
    found = from_expected_logs(expected)
    assert np.allclose(psi(found) - psi(found.sum(axis=1, keepdims=True)), expected, rtol=1e-6, atol=1e-8)
    assert np.allclose(found, alpha, rtol=1e-3)


def test_the_projection_keeps_the_expected_log_shares() -> None:
    rng = np.random.default_rng(2)
    mean = rng.normal(size=(3, 6))
    factor = rng.normal(size=(3, 6, 6)) * 0.4
    covariance = factor @ factor.transpose(0, 2, 1) + 0.1 * np.eye(6)
    alpha = project(mean, covariance, 4096)
    for d in range(3):
        y = rng.multivariate_normal(mean[d], covariance[d], 200_000)
        expected = (y - logsumexp(y, axis=1, keepdims=True)).mean(axis=0)
        assert psi(alpha[d]) - psi(alpha[d].sum()) == pytest.approx(expected, abs=0.02)


def test_diagonal_and_full_covariances_agree() -> None:
    mean, variance = np.array([0.5, -1.0, 0.2]), np.array([0.3, 1.0, 2.0])
    assert project(mean, variance) == pytest.approx(project(mean, np.diag(variance)), rel=0.05)


def test_as_many_documents_as_topics_are_no_matrix() -> None:
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=(3, 3)), rng.gamma(2.0, size=(3, 3))
    assert project(mean, variance) == pytest.approx(np.stack(list(map(project, mean, variance))))
    assert project(mean[None], variance[None]).shape == (1, 3, 3)


def test_standard_points_are_standard() -> None:
    points = standard_points(10, 1000)
    assert points.mean(axis=0) == pytest.approx(np.zeros(10), abs=1e-12)
    assert points.T @ points / 1000 == pytest.approx(np.eye(10), abs=0.15)
    assert np.diag(points.T @ points / 1000) == pytest.approx(np.ones(10))
    assert (np.abs(points) < 0.6745).mean() == pytest.approx(0.5, abs=0.02)


def test_the_projection_is_always_the_same() -> None:
    assert (project([0.1, 0.2], [1.0, 1.0]) == project([0.1, 0.2], [1.0, 1.0])).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: to_gaussian([1.0]), "at least two"),
        (lambda: to_gaussian([1.0, 0.0]), "positive"),
        (lambda: to_gaussian([1.0, np.nan]), "positive"),
        (lambda: to_gaussian(["a", "b"]), "numbers"),
        (lambda: to_dirichlet([0.0, 0.0], [1.0, -1.0]), "positive"),
        (lambda: to_dirichlet([0.0, np.inf], [1.0, 1.0]), "finite"),
        (lambda: to_dirichlet([0.0, 0.0, 0.0], [1.0, 1.0]), "agree"),
        (lambda: project([0.0, 0.0], [1.0, 0.0]), "positive"),
        (lambda: project([0.0, 0.0], [1.0, 1.0], n_draws=1), "at least 2"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()


def elliptical_slices(rng, counts, mean, factor, n_sweeps: int) -> np.ndarray:
    """Samples of y given counts of topics and a Gaussian prior (Murray et al. 2010)."""

    def log_p(y):
        return counts @ y - n_words * np.log(np.exp(y).sum())

    y, kept, n_words = mean.copy(), [], counts.sum()
    for _ in range(n_sweeps):
        nu = factor @ rng.normal(size=len(mean))
        threshold = log_p(y) + np.log(rng.uniform())
        angle = rng.uniform(0, 2 * np.pi)
        low, high = angle - 2 * np.pi, angle
        while True:
            new = (y - mean) * np.cos(angle) + nu * np.sin(angle) + mean
            if log_p(new) > threshold:
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = rng.uniform(low, high)
        y = new
        kept.append(y)
    return np.array(kept[n_sweeps // 5 :])


@pytest.mark.slow
@pytest.mark.parametrize("n_words", [10, 100, 1000])
def test_the_bridge_agrees_with_elliptical_slice_sampling(n_words: int) -> None:
    """Figure 4 with K = 10: means near the sampler's, and no more certain than the error shows."""
    rng = np.random.default_rng(3)
    n_topics, errors, exact, stated = 10, [], [], []
    centring = np.eye(n_topics) - 1 / n_topics
    for _ in range(12):
        truth = centring @ rng.normal(size=n_topics)
        counts = rng.multinomial(n_words, np.exp(truth) / np.exp(truth).sum())
        prior = to_dirichlet(np.zeros(n_topics), np.full(n_topics, 1.0 - 1.0 / n_topics))
        mean, variance = to_gaussian(prior + counts)
        samples = elliptical_slices(rng, counts, np.zeros(n_topics), centring, 2000)
        errors.append(np.linalg.norm(mean - truth))
        exact.append(np.linalg.norm(samples.mean(axis=0) - truth))
        stated.append(np.sqrt(variance.sum()))
    assert np.mean(errors) < 1.45 * np.mean(exact)
    assert np.mean(stated) > 0.8 * np.mean(errors)
