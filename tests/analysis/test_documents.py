"""The topics of a document and of a word, and the documents of a topic."""

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.models import smoothed_counts


@pytest.fixture(params=["model", "lda"])
def any_model(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("document", [0, 5, "p5", np.int64(7), 16])
def test_document_topics_are_those_of_the_samples(any_model, document):
    d = int(str(document).removeprefix("p"))
    frame = topoi.document_topics(any_model, document)
    assert frame.columns.tolist() == ["topic", "rank", "share", "n_words", "lower", "upper"]
    share = any_model.doc_topic_[d]
    assert frame["topic"].tolist() == np.argsort(-share, kind="stable").tolist()
    np.testing.assert_allclose(frame["share"], share[frame["topic"]])
    start = any_model.corpus_.doc_start
    topics = any_model.chains_[0].averaged.stacked("topic", np.int64)[:, start[d] : start[d + 1]]
    means = [(topics == k).sum() / len(topics) for k in frame["topic"]]
    assert frame["n_words"].tolist() == smoothed_counts.whole_tokens(means).tolist()
    assert topoi.document_topics(any_model, document, n=2).equals(frame.head(2))


def test_topics_of_a_text_are_those_of_transform(any_model):
    text = "the sun, a star, a comet and the tide"
    frame = topoi.document_topics(any_model, text, text=True)
    np.testing.assert_allclose(frame["share"], any_model.transform([text])[0][frame["topic"]])
    assert frame["share"].sum() == pytest.approx(1) and 3 <= frame["n_words"].sum() <= 5


def test_topic_documents_follow_the_definition(any_model):
    for k in range(any_model.n_topics):
        frame = topoi.topic_documents(any_model, k, n=100)
        assert frame.columns.tolist() == [
            *("topic", "rank", "document", "id", "title", "year", "share", "n_words", "lower", "upper")
        ]
        assert sorted(frame["document"]) == np.flatnonzero(any_model.corpus_.doc_lengths).tolist()
        np.testing.assert_allclose(frame["share"], any_model.doc_topic_[frame["document"], k])
        assert frame["share"].is_monotonic_decreasing
        for row in frame.itertuples():
            mine = topoi.document_topics(any_model, row.document).set_index("topic")
            assert row.n_words == mine.loc[k, "n_words"]
        assert topoi.topic_documents(any_model, k, n=3).equals(frame.head(3))


def test_missing_years_and_titles_stay_missing(any_model):
    frame = topoi.topic_documents(any_model, 0, n=100).set_index("document")
    assert frame.loc[3].isna()["title"] and frame.loc[4].isna()["year"]
    assert frame.loc[5, "title"] == "Paper 5" and frame.loc[6, "year"] == 1991


@pytest.mark.parametrize("word", ["light", "sun", "Gene"])
def test_word_topics_follow_the_definition(any_model, word, monkeypatch):
    phi, size = any_model.topic_word_, any_model.topic_sizes()["share"].to_numpy()
    w = any_model.vocabulary_.index(word.lower())
    frame = topoi.word_topics(any_model, word)
    assert frame.columns.tolist() == ["word", "rank", "topic", "probability", "word_rank", "n_words"]
    joint = [phi[k, w] * size[k] for k in range(any_model.n_topics)]
    np.testing.assert_allclose(frame["probability"], np.array(joint)[frame["topic"]] / sum(joint))
    assert frame["probability"].is_monotonic_decreasing and set(frame["word"]) == {word.lower()}
    tokens, topics = any_model.corpus_.tokens, any_model.chains_[0].averaged.stacked("topic", np.int64)
    means = [((tokens == w) & (topics == k)).sum() / len(topics) for k in frame["topic"]]
    assert frame["n_words"].tolist() == smoothed_counts.whole_tokens(means).tolist()
    words = any_model.top_words(1000)
    ranks = words[words["word"] == word.lower()].set_index("topic")["rank"]
    some = frame[frame["n_words"] > 0]
    assert len(some) and some["word_rank"].tolist() == ranks[some["topic"]].tolist(), "ties too rank as in top_words"
    monkeypatch.setattr(smoothed_counts, "_ROWS_AT_ONCE", 3)
    assert topoi.word_topics(any_model, word, n=2).equals(frame.head(2))


def test_what_does_not_exist_is_refused(any_model, author_model):
    with pytest.raises(NotFoundError, match="there is no topic 9; topics are numbered 0 to"):
        topoi.topic_documents(any_model, 9)
    for wrong in (True, "1", 1.0, -1):
        with pytest.raises(NotFoundError, match="there is no topic"):
            topoi.topic_documents(any_model, wrong)
    with pytest.raises(NotFoundError, match="no word 'stars'; did you mean 'star'"):
        topoi.word_topics(any_model, "stars")
    with pytest.raises(ModelError, match="word is int; pass one word"):
        topoi.word_topics(any_model, 3)
    for wrong in (-1, 48):
        with pytest.raises(NotFoundError, match="documents are numbered 0 to 47"):
            topoi.document_topics(any_model, wrong)
    with pytest.raises(NotFoundError, match="'' is neither the id nor the title of a document, nor a text"):
        topoi.document_topics(any_model, "")
    with pytest.raises(NotFoundError, match=r"^'quux quux.{40,60}\.\.\.' is neither"):
        topoi.document_topics(any_model, "quux " * 1000)
    for ask in (topoi.document_topics, topoi.topic_documents):
        with pytest.raises(ModelError, match="AuthorModel has no topics, and .*; fit an AuthorTopicModel or LDA"):
            ask(author_model, 0)
    with pytest.raises(ModelError, match="AuthorModel has no topics, and a word's topics were asked for"):
        topoi.word_topics(author_model, "sun")


def test_a_model_of_a_matrix_has_documents_too():
    model = topoi.LDA(2, alpha=0.1, n_iter=20, random_state=0).fit([[4, 0], [0, 4], [0, 0]])
    assert topoi.topic_documents(model, 0)["id"].tolist() in (["0", "1"], ["1", "0"])
    assert topoi.similar_documents(model, 0)["document"].tolist() == [1]
    assert topoi.word_topics(model, "1", n=1)["n_words"].tolist() == [4]


def test_answers_survive_a_file(any_model, tmp_path):
    any_model.save(tmp_path / "m.topoi")
    loaded = topoi.load(tmp_path / "m.topoi")
    assert topoi.topic_documents(loaded, 1).equals(topoi.topic_documents(any_model, 1))
    assert topoi.word_topics(loaded, "sun").equals(topoi.word_topics(any_model, "sun"))
    assert topoi.similar_documents(loaded, "p5").equals(topoi.similar_documents(any_model, "p5"))
