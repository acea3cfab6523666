"""EM of probabilistic latent semantic indexing against dense matrices, and what must hold of any EM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from topoi.models.bags import Bags
from topoi.models.plsi import equations, fitting, kernels
from topoi.models.plsi.fitting import EMRestarts, Plan, State, split_bags

N_DOCS, N_WORDS = 7, 9
PLAIN = Plan(0.0, 0.0, 0.0, 0.9, 1, 1)


def problem(seed: int, n_topics: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.2, (N_DOCS, N_WORDS)).astype(np.float64)
    counts[3] = 0
    words, mixtures = rng.dirichlet(np.ones(N_WORDS), n_topics).T.copy(), rng.dirichlet(np.ones(n_topics), N_DOCS)
    return counts, Bags.from_matrix(counts), words, mixtures


def step(bags: Bags, words: Any, mixtures: Any, power: float = 1.0, smoothing: float = 0.0) -> tuple[Any, Any, float]:
    by_word, by_document = np.zeros_like(words), np.zeros_like(mixtures)
    value = kernels.expect(bags, words, mixtures, power, by_word, by_document)
    new = words.copy(), mixtures.copy()
    kernels.maximise(by_word, by_document, smoothing, *new)
    return *new, value


@pytest.mark.parametrize("n_topics", [1, 3, 4, 6, 8])
@pytest.mark.parametrize(("power", "smoothing"), [(1.0, 0.0), (0.7, 0.0), (1.0, 0.3)])
def test_step_is_that_of_dense_matrices(n_topics: int, power: float, smoothing: float) -> None:
    counts, bags, words, mixtures = problem(n_topics, n_topics)
    with np.errstate(invalid="ignore"):
        expected = equations.em_step(counts, words, mixtures, power, smoothing)
    new_words, new_mixtures, value = step(bags, words, mixtures, power, smoothing)
    assert value == pytest.approx(equations.log_likelihood(counts, words, mixtures), rel=1e-12)
    np.testing.assert_allclose(new_words, expected[0], rtol=1e-10, atol=1e-15)
    full = counts.sum(axis=1) > 0
    np.testing.assert_allclose(new_mixtures[full], expected[1][full], rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(new_mixtures[~full], mixtures[~full])  # without words there is nothing to learn
    np.testing.assert_allclose(new_words.sum(axis=0), 1.0)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_likelihood_never_falls(smoothing: float) -> None:
    """With smoothing the sum of log-likelihood and smoothing · Σ log P(w|z) never does."""
    for seed in range(10):
        _, bags, words, mixtures = problem(seed, 3)
        before = -np.inf
        for _ in range(60):
            prior = smoothing * np.log(words).sum() if smoothing else 0.0
            new_words, new_mixtures, value = step(bags, words, mixtures, smoothing=smoothing)
            assert value + prior >= before - 1e-9 * abs(value)
            before, words, mixtures = value + prior, new_words, new_mixtures


def test_fixed_points() -> None:
    """One topic is the unigram model after one step; documents with words of their own are explained without error."""
    counts, bags, words, mixtures = problem(0, 1)
    new_words, _, _ = step(bags, words, mixtures)
    np.testing.assert_allclose(new_words[:, 0], counts.sum(axis=0) / counts.sum())
    blocks = np.kron(np.eye(3), [[2.0, 1.0]])
    words, mixtures = np.repeat(np.eye(3), 2, axis=0) * np.tile([[2 / 3], [1 / 3]], (3, 1)), np.eye(3)
    new_words, new_mixtures, value = step(Bags.from_matrix(blocks), words, mixtures)
    np.testing.assert_allclose(new_words, words)
    np.testing.assert_allclose(new_mixtures, mixtures)
    assert value == pytest.approx(3 * (2 * np.log(2 / 3) + np.log(1 / 3)))


def test_converged_fit_is_a_stationary_point() -> None:
    """No small change of a word's or a topic's share raises the likelihood."""
    counts, bags, *_ = problem(2, 2)
    training = EMRestarts(bags, N_WORDS, 2, PLAIN, 0)
    for sweep in range(3000):
        training.step(sweep + 1, False)
    words, mixtures = training.state.word_topic, training.state.doc_topic
    best, rng = equations.log_likelihood(counts, words, mixtures), np.random.default_rng(0)
    for _ in range(200):
        other = (
            words * np.exp(1e-3 * rng.normal(size=words.shape)),
            mixtures * np.exp(1e-3 * rng.normal(size=(N_DOCS, 2))),
        )
        other = other[0] / other[0].sum(axis=0), other[1] / other[1].sum(axis=1, keepdims=True)
        assert equations.log_likelihood(counts, *other) <= best + 1e-7


def test_folding_in_finds_the_most_probable_mixture() -> None:
    """The likelihood of a mixture is concave: another optimiser from another start ends in the same place."""
    counts, bags, words, _ = problem(4, 3)
    found = np.zeros((N_DOCS, 3))
    kernels.fold_in(bags, words, 1.0, 20_000, 1e-12, found)
    for d in np.flatnonzero(counts.sum(axis=1)):

        def loss(x: Any, d: int = d) -> float:
            mixture = np.exp(x - x.max()) / np.exp(x - x.max()).sum()
            return -float(counts[d] @ np.log(words @ mixture))

        best = minimize(loss, np.random.default_rng(d).normal(size=3), tol=1e-12)
        assert -equations.log_likelihood(counts[d : d + 1], words, found[d : d + 1]) == pytest.approx(
            best.fun, abs=1e-6
        )
    np.testing.assert_allclose(found[3], 1 / 3)


def test_folding_in_does_not_depend_on_the_documents_before() -> None:
    _, bags, words, _ = problem(5, 3)
    whole, alone = np.zeros((N_DOCS, 3)), np.zeros((1, 3))
    kernels.fold_in(bags, words, 1.0, *fitting.FOLDING, whole)
    for d in range(N_DOCS):
        kernels.fold_in(bags.part(d, d + 1), words, 1.0, *fitting.FOLDING, alone)
        assert np.array_equal(alone[0], whole[d])


def test_words_that_no_topic_has() -> None:
    words = np.array([[1.0, 0.5], [0.0, 0.5], [0.0, 0.0]])
    bags = Bags.from_matrix([[1, 1, 4]])
    mixture, labels = np.zeros((1, 2)), np.zeros((3, 2))
    kernels.fold_in(bags, words, 1.0, *fitting.FOLDING, mixture)
    expected = np.zeros((1, 2))
    kernels.fold_in(Bags.from_matrix([[1, 1, 0]]), words, 1.0, *fitting.FOLDING, expected)
    assert np.array_equal(mixture, expected)
    assert kernels.score(bags, words, mixture)[0] == -np.inf
    kernels.label(np.array([0, 1, 2]), words, mixture[0], 1.0, labels)
    np.testing.assert_allclose(labels[1:], [[0, 1], mixture[0]])


def test_blocks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    _, bags, words, mixtures = problem(6, 3)
    one = EMRestarts(bags, N_WORDS, 3, PLAIN, 0, State(words, mixtures))
    monkeypatch.setattr(fitting, "_WORDS_PER_BLOCK", 8)
    several = [EMRestarts(bags, N_WORDS, 3, PLAIN._replace(n_jobs=jobs), 0, State(words, mixtures)) for jobs in (1, 3)]
    assert len(several[0]._blocks) > 3 and len(one._blocks) == 1
    for training in (one, *several):
        for sweep in range(3):
            training.step(sweep + 1, True)
    np.testing.assert_allclose(several[0].state.word_topic, one.state.word_topic, rtol=1e-12)
    np.testing.assert_allclose(several[0].state.doc_topic, one.state.doc_topic, rtol=1e-12)
    assert np.array_equal(several[0].state.word_topic, several[1].state.word_topic)
    assert several[0].state.last == several[1].state.last


# Tempered EM.


def test_held_out_words_are_the_rest() -> None:
    counts = np.random.default_rng(0).poisson(30.0, (40, 20)).astype(np.float64)
    train, held = split_bags(Bags.from_matrix(counts), 0.25, 3)

    def dense(bags: Bags) -> Any:
        found = np.zeros_like(counts)
        found[np.repeat(np.arange(40), np.diff(bags.doc_start)), bags.row] = bags.times
        return found

    assert np.array_equal(dense(train) + dense(held), counts)
    assert held.times.sum() / counts.sum() == pytest.approx(0.25, abs=0.02)
    assert (train.times > 0).all() and (held.times > 0).all()


def test_tempered_em_keeps_what_predicts_best_and_cools() -> None:
    """The value kept is the largest of all steps, and the power falls each time that a power has stopped to help."""
    rng = np.random.default_rng(1)
    counts = np.stack([rng.multinomial(40, p) for p in rng.dirichlet(np.full(30, 0.5), 25)]).astype(np.float64)
    training = EMRestarts(Bags.from_matrix(counts), 30, 10, Plan(0.0, 0.1, 0.2, 0.8, 1, 1), 0)
    values, powers = [], []
    for sweep in range(400):
        training.step(sweep + 1, False)
        state = training.state
        values.append(float(kernels.score(training._held, state.word_topic, state.doc_topic).sum()))
        powers.append(state.power)
        assert state.best == max(values)
        if training.converged:
            break
    assert training.converged and powers[0] == 1.0 and powers[-1] < 0.9
    assert set(np.round(np.log(powers) / np.log(0.8)).tolist()) == set(
        range(round(np.log(powers[-1]) / np.log(0.8)) + 1)
    )
    words, mixtures = training.state.kept
    assert float(kernels.score(training._held, words, mixtures).sum()) == training.state.best
    fitted_words, folded, value = training.finish()
    assert np.array_equal(fitted_words, words)
    assert value == pytest.approx(equations.log_likelihood(counts, words, folded))
