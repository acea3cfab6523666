"""The algebra: against scikit-learn, brute force and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from topoi.models.kernel_topic import gaussian_process as gp

RNG = np.random.default_rng(5)
N_DOCS, N_TOPICS = 7, 3
X = np.sort(RNG.uniform(0, 10, N_DOCS))[:, None]
SHAPE = RBF(2.0)(X)
PRIOR = gp.Prior(SHAPE, np.array([1.0, 2.0, 0.5]), np.array([0.1, 0.2, 0.3]), 4.0)
COUNTS = RNG.poisson(3.0, (N_DOCS, N_TOPICS)).astype(float)
COUNTS[2] = 0.0


def test_regression_is_scikit_learns() -> None:
    precision = RNG.gamma(2.0, size=N_DOCS)
    target = RNG.normal(size=N_DOCS)
    covariance = 1.7 * SHAPE
    theirs = GaussianProcessRegressor(1.7 * RBF(2.0), alpha=1 / precision, optimizer=None).fit(X, target)
    mean, deviation = theirs.predict(X, return_std=True)
    ours = gp.regress(covariance, precision, precision * target)
    assert ours.mean == pytest.approx(mean, abs=1e-6)
    assert np.sqrt(ours.variance) == pytest.approx(deviation, abs=1e-6)
    # Their evidence has the messages' normalisers too.
    extra = 0.5 * np.log(precision).sum() - 0.5 * (precision * target**2).sum() - N_DOCS / 2 * np.log(2 * np.pi)
    assert ours.log_evidence + extra == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-6)
    new = np.array([[3.3], [20.0]])
    mean, deviation = theirs.predict(new, return_std=True)
    cross = 1.7 * RBF(2.0)(new, X)
    assert cross @ ours.a == pytest.approx(mean, abs=1e-6)
    assert 1.7 - (cross * (cross @ ours.gain)).sum(axis=1) == pytest.approx(deviation**2, abs=1e-6)


def test_messages_without_precision_say_nothing() -> None:
    found = gp.regress(SHAPE, np.zeros(N_DOCS), np.zeros(N_DOCS))
    assert found.variance == pytest.approx(np.ones(N_DOCS)) and found.mean == pytest.approx(np.zeros(N_DOCS))


def dense(prior: gp.Prior, y: np.ndarray, counts: np.ndarray):
    """Covariance and curvature as full matrices, topic by topic; the slope likewise."""
    total = np.maximum(counts.sum(axis=1), gp.LEAST_WEIGHT)
    share = np.exp(y - logsumexp(y, axis=1, keepdims=True))
    n_docs, n_topics = y.shape
    covariance = np.zeros((n_docs * n_topics, n_docs * n_topics))
    curvature = np.zeros_like(covariance)
    for k in range(n_topics):
        rows = slice(k * n_docs, (k + 1) * n_docs)
        covariance[rows, rows] = prior.covariance(k)
        for other in range(n_topics):
            columns = slice(other * n_docs, (other + 1) * n_docs)
            curvature[rows, columns] = np.diag(total * ((k == other) * share[:, k] - share[:, k] * share[:, other]))
    slope = (counts - total[:, None] * share).T.ravel()
    return covariance, curvature, slope


def test_one_step_is_newtons_by_brute_force() -> None:
    y = RNG.normal(size=(N_DOCS, N_TOPICS))
    covariance, curvature, slope = dense(PRIOR, y, COUNTS)
    linear = curvature @ y.T.ravel() + slope
    posterior = np.linalg.inv(np.linalg.inv(covariance) + curvature)
    found = gp.solve(PRIOR, gp.sites_at(y, COUNTS))
    assert found.y.T.ravel() == pytest.approx(posterior @ linear, abs=1e-8)
    assert found.a.T.ravel() == pytest.approx(np.linalg.solve(covariance, posterior @ linear), abs=1e-7)
    _, log_det = np.linalg.slogdet(np.eye(len(covariance)) + covariance @ curvature)
    assert found.log_evidence == pytest.approx(0.5 * linear @ posterior @ linear - 0.5 * log_det, abs=1e-8)
    marginals = gp.marginals(PRIOR, found)
    for d in range(N_DOCS):
        at = np.arange(N_TOPICS) * N_DOCS + d
        assert marginals[d] == pytest.approx(posterior[np.ix_(at, at)], abs=1e-8)


@pytest.mark.parametrize("noise", [False, True])
def test_predictions_are_those_of_the_joint_gaussian(noise: bool) -> None:
    """New documents put beside the old, without counts: the same posterior by brute force."""
    y = RNG.normal(size=(N_DOCS, N_TOPICS))
    new = np.array([[1.0], [30.0]])
    cross = RBF(2.0)(new, X)
    found = gp.solve(PRIOR, gp.sites_at(y, COUNTS))
    mean, covariance = gp.predict(PRIOR, found, cross, np.ones(2), noise)
    prior, curvature, slope = dense(PRIOR, y, COUNTS)
    linear = curvature @ y.T.ravel() + slope
    gain = np.linalg.inv(np.eye(len(prior)) + curvature @ prior) @ curvature
    for j in range(2):
        between = np.zeros((N_TOPICS, N_TOPICS * N_DOCS))
        for k in range(N_TOPICS):
            between[k, k * N_DOCS : (k + 1) * N_DOCS] = PRIOR.amplitude[k] * cross[j] + 4.0
        own = np.diag(PRIOR.amplitude + 4.0 + (PRIOR.noise if noise else 0.0))
        assert covariance[j] == pytest.approx(own - between @ gain @ between.T, abs=1e-8)
        at = between @ np.linalg.solve(np.eye(len(prior)) + curvature @ prior, linear)
        assert mean[j] == pytest.approx(at, abs=1e-8)


def test_the_mode_has_no_slope_and_the_objective_rises() -> None:
    y = 5.0 * RNG.normal(size=(N_DOCS, N_TOPICS))
    a = gp.start_at(PRIOR, y)
    assert np.stack([PRIOR.covariance(k) @ a[:, k] for k in range(N_TOPICS)], 1) == pytest.approx(y, abs=1e-8)
    values = []
    for n in range(1, 8):
        values.append(gp.find_mode(PRIOR, COUNTS, y, a, n_steps=n).objective)
    assert all(later >= earlier for earlier, later in zip(values, values[1:], strict=False))
    found = gp.find_mode(PRIOR, COUNTS, y, a, tol=1e-12)
    share = np.exp(found.y - logsumexp(found.y, axis=1, keepdims=True))
    assert found.converged
    assert COUNTS - COUNTS.sum(axis=1, keepdims=True) * share - found.a == pytest.approx(0.0, abs=1e-4)


def test_a_kernel_that_is_not_positive_definite_is_refused() -> None:
    prior = gp.Prior(-100.0 * np.eye(N_DOCS), np.ones(N_TOPICS), np.full(N_TOPICS, 0.1), 0.0)
    with pytest.raises(ValueError, match="positive definite"):
        gp.solve(prior, gp.sites_at(np.zeros((N_DOCS, N_TOPICS)), COUNTS))


def test_draws_vary_as_the_posterior_does() -> None:
    """Given sites, all documents and topics together: the covariance is (C⁻¹ + W)⁻¹, and the mean is left out."""
    y = RNG.normal(size=(N_DOCS, N_TOPICS))
    covariance, curvature, _ = dense(PRIOR, y, COUNTS)
    expected = np.linalg.inv(np.linalg.inv(covariance) + curvature)
    random, sites = np.random.default_rng(1), gp.sites_at(y, COUNTS)
    draws = np.array([gp.deviation(PRIOR, sites, random).T.ravel() for _ in range(20_000)])
    scale = np.sqrt(np.diag(expected))
    assert draws.mean(axis=0) / scale == pytest.approx(np.zeros(len(scale)), abs=0.03)
    assert np.cov(draws.T) / np.outer(scale, scale) == pytest.approx(expected / np.outer(scale, scale), abs=0.04)
