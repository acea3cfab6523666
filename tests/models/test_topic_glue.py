"""Glue: words that are everywhere and none of them a subject."""

import numpy as np
import pytest

from topoi.models.background import background_topics, log_concentration, upper_values_and_variety

N_TOPICS, N_DOCS, LENGTH = 12, 60, 40


def corpus(n_glue_words=30, where=None, seed=0):
    """Every document is half about one of eleven subjects, and half made of the words of topic 0."""
    chance = np.random.default_rng(seed)
    documents = []
    for d in range(N_DOCS):
        subject = 1 + d % (N_TOPICS - 1)
        topic = np.where(np.arange(LENGTH) % 2 == 0, subject, 0)
        if where is not None and d not in where:
            topic[:] = subject
        word = np.where(
            topic == 0, chance.integers(n_glue_words, size=LENGTH), 100 * topic + chance.integers(30, size=LENGTH)
        )
        documents.append((word, topic))
    tokens, topic = (np.concatenate(part) for part in zip(*documents, strict=True))
    return tokens, topic, np.arange(0, N_DOCS * LENGTH + 1, LENGTH)


def found(tokens, topic, doc_start, n_topics=N_TOPICS):
    n_words = int(tokens.max()) + 1
    table = np.bincount(tokens * n_topics + topic, minlength=n_words * n_topics).reshape(n_words, n_topics)
    return np.flatnonzero(background_topics(tokens, topic, doc_start, table.__getitem__, n_words, n_topics)).tolist()


def test_words_that_are_everywhere_are_glue():
    assert found(*corpus()) == [0]


def test_one_word_that_is_everywhere_is_a_subject():
    assert found(*corpus(n_glue_words=2)) == []


def test_topic_of_few_documents_is_no_glue():
    assert found(*corpus(where=range(10))) == []


def test_topic_of_two_documents_in_words_that_are_everywhere_is_no_glue():
    tokens, topic, doc_start = corpus()
    doc = np.arange(len(tokens)) // LENGTH
    assert found(tokens, np.where((topic == 0) & (doc > 1), 1 + doc % (N_TOPICS - 1), topic), doc_start) == []


def test_topic_that_is_everywhere_in_words_of_few_documents_is_no_glue():
    tokens, topic, doc_start = corpus()
    doc = np.arange(len(tokens)) // LENGTH
    assert found(np.where(topic == 0, 2000 + doc, tokens), topic, doc_start) == []


def test_few_topics_tell_nothing():
    tokens, topic, doc_start = corpus()
    few = topic < 9
    doc = (np.arange(len(tokens)) // LENGTH)[few]
    start = np.searchsorted(doc, np.arange(N_DOCS + 1))
    assert found(tokens[few], topic[few], start, 9) == []


def test_where_nothing_is_concentrated_nothing_is_glue():
    chance = np.random.default_rng(0)
    assert found(chance.integers(200, size=4000), chance.integers(N_TOPICS, size=4000), np.arange(0, 4001, 100)) == []


def test_an_empty_topic_is_no_glue():
    tokens, topic, doc_start = corpus()
    assert found(tokens, topic, doc_start, N_TOPICS + 3) == [0]


@pytest.mark.parametrize("seed", range(3))
def test_concentration_counts_pairs(seed):
    chance = np.random.default_rng(seed)
    kinds = chance.integers(5, size=80)
    doc_start = np.sort(np.append(chance.integers(81, size=6), [0, 80]))
    doc = np.searchsorted(doc_start, np.arange(80), side="right")
    expected = []
    together = [(kinds[i], kinds[j], doc[i] == doc[j]) for i in range(80) for j in range(80) if i != j]
    any_two = np.mean([same for _, _, same in together])
    for kind in range(6):
        pairs = [same for a, b, same in together if a == kind and b == kind]
        expected.append(np.log((sum(pairs) + 1) / (len(pairs) * any_two + 1)))
    np.testing.assert_allclose(log_concentration(kinds, doc_start, 6), expected, atol=1e-12)


@pytest.mark.parametrize("at_once", [7, 4096])
def test_quantile_and_number_of_words(monkeypatch, at_once):
    monkeypatch.setattr("topoi.models.background._WORDS_AT_ONCE", at_once)
    chance = np.random.default_rng(0)
    values, table = chance.normal(size=50).round(1), chance.poisson(1.0, size=(50, 5)) * [1, 1, 1, 1, 0]
    upper, variety = upper_values_and_variety(values, table.__getitem__, 5)
    for k in range(4):
        spelled_out = np.sort(np.repeat(values, table[:, k]))
        assert upper[k] == spelled_out[int(np.ceil(0.75 * len(spelled_out))) - 1]
        share = table[:, k] / table[:, k].sum()
        assert variety[k] == pytest.approx(1 / (share**2).sum())
    assert upper[4] == 0.0 and variety[4] == 0.0
