"""Expectation propagation and variational inference against quadrature and long importance sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma as scipy_digamma

from aspect.exact import one_document, random_problem, sampled, three_aspects, two_aspects, typical_problem
from thinning import slow_unless
from topoi.kernels.special import digamma
from topoi.models.aspect.equations import expectation_propagation, log_beta, variational_bound
from topoi.models.bags import Bags
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.inference import infer
from topoi.models.fixed_topics.parameters import Parameters, with_padding

RULE = Rule(1e-8, 500)


def found(words, times, alpha, method="ep", rule=RULE):
    bags, parameters = one_document(words, times, alpha)
    return infer(bags, parameters, method, rule, evidence=True)


def test_the_papers_two_word_example():
    """Two words, two aspects: one even, one that has the first word only."""
    words, times, alpha = np.array([[0.5, 1 - 1e-12], [0.5, 1e-12]]), np.array([4.0, 6.0]), np.ones(2)
    assert two_aspects(words, times, alpha).log_likelihood == pytest.approx(-8.34497, abs=1e-5)
    assert found(words, times, alpha).evidence[0] == pytest.approx(-8.3474, abs=5e-5)
    assert found(words, times, alpha, "vb").evidence[0] == pytest.approx(-8.688, abs=5e-4)


@pytest.mark.parametrize("n_aspects", slow_unless(lambda n: n in (3, 17), [2, 3, 9, 17]))
@pytest.mark.parametrize("alpha", [0.5, 1.0, 30.0])
def test_it_is_the_papers_fixed_point(n_aspects, alpha):
    rng = np.random.default_rng(n_aspects)
    for _ in range(3):
        words, times, prior = random_problem(rng, n_aspects, alpha)
        prior = prior * rng.uniform(1, 2, n_aspects)
        gamma, evidence = expectation_propagation(words, times, prior, 800)
        ours = found(words, times, prior)
        np.testing.assert_allclose(ours.gamma[0], gamma, rtol=1e-5)
        assert ours.evidence[0] == pytest.approx(evidence, abs=1e-6)


@pytest.mark.parametrize("n_aspects", slow_unless(lambda n: n in (2, 9), [2, 3, 9, 17]))
@pytest.mark.parametrize("alpha", [0.5, 1.0, 30.0])
def test_the_variational_bound_is_the_papers(n_aspects, alpha):
    rng = np.random.default_rng(n_aspects)
    for _ in range(3):
        words, times, prior = random_problem(rng, n_aspects, alpha)
        gamma, bound = variational_bound(words, times, prior, 1500)
        ours = found(words, times, prior, "vb", Rule(1e-9, 1500))
        np.testing.assert_allclose(ours.gamma[0], gamma, rtol=1e-4)
        assert ours.evidence[0] == pytest.approx(bound, abs=1e-6)


# Mean and worst error of the evidence, and of posterior means, that each number of aspects and alpha is held to. The
# error is the approximation's own (``equations`` have the same), and grows with the number of aspects.
LIMITS = {
    (2, 0.5): (0.02, 0.1, 0.005, 0.03),
    (2, 1.0): (0.01, 0.05, 0.002, 0.01),
    (2, 10.0): (0.001, 0.005, 0.0002, 0.001),
    (3, 0.5): (0.08, 0.8, 0.015, 0.06),
    (3, 1.0): (0.03, 0.2, 0.006, 0.03),
    (3, 2.0): (0.02, 0.1, 0.003, 0.02),
    (3, 10.0): (0.005, 0.02, 0.0005, 0.002),
}


@pytest.mark.parametrize(("n_aspects", "alpha"), LIMITS)
def test_evidence_and_means_against_quadrature(n_aspects, alpha):
    rng = np.random.default_rng(5)
    exactly = two_aspects if n_aspects == 2 else three_aspects
    evidence, means, bounds = [], [], []
    for _ in range(60):
        problem = typical_problem(rng, n_aspects, alpha)
        exact, ours = exactly(*problem), found(*problem)
        evidence.append(abs(ours.evidence[0] - exact.log_likelihood))
        means.append(np.abs(ours.mean[0] - exact.mean).max())
        bounds.append(exact.log_likelihood - found(*problem, "vb").evidence[0])
        assert ours.outcome.skipped[0] == 0 and ours.outcome.change[0] < RULE.tolerance
    limits = LIMITS[n_aspects, alpha]
    assert np.mean(evidence) < limits[0] and max(evidence) < limits[1]
    assert np.mean(means) < limits[2] and max(means) < limits[3]
    assert min(bounds) > -1e-9, "the variational estimate is a lower bound"
    assert np.mean(bounds) > 5 * np.mean(evidence)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "limits"), [(0.5, (0.15, 0.8, 0.01, 0.04)), (2.0, (0.03, 0.15, 0.002, 0.01))])
def test_evidence_and_means_of_ten_aspects_against_long_importance_sampling(alpha, limits):
    rng = np.random.default_rng(6)
    evidence, means, bounds = [], [], []
    for _ in range(15):
        problem = typical_problem(rng, 10, alpha)
        ours = found(*problem)
        estimate, error, mean = sampled(*problem, ours.gamma[0], 100_000, rng)
        assert error < 0.02
        evidence.append(abs(ours.evidence[0] - estimate))
        means.append(np.abs(ours.mean[0] - mean).max())
        bounds.append(estimate - found(*problem, "vb").evidence[0])
    assert np.mean(evidence) < limits[0] and max(evidence) < limits[1]
    assert np.mean(means) < limits[2] and max(means) < limits[3]
    assert np.mean(bounds) > 20 * np.mean(evidence)


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.1])
def test_small_alpha_is_finite_and_no_worse_than_the_bound(alpha):
    rng = np.random.default_rng(7)
    errors, bounds = [], []
    for _ in range(60):
        problem = random_problem(rng, 2, alpha)
        exact, ours, bound = two_aspects(*problem), found(*problem), found(*problem, "vb")
        assert np.isfinite(ours.evidence[0]) and np.isfinite(ours.gamma).all() and (ours.gamma > 0).all()
        errors.append(abs(ours.evidence[0] - exact.log_likelihood))
        bounds.append(abs(bound.evidence[0] - exact.log_likelihood))
    assert np.mean(errors) < np.mean(bounds)


def test_variational_bound_is_that_of_its_definition():
    """Equation 8 with the responsibilities of equation 11, term by term."""
    rng = np.random.default_rng(8)
    words, times, alpha = random_problem(rng, 4, 0.7)
    ours = found(words, times, alpha, "vb", Rule(1e-12, 20_000))
    q = words * np.exp(scipy_digamma(ours.gamma[0]))
    q /= q.sum(axis=1, keepdims=True)
    gamma = alpha + times @ q
    np.testing.assert_allclose(gamma, ours.gamma[0], rtol=1e-8)
    bound = (times[:, None] * q * np.log(words / q)).sum() + log_beta(gamma) - log_beta(alpha)
    assert ours.evidence[0] == pytest.approx(bound, abs=1e-9)


@pytest.mark.parametrize("method", ["ep", "vb"])
def test_one_aspect_is_exact(method):
    words, times = np.array([[0.25], [0.75]]), np.array([3.0, 100.0])
    ours = found(words, times, np.array([2.0]), method)
    assert ours.evidence[0] == pytest.approx(times @ np.log(words[:, 0]), rel=1e-12)
    assert ours.gamma[0, 0] == pytest.approx(105.0, rel=1e-12)


@pytest.mark.parametrize("method", ["ep", "vb"])
def test_powers_are_real_numbers(method):
    """A word twice is its term to the power of two; half a word is a term's root, as quadrature has it."""
    rng = np.random.default_rng(9)
    words, times, alpha = random_problem(rng, 2, 1.0)
    twice = found(np.repeat(words, 2, axis=0), np.repeat(times / 2, 2), alpha, method)
    assert twice.evidence[0] == pytest.approx(found(words, times, alpha, method).evidence[0], abs=1e-6)
    parts = times * 0.37
    limit = 0.05 if method == "ep" else 1.0
    exact = two_aspects(words, parts, alpha)
    assert found(words, parts, alpha, method).evidence[0] == pytest.approx(exact.log_likelihood, abs=limit)


@pytest.mark.parametrize("method", ["ep", "vb"])
@pytest.mark.parametrize("alpha", [0.001, 1.0, 1000.0])
@pytest.mark.parametrize("times", [[1.0], [100_000.0], [50_000.0, 49_000.0, 1000.0]])
def test_extreme_priors_and_lengths(method, alpha, times):
    rng = np.random.default_rng(10)
    words = rng.dirichlet(np.full(5, 0.3), 4).T[: len(times)] + 1e-9
    ours = found(words, np.array(times), np.full(4, alpha), method)
    assert np.isfinite(ours.evidence[0]) and (ours.gamma > 0).all()
    assert ours.gamma.sum() <= (4 * alpha + sum(times)) * 1.000001, "words cannot tell more than their number"
    np.testing.assert_allclose(ours.mean.sum(), 1.0)


def test_a_long_document_is_exact_in_the_limit():
    """With 100,000 words the posterior is narrow and nearly Gaussian: the evidence is right to a thousandth."""
    rng = np.random.default_rng(11)
    words = rng.dirichlet(np.ones(50), 2).T
    times = rng.multinomial(100_000, words @ [0.3, 0.7]).astype(np.float64)
    alpha = np.array([1.0, 2.0])
    exact, ours = two_aspects(words, times, alpha, 2000), found(words, times, alpha)
    assert ours.evidence[0] == pytest.approx(exact.log_likelihood, abs=1e-3)
    np.testing.assert_allclose(ours.mean[0], exact.mean, atol=1e-5)


@pytest.mark.parametrize("method", ["ep", "vb"])
def test_words_that_no_aspect_has(method):
    words = np.array([[0.5, 0.2], [0.0, 0.0], [0.5, 0.8]])
    bags, parameters = one_document(words, [2.0, 1.0, 3.0], np.ones(2))
    ours = infer(bags, parameters, method, RULE, evidence=True)
    without = found(words[[0, 2]], np.array([2.0, 3.0]), np.ones(2), method)
    assert ours.evidence[0] == -np.inf
    np.testing.assert_allclose(ours.gamma, without.gamma)


@pytest.mark.parametrize("method", ["ep", "vb"])
def test_words_that_one_aspect_lacks(method):
    exact = two_aspects(np.array([[1.0, 0.3], [1e-300, 0.7]]), np.array([3.0, 1.0]), np.ones(2))
    ours = found(np.array([[1.0, 0.3], [0.0, 0.7]]), np.array([3.0, 1.0]), np.ones(2), method)
    assert ours.evidence[0] == pytest.approx(exact.log_likelihood, abs=0.02 if method == "ep" else 0.5)


def test_no_words_leave_the_prior():
    bags = Bags(np.array([0, 0]), np.zeros(0, np.int64), np.zeros(0))
    parameters = Parameters.pad(np.ones((1, 2)), np.array([0.3, 2.0]))
    for method in ("ep", "vb"):
        ours = infer(bags, parameters, method, RULE, evidence=True)
        np.testing.assert_allclose(ours.gamma, [[0.3, 2.0]])
        assert ours.evidence[0] == pytest.approx(0.0, abs=1e-12)


def corpus_problem(n_docs=40, n_aspects=5, n_words=60, seed=3):
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(n_words, 0.2), n_aspects).T + 1e-6
    rows = [np.sort(rng.choice(n_words, rng.integers(0, 30), replace=False)) for _ in range(n_docs)]
    start = np.concatenate(([0], np.cumsum([len(r) for r in rows])))
    row = np.concatenate(rows)
    return Bags(start, row, rng.integers(1, 5, len(row)).astype(float)), Parameters.pad(words, np.full(n_aspects, 0.4))


@pytest.mark.parametrize("method", ["ep", "vb"])
def test_threads_and_company_change_no_bit(method):
    bags, parameters = corpus_problem()
    one = infer(bags, parameters, method, RULE, 1, evidence=True)
    three = infer(bags, parameters, method, RULE, 3, evidence=True)
    assert np.array_equal(one.gamma, three.gamma) and np.array_equal(one.evidence, three.evidence)
    alone = infer(bags.part(7, 8), parameters, method, RULE, evidence=True)
    assert np.array_equal(alone.gamma[0], one.gamma[7]) and alone.evidence[0] == one.evidence[7]


def test_warm_sites_and_warm_posteriors_reach_the_same_place():
    bags, parameters = corpus_problem()
    sites = np.zeros((len(bags.row), len(parameters.alpha)))
    cold = infer(bags, parameters, "ep", RULE, sites=sites, evidence=True)
    other = parameters.with_alpha(np.full(parameters.n_aspects, 0.6))
    expected = infer(bags, other, "ep", RULE, evidence=True)
    kept = infer(bags, other, "ep", RULE, sites=sites, start=cold.room.copy(), warm=True, evidence=True)
    remembered = infer(bags, other, "ep", RULE, start=cold.room.copy(), warm=True, evidence=True)
    for ours in (kept, remembered):
        np.testing.assert_allclose(ours.gamma, expected.gamma, rtol=1e-5)
        np.testing.assert_allclose(ours.evidence, expected.evidence, atol=1e-6)
    loose, sites = Rule(1e-3, 500), np.zeros((len(bags.row), len(parameters.alpha)))
    infer(bags, parameters, "ep", loose, sites=sites)
    again = infer(bags, parameters, "ep", loose, sites=sites, warm=True)
    assert again.outcome.passes.max() == 1 < infer(bags, parameters, "ep", loose).outcome.passes.max()
    start = expected.room.copy()
    again = infer(bags, other, "vb", Rule(1e-9, 5000), start=start, warm=True)
    np.testing.assert_allclose(again.gamma, infer(bags, other, "vb", Rule(1e-9, 5000)).gamma, rtol=1e-4)


def test_padding_changes_nothing():
    """Aspects that no document can have, alone in their vectors, are as good as padding."""
    words, times, alpha = random_problem(np.random.default_rng(12), 3, 1.0)
    assert with_padding(words).shape[1] == 8
    ours = found(words, times, alpha)
    for order in ([2, 0, 1], [1, 2, 0]):
        other = found(words[:, order], times, alpha[order])
        np.testing.assert_allclose(other.gamma[0], ours.gamma[0][order], rtol=1e-6)


@given(st.floats(1e-4, 1e6))
def test_digamma(x):
    assert digamma(x) == pytest.approx(float(scipy_digamma(x)), rel=1e-12, abs=1e-12)


def test_skipped_words_are_counted():
    """With a tiny prior and words that pull apart no site fits; they are reported, and the bound is a floor."""
    rng = np.random.default_rng(0)
    skipped = 0
    for _ in range(200):
        problem = random_problem(rng, 2, 0.001)
        ours = found(*problem)
        if ours.outcome.skipped[0]:
            skipped += 1
            bound = found(*problem, "vb", Rule(1e-8, 5000)).evidence[0]
            assert ours.evidence[0] > bound - 6.0
    assert 0 < skipped < 40
