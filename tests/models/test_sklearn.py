"""LDA among scikit-learn's estimators: its own checks, pipelines, searches, matrices of every kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import topoi

TEXTS = ["sun star moon", "star sun sun", "cell gene cell", "gene cell gene"] * 6


def checks():
    """All of scikit-learn's checks but one that only runs where SCIPY_ARRAY_API is set, and would skip elsewhere."""
    for estimator, check in estimator_checks_generator(topoi.LDA(n_topics=2, n_iter=20)):
        name = getattr(check, "func", check).__name__
        if name != "check_array_api_input":
            yield pytest.param(estimator, check, id=name)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def counts():
    return np.random.default_rng(0).integers(0, 4, (12, 7))


def fitted(X, **options):
    return topoi.LDA(3, n_iter=15, random_state=0, **options).fit(X)


def test_pipeline_from_texts_to_topics():
    pipeline = make_pipeline(CountVectorizer(), topoi.LDA(2, alpha=0.1, n_iter=60, random_state=0))
    shares = pipeline.fit_transform(TEXTS)
    assert shares.shape == (len(TEXTS), 2)
    sky, life = shares[0].argmax(), shares[2].argmax()
    assert sky != life
    assert pipeline.transform(["moon and sun", "a gene"]).argmax(axis=1).tolist() == [sky, life]
    assert pipeline.get_feature_names_out().tolist() == ["lda0", "lda1"]


def test_grid_search_over_the_number_of_topics():
    counts = CountVectorizer().fit_transform(TEXTS)
    model = topoi.LDA(alpha=0.1, n_iter=40, random_state=0)
    search = GridSearchCV(model, {"n_topics": [1, 2]}, cv=3, error_score="raise").fit(counts)
    assert search.best_params_ == {"n_topics": 2}
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) < 0


@pytest.mark.parametrize("family", [topoi.LDA, topoi.AuthorTopicModel, topoi.AuthorModel])
def test_clone_and_parameters(family):
    model = family(beta=0.5, n_iter=3, random_state=9)
    assert clone(model).get_params() == model.get_params()
    assert clone(model.set_params(n_iter=7)).n_iter == 7
    assert not hasattr(clone(model), "n_iter_")
    with pytest.raises(ValueError, match="Invalid parameter 'n_topix'"):
        model.set_params(n_topix=3)
    assert "beta=0.5" in repr(model)


def test_pandas_output_keeps_names_and_index(counts):
    frame = pd.DataFrame(counts, columns=list("abcdefg"), index=range(100, 112))
    model = topoi.LDA(3, n_iter=5, random_state=0).set_output(transform="pandas").fit(frame)
    shares = model.transform(frame)
    assert shares.columns.tolist() == ["lda0", "lda1", "lda2"] and shares.index.tolist() == frame.index.tolist()
    assert model.feature_names_in_.tolist() == model.vocabulary_.words.tolist() == list("abcdefg")
    assert model.top_words(1)["word"].isin(list("abcdefg")).all()


def test_refit_to_a_corpus_forgets_the_names_of_a_frame(counts):
    model = fitted(pd.DataFrame(counts, columns=list("abcdefg")))
    model.fit(topoi.Corpus.from_counts(counts))
    assert not hasattr(model, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(counts)


def test_sparse_and_dense_and_corpus_give_the_same_bits(counts):
    dense = fitted(counts)
    for other in (
        scipy.sparse.csr_matrix(counts),
        scipy.sparse.csc_array(counts),
        counts.astype(float),
        counts.tolist(),
        pd.DataFrame(counts),
        topoi.Corpus.from_counts(counts),
    ):
        model = fitted(other)
        assert np.array_equal(model.topic_word_, dense.topic_word_)
        assert np.array_equal(model.transform(other), dense.transform(counts))
        assert model.n_features_in_ == 7


def test_sparse_input_is_not_changed():
    matrix = scipy.sparse.csr_matrix(np.array([[1.0, 0, 3.0], [0, 2.0, 1.0]]))
    matrix.data[1] = 0.0  # a zero that stays in the matrix
    before = matrix.copy()
    fitted(matrix)
    assert np.array_equal(matrix.toarray(), before.toarray()) and matrix.nnz == before.nnz


@pytest.mark.parametrize("call", ["fit", "transform", "fit_transform", "score", "perplexity", "log_likelihood"])
@pytest.mark.parametrize("make", [np.array, list, scipy.sparse.csr_matrix, pd.DataFrame])
def test_fractions_are_refused(counts, call, make):
    model = topoi.LDA(2, n_iter=3, random_state=0)
    if call not in ("fit", "fit_transform"):
        model.fit(counts)
    with pytest.raises(topoi.ModelError, match="fractions, 0.25 for one.*CountVectorizer, not TfidfVectorizer"):
        getattr(model, call)(make((counts * 0 + 0.25).tolist()))


@pytest.mark.parametrize(
    "family", [topoi.LDA(2, n_iter=2), topoi.PachinkoAllocation(2, 2, n_iter=2), topoi.AspectModel(2)]
)
def test_tf_idf_is_refused(family):
    weights = TfidfVectorizer().fit_transform(TEXTS)
    with pytest.raises(topoi.ModelError, match="fractions"):
        family.fit(weights)


@pytest.mark.parametrize(
    "bad",
    [
        [[1, -1], [2, 3]],
        [[1, np.nan], [2, 3]],
        [[np.inf, 1], [2, 3]],
        np.array([["a", "b"]]),
        [1, 2],
        [],
        [[]],
        [["a", 1]],
        7,
    ],
)
def test_matrices_without_counts_are_value_errors(bad):
    with pytest.raises(ValueError):
        topoi.LDA(2, n_iter=2).fit(bad)


def test_matrix_of_zeros_gives_the_prior():
    """A matrix without any word says nothing."""
    model = topoi.LDA(2, n_iter=2, random_state=0).fit(np.zeros((3, 4)))
    np.testing.assert_allclose(model.topic_word_, 0.25)
    np.testing.assert_allclose(model.transform(np.eye(4)).sum(axis=1), 1)


def test_wrong_number_of_columns_is_a_value_error(counts):
    with pytest.raises(ValueError, match="7 features"):
        fitted(counts).transform(counts[:, :5])


def test_rows_are_transformed_each_for_itself(counts):
    model = fitted(counts)
    whole = model.transform(counts)
    order = np.random.default_rng(1).permutation(len(counts))
    assert np.array_equal(model.transform(counts[order]), whole[order])
    assert np.array_equal(model.transform(counts[4:5]), whole[4:5])
    assert np.array_equal(model.transform(counts), whole)


def test_empty_rows_have_the_prior(counts):
    model = topoi.LDA(3, alpha=[0.1, 0.2, 0.7], n_iter=5, random_state=0).fit(counts)
    np.testing.assert_allclose(model.transform(np.zeros((2, 7))), [[0.1, 0.2, 0.7]] * 2, rtol=1e-6)
