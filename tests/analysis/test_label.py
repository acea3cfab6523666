"""Every word of a new text with its topic and its author."""

import numpy as np
import pytest

import topoi
from topoi.analysis import authorship, label
from topoi.errors import ModelError, NotFoundError
from topoi.models import smoothed_counts

SKY, LIFE = ["sun", "star", "moon", "orbit", "comet"], ["cell", "gene", "protein", "enzyme", "tissue"]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 20)) for words in (SKY, LIFE) * 20]
    return topoi.Corpus.from_texts(texts, authors=["Ann Archer", "Bob Baker"] * 20, min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def model(corpus):
    return topoi.AuthorTopicModel(2, alpha=0.1, n_iter=60, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def lda(corpus):
    return topoi.LDA(2, alpha=0.1, n_iter=60, random_state=0).fit(corpus)


TEXT = "The Sun — a ★ star! — and “GENES”: a gene, one cell; unheard."


@pytest.mark.parametrize("authors", [None, "any", ["Ann Archer", "Bob Baker"], "bob baker"])
def test_offsets_point_at_the_words_as_written(model, authors):
    frame = topoi.label_words(model, TEXT, authors=authors)
    assert [TEXT[a:b].lower() for a, b in zip(frame["start"], frame["end"], strict=True)] == frame["word"].tolist()
    assert frame["word"].tolist() == ["sun", "star", "gene", "cell"]
    assert frame.attrs["n_unknown"] == 2  # genes, unheard; "one" is a stop word
    assert frame["topic_probability"].between(0.5, 1).all()


def test_each_word_goes_to_the_author_who_uses_it(model):
    frame = topoi.label_words(model, TEXT, authors=["Bob Baker", "Ann Archer"])
    assert frame["author"].tolist() == ["Ann Archer"] * 2 + ["Bob Baker"] * 2
    assert (frame["author_probability"] > 0.8).all()
    assert frame["topic"].nunique() == 2 and frame["topic"][0] == frame["topic"][1] != frame["topic"][2]


def test_one_author_alone_has_every_word(model):
    frame = topoi.label_words(model, TEXT, authors="Bob Baker")
    assert set(frame["author"]) == {"Bob Baker"}
    np.testing.assert_allclose(frame["author_probability"], 1)


def test_authors_named_twice_count_once(model):
    once = topoi.label_words(model, TEXT, authors=["Ann Archer", "Bob Baker"])
    assert once.equals(topoi.label_words(model, TEXT, authors=["Ann Archer", "Bob Baker", "ann archer"]))


def test_somebody_new_has_topics_but_no_author_column(model, lda):
    for fitted, authors in ((model, None), (model, []), (lda, None)):
        frame = topoi.label_words(fitted, TEXT, authors=authors)
        assert frame.columns.tolist() == ["word", "start", "end", "topic", "topic_probability"]


def test_any_takes_the_authors_most_likely_to_have_written_the_whole(model, monkeypatch):
    tokens = model.vocabulary_.encode(["gene cell gene"]).tokens
    posterior = model.chains_[0]
    scores = [np.log(theta @ posterior.topic_word[:, tokens]).sum() for theta in posterior.author_topic]
    assert authorship.likeliest_rows(model, tokens, 2).tolist() == np.argsort(-np.array(scores)).tolist() == [1, 0]
    monkeypatch.setattr(smoothed_counts, "_ROWS_AT_ONCE", 1)
    assert authorship.likeliest_rows(model, tokens, 1).tolist() == [1]
    monkeypatch.setattr(label, "_CANDIDATES", 1)
    assert set(topoi.label_words(model, "gene cell star", authors="any")["author"]) == {"Bob Baker"}


@pytest.mark.parametrize("text", ["", "   \n", "???", "the of and", "quux"])
@pytest.mark.parametrize("authors", [None, "any", "Ann Archer"])
def test_text_without_known_words_gives_an_empty_frame(model, text, authors):
    frame = topoi.label_words(model, text, authors=authors)
    assert len(frame) == 0 and "topic" in frame and ("author" in frame) == (authors is not None)


def test_unknown_name_suggests_close_ones(model):
    with pytest.raises(NotFoundError, match="no author 'Bob Bakar'; did you mean 'Bob Baker'"):
        topoi.label_words(model, TEXT, authors=["Ann Archer", "Bob Bakar"])


def test_what_cannot_be_labelled_is_refused(model, lda, corpus):
    with pytest.raises(ModelError, match="LDA has no authors to choose from"):
        topoi.label_words(lda, TEXT, authors="any")
    with pytest.raises(ModelError, match="text is list; pass one string"):
        topoi.label_words(model, [TEXT])
    with pytest.raises(ModelError, match="authors is 5; pass a list of names"):
        topoi.label_words(model, TEXT, authors=5)
    with pytest.raises(ModelError, match="n_samples is 0"):
        topoi.label_words(model, TEXT, n_samples=0)
    with pytest.raises(ModelError, match="AuthorModel has no topics"):
        topoi.label_words(topoi.AuthorModel(n_iter=2, random_state=0).fit(corpus), TEXT)


def test_labels_are_the_same_every_time_and_leave_the_model_alone(corpus):
    model = topoi.AuthorTopicModel(2, alpha=5, beta=5, n_iter=2, random_state=0).fit(corpus)  # unsure of everything
    before = [array.copy() for array in model.chains_[0].counts]
    frames = [topoi.label_words(model, TEXT, "any", random_state=seed) for seed in (None, None, 5, 5, 6)]
    assert frames[0].equals(frames[1]) and frames[2].equals(frames[3])
    assert not frames[2].equals(frames[4])
    assert all(np.array_equal(a, b) for a, b in zip(before, model.chains_[0].counts, strict=True))


def test_glued_abstracts_come_apart():
    """Two authors' texts in one document: most words go back to the right one (AT09, figure 9)."""
    planted = topoi.AuthorTopicModel(10, alpha=0.05, beta=0.02).simulate(
        300, 60, authors=[[f"author {d % 10}"] for d in range(300)], random_state=2
    )
    model = topoi.AuthorTopicModel(10, alpha=0.05, beta=0.02, n_iter=150, random_state=0).fit(planted)
    right = total = 0
    for pair in ((0, 1), (2, 3), (4, 5), (6, 7)):
        halves = [planted.words[planted.tokens[planted.doc_start[d] : planted.doc_start[d + 1]]] for d in pair]
        text = " ".join(word for half in halves for word in half)
        names = [f"author {d}" for d in pair]
        frame = topoi.label_words(model, text, authors=names)
        truth = np.repeat(names, [len(half) for half in halves])
        right += (frame["author"].to_numpy() == truth).sum()
        total += len(truth)
    assert right / total > 0.85
