"""``AspectModel`` as people use it: known parameters, fits, reports, files, scikit-learn, kind errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import topoi
from aspect.exact import two_aspects

TEXTS = ["the sun the star moon", "the star sun sun", "the cell gene cell", "the gene cell gene"] * 6
PARAMETERS = [[0.6, 0.3, 0.1, 0.0], [0.1, 0.1, 0.2, 0.6]]


def checks():
    for estimator, check in estimator_checks_generator(topoi.AspectModel(2, n_iter=20)):
        name = getattr(check, "func", check).__name__
        if name != "check_array_api_input":
            yield pytest.param(estimator, check, id=name)


@pytest.mark.filterwarnings("ignore::UserWarning")  # the checks pass fractions, which are rounded with a warning
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def corpus():
    return topoi.Corpus.from_texts(TEXTS, min_df=1, max_df=1.0, stop_words=None)


@pytest.fixture(scope="module")
def model(corpus):
    return topoi.AspectModel(2, random_state=0).fit(corpus)


def test_fit_separates_what_is_separate(model, corpus):
    sky, life = model.transform(["sun star", "gene cell"]).argmax(axis=1)
    assert sky != life
    assert model.doc_aspect_[0].argmax() == sky and model.doc_aspect_[2].argmax() == life
    np.testing.assert_allclose(model.aspect_word_.sum(axis=1), 1)
    np.testing.assert_allclose(model.doc_topic_, model.posterior_ / model.posterior_.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.transform(corpus), model.doc_aspect_, atol=1e-4)
    assert model.trace_["log_joint"].iloc[-1] > model.trace_["log_joint"].iloc[0]


def test_fit_info_says_what_happened(model):
    info = model.fit_info_
    assert info["inference"] == "ep" and info["skipped_words"] >= 0 and info["sites_kept"]
    assert info["log_likelihood"] == pytest.approx(model.log_likelihood(model.corpus_, "ep").sum(), abs=0.05)
    assert info["n_sweeps"] == model.n_iter_ and info["interrupted"] is False
    assert info["converged"] == (info["last_change"] < model.tol)


def test_advice_where_the_evidence_is_not_to_be_trusted():
    counts = np.array([[5, 1, 0], [0, 2, 6]] * 5)
    fixed = {"learn_alpha": False, "n_iter": 5, "random_state": 0}
    assert topoi.AspectModel(2, alpha=1.0, **fixed).fit(counts).fit_info_["advice"] is None
    assert "filter" in topoi.AspectModel(2, alpha=0.01, **fixed).fit(counts).fit_info_["advice"]
    assert topoi.AspectModel(20, n_iter=2, random_state=0).fit(counts).fit_info_["advice"] is None, "the defaults"
    assert "lower bound" in topoi.AspectModel(2, inference="vb", **fixed).fit(counts).fit_info_["advice"]


def test_known_parameters():
    model = topoi.AspectModel.from_parameters(PARAMETERS, [0.5, 2.0], words=list("abcd"))
    corpus = topoi.Corpus.from_tokens([["a", "a", "d"], ["d"], []])
    assert model.posterior(corpus).shape == (3, 2)
    np.testing.assert_allclose(model.transform(corpus)[2], [0.2, 0.8])
    each = {e: model.log_likelihood(corpus, estimator=e) for e in ("ep", "vb", "importance")}
    assert (each["vb"] <= each["ep"] + 1e-9).all()
    np.testing.assert_allclose(each["importance"], each["ep"], atol=0.1)
    assert each["ep"][1] == pytest.approx(np.log(0.2 * 0.0 + 0.8 * 0.6))
    report = model.log_likelihood_report(corpus, "importance", n_samples=500)
    assert np.isnan(report["standard_error"].iloc[0]) and report["effective_samples"].iloc[0] > 100
    smooth = topoi.AspectModel.from_parameters(PARAMETERS, [1.0, 2.0], words=list("abcd"))
    assert smooth.log_likelihood_report(corpus, "importance", n_samples=500)["standard_error"].iloc[0] < 0.1
    assert model.log_likelihood_report(corpus, "ep")["standard_error"].isna().all()
    default = model.log_likelihood_report(corpus)
    assert (abs(default["log_likelihood"] - each["ep"]) < 3 * default["standard_error"] + 0.05).all()
    assert model.log_likelihood_report(corpus)["n_words"].tolist() == [3, 1, 0]


def test_perplexity_is_the_papers():
    model = topoi.AspectModel.from_parameters(PARAMETERS, 1.0)
    counts = [[3, 1, 0, 0], [0, 0, 2, 8]]
    log_p = model.log_likelihood(counts)
    assert model.perplexity(counts) == pytest.approx(np.exp(-log_p.sum() / 14))
    assert model.perplexity(counts, average="documents") == pytest.approx(np.exp(-log_p / [4, 10]).mean())
    assert model.score(counts) == pytest.approx(log_p.sum() / 14)


def test_words_that_no_aspect_has_are_impossible_and_do_no_harm():
    model = topoi.AspectModel.from_parameters([[1.0, 0.0], [1.0, 0.0]], 1.0)
    for estimator in ("ep", "vb", "importance"):
        found = model.log_likelihood([[1, 1], [2, 0]], estimator=estimator)
        assert found[0] == -np.inf and found[1] == pytest.approx(0.0, abs=0.5 if estimator == "vb" else 1e-9)
    np.testing.assert_allclose(model.transform([[0, 5]]), [[0.5, 0.5]])
    assert model.perplexity([[0, 5]]) == np.inf


def test_same_seed_same_bits_for_any_threads(corpus):
    options = {"n_restarts": 2, "n_iter": 15, "random_state": 3}
    one, three = (topoi.AspectModel(3, n_jobs=jobs, **options).fit(corpus) for jobs in (1, 3))
    assert np.array_equal(one.aspect_word_, three.aspect_word_) and np.array_equal(one.alpha_, three.alpha_)
    assert np.array_equal(one.posterior_, three.posterior_) and one.trace_.equals(three.trace_)
    for estimator in ("ep", "vb", "importance"):
        assert np.array_equal(one.log_likelihood(corpus, estimator), three.log_likelihood(corpus, estimator))


def test_restarts_keep_the_best(corpus):
    model = topoi.AspectModel(3, n_restarts=4, n_iter=30, random_state=5).fit(corpus)
    found = model.fit_info_["restart_log_likelihoods"]
    assert len(found) == 4 and model.fit_info_["log_likelihood"] == max(found)
    assert model.trace_["chain"].nunique() == 4


def test_resume_goes_on_from_where_it_was(corpus):
    model = topoi.AspectModel(2, n_iter=3, tol=0.0, random_state=0).fit(corpus)
    before = model.fit_info_["log_likelihood"]
    assert model.resume(10).n_iter_ == 13 and model.fit_info_["log_likelihood"] > before
    assert model.trace_["sweep"].is_monotonic_increasing


def test_a_callback_can_end_the_fit(corpus):
    seen = []
    model = topoi.AspectModel(2, tol=0.0, random_state=0)
    model.fit(corpus, callback=lambda info: seen.append(info) or info.sweep == 4)
    assert model.n_iter_ == 4 and [info.sweep for info in seen] == [1, 2, 3, 4]


def test_content_words_without_the_common_ones(model):
    assert (model.top_words(1)["word"] == "the").any()
    telling = model.top_words(2, max_unigram=0.2)
    assert "the" not in set(telling["word"]) and telling["rank"].tolist() == [1, 2, 1, 2]
    assert set(telling["word"]) <= {"sun", "star", "cell", "gene"}
    assert model.top_words(3, topic=1, max_unigram=0.2)["topic"].tolist() == [1, 1, 1]
    with pytest.raises(topoi.ModelError, match="max_unigram is 2"):
        model.top_words(max_unigram=2)


def test_completion_and_labels(model, corpus):
    curve = topoi.evaluation.completion_curve(model, corpus, observed=(0, 2))
    assert curve["perplexity"].iloc[1] < curve["perplexity"].iloc[0]
    labels = topoi.label_words(model, "sun star gene")
    assert len(labels) == 3


def test_simulated_documents_follow_the_model():
    model = topoi.AspectModel.from_parameters(PARAMETERS, [1.0, 3.0])
    corpus = model.simulate(400, 50, random_state=0)
    shares = np.bincount(corpus.tokens, minlength=4) / corpus.n_tokens
    np.testing.assert_allclose(shares, np.array([0.25, 0.75]) @ PARAMETERS, atol=0.02)
    assert corpus.truth.doc_aspect.mean(axis=0) == pytest.approx([0.25, 0.75], abs=0.04)


def test_pipeline_search_and_clone():
    pipeline = make_pipeline(CountVectorizer(stop_words="english"), topoi.AspectModel(2, random_state=0))
    shares = pipeline.fit_transform(TEXTS)
    assert shares[0].argmax() != shares[2].argmax()
    assert pipeline.get_feature_names_out().tolist() == ["aspectmodel0", "aspectmodel1"]
    counts = CountVectorizer(stop_words="english").fit_transform(TEXTS)
    search = GridSearchCV(topoi.AspectModel(n_iter=30, random_state=0), {"n_aspects": [1, 2]}, cv=3).fit(counts)
    assert search.best_params_ == {"n_aspects": 2}
    model = topoi.AspectModel(3, inference="vb")
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_aspects": 0}, "n_aspects is 0"),
        ({"inference": "mcmc"}, "inference is 'mcmc'"),
        ({"learning": "sgd"}, "learning is 'sgd'"),
        ({"alpha": -1.0}, "alpha"),
        ({"tol": -1}, "tol is -1"),
        ({"damping": 0}, "damping is 0"),
        ({"smoothing": float("nan")}, "smoothing is nan"),
        ({"n_iter": 1.5}, "n_iter is 1.5"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(topoi.ModelError, match=message):
        topoi.AspectModel(**settings).fit([[1, 2], [2, 1]])


@pytest.mark.parametrize(
    ("aspect_word", "message"),
    [
        ([[0.5, 0.6]], "sums to 1.1"),
        ([0.5, 0.5], "matrix"),
        ([[-0.5, 1.5]], "negative"),
        ([["a"]], "numbers"),
    ],
)
def test_parameters_that_make_no_sense(aspect_word, message):
    with pytest.raises(topoi.ModelError, match=message):
        topoi.AspectModel.from_parameters(aspect_word)
    with pytest.raises(topoi.ModelError, match="names for 2 columns"):
        topoi.AspectModel.from_parameters([[0.5, 0.5]], words=["a"])


def test_unknown_estimator(model):
    with pytest.raises(topoi.ModelError, match="estimator is 'gibbs'"):
        model.log_likelihood(["sun"], estimator="gibbs")


def test_a_fit_that_fails_leaves_the_earlier_one(corpus):
    model = topoi.AspectModel(2, n_iter=3, random_state=0).fit(corpus)
    before = model.aspect_word_.copy()
    with pytest.raises(topoi.ModelError):
        model.set_params(inference="none").fit(corpus)
    assert np.array_equal(model.aspect_word_, before)


def test_counts_of_new_documents_are_powers_of_their_terms():
    model = topoi.AspectModel.from_parameters([[0.5, 0.5], [0.9, 0.1]], alpha=1.0)
    half, whole = model.log_likelihood([[0.5, 1.5], [1.0, 3.0]])
    exact = two_aspects(np.array([[0.5, 0.9], [0.5, 0.1]]), [0.5, 1.5], np.ones(2))
    assert half == pytest.approx(exact.log_likelihood, abs=2e-3) and whole < half
    np.testing.assert_allclose(model.transform([[0.5, 1.5]])[0], exact.mean, atol=2e-3)
    report = model.log_likelihood_report([[0.5, 1.5]])
    assert report["n_words"][0] == 2 and report["n_words"].dtype == np.int64
    assert model.log_likelihood_report([[0.5, 1.25]])["n_words"][0] == 1.75
    assert model.perplexity([[0.5, 1.5]]) == pytest.approx(np.exp(-half / 2))
    with pytest.raises(ValueError, match="[Nn]egative"):
        model.posterior([[1.0, -1.0]])


def test_advice_where_alpha_fell_to_its_limit():
    counts = np.kron(np.eye(2, dtype=int), np.full((5, 4), 90))
    found = topoi.AspectModel(2, alpha=1.0, learn_alpha=True, smoothing=0.0, n_iter=200, tol=0, random_state=0).fit(
        counts
    )
    assert found.alpha_.min() == pytest.approx(1e-3) and "learn_alpha=False" in found.fit_info_["advice"]
