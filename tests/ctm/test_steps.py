"""Each step of the sampler alone: conditionals against brute force, draws against quadrature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from ctm.small import covariance_of, grid, made, mean_of
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream
from topoi.models.ctm import equations, normal
from topoi.models.ctm.kernels import draw_component, draw_eta, make_scratch, token_weights
from topoi.models.ctm.normal import Hyper


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 17, 40]))
@settings(max_examples=40)
def test_token_weights_equal_brute_force(seed, n_topics):
    rng = np.random.default_rng(seed)
    docs = [rng.integers(0, 6, n) for n in rng.integers(1, 9, 4)]
    topics = [rng.integers(0, n_topics, len(doc)) for doc in docs]
    mean, beta = mean_of(rng, n_topics), rng.uniform(0.01, 1.0, 6)
    covariance, eta = covariance_of(rng, n_topics), 2 * rng.normal(size=(4, n_topics))
    eta -= eta.mean(axis=1, keepdims=True)
    d = int(rng.integers(4))
    i = int(rng.integers(len(docs[d])))
    documents, state, counts, words = made(docs, topics, eta, beta)
    fast = token_weights(documents, state, counts, words, d, int(documents.doc_start[d]) + i)
    plain = equations.token_conditional(docs, topics, d, i, eta, beta)
    logs = np.empty(n_topics)
    for k in range(n_topics):
        topics[d][i] = k
        logs[k] = equations.log_joint(docs, topics, eta, mean, covariance, beta)
    exact = np.exp(logs - logs.max())
    np.testing.assert_allclose(plain, exact / exact.sum(), atol=1e-9)
    np.testing.assert_allclose(fast / fast.sum(), exact / exact.sum(), atol=1e-5)


@given(st.integers(0, 10**6), st.integers(2, 6))
@settings(max_examples=30)
def test_component_conditional_is_that_of_the_joint(seed, n_topics):
    """Along e[k] the joint, in which eta is centred, has the density of ``log_component``."""
    rng = np.random.default_rng(seed)
    mean, covariance = mean_of(rng, n_topics), covariance_of(rng, n_topics)
    number, eta = rng.integers(0, 9, n_topics), mean_of(rng, n_topics)
    k, x = int(rng.integers(n_topics)), rng.normal(size=2) * 2
    logs = []
    for value in x:
        moved = eta.copy()
        moved[k] = value
        moved -= moved.mean()
        logs.append(equations.log_prior(moved, mean, covariance) + equations.log_topics(number, moved))
    own = equations.log_component(x, k, number, eta, mean, normal.gaussian(mean, covariance).precision)
    assert own[1] - own[0] == pytest.approx(logs[1] - logs[0], rel=1e-6, abs=1e-7)


@compiled
def many_components(n, start, centre, precision, own, total, against, stream):
    found = np.empty(n)
    x = start
    for i in range(n):
        x = draw_component(x, centre, precision, own, total, against, stream)
        found[i] = x
    return found


def distribution(x, centre, precision, own, total, against):
    """Distribution function of a component, by quadrature."""
    points = np.linspace(x.min() - 3, x.max() + 3, 20_001)
    logs = own * points - 0.5 * precision * (points - centre) ** 2 - total * np.logaddexp(0.0, points - against)
    upto = np.cumsum(np.exp(logs - logs.max()))
    return lambda values: np.interp(values, points, upto / upto[-1])


@pytest.mark.parametrize("seed", range(12))
def test_components_have_their_distribution(seed):
    """Few and many tokens, none and all of them of the topic, wide and narrow priors, the mode near and far."""
    rng = np.random.default_rng(seed)
    centre, precision, total, against = (
        3 * rng.normal(),
        np.exp(2 * rng.normal()),
        float(rng.integers(0, 300)),
        3 * rng.normal(),
    )
    own = [0.0, total, float(rng.integers(0, total + 1))][seed % 3]
    x = many_components(20_000, 50.0, centre, precision, own, total, against, new_stream(1, seed))
    # Draws are independent: the start matters only to the search for the mode.
    assert kstest(x, distribution(x, centre, precision, own, total, against)).pvalue > 1e-4
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.03


def test_the_test_of_components_notices_half_a_token():
    x = many_components(20_000, 0.0, 0.5, 0.4, 3.0, 20.0, 1.0, new_stream(1))
    assert kstest(x, distribution(x, 0.5, 0.4, 3.5, 20.0, 1.0)).pvalue < 1e-6


@compiled
def many_etas(n, lag, number, gaussian, stream):
    scratch = make_scratch(len(number))
    eta = np.zeros((1, len(number)))
    found = np.empty((n, len(number)))
    for i in range(n):
        for _ in range(lag):
            draw_eta(eta, 0, number, gaussian, scratch, stream)
        found[i] = eta[0]
    return found


@pytest.mark.parametrize("number", [[0, 0, 0], [3, 0, 1], [40, 2, 0], [0, 0, 200]], ids=str)
def test_eta_has_its_distribution(number):
    """Passes over the components against quadrature in two dimensions: means, variances, products, shares."""
    rng = np.random.default_rng(sum(number))
    mean, covariance, number = mean_of(rng, 3), covariance_of(rng, 3, 4.0), np.array(number, float)
    points, weight = grid(mean, covariance, 301, 8.0)
    logs = points @ number - number.sum() * np.logaddexp.reduce(points, axis=1)
    weight = weight * np.exp(logs - logs.max())
    weight /= weight.sum()

    def statistics(eta):
        share = np.exp(eta - np.logaddexp.reduce(eta, axis=1, keepdims=True))
        return np.column_stack((eta, eta**2, eta[:, :1] * eta[:, 1:2], share, share**2))

    found = statistics(many_etas(40_000, 3, number, normal.gaussian(mean, covariance), new_stream(2)))
    batches = found.reshape(50, -1, found.shape[1]).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    assert (np.abs(found.mean(axis=0) - weight @ statistics(points)) / error).max() < 4.5


def test_eta_keeps_its_sum_and_survives_extremes():
    gaussian = normal.gaussian(np.zeros(4), normal.centred(np.diag([1e4, 1.0, 1e-6, 100.0])))
    eta = many_etas(300, 1, np.array([0.0, 5.0, 3000.0, 0.0]), gaussian, new_stream(3))
    assert np.isfinite(eta).all() and np.abs(eta.sum(axis=1)).max() < 1e-9


def test_precision_inverts_the_covariance_among_zero_sums():
    rng = np.random.default_rng(0)
    covariance = covariance_of(rng, 7)
    precision = normal.gaussian(mean_of(rng, 7), covariance).precision
    np.testing.assert_allclose(precision @ covariance, np.eye(7) - 1 / 7, atol=1e-9)
    root = normal.root(covariance)
    np.testing.assert_allclose(root.T @ root, covariance, atol=1e-12)


def test_mean_and_covariance_have_their_posterior():
    """Moments of the normal–inverse-Wishart posterior, in closed form."""
    rng = np.random.default_rng(1)
    hyper, n, k = Hyper(0.7, 9.0, 2.5), 12, 4
    eta = rng.normal(size=(n, k)) + [0.5, -0.5, 1.0, -1.0]
    eta -= eta.mean(axis=1, keepdims=True)
    draws = [normal.draw(eta, hyper, rng) for _ in range(4000)]
    v = normal.basis(k)
    x = eta @ v
    centre = n * x.mean(axis=0) / (n + hyper.mean_weight)
    apart = x - x.mean(axis=0)
    middle = x.mean(axis=0)
    scale = hyper.variance * (hyper.freedom - k) * np.eye(k - 1) + apart.T @ apart
    scale += hyper.mean_weight * n / (hyper.mean_weight + n) * np.outer(middle, middle)
    expected = scale / (hyper.freedom + n - k)
    found = np.array([v.T @ covariance @ v for _, covariance in draws])
    assert (np.abs(found.mean(axis=0) - expected) / (found.std(axis=0) / np.sqrt(len(draws)))).max() < 4.5
    means = np.array([v.T @ mean for mean, _ in draws])
    assert (np.abs(means.mean(axis=0) - centre) / (means.std(axis=0) / np.sqrt(len(draws)))).max() < 4.5
    np.testing.assert_allclose(np.cov(means.T), expected / (n + hyper.mean_weight), rtol=0.25, atol=0.01)
    inverse = np.linalg.inv(found)
    exact = (hyper.freedom + n) * np.linalg.inv(scale)
    assert (np.abs(inverse.mean(axis=0) - exact) / (inverse.std(axis=0) / np.sqrt(len(draws)))).max() < 4.5
