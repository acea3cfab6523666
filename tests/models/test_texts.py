"""Texts, lists of words and tables handed to a model as they are: what is taken, and what is refused in words."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

import topoi
from topoi import Corpus, ModelError

SKY, LIFE = "The sun and a star, the moon", "A cell and a gene, a cell"
TEXTS = [SKY, LIFE] * 8
TOKENS = [["sun", "star", "moon"], ["cell", "gene", "cell"]] * 8
COLUMNS = {"text": TEXTS, "authors": ["Ann", "Bob"] * 8, "year": list(range(1990, 2006))}
SETTINGS = {"n_iter": 30, "random_state": 0}
FAMILIES = {
    "LDA": lambda: topoi.LDA(2, alpha=0.1, **SETTINGS),
    "pachinko": lambda: topoi.PachinkoAllocation(2, 2, **SETTINGS),
    "aspect": lambda: topoi.AspectModel(2, **SETTINGS),
}
WITH_AUTHORS = {
    "author-topic": lambda: topoi.AuthorTopicModel(2, alpha=0.1, **SETTINGS),
    "author": lambda: topoi.AuthorModel(**SETTINGS),
}
WITH_METADATA = {
    "kernel": lambda: topoi.KernelTopicModel(2, features=["year"], n_warmup=5, **SETTINGS),
    "regression": lambda: topoi.DirichletMultinomialRegression(2, features=["year"], **SETTINGS),
}


class Texts:
    """A column of a Hugging Face dataset: a sequence that is no list."""

    def __len__(self):
        return len(TEXTS)

    def __getitem__(self, at):
        return TEXTS[at]

    def __iter__(self):
        return iter(TEXTS)


FORMS = {
    "list": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "array": lambda: np.array(TEXTS),
    "array of objects": lambda: np.array(TEXTS, object),
    "Series": lambda: pd.Series(TEXTS, index=range(100, 116)),
    "Series of objects": lambda: pd.Series(TEXTS, dtype=object),
    "polars": lambda: pl.Series(TEXTS),
    "pyarrow": lambda: pa.chunked_array([TEXTS]),
    "hugging face": Texts,
    "frame": lambda: pd.DataFrame(COLUMNS),
    "frame, other name": lambda: pd.DataFrame({"abstract": TEXTS, "id": [f"p{d}" for d in range(16)], "n": 3}),
    "polars frame": lambda: pl.DataFrame(COLUMNS),
    "pyarrow table": lambda: pa.table(COLUMNS),
    "records": lambda: [{"text": text} for text in TEXTS],
}


@pytest.fixture(scope="module")
def fitted():
    return FAMILIES["LDA"]().fit(Corpus.from_texts(TEXTS))


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_every_form_of_texts_gives_the_same_model(form, fitted):
    model = FAMILIES["LDA"]().fit(form())
    assert np.array_equal(model.topic_word_, fitted.topic_word_)
    assert model.vocabulary_ == fitted.vocabulary_ and "the" not in model.vocabulary_
    corpus = Corpus.from_texts(TEXTS)
    assert np.array_equal(model.transform(form()), fitted.transform(corpus))
    assert np.array_equal(model.log_likelihood(form()), fitted.log_likelihood(corpus))
    assert model.perplexity(form()) == fitted.perplexity(corpus) and model.score(form()) == fitted.score(corpus)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
@pytest.mark.parametrize("documents", [TEXTS, TOKENS], ids=["texts", "words"])
def test_every_family_that_needs_no_more_takes_texts_and_words(family, documents):
    model = family().fit(documents)
    expected = ["cell", "gene", "moon", "star", "sun"]
    assert sorted(model.vocabulary_.words) == expected
    shares = model.transform(documents)
    assert shares.shape == (16, 2) and shares[0].argmax() != shares[1].argmax()
    assert np.isfinite(model.perplexity(documents)) and np.isfinite(model.score(documents))
    new = model.transform([["sun", "unheard"], ["gene"]])
    assert new.argmax(axis=1).tolist() == shares[:2].argmax(axis=1).tolist()


def test_lists_of_words_stay_as_they_are():
    model = FAMILIES["LDA"]().fit([["The", "THE", "a"], np.array(["a", "x-y"]), ()] * 2)
    assert model.vocabulary_.words.tolist() == ["The", "THE", "a", "x-y"] and model.corpus_.n_docs == 6


def test_pandas_output_from_texts_has_the_texts_index():
    model = FAMILIES["LDA"]().set_output(transform="pandas")
    shares = model.fit(TEXTS).transform(FORMS["frame"]())
    assert shares.columns.tolist() == ["lda0", "lda1"] and model.transform(TEXTS).index.tolist() == list(range(16))


@pytest.mark.parametrize("family", WITH_AUTHORS.values(), ids=list(WITH_AUTHORS))
def test_families_with_authors(family):
    expected = family().fit(Corpus.from_dataframe(pd.DataFrame(COLUMNS)))
    model = family().fit(pl.DataFrame(COLUMNS))
    assert model.authors_.tolist() == ["Ann", "Bob"]
    assert model.perplexity(pa.table(COLUMNS)) == expected.perplexity(Corpus.from_dataframe(pd.DataFrame(COLUMNS)))
    assert np.isfinite(model.score(TEXTS)) and np.isfinite(model.log_likelihood(TOKENS)).all()
    for documents, advice in ((TEXTS, r"from_texts\(texts, authors"), (TOKENS, r"from_tokens\(lists, authors")):
        with pytest.raises(ModelError, match=f"needs documents with authors.*{advice}.*or use LDA"):
            family().fit(documents)
    with pytest.raises(ModelError, match=r"given ndarray of numbers.*from_counts\(matrix, words, authors"):
        family().fit(np.eye(3))
    with pytest.raises(ModelError, match="has no authors"):
        family().fit(pd.DataFrame({"text": TEXTS}))


@pytest.mark.parametrize("family", WITH_METADATA.values(), ids=list(WITH_METADATA))
def test_families_with_metadata(family):
    corpus = Corpus.from_dataframe(pd.DataFrame(COLUMNS))
    expected, model = family().fit(corpus), family().fit(pl.DataFrame(COLUMNS))
    assert np.array_equal(model.topic_word_, expected.topic_word_)
    assert np.array_equal(model.transform(pa.table(COLUMNS)), expected.transform(corpus))
    assert model.perplexity(pd.DataFrame(COLUMNS)) == expected.perplexity(corpus)
    assert (
        model.predict(pl.DataFrame({"year": [1995]}))["mean"].tolist()
        == expected.predict({"year": [1995]})["mean"].tolist()
    )
    assert model.transform([SKY], metadata=pa.table({"year": [1995]})).shape == (1, 2)
    with pytest.raises(ModelError, match=r"texts alone have none; make Corpus.from_texts\(texts, dates=.*metadata"):
        family().fit(TEXTS)
    with pytest.raises(ModelError, match="was given ndarray of numbers"):
        family().fit(np.eye(3))


# Counts or texts?


def test_frames_of_numbers_are_counts():
    counts = CountVectorizer().fit(TEXTS)
    matrix, words = counts.transform(TEXTS).toarray(), counts.get_feature_names_out()
    expected = FAMILIES["LDA"]().fit(Corpus.from_counts(matrix, words))
    for frame in (pd.DataFrame(matrix, columns=words), pl.DataFrame(matrix, schema=list(words))):
        model = FAMILIES["LDA"]().fit(frame)
        assert np.array_equal(model.topic_word_, expected.topic_word_)
        assert model.vocabulary_.words.tolist() == words.tolist()
        assert np.array_equal(model.transform(["sun and cell"]), expected.transform(["sun and cell"]))


def test_a_frame_of_counts_is_not_turned_into_rows(monkeypatch):
    from topoi.corpus import sources

    lengths, values = [], sources.pandas_values
    monkeypatch.setattr(sources, "pandas_values", lambda column: lengths.append(len(column)) or values(column))
    topoi.LDA(2, n_iter=1).fit(pd.DataFrame(np.eye(1000, 3, dtype=int), columns=list("abc")))
    assert set(lengths) == {100}


def test_a_word_that_is_called_text_is_counted():
    model = FAMILIES["LDA"]().fit(pd.DataFrame({"text": [1, 2], "word": [2, 0]}))
    assert model.corpus_.n_tokens == 5


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame({"sun": [1, 0], "gene": [0, 1], "class": ["sky", "life"]}),
            "no column of texts, nor numbers alone",
        ),
        (pd.DataFrame({"id": ["a", "b"], "sun": [1, 0]}), "no column of texts, nor numbers alone"),
        (
            pl.DataFrame({"abstract": TEXTS, "body": TEXTS}),
            r"several columns of texts: 'abstract', 'body'.*text='abstract'",
        ),
        (pd.DataFrame({"title": TEXTS, "year": 3}), "no column of texts"),
        ({"train": {"text": TEXTS}}, "column 'train' is of type dict"),
    ],
)
def test_tables_that_could_mean_two_things_are_refused(frame, message):
    with pytest.raises(ModelError, match=message):
        FAMILIES["LDA"]().fit(frame)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one text", "this is one string; pass a list of texts"),
        (b"one text", "this is one piece of bytes"),
        (["a text", 3], "document 1 is of type int"),
        (["a text", ["words"]], "document 1 is of type list"),
        ([["words"], [3]], "document 1 has a word of type int"),
        ([["words"], "a text"], "document 1 is of type str"),
        ([[(0, 1), (3, 2)], [(1, 1)]], "gensim's bags of words.*from_gensim"),
        (["Each word here", "stands only once"], "no words are left.*min_df=1, max_df=1.0.*pass that"),
    ],
)
def test_what_is_no_list_of_documents(documents, message):
    with pytest.raises(ModelError, match=message):
        FAMILIES["LDA"]().fit(documents)


@pytest.mark.parametrize("kind", [scipy.sparse.dok_matrix, scipy.sparse.lil_matrix, scipy.sparse.coo_array])
def test_sparse_matrices_of_every_kind_are_counts(kind):
    counts = np.array([[4, 4, 0, 0], [0, 0, 4, 4]] * 5)
    assert np.array_equal(FAMILIES["LDA"]().fit(kind(counts)).topic_word_, FAMILIES["LDA"]().fit(counts).topic_word_)


# Texts that a model cannot read.


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_a_model_without_words_reads_no_texts(family, tmp_path):
    model = family().fit(CountVectorizer().fit_transform(TEXTS))
    model.save(tmp_path / "m.topoi")
    for each in (model, topoi.load(tmp_path / "m.topoi"), topoi.view(tmp_path / "m.topoi")):
        with pytest.raises(ModelError, match=r"fitted on a matrix without words.*Corpus.from_counts\(matrix, words\)"):
            each.transform(["sun and star"])
        with pytest.raises(ModelError, match="without words"):
            each.transform(["there are 2 suns"])  # a number is no word of theirs
        with pytest.raises(ModelError, match="without words"):
            topoi.label_words(each, "sun and star")
    with pytest.raises(ModelError, match="without words"):
        model.perplexity(TOKENS)
    assert model.transform(["0 3 3"]).shape == (1, 2)


def test_texts_without_a_known_word(fitted, tmp_path):
    fitted.save(tmp_path / "m.topoi")
    message = "none of these documents' 2 words is in the model's vocabulary of 5, which begins with 'cell'"
    view = topoi.view(tmp_path / "m.topoi")
    for call in (fitted.transform, fitted.log_likelihood, fitted.perplexity, view.transform):
        with pytest.raises(ModelError, match=message):
            call(["Unheard of", "words"])
    with pytest.warns(UserWarning, match="1 of 3 texts have no word that the model knows"):
        shares = fitted.transform(["unheard", "sun", ""])
    assert shares.shape == (3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.transform(["", "sun unheard"])
        fitted.transform([""])
