"""``compare``: numbers of the library's own estimators, paired differences, reasons for what is missing."""

from __future__ import annotations

import gc
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import topoi
from topoi import evaluation
from topoi.errors import ModelError
from topoi.evaluation.comparison import BEST, UNCLEAR, WORSE
from topoi.evaluation.paired import paired_difference
from topoi.evaluation.resources import measured
from topoi.models import registry

SUBJECTS = ("ship harbor sail anchor captain", "wheat harvest plough farmer barley", "judge verdict trial jury appeal")


@pytest.fixture(scope="module")
def parts() -> tuple[topoi.Corpus, topoi.Corpus]:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(SUBJECTS[d % 3].split(), 6 + d % 4)) for d in range(48)]
    authors = [["Drake", "Cook", "Tull", "Coke"][d % 3 : d % 3 + 1 + d % 2] for d in range(48)]
    dates = [1900 + d for d in range(48)]
    return topoi.Corpus.from_texts(texts, authors=authors, dates=dates, min_df=1, max_df=1.0).split(12, 0)


@pytest.fixture(scope="module")
def every(parts):
    """One model of every family, compared, with the models."""
    models = {
        model.option: model.model_class(**model.small | {"n_iter": 10, "random_state": 0, "progress": False})
        for family in registry.built_in()
        for model in family.models
    }
    return evaluation.compare(models, *parts).set_index("name"), models


def test_every_family_is_compared_and_what_is_missing_has_a_reason(every):
    frame, models = every
    assert set(frame.index) == set(models)
    assert frame["log_likelihood"].dropna().is_monotonic_decreasing
    assert (frame["seconds"] > 0).all() and (frame["state_mb"] > 0).all()
    needed = {"log_likelihood": "log_likelihood", "completion_perplexity": "completion", "second_error": "second_e"}
    needed |= {"second_log_likelihood": "second_estimator"}
    needed |= {name: name for name in ("npmi", "c_v", "exclusivity", "diversity", "stability")}
    for name, row in frame.iterrows():
        for column, reason in needed.items():
            assert np.isnan(row[column]) == (reason in row["note"]), (name, column, row["note"])
        assert (row["verdict"] in (BEST, WORSE, UNCLEAR)) == np.isfinite(row["log_likelihood"])
    for name in ("lda", "author-topic", "pachinko", "kernel", "dmr", "aspect", "author"):
        assert np.isfinite(frame.loc[name, ["log_likelihood", "completion_perplexity"]].astype(float)).all()
    # The author model integrates nothing out, and has no topics.
    assert frame.loc["author", "log_likelihood_error"] == 0.0 and frame.loc["author", "second_estimator"] == ""


def test_estimators_are_independent_and_agree(every):
    frame, _ = every
    has = frame[frame["second_estimator"] != ""]
    # Importance sampling is the kernel topic model's own way, and correlated topics and graphs have no Dirichlet per
    # document.
    assert set(has.loc[["kernel", "pachinko", "ctm"], "second_estimator"]) == {"empirical"}
    assert set(has.loc[["lda", "author-topic", "dmr", "aspect", "hdp"], "second_estimator"]) == {"importance"}
    assert (has["second_log_likelihood"] - has["log_likelihood"]).abs().max() < 0.06


def test_numbers_are_those_of_the_estimators(every, parts):
    frame, models = every
    train, test = parts
    model, row = models["lda"], frame.loc["lda"]
    rows = evaluation.heldout(model, test)
    n = rows["n_words"].sum()
    assert row["log_likelihood"] == pytest.approx(rows["log_likelihood"].sum() / n, rel=1e-12)
    assert row["log_likelihood_error"] == pytest.approx(np.sqrt((rows["standard_error"] ** 2).sum()) / n)
    assert row["perplexity"] == pytest.approx(model.perplexity(test))
    second = evaluation.importance_likelihood(model, test)["log_likelihood"].sum() / n
    assert row["second_log_likelihood"] == pytest.approx(second)
    assert row["npmi"] == evaluation.coherence(model, train).attrs["mean"]
    assert row["c_v"] == evaluation.coherence(model, train, "c_v").attrs["mean"]
    assert row["exclusivity"] == evaluation.exclusivity(model).attrs["mean"]
    assert row["diversity"] == evaluation.diversity(model)
    assert (row["n_topics"], row["n_docs"], row["n_words"]) == (model.n_topics, 12, n)
    best = evaluation.heldout(models[frame.index[0]], test)
    found = paired_difference(rows["log_likelihood"].to_numpy(), best["log_likelihood"].to_numpy(), test.doc_lengths)
    assert (row["difference"], row["difference_error"]) == pytest.approx(tuple(found))


def test_half_of_each_document_is_completed(every, parts):
    """Of a single topic the completion is the unigram's: no half tells anything about the other."""
    train, test = parts
    one = topoi.LDA(1, n_iter=2, random_state=0)
    frame = evaluation.compare(one, train, test)
    assert frame["completion_perplexity"].iloc[0] == pytest.approx(frame["perplexity"].iloc[0], rel=0.05)
    # Planted topics are recognised in one half, so the other is easier than the whole.
    three = evaluation.compare(topoi.LDA(3, alpha=0.1, n_iter=60, random_state=0), train, test)
    assert three["completion_perplexity"].iloc[0] < three["perplexity"].iloc[0]


def test_fitted_and_unfitted_models_under_names_that_tell_them_apart(parts):
    train, test = parts
    ready = topoi.LDA(2, n_iter=5, n_chains=2, random_state=0).fit(train)
    unfitted = [topoi.LDA(k, n_iter=5, random_state=0) for k in (3, 3)]
    frame = evaluation.compare([ready, *unfitted], train, test).set_index("name")
    assert set(frame.index) == {"LDA, 2 topics", "LDA, 3 topics, 1", "LDA, 3 topics, 2"}
    assert unfitted[0].n_iter_ == 5, "fitted in place"
    assert np.isnan(frame.loc["LDA, 2 topics", "peak_mb"]) and frame.loc["LDA, 2 topics", "seconds"] > 0
    assert 0 <= frame.loc["LDA, 2 topics", "stability"] <= 1 and np.isnan(frame.loc["LDA, 3 topics, 1", "stability"])
    # Two fits of the same settings and seed are the same model.
    twins = frame.loc[["LDA, 3 topics, 1", "LDA, 3 topics, 2"]]
    assert twins["log_likelihood"].nunique() == 1
    # All fitted: no training corpus is needed, and coherence is counted in what the first was fitted to.
    again = evaluation.compare({"a": ready}, test=test)
    assert again["npmi"].iloc[0] == frame.loc["LDA, 2 topics", "npmi"] and again["verdict"].tolist() == [BEST]


def test_a_family_of_another_package_is_compared(parts, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(topoi.__file__).parents[2] / "examples" / "unigram_mixture"), *sys.path])
    model = importlib.import_module("unigram_mixture.model").UnigramMixture(3, n_iter=20, random_state=0)
    row = evaluation.compare(model, *parts).iloc[0]
    assert np.isfinite(row["log_likelihood"]) and np.isfinite(row["npmi"]) and row["name"] == "UnigramMixture"
    # Its documents have one topic each: importance sampling, which supposes Dirichlets, would score another model.
    assert row["second_estimator"] == "empirical"
    assert row["second_log_likelihood"] == pytest.approx(row["log_likelihood"], abs=0.03)


def test_a_paired_error_is_that_of_documents():
    """Over many draws of documents, the difference scatters by about its stated error; unpaired it would be larger."""
    rng = np.random.default_rng(1)

    def draw():
        lengths = rng.integers(5, 40, 60)
        hard = rng.normal(-7, 1, 60)
        a, b = (lengths * (hard + rng.normal(mean, 0.2, 60)) for mean in (0.1, 0.0))
        return paired_difference(a, b, lengths)

    found = np.array([draw() for _ in range(400)])
    assert found[:, 0].mean() == pytest.approx(0.1, abs=0.01)
    assert found[:, 0].std() == pytest.approx(found[:, 1].mean(), rel=0.12)
    assert np.isnan(paired_difference(np.array([-1.0]), np.array([-2.0]), np.array([1])).error)
    never = paired_difference(np.array([-np.inf, -1.0]), np.array([-2.0, -1.0]), np.array([1, 1]))
    assert never.mean == -np.inf and never.is_clear


def test_documents_without_words_count_for_nothing():
    a, b, n = np.array([-4.0, 0.0, -9.0]), np.array([-5.0, 0.0, -9.5]), np.array([2, 0, 3])
    assert paired_difference(a, b, n) == paired_difference(a[n > 0], b[n > 0], n[n > 0])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured on Linux")
def test_memory_of_a_block_is_its_peak():
    gc.collect()  # else what earlier tests left may be freed meanwhile
    with measured() as usage:
        np.ones(40_000_000 // 8).sum()
    assert 35 < usage.peak_mb < 60
    with measured() as usage:
        pass
    assert usage.peak_mb < 5


def test_bad_input_is_refused_in_words(parts):
    train, test = parts
    model = topoi.LDA(2, n_iter=2, random_state=0)
    for call, message in [
        (lambda: evaluation.compare([], train, test), "no models"),
        (lambda: evaluation.compare(topoi.LDA, train, test), "LDA, a class"),
        (lambda: evaluation.compare({"mine": 3}, train, test), "'mine' is 3"),
        (lambda: evaluation.compare(model, train), "test is NoneType"),
        (lambda: evaluation.compare(model, test=test), "not fitted"),
        (lambda: evaluation.compare(model, train, train.subset([0]).encode([["unheard"]])), "no words"),
    ]:
        with pytest.raises(ModelError, match=message):
            call()


def rare_words(first: int, n_docs: int) -> topoi.Corpus:
    """Short documents about one of two subjects, half of whose words are rare ones."""
    rng = np.random.default_rng(first)
    rows, authors = [], []
    for d in range(first, first + n_docs):
        common = rng.choice(SUBJECTS[d % 2].split(), 8)
        rows.append([*common.tolist(), *[f"rare{d % 50}"] * 4, *[f"rare{(7 * d + 1) % 50}"] * 4])
        authors.append([f"author {d % 5}"] if first == 0 else ["somebody new"])
    return topoi.Corpus.from_tokens(rows, authors=authors)


SETTINGS = {"n_iter": 30, "random_state": 0}
REDUCTIONS = {
    "LDA": topoi.LDA(3, alpha=0.3, **SETTINGS),
    "author-topic, new authors": topoi.AuthorTopicModel(3, alpha=0.3, **SETTINGS),
    "three-level pachinko": topoi.PachinkoAllocation(
        dag=topoi.Dag.from_levels(3), root_alpha=0.3, alpha=0.3, learn_alpha=False, **SETTINGS
    ),
    "HDP": topoi.HierarchicalDirichletProcess(3, **SETTINGS),
}


@pytest.mark.filterwarnings("ignore:.*not know")
@pytest.mark.parametrize("name", list(REDUCTIONS))
def test_completion_is_one_quantity_for_the_same_model_in_two_families(name):
    """Sampled topics, and the same as an aspect model of known parameters, are one model of a new document.

    The documents repeat rare words: topics that went on learning from one half would expect them in the other.
    """
    train, test = rare_words(0, 50), rare_words(50, 20)
    sampled = REDUCTIONS[name].fit(train)
    first = sampled.chains_[0]
    known = topoi.AspectModel.from_parameters(first.topic_word, first.alpha, [str(word) for word in train.words])
    frame = evaluation.compare({"sampled": sampled, "known": known}, test=test, reference=train).set_index("name")
    found = frame["completion_perplexity"]
    assert found["sampled"] == pytest.approx(found["known"], rel=0.01)
    observed = np.arange(test.n_tokens) % 2 == 0
    learned, fixed = (
        sampled.log_completion(test, observed, 50, 100, learn_topics=each).sum() for each in (True, False)
    )
    assert learned - fixed > 0.04 * (~observed).sum(), "the other quantity is another number"
