"""Corpora from things in memory."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi import Corpus, CorpusError, NotFoundError
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary

TEXTS = ["The red fish swam.", "A red bird sang", "The fish sang; the bird swam", "", "Bird, bird!"]


def test_from_texts_keeps_order_offsets_and_metadata():
    corpus = Corpus.from_texts(
        TEXTS,
        authors=[["Ann", "Bob"], "Ann; Cy", None, "", ["Ann", "Ann"]],
        titles=["a", None, "c", "d", "e"],
        dates=[1999, "2004-07-08", datetime.date(2005, 1, 2), None, np.datetime64("2006-05-04")],
        metadata={"pages": [1, None, 3, 4, 5], "tags": [["x"], [], None, ["y", "z"], []]},
        ids=["p1", "p2", "p3", "p4", 5],
    )
    assert corpus.words.tolist() == ["bird", "fish", "red", "sang", "swam"]
    assert corpus[2].words == ["fish", "sang", "bird", "swam"]
    assert corpus[0].offsets == [(4, 7), (8, 12), (13, 17)]
    assert corpus.tokens.dtype == np.int32 and corpus.doc_start.dtype == np.int64
    assert corpus.token_start.dtype == corpus.token_end.dtype == corpus.doc_author.dtype == np.int32
    assert corpus.author_lists() == [["Ann", "Bob"], ["Ann", "Cy"], [], [], ["Ann"]]
    assert corpus.authors.tolist() == ["Ann", "Bob", "Cy"] and corpus.authors.dtype == object
    assert list(corpus.documents) == ["id", "title", "date", "year", "pages", "tags"]
    assert corpus.documents["year"].tolist()[:3] == [1999, 2004, 2005]
    assert corpus.documents["year"].isna().tolist() == [False, False, False, True, False]
    assert str(corpus.documents["pages"].dtype) == "Int64"
    assert corpus.documents["id"].tolist()[-1] == "5"
    assert corpus.report.n_empty_texts == 1 and corpus.report.n_without_authors == 2
    assert corpus.doc_lengths.tolist() == [3, 3, 4, 0, 2]


def test_word_limits_and_report():
    texts = ["aa bb cc", "aa bb dd", "aa bb ee", "aa the ff", "aa 12 gg"]
    corpus = Corpus.from_texts(texts)
    assert corpus.words.tolist() == ["bb"]
    assert corpus.report.dropped_words == {"the stop list": 1, "min_df=2": 5, "max_df=0.8": 1}
    assert corpus.report.dropped_tokens == {"the stop list": 1, "min_df=2": 5, "max_df=0.8": 5}
    assert corpus.report.skipped_tokens == {"bare numbers": 1}
    top = Corpus.from_texts(texts, min_df=1, max_df=1.0, max_words=3)
    assert top.words.tolist() == ["aa", "bb", "cc"]
    assert top.report.dropped_words["max_words=3"] == 4
    assert "1 word (5 occurrences) dropped by max_df=0.8" in str(corpus.report)
    shares = Corpus.from_texts(texts, min_df=0.4, max_df=4)
    assert shares.words.tolist() == ["bb"]


def test_no_words_left_says_what_to_do():
    with pytest.raises(CorpusError, match=r"no words are left.*min_df=1"):
        Corpus.from_texts(["one single document"])


@pytest.mark.parametrize(
    "options",
    [{"min_df": -1}, {"max_df": 1.5}, {"min_df": True}, {"max_words": 0}, {"min_df": "two"}],
)
def test_bad_limits(options):
    with pytest.raises(CorpusError, match=next(iter(options))):
        Corpus.from_texts(["a b"], **options)


def test_bad_arguments():
    with pytest.raises(CorpusError, match="one string"):
        Corpus.from_texts("abc")
    with pytest.raises(CorpusError, match="text 1 is of type int"):
        Corpus.from_texts(["abc", 3])
    with pytest.raises(CorpusError, match="1 entries in authors for 2 documents"):
        Corpus.from_texts(["abc", "abc"], authors=["x"], max_df=1.0)
    with pytest.raises(CorpusError, match="3 entries in titles"):
        Corpus.from_texts(["abc", "abc"], titles="xyz", max_df=1.0)
    with pytest.raises(CorpusError, match="the id 'x' of document 1"):
        Corpus.from_texts(["abc", "abc"], ids=["x", "x"], max_df=1.0)
    with pytest.raises(CorpusError, match="'soon' is neither a year nor an ISO date"):
        Corpus.from_texts(["abc"], dates=["soon"], min_df=1, max_df=1.0)
    with pytest.raises(TypeError, match="min_fd"):
        Corpus.from_texts(["abc"], min_fd=1)
    with pytest.raises(CorpusError, match="metadata is a frame"):
        Corpus.from_texts(["abc"], metadata=[3])


def test_lone_surrogates_and_null_bytes_do_not_break():
    corpus = Corpus.from_texts(["bad \ud800 text", "bad\x00text"], authors=["A\x00\x1b[31mB", "\udfffC"], max_df=1.0)
    assert corpus.texts[0] == "bad \ufffd text"
    assert corpus.authors.tolist() == ["A\x00\x1b[31mB", "\ufffdC"]
    again = Corpus.from_bundle(*corpus.to_bundle())
    assert again.authors.tolist() == corpus.authors.tolist() and again.texts == corpus.texts


def test_metadata_as_rows_and_clashing_names():
    corpus = Corpus.from_texts(["abc"], titles=["T"], metadata=[{"title": "t", "x": 1}], min_df=1, max_df=1.0)
    assert list(corpus.documents) == ["id", "title", "title_original", "x"]


def test_from_tokens_changes_nothing():
    corpus = Corpus.from_tokens([["The", "B", "The"], [], ["1"]], authors=[["x"], None, "y; z"])
    assert corpus.words.tolist() == ["The", "B", "1"]
    assert corpus.tokens.tolist() == [0, 1, 0, 2]
    assert corpus.token_start is None and corpus.texts is None
    assert corpus.encode(["The the B"])[0].words == ["The", "B"]
    given = Corpus.from_tokens([["b"]], words=["a", "b", "unused"])
    assert given.n_words == 3 and given.tokens.tolist() == [1]
    with pytest.raises(CorpusError, match="'c' of document 1 is not among"):
        Corpus.from_tokens([["a"], ["c"]], words=["a", "b"])
    with pytest.raises(CorpusError, match="document 0 is a string"):
        Corpus.from_tokens(["abc"])
    with pytest.raises(CorpusError, match="word of type int"):
        Corpus.from_tokens([[3]])
    with pytest.raises(CorpusError, match="twice"):
        Corpus.from_tokens([], words=["a", "a"])


def test_from_counts_round_trip_with_scikit_learn():
    vectorizer = CountVectorizer()
    matrix = vectorizer.fit_transform(TEXTS)
    for vocabulary in (vectorizer.get_feature_names_out(), vectorizer.vocabulary_, list(vectorizer.vocabulary_)):
        corpus = Corpus.from_counts(matrix, vocabulary)
        assert (corpus.to_matrix() != matrix).nnz == 0
        assert corpus.to_matrix().dtype == np.int64
    assert Corpus.from_counts(matrix, vectorizer.vocabulary_).words.tolist() == sorted(vectorizer.vocabulary_)


def test_from_counts_keeps_empty_columns_and_rows():
    corpus = Corpus.from_counts(np.array([[0, 2, 0], [0, 0, 0], [1, 0, 0]]), ["a", "b", "c"])
    assert corpus.n_words == 3 and corpus.tokens.tolist() == [1, 1, 0] and corpus.doc_start.tolist() == [0, 2, 2, 3]
    assert Corpus.from_counts([[1, 2]]).words.tolist() == ["0", "1"]
    assert Corpus.from_counts(pd.DataFrame({"x": [1], "y": [2]})).words.tolist() == ["x", "y"]
    assert Corpus.from_counts(scipy.sparse.coo_matrix(([1.0, 1.0], ([0, 0], [1, 1])), shape=(1, 2))).n_tokens == 2


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [0, -2]], r"row 1, column 1 holds -2"),
        ([[0.5, 1]], r"row 0, column 0 holds 0.5"),
        ([[np.nan, 1]], "row 0, column 0 holds nan"),
        ([[np.inf, 1]], "row 0, column 0 holds inf|more than can be handled"),
        ([["a"]], "not a matrix of numbers|not counts"),
        ([[1e300]], "more than can be handled"),
    ],
)
def test_from_counts_refuses(matrix, message):
    with pytest.raises(CorpusError, match=message):
        Corpus.from_counts(matrix)


def test_from_counts_checks_the_vocabulary():
    with pytest.raises(CorpusError, match="1 words for a matrix with 2 columns"):
        Corpus.from_counts([[1, 1]], ["a"])
    with pytest.raises(CorpusError, match="without gaps"):
        Corpus.from_counts([[1, 1]], {"a": 0, "b": 2})
    with pytest.raises(CorpusError, match="one string"):
        Corpus.from_counts([[1, 1]], "ab")


def test_from_dataframe():
    frame = pd.DataFrame(
        {
            "abstract": ["red fish", "red bird", None],
            "head": ["One", "Two", "Three"],
            "who": ["Ann; Bob", None, "Cy"],
            "when": pd.to_datetime(["2001-02-03", None, "2003-01-01"]),
            "venue": pd.Categorical(["ACL", "NIPS", None]),
            "pages": [1, 2, 3],
        },
        index=[7, 8, 9],
    )
    columns = {"text": ["head", "abstract"], "authors": ["who", "venue"], "date": "when", "title": "head"}
    corpus = Corpus.from_dataframe(frame, **columns, min_df=1)
    assert corpus.texts == ["One\n\nred fish", "Two\n\nred bird", "Three"]
    assert corpus.author_lists() == [["Ann", "Bob", "venue: ACL"], ["venue: NIPS"], ["Cy"]]
    assert corpus.documents["year"].tolist()[0] == 2001
    assert corpus.documents["title"].tolist() == ["One", "Two", "Three"]
    assert corpus.documents["pages"].tolist() == [1, 2, 3]
    assert isinstance(corpus.documents.index, pd.RangeIndex)
    with pytest.raises(CorpusError, match="no column 'text'; the columns are: abstract"):
        Corpus.from_dataframe(frame)


def test_from_gensim():
    bags = [[(0, 2), (2, 1)], [], [(1, 1.0)]]
    words = {0: "a", 1: "b", 2: "c", 3: "never"}
    one = Corpus.from_gensim(bags, words, author2doc={"Ann": [0, 2], 7: [2]})
    two = Corpus.from_gensim(bags, words, doc2author={0: ["Ann"], 2: ["Ann", 7]})
    for corpus in (one, two):
        assert corpus.words.tolist() == ["a", "b", "c", "never"]
        assert corpus.tokens.tolist() == [0, 0, 2, 1]
        assert corpus.author_lists() == [["Ann"], [], ["Ann", "7"]]
    with pytest.raises(CorpusError, match="whole"):
        Corpus.from_gensim([[(0, 0.3)]], words)
    with pytest.raises(CorpusError, match="document 9"):
        Corpus.from_gensim(bags, words, author2doc={"Ann": [9]})
    with pytest.raises(CorpusError, match="no word for the id 1"):
        Corpus.from_gensim(bags, {0: "a", 2: "c"})
    with pytest.raises(CorpusError, match="not a list of"):
        Corpus.from_gensim([["ab", 3]], words)


def test_from_a_real_gensim_dictionary():
    dictionary = pytest.importorskip("gensim.corpora").Dictionary([["red", "fish"], ["red"]])
    corpus = Corpus.from_gensim([dictionary.doc2bow(["red", "fish", "red"])], dictionary)
    assert sorted(corpus[0].words) == ["fish", "red", "red"]


def test_encode_new_text():
    corpus = Corpus.from_texts(TEXTS, authors=["Ann", "Bob", "Cy", "Ann", "Bob"])
    new = corpus.encode(["A RED fish-bird, a whale", ""], authors=["Bob", None], dates=[2001, None])
    assert new[0].words == ["red"] and new.report.n_unknown_tokens == 2
    assert new.authors.tolist() == corpus.authors.tolist() and new.author_lists() == [["Bob"], []]
    assert new.vocabulary is corpus.vocabulary
    assert new.documents["year"].tolist()[0] == 2001
    assert corpus.encode([["red", "whale", "fish"], []])[0].words == ["red", "fish"]
    with pytest.raises(CorpusError, match=r"unknown authors: 'Bobb'; did you mean 'Bob'\?"):
        corpus.encode(["fish"], authors=["Bobb"])
    added = corpus.encode(["fish"], authors=["Zoe"], new_authors="add")
    assert added.authors.tolist() == ["Ann", "Bob", "Cy", "Zoe"] and added.doc_author.tolist() == [3]
    dropped = corpus.encode(["fish"], authors=["Zoe; Ann"], new_authors="drop")
    assert dropped.author_lists() == [["Ann"]] and dropped.n_authors == 3
    with pytest.raises(CorpusError, match="one string"):
        corpus.encode("fish")
    with pytest.raises(CorpusError, match="new_authors"):
        corpus.encode(["fish"], new_authors="perhaps")


def test_vocabulary():
    vocabulary = Vocabulary(["apple", "pear"], Analyzer(stop_words=["or"]))
    assert vocabulary.index("pear") == 1 and "plum" not in vocabulary and list(vocabulary) == ["apple", "pear"]
    with pytest.raises(NotFoundError, match="did you mean 'apple'"):
        vocabulary.index("aple")
    encoded = vocabulary.encode(["Pear or peach", "", "apple"])
    assert encoded.tokens.tolist() == [1, 0] and encoded.doc_start.tolist() == [0, 1, 1, 2] and encoded.n_unknown == 1
    assert vocabulary.encode([]).doc_start.tolist() == [0]
    assert Vocabulary.from_dict(vocabulary.to_dict()) == vocabulary
    assert "2 words: 'apple', 'pear'" in repr(vocabulary)
    with pytest.raises(CorpusError, match="one string"):
        vocabulary.encode("pear")


def test_metadata_cannot_take_the_place_of_authors():
    corpus = Corpus.from_tokens([["a"]], authors=["Ann"], metadata={"authors": ["x"], "text": ["y"]})
    assert list(corpus.documents) == ["id", "authors_original", "text_original"]
    assert corpus.with_authors(["authors", "authors_original"]).authors.tolist() == ["Ann", "authors_original: x"]


def test_columns_of_numpy_values_keep_their_kind() -> None:
    metadata = {"size": np.array([0.5, 1.5]), "mixed": [np.float64(1.0), None], "word": np.array(["a", "b"])}
    frame = Corpus.from_tokens([["a"], ["b"]], metadata=metadata).documents
    assert frame["size"].dtype == frame["mixed"].dtype == "float64"
    assert frame["word"].dtype == "str"
