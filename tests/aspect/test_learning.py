"""M-steps against quadrature and finite differences; EM raises the likelihood; parameters and priors are recovered."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import digamma, gammaln

import topoi
from aspect.exact import two_aspects
from topoi.kernels.dirichlet import maximise_dirichlet, maximise_polya
from topoi.models.aspect import updates
from topoi.models.aspect.learning import FLOOR, Learner, Plan, first_aspects
from topoi.models.aspect.state import ByWord
from topoi.models.bags import Bags
from topoi.models.fixed_topics.ep import Rule
from topoi.models.fixed_topics.inference import infer
from topoi.models.fixed_topics.parameters import Parameters, with_padding

RULE = Rule(1e-8, 500)
PAIRS = [("ep", "em"), ("ep", "bound"), ("vb", "em"), ("vb", "bound")]
# Minka and Lafferty learn alpha and take words' counts as they are.
PAPER = {"alpha": 1.0, "learn_alpha": True, "smoothing": 0.0}


def small_corpus(n_docs=30, n_words=8, n_aspects=2, seed=0, length=20, alpha=1.0):
    rng = np.random.default_rng(seed)
    aspects = rng.dirichlet(np.ones(n_words), n_aspects)
    mixtures = rng.dirichlet(np.full(n_aspects, alpha), n_docs)
    counts = np.array([rng.multinomial(length, m @ aspects) for m in mixtures])
    doc, word = np.nonzero(counts)
    start = np.searchsorted(doc, np.arange(n_docs + 1))
    return Bags(start, word, counts[doc, word].astype(float)), aspects


def make_learner(bags, n_words, n_aspects, inference, learning, learn_alpha=False, memory=10**9, n_jobs=1, **more):
    plan = Plan(inference, learning, learn_alpha, 0.0, Rule(1e-7, 50, 1.0, 1), memory, n_jobs)
    start = first_aspects(bags, n_words, n_aspects, np.random.default_rng(1))
    return Learner(bags, n_words, Parameters.pad(start, np.ones(n_aspects)), plan._replace(**more))


def document(bags, d):
    here = slice(bags.doc_start[d], bags.doc_start[d + 1])
    return bags.row[here], bags.times[here]


def exact_log_likelihood(bags, words, alpha):
    each = [document(bags, d) for d in range(bags.n_docs)]
    return sum(two_aspects(words[row], times, alpha, 60).log_likelihood for row, times in each)


def test_second_order_update_is_the_papers_formula():
    """Equations 32 to 34, sum by sum."""
    bags, _ = small_corpus(n_aspects=3)
    rng = np.random.default_rng(2)
    words, gamma = rng.dirichlet(np.ones(8), 3).T, rng.gamma(2.0, 2.0, (bags.n_docs, 3))
    expected = np.zeros((8, 3))
    for d in range(bags.n_docs):
        for w, n in zip(*document(bags, d), strict=True):
            for a in range(3):
                total = gamma[d].sum()
                m = (gamma[d] + np.eye(3)[a]) / (total + 1)
                s = (words[w] ** 2 @ m) / (words[w] @ m) ** 2 - 1
                expected[w, a] += n * words[w, a] * gamma[d, a] / total / (words[w] @ m) * (1 + s / (total + 2))
    new = np.zeros((8, 8))
    parameters, by_word = Parameters.pad(words, np.ones(3)), ByWord.from_bags(bags, 8)
    cursor = by_word.start[:-1].copy()
    for end in (10, bags.n_docs):
        updates.add_second_order(by_word, bags.times, parameters, with_padding(gamma), 0, 8, end, cursor, new)
    np.testing.assert_allclose(new[:, :3], expected, rtol=1e-12)
    assert (new[:, 3:] == 0).all()


def test_words_shares_against_quadrature():
    """What words give to aspects is the expectation of their shares; EP's tilted rule is the closest."""
    bags, _ = small_corpus(n_docs=40)
    words = np.random.default_rng(3).dirichlet(np.ones(8), 2).T
    alpha = np.ones(2)
    exact = np.zeros((8, 2))
    for d in range(bags.n_docs):
        row, times = document(bags, d)
        exact[row] += times[:, None] * two_aspects(words[row], times, alpha).shares
    errors = {}
    for inference, learning in PAIRS:
        learner = make_learner(bags, 8, 2, inference, learning)
        learner.parameters = Parameters.pad(words, alpha)
        new = np.zeros((8, 8))
        learner._infer(0, bags.n_docs, False)
        learner._add(new, learner.by_word.start[:-1].copy(), 0, bags.n_docs)
        errors[inference, learning] = np.abs(new[:, :2] - exact).max() / exact.max()
    assert errors["ep", "bound"] < 0.002
    assert errors["ep", "em"] < 0.01
    assert errors["ep", "em"] < errors["vb", "em"] and errors["ep", "em"] < errors["vb", "bound"]


def test_tilted_shares_are_the_gradient_of_the_evidence():
    """Finite differences of the EP evidence in p(w|a): true to the fixed point's own stationarity."""
    bags, _ = small_corpus(n_docs=5, n_aspects=2)
    words, alpha = np.random.default_rng(4).dirichlet(np.ones(8), 2).T, np.array([2.0, 3.0])
    learner = make_learner(bags, 8, 2, "ep", "bound", step_rule=Rule(1e-10, 2000))
    learner.parameters = Parameters.pad(words, alpha)
    learner._infer(0, bags.n_docs, False)
    new = np.zeros((8, 8))
    learner._add(new, learner.by_word.start[:-1].copy(), 0, bags.n_docs)

    def evidence(at):
        return infer(bags, Parameters.pad(at, alpha), "ep", Rule(1e-10, 2000), evidence=True).evidence.sum()

    for w, a in ((0, 0), (3, 1), (7, 0)):
        step = np.zeros((8, 2))
        step[w, a] = 1e-4 * words[w, a]
        slope = (evidence(words + step) - evidence(words - step)) / 2e-4
        assert slope == pytest.approx(new[w, a], rel=0.02, abs=0.02)


@pytest.mark.parametrize(("inference", "learning"), PAIRS)
def test_steps_raise_the_exact_likelihood(inference, learning):
    bags, _ = small_corpus(n_docs=25)
    learner = make_learner(bags, 8, 2, inference, learning)
    before = exact_log_likelihood(bags, learner.parameters.word_aspect[:, :2], np.ones(2))
    learner.step()
    after = exact_log_likelihood(bags, learner.parameters.word_aspect[:, :2], np.ones(2))
    assert after > before + 1.0


@pytest.mark.parametrize("learn_alpha", [False, True])
def test_the_variational_bound_never_falls(learn_alpha):
    bags, _ = small_corpus(n_aspects=3, seed=5)
    learner = make_learner(bags, 8, 3, "vb", "bound", learn_alpha, step_rule=Rule(1e-10, 2000, 1.0, 1))
    bounds = [learner.step(evidence=True)[1].evidence.sum() for _ in range(15)]
    assert (np.diff(bounds) > -1e-7).all() and bounds[-1] > bounds[0] + 1


def test_em_by_expectation_propagation_ends_near_the_maximum_and_variational_bound_does_not():
    """The paper's section 6.1: one free parameter; EP is nearest to the exact maximum, the bound farthest."""
    rng = np.random.default_rng(2)
    share = 0.5 + 0.5 * rng.random(200)
    counts = np.stack([rng.binomial(10, share), np.zeros(200, int)], axis=1)
    counts[:, 1] = 10 - counts[:, 0]
    doc, word = np.nonzero(counts)
    bags = Bags(np.searchsorted(doc, np.arange(201)), word, counts[doc, word].astype(float))
    pairs, number = np.unique(counts[:, 0], return_counts=True)

    def exact(p):
        words = np.array([[p, 1 - 1e-9], [1 - p, 1e-9]])
        each = [two_aspects(words, np.array([k, 10 - k], float), np.ones(2)).log_likelihood for k in pairs]
        return float(np.array(each) @ number)

    grid = np.linspace(0.3, 0.7, 81)
    best = grid[np.argmax([exact(p) for p in grid])]
    learned = {}
    for inference, learning in PAIRS:
        learner = make_learner(bags, 2, 2, inference, learning)
        learner.parameters = Parameters.pad(np.array([[0.4, 1 - 1e-9], [0.6, 1e-9]]), np.ones(2))
        for _ in range(300):
            new, _ = learner.step()
            words = learner.parameters.word_aspect[:, :2].copy()
            words[:, 1] = [1 - 1e-9, 1e-9]
            learner.parameters = Parameters.pad(words, np.ones(2))
            if new < 1e-7:
                break
        learned[inference, learning] = abs(learner.parameters.word_aspect[0, 0] - best)
    assert learned["ep", "em"] < 0.03 and learned["ep", "bound"] < 0.03
    assert learned["ep", "em"] < learned["vb", "em"] < learned["vb", "bound"]


def test_even_words_stay_even_with_ep_and_go_to_extremes_with_the_bound():
    """Section 6.1: 100 documents of 100 words, five words alike; three aspects."""
    counts = np.random.default_rng(0).multinomial(100, np.full(5, 0.2), 100)
    options = {"alpha": 1.0, "learn_alpha": False, "smoothing": 0.0, "tol": 0.0, "n_iter": 500, "random_state": 0}
    ep = topoi.AspectModel(3, **options).fit(counts)
    vb = topoi.AspectModel(3, inference="vb", learning="bound", **options).fit(counts)
    assert 0.13 < ep.aspect_word_.min() and ep.aspect_word_.max() < 0.27
    assert vb.aspect_word_.min() < 0.08 and vb.aspect_word_.max() > 0.35


@pytest.mark.parametrize(("inference", "learning"), PAIRS)
def test_threads_and_memory(inference, learning):
    """No number of threads changes a bit; sites that are not kept, or come in parts, lead to the same place."""
    bags, _ = small_corpus(n_docs=40, n_aspects=3, seed=6)
    one, three, small = (
        make_learner(bags, 8, 3, inference, learning, True, memory, jobs)
        for memory, jobs in ((10**9, 1), (10**9, 3), (10_000, 2))
    )
    for learner in (one, three, small):
        for _ in range(4):
            learner.step(evidence=True)
    assert np.array_equal(one.parameters.word_aspect, three.parameters.word_aspect)
    assert np.array_equal(one.parameters.alpha, three.parameters.alpha)
    if inference == "ep":
        assert one.keeps_sites and not small.keeps_sites
        assert len(list(small._parts())) == (2 if learning == "bound" else 1)
    np.testing.assert_allclose(small.parameters.word_aspect, one.parameters.word_aspect, atol=1e-5)
    np.testing.assert_allclose(small.parameters.alpha, one.parameters.alpha, rtol=1e-3)


def test_dirichlet_maximum_likelihood():
    rng = np.random.default_rng(7)
    for alpha in ([0.02, 0.1, 3.0], [50.0, 2.0, 0.5], [1.0, 1.0, 1.0]):
        gamma = rng.gamma(2.0, 1.0, (50, 3)) * np.array(alpha) + 0.05
        mean_log = (digamma(gamma) - digamma(gamma.sum(1, keepdims=True))).mean(axis=0)
        for start in (np.full(3, 1e-3), np.ones(3), np.full(3, 1e3)):
            found = maximise_dirichlet(mean_log, start)
            np.testing.assert_allclose(digamma(found) - digamma(found.sum()), mean_log, rtol=1e-6, atol=1e-6)


def test_polya_maximum_likelihood_never_falls_and_ends_where_the_slope_is_zero():
    rng = np.random.default_rng(8)
    counts = np.array([rng.gamma(20.0, 1.0) * rng.dirichlet([0.3, 2.0, 1.0]) for _ in range(200)])

    def value(alpha):
        total = counts.sum(axis=1)
        gain = (gammaln(counts + alpha) - gammaln(alpha)).sum()
        return gain - (gammaln(total + alpha.sum()) - gammaln(alpha.sum())).sum()

    alpha = np.full(3, 50.0)
    for _ in range(40):
        new = maximise_polya(counts, alpha, 1)
        assert value(new) >= value(alpha) - 1e-9
        alpha = new
    slope = [(value(alpha + e) - value(alpha - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(slope, 0.0, atol=1e-2)


def test_aspects_and_alpha_are_recovered():
    truth = topoi.AspectModel.from_parameters(np.repeat(np.eye(3), 4, axis=1) * 0.22 + 0.01, [0.6, 1.0, 2.0])
    corpus = truth.simulate(600, 80, random_state=0)
    model = topoi.AspectModel(3, tol=1e-4, random_state=0, **PAPER).fit(corpus)
    order = [int(np.abs(model.aspect_word_ - row).sum(axis=1).argmin()) for row in truth.aspect_word_]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(model.aspect_word_[order], truth.aspect_word_, atol=0.03)
    np.testing.assert_allclose(model.alpha_[order] / model.alpha_.sum(), np.array([0.6, 1.0, 2.0]) / 3.6, atol=0.06)
    # A little of the common background moves from the aspects into alpha: a maximum of the likelihood, not the truth.
    np.testing.assert_allclose(model.alpha_[order], [0.6, 1.0, 2.0], rtol=0.6)
    of_model, of_truth = (each.log_likelihood(corpus, estimator="ep").sum() for each in (model, truth))
    assert of_model > of_truth
    assert model.fit_info_["converged"]


def test_aspects_that_die_are_reported_and_harmless():
    """More aspects than words: some are left with nothing."""
    counts = np.array([[9, 0], [0, 9]] * 20)
    options = PAPER | {"inference": "vb", "learning": "bound", "alpha": 0.01, "n_iter": 300}
    model = topoi.AspectModel(6, random_state=0, **options).fit(counts)
    assert np.isfinite(model.aspect_word_).all() and (model.aspect_word_ >= 0.5 * FLOOR).all()
    np.testing.assert_allclose(model.aspect_word_.sum(axis=1), 1.0)
    assert (model.alpha_ >= 1e-3).all()
    learner = make_learner(*small_corpus()[:1], 8, 2, "ep", "em")
    before = learner.parameters.word_aspect[:, 1].copy()
    new = np.zeros((8, 2))
    new[:, 0] = 1.0
    learner._take(new)
    np.testing.assert_allclose(learner.parameters.word_aspect[:, 1], before, atol=1e-9)


def test_smoothing_gives_words_that_the_corpus_lacks_a_share():
    counts = np.array([[4, 4, 0], [3, 5, 0]])
    plain = topoi.AspectModel(1, smoothing=0.0, random_state=0).fit(counts)
    smooth = topoi.AspectModel(1, smoothing=1.0, random_state=0).fit(counts)
    assert plain.aspect_word_[0, 2] < 1e-9
    np.testing.assert_allclose(smooth.aspect_word_[0], np.array([8, 10, 1]) / 19, rtol=1e-6)


def test_defaults_predict_new_documents_as_well_as_lda():
    """Rare words, and more of them than the training documents have: what the paper's settings are not made for."""
    rng = np.random.default_rng(0)
    frequent = 1.0 / np.arange(1, 801)
    topics = np.maximum(rng.dirichlet(150.0 * frequent / frequent.sum() + 1e-3, 5), 1e-9)
    truth = topoi.AspectModel.from_parameters(topics / topics.sum(axis=1, keepdims=True), 0.2)
    train, test = truth.simulate(150, 60, random_state=0), truth.simulate(100, 60, random_state=1)
    model = topoi.AspectModel(5, random_state=0).fit(train)
    assert model.fit_info_["stopped"] == "converged"
    found = model.perplexity(test)
    assert found < 1.15 * truth.perplexity(test)
    assert found < 1.02 * topoi.LDA(5, n_iter=200, random_state=0).fit(train).perplexity(test)
    paper = topoi.AspectModel(5, tol=1e-4, random_state=0, **PAPER).fit(train)
    assert paper.perplexity(test) > 1.15 * found


def test_a_fit_that_ends_at_its_limit_warns():
    counts = np.random.default_rng(0).poisson(1.0, (20, 10))
    with pytest.warns(UserWarning, match="3 EM steps were not enough: .* more than tol=0.001; raise n_iter"):
        model = topoi.AspectModel(2, n_iter=3, random_state=0).fit(counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        topoi.AspectModel(2, n_iter=3, tol=0.0, random_state=0).fit(counts)
        assert model.set_params(n_iter=1000).fit(counts).fit_info_["stopped"] == "converged"
