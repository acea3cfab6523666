"""The paper's scheme: beliefs kept up to date document by document."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import topoi
from kernel_topic.planted import N_TOPICS, curves, matched, planted, softmax
from topoi.models.bags import Bags
from topoi.models.kernel_topic.evidence import Hyper, Shape
from topoi.models.kernel_topic.fitting import Counts
from topoi.models.kernel_topic.laplace_bridge import to_dirichlet, to_gaussian
from topoi.models.kernel_topic.message_passing import Messages
from topoi.models.kernel_topic.posterior import BridgePosterior

CORPUS, _ = planted(40, seed=0)


def messages(damping: float = 0.5) -> tuple[Messages, Counts]:
    years = CORPUS.documents["year"].to_numpy(float)[:, None]
    hyper = Hyper(Shape(RBF(20.0), years), np.ones(N_TOPICS), np.full(N_TOPICS, 0.2))
    counts = Counts(Bags.from_corpus(CORPUS), CORPUS.n_words, N_TOPICS, 0, 0.01)
    return Messages(hyper, CORPUS.n_docs, damping), counts


def test_steps_of_rank_one_are_the_whole_computation() -> None:
    state, counts = messages()
    for d in (0, 3, 0, 7, 39):
        state.visit(d, counts)
    covariance, mean = state.covariance.copy(), state.mean.copy()
    state.refresh()
    assert covariance == pytest.approx(state.covariance, abs=1e-8)
    assert mean == pytest.approx(state.mean, abs=1e-8)


def test_a_whole_message_brings_the_belief_over_the_bridge() -> None:
    """Without damping, the belief about a document after a visit is its Dirichlet's Gaussian, but for a constant."""
    state, counts = messages(damping=1.0)
    cavity = state.mean[4] - state.mean[4].mean()
    alpha = to_dirichlet(cavity, np.diagonal(state.covariance, axis1=1, axis2=2)[:, 4])
    state.visit(4, counts)
    mean, variance = to_gaussian(alpha + counts.doc_topic[4])
    assert np.diagonal(state.covariance, axis1=1, axis2=2)[:, 4] == pytest.approx(variance)
    assert state.mean[4] == pytest.approx(mean, abs=1e-8)
    again = state.precision[4].copy()
    assert (again > 0).all()


def test_the_cavity_leaves_out_the_documents_own_message() -> None:
    """Visited again, a document whose words are shared as before changes nothing: its own message is not news."""
    state, counts = messages(damping=1.0)
    for _ in range(60):
        state.visit(2, counts)
    before = state.precision[2].copy()
    state.visit(2, counts)
    assert state.precision[2] == pytest.approx(before, rel=1e-3)


def test_what_has_no_gaussian_is_counted() -> None:
    state, counts = messages()
    state.precision[1] = 1e6
    state.visit(1, counts)
    assert state.info["skipped_documents"] == 1
    assert (state.precision[1] == 1e6).all()


def test_planted_curves_are_found() -> None:
    corpus, shares = planted(100, seed=0)
    model = topoi.KernelTopicModel(
        N_TOPICS, features=["year"], inference="bridge", n_iter=60, n_warmup=40, random_state=0
    ).fit(corpus)
    at = matched(model)
    assert np.abs(model.doc_topic_[:, at] - shares).mean() < 0.05
    years = np.arange(1902, 1998, 4)
    mean = model.predict({"year": years}, noise=False)["mean"].to_numpy().reshape(-1, N_TOPICS)[:, at]
    assert np.abs(mean - softmax(curves(years))).mean() < 0.06
    assert {"skipped_documents", "clipped_messages", "clipped_dirichlets"} <= set(model.fit_info_)


def test_a_belief_about_the_sum_of_y_does_not_come_back_as_news() -> None:
    (one, counts), (other, same) = messages(), messages()
    other.mean[4] += 3.0
    one.visit(4, counts)
    other.visit(4, same)
    assert other.precision[4] == pytest.approx(one.precision[4])
    assert other.shift[4] == pytest.approx(one.shift[4])


@pytest.mark.parametrize("noise", [False, True])
def test_predictions_are_scikit_learns(noise: bool) -> None:
    state, counts = messages()
    for d in range(40):
        state.visit(d, counts)
    posterior = BridgePosterior(state.hyper, state.precision, state.shift, counts.doc_topic)
    x, new = state.hyper.shape.coordinates, np.array([[1950.0], [2100.0]])
    mean, covariance = posterior.new(new, noise)
    for k in range(N_TOPICS):
        kernel = ConstantKernel(state.hyper.amplitude[k]) * RBF(20.0) + ConstantKernel(4.0)
        # The document's own noise and its message's variance add up.
        theirs = GaussianProcessRegressor(kernel, alpha=0.2 + 1 / state.precision[:, k], optimizer=None)
        theirs.fit(x, state.shift[:, k] / state.precision[:, k])
        expected, deviation = theirs.predict(new, return_std=True)
        assert mean[:, k] == pytest.approx(expected, abs=1e-6)
        assert covariance[:, k, k] == pytest.approx(deviation**2 + (0.2 if noise else 0.0), abs=1e-6)
    assert posterior.training()[0] == pytest.approx(state.mean, abs=1e-6)
