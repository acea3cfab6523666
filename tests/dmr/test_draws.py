"""Drawn coefficients: the joint distribution is left alone, bits are fixed, and intervals hold what they promise."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix

import topoi
from dmr.planted import overlapping_corpus
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.models import draws as kept
from topoi.models.dmr import draws
from topoi.models.dmr.design import Design
from topoi.models.dmr.draws import draw, draws_at_once, metric_of
from topoi.models.dmr.likelihood import Density, Gaussian, TopicCells
from topoi.models.dmr.prediction import DrawnSpread
from topoi.models.dmr.state import Plan, RegressionSampler
from topoi.models.draws import Draws, most_draws


def cells_of(counts):
    d, k = np.nonzero(counts)
    start = np.searchsorted(d, np.arange(len(counts) + 1))
    return TopicCells(start.astype(np.int64), k.astype(np.int64), counts[d, k].astype(float), counts.sum(axis=1) * 1.0)


def paired_z(before, after):
    """Means of differences over their standard errors; replicates × statistics."""
    away = after - before
    return np.abs(away.mean(axis=0)) / (away.std(axis=0, ddof=1) / np.sqrt(len(away)))


def statistics(coefficients, counts):
    return np.concatenate(
        [coefficients.ravel(), coefficients.ravel() ** 2, (coefficients[:, 0] * np.log1p(counts.sum(axis=0))).ravel()]
    )


def stationarity(n, wrong=1.0, blocks=True):
    """Coefficients from the prior, counts given these, coefficients anew given the counts: the same joint distribution.

    ``wrong`` multiplies the prior variance that the step is told.
    """
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(6), np.arange(6) % 2, np.linspace(-1, 1, 6)])
    prior = Gaussian(np.tile([-0.5, 0.0, 0.0], (3, 1)), np.array([0.8, 0.5, 0.3]))
    told = prior._replace(variance=wrong * prior.variance)
    before, after = [], []
    for _ in range(n):
        start = prior.mean + np.sqrt(prior.variance) * rng.standard_normal(prior.mean.shape)
        shares = [rng.dirichlet(row) for row in np.exp(design @ start.T)]
        counts = np.array([rng.multinomial(15, share) for share in shares])
        sparse, cells = csr_matrix(design), cells_of(counts)
        metric = metric_of(sparse, cells, told, rng)
        assert metric.root.ndim == (3 if blocks else 2)
        end, _ = draw(Density(sparse, cells, told), start, metric, rng)
        before.append(statistics(start, counts))
        after.append(statistics(end, counts))
    return paired_z(np.array(before), np.array(after)).max()


def test_a_draw_leaves_the_joint_distribution_alone():
    assert stationarity(300) < 4.0


def test_one_scale_for_each_coefficient_is_as_right(monkeypatch):
    monkeypatch.setattr(draws, "_MOST_PRODUCTS", 0)
    assert stationarity(200, blocks=False) < 4.0


def test_stationarity_notices_a_wrong_prior():
    assert stationarity(200, wrong=4.0) > 6


def test_ends_of_long_steps_are_accepted_or_refused_rightly(monkeypatch):
    """With steps as short as usual nearly all ends are accepted, and a step without correction would pass."""
    monkeypatch.setattr(draws, "_LARGEST_GAIN", np.inf)
    monkeypatch.setattr(draws, "_LONGEST_STEP", 3.5)
    assert stationarity(200) < 4.0


def test_stationarity_notices_a_step_without_correction(monkeypatch):
    """Long steps whose ends are always accepted."""
    monkeypatch.setattr(draws, "_LARGEST_GAIN", np.inf)
    monkeypatch.setattr(draws, "_LONGEST_STEP", 3.5)
    monkeypatch.setattr(draws, "_log_uniform", lambda rng: -np.inf)
    assert stationarity(200) > 6


def from_truth(n, n_updates, wrong=1.0):
    """Coefficients, topics and words from the model: sweeps and draws from the truth keep the joint distribution."""
    story = topoi.DirichletMultinomialRegression(
        3, features=["x"], variance=0.5, intercept_variance=0.5, alpha=0.7, beta=np.full(8, 0.4)
    )
    before, after = [], []
    for seed in range(n):
        corpus = story.simulate({"x": np.linspace(-1, 1, 8).tolist()}, doc_length=12, random_state=seed)
        truth = corpus.truth
        design = Design.learn(corpus, ["x"]).matrix(corpus)
        mean = np.column_stack([np.full(3, np.log(0.7)), np.zeros(3)])
        sampler = RegressionSampler(corpus, design, Plan(mean, wrong * 0.5, wrong * 0.5, 0, 1, True), np.full(8, 0.4))
        none = Draws.none((3, 2))
        arrays = {"topic": truth.topic.astype(np.uint16), "alpha": np.ones(3), "beta": np.full(8, 0.4)}
        arrays |= {"coefficients": truth.coefficients, "variance": np.array([wrong * 0.5])}
        arrays |= {"frozen": np.zeros(0, np.uint16), "draws": none.values, "drawn_at": none.sweeps}
        chain = sampler.restore(0, arrays, [])
        before.append(joint_statistics(sampler, chain))
        for sweep in range(1, n_updates + 1):
            sweep_chains(sampler, [chain], sweep, seed, SerialExecutor())
        after.append(joint_statistics(sampler, chain))
    return paired_z(np.array(before), np.array(after)).max()


def joint_statistics(sampler, chain):
    counts = np.zeros((sampler.n_docs, 3))
    doc = np.repeat(np.arange(sampler.n_docs), np.diff(sampler._corpus.doc_start))
    np.add.at(counts, (doc, sampler.whole(chain)[1].topic), 1)
    slope = chain.priors.coefficients[:, 1]
    words = (chain.counts.word_topic[:, :3] ** 2).sum()
    return np.concatenate(
        [statistics(chain.priors.coefficients, counts), slope * (np.linspace(-1, 1, 8) @ counts), [words]]
    )


def test_sweeps_with_draws_leave_the_joint_distribution_alone():
    assert from_truth(120, 2) < 4.0


@pytest.mark.slow
def test_sweeps_with_draws_leave_the_joint_distribution_alone_long():
    assert from_truth(3000, 10) < 4.0


@pytest.mark.slow
def test_the_joint_test_notices_a_wrong_prior():
    assert from_truth(200, 2, wrong=8.0) > 5


@pytest.mark.slow
def test_a_draw_leaves_the_joint_distribution_alone_long():
    assert stationarity(5000) < 4.0


def test_draws_are_thinned_by_the_sweep_alone(monkeypatch):
    """However many there were, those kept are evenly spaced up to the latest; settled are those of the second half."""
    monkeypatch.setattr(kept, "_MOST_DRAWS", 8)
    found = Draws.none((2, 1))
    for sweep in range(10, 1000, 10):
        found = found.add(np.full((1, 2, 1), sweep), sweep)
        assert len(found.sweeps) <= 8 and len(set(np.diff(found.sweeps))) <= 1
        assert np.array_equal(found.values[:, 0, 0], found.sweeps)
        assert sweep - found.sweeps[-1] <= (np.diff(found.sweeps)[:1].sum() or 10)
        half = found.settled()[:, 0, 0]
        assert half.min() >= (found.sweeps[0] + found.sweeps[-1]) / 2 and len(half) >= len(found.sweeps) // 2
    assert len(found.sweeps) >= 4
    assert most_draws(10) == 8 and len(Draws.none((2, 1)).settled()) == 0


def test_draws_of_one_sweep_stay_together(monkeypatch):
    monkeypatch.setattr(kept, "_MOST_DRAWS", 24)
    found = Draws.none((2, 1))
    for sweep in range(10, 600, 10):
        found = found.add(np.full((3, 2, 1), sweep), sweep)
        at, times = np.unique(found.sweeps, return_counts=True)
        assert (times == 3).all() and len(found.sweeps) < 24 and len(set(np.diff(at))) <= 1
        assert np.array_equal(found.values[:, 1, 0], found.sweeps)


def test_few_draws_or_draws_of_few_sweeps_are_not_enough():
    def after(sweeps, at_once):
        found = Draws.none((2, 1))
        for sweep in sweeps:
            found = found.add(np.zeros((at_once, 2, 1)), sweep)
        return found.are_enough()

    assert not Draws.none((2, 1)).are_enough()
    assert after(range(10, 120, 10), 4) and not after(range(10, 100, 10), 4)
    assert after(range(10, 210, 10), 1) and not after(range(10, 180, 10), 1)


def test_many_coefficients_have_fewer_draws():
    assert most_draws(15) == 400 and most_draws(20_000) == 200 and most_draws(10**7) == 40
    assert [draws_at_once(size) for size in (15, 20_000, 10**7)] == [4, 2, 1]


def autocorrelated(rng, n_sweeps, at_once, shared, keep, shape=(3, 5)):
    """Draws of variance one about zero, of which a part is shared by those of a sweep and decays between sweeps."""
    slow, found = rng.standard_normal(shape), []
    for _ in range(n_sweeps):
        slow = keep * slow + np.sqrt(1 - keep**2) * rng.standard_normal(shape)
        found += [np.sqrt(shared) * slow + np.sqrt(1 - shared) * rng.standard_normal(shape) for _ in range(at_once)]
    return np.array(found)


@pytest.mark.parametrize("n_sweeps, at_once, shared, keep", [(23, 4, 0.3, 0.5), (23, 4, 0.5, 0.8), (23, 1, 0.6, 0.6)])
def test_errors_know_how_little_correlated_draws_are_worth(n_sweeps, at_once, shared, keep):
    """Mean ± 1.645 errors holds nine tenths of next draws, where the draws' own standard deviation does not."""
    rng = np.random.default_rng(0)
    inside, naive = [], []
    for _ in range(200):
        found, new = autocorrelated(rng, n_sweeps, at_once, shared, keep), rng.standard_normal((3, 5))
        away = np.abs(found.mean(axis=0) - new)
        inside.append((away < 1.645 * DrawnSpread(found).errors()).mean())
        naive.append((away < 1.645 * found.std(axis=0, ddof=1)).mean())
    assert 0.87 < np.mean(inside) < 0.96 and np.mean(naive) < np.mean(inside) - 0.02, (np.mean(inside), np.mean(naive))


def test_errors_of_many_independent_draws_are_standard_deviations():
    found = np.random.default_rng(0).standard_normal((400, 2, 3))
    spread = DrawnSpread(found)
    assert spread.effective > 300
    np.testing.assert_allclose(spread.errors(), found.std(axis=0, ddof=1), rtol=0.02)
    rows = np.array([[1.0, 0.0, 0.0], [1.0, -1.0, 2.0]])
    logs = np.einsum("dj,nkj->ndk", rows, found)
    for d in range(2):
        np.testing.assert_allclose(spread.of_logs(rows)[d], np.cov(logs[:, d].T), rtol=0.03, atol=1e-3)
    assert np.isfinite(DrawnSpread(np.repeat(found[:2], 10, axis=0)).errors()).all()
    assert (DrawnSpread(np.ones((10, 2, 3))).errors() == 0.0).all()


@pytest.fixture(scope="module")
def overlapping():
    """Four corpora whose topics overlap, with their fits and what is found of contrasts; true ones at the end."""
    weights = np.array([[0, 1, -1, 0, 0], [0, 0, 1, -1, 0], [0, 0, 0, 0, 1.0]])
    rows = {"sample": [], "optimise": []}
    for seed in range(4):
        corpus, truth, topic_word = overlapping_corpus(seed)
        for learning, found in rows.items():
            model = topoi.DirichletMultinomialRegression(
                3, features=["venue", "size"], beta=0.3, n_iter=300, learn_every=5, learning=learning, random_state=seed
            ).fit(corpus)
            there = [int(word[1:]) for word in model.vocabulary_.words]
            at = linear_sum_assignment(-np.sqrt(topic_word[:, there]) @ np.sqrt(model.topic_word_).T)[1]
            if learning == "sample":
                error = np.sqrt(np.diagonal(model._spread().of_logs(weights), axis1=1, axis2=2).T[at])
            else:
                spread = model._spread()._covariance
                error = np.sqrt([np.einsum("wi,ij,wj->w", weights, spread[k, :, k], weights) for k in at])
            found.append((model.coefficients_[at] @ weights.T, truth @ weights.T, error))
    return {name: [np.array(part) for part in zip(*found, strict=True)] for name, found in rows.items()}


@pytest.mark.slow
def test_intervals_cover_where_topics_overlap(overlapping):
    """90 % intervals from draws hold most planted contrasts; those from the curvature are too narrow."""
    inside, width = {}, {}
    for name, (found, truth, error) in overlapping.items():
        inside[name], width[name] = (np.abs(found - truth) < 1.645 * error).mean(), error.mean()
    assert 0.8 <= inside["sample"] <= 1.0 and inside["optimise"] < inside["sample"]
    assert width["sample"] > 1.15 * width["optimise"]
