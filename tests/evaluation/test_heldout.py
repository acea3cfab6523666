"""Rows per document, the numbers that sum them up, and classification by likelihood."""

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi import evaluation
from topoi.errors import ModelError

LEFT, RIGHT = ["ship", "sail", "port", "tide"], ["wheat", "barn", "seed", "farm"]
OPTIONS = {"n_iter": 20, "random_state": 0}


def corpus_of(n_docs=24, seed=0, length=12):
    rng = np.random.default_rng(seed)
    rows = [[str(w) for w in rng.choice([LEFT, RIGHT][d % 2], length)] for d in range(n_docs)]
    half = n_docs // 2
    metadata = {"side": ["sea", "land"] * half}
    return topoi.Corpus.from_tokens(rows, words=LEFT + RIGHT, authors=["Ann", "Bob"] * half, metadata=metadata)


@pytest.fixture(scope="module")
def corpus():
    return corpus_of()


@pytest.fixture(scope="module")
def model(corpus):
    return topoi.LDA(2, alpha=0.1, **OPTIONS).fit(corpus)


def test_bits_per_word_is_its_definition():
    log_p, lengths = np.array([-3.0, -5.0, 0.0]), np.array([2, 3, 0])
    assert evaluation.bits_per_word(log_p, lengths) == pytest.approx(8 / np.log(2) / 5)
    corpus = topoi.Corpus.from_tokens([["a"] * 2, ["b"] * 3, []])
    assert evaluation.bits_per_word(log_p, corpus) == pytest.approx(8 / np.log(2) / 5)
    assert np.isnan(evaluation.bits_per_word([], []))
    with pytest.raises(ModelError, match="2 log-likelihoods for 3 documents"):
        evaluation.bits_per_word([1.0, 2.0], corpus)


@pytest.mark.parametrize(
    ("estimator", "options", "direct"),
    [
        ("filter", {"n_particles": 3}, lambda m, c: m.log_likelihood(c, n_particles=3)),
        ("left-to-right", {"n_particles": 3}, lambda m, c: evaluation.left_to_right(m, c, 3)),
        ("left_to_right", {"n_particles": 3}, lambda m, c: evaluation.left_to_right(m, c, 3)),
        ("empirical", {"n_samples": 30}, lambda m, c: evaluation.empirical_likelihood(m, c, 30)),
    ],
)
def test_heldout_is_the_estimator(corpus, model, estimator, options, direct):
    frame = evaluation.heldout(model, corpus, estimator, **options)
    assert np.array_equal(frame["log_likelihood"], direct(model, corpus))
    np.testing.assert_allclose(frame["perplexity"], np.exp(-frame["log_likelihood"] / frame["n_words"]))
    assert (frame["n_unknown"] == 0).all() and (frame["n_words"] == 12).all()


def test_heldout_of_a_model_without_mixtures_takes_any_estimator(corpus):
    model = topoi.AuthorModel(**OPTIONS).fit(corpus)
    expected = model.log_likelihood(corpus)
    for estimator, options in {"filter": {"n_particles": 3}, "left-to-right": {}, "empirical": {}}.items():
        assert np.array_equal(evaluation.heldout(model, corpus, estimator, **options)["log_likelihood"], expected)


def test_unknown_words_are_counted_and_not_scored(model):
    new = topoi.Corpus.from_tokens([["ship", "zebra", "zebra"], [], ["sail"]])
    with pytest.warns(UserWarning, match="2 of 4 tokens"):
        frame = evaluation.heldout(model, new)
    assert frame["n_words"].tolist() == [1, 0, 1] and frame["n_unknown"].tolist() == [2, 0, 0]
    assert np.isnan(frame["perplexity"][1]) and frame["log_likelihood"][1] == 0
    summary = evaluation.heldout_summary(frame).iloc[0]
    total = frame["log_likelihood"].sum()
    assert (summary["n_docs"], summary["n_words"], summary["n_unknown"]) == (3, 2, 2)
    assert summary["bits_per_word"] == pytest.approx(-total / np.log(2) / 2)
    assert summary["perplexity_tokens"] == pytest.approx(np.exp(-total / 2))
    assert summary["perplexity_documents"] == pytest.approx(frame["perplexity"].mean())


def test_summary_is_what_the_model_says_itself(corpus, model):
    summary = evaluation.heldout_summary(evaluation.heldout(model, corpus)).iloc[0]
    assert summary["perplexity_tokens"] == pytest.approx(model.perplexity(corpus))
    assert summary["perplexity_documents"] == pytest.approx(model.perplexity(corpus, average="documents"))


def test_bad_estimator(corpus, model):
    for bad in ("magic", None, 3):
        with pytest.raises(ModelError, match=r"estimator is .*'filter', 'left-to-right', 'empirical'"):
            evaluation.heldout(model, corpus, bad)
    with pytest.raises(TypeError):
        evaluation.heldout(model, corpus, "empirical", n_particles=3)


def families():
    return [
        topoi.LDA(2, alpha=0.1, **OPTIONS),
        topoi.AuthorTopicModel(2, alpha=0.1, **OPTIONS),
        topoi.AuthorModel(**OPTIONS),
        topoi.PachinkoAllocation(2, 2, **OPTIONS),
    ]


@pytest.mark.parametrize("estimator", ["filter", "left-to-right", "empirical"])
def test_classes_are_found_by_every_family(corpus, estimator):
    test = corpus_of(10, seed=5)
    for model in families():
        models = evaluation.fit_classes(model, corpus, "side")
        assert list(models) == ["land", "sea"] and not hasattr(model, "n_iter_")
        frame = evaluation.classify(models, test, estimator, labels="side")
        assert frame["correct"].all() and frame["predicted"].tolist() == ["sea", "land"] * 5
        order = np.random.default_rng(0).permutation(test.n_docs)
        shuffled = evaluation.classify(models, test.subset(order), estimator)
        pd.testing.assert_series_equal(
            shuffled["log_likelihood_sea"], frame["log_likelihood_sea"][order].reset_index(drop=True)
        )


def test_a_class_is_fitted_on_its_own_documents(corpus):
    models = evaluation.fit_classes(topoi.LDA(2, **OPTIONS), corpus, np.array(["x", "y", "x"] * 8))
    alone = topoi.LDA(2, **OPTIONS).fit(corpus.subset([d for d in range(24) if d % 3 != 1]))
    assert np.array_equal(models["x"].topic_word_, alone.topic_word_)


def test_prediction_is_the_best_of_likelihood_and_prior(corpus):
    models = evaluation.fit_classes(topoi.LDA(2, **OPTIONS), corpus, "side")
    test = corpus.encode([["ship", "wheat"], ["ship"], []])
    even = evaluation.classify(models, test)
    scores = np.stack([even["log_likelihood_land"], even["log_likelihood_sea"]])
    np.testing.assert_allclose(even["margin"], np.abs(scores[0] - scores[1]))
    assert even["predicted"][1] == "sea" and even["predicted"][2] == "land" and even["margin"][2] == 0
    uneven = evaluation.classify(models, test, priors={"sea": 1, "land": 999_999})
    assert uneven["predicted"].tolist() == ["land"] * 3
    np.testing.assert_allclose(uneven["margin"], scores[0] - scores[1] + np.log(999_999))
    assert uneven["log_likelihood_sea"].equals(even["log_likelihood_sea"])


def test_models_with_different_vocabularies_are_judged_by_the_same_words():
    """A class that does not know a word must not profit from leaving it out."""
    first = topoi.LDA(1, **OPTIONS).fit(topoi.Corpus.from_tokens([["a", "b", "c"]] * 5))
    second = topoi.LDA(1, **OPTIONS).fit(topoi.Corpus.from_tokens([["b", "d", "d", "a"]] * 5))
    test = topoi.Corpus.from_tokens([["d", "d", "b", "a", "x"]])
    with pytest.warns(UserWarning, match=r"2 words that they share, without 3 of 5 tokens"):
        frame = evaluation.classify({"first": first, "second": second}, test)
    assert frame["n_words"].tolist() == [2]
    for name, model in {"first": first, "second": second}.items():
        words = [model.vocabulary_.index(w) for w in ("b", "a")]
        expected = np.log(model.topic_word_[0, words]).sum()
        assert frame[f"log_likelihood_{name}"][0] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ModelError, match="cannot be compared"):
        evaluation.classify({"first": first, "second": second}, topoi.Corpus.from_tokens([["c", "d"]]))


def test_words_that_no_class_knows_are_left_out_with_one_warning(corpus):
    models = evaluation.fit_classes(topoi.LDA(2, **OPTIONS), corpus, "side")
    with pytest.warns(UserWarning, match="1 of 2 tokens are words that the models do not know") as caught:
        frame = evaluation.classify(models, topoi.Corpus.from_tokens([["ship", "zebra"]]))
    assert len(caught) == 1 and frame["n_words"].tolist() == [1]


def test_accuracy_and_confusion():
    frame = pd.DataFrame({"label": [1, 1, 2, 2, 3], "predicted": [1, 2, 2, 2, 2]})
    table = evaluation.accuracy(frame)
    assert table["label"].tolist() == [1, 2, 3, "all"] and table["n_correct"].tolist() == [1, 2, 0, 3]
    assert table["accuracy"].tolist() == [0.5, 1.0, 0.0, 0.6]
    confusion = evaluation.confusion_table(frame)
    assert confusion.loc[1].tolist() == [1, 1, 0] and confusion.loc[3].tolist() == [0, 1, 0]
    for function in (evaluation.accuracy, evaluation.confusion_table):
        with pytest.raises(ModelError, match="labels="):
            function(frame[["predicted"]])


def test_bad_classes(corpus):
    models = evaluation.fit_classes(topoi.LDA(2, **OPTIONS), corpus, "side")
    cases = [
        (lambda: evaluation.classify({"sea": models["sea"]}, corpus), "at least two classes"),
        (lambda: evaluation.classify(list(models.values()), corpus), "must be a dict"),
        (lambda: evaluation.classify(models, ["ship"]), "pass a topoi.Corpus"),
        (lambda: evaluation.classify(models, corpus, priors={"sea": 1}), "one number for each class"),
        (lambda: evaluation.classify(models, corpus, priors={"sea": 1, "land": 0}), "positive"),
        (lambda: evaluation.classify(models, corpus, labels=["sea"]), "1 labels for 24 documents"),
        (lambda: evaluation.classify(models, corpus, labels=["air"] * 24), "no model for the class 'air'"),
        (lambda: evaluation.classify(models, corpus, labels="colour"), "no column 'colour'"),
        (lambda: evaluation.classify({"a": models["sea"], "b": 3}, corpus), "cannot score documents"),
        (lambda: evaluation.fit_classes(topoi.LDA(2), corpus, ["sea"] * 23 + [None]), "1 documents have no label"),
    ]
    for call, message in cases:
        with pytest.raises(ModelError, match=message):
            call()
