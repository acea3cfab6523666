"""The public class of probabilistic latent semantic indexing: recovery, files, honest numbers, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topoi
from topoi.models.bags import Bags
from topoi.models.plsi import kernels
from topoi.models.plsi.fitting import FOLDING, State

SETTINGS: dict[str, Any] = {"n_topics": 4, "random_state": 0, "progress": False}


def planted(n_docs: int = 150, n_topics: int = 4, length: int = 60, seed: int = 0) -> tuple[topoi.Corpus, Any, Any]:
    topics = np.random.default_rng(100).dirichlet(np.full(40, 0.1), n_topics)
    rng = np.random.default_rng(seed)
    mixtures = rng.dirichlet(np.full(n_topics, 0.3), n_docs)
    docs = [rng.choice(40, length, p=mixture @ topics) for mixture in mixtures]
    words = [f"w{w}" for w in range(40)]
    return topoi.Corpus.from_tokens([[words[w] for w in doc] for doc in docs], words=words), topics, mixtures


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    return planted()[0]


@pytest.fixture(scope="module")
def fitted(corpus: topoi.Corpus) -> Any:
    return topoi.PLSI(**SETTINGS, n_restarts=3).fit(corpus)


def same(one: Any, two: Any) -> bool:
    (meta, arrays), (other_meta, other) = one.to_bundle(), two.to_bundle()
    equal = all(np.array_equal(arrays[name], other[name]) for name in arrays)
    return arrays.keys() == other.keys() and equal and meta["progress"] == other_meta["progress"]


def test_planted_topics_are_found() -> None:
    corpus, topics, mixtures = planted(400, length=150)
    model = topoi.PLSI(**SETTINGS, n_restarts=4).fit(corpus)
    distance = np.abs(model.topic_word_[:, None] - topics).sum(axis=2)
    order = distance.argmin(axis=0)
    assert sorted(order) == [0, 1, 2, 3] and distance[order, range(4)].max() < 0.15
    np.testing.assert_allclose(model.doc_topic_[:, order], mixtures, atol=0.35)
    assert np.abs(model.doc_topic_[:, order] - mixtures).mean() < 0.05


def test_trace_never_falls_and_ends_with_the_result(fitted: Any) -> None:
    for _, trace in fitted.trace_.groupby("chain"):
        assert (np.diff(trace["log_joint"]) > -1e-6).all()
    last = fitted.trace_.groupby("chain")["log_joint"].last()
    assert last.idxmax() == fitted.fit_info_["best_restart"] and last.max() == fitted.fit_info_["log_likelihood"]
    np.testing.assert_allclose(last.max(), fitted.log_likelihood(fitted.corpus_, "folded-in").sum(), rtol=1e-3)
    assert fitted.fit_info_["stopped"] == "converged"


def test_more_restarts_are_never_worse(corpus: topoi.Corpus, fitted: Any) -> None:
    one = topoi.PLSI(**SETTINGS).fit(corpus)
    assert one.fit_info_["log_likelihood"] <= fitted.fit_info_["log_likelihood"]
    first = fitted.trace_[fitted.trace_["chain"] == 0]["log_joint"].to_numpy()
    assert np.array_equal(one.trace_["log_joint"], first)


@pytest.mark.parametrize("more", [{}, {"tempered": True}, {"smoothing": 0.1}])
def test_resumed_and_loaded_fits_have_the_same_bits(more: dict[str, Any], corpus: topoi.Corpus, tmp_path: Path) -> None:
    settings = SETTINGS | {"tol": 0.0, "evaluate_every": 1} | more
    longer, short = (topoi.PLSI(**settings, n_iter=n).fit(corpus) for n in (12, 7))
    short.save(tmp_path / "m.topoi")
    loaded = topoi.load(tmp_path / "m.topoi")
    assert same(loaded, short)
    assert same(loaded.resume(5), longer) and same(short.resume(5), longer)


def test_killed_between_starts_and_continued(corpus: topoi.Corpus, tmp_path: Path) -> None:
    settings = SETTINGS | {"n_restarts": 3, "n_iter": 6, "tol": 0.0, "checkpoint_every": 1, "tempered": True}
    whole = topoi.PLSI(**settings).fit(corpus)
    seen: list[int] = []

    def stop(info: Any) -> bool:
        seen.append(info.sweep)
        if len(seen) == 9:
            raise RuntimeError("killed")
        return False

    with pytest.raises(RuntimeError, match="killed"):
        topoi.PLSI(**settings, checkpoint=tmp_path / "c").fit(corpus, callback=stop)
    again: list[int] = []
    model = topoi.PLSI(**settings, checkpoint=tmp_path / "c").fit(
        corpus, callback=lambda info: again.append(info.sweep)
    )
    assert again == [3, 4, 5, 6, 1, 2, 3, 4, 5, 6]
    assert same(model, whole) and model.fit_info_["best_restart"] == whole.fit_info_["best_restart"]


# Honest numbers.


def test_log_likelihood_integrates_mixtures_out_under_the_fitted_dirichlet(fitted: Any) -> None:
    words = fitted.corpus_.words
    text = topoi.Corpus.from_tokens([[str(words[w]) for w in fitted.corpus_.tokens[:4]]], words=list(words))
    theta = np.random.default_rng(0).dirichlet(fitted.alpha_, 300_000)
    expected = np.log((theta @ fitted.topic_word_[:, text.tokens]).prod(axis=1).mean())
    assert fitted.log_likelihood(text)[0] == pytest.approx(expected, abs=0.05)
    exact = topoi.evaluation.left_to_right(fitted, text, random_state=0)
    assert exact[0] == pytest.approx(expected, abs=0.1)


def test_the_fitted_dirichlet_is_near_that_of_the_truth() -> None:
    corpus, topics, mixtures = planted(400, length=150)
    model = topoi.PLSI(**SETTINGS, n_restarts=4).fit(corpus)
    assert 0.7 < model.alpha_.sum() < 2.0  # the truth is 4 × 0.3; maximum likelihood is a little below


def test_folding_in_is_optimistic_and_completion_is_not(corpus: topoi.Corpus) -> None:
    """Plugging in flatters, the more the more topics there are; completion tells that they are too many."""
    new = planted(60, seed=5)[0]
    few, many = (topoi.PLSI(k, random_state=0, smoothing=0.01, progress=False).fit(corpus) for k in (4, 30))
    assert many.perplexity(corpus, estimator="folded-in") < few.perplexity(corpus, estimator="folded-in")
    for model in (few, many):
        assert model.perplexity(new, estimator="folded-in") < model.perplexity(new)
    observed = np.arange(new.n_tokens) % 2 == 0
    assert many.log_completion(new, observed).sum() < few.log_completion(new, observed).sum()


def test_completion_scores_the_other_words(fitted: Any, corpus: topoi.Corpus) -> None:
    observed = np.random.default_rng(0).random(corpus.n_tokens) < 0.5
    found = fitted.log_completion(corpus, observed)
    part = slice(corpus.doc_start[3], corpus.doc_start[4])
    seen = topoi.Corpus.from_tokens(
        [[str(corpus.words[w]) for w in corpus.tokens[part][observed[part]]]], words=list(corpus.words)
    )
    mixture = fitted.transform(seen)[0]
    expected = np.log(mixture @ fitted.topic_word_[:, corpus.tokens[part][~observed[part]]]).sum()
    assert found[3] == pytest.approx(expected, rel=1e-9)


def test_tempered_em_predicts_new_words_better(corpus: topoi.Corpus) -> None:
    new = planted(80, seed=5)[0]
    observed = np.arange(new.n_tokens) % 2 == 0
    settings = {"n_topics": 20, "random_state": 0, "progress": False, "smoothing": 0.001}
    plain, tempered = (topoi.PLSI(**settings, tempered=flag).fit(corpus) for flag in (False, True))
    mixture = np.zeros((new.n_docs, 20))
    kernels.fold_in(
        Bags.from_corpus(new), tempered.chains_[0].word_topic, tempered.fit_info_["power"], *FOLDING, mixture
    )
    assert np.array_equal(tempered.transform(new), mixture)
    assert tempered.fit_info_["power"] < 1 and tempered.fit_info_["held_out_log_likelihood"] < 0
    assert tempered.log_completion(new, observed).sum() > plain.log_completion(new, observed).sum()


def test_labels_and_counts_of_new_documents(fitted: Any) -> None:
    labels = topoi.label_words(fitted, "w1 w5 w1")
    assert len(labels) == 3
    counts = fitted.topic_counts(topoi.Corpus.from_tokens([["w1", "w5", "w1"]]))
    np.testing.assert_allclose(counts.sum(), 3.0)


def test_view_answers_texts_as_the_model_does(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.topoi")
    view = topoi.view(tmp_path / "m.topoi")
    assert np.isfinite(fitted.top_words(3, relevance=0.6)["probability"]).all()
    np.testing.assert_allclose(view.transform(["w1 w5 w7"]), fitted.transform(["w1 w5 w7"]), rtol=1e-9, atol=1e-12)


# Bad input.


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"smoothing": -1}, "smoothing is -1; it must be a number from 0"),
        ({"tempered": "yes"}, "tempered is 'yes'"),
        ({"held_out": 1.0}, "held_out is 1.0; it must be a number from 1e-06 to 0.9"),
        ({"cooling": 1.0}, "cooling is 1.0"),
        ({"tol": None}, "tol is None"),
        ({"n_restarts": 0}, "n_restarts is 0"),
    ],
)
def test_wrong_settings_say_what_to_do(settings: dict[str, Any], said: str, corpus: topoi.Corpus) -> None:
    with pytest.raises(topoi.ModelError, match=said):
        topoi.PLSI(**{"n_iter": 2} | settings).fit(corpus)


def test_an_unknown_estimator_is_refused(fitted: Any, corpus: topoi.Corpus) -> None:
    with pytest.raises(topoi.ModelError, match="'integrated', 'folded-in'"):
        fitted.log_likelihood(corpus, estimator="plugged-in")


def test_a_word_that_no_training_document_has_is_impossible_without_smoothing() -> None:
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["b", "a"]], words=["a", "b", "c"])
    new = topoi.Corpus.from_tokens([["a", "c"]], words=["a", "b", "c"])
    assert topoi.PLSI(1, progress=False).fit(corpus).log_likelihood(new)[0] == -np.inf
    assert topoi.PLSI(1, smoothing=0.1, progress=False).fit(corpus).log_likelihood(new)[0] > -20


def test_too_few_steps_are_told(corpus: topoi.Corpus) -> None:
    with pytest.warns(UserWarning, match="3 EM steps were not enough"):
        topoi.PLSI(**SETTINGS, n_iter=3).fit(corpus)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("word_topic", np.ones((3, 2)), "word_topic is float64 of shape"),
        ("word_topic", np.full((2, 2), -0.1), "no shares"),
        ("doc_topic", np.full((4, 2), np.nan), "no shares"),
        ("numbers", np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0]), "numbers of the last step"),
        ("numbers", np.zeros(2), "numbers of the last step"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: Any, said: str) -> None:
    arrays = State(np.full((2, 2), 0.5), np.full((4, 2), 0.5)).arrays()
    with pytest.raises(topoi.ModelError, match=said):
        State.from_arrays(arrays | {name: value}, 4, 2, 2)
