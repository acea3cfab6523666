"""Mixtures that are expected of documents of which no word is known."""

import numpy as np
import pytest

import topoi

_UNSEEN = {"burn_in": 1, "n_samples": 1, "lag": 1}


@pytest.fixture(scope="module")
def corpus():
    plan = topoi.AuthorTopicModel(4, alpha=0.1, beta=0.05, fictitious_authors=True)
    return plan.simulate(90, 30, authors=9, random_state=5)


@pytest.fixture(scope="module")
def authors_model(corpus):
    return topoi.AuthorTopicModel(4, n_iter=60, random_state=0).fit(corpus)


def unseen(model, corpus):
    """Log probability of all words of each document, of which none is seen."""
    return model.log_completion(corpus, np.zeros(corpus.n_tokens, bool), **_UNSEEN)


def by_mixture(model, corpus, mixtures):
    doc = np.repeat(np.arange(corpus.n_docs), corpus.doc_lengths)
    return np.bincount(doc, np.log(np.sum(mixtures[doc] * model.topic_word_[:, corpus.tokens].T, axis=1)))


def words_of(model, corpus, author):
    """Topics' numbers of words in an author's documents, of which co-authors have their parts."""
    start, counts = corpus.doc_author_start, model.topic_counts(corpus)
    found = np.zeros(4)
    for d in range(corpus.n_docs):
        names = corpus.doc_author[start[d] : start[d + 1]]
        if author in names:
            found += counts[d] / len(names)
    return found


def test_without_authors_the_topics_shares_of_all_words_are_expected(corpus):
    model = topoi.LDA(4, n_iter=40, random_state=0).fit(corpus)
    share = model.topic_counts(corpus).sum(axis=0) / corpus.n_tokens
    few = corpus.subset(np.arange(5))
    np.testing.assert_allclose(unseen(model, few), by_mixture(model, few, np.tile(share, (5, 1))), rtol=1e-5)
    assert not np.allclose(share, model.alpha_ / model.alpha_.sum(), rtol=0.01)
    empty = topoi.Corpus.from_tokens([[], [str(corpus.words[0])]])
    for method in ("gibbs", "mean-field"):
        np.testing.assert_allclose(model.transform(empty, method=method)[0], share, rtol=1e-6)


def test_of_an_author_the_words_of_all_his_documents_are_expected(corpus, authors_model):
    """With fifty words of anybody's: co-authors share the words of a document."""
    model = authors_model
    assert model._sampler.lists.fictitious
    common = 50 * model.topic_counts(corpus).sum(axis=0) / corpus.n_tokens
    few = corpus.subset(np.arange(8))
    start, mixtures = few.doc_author_start, np.zeros((8, 4))
    for d in range(8):
        for author in few.doc_author[start[d] : start[d + 1]]:
            counts = words_of(model, corpus, author) + common
            mixtures[d] += counts / counts.sum() / (start[d + 1] - start[d])
    np.testing.assert_allclose(unseen(model, few), by_mixture(model, few, mixtures), rtol=1e-5)


def test_a_file_and_threads_change_nothing(corpus, authors_model, tmp_path):
    before = unseen(authors_model, corpus)
    authors_model.save(tmp_path / "model.topoi")
    loaded = topoi.load(tmp_path / "model.topoi").set_params(n_jobs=2)
    assert np.array_equal(unseen(loaded, corpus), before)


@pytest.mark.parametrize("given", [{"alpha": 0.3}, {"prior": "paper"}, {"learn_alpha": True}])
def test_alpha_that_was_said_is_what_is_expected(corpus, given):
    model = topoi.LDA(4, n_iter=25, random_state=0, **given).fit(corpus)
    share = model.alpha_ / model.alpha_.sum()
    few = corpus.subset(np.arange(5))
    np.testing.assert_allclose(unseen(model, few), by_mixture(model, few, np.tile(share, (5, 1))), rtol=1e-4)


def test_without_private_authors_the_authors_mixtures_are_expected(corpus):
    model = topoi.AuthorTopicModel(4, n_iter=25, random_state=0, fictitious_authors=False).fit(corpus)
    alone = np.flatnonzero(np.diff(corpus.doc_author_start) == 1)[:5]
    few = corpus.subset(alone)
    np.testing.assert_allclose(
        unseen(model, few), by_mixture(model, few, model.author_topic_[few.doc_author]), rtol=1e-4
    )


def test_one_seen_word_is_enough_for_alpha(corpus, authors_model):
    """The private author's mixture is then sampled, as ever."""
    few = corpus.subset(np.arange(5))
    seen = np.zeros(few.n_tokens, bool)
    seen[few.doc_start[:-1]] = True
    chain = authors_model.chains_[0]
    with_it = authors_model.log_completion(few, seen)
    expected, chain.expected = chain.expected, None
    assert np.array_equal(authors_model.log_completion(few, seen), with_it)
    assert not np.allclose(unseen(authors_model, few), 0.0)
    chain.expected = expected


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.3}, {"prior": "paper"}, {"fictitious_authors": False}])
def test_a_view_expects_the_same_of_a_text_without_known_words(corpus, tmp_path, settings):
    family = topoi.AuthorTopicModel if "fictitious_authors" in settings else topoi.LDA
    model = family(4, n_iter=25, random_state=0, **settings).fit(corpus)
    model.save(tmp_path / "small.topoi")
    expected = model.chains_[0].expected
    (found,) = topoi.view(tmp_path / "small.topoi").transform([""])
    if "alpha" in settings or "prior" in settings:
        np.testing.assert_allclose(found, model.alpha_ / model.alpha_.sum(), atol=0.1)
    else:
        np.testing.assert_allclose(found, expected.of_all, rtol=1e-6)
