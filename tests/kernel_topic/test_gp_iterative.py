"""Iterations end where the factors of all matrices do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from kernel_topic.test_structured_operators import KERNELS, N_DOCS, made
from topoi.errors import ModelError
from topoi.models.kernel_topic import gaussian_process as gp
from topoi.models.kernel_topic import gp_iterative
from topoi.models.kernel_topic.evidence import Hyper, Layout, Shape, evidence_and_gradient, learn
from topoi.models.kernel_topic.gp_iterative import LargePrior, newton_step, start_large
from topoi.models.kernel_topic.large_process import (
    choose_blocks,
    given_near,
    learn_on_blocks,
    new_covariances,
    some_documents,
    some_sites,
    training_covariances,
)
from topoi.models.kernel_topic.operators import DenseOperator

RNG = np.random.default_rng(3)
N_TOPICS = 4
AMPLITUDE, NOISE = np.array([1.0, 2.0, 0.5, 0.1]), np.array([0.1, 0.2, 0.3, 1.5])
COUNTS = RNG.gamma(0.4, size=(N_DOCS, N_TOPICS)) * 40
COUNTS[2] = 0.0
Y = RNG.normal(size=(N_DOCS, N_TOPICS))


def priors(which: int) -> tuple[gp.Prior, LargePrior]:
    operator, matrix, _ = made(*KERNELS[which])
    return gp.Prior(matrix, AMPLITUDE, NOISE, 4.0), LargePrior(operator, AMPLITUDE, NOISE, 4.0)


@pytest.fixture(scope="module")
def both() -> tuple[gp.Prior, LargePrior]:
    return priors(0)


def test_a_product_is_that_of_every_topics_covariance(both) -> None:
    exact, large = both
    found = large.times(Y)
    for k in range(N_TOPICS):
        assert found[:, k] == pytest.approx(exact.covariance(k) @ Y[:, k], abs=1e-8)


@pytest.mark.parametrize("which", range(len(KERNELS)))
def test_a_step_is_newtons(which: int, monkeypatch) -> None:
    monkeypatch.setattr(gp_iterative, "_STEP_TOLERANCE", 1e-10)
    exact, large = priors(which)
    a = gp.start_at(exact, Y)
    y, found_a, n = start_large(large, Y)
    assert y == pytest.approx(Y, abs=1e-6) and found_a == pytest.approx(a, abs=1e-5)
    wanted = gp.solve(exact, gp.sites_at(Y, COUNTS))
    y, found_a, n = newton_step(large, COUNTS, Y, a)
    assert y == pytest.approx(wanted.y, abs=1e-5) and found_a == pytest.approx(wanted.a, abs=1e-5)
    assert n < 100


def test_a_matrix_takes_the_same_step(both, monkeypatch) -> None:
    monkeypatch.setattr(gp_iterative, "_STEP_TOLERANCE", 1e-10)
    exact, _ = both
    operator = DenseOperator(exact.shape, lambda new, diagonal: (new, np.ones(len(new))))
    y, a, _ = newton_step(LargePrior(operator, AMPLITUDE, NOISE, 4.0), COUNTS, Y, gp.start_at(exact, Y))
    wanted = gp.solve(exact, gp.sites_at(Y, COUNTS))
    assert y == pytest.approx(wanted.y, abs=1e-5) and a == pytest.approx(wanted.a, abs=1e-5)


def test_the_mode_is_the_same_to_a_part_in_a_million(both) -> None:
    exact, large = both
    wanted = gp.find_mode(exact, COUNTS, Y, gp.start_at(exact, Y), tol=1e-13)
    y, a, _ = start_large(large, Y)
    found = gp.climb(COUNTS, lambda y, a: newton_step(large, COUNTS, y, a)[:2], y, a, tol=1e-13)
    assert found.converged and found.objective == pytest.approx(wanted.objective, rel=1e-9)
    assert found.y == pytest.approx(wanted.y, abs=1e-4) and found.a == pytest.approx(wanted.a, abs=1e-4)


def test_the_preconditioner_spares_iterations(both, monkeypatch) -> None:
    _, large = both
    a = start_large(large, Y)[1]
    quick = newton_step(large, COUNTS, Y, a)[2]
    monkeypatch.setattr(gp_iterative.Preconditioner, "times", lambda self, columns: columns)
    assert quick < 0.6 * newton_step(large, COUNTS, Y, a)[2]


def test_the_preconditioner_is_the_inverse_where_no_names_are_shared() -> None:
    exact, large = priors(3)
    weight = gp.sites_at(Y, COUNTS).weight
    gain = gp_iterative.Gain(large, weight / (1.0 + large.diagonal * weight), True, gp.serially)
    x = RNG.normal(size=Y.shape)
    # A year and a random number: 120 values, more columns than the preconditioner takes; nearly the inverse.
    assert gain._preconditioner.times(gain._matrix(x)) == pytest.approx(x, abs=0.3)
    exact, large = priors(0)
    alone = LargePrior(large.shape, large.amplitude, large.noise, 4.0)
    alone.shape._sparse.data[:] = 0.0
    gain = gp_iterative.Gain(alone, weight / (1.0 + alone.diagonal * weight), True, gp.serially)
    assert gain._preconditioner.times(gain._matrix(x)) == pytest.approx(x, abs=1e-8)


def test_a_matrix_that_is_no_covariance_is_refused() -> None:
    operator = DenseOperator(RBF(2.0)(np.arange(20.0)[:, None]) - 3.0 * np.eye(20), None)
    prior = LargePrior(operator, np.ones(2), np.full(2, 0.1), 4.0)
    with pytest.raises(ModelError, match="positive definite"):
        start_large(prior, RNG.normal(size=(20, 2)))


@pytest.mark.parametrize("noise", [False, True])
def test_given_all_documents_covariances_are_exact(both, noise: bool) -> None:
    exact, large = both
    sites = gp.sites_at(Y, COUNTS)
    solution = gp.solve(exact, sites)
    found = training_covariances(large, sites.weight, n_near=N_DOCS)
    assert found == pytest.approx(gp.marginals(exact, solution), abs=1e-7)
    coordinates = large.shape.structure.coordinates[:6]
    wanted = gp.predict(exact, solution, exact.shape[:6], np.ones(6), noise)
    cross = large.shape.cross(coordinates)
    assert large.amplitude * cross.times(solution.a) + 4.0 * solution.a.sum(axis=0) == pytest.approx(
        wanted[0], abs=1e-7
    )
    assert new_covariances(large, sites.weight, cross, noise, n_near=N_DOCS) == pytest.approx(wanted[1], abs=1e-7)


def test_given_some_documents_covariances_are_wider_never_narrower(both) -> None:
    exact, large = both
    sites = gp.sites_at(Y, COUNTS)
    wanted = gp.marginals(exact, gp.solve(exact, sites))
    for n_near in (8, 32):
        found = training_covariances(large, sites.weight, n_near=n_near)
        assert np.linalg.eigvalsh(found - wanted).min() > -1e-9
    assert np.trace(found - wanted, axis1=1, axis2=2).mean() < 0.2 * np.trace(wanted, axis1=1, axis2=2).mean()


def test_one_near_document_is_one_by_brute_force() -> None:
    covariance, weight = np.array([[[2.0]], [[3.0]]]), np.array([[0.7, 0.4]])
    curvature = np.diag(weight[0]) - np.outer(weight[0], weight[0]) / weight.sum()
    wanted = np.linalg.inv(np.diag([0.5, 1 / 3]) + curvature)
    assert given_near(covariance, covariance[:, :, 0], covariance[:, 0, 0], weight) == pytest.approx(wanted)


def test_blocks_are_disjoint_and_related(both) -> None:
    _, large = both
    blocks = choose_blocks(large.shape, N_DOCS, seed=0, n_blocks=3, size=20)
    together = np.concatenate(blocks)
    assert [len(block) for block in blocks] == [20] * 3 and len(set(together.tolist())) == 60
    again = choose_blocks(large.shape, N_DOCS, seed=0, n_blocks=3, size=20)
    assert all((one == other).all() for one, other in zip(blocks, again, strict=True))
    assert [len(block) for block in choose_blocks(large.shape, N_DOCS, seed=0, size=50)] == [50, 50]
    whole = choose_blocks(large.shape, N_DOCS, seed=0, size=500)
    assert len(whole) == 1 and (whole[0] == np.arange(N_DOCS)).all()


def test_the_evidence_of_one_block_of_all_documents_is_the_evidence(both) -> None:
    operator, matrix, table = made(*KERNELS[0])
    hyper = Hyper(Shape(operator._scaled.kernel, table.coordinates), AMPLITUDE, NOISE)
    sites = gp.sites_at(Y, COUNTS)
    whole = learn(hyper, sites, False)
    found = learn_on_blocks(hyper, sites, [np.arange(N_DOCS)], False)
    assert found.log_evidence == pytest.approx(whole.log_evidence) and found.hyper.noise == pytest.approx(
        whole.hyper.noise
    )
    halves = [np.arange(0, N_DOCS, 2), np.arange(1, N_DOCS, 2)]
    layout = Layout(3, N_TOPICS, False)
    parts = [
        evidence_and_gradient(
            layout.pack(hyper), layout, hyper._replace(shape=some_documents(hyper.shape, docs)), some_sites(sites, docs)
        )[0]
        for docs in halves
    ]
    assert learn_on_blocks(hyper, sites, halves, False).log_evidence > sum(parts)
