"""Bins of answers by how sure they were."""

import numpy as np
import pytest

import topoi

reliability = pytest.importorskip("studies.reliability", reason="the studies are not part of an installed package")


def test_answers_that_are_right_as_often_as_stated_have_no_gap():
    random = np.random.default_rng(0)
    stated = random.uniform(0.05, 1.0, 40_000)
    answers = reliability.Answers(np.arange(40_000) // 10, stated, random.random(40_000) < stated)
    found = reliability.summary(answers)
    assert abs(found["gap"]) < 3 * found["error_of_gap"] and found["distance"] < 0.02
    assert sum(row["answers"] for row in found["bins"]) == 40_000
    assert [round(row["stated"], 1) for row in found["bins"]] == pytest.approx(np.arange(10) / 10 + 0.05, abs=0.051)


def test_a_gap_is_seen_and_errors_are_over_documents():
    document = np.repeat(np.arange(50), 20)  # words of one document are right or wrong together
    right = np.repeat(np.arange(50) % 2 == 0, 20)
    found = reliability.summary(reliability.Answers(document, np.full(1000, 0.9), right))
    assert found["gap"] == pytest.approx(-0.4) and found["distance"] == pytest.approx(0.4)
    assert found["error"] == pytest.approx(np.sqrt(0.25 / 50))
    assert len(found["bins"]) == 1 and found["bins"][0]["documents"] == 50


def test_topics_of_words_that_are_drawn_from_a_model_are_right_as_often_as_stated():
    simulated = topoi.LDA(6, alpha=0.3, beta=0.05).simulate(200, doc_length=30, random_state=1)
    model = topoi.LDA(6, n_iter=50, random_state=0, progress=False).fit(simulated)
    found = reliability.summary(reliability.word_topics(model, 300))
    assert abs(found["gap"]) < 3 * found["error_of_gap"] and found["distance"] < 0.04
    assert 0.3 < found["right"] < 0.98
