"""Documents by id, by title, by a part of a title; and texts that are none of these."""

import warnings

import pytest

import topoi
from topoi import NotFoundError

TITLES = ["Type Hints", "More Type Hints for the Sun", "Of Stars", "Of Stars", "Größe der Straße", None, "5"]
WORDS = [["sun", "star", "hints"], ["cell", "gene", "type"]]


@pytest.fixture(scope="module")
def model():
    tokens = [WORDS[d % 2] for d in range(len(TITLES))]
    corpus = topoi.Corpus.from_tokens(tokens, titles=TITLES, ids=[f"p{d}" for d in range(7)], metadata={"x": [1] * 7})
    return topoi.LDA(2, alpha=0.1, n_iter=20, random_state=0).fit(corpus)


@pytest.fixture(params=["memory", "file"])
def any_model(request, model, tmp_path):
    if request.param == "memory":
        return model
    model.save(tmp_path / "m.topoi")
    return topoi.view(tmp_path / "m.topoi")


@pytest.mark.parametrize(
    ("typed", "document"),
    [
        ("p1", 1),
        ("Type Hints", 0),
        ("type hints", 0),
        ("for the sun", 1),
        ("STRASSE", 4),
        ("größe", 4),
        ("5", 6),
    ],
)
def test_ids_and_titles_before_texts(any_model, typed, document):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert topoi.document_topics(any_model, typed).equals(topoi.document_topics(any_model, document))
        assert topoi.similar_documents(any_model, typed).equals(topoi.similar_documents(any_model, document))


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("of stars", r"2 documents have 'of stars' in their title: p2 \(Of Stars\), p3 \(Of Stars\); pass an id"),
        ("hint", r"2 documents have 'hint' in their title: p0 \(Type Hints\), p1 \(More Type Hints"),
        ("quux", "'quux' is neither the id nor the title of a document, nor a text with a known word"),
    ],
)
def test_what_is_not_one_document(any_model, typed, message):
    for ask in (topoi.document_topics, topoi.similar_documents):
        with pytest.raises(NotFoundError, match=message):
            ask(any_model, typed)


def test_texts_are_said_to_be_read_as_such(any_model):
    with pytest.warns(UserWarning, match="no document has the id or title 'sun sun star': it is read as a new text"):
        short = topoi.document_topics(any_model, "sun sun star")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert short.equals(topoi.document_topics(any_model, "sun sun star", text=True))
        topoi.document_topics(any_model, "a longer text on the sun and stars, which nobody would take for a title")
        own = topoi.document_topics(any_model, "type hints", text=True)
    assert own["n_words"].sum() == 2
    with pytest.raises(NotFoundError, match="'p1' is no text with a known word"):
        topoi.document_topics(any_model, "p1", text=True)


def test_documents_of_a_graph_and_of_links_have_titles_too():
    corpus = topoi.Corpus.from_tokens(WORDS * 3, titles=[f"Title {d}" for d in "abcdef"])
    model = topoi.PachinkoAllocation(2, 2, n_iter=2, random_state=0).fit(corpus)
    assert topoi.document_nodes(model, "title c").equals(topoi.document_nodes(model, 2))
    with pytest.raises(NotFoundError, match="no document with the id or title 'sun star'"):
        topoi.document_nodes(model, "sun star")
