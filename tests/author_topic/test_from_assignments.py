"""An LDA made from given topics is the one that has sampled them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError


def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(3)
    return topoi.Corpus.from_tokens([[f"w{w}" for w in rng.integers(12, size=9)] for _ in range(15)])


def test_model_of_a_fits_last_sample_is_the_fit() -> None:
    documents = corpus()
    settings: dict[str, Any] = {"alpha": [0.5, 0.25, 1.0], "beta": 0.0625, "random_state": 4}
    fitted = topoi.LDA(3, n_iter=10, average=False, evaluate_every=1, **settings).fit(documents)
    given = topoi.LDA.from_assignments(documents, fitted.chains_[0].assignments.topic, 3, **settings)
    assert np.array_equal(given.topic_word_, fitted.topic_word_)
    assert np.array_equal(given.doc_topic_, fitted.doc_topic_)
    assert given.trace_["log_joint"].tolist() == fitted.trace_["log_joint"].tolist()[-1:]
    assert given.n_iter_ == 0 and given.fit_info_["n_chains"] == 1
    assert np.array_equal(given.transform(documents), fitted.transform(documents))


def test_topics_are_as_given_and_resume_moves_them() -> None:
    documents = corpus()
    topics = np.random.default_rng(0).integers(4, size=documents.n_tokens)
    model = topoi.LDA.from_assignments(documents, topics.tolist(), 4, random_state=0, learn_alpha=True)
    assert model.chains_[0].assignments.topic.tolist() == topics.tolist()
    assert model.alpha_.tolist() == [12.5] * 4
    model.resume(30)
    assert model.n_iter_ == 30 and model.chains_[0].assignments.topic.tolist() != topics.tolist()
    assert model.alpha_.tolist() != [12.5] * 4
    again = topoi.LDA.from_assignments(documents, topics, 4, random_state=0, learn_alpha=True).resume(30)
    assert np.array_equal(again.topic_word_, model.topic_word_)


@pytest.mark.parametrize(
    ("topics", "settings", "message"),
    [
        ([0], {}, "1 of int64; pass one whole number for each of the 135 words"),
        (np.zeros(135), {}, "float64"),
        (np.zeros((135, 1), int), {}, "135×1"),
        (np.full(135, -1), {}, "value -1; topics are numbered 0 to 2"),
        (np.full(135, 3), {}, "value 3; topics are numbered 0 to 2"),
        (np.zeros(135, int), {"alpha": [1.0]}, "alpha has 1 entries"),
        (np.zeros(135, int), {"beta": -1}, "beta has the value -1"),
        (np.zeros(135, int), {"n_chains": 2}, "n_chains is 2"),
        (np.zeros(135, int), {"sparse": "counts"}, "sparse=False"),
    ],
)
def test_wrong_topics_and_settings_are_named(topics: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        topoi.LDA.from_assignments(corpus(), topics, 3, **settings)


def test_corpus_without_words_and_no_corpus_are_refused() -> None:
    with pytest.raises(ModelError, match="no words"):
        topoi.LDA.from_assignments(topoi.Corpus.from_tokens([[]]), np.zeros(0, int), 3)
    with pytest.raises(ModelError, match="pass a topoi.Corpus"):
        topoi.LDA.from_assignments([[1, 2]], [0, 0, 0], 3)  # type: ignore[arg-type]
