"""Completion curves: which words are seen, which are scored, and what does not matter."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import topoi
from topoi.errors import ModelError
from topoi.evaluation import completion_curve
from topoi.evaluation.completion import _random_ranks


@pytest.fixture(scope="module")
def corpora():
    corpus = topoi.AuthorTopicModel(4, alpha=0.1, beta=0.05).simulate(100, 30, authors=10, random_state=8)
    return corpus.split(test_size=25, random_state=0, known_authors=True)


@pytest.fixture(scope="module", params=["LDA", "AuthorTopicModel", "AuthorModel"])
def model(request, corpora):
    options = {} if request.param == "AuthorModel" else {"n_topics": 4, "alpha": 0.1}
    return getattr(topoi, request.param)(beta=0.05, n_iter=40, random_state=0, **options).fit(corpora[0])


def test_words_seen_are_nested_random_and_of_the_asked_number(corpora):
    test = corpora[1]
    rank = _random_ranks(test, 0)
    for a, b in zip(test.doc_start[:-1], test.doc_start[1:], strict=True):
        assert sorted(rank[a:b]) == list(range(b - a))
    assert not np.array_equal(rank, _random_ranks(test, 1))
    first = np.concatenate([_random_ranks(test, s)[test.doc_start[:-1]] for s in range(40)])
    lengths = np.tile(test.doc_lengths, 40)
    assert abs((first / (lengths - 1)).mean() - 0.5) < 0.04  # a document's first word has any place


def test_every_point_is_the_perplexity_of_the_rest(model, corpora):
    test = corpora[1]
    curve = completion_curve(model, test, observed=(0, 5), average="tokens")
    seen = _random_ranks(test, 0) < 5
    log_p = model.log_completion(test, seen)
    assert curve["perplexity"][1] == pytest.approx(np.exp(-log_p.sum() / (~seen).sum()))
    assert curve["n_docs"].tolist() == [25, 25]


def test_documents_without_a_rest_are_left_out(model, corpora):
    lengths = corpora[1].doc_lengths
    middle = int(np.median(lengths))
    curve = completion_curve(model, corpora[1], observed=(middle, 10_000))
    assert curve["n_docs"].tolist() == [(lengths > middle).sum(), 0]
    assert np.isfinite(curve["perplexity"][0]) and np.isnan(curve["perplexity"][1])


def test_seeing_words_helps_where_documents_have_topics_of_their_own(corpora):
    lda = topoi.LDA(4, alpha=0.1, beta=0.05, n_iter=60, random_state=0).fit(corpora[0])
    curve = completion_curve(lda, corpora[1], observed=(0, 16), average="tokens")["perplexity"]
    assert curve[1] < 0.9 * curve[0]


def test_curve_depends_on_neither_order_nor_other_documents(model, corpora):
    test = corpora[1]
    order = np.random.default_rng(3).permutation(test.n_docs)
    curve = completion_curve(model, test, observed=(0, 4))
    shuffled = completion_curve(model, test.subset(order), observed=(0, 4))
    np.testing.assert_allclose(curve["perplexity"], shuffled["perplexity"], rtol=1e-12)
    rank = _random_ranks(test, 0)
    one = test.subset([6])
    assert np.array_equal(_random_ranks(one, 0), rank[test.doc_start[6] : test.doc_start[7]])


def test_unknown_words_are_neither_seen_nor_scored(model, corpora):
    """A word the model lacks has no probability, and must not lower the perplexity by its mere presence."""
    test = corpora[1]
    rows = [test.words[test.tokens[a:b]].tolist() for a, b in zip(test.doc_start[:-1], test.doc_start[1:], strict=True)]
    padded = topoi.Corpus.from_tokens(
        [[w for word in row for w in (word, "unheard")] for row in rows], authors=test.author_lists()
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve = completion_curve(model, padded, observed=(0, 4, 8))
    assert len(caught) == 1 and "words the model does not know" in str(caught[0].message)
    assert caught[0].filename == __file__
    expected = completion_curve(model, test, observed=(0, 4, 8))
    np.testing.assert_allclose(curve["perplexity"], expected["perplexity"], rtol=1e-9)


@pytest.mark.parametrize(("observed", "message"), [((-1,), "observed is -1"), ((2.5,), "observed is 2.5")])
def test_numbers_of_words_are_whole(model, corpora, observed, message):
    with pytest.raises(ModelError, match=message):
        completion_curve(model, corpora[1], observed=observed)


def test_wrong_average_and_unfitted_models_are_refused(model, corpora):
    with pytest.raises(ModelError, match="average is 'median'"):
        completion_curve(model, corpora[1], observed=(0,), average="median")
    with pytest.raises(NotFittedError):
        completion_curve(topoi.LDA(), corpora[1])
