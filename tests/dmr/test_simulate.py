"""The generative story."""

import numpy as np
import pytest

import topoi
from topoi.models.dmr.likelihood import alpha_rows

FEATURES = ["venue", "year"]


def frame(n_docs, seed=0):
    rng = np.random.default_rng(seed)
    return {"venue": rng.choice(["A", "B", "C"], n_docs).tolist(), "year": rng.integers(1950, 2000, n_docs).tolist()}


def model(**settings):
    options = {"features": FEATURES, "width": 25.0, "alpha": 0.3, "beta": 0.02, "variance": 1.0, "random_state": 0}
    return topoi.DirichletMultinomialRegression(4, **(options | {"intercept_variance": 0.1} | settings))


def test_documents_follow_their_metadata():
    corpus = model().simulate(frame(3000), 40, random_state=1)
    truth = corpus.truth
    assert corpus.n_docs == 3000 and truth.coefficients.shape == (4, 7) and truth.topic_word.shape == (4, 1000)
    assert corpus.documents["venue"].tolist() == frame(3000)["venue"] and truth.alpha.shape == truth.doc_topic.shape
    mean = truth.alpha / truth.alpha.sum(axis=1, keepdims=True)
    spread = np.sqrt(mean * (1 - mean) / (truth.alpha.sum(axis=1, keepdims=True) + 1))
    z = ((truth.doc_topic - mean) / spread).sum(axis=0) / np.sqrt(3000)
    assert np.abs(z).max() < 4.5
    counts = np.bincount(np.repeat(np.arange(3000), corpus.doc_lengths) * 4 + truth.topic, minlength=12000)
    gap = counts.reshape(3000, 4) - corpus.doc_lengths[:, None] * truth.doc_topic
    noise = np.sqrt((corpus.doc_lengths[:, None] * truth.doc_topic * (1 - truth.doc_topic)).sum(axis=0))
    assert np.abs(gap.sum(axis=0) / noise).max() < 4.5
    assert abs(corpus.doc_lengths.mean() - 40) < 4.5 * np.sqrt(40 / 3000)


def test_coefficients_come_from_their_prior():
    drawn = [model(variance=0.25).simulate(frame(5), 1, random_state=s).truth.coefficients for s in range(150)]
    drawn = np.array(drawn)
    assert np.abs(drawn.mean(axis=(0, 1)) - np.r_[np.log(0.3), np.zeros(6)]).max() < 4.5 * 0.5 / np.sqrt(600)
    np.testing.assert_allclose(drawn[..., 1:].std(), 0.5, rtol=0.06)
    np.testing.assert_allclose(drawn[..., 0].std(), np.sqrt(0.1), rtol=0.14)


def test_the_same_seed_gives_the_same_corpus():
    one, two, other = (model().simulate(frame(20), 10, random_state=s) for s in (3, 3, 4))
    assert one.fingerprint() == two.fingerprint() != other.fingerprint()


def test_a_fitted_model_draws_documents_like_its_own():
    corpus = model().simulate(frame(200), 30, random_state=1)
    fitted = model(n_iter=60, n_warmup=20).fit(corpus)
    again = fitted.simulate(frame(50, seed=2), 20, random_state=5)
    assert np.array_equal(again.truth.coefficients, fitted.coefficients_)
    assert np.array_equal(again.truth.alpha, alpha_rows(fitted.design_.matrix(again), fitted.coefficients_))
    assert list(again.words) == list(fitted.vocabulary_.words)
    with pytest.raises(topoi.ModelError, match="no column 'venue'"):
        fitted.simulate({"year": [1960]})


def test_what_cannot_be_simulated():
    with pytest.raises(topoi.ModelError, match="variance is 'cv'"):
        model(variance="cv").simulate(frame(3))
    with pytest.raises(topoi.ModelError, match="doc_length is -1"):
        model().simulate(frame(3), -1)
