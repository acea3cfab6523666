"""The same documents have the same trend however they arrive; others are counted by what the model reads of them."""

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError

N = 24
FAMILIES = {
    "LDA": lambda: topoi.LDA(2, n_iter=20, random_state=0),
    "author-topic": lambda: topoi.AuthorTopicModel(2, n_iter=20, random_state=0),
    "fictitious": lambda: topoi.AuthorTopicModel(2, n_iter=20, fictitious_authors=True, random_state=0),
    "pachinko": lambda: topoi.PachinkoAllocation(2, 2, n_iter=20, random_state=0),
    "aspect": lambda: topoi.AspectModel(2, n_iter=10, random_state=0),
    "kernel": lambda: topoi.KernelTopicModel(2, features=["authors", "year"], n_iter=20, n_warmup=10, random_state=0),
    "dmr": lambda: topoi.DirichletMultinomialRegression(2, features=["authors", "venue"], n_iter=20, random_state=0),
}


def read():
    """A corpus made anew each time. Documents 0 and 20 have the same words and author; both topics know "x"."""
    rng = np.random.default_rng(1)
    rows = [[*rng.choice(list("abc" if d % 2 else "def"), 1 + d % 4), "x"] for d in range(N)]
    rows[20] = rows[0]
    return topoi.Corpus.from_tokens(
        rows,
        authors=[["Ann", "Bob"][d % 2] for d in range(N)],
        dates=[1990 + d // 4 for d in range(N)],
        ids=[f"d{d}" for d in range(N)],
        metadata={"venue": ["X", "Y", "Y", "X"] * (N // 4)},
    )


@pytest.fixture(scope="module", params=FAMILIES)
def model(request):
    return FAMILIES[request.param]().fit(read())


def same(one, other):
    assert one.columns.tolist() == other.columns.tolist()
    assert one.iloc[:, 0].tolist() == other.iloc[:, 0].tolist()
    np.testing.assert_array_equal(one["topic"], other["topic"])
    np.testing.assert_allclose(one["n_words"], other["n_words"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one["share"], other["share"], rtol=1e-12, atol=1e-12)


def test_the_same_documents_have_the_same_trend(model, tmp_path):
    model.save(tmp_path / "m.topoi")
    loaded, view = topoi.load(tmp_path / "m.topoi"), topoi.view(tmp_path / "m.topoi")
    for by in ("year", "decade", "venue"):
        expected = topoi.topic_trends(model, by=by)
        for each in (model, loaded, view):
            same(expected, topoi.topic_trends(each, by=by))
        for corpus in (read(), loaded.corpus_):
            same(expected, topoi.topic_trends(model, corpus, by=by))
            same(expected, topoi.topic_trends(loaded, corpus, by=by))
    same(expected, topoi.topic_trends(view, read(), by=by))


def test_order_other_words_and_other_numbers_change_nothing(model):
    corpus = read()
    same(topoi.topic_trends(model), topoi.topic_trends(model, corpus.subset(np.arange(N)[::-1])))
    edges = corpus.doc_start.tolist()
    rows = [corpus.words[corpus.tokens[a:b]].tolist()[::-1] for a, b in zip(edges, edges[1:], strict=False)]
    again = topoi.Corpus.from_tokens(
        [["only", "here"], *rows],
        authors=["Zoe", *(each[0] for each in corpus.author_lists())],
        dates=[None, *corpus.documents["year"].tolist()],
        ids=["new", *corpus.documents["id"]],
        metadata={"venue": ["X", *corpus.documents["venue"]]},
    )
    assert again.words.tolist() != corpus.words.tolist()
    with pytest.warns(UserWarning, match="not know"):  # words, and of some models authors
        same(topoi.topic_trends(model), topoi.topic_trends(model, again))


def test_part_of_the_training_documents_keeps_its_counts(model):
    rows = np.array([7, 20, 3])
    expected = model.chains_[0].documents.counts(rows)
    np.testing.assert_array_equal(model.topic_counts(model.corpus_.subset(rows)), expected)
    np.testing.assert_array_equal(model.topic_counts(read().subset(rows)), expected)


def test_documents_of_the_same_content_are_told_apart_by_id_then_by_order():
    rows = [["a", "b"]] * 6
    model = topoi.LDA(4, n_iter=5, random_state=0).fit(topoi.Corpus.from_tokens(rows, dates=range(2000, 2006)))
    counts = model.topic_counts(model.corpus_)
    assert len({tuple(row) for row in counts}) > 2
    np.testing.assert_array_equal(model.topic_counts(model.corpus_.subset([5, 1, 3])), counts[[5, 1, 3]])
    renamed = topoi.Corpus.from_tokens(rows[:2] + [["b"]] + rows[:5], ids=[f"other {d}" for d in range(8)])
    np.testing.assert_array_equal(model.topic_counts(renamed)[[0, 1, 3, 4, 5, 6, 7]], counts[[0, 1, 2, 3, 4, 5, 0]])


def test_new_documents_say_no_more_than_their_words(model):
    """Words of one topic alone: shares that alpha would have drawn to the middle."""
    new = topoi.Corpus.from_tokens(
        [["a", "b", "c"], ["d", "e", "f"], ["x"], []],
        authors=["Bob", "Ann", "Ann", "Ann"],
        dates=[1991, 1992, 1993, 1994],
        metadata={"venue": ["X", "X", "X", "X"]},
    )
    counts = model.topic_counts(new)
    np.testing.assert_allclose(counts.sum(axis=1), new.doc_lengths)
    frame = topoi.topic_trends(model, new)
    assert frame["year"].unique().tolist() == [1991, 1992, 1993]
    np.testing.assert_allclose(frame["n_words"], counts[:3].ravel())
    np.testing.assert_allclose(frame["share"], (counts[:3] / counts[:3].sum(axis=1, keepdims=True)).ravel())


@pytest.mark.parametrize("family", ["LDA", "author-topic", "dmr"])
def test_a_document_of_one_word_has_the_exact_probabilities_of_its_topics(family):
    model = FAMILIES[family]().fit(read())
    metadata = {"venue": ["X", "X"]}
    new = topoi.Corpus.from_tokens([["a"], ["x"]], authors=["Ann", "Bob"], metadata=metadata)
    prior = {
        "LDA": lambda: np.tile(model.alpha_, (2, 1)),
        "author-topic": lambda: model.author_topic_,
        "dmr": lambda: model.predict(new)["mean"].to_numpy().reshape(2, 2),
    }[family]()
    words = [model.vocabulary_.index(word) for word in "ax"]
    weight = prior * model.topic_word_[:, words].T
    np.testing.assert_allclose(model.topic_counts(new), weight / weight.sum(axis=1, keepdims=True), rtol=1e-4)


@pytest.mark.parametrize("family", [topoi.KernelTopicModel, topoi.DirichletMultinomialRegression])
def test_authors_that_are_features_decide_where_words_do_not(family):
    rows = [["a", "b", "c", "x"] * 2, ["d", "e", "f", "x"] * 2] * 10
    corpus = topoi.Corpus.from_tokens(rows, authors=["Bob", "Ann"] * 10)
    model = family(2, features=["authors"], n_iter=60, n_warmup=20, random_state=0).fit(corpus)
    new = topoi.Corpus.from_tokens([["x"], ["x"]], authors=["Ann", "Bob"], dates=[1992, 1993])
    share = topoi.topic_trends(model, new)["share"].to_numpy().reshape(2, 2)
    own = model.topic_word_[:, model.vocabulary_.index("d")].argmax()
    assert share[0, own] > 0.8 and share[1, own] < 0.2
    np.testing.assert_array_equal(share.argmax(axis=1), model.transform(new).argmax(axis=1))


def test_other_metadata_make_another_document():
    model = FAMILIES["dmr"]().fit(read())
    old = read().subset([0])
    moved = topoi.Corpus.from_tokens(
        [old.words[old.tokens].tolist()], authors=["Bob"], ids=["d0"], metadata={"venue": ["X"]}
    )
    own = model.topic_counts(old)[0]
    assert not np.allclose(model.topic_counts(moved)[0], own)
    without_authors = topoi.LDA(2, n_iter=5, random_state=0).fit(read())
    np.testing.assert_array_equal(without_authors.topic_counts(moved), without_authors.topic_counts(old))


def test_documents_that_are_no_corpus_are_refused(model):
    with pytest.raises(ModelError, match=r"corpus is list; pass a topoi.Corpus"):
        topoi.topic_trends(model, ["a b"])


def test_trends_of_nodes_are_those_of_the_model_by_any_column(tmp_path):
    model = FAMILIES["pachinko"]().fit(read())
    model.save(tmp_path / "m.topoi")
    for by in ("year", "decade", "venue"):
        one, other = topoi.node_trends(model, by), topoi.node_trends(topoi.view(tmp_path / "m.topoi"), by)
        assert one.drop(columns="share").astype(str).equals(other.drop(columns="share").astype(str))
        np.testing.assert_allclose(one["share"], other["share"])


def test_a_file_without_metadata_still_knows_its_documents(tmp_path):
    model = FAMILIES["dmr"]().fit(read())
    model.save(tmp_path / "m.topoi", corpus=False)
    same(topoi.topic_trends(model), topoi.topic_trends(topoi.load(tmp_path / "m.topoi"), read()))
