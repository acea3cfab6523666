"""One held-out quantity for every family, by every estimator; its errors; words that cannot occur."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from studies.likelihood_errors import problem

import topoi
from aspect.exact import two_aspects
from topoi import evaluation
from topoi.errors import ModelError

WORDS = [f"w{i}" for i in range(60)]


def planted(n_docs=60, length=25, seed=0):
    """Three topics; the venue says which of them leads, or, a coin, nothing."""
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(99).dirichlet(np.full(60, 0.1), 3)
    venue, coin = rng.integers(3, size=n_docs), rng.integers(2, size=n_docs)
    rows = []
    for d in range(n_docs):
        share = rng.dirichlet(0.2 + 2.0 * (np.arange(3) == venue[d]))
        rows.append([WORDS[rng.choice(60, p=topics[k])] for k in rng.choice(3, length, p=share)])
    metadata = {"venue": [f"v{v}" for v in venue], "coin": [f"c{c}" for c in coin]}
    return topoi.Corpus.from_tokens(rows, words=WORDS, metadata=metadata)


@pytest.fixture(scope="module")
def corpora():
    return planted(120), planted(30, seed=5)


@pytest.fixture(scope="module", params=["kernel", "dmr"])
def fitted(request, corpora):
    if request.param == "dmr":
        made = topoi.DirichletMultinomialRegression(3, features=["venue"], n_iter=80, random_state=0)
    else:
        made = topoi.KernelTopicModel(3, features=["venue"], n_iter=40, n_warmup=30, random_state=0)
    return made.fit(corpora[0])


def other_venue(corpus):
    """The documents with metadata that say something else."""
    names = corpus.documents["venue"].to_numpy()
    return {"venue": ["v0" if name != "v0" else "v1" for name in names]}


def test_families_are_compared_by_one_quantity(corpora):
    """A feature that says nothing leaves what LDA has; plugging in the prior mean is another, larger number."""
    train, test = corpora
    lda = topoi.LDA(3, alpha=0.3, n_iter=80, random_state=0).fit(train).perplexity(test)
    options = {"features": ["coin"], "random_state": 0}
    dmr = topoi.DirichletMultinomialRegression(3, n_iter=80, **options).fit(train)
    kernel = topoi.KernelTopicModel(3, n_iter=40, n_warmup=30, **options).fit(train)
    for model in (dmr, kernel):
        assert model.perplexity(test) == pytest.approx(lda, rel=0.05)
        assert model.perplexity(test, given="metadata") > 1.1 * lda
        assert np.log(model.perplexity(test)) == pytest.approx(-model.score(test))


def test_every_estimator_reads_the_metadata(fitted, corpora):
    test = corpora[1]
    small = test.subset(np.arange(12))
    wrong = other_venue(small)
    estimators = {
        "own": fitted.log_likelihood,
        "empirical": lambda c, **k: evaluation.empirical_likelihood(fitted, c, 20_000, **k),
        "importance": lambda c, **k: evaluation.importance_likelihood(fitted, c, 500, **k)["log_likelihood"].to_numpy(),
    }
    if hasattr(fitted, "coefficients_"):
        estimators |= {
            "left to right": lambda c, **k: evaluation.left_to_right(fitted, c, 10, **k),
            "ep": lambda c, **k: evaluation.ep_likelihood(fitted, c, **k),
        }
    reference = fitted.log_likelihood(small, n_particles=2000)
    for name, estimate in estimators.items():
        assert estimate(small) == pytest.approx(reference, abs=2.5), name
        assert estimate(small).sum() > estimate(small, metadata=wrong).sum() + 3.0, name


def test_a_kernel_models_likelihood_is_the_integral(corpora):
    """Against the plain mean over very many draws of the belief, within the errors that are stated."""
    train, test = corpora
    model = topoi.KernelTopicModel(3, features=["venue"], n_iter=40, n_warmup=30, random_state=0).fit(train)
    some = test.subset(np.arange(8))
    report = model.log_likelihood_report(some, random_state=1)
    draws = model.draw_shares(some, 40_000)
    for d in range(8):
        words = some.tokens[some.doc_start[d] : some.doc_start[d + 1]]
        log_p = np.log(draws[:, d] @ model.topic_word_[:, words]).sum(axis=1)
        truth = np.log(np.exp(log_p - log_p.max()).mean()) + log_p.max()
        assert abs(report["log_likelihood"][d] - truth) < 4 * report["standard_error"][d] + 0.03
    order = np.array([5, 2, 7])
    found = model.log_likelihood(some.subset(order))
    np.testing.assert_allclose(found, model.log_likelihood(some)[order], rtol=1e-9)
    model.n_jobs = 3
    np.testing.assert_array_equal(model.log_likelihood(some, random_state=1), report["log_likelihood"])


def test_estimators_that_need_dirichlets_say_what_works(corpora):
    model = topoi.KernelTopicModel(3, features=["venue"], n_iter=5, n_warmup=5, random_state=0).fit(corpora[0])
    for call in (evaluation.left_to_right, evaluation.ep_likelihood):
        with pytest.raises(ModelError, match=r"KernelTopicModel does not have this estimator.*model\.log_likelihood"):
            call(model, corpora[1])
    lda = topoi.LDA(2, n_iter=2, random_state=0).fit(corpora[0])
    with pytest.raises(ModelError, match="LDA reads no metadata"):
        evaluation.left_to_right(lda, corpora[1], metadata={"venue": []})


def known_model(alpha, n_topics=20, n_words=300, n_docs=12, length=40):
    return problem(n_topics, n_words, alpha, length, n_docs, seed=None)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5])
def test_particles_grow_until_the_estimate_settles(alpha):
    model, corpus = known_model(alpha)
    truth = model.log_likelihood(corpus, n_particles=3000, random_state=7)
    reports = [model.log_likelihood_report(corpus, random_state=s) for s in range(3)]
    off = np.concatenate([r["log_likelihood"] - truth for r in reports])
    error = np.concatenate([r["standard_error"] for r in reports])
    assert abs(off.mean()) < 0.005 * 40
    assert (np.abs(off) < 2 * error + 0.05).mean() > 0.85
    assert (error <= 1.6 * 0.08 * np.sqrt(40) + 1e-9).mean() > 0.95
    assert reports[0]["n_particles"].nunique() > 1 or alpha == 0.5
    single = model.log_likelihood_report(corpus, n_particles=20)
    assert single["standard_error"].isna().all() and (single["n_particles"] == 20).all()
    order = np.array([3, 1, 8])
    again = model.log_likelihood(corpus.subset(order), random_state=0)
    np.testing.assert_array_equal(again, reports[0]["log_likelihood"].to_numpy()[order])
    model.n_jobs = 3
    np.testing.assert_array_equal(model.log_likelihood(corpus, random_state=0), reports[0]["log_likelihood"])


def test_the_order_of_words_does_not_matter():
    model, corpus = known_model(0.1, n_docs=2)
    turned = topoi.Corpus(
        tokens=np.concatenate((corpus.tokens[:40][::-1], corpus.tokens[40:][::-1])),
        doc_start=corpus.doc_start,
        vocabulary=corpus.vocabulary,
    )
    np.testing.assert_array_equal(model.log_likelihood(corpus), model.log_likelihood(turned))
    assert model.perplexity(corpus, n_particles=50) != model.perplexity(corpus, n_particles=100)


def test_errors_are_stated_only_where_they_hold():
    """At alpha 0.03 draws miss explanations: importance and empirical likelihood have no error, and say why."""
    model, corpus = known_model(0.03, length=60)
    for report, why in (
        (evaluation.importance_likelihood(model, corpus), "since an alpha is below 1"),
        (
            evaluation.empirical_likelihood_report(model, corpus),
            "the Pareto shape of the samples' weights is|too few of 1000 samples count",
        ),
    ):
        assert report["standard_error"].isna().all()
        assert report["note"].str.contains(why).all() and report["note"].str.contains("the particle filter").all()
    with pytest.warns(UserWarning, match="rest on too few samples.*the particle filter"):
        evaluation.empirical_likelihood(model, corpus)
    smooth, corpus = known_model(1.0, n_topics=5, length=20)
    report = evaluation.importance_likelihood(smooth, corpus)
    stated = report["standard_error"].notna()
    assert stated.mean() > 0.8 and ((report["note"] == "") == stated).all()


@pytest.mark.parametrize("length, least", [(10, 0.6), (60, 0.3)])
def test_stated_errors_hold(length, least):
    """At alpha 1 many documents have an error, and the truth is within two of them as often as it should be."""
    model, corpus = known_model(1.0, n_topics=20, length=length)
    truth = model.log_likelihood(corpus, n_particles=3000, random_state=7)
    inside, stated = [], []
    for seed in range(6):
        report = evaluation.importance_likelihood(model, corpus, random_state=seed)
        there = report["standard_error"].notna()
        off = (report["log_likelihood"] - truth).abs()
        inside += (off <= 2 * report["standard_error"] + 0.01)[there].tolist()
        stated.append(there.mean())
    assert np.mean(stated) > least and np.mean(inside) > 0.85, (np.mean(stated), np.mean(inside))


def test_two_topics_against_quadrature():
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(40):
        alpha = np.exp(rng.uniform(np.log(0.03), 0.5, 2))
        topics = rng.dirichlet(np.full(6, 0.4), 2) + 1e-3
        topics /= topics.sum(axis=1, keepdims=True)
        counts = rng.integers(0, 4, 6)
        model = topoi.AspectModel.from_parameters(topics, alpha)
        report = model.log_likelihood_report([counts.tolist()])
        truth = two_aspects(topics.T, counts.astype(float), alpha).log_likelihood
        inside.append(abs(report["log_likelihood"][0] - truth) <= 2 * report["standard_error"][0] + 1e-6)
    assert np.mean(inside) > 0.85


def test_a_word_that_cannot_occur_is_at_minus_infinity_by_every_estimator():
    model = topoi.AspectModel.from_parameters([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]], 1.0, words=["a", "b", "c"])
    test = topoi.Corpus.from_tokens([["a", "c", "b"], ["a", "b"]], words=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {
            "filter": model.log_likelihood(test),
            "one filter": model.log_likelihood(test, n_particles=5),
            "left to right": evaluation.left_to_right(model, test),
            "empirical": evaluation.empirical_likelihood(model, test, 200),
            "ep": evaluation.ep_likelihood(model, test),
            "corrected": evaluation.ep_likelihood(model, test, corrected=True),
            "importance": evaluation.importance_likelihood(model, test)["log_likelihood"].to_numpy(),
            "heldout": evaluation.heldout(model, test)["log_likelihood"].to_numpy(),
        }
        assert model.perplexity(test) == np.inf == model.perplexity(test, average="documents")
    for name, values in found.items():
        assert values[0] == -np.inf and np.isfinite(values[1]), name
