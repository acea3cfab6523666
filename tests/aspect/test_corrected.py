"""Expectation propagation with what pairs of words add: exact for two words, close for more, against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma, polygamma

import topoi
from aspect.exact import one_document, random_problem, sampled, three_aspects, two_aspects, typical_problem
from topoi.kernels.special import mixed_difference, trigamma
from topoi.models.bags import Bags
from topoi.models.fixed_topics import corrected
from topoi.models.fixed_topics.ep import Outcome, Rule
from topoi.models.fixed_topics.inference import infer, infer_corrected
from topoi.models.fixed_topics.parameters import Parameters

RULE = Rule(1e-9, 500)


def found(words, times, alpha):
    return infer_corrected(*one_document(words, times, alpha), RULE)


def test_trigamma_is_the_second_derivative():
    points = np.geomspace(1e-4, 1e5, 200)
    np.testing.assert_allclose([trigamma(x) for x in points], polygamma(1, points), rtol=1e-13)


def test_the_difference_of_four_logs_of_gamma():
    """It is the integral of their second derivative over a rectangle."""
    points, weights = np.polynomial.legendre.leggauss(20)
    points, weights = (points + 1) / 2, weights / 2
    for x in (2.5, 39.9, 40.1, 300.0, 1e5):
        for b, c in ((0.3, 0.9), (-0.2, 0.4), (1.0, 1.0), (1e-9, 0.5)):
            exact = b * c * weights @ polygamma(1, x - b * points[:, None] - c * points) @ weights
            # There are about x² pairs where a parameter is x.
            assert abs(mixed_difference(x, b, c) - exact) * x**2 < 1e-5 * max(1.0, x / 1000)


@pytest.mark.parametrize("alpha", [1e-3, 0.3, 1.0, 50.0])
def test_a_dirichlet_is_found_from_its_mean_logs(alpha):
    truth = alpha * np.array([1.0, 0.5, 3.0, 2.0])
    target = digamma(truth) - digamma(truth.sum())
    for start in (0.01, 1.0, 100.0):
        guess = np.full(4, start)
        corrected.project(target, 4, guess)
        np.testing.assert_allclose(guess, truth, rtol=1e-8)


@pytest.mark.parametrize("exactly", [two_aspects, three_aspects])
@pytest.mark.parametrize("times", [[1.0, 1.0], [2.0]])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_two_words_are_exact(exactly, times, alpha):
    """All pairs are one pair: nothing is left out, neither of the evidence nor of the means."""
    rng = np.random.default_rng(1)
    n_aspects = 2 if exactly is two_aspects else 3
    for _ in range(5):
        words = rng.dirichlet(np.ones(5), n_aspects).T[: len(times)]
        prior = alpha * rng.uniform(1, 2, n_aspects)
        exact, ours = exactly(words, times, prior), found(words, np.array(times), prior)
        assert ours.evidence[0] == pytest.approx(exact.log_likelihood, abs=1e-8)
        np.testing.assert_allclose(ours.mean[0], exact.mean, atol=1e-8)


def test_sites_match_the_mean_logs_of_their_terms():
    words, times, alpha = random_problem(np.random.default_rng(2), 3, 0.7)
    bags, parameters = one_document(words, times, alpha)
    gamma, evidence, mean = np.zeros((1, len(parameters.alpha))), np.zeros(1), np.zeros((1, 3))
    outcome = Outcome(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1))
    corrected.infer_documents(bags, parameters, RULE, 0, 1, gamma, evidence, mean, outcome)
    ours, sites = gamma[0, :3], slow_sites(words, times, alpha)
    np.testing.assert_allclose(alpha + times @ sites, ours, rtol=1e-6)
    logs = digamma(ours) - digamma(ours.sum())
    for p, site in zip(words, sites, strict=True):
        cavity = ours - site
        np.testing.assert_allclose(digamma(cavity) + p / (p @ cavity) - digamma(cavity.sum() + 1), logs, atol=1e-5)


def slow_sites(words, times, alpha, n_passes=300):
    """The projection's fixed point by small steps."""
    sites = np.zeros(words.shape)
    for _ in range(n_passes):
        for w, n in enumerate(times):
            gamma = alpha + times @ sites
            cavity = gamma - sites[w]
            matched = gamma.copy()
            corrected.project(
                digamma(cavity) + words[w] / (words[w] @ cavity) - digamma(cavity.sum() + 1), len(alpha), matched
            )
            sites[w] += 0.5 / n * (matched - gamma)
    return sites


# Mean and worst error of the evidence, then of means, over random documents of up to ten words.
LIMITS = {
    (2, 0.5): (0.01, 0.12, 0.006, 0.04),
    (2, 1.0): (0.002, 0.01, 0.001, 0.005),
    (3, 0.5): (0.02, 0.2, 0.01, 0.06),
    (3, 1.0): (0.004, 0.03, 0.002, 0.01),
    (3, 10.0): (1e-4, 0.001, 1e-4, 1e-3),
}


@pytest.mark.parametrize(("n_aspects", "alpha"), LIMITS)
def test_evidence_and_means_against_quadrature(n_aspects, alpha):
    rng = np.random.default_rng(15)
    exactly = two_aspects if n_aspects == 2 else three_aspects
    errors = []
    for _ in range(80):
        problem = typical_problem(rng, n_aspects, alpha)
        exact, ours = exactly(*problem), found(*problem)
        plain = infer(*one_document(*problem), "ep", RULE, evidence=True).evidence[0]
        errors.append(
            [
                abs(ours.evidence[0] - exact.log_likelihood),
                np.abs(ours.mean[0] - exact.mean).max(),
                abs(plain - exact.log_likelihood),
            ]
        )
        assert ours.outcome.skipped[0] == 0 and ours.outcome.change[0] < RULE.tolerance
    mean, worst, limits = np.mean(errors, axis=0), np.max(errors, axis=0), LIMITS[n_aspects, alpha]
    assert mean[0] < limits[0] and worst[0] < limits[1]
    assert mean[1] < limits[2] and worst[1] < limits[3]
    assert mean[0] < 0.7 * mean[2], "better than expectation propagation alone"


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_ten_aspects_against_long_importance_sampling(alpha):
    rng = np.random.default_rng(16)
    errors = []
    for _ in range(12):
        problem = typical_problem(rng, 10, alpha)
        ours = found(*problem)
        estimate, error, mean = sampled(*problem, np.maximum(ours.mean[0] * (10 * alpha + 3), alpha), 200_000, rng)
        assert error < 0.01
        errors.append([abs(ours.evidence[0] - estimate), np.abs(ours.mean[0] - mean).max()])
    assert np.mean(errors, axis=0)[0] < 0.015 and np.max(errors, axis=0)[0] < 0.06
    assert np.mean(errors, axis=0)[1] < 0.005 and np.max(errors, axis=0)[1] < 0.02


@pytest.mark.parametrize("alpha", [0.001, 0.05, 1000.0])
def test_it_is_finite_for_any_alpha_and_length(alpha):
    rng = np.random.default_rng(17)
    for times in ([1.0], [50_000.0, 49_000.0, 1000.0], [0.25, 3.5]):
        words = rng.dirichlet(np.full(5, 0.3), 4).T[: len(times)] + 1e-9
        ours = found(words, np.array(times), np.full(4, alpha))
        assert np.isfinite(ours.evidence[0])
        np.testing.assert_allclose(ours.mean.sum(), 1.0)
        assert (ours.mean >= 0).all()


def test_a_long_document_is_right_to_a_thousandth():
    rng = np.random.default_rng(18)
    words = rng.dirichlet(np.ones(50), 2).T
    times = rng.multinomial(20_000, words @ [0.3, 0.7]).astype(np.float64)
    alpha = np.array([1.0, 2.0])
    exact, ours = two_aspects(words, times, alpha, 2000), found(words, times, alpha)
    assert ours.evidence[0] == pytest.approx(exact.log_likelihood, abs=1e-3)
    np.testing.assert_allclose(ours.mean[0], exact.mean, atol=1e-5)


def test_threads_change_nothing_and_impossible_words_are_said():
    rng = np.random.default_rng(19)
    counts = rng.integers(0, 4, (20, 6))
    aspects = rng.dirichlet(np.ones(6), 3)
    aspects[:, 0] = 0
    aspects /= aspects.sum(axis=1, keepdims=True)
    docs, words = np.nonzero(counts)
    start = np.searchsorted(docs, np.arange(21))
    bags = Bags(start, words, counts[docs, words].astype(np.float64))
    one, two = (infer_corrected(bags, Parameters.pad(aspects.T, np.ones(3)), RULE, jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.evidence, two.evidence)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(np.isneginf(one.evidence), counts[:, 0] > 0)


def test_models_use_it():
    model = topoi.AspectModel.from_parameters([[0.5, 0.5], [1.0, 0.0]], alpha=1.0)
    exact = two_aspects(np.array([[0.5, 1.0], [0.5, 0.0]]) + 1e-300, [4.0, 6.0], np.ones(2))
    report = model.log_likelihood_report([[4, 6]], "corrected")
    assert report["log_likelihood"][0] == pytest.approx(exact.log_likelihood, abs=1e-4)
    assert report["settled"][0] and np.isnan(report["standard_error"][0])
    np.testing.assert_allclose(model.posterior_mean([[4, 6]], "corrected")[0], exact.mean, atol=1e-3)
    corpus = topoi.Corpus.from_tokens([["a", "b", "b"], ["a", "a"]] * 4)
    lda = topoi.LDA(2, alpha=1.0, n_iter=20, random_state=0).fit(corpus)
    ours = topoi.evaluation.ep_likelihood(lda, corpus, corrected=True)
    phi = lda.chains_[0].topic_word.T
    assert ours[1] == pytest.approx(two_aspects(phi[:1], [2.0], np.ones(2)).log_likelihood, abs=1e-6)
    with pytest.raises(topoi.errors.ModelError, match="corrected"):
        topoi.evaluation.ep_likelihood(lda, corpus, corrected="yes")
