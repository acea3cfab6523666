"""Simulated corpora have the statistics that their stories promise."""

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError

ALPHA = np.array([0.5, 1.5, 3.0])


def test_shapes_names_and_determinism():
    for model, options in (
        (topoi.AuthorTopicModel(3), {"authors": 5}),
        (topoi.LDA(3), {}),
        (topoi.AuthorModel(), {"authors": np.int64(5)}),
    ):
        one, two, other = (model.simulate(12, 9, random_state=seed, **options) for seed in (1, 1, 2))
        assert one.fingerprint() == two.fingerprint() != other.fingerprint()
        assert one.n_docs == 12 and one.n_words == 1000 and one.n_authors == (5 if options else 0)
        assert len(one.truth.topic) == len(one.truth.slot) == one.n_tokens
        np.testing.assert_allclose(one.truth.topic_word.sum(axis=1), 1)


def test_lengths_are_poisson():
    lengths = topoi.LDA(2).simulate(4000, 7.5, random_state=0).doc_lengths
    assert abs(lengths.mean() - 7.5) < 4 * np.sqrt(7.5 / 4000)
    assert abs(lengths.var() - 7.5) < 1.0


def test_words_follow_their_topics_and_topics_their_authors():
    model = topoi.AuthorTopicModel(3, alpha=ALPHA, beta=np.full(6, 0.5))
    corpus = model.simulate(300, 100, authors=[["Ann"], ["Ann", "Bob"], "Cy"] * 100, random_state=3)
    truth = corpus.truth
    assert corpus.authors.tolist() == ["Ann", "Bob", "Cy"]
    for k in range(3):
        words = np.bincount(corpus.tokens[truth.topic == k], minlength=6)
        error = np.sqrt(truth.topic_word[k] / words.sum())
        assert (np.abs(words / words.sum() - truth.topic_word[k]) < 4.5 * error + 1e-9).all()
    first = np.repeat(corpus.doc_author_start[:-1], corpus.doc_lengths)
    author = corpus.doc_author[first + truth.slot]
    for a in range(3):
        topics = np.bincount(truth.topic[author == a], minlength=3)
        error = np.sqrt(truth.author_topic[a] / topics.sum())
        assert (np.abs(topics / topics.sum() - truth.author_topic[a]) < 4.5 * error + 1e-9).all()
    shared = np.repeat(np.arange(300) % 3 == 1, corpus.doc_lengths)
    assert abs(truth.slot[shared].mean() - 0.5) < 4 * 0.5 / np.sqrt(shared.sum())


def test_mixtures_are_dirichlet_even_with_tiny_parameters():
    shares = topoi.LDA(3, alpha=ALPHA).simulate(3000, 400, random_state=0).truth.doc_topic
    mean = ALPHA / ALPHA.sum()
    variance = mean * (1 - mean) / (ALPHA.sum() + 1)
    np.testing.assert_allclose(shares.mean(axis=0), mean, atol=0.02)
    np.testing.assert_allclose(shares.var(axis=0), variance + mean * (1 - mean) / 400, rtol=0.12)
    tiny = topoi.LDA(3, alpha=1e-8, beta=1e-8).simulate(300, 20, random_state=0)
    assert np.isfinite(tiny.truth.topic_word).all()
    assert (tiny.truth.doc_topic.max(axis=1) > 0.999).all()
    assert np.bincount(tiny.truth.doc_topic.argmax(axis=1), minlength=3).min() > 60


@pytest.mark.parametrize(("weight", "share"), [(None, 1 / 3), (0.6, 0.6)])
def test_fictitious_authors_write_their_share(weight, share):
    model = topoi.AuthorTopicModel(3, fictitious_authors=True, fictitious_weight=weight)
    corpus = model.simulate(200, 100, authors=[["Ann", "Bob"]] * 200, random_state=1)
    assert abs((corpus.truth.slot == 2).mean() - share) < 4 * np.sqrt(share * (1 - share) / corpus.n_tokens)
    assert (np.diff(corpus.doc_author_start) == 2).all()  # the fictitious one is nobody's name


def test_author_model_words_follow_their_authors():
    rows = [["Ann", "Bob"], [], ["Bob"]] * 60
    corpus = topoi.AuthorModel(beta=np.full(5, 0.7)).simulate(180, 100, authors=rows, random_state=2)
    truth = corpus.truth
    for a in range(2):
        words = np.bincount(corpus.tokens[truth.topic == a], minlength=5)
        assert (np.abs(words / words.sum() - truth.topic_word[a]) < 4.5 * np.sqrt(0.25 / words.sum())).all()
    doc = np.repeat(np.arange(180), corpus.doc_lengths)
    assert abs((truth.topic[doc % 3 == 0] == 0).mean() - 0.5) < 0.03
    assert (truth.topic[doc % 3 == 2] == 1).all()
    own = truth.topic[doc % 3 == 1]
    assert own.min() == 2 and len(np.unique(own)) == 60  # each document without authors has words of its own


def fitted(family, **options):
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["c", "d"]] * 20, authors=["Ann", "Bob"] * 20)
    return family(n_iter=30, random_state=0, **options).fit(corpus)


def test_fitted_models_simulate_from_what_they_learned():
    model = fitted(topoi.AuthorTopicModel, n_topics=2, alpha=0.1)
    corpus = model.simulate(50, 40, authors=[["Bob"]] * 50, random_state=0)
    assert corpus.words.tolist() == list("abcd") and np.isin(corpus.tokens, [2, 3]).mean() > 0.95
    assert np.array_equal(corpus.truth.topic_word, model.topic_word_)
    words = fitted(topoi.AuthorModel, beta=0.01).simulate(50, 40, authors=[["Ann"]] * 50, random_state=0)
    assert np.isin(words.tokens, [0, 1]).mean() > 0.95
    lda = fitted(topoi.LDA, n_topics=2, alpha=0.1)
    assert np.array_equal(lda.simulate(3, 5, random_state=0).truth.topic_word, lda.topic_word_)
    with pytest.raises(ModelError, match="no author 'Zoe'"):
        model.simulate(1, 5, authors=[["Zoe"]])
    with pytest.raises(topoi.NotFoundError, match="Zoe"):
        fitted(topoi.AuthorModel).simulate(1, 5, authors=[["Zoe"]])


@pytest.mark.parametrize("family", [topoi.AuthorTopicModel, topoi.LDA, topoi.AuthorModel])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_docs": 0}, "n_docs is 0"),
        ({"doc_length": -1}, "doc_length is -1; it is a mean number of words"),
        ({"doc_length": float("nan")}, "doc_length is nan"),
        ({"doc_length": "long"}, "doc_length is 'long'"),
        ({"random_state": "x"}, "random_state is 'x'"),
        ({"authors": [["Ann"]]}, "authors has 1 entries for 4 documents|has no authors to simulate"),
        ({"authors": 0}, "authors is 0|has no authors to simulate"),
    ],
)
def test_bad_wishes_are_refused(family, options, message):
    with pytest.raises(ModelError, match=message):
        family().simulate(**{"n_docs": 4} | options)
