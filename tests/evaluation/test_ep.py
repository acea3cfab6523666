"""EP evidence and EP-proposed sampling for the Gibbs families, against their particle filters and against sums."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.evaluation import ep_likelihood, importance_likelihood


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    halves = [list("abcd"), list("efgh")]
    docs = [[str(w) for w in rng.choice(halves[d % 2], 6)] + [str(rng.choice(list("abcdefgh")))] for d in range(30)]
    return topoi.Corpus.from_tokens(docs, authors=[["Ann"], ["Bob"], ["Ann", "Bob"]] * 10)


def test_lda_agrees_with_its_particle_filter(corpus):
    model = topoi.LDA(3, alpha=1.0, n_iter=60, n_chains=2, random_state=0).fit(corpus)
    exact = model.log_likelihood(corpus, n_particles=2000)
    assert np.abs(ep_likelihood(model, corpus) - exact).mean() < 0.06
    report = importance_likelihood(model, corpus, 4000)
    off = (report["log_likelihood"] - exact).to_numpy()
    assert np.abs(off).max() < 0.12 and abs(off.mean()) < 0.02
    assert (report["standard_error"].dropna() < 0.05).all() and report["standard_error"].notna().mean() > 0.8
    assert (report["effective_samples"] > 200).all()


def test_known_authors_need_no_integral(corpus):
    model = topoi.AuthorTopicModel(2, alpha=0.5, n_iter=60, random_state=0).fit(corpus)
    np.testing.assert_allclose(ep_likelihood(model, corpus), model.log_likelihood(corpus), rtol=1e-5)
    report = importance_likelihood(model, corpus, 50)
    np.testing.assert_allclose(report["log_likelihood"], model.log_likelihood(corpus), rtol=1e-5)
    assert (report["standard_error"] == 0).all()


@pytest.mark.parametrize("weight", [None, 0.3])
def test_known_and_private_authors_together(corpus, weight):
    options = {"fictitious_authors": True, "fictitious_weight": weight, "alpha": 0.7, "n_iter": 60, "random_state": 0}
    model = topoi.AuthorTopicModel(2, **options).fit(corpus)
    exact = model.log_likelihood(corpus, n_particles=2000)
    assert np.abs(ep_likelihood(model, corpus) - exact).max() < 0.05
    assert np.abs(importance_likelihood(model, corpus, 4000)["log_likelihood"] - exact).max() < 0.05


def test_aspect_model_gives_its_own(corpus):
    model = topoi.AspectModel(2, n_iter=10, random_state=0).fit(corpus)
    np.testing.assert_allclose(ep_likelihood(model, corpus), model.log_likelihood(corpus, "ep"), atol=1e-4)


def test_models_without_dirichlet_mixtures_are_refused(corpus):
    model = topoi.PachinkoAllocation(2, 2, n_iter=2, random_state=0).fit(corpus)
    with pytest.raises(topoi.ModelError, match="PachinkoAllocation has no Dirichlet mixture"):
        ep_likelihood(model, corpus)


@pytest.mark.parametrize("estimate", [ep_likelihood, importance_likelihood])
def test_mixtures_that_are_not_dirichlet_are_refused(corpus, estimate):
    model = topoi.CorrelatedTopicModel(3, n_iter=5, random_state=0).fit(corpus)
    with pytest.raises(topoi.ModelError, match="CorrelatedTopicModel has no Dirichlet mixture"):
        estimate(model, corpus)
