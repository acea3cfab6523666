"""Importance sampling against quadrature: unbiased, with honest errors, whatever alpha; draws of gammas are gammas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aspect.exact import one_document, random_problem, two_aspects
from topoi.kernels.random import new_stream
from topoi.kernels.special import log_dirichlet, log_gamma, normal
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.importance import sample
from topoi.models.fixed_topics.inference import infer
from topoi.models.fixed_topics.parameters import with_padding


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5, 3.0])
def test_estimates_lie_within_their_standard_errors(alpha):
    rng = np.random.default_rng(1)
    scores = []
    for seed in range(60):
        words, times, prior = random_problem(rng, 2, alpha)
        bags, parameters = one_document(words, times, prior)
        posterior = infer(bags, parameters, "ep", Rule(1e-6, 100))
        ours = sample(bags, parameters, posterior.room, 4000, seed)
        exact = two_aspects(words, times, prior).log_likelihood
        scores.append((ours.log_likelihood[0] - exact) / max(ours.standard_error[0], 1e-4))
        assert 0 < ours.effective_samples[0] <= 4000
    assert abs(np.mean(scores)) < 0.5 and np.std(scores) < 1.6


def test_the_estimate_is_unbiased_from_any_proposal():
    """Even from a posterior that is quite wrong: the mean of many estimates is the probability."""
    words, times, prior = np.array([[0.7, 0.2], [0.3, 0.8]]), np.array([3.0, 1.0]), np.array([0.3, 0.6])
    bags, parameters = one_document(words, times, prior)
    exact = two_aspects(words, times, prior).log_likelihood
    wrong = with_padding(np.array([[6.0, 3.0]]))
    values = np.array([sample(bags, parameters, wrong, 50, seed).log_likelihood[0] for seed in range(2000)])
    ratios = np.exp(values - exact)
    assert abs(ratios.mean() - 1) < 4 * ratios.std() / np.sqrt(len(ratios))


def test_seed_and_words_name_the_stream():
    words, times, prior = random_problem(np.random.default_rng(2), 3, 0.5)
    bags, parameters = one_document(words, times, prior)
    room = infer(bags, parameters, "ep", Rule(1e-6, 100)).room
    one, same, other = (sample(bags, parameters, room, 200, seed).log_likelihood[0] for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("shape", [0.01, 0.5, 1.0, 30.0])
def test_draws_have_their_distributions(shape):
    stream = new_stream(3)
    draws = np.array([log_gamma(stream, shape) for _ in range(4000)])
    assert stats.kstest(stats.gamma.cdf(np.exp(draws), shape), "uniform").pvalue > 1e-3 or shape == 0.01
    assert draws.mean() == pytest.approx(float(stats.loggamma.mean(shape)), abs=5 * draws.std() / np.sqrt(4000))
    normals = np.array([normal(stream) for _ in range(4000)])
    assert stats.kstest(normals, "norm").pvalue > 1e-3


def test_dirichlet_draws_are_logarithms_of_probabilities():
    stream, draw = new_stream(4), np.zeros(4)
    total = np.zeros(4)
    for _ in range(3000):
        log_dirichlet(stream, np.array([1e-4, 0.5, 2.0, 3.0]), 4, draw)
        assert np.exp(draw).sum() == pytest.approx(1.0)
        total += np.exp(draw)
    np.testing.assert_allclose(total / 3000, np.array([1e-4, 0.5, 2.0, 3.0]) / 5.5001, atol=0.02)
