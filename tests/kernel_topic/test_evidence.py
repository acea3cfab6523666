"""The evidence's gradient against finite differences, and that learning raises it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, RationalQuadratic

from topoi.models.kernel_topic import gaussian_process as gp
from topoi.models.kernel_topic.evidence import Hyper, Layout, Shape, evidence_and_gradient, learn
from topoi.models.kernel_topic.message_passing import message_evidence

RNG = np.random.default_rng(8)
N_DOCS, N_TOPICS = 9, 3
X = RNG.uniform(0, 10, (N_DOCS, 1))
COUNTS = RNG.poisson(6.0, (N_DOCS, N_TOPICS)).astype(float)


def hyper_of(kernel=None) -> Hyper:
    shape = Shape(RationalQuadratic(2.0, 0.7) if kernel is None else kernel, X)
    return Hyper(shape, np.array([1.0, 2.0, 0.5]), np.array([0.1, 0.3, 0.2]))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scheme", ["counts", "messages"])
def test_gradients_are_differences(shared: bool, scheme: str) -> None:
    hyper = hyper_of()
    if shared:
        hyper = hyper._replace(amplitude=np.full(N_TOPICS, 1.5))
    layout = Layout(2, N_TOPICS, shared)
    sites = gp.sites_at(RNG.normal(size=(N_DOCS, N_TOPICS)), COUNTS)
    precision, shift = RNG.gamma(2.0, size=(2, N_DOCS, N_TOPICS))

    def evaluate(x):
        if scheme == "counts":
            return evidence_and_gradient(x, layout, hyper, sites)
        return message_evidence(x, layout, hyper, precision, shift)

    x = layout.pack(hyper)
    gradient = evaluate(x)[1]
    assert len(x) == len(gradient) == len(layout.bounds(hyper)) == 2 + (1 if shared else N_TOPICS) + N_TOPICS
    for i in range(len(x)):
        step = 1e-5 * np.eye(len(x))[i]
        slope = (evaluate(x + step)[0] - evaluate(x - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_learning_raises_the_evidence() -> None:
    hyper = hyper_of()
    sites = gp.sites_at(RNG.normal(size=(N_DOCS, N_TOPICS)), COUNTS)
    before = gp.solve(hyper.prior(), sites).log_evidence
    found = learn(hyper, sites, shared=False)
    assert found.log_evidence > before
    assert gp.solve(found.hyper.prior(), sites).log_evidence == pytest.approx(found.log_evidence)


def test_noise_and_length_scale_are_recovered() -> None:
    """Counts so many that y is known: then it is plain maximum likelihood for a Gaussian process."""
    rng = np.random.default_rng(3)
    x = np.linspace(0, 60, 150)[:, None]
    shape = RBF(3.0)(x)
    true = gp.Prior(shape, np.array([1.0, 1.0]), np.array([0.04, 0.04]), 0.0)
    y = np.stack([np.linalg.cholesky(true.covariance(k)) @ rng.normal(size=150) for k in range(2)], axis=1)
    share = np.exp(y) / np.exp(y).sum(axis=1, keepdims=True)
    counts = 1e4 * share
    hyper = Hyper(Shape(RBF(1.0), x), np.full(2, 3.0), np.full(2, 0.5))
    for _ in range(4):
        prior = hyper.prior()
        mode = gp.find_mode(prior, counts, y, gp.start_at(prior, y))
        hyper = learn(hyper, gp.sites_at(mode.y, counts), shared=True, n_steps=50).hyper
    assert hyper.shape.kernel.length_scale == pytest.approx(3.0, rel=0.2)
    assert hyper.noise.mean() == pytest.approx(0.04, rel=0.3)
    assert hyper.amplitude[0] == pytest.approx(1.0, rel=0.8)


def test_learning_does_not_leap() -> None:
    """Sites are an approximation near where they were made; far away rounding decides what the evidence is."""
    hyper = hyper_of()
    sites = gp.sites_at(RNG.normal(size=(N_DOCS, N_TOPICS)), 1e4 * COUNTS)
    layout = Layout(2, N_TOPICS, False)
    found = learn(hyper, sites, shared=False, n_steps=50)
    assert np.abs(layout.pack(found.hyper) - layout.pack(hyper)).max() < 1.5 + 1e-9


def test_priors_pull_towards_where_learning_began() -> None:
    """What the evidence does not know stays near its start, and the slope of the sum vanishes at its maximum."""
    rng = np.random.default_rng(0)
    sites = gp.sites_at(np.zeros((N_DOCS, N_TOPICS)), rng.poisson(0.4, (N_DOCS, N_TOPICS)).astype(float))
    first = hyper_of()
    layout, free, held = Layout(2, N_TOPICS, False), first, first
    for _ in range(8):
        free = learn(free, sites, shared=False, n_steps=50).hyper
        held = learn(held, sites, shared=False, n_steps=50, centre=first).hyper
    away = layout.pack(held) - layout.pack(first)
    assert np.abs(away).max() < 0.5 * np.abs(layout.pack(free) - layout.pack(first)).max()
    slope = evidence_and_gradient(layout.pack(held), layout, held, sites)[1] - away / 4.0
    assert np.abs(slope).max() < 0.3
