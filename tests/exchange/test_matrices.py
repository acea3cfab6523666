"""Matrices for pyLDAvis and OCTIS: shapes, sums, and topics under their own numbers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import topoi
from exchange.samples import WITH_TOPICS, corpus
from topoi.errors import ModelError
from topoi.exchange import to_octis, to_pyldavis

# Parameters of pyLDAvis.prepare that are given, in version 3.4.
ARGUMENTS = {
    "topic_term_dists",
    "doc_topic_dists",
    "doc_lengths",
    "vocab",
    "term_frequency",
    "sort_topics",
    "start_index",
}


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_pyldavis_accepts_every_family(name: str, given: Any, models: dict[str, Any]) -> None:
    """What pyLDAvis checks before it draws: equal lengths, rows that sum to one; and nothing that is no number."""
    found, documents = to_pyldavis(given(name)), corpus()
    assert found.keys() == ARGUMENTS and found["sort_topics"] is False and found["start_index"] == 0
    terms, shares = found["topic_term_dists"], found["doc_topic_dists"]
    n_topics = models[name].chains_[0].n_topics
    assert terms.shape == (n_topics, len(found["vocab"])) and shares.shape == (documents.n_docs, n_topics)
    assert len(found["doc_lengths"]) == documents.n_docs and len(found["term_frequency"]) == len(found["vocab"])
    for rows in (terms, shares):
        assert np.isfinite(rows).all() and (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    assert found["doc_lengths"].tolist() == documents.doc_lengths.tolist() and found["doc_lengths"][5] == 0
    assert "unheard" not in found["vocab"] and (found["term_frequency"] > 0).all()
    times = np.bincount(documents.tokens, minlength=documents.n_words)
    assert dict(zip(found["vocab"], found["term_frequency"], strict=True)) == {
        word: n for word, n in zip(documents.words, times, strict=True) if n
    }


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_topics_keep_their_numbers(name: str, given: Any, models: dict[str, Any]) -> None:
    posterior, documents = models[name].chains_[0], corpus()
    found, seen = to_pyldavis(given(name)), documents.words != "unheard"
    expected = posterior.topic_word[:, seen] / posterior.topic_word[:, seen].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found["topic_term_dists"], expected, rtol=1e-6, atol=1e-12)
    with_words = np.flatnonzero(documents.doc_lengths)
    expected = posterior.doc_topic[with_words]
    # A store keeps mixtures that are not counts in half precision.
    np.testing.assert_allclose(found["doc_topic_dists"][with_words], expected, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("nothing", [0.0, np.nan])
def test_document_without_a_mixture_has_that_of_the_collection(
    nothing: float, models: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Families of other packages may know nothing of an empty document."""
    posterior = models["PLSI"].chains_[0]
    shares = posterior.doc_topic.copy()
    shares[5] = nothing
    monkeypatch.setattr(type(posterior), "doc_topic", shares)
    found = to_pyldavis(models["PLSI"])["doc_topic_dists"]
    np.testing.assert_allclose(found[5], posterior.topic_totals / posterior.topic_totals.sum())
    np.testing.assert_allclose(found[6], shares[6], rtol=1e-12)


@pytest.mark.parametrize("name", WITH_TOPICS)
def test_octis_has_its_shapes(name: str, given: Any, models: dict[str, Any]) -> None:
    found, documents = to_octis(given(name), n_words=3), corpus()
    n_topics = models[name].chains_[0].n_topics
    assert found.keys() == {"topics", "topic-word-matrix", "topic-document-matrix"}
    assert found["topic-word-matrix"].shape == (n_topics, documents.n_words)
    assert found["topic-document-matrix"].shape == (n_topics, documents.n_docs)
    np.testing.assert_allclose(found["topic-document-matrix"].sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found["topic-word-matrix"].sum(axis=1), 1.0, rtol=1e-12)
    assert len(found["topics"]) == n_topics and all(len(words) <= 3 for words in found["topics"])
    for k, words in enumerate(found["topics"]):
        chosen = [found["topic-word-matrix"][k, documents.words.tolist().index(word)] for word in words]
        assert chosen == sorted(chosen, reverse=True)
        if words:
            assert chosen[0] == pytest.approx(found["topic-word-matrix"][k].max())


def test_our_own_coherence_takes_the_topics_of_octis(models: dict[str, Any]) -> None:
    topics = [words for words in to_octis(models["LDA"], n_words=5)["topics"] if len(words) > 1]
    assert np.isfinite(topoi.evaluation.coherence(topics, corpus(), n_words=2)["coherence"]).all()


@pytest.mark.parametrize("export", [to_pyldavis, to_octis])
def test_anything_else_is_refused(export: Any) -> None:
    with pytest.raises(ModelError, match="this is list; pass a fitted model"):
        export([1])
    without = topoi.AuthorModel(n_iter=2, random_state=0).fit(corpus())
    with pytest.raises(ModelError, match="has no topics"):
        export(without)


def test_names_follow_one_scheme() -> None:
    for name in topoi.exchange.__all__:
        first = next(iter(inspect.signature(getattr(topoi.exchange, name)).parameters))
        assert first in {"to": ("model", "corpus", "store"), "read": ("path",)}[name.partition("_")[0]]
