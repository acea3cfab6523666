"""What a search answers: order, filters, reasons, marked text, and clear errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import topoi
from topoi.retrieval.search import leading

TEXTS = [
    "The sun is a star, and a star is a sun.",
    "Stars and the moon fill the sky: sun, moon, star.",
    "Genes make a cell; a cell has genes.",
    "The moon in the sky at night, a sky with clouds",
    "A protein in the cell, said the gene",
    "",
]


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    return topoi.Corpus.from_texts(
        TEXTS,
        authors=["Ann", ["Ann", "Bob"], "Eve", "Bob", "Eve", "Kim"],
        titles=["On suns", "On stars", "On genes", "On nights", "On proteins", "Nothing"],
        dates=[1990, 1991, 1992, 1993, None, 1995],
        metadata={"venue": ["A", "B", "A", "A", "B", "A"], "tags": [["x"], ["x", "y"], [], ["y"], ["x"], []]},
        min_df=1,
        max_df=1.0,
    )


@pytest.fixture(scope="module")
def search(corpus: topoi.Corpus) -> topoi.Search:
    return topoi.Search(corpus, topoi.LDA(2, alpha=0.1, n_iter=200, random_state=0).fit(corpus))


def test_documents_without_any_of_the_words_are_found_by_their_topics(search: topoi.Search) -> None:
    frame = search.query("star")
    assert frame["document"].tolist()[:2] == [0, 1]
    assert frame.loc[frame["document"] == 3, "matched"].tolist() == [[]]
    assert 5 not in frame["document"].tolist()
    assert (frame["score"].diff().dropna() <= 0).all()
    assert frame["rank"].tolist() == list(range(1, len(frame) + 1))
    assert list(frame)[:5] == ["document", "rank", "id", "title", "year"]


@pytest.mark.parametrize("method", ["language", "bm25"])
def test_language_models_find_only_documents_with_a_word(search: topoi.Search, method: str) -> None:
    frame = search.query("star", method=method)
    assert sorted(frame["document"]) == [0, 1]
    assert frame["topics"].tolist() == [[], []]


def test_words_of_the_query_are_found_as_in_the_documents(search: topoi.Search) -> None:
    frame = search.query("The SUN of Andromeda, Andromeda!")
    assert frame.attrs["unknown"] == ["andromeda"]
    assert frame.attrs["n_known"] == 1
    assert frame.attrs["method"] == "mixture"
    assert frame["matched"].tolist()[0] == ["sun"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"by": "bob"}, {1, 3}),
        ({"by": ["Bob", "Eve"]}, {1, 2, 3, 4}),
        ({"years": (1991, 1992)}, {1, 2}),
        ({"years": (None, 1990)}, {0}),
        ({"years": (1993, None)}, {3}),
        ({"where": {"venue": "A"}}, {0, 2, 3}),
        ({"where": {"tags": "x", "venue": "B"}}, {1, 4}),
        ({"by": "Ann", "years": (1991, None), "where": {"venue": "B"}}, {1}),
    ],
)
def test_filters(search: topoi.Search, filters: dict[str, Any], found: set[int]) -> None:
    frame = search.query("moon", **filters)
    assert set(frame["document"]) == found
    assert frame.attrs["n_candidates"] == len(found)


def test_authors_may_be_the_whole_query(search: topoi.Search) -> None:
    frame = search.query("", authors=["Bob"], n=2)
    assert set(frame["document"]) == {1, 3}
    assert frame["matched"].tolist() == [["Bob"], ["Bob"]]


def test_explanation_adds_up_to_the_score(search: topoi.Search) -> None:
    for method in ("mixture", "topics", "language", "bm25"):
        frame = search.query("sun star cell", authors="Ann", method=method)
        for document, score, topics in zip(frame["document"], frame["score"], frame["topics"], strict=True):
            why = search.explain("sun star cell", int(document), authors="Ann", method=method)
            assert why.score == pytest.approx(score, abs=1e-6)  # scores of all documents are in float32
            assert why.terms["contribution"].sum() == pytest.approx(why.score, abs=1e-12)
            assert why.topics["topic"].tolist()[: len(topics)] == topics
            if method in ("mixture", "topics"):
                weighted = (why.terms["by_topics"] * why.terms["times"]).sum() / why.terms["times"].sum()
                assert why.topics["part"].sum() == pytest.approx(weighted)
            if method == "topics":
                assert why.topics["part"].sum() == pytest.approx(1.0)


def test_text_is_marked_where_the_words_stand(search: topoi.Search) -> None:
    why = search.explain("sun moon", 1)
    assert "".join(part for part, _ in why.pieces) == TEXTS[1]
    assert [part for part, hit in why.pieces if hit] == ["moon", "sun", "moon"]
    assert search.explain("gene", "0").pieces == [(TEXTS[0], False)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.query("  "), topoi.ModelError, "the query is empty"),
        (lambda s: s.query("the of 12"), topoi.ModelError, "only stop words"),
        (lambda s: s.query("andromeda galaxy"), topoi.ModelError, "any of these words: andromeda, galaxy"),
        (lambda s: s.query("x" * 200_001), topoi.ModelError, "200,001 characters"),
        (lambda s: s.query(3), topoi.ModelError, "the query is int"),
        (lambda s: s.query("sun", n=0), topoi.ModelError, "n is 0"),
        (lambda s: s.query("sun", method="tfidf"), topoi.ModelError, "method is 'tfidf'"),
        (lambda s: s.query("sun", authors=["Anna"]), topoi.NotFoundError, "Ann"),
        (lambda s: s.query("sun", authors=[3]), topoi.ModelError, "list of names"),
        (lambda s: s.query("sun", by=[]), topoi.ModelError, "list of names"),
        (lambda s: s.query("sun", by="Nobody"), topoi.NotFoundError, "Nobody"),
        (lambda s: s.query("sun", years=1990), topoi.ModelError, "pass a pair"),
        (lambda s: s.query("sun", where={"place": "A"}), topoi.NotFoundError, "no column 'place'"),
        (lambda s: s.explain("sun", 99), topoi.NotFoundError, "no document 99"),
        (lambda s: s.explain("sun", "p99"), topoi.NotFoundError, "no document with the id"),
        (lambda s: topoi.Search(s.model.corpus_, weight=1.5), topoi.ModelError, "weight is 1.5"),
        (lambda s: topoi.Search(s.model.corpus_, mu=0), topoi.ModelError, "mu is 0"),
        (lambda s: topoi.Search(s.model.corpus_, average="x"), topoi.ModelError, "average"),
        (lambda s: topoi.Search(s.model.corpus_, idf="x"), topoi.ModelError, "idf"),
        (lambda s: topoi.Search(s.model, mixtures="x"), topoi.ModelError, "mixtures"),
        (lambda s: topoi.Search(s.model.corpus_).query("sun", method="topics"), topoi.ModelError, "no model with"),
        (lambda s: topoi.Search(["sun"]), topoi.ModelError, "cannot search in list"),
        (lambda s: topoi.Search(s.model, s.model), topoi.ModelError, "two models"),
        (lambda s: topoi.Search(s.model.corpus_, "LDA"), topoi.ModelError, "needs a store"),
        (lambda s: topoi.Search(s.model.corpus_[:3], s.model), topoi.ModelError, "other documents"),
    ],
)
def test_bad_input(search: topoi.Search, call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(search)


def test_no_authors_no_years_no_texts() -> None:
    search = topoi.Search(topoi.Corpus.from_tokens([["sun", "star"], ["moon"]]))
    assert search.query("sun")["document"].tolist() == [0]
    assert search.explain("sun", 0).pieces == []
    assert search.query("sun", years=(1900, 2000)).empty
    with pytest.raises(topoi.ModelError, match="no authors"):
        search.query("sun", authors="Ann")
    with pytest.raises(topoi.ModelError, match="no authors"):
        search.query("sun", by="Ann")


def test_a_model_without_topics_is_left_out(corpus: topoi.Corpus) -> None:
    search = topoi.Search(topoi.AuthorModel(random_state=0).fit(corpus))
    assert search.query("star").attrs["method"] == "language"


def test_leading_is_a_stable_sort() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        score = rng.integers(0, 5, 30).astype(float)
        rows = np.flatnonzero(rng.random(30) < 0.7)
        n = int(rng.integers(1, 35))
        assert leading(score, rows, n).tolist() == rows[np.argsort(-score[rows], kind="stable")][:n].tolist()
