"""Authors and documents that are alike."""

import math

import numpy as np
import pytest
from scipy.spatial import distance as scipy_distance

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.models import smoothed_counts
from topoi.models.smoothed_counts import MEASURES, distances, kl_matrix


def plain_distance(p, q, measure):
    """Each measure as its definition reads."""
    pairs = list(zip(p, q, strict=True))
    if measure == "symmetrised-kl":
        return sum(a * math.log(a / b) + b * math.log(b / a) for a, b in pairs)
    if measure == "jensen-shannon":
        return scipy_distance.jensenshannon(p, q)
    if measure == "hellinger":
        return math.sqrt(sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in pairs) / 2)
    return scipy_distance.cosine(p, q)


@pytest.mark.parametrize("measure", MEASURES)
def test_distances_are_symmetric_zero_for_equals_and_as_defined(measure):
    rows = np.random.default_rng(0).dirichlet([0.3] * 6, size=8)
    table = np.array([distances(row, rows, measure) for row in rows])
    expected = [[plain_distance(p, q, measure) for q in rows] for p in rows]
    np.testing.assert_allclose(table, expected, atol=1e-7)
    np.testing.assert_allclose(table, table.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(table), 0, atol=1e-7)
    if measure == "symmetrised-kl":
        np.testing.assert_allclose(kl_matrix(rows, rows), expected, atol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_similar_authors_follow_the_definition(model, measure, monkeypatch):
    theta, names = model.author_topic_, model.authors_.tolist()
    a = names.index("Cat")
    frame = topoi.similar_authors(model, "cat", n=100, measure=measure)
    assert frame.columns.tolist() == ["author", "rank", "name", "distance", "n_words", "topics"]
    expected = {name: plain_distance(theta[a], theta[b], measure) for b, name in enumerate(names) if b != a}
    assert frame["name"].tolist() == sorted(expected, key=lambda name: (expected[name], names.index(name)))
    np.testing.assert_allclose(frame["distance"], [expected[name] for name in frame["name"]], atol=1e-9)
    assert set(frame["author"]) == {"Cat"} and frame["rank"].tolist() == list(range(1, 7))
    monkeypatch.setattr(smoothed_counts, "_ROWS_AT_ONCE", 2)
    assert topoi.similar_authors(model, "Cat", n=100, measure=measure).equals(frame)


def test_authors_of_one_subject_are_near_and_share_its_topic(model):
    first = topoi.similar_authors(model, "Ann", n=1).iloc[0]
    assert first["name"] == "Bob"
    k = int(model.author_topic_[model.authors_.tolist().index("Ann")].argmax())
    assert first["topics"][0] == k


def test_shared_topics_are_those_both_have_more_than_evenly(model):
    theta, names = model.author_topic_, model.authors_.tolist()
    for row in topoi.similar_authors(model, "Dan", n=100).itertuples():
        common = np.minimum(theta[names.index("Dan")], theta[names.index(row.name)])
        assert row.topics == [k for k in np.argsort(-common) if common[k] > 1 / 3]


def test_authors_of_whom_little_is_known_are_left_out():
    rows = [["sun"] * 30, ["sun"] * 30, ["gene"]]
    small = topoi.Corpus.from_tokens(rows, authors=["Ann", "Bob", "Newcomer"])
    model = topoi.AuthorTopicModel(2, alpha=5.0, n_iter=5, random_state=0).fit(small)
    frame = topoi.similar_authors(model, "Ann")  # the prior weighs ten words
    assert frame["name"].tolist() == ["Bob"] and frame.attrs["n_left_out"] == 1
    everybody = topoi.similar_authors(model, "Ann", min_words=0)
    assert everybody["name"].tolist() == ["Newcomer", "Bob"], "near to everybody, being near to the prior"
    assert set(topoi.similar_authors(model, "Newcomer")["name"]) == {"Ann", "Bob"}, "the one asked about may be new"
    nobody = topoi.similar_authors(model, "Ann", min_words=1000)
    assert len(nobody) == 0 and nobody.columns.tolist() == frame.columns.tolist()


def test_ties_are_in_order_and_one_author_is_alone():
    corpus = topoi.Corpus.from_tokens([["a"] * 4] * 4, authors=["Cid", "Ann", "Bob", "Dan"])
    model = topoi.AuthorTopicModel(1, n_iter=2, alpha=0.1, random_state=0).fit(corpus)
    frame = topoi.similar_authors(model, "Bob")
    assert frame["name"].tolist() == [name for name in model.authors_ if name != "Bob"]
    assert frame["distance"].tolist() == [0.0] * 3
    alone = topoi.AuthorTopicModel(1, n_iter=2, random_state=0).fit(corpus.subset([0]).with_authors("authors"))
    assert len(topoi.similar_authors(alone, "Cid")) == 0


def document_shares(model, smoothed):
    """Shares of topics from the assignments of all samples, document by document."""
    start, topic = model.corpus_.doc_start, model.chains_[0].averaged.stacked("topic", np.int64)
    pairs = list(zip(start[:-1], start[1:], strict=True))
    counts = [np.bincount(topic[:, a:b].ravel(), minlength=model.n_topics) / len(topic) for a, b in pairs]
    counts = np.array(counts) + (model.alpha_ if smoothed else 0)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["model", "lda"])
def test_similar_documents_follow_the_definition(request, name, measure, monkeypatch):
    model = request.getfixturevalue(name)
    share, lengths = document_shares(model, measure == "symmetrised-kl"), model.corpus_.doc_lengths
    frame = topoi.similar_documents(model, 5, n=100, measure=measure)
    columns = ["document", "rank", "id", "title", "year", "distance", "n_words", "topics"]
    assert frame.columns.tolist() == columns
    assert set(frame["document"]) == set(np.flatnonzero(lengths)) - {5}, "neither itself nor the empty ones"
    expected = [plain_distance(share[5], share[d], measure) for d in frame["document"]]
    np.testing.assert_allclose(frame["distance"], expected, atol=1e-7)
    assert frame["distance"].is_monotonic_increasing
    assert frame["n_words"].tolist() == lengths[frame["document"]].tolist()
    monkeypatch.setattr(smoothed_counts, "_ROWS_AT_ONCE", 7)
    assert topoi.similar_documents(model, "p5", n=100, measure=measure).equals(frame)


def test_documents_like_a_text_are_on_its_subject(model, corpus):
    frame = topoi.similar_documents(model, "a cell, its gene and an enzyme", n=3, text=True)
    assert {"Cat", "Dan"} & {name for d in frame["document"] for name in corpus[d].authors}
    assert frame.equals(topoi.similar_documents(model, "a cell, its gene and an enzyme", n=3, text=True))


def test_what_cannot_be_compared_is_refused(model, lda, author_model):
    with pytest.raises(ModelError, match="LDA has no authors"):
        topoi.similar_authors(lda, "Ann")
    with pytest.raises(ModelError, match="AuthorModel has no topics, and authors are compared by theirs"):
        topoi.similar_authors(author_model, "Ann")
    with pytest.raises(ModelError, match="AuthorModel has no topics, and documents are compared by theirs"):
        topoi.similar_documents(author_model, 0)
    with pytest.raises(ModelError, match="measure is 'taxi'; it must be one of 'symmetrised-kl'"):
        topoi.similar_authors(model, "Ann", measure="taxi")
    with pytest.raises(NotFoundError, match="no author 'Zoe'"):
        topoi.similar_authors(model, "Zoe")
    with pytest.raises(ModelError, match="min_words is -1"):
        topoi.similar_authors(model, "Ann", min_words=-1)
    with pytest.raises(ModelError, match="document 16 has no words"):
        topoi.similar_documents(model, 16)
    with pytest.raises(NotFoundError, match="no document 48; documents are numbered 0 to 47"):
        topoi.similar_documents(model, 48)
    with pytest.raises(NotFoundError, match="'p99' is neither the id nor .*did you mean 'p9'"):
        topoi.similar_documents(model, "p99")
    with pytest.raises(ModelError, match="document is list; pass a position, an id, a title or a text"):
        topoi.similar_documents(model, [0])


def test_documents_are_compared_by_their_words_and_topics(model, corpus):
    frame = topoi.similar_documents(model, 3, n=100)
    assert frame.equals(topoi.similar_documents(model, 3, n=100, measure="mixture"))
    assert 3 not in frame["document"].tolist()
    words = " ".join(corpus.words[corpus.tokens[corpus.doc_start[3] : corpus.doc_start[4]]])
    asked = topoi.Search(model).query(words, n=100)
    expected = dict(zip(asked["document"], asked["score"], strict=True))
    assert frame["score"].tolist() == pytest.approx([expected[d] for d in frame["document"]])
    assert (frame["score"].diff().dropna() <= 1e-12).all()
    plain = topoi.similar_documents(model, 3, n=100, measure="jensen-shannon")
    assert "score" not in plain
    assert dict(zip(plain["document"], plain["distance"], strict=True)) == dict(
        zip(frame["document"], frame["distance"], strict=True)
    )
    text = topoi.similar_documents(model, words, n=5, text=True)
    assert text["document"].tolist()[0] == asked["document"][0]
