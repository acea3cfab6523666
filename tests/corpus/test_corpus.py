"""What can be done with a corpus: subsets, splits, other authors, matrices, bundles."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi import Corpus, CorpusError


@pytest.fixture
def corpus():
    return Corpus.from_texts(
        ["Red fish é", "blue Fish", "red Bird \x00", "", "bird red"],
        authors=[["Ann", "Bob"], ["Bob"], ["Ann"], [], ["Cy"]],
        titles=["One", "Two", None, "Four", "Five"],
        dates=["1066-10-14", None, datetime.datetime(2001, 2, 3, 4, 5, 6, 7), 1999, 2000],
        metadata={
            "venue": ["ACL", "NIPS", None, "ACL", "ü\x00"],
            "cites": [["x", "y"], [], None, ["x"], []],
            "score": [1.5, float("nan"), float("inf"), -0.1, 1e-300],
            "pages": [1, None, 3, 4, 2**40],
            "big": [10**30, 1, 2, 3, 4],
            "open": [True, False, None, True, True],
            "mixed": [1, "a", None, {"k": [1, None]}, 2.5],
        },
        min_df=1,
    )


def test_subset_keeps_vocabulary_and_authors(corpus):
    part = corpus.subset([4, 0])
    assert part.words is corpus.words and part.authors.tolist() == corpus.authors.tolist()
    assert [d.words for d in part] == [["bird", "red"], ["red", "fish"]]
    assert part[1].offsets == corpus[0].offsets and part[1].authors == ["Ann", "Bob"]
    assert part.documents["title"].tolist() == ["Five", "One"] and part.texts == ["bird red", "Red fish é"]
    assert isinstance(part.documents.index, pd.RangeIndex)
    mask = np.array([True, False, False, False, True])
    assert corpus.subset(mask).documents["id"].tolist() == corpus[::4].documents["id"].tolist() == ["0", "4"]
    assert corpus.subset([-1])[0].id == "4"
    assert len(corpus.subset([])) == 0
    for bad in ([9], [0.5], [True], "ab"):
        with pytest.raises(CorpusError):
            corpus.subset(bad)


def test_iteration_and_repr(corpus):
    assert len(corpus) == len(list(corpus)) == 5
    document = corpus[0]
    assert (document.id, document.title, document.text, document.authors) == ("0", "One", "Red fish é", ["Ann", "Bob"])
    assert document.metadata["venue"] == "ACL" and document.date.year == 1066
    assert repr(corpus) == "<Corpus: 5 documents, 8 tokens, 4 words, 3 authors, 1066–2001>"
    assert repr(document) == "<Document '0': 'One' by Ann, Bob, 2 tokens>"
    with pytest.raises(IndexError):
        corpus[5]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 6), max_size=3, unique=True), min_size=2, max_size=30),
    st.integers(0, 2**31),
    st.floats(0.05, 0.6),
)
def test_split_with_known_authors(author_ids, seed, size):
    authors = [[f"author {a}" for a in row] for row in author_ids]
    corpus = Corpus.from_tokens([[f"w{d}"] for d in range(len(authors))], authors=authors)
    try:
        train, test = corpus.split(size, seed, known_authors=True)
    except CorpusError as error:
        assert "is not possible here" in str(error)
        return
    assert set(test.doc_author.tolist()) <= set(train.doc_author.tolist())
    assert len(test) == max(1, round(size * len(corpus)))
    assert sorted([*train.documents["id"], *test.documents["id"]], key=int) == corpus.documents["id"].tolist()


def test_split_sizes_and_seeds():
    corpus = Corpus.from_tokens([[str(d)] for d in range(40)], authors=[["x"]] * 40)
    assert [len(part) for part in corpus.split()] == [36, 4]
    train, test = corpus.split(test_size=13, random_state=1)
    assert (len(train), len(test)) == (27, 13)
    assert test.documents["id"].tolist() == corpus.split(13, 1)[1].documents["id"].tolist()
    assert test.documents["id"].tolist() != corpus.split(13, 2)[1].documents["id"].tolist()
    assert len(corpus.split(39, 0, known_authors=True)[1]) == 39
    assert train.n_words == test.n_words == 40
    for bad in (0, 40, 1.0, 0.0, -3, "half", True, float("nan")):
        with pytest.raises(CorpusError):
            corpus.split(bad)


def test_impossible_split_says_how_many():
    corpus = Corpus.from_tokens([["a"]] * 4, authors=["Ann", "Bob", "Cy", "Cy"])
    with pytest.raises(CorpusError, match="there are 1 such documents"):
        corpus.split(2, 0, known_authors=True)


def test_with_authors(corpus):
    both = corpus.with_authors(["authors", "venue", "cites"])
    assert both.author_lists()[0] == ["Ann", "Bob", "venue: ACL", "cites: x", "cites: y"]
    venue = corpus.with_authors("venue")
    assert venue.author_lists() == [["ACL"], ["NIPS"], [], ["ACL"], ["ü\x00"]]
    assert venue.report.n_without_authors == 1
    back = venue.with_authors("authors")
    assert back.author_lists() == corpus.author_lists() and "authors" not in back.documents
    assert venue.with_authors(["cites", "year"]).author_lists()[0] == ["x", "y", "year: 1066"]
    assert venue.to_frame()["authors"].tolist()[0] == ["ACL"]
    assert corpus.author_lists()[0] == ["Ann", "Bob"]
    with pytest.raises(CorpusError, match="no column 'journal'; there are: authors, id"):
        corpus.with_authors("journal")
    with pytest.raises(CorpusError, match="at least one"):
        corpus.with_authors([])
    text = Corpus.from_tokens([["a"]], metadata={"keys": ["x, y"]})
    assert text.with_authors("keys", separator=",").authors.tolist() == ["x", "y"]


def test_matrix_and_frame(corpus):
    matrix = corpus.to_matrix()
    assert matrix.shape == (5, 4) and matrix.sum() == corpus.n_tokens
    np.testing.assert_array_equal(matrix.toarray()[2], [1, 0, 0, 1])
    assert corpus.tokens.tolist() == [3, 2, 1, 2, 3, 0, 0, 3]
    frame = corpus.to_frame()
    assert frame["text"].tolist() == corpus.texts and frame["authors"].tolist() == corpus.author_lists()
    again = Corpus.from_dataframe(frame, min_df=1)
    assert again.fingerprint() == corpus.fingerprint()


def test_fingerprint_sees_every_part():
    def make(tokens=(("a", "b"), ("c",)), authors=(["x"], ["y"]), **options):
        return Corpus.from_tokens([list(row) for row in tokens], authors=list(authors), **options).fingerprint()

    base = make()
    assert base == "77d7228347f15cd34486c8d5610db0fa"  # the same on every machine and in every version
    others = [
        make((("b", "a"), ("c",))),
        make((("a",), ("b", "c"))),
        make(authors=(["y"], ["x"])),
        make(authors=(["x", "y"], [])),
        make(words=["a", "b", "c", "d"]),
        make((("ab",), ("c",))),
    ]
    assert len({base, *others}) == 7
    assert make(titles=["t", "u"]) == base


def test_bundle_round_trip(corpus):
    for original in (corpus, corpus.with_authors(["authors", "venue"]), corpus.subset([2, 0])):
        meta, arrays = original.to_bundle()
        meta = json.loads(json.dumps(meta))
        assert all(array.dtype != object for array in arrays.values())
        again = Corpus.from_bundle(meta, arrays)
        assert again.fingerprint() == original.fingerprint() == meta["fingerprint"]
        pd.testing.assert_frame_equal(again.documents, original.documents)
        assert again.texts == original.texts and again.vocabulary == original.vocabulary
        np.testing.assert_array_equal(again.token_start, original.token_start)
        assert str(again.report) == str(original.report)


def test_bundle_without_texts(corpus):
    meta, arrays = corpus.to_bundle(texts=False)
    again = Corpus.from_bundle(meta, arrays)
    assert again.texts is None and again[0].offsets == corpus[0].offsets
    tokens_only = Corpus.from_tokens([["a"], []])
    assert Corpus.from_bundle(*tokens_only.to_bundle()).token_start is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda meta, arrays: meta.update(format=99),
        lambda meta, arrays: arrays.pop("tokens"),
        lambda meta, arrays: arrays.update(tokens=arrays["tokens"] + 100),
        lambda meta, arrays: arrays.update(tokens=arrays["tokens"][:-1]),
        lambda meta, arrays: arrays.update(doc_start=arrays["doc_start"][::-1].copy()),
        lambda meta, arrays: arrays.update(doc_author=arrays["doc_author"] - 1),
        lambda meta, arrays: arrays.update(words=arrays["words"][:-1]),
        lambda meta, arrays: arrays.update(documents=arrays["documents"][:-1]),
        lambda meta, arrays: arrays.update(token_end=arrays["token_end"][:-1]),
        lambda meta, arrays: arrays.update(texts_end=arrays["texts_end"][:-1], texts=arrays["texts"][:-8]),
        lambda meta, arrays: meta["analyzer"].update(stop_words="/etc/passwd"),
    ],
)
def test_damaged_bundles_are_refused(corpus, damage):
    meta, arrays = corpus.to_bundle()
    damage(meta, arrays)
    with pytest.raises(CorpusError):
        Corpus.from_bundle(meta, arrays)
