"""A model in a store answers as the model itself does: one chain, the same corpus, every question."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.errors import ModelError, NotFoundError
from topoi.models.author_topic.equations import author_share, move_token, recount_private_author, topic_weights

SKY = "The sun is a star; the moon has an orbit, a comet has light."
LIFE = "A cell has a gene, a gene makes a protein, and an enzyme is a protein in tissue and light."
SEA = "The ship has a sail and an anchor; tide and harbor and light, comet and ship."
TEXT = "A comet above the harbor, the gene of a star, light in the tissue"


@pytest.fixture(scope="module")
def texts() -> topoi.Corpus:
    rng = np.random.default_rng(3)
    documents, authors = [], []
    for d in range(60):
        words = [SKY, LIFE, SEA][d % 3].split()
        documents.append(" ".join(rng.choice(words, 12 + d % 9)))
        authors.append([["Ann", "Bob"], ["Cat"], ["Dan", "Eve", "Émile"], []][d % 4])
    documents[7] = ""
    return topoi.Corpus.from_texts(
        documents,
        authors=authors,
        ids=[f"d{d}" for d in range(60)],
        titles=[f"Title {d}" for d in range(60)],
        dates=[1980 + d // 4 for d in range(60)],
        min_df=1,
        max_df=1.0,
    )


MODELS = {
    "author-topic": lambda: topoi.AuthorTopicModel(5, alpha=0.3, n_iter=30, random_state=0),
    "fictitious": lambda: topoi.AuthorTopicModel(
        4, alpha=0.3, fictitious_authors=True, fictitious_weight=0.3, n_iter=30, random_state=0
    ),
    "learned": lambda: topoi.AuthorTopicModel(3, n_iter=60, learn_alpha=True, learn_beta=True, random_state=2),
    "lda": lambda: topoi.LDA(5, alpha=0.3, n_iter=30, random_state=1),
}


@pytest.fixture(scope="module", params=list(MODELS))
def pair(request, texts, tmp_path_factory):
    """A fitted model, and the same model in a store."""
    path = tmp_path_factory.mktemp("view") / "small.topoi"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # documents without authors
        model = MODELS[request.param]().fit(texts)
    model.save(path)
    return model, topoi.view(path)


@pytest.fixture(scope="module")
def author_pair(texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("view") / "authors.topoi"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = MODELS["author-topic"]().fit(texts)
    model.save(path)
    return model, topoi.view(path)


def same(expected: pd.DataFrame, found: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(expected, found, check_dtype=False, rtol=1e-9, atol=1e-12)


def test_frames(pair):
    model, view = pair
    same(model.topic_sizes(), view.topic_sizes())
    for relevance in (1.0, 0.6, 0.0):
        found = view.top_words(2, relevance=relevance)
        same(model.top_words(2, relevance=relevance), found)
        assert [view.vocabulary_.words[w] for w in found.attrs["rows"]] == found["word"].tolist()
    if len(model.authors_):
        for by in ("mixture", "words"):
            same(model.top_authors(3, by=by), view.top_authors(3, by=by))
        same(model.author_topics("Bob"), view.author_topics("bob"))
        same(model.author_topics(n=2), view.author_topics(n=2))
    else:
        assert view.n_authors == 0
        with pytest.raises(ModelError, match="no authors"):
            view.top_authors()


def test_questions_about_topics_documents_and_words(pair):
    model, view = pair
    same(topoi.topic_trends(model), topoi.topic_trends(view))
    same(topoi.topic_trends(model, by="decade"), topoi.topic_trends(view, by="decade"))
    for word in ("comet", "gene"):
        same(topoi.word_topics(model, word), topoi.word_topics(view, word))
    same(topoi.topic_documents(model, 1, n=7), topoi.topic_documents(view, 1, n=7))
    for document in (0, "d17", TEXT):
        same(topoi.document_topics(model, document), topoi.document_topics(view, document))
        for measure in ("jensen-shannon", "symmetrised-kl", "hellinger", "cosine"):
            expected = topoi.similar_documents(model, document, measure=measure)
            same(expected, topoi.similar_documents(view, document, measure=measure))


@pytest.mark.parametrize("measure", ["jensen-shannon", "symmetrised-kl", "hellinger", "cosine"])
def test_similar_authors(author_pair, measure):
    model, view = author_pair
    expected = topoi.similar_authors(model, "Ann", measure=measure, min_words=0)
    found = topoi.similar_authors(view, "Ann", measure=measure, min_words=0)
    same(expected, found)
    assert [view.authors_[a] for a in found.attrs["rows"]] == found["name"].tolist()


def test_questions_about_authors(author_pair):
    model, view = author_pair
    same(topoi.likely_authors(model, TEXT), topoi.likely_authors(view, TEXT))
    for author in ("Ann", 2, "émile"):
        same(topoi.unusual_documents(model, author=author), topoi.unusual_documents(view, author=author))
    for exclude in ([], ["Ann"], ["EVE", "émile"]):
        expected = topoi.recommend_reviewers(model, TEXT, exclude=exclude)
        found = topoi.recommend_reviewers(view, TEXT, exclude=exclude)
        same(expected, found)
        assert expected.attrs == found.attrs
    with pytest.raises(NotFoundError, match="did you mean 'Émile'"):
        view.author_id("Emile")
    with pytest.raises(NotFoundError, match="numbered 0 to"):
        topoi.similar_authors(view, 99)


def test_new_texts_are_labelled_to_the_last_bit(pair):
    model, view = pair
    choices = [None, ["Cat", "Ann"], "any"] if len(model.authors_) else [None]
    for authors in choices:
        expected = topoi.label_words(model, TEXT, authors=authors)
        found = topoi.label_words(view, TEXT, authors=authors)
        pd.testing.assert_frame_equal(expected, found, check_exact=True)
    np.testing.assert_array_equal(model.transform([TEXT, "sun"]), view.transform([TEXT, "sun"]))


def conditionals(model, document):
    """P(topic, author position | everything else) of each token, by taking it out of the whole model's counts."""
    chain, sampler = model.chains_[0], model._sampler
    documents = model._align(model.corpus_)[1]
    counts = type(chain.counts)(*(array.copy() for array in chain.counts))
    # The document counts as in the last sample, all others by their means.
    here = np.arange(documents.doc_start[document], documents.doc_start[document + 1])
    ours = documents.author[documents.author_start[document] :]
    own = [(sample, -1.0 / chain.n_samples) for sample in chain.averaged.samples]
    for sample, weight in [*own, (chain.averaged.samples[-1], 1.0)]:
        for i in here:
            writer = ours[sample["slot"][i] if "slot" in sample else 0]
            move_token(counts, documents.tokens[i], sample["topic"][i], writer, weight)
    topic, slot = np.zeros(0), np.zeros(0)
    recount_private_author(documents, chain.assignments, counts, document)
    found = []
    weights = np.empty(chain.n_topics)
    first, last = documents.author_start[document], documents.author_start[document + 1]
    for i in range(documents.doc_start[document], documents.doc_start[document + 1]):
        w, k, a = documents.tokens[i], chain.assignments.topic[i], documents.author[first + chain.assignments.slot[i]]
        move_token(counts, w, k, a, -1)
        topic_weights(documents, counts, chain.priors, document, w, weights)
        topic = weights / weights.sum()
        side = np.array(
            [
                [author_share(documents, counts, chain.priors, q, k) for q in range(first, last)]
                for k in range(chain.n_topics)
            ]
        )
        slot = topic @ (side / side.sum(axis=1, keepdims=True))
        found.append((topic.argmax(), topic.max(), slot.argmax(), slot.max()))
        move_token(counts, w, k, a, 1)
    assert sampler is not None
    return found


@pytest.mark.parametrize("document", [0, 3, 14, 59])
def test_a_stored_document_has_the_probabilities_of_the_stored_sample(pair, document):
    model, view = pair
    frame = topoi.label_document(view, document)
    expected = conditionals(model, document)
    columns = ["topic", "topic_probability", "author_position", "author_probability"]
    np.testing.assert_allclose(frame[columns].to_numpy(float), np.array(expected, float), rtol=1e-5)
    text = model.corpus_.texts[document]
    words = model.vocabulary_.words[frame["word_id"]]
    assert [text[a:b].lower() for a, b in zip(frame["start"], frame["end"], strict=True)] == words.tolist()


def test_sampling_a_stored_document_is_repeatable_and_moves(pair):
    _, view = pair
    once, again = (topoi.label_document(view, 2, burn_in=5, n_samples=20, lag=2) for _ in range(2))
    pd.testing.assert_frame_equal(once, again, check_exact=True)
    other = topoi.label_document(view, 2, burn_in=5, n_samples=20, lag=2, random_state=9)
    assert not np.array_equal(once["topic_probability"], other["topic_probability"])
    assert topoi.label_document(view, 7).empty
    with pytest.raises(NotFoundError, match="no document 600"):
        topoi.label_document(view, 600)


def test_alignment(pair, texts, tmp_path):
    model, view = pair
    other = topoi.LDA(4, alpha=0.3, n_iter=30, random_state=5).fit(texts)
    other.save(tmp_path / "other.topoi")
    expected = topoi.align_topics(model, other)
    found = topoi.align_topics(view, topoi.view(tmp_path / "other.topoi"))
    same(expected.pairs, found.pairs)
    same(expected.matrix, found.matrix)


def test_a_model_without_topics_has_what_its_tables_hold(texts, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = topoi.AuthorModel(n_iter=20, random_state=0).fit(texts)
    model.save(tmp_path / "authors.topoi")
    view = topoi.view(tmp_path / "authors.topoi")
    same(topoi.unusual_documents(model, author="Ann"), topoi.unusual_documents(view, author="Ann"))
    for ask in (lambda: topoi.likely_authors(view, TEXT), lambda: topoi.label_words(view, TEXT), view.top_words):
        with pytest.raises(ModelError, match="AuthorModel"):
            ask()


def test_stored_labels_are_the_stored_sample(pair):
    from topoi.analysis.label import stored_labels

    model, view = pair
    frame, start = stored_labels(view, 5), model.corpus_.doc_start
    expected = model.chains_[0].assignments
    np.testing.assert_array_equal(frame["topic"], expected.topic[start[5] : start[6]])
    np.testing.assert_array_equal(frame["author_position"], expected.slot[start[5] : start[6]])
    assert (frame["topic_probability"] == 1).all()


def damaged(path, change: str):
    import shutil
    import sqlite3

    copy = shutil.copy(path, path.with_name("damaged.topoi"))
    with sqlite3.connect(copy) as connection:
        assert connection.execute(change).rowcount
    connection.close()
    return topoi.view(copy)


def label_first(view):
    return topoi.label_document(view, 0)


@pytest.mark.parametrize(
    ("change", "ask"),
    [
        # Each token by an author one past the last: a kernel would write outside its arrays.
        (
            "UPDATE document_assignment SET author_positions = "
            "CAST(replace(printf('%.*c', length(author_positions), 'x'), 'x', char(1)) AS BLOB) WHERE document_id = 1",
            lambda view: topoi.label_document(view, 1),
        ),
        (
            "UPDATE document_assignment SET author_positions = x'" + "07" * 40 + "' WHERE document_id = 0",
            label_first,
        ),
        ("UPDATE document SET n_tokens = 1 WHERE document_id = 0", lambda view: topoi.label_document(view, 0)),
        (
            "UPDATE document_author SET author_id = 999 WHERE document_id = 0",
            lambda view: topoi.label_document(view, 0),
        ),
        (
            "UPDATE document_token SET starts = x'0100' WHERE document_id = 0",
            lambda view: topoi.label_document(view, 0),
        ),
        ("UPDATE mixture SET n_rows = 300000000", lambda view: topoi.similar_authors(view, "Ann")),
        ("UPDATE corpus SET n_authors = 300000000", lambda view: topoi.similar_authors(view, 0)),
        ("UPDATE array SET shape = '[100000000]'", lambda view: topoi.word_topics(view, "comet")),
        ("UPDATE mixture SET topic = n_tokens WHERE kind = 'word'", lambda view: view.chains_[0].topics),
        ("UPDATE mixture SET n_rows = n_rows + 1 WHERE kind = 'word'", lambda view: topoi.word_topics(view, "comet")),
        (
            "UPDATE array_part SET data = x'00' WHERE array_id = "
            "(SELECT array_id FROM array WHERE name = 'chain0_samples_topic')",
            label_first,
        ),
        ("UPDATE model SET parameters = json_set(parameters, '$.n_samples', 100000000)", label_first),
        ("UPDATE model SET parameters = json_set(parameters, '$.topic_sums[0]', -1)", label_first),
        ("UPDATE model SET n_topics = 150000000", lambda view: view),
    ],
)
def test_hostile_numbers_reach_no_kernel(author_pair, change, ask):
    from topoi.errors import StoreError

    _, view = author_pair
    with pytest.raises(StoreError):
        ask(damaged(view.store.path, change))
