"""Learned Dirichlets whose concentration has a prior: against brute force, and against no prior."""

import numpy as np
import pytest
from scipy.optimize import minimize

from topoi.kernels.dirichlet import NO_PRIOR, CountHistogram, GammaPrior, learn_dirichlet


def histogram_of(rows):
    r, c = np.nonzero(rows)
    return CountHistogram.from_counts(c, rows[r, c], rows.sum(axis=1), rows.shape[1])


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.array([rng.multinomial(40, rng.dirichlet([0.6, 0.1, 0.3, 1.0])) for _ in range(60)])


def posterior(histogram, alpha, prior):
    return histogram.log_likelihood(alpha) + prior.log_density(alpha.sum())


PRIORS = [NO_PRIOR, GammaPrior(1.0, 30.0), GammaPrior(80.0, 2.0), GammaPrior(40.0, 20.0)]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_maximum_is_that_of_brute_force(rows, prior, symmetric):
    histogram = histogram_of(rows)

    def loss(logs):
        return -posterior(histogram, np.exp(np.full(4, logs[0]) if symmetric else logs), prior)

    tried = minimize(
        loss,
        np.zeros(1 if symmetric else 4),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000, "maxfev": 8000},
    )
    found = learn_dirichlet(histogram, np.ones(4), symmetric, n_steps=5000, tolerance=1e-9, prior=prior)
    np.testing.assert_allclose(found, np.exp(tried.x) if not symmetric else np.full(4, np.exp(tried.x[0])), rtol=1e-3)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("symmetric", [False, True])
def test_no_step_lowers_the_posterior_density(rows, prior, symmetric):
    histogram, alpha = histogram_of(rows), np.full(4, 3.0)
    before = posterior(histogram, alpha, prior)
    for _ in range(30):
        alpha = learn_dirichlet(histogram, alpha, symmetric, n_steps=1, prior=prior)
        after = posterior(histogram, alpha, prior)
        assert after >= before - 1e-9
        before = after


def test_a_strong_prior_decides_the_concentration_and_a_weak_one_does_not(rows):
    histogram = histogram_of(rows)
    free = learn_dirichlet(histogram, np.ones(4), False, 5000, 1e-9)
    strong = learn_dirichlet(histogram, np.ones(4), False, 5000, 1e-9, GammaPrior(1e6 * 20.0, 1e6))
    weak = learn_dirichlet(histogram, np.ones(4), False, 5000, 1e-9, GammaPrior(1.0 + 1e-6, 1e-6))
    assert strong.sum() == pytest.approx(20.0, rel=1e-3)
    np.testing.assert_allclose(weak, free, rtol=1e-3)
    assert strong.argmax() == free.argmax()
