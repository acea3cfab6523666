"""Coherence is gensim's on the same counts, the definitions' by hand, and never NaN."""

from __future__ import annotations

import itertools
import logging

import numpy as np
import pandas as pd
import pytest
from gensim.corpora import Dictionary
from gensim.models.coherencemodel import CoherenceModel
from gensim.topic_coherence.text_analysis import WordOccurrenceAccumulator

import topoi
from topoi.errors import ModelError
from topoi.evaluation import coherence
from topoi.evaluation.coherence_measures import mean_cosine
from topoi.evaluation.windows import count_windows

MEASURES = ("npmi", "c_v", "u_mass", "uci")
GENSIM = {"npmi": "c_npmi", "c_v": "c_v", "u_mass": "u_mass", "uci": "c_uci"}


def texts(n_docs: int, n_words: int, longest: int, seed: int, distinct: bool = False) -> list[list[str]]:
    """Documents of all lengths over a skewed vocabulary, so that some pairs never meet."""
    rng = np.random.default_rng(seed)
    p = 1.0 / np.arange(2, n_words + 2)
    rows = []
    for _ in range(n_docs):
        n = int(rng.integers(1, longest))
        rows.append([f"w{w}" for w in rng.choice(n_words, n, replace=not distinct, p=p / p.sum())])
    return rows


def topics_of(rows: list[list[str]], seed: int, n: int = 6, size: int = 7) -> list[list[str]]:
    words = sorted({word for row in rows for word in row})
    rng = np.random.default_rng(seed)
    return [rng.choice(words, size, replace=False).tolist() for _ in range(n)]


def of_gensim(topics, rows, measure, window=None):
    """gensim's coherence per topic; windows in one process."""
    logging.getLogger("gensim").setLevel(logging.ERROR)
    dictionary = Dictionary(rows)
    how = {"corpus": [dictionary.doc2bow(row) for row in rows]} if measure == "u_mass" else {"texts": rows}
    model = CoherenceModel(
        topics=topics, dictionary=dictionary, coherence=GENSIM[measure], window_size=window, topn=20, processes=1, **how
    )
    return np.array(model.get_coherence_per_topic())


@pytest.fixture
def repeats_counted(monkeypatch):
    """gensim forgets a word as soon as one of its tokens leaves the window, even if another is still there."""

    def slide(self, window, doc_num):
        self._uniq_words[:] = False
        self._uniq_words[np.unique(window)] = True

    monkeypatch.setattr(WordOccurrenceAccumulator, "_slide_window", slide)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("window", [None, 4])
def test_gensims_numbers_for_documents_without_repeated_words(measure, window):
    rows = texts(120, 60, 50, seed=1, distinct=True)
    topics = topics_of(rows, 2)
    mine = coherence(topics, rows, measure, window=None if measure == "u_mass" else window)
    np.testing.assert_allclose(mine["coherence"], of_gensim(topics, rows, measure, window), atol=1e-6, rtol=0)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("window", [None, 3, 12])
def test_gensims_numbers_for_the_same_counts(measure, window, repeats_counted):
    rows = texts(80, 30, 160, seed=3) + [[]]
    topics = topics_of(rows, 4)
    mine = coherence(topics, rows, measure, window=None if measure == "u_mass" else window)
    np.testing.assert_allclose(mine["coherence"], of_gensim(topics, rows, measure, window), atol=1e-6, rtol=0)


def test_gensim_loses_repeated_words():
    """Why the counts are not gensim's own: here `a` is in all three windows, and gensim counts two."""
    rows = [["a", "a", "b", "a", "c"]]
    counter = WordOccurrenceAccumulator({0, 1}, Dictionary([["a", "b", "c"]])).accumulate(rows, 3)
    assert counter["a"] == 2
    assert count_windows(topoi.Corpus.from_tokens(rows), ["a"], [], 3).times.tolist() == [3]


@pytest.mark.parametrize("window", [None, 2, 5, 40])
def test_windows_are_counted_as_sets(window):
    rows = [*texts(40, 12, 30, seed=5), [], ["w0"]]
    words = [f"w{i}" for i in range(12)] + ["absent"]
    topics = [np.array([0, 3, 5, 12]), np.array([5, 0, 7]), np.arange(12)]
    counts = count_windows(topoi.Corpus.from_tokens(rows), words, topics, window)
    size = window or 10**6
    windows = [set(row[i : i + size]) for row in rows for i in range(max(len(row) - size, 0) + 1)]
    assert counts.n_windows == len(windows)
    for row in topics:
        expected = [[sum({words[a], words[b]} <= w for w in windows) for b in row] for a in row]
        assert counts.matrix(row).tolist() == expected


def test_definitions_by_hand():
    """Four documents: sun in 3, star in 2, both in 2; gene in 1, alone."""
    rows = [["sun", "star"], ["sun", "star"], ["sun"], ["gene"]]
    topics = [["sun", "star"], ["star", "sun"], ["sun", "gene"]]
    npmi = np.log(0.5 / (0.75 * 0.5)) / -np.log(0.5)
    apart = np.log(1e-12 / (0.75 * 0.25)) / -np.log(1e-12)
    assert coherence(topics, rows)["coherence"].tolist() == pytest.approx([npmi, npmi, apart])
    uci = [np.log(0.5 / (0.75 * 0.5)), np.log(0.5 / (0.75 * 0.5)), np.log(1e-12 / (0.75 * 0.25))]
    assert coherence(topics, rows, "uci")["coherence"].tolist() == pytest.approx(uci)
    # The second word given the first: P(star | sun), P(sun | star), P(gene | sun).
    u_mass = [np.log(2 / 3), 0.0, np.log(1e-12 / 0.75)]
    assert coherence(topics, rows, "u_mass")["coherence"].tolist() == pytest.approx(u_mass, abs=1e-9)
    a, b = np.array([1.0, npmi]), np.array([npmi, 1.0])
    c_v = np.mean([v @ (a + b) / np.linalg.norm(v) / np.linalg.norm(a + b) for v in (a, b)])
    assert coherence(topics, rows, "c_v").loc[0, "coherence"] == pytest.approx(c_v, abs=1e-9)


# Three words and the documents that have each, as in Palmetto's own unit tests, with the values derived there by hand.
PALMETTO = {
    "one in all documents": (
        ["111", "011", "011"],
        {"npmi": 1 / 3, "uci": np.log(1.5) / 3, "u_mass": np.log(2 / 3) * 2 / 3},
    ),
    "each pair once": (
        ["011", "101", "110"],
        {"npmi": np.log(3 / 4) / np.log(3), "uci": np.log(3 / 4), "u_mass": np.log(1 / 2)},
    ),
    "all together once": (
        ["0001", "0101", "0011"],
        {"npmi": 1 / 3, "uci": np.log(2) * 2 / 3, "u_mass": np.log(1 / 2) / 3},
    ),
    "one alone": (
        ["1000", "0101", "0011"],
        {"npmi": 2 / 3 * np.log(8e-12) / -np.log(1e-12), "uci": 2 / 3 * np.log(8e-12)},
    ),
}


@pytest.mark.parametrize("name", PALMETTO)
def test_closed_forms_of_palmetto(name):
    table, expected = PALMETTO[name]
    rows = [
        ["other", *(word for word, has in zip("abc", column, strict=True) if has == "1")]
        for column in zip(*table, strict=True)
    ]
    for measure, value in expected.items():
        found = coherence([["a", "b", "c"]], rows, measure, window="document").loc[0, "coherence"]
        assert found == pytest.approx(value, abs=1e-9), measure


def test_cosines_of_palmetto():
    """Its value of three vectors against their sum, with the vectors put in place of NPMIs."""
    vectors = np.array([[1, 1, 1], [1, 2, 1], [1, 1, 2]]) / 4
    expected = (11 / np.sqrt(3 * 41) + 2 * 15 / np.sqrt(6 * 41)) / 3
    assert mean_cosine(vectors) == pytest.approx(expected)


@pytest.mark.parametrize("measure", MEASURES)
def test_words_that_never_occur_lower_a_topic_and_are_counted(measure):
    rows = [["sun", "star", "sky"], ["sun", "star", "sky"], ["cell", "gene"]] * 4
    topics = [["sun", "star", "sky"], ["sun", "star", "zeppelin"], ["quark", "boson", "zeppelin"]]
    frame = coherence(topics, rows, measure)
    assert np.isfinite(frame["coherence"]).all() and frame["n_missing"].tolist() == [0, 1, 3]
    assert frame["coherence"].is_monotonic_decreasing and frame["coherence"].is_unique
    if measure == "npmi":
        assert frame["coherence"].tolist() == pytest.approx([1.0, (1.0 - 1.0 - 1.0) / 3, -1.0])
    if measure == "c_v":
        assert frame["coherence"].tolist() == pytest.approx([1.0, 2 / 3, 0.0])


def test_words_of_every_window_are_always_together():
    frame = coherence([["a", "b"]], [["a", "b"]] * 3)
    assert frame["coherence"].tolist() == [1.0]


def test_topics_of_any_library_and_of_models_are_the_same_question():
    corpus = topoi.Corpus.from_tokens(texts(60, 20, 30, seed=6))
    model = topoi.LDA(3, n_iter=20, random_state=0).fit(corpus)
    frame = coherence(model, corpus, n_words=5)
    lists = [[str(w) for w in model.top_words(5, topic=k)["word"]] for k in range(3)]
    pairs = {f"t{k}": [(w, 0.1) for w in row] for k, row in enumerate(lists)}
    for given in (lists, tuple(lists), np.array(lists), model.top_words(5), pairs):
        other = coherence(given, corpus, n_words=5)
        assert other["coherence"].tolist() == frame["coherence"].tolist()
        assert other["words"].tolist() == lists
    assert list(other["topic"]) == ["t0", "t1", "t2"]
    assert frame.attrs["mean"] == frame["coherence"].mean()
    # A longer list is cut, as gensim's topn does.
    assert coherence(lists, corpus, n_words=3)["words"].map(len).tolist() == [3, 3, 3]


def test_the_reference_may_be_another_corpus_and_names_of_gensim_are_known():
    rows = texts(40, 15, 30, seed=7)
    other = topoi.Corpus.from_tokens([list(reversed(row)) for row in rows])  # another numbering of the same words
    topics = topics_of(rows, 8, n=2, size=4)
    assert coherence(topics, rows)["coherence"].tolist() == pytest.approx(
        coherence(topics, other)["coherence"].tolist()
    )
    for name, gensims in GENSIM.items():
        assert coherence(topics, rows, gensims).equals(coherence(topics, rows, name))
    documents = coherence(topics, rows, window="document")
    assert documents["coherence"].tolist() == coherence(topics, rows, window=10**6)["coherence"].tolist()


def test_bad_input_is_refused_in_words():
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["b", "c"]])
    for topics, options, message in [
        ([["a", "b"]], {"measure": "c_w2v"}, "must be one of"),
        ([["a", "b"]], {"window": 1}, "at least 2"),
        ([["a", "b"]], {"window": "sentence"}, "'document'"),
        ([["a", "b"]], {"n_words": 1}, "at least 2"),
        ([["a"]], {}, "needs at least 2"),
        ([["a", "a"]], {}, "more than once"),
        ([["x", "y"]], {}, "none of the topics' words"),
        ([], {}, "no topics"),
        ("a b", {}, "list of words for each topic"),
        (["a b"], {}, "list of words for each topic"),
        ([[0, 1]], {}, "words are strings"),
        (pd.DataFrame({"x": [1]}), {}, "topic and word"),
    ]:
        with pytest.raises(ModelError, match=message):
            coherence(topics, corpus, **options)
    with pytest.raises(ModelError, match="list of lists of words"):
        coherence([["a", "b"]], ["a b", "b c"])
    with pytest.raises(ModelError, match="no words"):
        coherence([["a", "b"]], [[]])
    authors = topoi.Corpus.from_tokens([["a", "b"]] * 4, authors=["Ann", "Bob"] * 2)
    with pytest.raises(ModelError, match="no topics"):
        coherence(topoi.AuthorModel(n_iter=2, random_state=0).fit(authors), authors)


def test_order_of_words_matters_to_u_mass_alone():
    rows = texts(50, 12, 20, seed=9)
    topic = topics_of(rows, 10, n=1, size=5)[0]
    for measure in MEASURES:
        values = {round(coherence([list(o)], rows, measure).attrs["mean"], 9) for o in itertools.permutations(topic)}
        assert (len(values) > 1) == (measure == "u_mass")
