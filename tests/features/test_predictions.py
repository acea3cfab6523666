"""What all models with features share: authors are a feature, and reach every kind of score."""

import warnings

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError
from topoi.evaluation import completion_curve, heldout

MODELS = {
    "kernel": lambda: topoi.KernelTopicModel(2, features=["authors"], n_iter=20, n_warmup=10, random_state=0),
    "regression": lambda: topoi.DirichletMultinomialRegression(
        2, features=["authors"], n_iter=30, n_warmup=10, random_state=0
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    words = [["sun", "star"] * 5, ["gene", "cell"] * 5] * 10
    return MODELS[request.param]().fit(topoi.Corpus.from_tokens(words, authors=["Ann", "Bob"] * 10))


def test_authors_reach_every_score(fitted):
    """In another order of words and authors: numbers are not names."""
    new = topoi.Corpus.from_tokens([["gene", "cell"], ["sun", "star"]], authors=["Bob", "Ann"])
    swapped = topoi.Corpus.from_tokens([["gene", "cell"], ["sun", "star"]], authors=["Ann", "Bob"])
    assert fitted.perplexity(new) < 0.5 * fitted.perplexity(swapped)
    frame = heldout(fitted, new)
    np.testing.assert_allclose(frame["log_likelihood"], fitted.log_likelihood(new), rtol=1e-12)
    curve = completion_curve(fitted, new, observed=(0, 1))
    assert curve["perplexity"][0] == pytest.approx(fitted.perplexity(new, given="metadata"), rel=1e-12)
    assert curve["perplexity"][1] < 3.0


def test_columns_tell_kinds_and_names(fitted):
    (column,) = fitted.feature_columns_
    assert (column.name, column.kind, column.levels) == ("authors", "names", ["Ann", "Bob"])


def test_texts_that_are_numbers_or_dates_are_read_as_such():
    from topoi.models.features.table import kind_of

    corpus = topoi.Corpus.from_tokens(
        [["a"]] * 2,
        metadata={"n": ["1", "-2.5e3"], "day": ["2001-02-03", ""], "code": ["12", "12a"], "none": ["", " "]},
    )
    kinds = {name: kind_of(corpus, name, corpus.documents[name].tolist()) for name in ("n", "day", "code", "none")}
    assert kinds == {"n": "number", "day": "date", "code": "category", "none": "category"}
    with pytest.raises(topoi.ModelError, match="no value in any document"):
        topoi.DirichletMultinomialRegression(2, features=["none"], n_iter=1).fit(corpus)


def test_names_in_one_cell_are_told_apart():
    corpus = topoi.Corpus.from_tokens([["a"]] * 2, metadata={"crew": ["Ann; Bob", "Bob"]})
    model = topoi.DirichletMultinomialRegression(2, features={"crew": "names"}, n_iter=1, random_state=0).fit(corpus)
    assert model.design_.labels == ["intercept", "crew=Ann", "crew=Bob"]


def test_columns_may_be_read_but_once(fitted):
    found = fitted.predict({"authors": iter([["Ann"], ["Bob"]])})
    assert found["authors"].tolist() == [["Ann"], ["Ann"], ["Bob"], ["Bob"]]


@pytest.mark.parametrize("given", [np.array([1, 2]), 1.0, True, -1, "nothing"])
def test_given_is_a_number_of_words(fitted, given):
    with pytest.raises(ModelError, match="given is"):
        fitted.perplexity(fitted.corpus_, given=given)


def test_no_words_have_no_perplexity(fitted):
    assert np.isnan(fitted.perplexity(fitted.corpus_, given=1000))
    assert np.isnan(fitted.perplexity(fitted.corpus_, given=10**30))
    assert np.isnan(fitted.perplexity(fitted.corpus_, given=1000, per_document=True)).all()


def test_no_documents_are_no_fault(fitted):
    nothing = {"authors": []}
    assert len(fitted.predict(nothing)) == 0
    assert fitted.simulate(nothing).n_docs == 0
    if hasattr(fitted, "draw_shares"):
        assert fitted.draw_shares(nothing, 3).shape == (4, 0, 2)


@pytest.mark.parametrize("given", [3, np.int64(3)])
def test_words_that_are_shown_are_not_scored(fitted, given):
    frame = heldout(fitted, fitted.corpus_, given=given)
    assert set(frame["n_words"]) == {7}
    np.testing.assert_allclose(frame["perplexity"], fitted.perplexity(fitted.corpus_, given=given, per_document=True))


@pytest.mark.parametrize("family", [topoi.KernelTopicModel, topoi.DirichletMultinomialRegression])
def test_names_that_no_document_has_are_warned_of(family):
    corpus = topoi.Corpus.from_tokens(
        [["sun", "star"], ["cell", "gene"]] * 5,
        authors=["Grover Cleveland", "Ann"] * 5,
        metadata={"venue": ["ACL", "NIPS"] * 5},
    )
    model = family(2, features=["authors", "venue"], n_iter=10, n_warmup=2, random_state=0).fit(corpus)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict({"authors": [["Grover Clevland"], ["Cleveland", "Ann"], []], "venue": ["NISP", "ACL", None]})
    assert [str(each.message) for each in caught] == [
        "no document has authors 'Grover Clevland': taken as new; did you mean 'Grover Cleveland'?",
        "no document has authors 'Cleveland': taken as new; did you mean 'Grover Cleveland'?",
        "no document has venue 'NISP': taken as new; did you mean 'NIPS'?",
    ]
    assert {each.filename for each in caught} == {__file__}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict({"authors": [["xx", "yy", "zz", "uu", "vv"]], "venue": ["ACL"]})
    assert len(caught) == 4 and str(caught[-1].message).startswith("2 other names of 'authors' are in no document")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict({"authors": [["Ann"], []], "venue": ["ACL", "NIPS"]})
        topoi.share_curve(model, "venue")  # of somebody new, on purpose
    with pytest.raises(topoi.ModelError, match="there is no column 'venue'; there are: authors, venu"):
        model.predict({"authors": [["Ann"]], "venu": ["ACL"]})
