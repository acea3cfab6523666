"""Aspect models in files: the same to the last bit when loaded, the same answers when only viewed; damage is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.store.store import Store

TEXTS = ["the sun the star moon", "the star sun sun", "the cell gene cell", "the gene cell gene"] * 6


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    corpus = topoi.Corpus.from_texts(TEXTS, min_df=1, max_df=1.0, stop_words=None, dates=[1990, 1991] * 12)
    model = topoi.AspectModel(2, n_restarts=2, n_iter=40, random_state=0).fit(corpus)
    path = tmp_path_factory.mktemp("store") / "aspects.topoi"
    model.save(path)
    return model, path


def test_loaded_is_the_same_to_the_last_bit(saved):
    model, path = saved
    again = topoi.load(path)
    assert again.get_params() == model.get_params()
    for name in ("aspect_word_", "alpha_", "posterior_", "doc_topic_"):
        assert np.array_equal(getattr(again, name), getattr(model, name))
    assert again.trace_.equals(model.trace_) and again.fit_info_ == model.fit_info_
    assert np.array_equal(again.chains_[0].assignments.topic, model.chains_[0].assignments.topic)
    for estimator in ("ep", "vb", "importance"):
        texts = ["sun gene the", "moon"]
        assert np.array_equal(again.log_likelihood(texts, estimator), model.log_likelihood(texts, estimator))


def same(mine, theirs):
    pd.testing.assert_frame_equal(mine, theirs, check_dtype=False)


def test_a_view_answers_as_the_model_does(saved):
    model, path = saved
    view = topoi.view(path)
    assert view.n_topics == 2 and view.family == "AspectModel"
    mine, theirs = (m.top_words(3)[["topic", "word", "probability"]] for m in (model, view))
    assert mine["word"].tolist() == theirs["word"].tolist()
    np.testing.assert_allclose(mine["probability"], theirs["probability"])
    np.testing.assert_allclose(view.transform(["sun star", "gene"]), model.transform(["sun star", "gene"]))
    np.testing.assert_allclose(view.chains_[0].word_columns([0, 3]), model.chains_[0].word_columns([0, 3]))
    # A file has the mixtures in half precision, and their deviations.
    shares = [topoi.document_topics(each, 0) for each in (model, view)]
    pd.testing.assert_frame_equal(*shares, rtol=2**-9, check_dtype=False)
    similar = [topoi.similar_documents(each, 0) for each in (model, view)]
    pd.testing.assert_frame_equal(*similar, rtol=5e-3, check_dtype=False)
    distances = [topoi.similar_documents(each, 0, measure="jensen-shannon") for each in (model, view)]
    same(*distances)
    leading = [topoi.topic_documents(each, 1) for each in (model, view)]
    assert leading[0]["document"].tolist() == leading[1]["document"].tolist()
    pd.testing.assert_frame_equal(*leading, rtol=2**-9, check_dtype=False)
    same(topoi.word_topics(model, "sun"), topoi.word_topics(view, "sun"))
    same(topoi.label_words(model, "sun gene"), topoi.label_words(view, "sun gene"))
    np.testing.assert_array_equal(view.topic_sizes()["n_words"], model.topic_sizes()["n_words"])


def test_a_view_infers_by_the_models_own_rule(tmp_path):
    corpus = topoi.LDA(3, alpha=0.3).simulate(30, 40, random_state=0)
    model = topoi.AspectModel(3, max_passes=1, damping=0.3, n_iter=5, random_state=0).fit(corpus)
    model.save(tmp_path / "m.topoi")
    text = " ".join(str(word) for word in corpus.vocabulary.words[:9])
    same(topoi.label_words(model, text), topoi.label_words(topoi.view(tmp_path / "m.topoi"), text))


def test_tables_have_fitted_numbers(saved):
    model, path = saved
    with Store(path) as store:
        words = store.sql("SELECT topic, word_id, probability FROM topic_word")
        documents = store.sql("SELECT topic, document_id, share FROM topic_document")
    expected = model.aspect_word_[words["topic"], words["word_id"]]
    np.testing.assert_allclose(words["probability"], expected)
    expected = model.doc_aspect_[documents["document_id"], documents["topic"]]
    np.testing.assert_allclose(documents["share"], expected)


def test_labels_are_draws_from_the_posterior(saved):
    """Each token's aspect has the probability of its share; together they are near their expectation."""
    model, _ = saved
    corpus, topic = model.corpus_, model.chains_[0].assignments.topic
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    shares = model.aspect_word_[:, corpus.tokens].T * model.doc_aspect_[doc]
    shares /= shares.sum(axis=1, keepdims=True)
    spread = np.sqrt((shares[:, 1] * shares[:, 0]).sum())
    assert abs((topic == 1).sum() - shares[:, 1].sum()) < 4 * spread + 1


@pytest.mark.parametrize(
    ("array", "value", "message"),
    [("word_aspect", -1.0, "negative"), ("posterior", 0.0, "posterior"), ("alpha", -2.0, "alpha")],
)
def test_damaged_numbers_are_refused(saved, array, value, message):
    model, _ = saved
    meta, arrays = model.to_bundle()
    arrays = {name: each.copy() for name, each in arrays.items()}
    arrays[array].flat[0] = value
    with pytest.raises(topoi.TopoiError, match=message):
        topoi.AspectModel(**meta["settings"]).restore_bundle(model.corpus_, meta, arrays)


def test_known_parameters_can_be_saved(tmp_path):
    model = topoi.AspectModel.from_parameters([[0.9, 0.1], [0.2, 0.8]], 0.5, words=["sun", "gene"])
    model.save(tmp_path / "known.topoi")
    again = topoi.load(tmp_path / "known.topoi")
    assert np.array_equal(again.aspect_word_, model.aspect_word_) and again.alpha_.tolist() == [0.5, 0.5]
