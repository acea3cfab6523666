"""Collections that lack something: authors, years, titles, texts, topics."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi.models.smoothed_counts import whole_tokens
from web.addresses import html, twin
from web.conftest import client_of
from web.samples import fit, ordinary_corpus

PAGES = [
    "overview",
    "topic/0",
    "authors",
    "authors?q=x",
    "document/0",
    "document/0?colour=author",
    "document/0?samples=3",
    "documents",
    "documents?q=star",
    "documents?year=1990",
    "word/0",
    "trends",
    "trends?by=decade",
    "compare",
    "search?q=star",
    "parse?text=star+planet",
    "reviewers?text=star",
    "models",
]


def walk(path, pages=PAGES):
    client = client_of(path)
    for page in pages:
        for address in (html(page), twin(page, "json")):
            answer = client.get(f"/m/m/{address}")
            assert answer.status_code == 200, (address, answer.text)
    return client


def test_no_authors(tmp_path):
    path = tmp_path / "s.topoi"
    fit(topoi.LDA, ordinary_corpus(authors=None), 3, alpha=0.1).save(path, name="m")
    client = walk(path)
    assert client.get("/m/m/author/0").status_code == 404
    assert client.get("/m/m/document/0.json").json()["authors"] == []
    assert "Authors" not in client.get("/m/m/").text.split("</nav>")[0]


def test_no_years(tmp_path):
    path = tmp_path / "s.topoi"
    fit(topoi.AuthorTopicModel, ordinary_corpus(dates=None), 3, alpha=0.1).save(path, name="m")
    client = walk(path, [*PAGES, "author/0"])
    assert client.get("/m/m/author/0.json").json()["by_year"] is None
    assert client.get("/m/m/topic/0.json").json()["trend"] is None
    assert client.get("/m/m/overview.json").json()["rising"] == []
    assert client.get("/m/m/trends.svg").status_code == 404
    assert client.get("/m/m/topic/0.svg").status_code == 404


def test_no_titles(tmp_path):
    path = tmp_path / "s.topoi"
    corpus = ordinary_corpus(titles=None, ids=[f"doc-{d}" for d in range(60)])
    fit(topoi.AuthorTopicModel, corpus, 3, alpha=0.1).save(path, name="m")
    client = walk(path, [*PAGES, "author/0"])
    assert client.get("/m/m/documents.json").json()["documents"][5]["document"]["title"] == "doc-5"


@pytest.mark.parametrize("family", [topoi.AuthorTopicModel, topoi.LDA])
def test_no_texts(tmp_path, family):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus()
    fit(family, corpus, 3, alpha=0.1).save(path, name="m", corpus=False)
    client = walk(path)
    pieces = client.get("/m/m/document/0.json").json()["pieces"]
    words = corpus.words[corpus.tokens[: corpus.doc_start[1]]]
    assert "".join(piece["text"] for piece in pieces) == " ".join(words)
    assert client.get("/m/m/documents.json?q=star").json()["n_found"] == 0


def test_counts_only(tmp_path):
    path = tmp_path / "s.topoi"
    counts = np.random.default_rng(0).poisson(1.0, (12, 9))
    topoi.LDA(2, n_iter=5, random_state=0).fit(counts).save(path, name="m")
    client = walk(path)
    page = client.get("/m/m/overview.json").json()
    assert page["collection"]["n_tokens"] == counts.sum() and page["collection"]["n_authors"] == 0


def test_one_topic_one_document(tmp_path):
    path = tmp_path / "s.topoi"
    corpus = topoi.Corpus.from_tokens([["star", "planet"]], authors=["A"], dates=[1990])
    topoi.AuthorTopicModel(1, n_iter=2, random_state=0).fit(corpus).save(path, name="m")
    client = walk(path, [*PAGES, "author/0"])
    assert client.get("/m/m/document/0.json").json()["similar"] == []
    assert client.get("/m/m/map.svg").status_code == 404


def test_documents_without_words_and_authors(tmp_path):
    path = tmp_path / "s.topoi"
    texts = ["star planet star", "", "the of", "court judge"] * 4
    authors = [["A"], ["B"], [], ["A", "C"]] * 4
    corpus = topoi.Corpus.from_texts(texts, authors=authors, dates=[1990, None, 1991, 1992] * 4, min_df=1, max_df=1.0)
    with pytest.warns(UserWarning, match="no authors"):
        topoi.AuthorTopicModel(2, n_iter=5, random_state=0).fit(corpus).save(path, name="m")
    pages = [f"document/{d}{query}" for d in range(4) for query in ("", "?samples=2", "?colour=author")]
    client = walk(path, [*PAGES, *pages, "author/0", "author/1", "author/2"])
    assert client.get("/m/m/author/1.json").json()["median_perplexity"] is None


def test_author_model(tmp_path):
    path = tmp_path / "s.topoi"
    fit(topoi.AuthorModel, ordinary_corpus()).save(path, name="m")
    client = walk(path, [page for page in PAGES if page != "topic/0"] + ["author/0"])
    data = client.get("/m/m/author/0.json").json()
    assert len(data["words"]) > 5
    assert data["author"]["n_tokens"] > 0
    assert data["surprising"]
    assert data["similar"] == data["topics"] == []
    pieces = client.get("/m/m/document/0.json").json()["pieces"]
    assert [set(piece) for piece in pieces] == [{"text"}]


GRAPH = {"root": {"sky": ["a", "b", topoi.WORDS], "law": ["m"], "rest": None}, "m": ["b", "c"]}


@pytest.mark.parametrize("graph", [None, GRAPH], ids=["four levels", "any graph"])
def test_pachinko(tmp_path, graph):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus()
    model = fit(topoi.PachinkoAllocation, corpus, 2, 3, dag=graph)
    model.save(path, name="m")
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(path, name="l")
    pages = [*PAGES, "compare/l", "topic/2", "author/0", "document/3?burn_in=3&samples=2&lag=1"]
    client = walk(path, pages)
    data = client.get("/m/m/document/0.json").json()
    labelled = [piece["topic"] for piece in data["pieces"] if "topic" in piece]
    assert labelled == topoi.label_document(topoi.view(path, "m"), 0)["topic"].tolist()
    assert data["sampling"]["live"] is False and "Sample again" in client.get("/m/m/document/0").text
    parsed = client.get("/m/m/parse.json?text=star+planet+star").json()
    assert parsed["error"] is None
    found = [piece["topic"] for piece in parsed["result"]["pieces"] if "topic" in piece]
    assert found == topoi.label_words(model, "star planet star")["topic"].tolist()
    works = client.get("/m/m/topic/1.json").json()
    expected = topoi.topic_documents(model, 1, n=5)
    assert [work["share"] for work in works["documents"][:5]] == pytest.approx(expected["share"].tolist())
    assert "choose another model" in client.get("/m/m/reviewers.json?text=star").json()["error"]


def test_aspects(tmp_path):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus()
    model = fit(topoi.AspectModel, corpus, 3)
    model.save(path, name="m")
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(path, name="l")
    client = walk(path, [*PAGES, "compare/l", "topic/2"])
    data = client.get("/m/m/document/0.json").json()
    labelled = [piece["topic"] for piece in data["pieces"] if "topic" in piece]
    assert labelled == model.chains_[0].assignments.topic[: corpus.doc_start[1]].tolist()
    assert client.get("/m/m/parse.json?text=star+planet").json()["error"] is None


def test_awkward_names_of_models(tmp_path):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus(12)
    names = ["..", "a/b", "x.json", "static", "~20", "é ü", "%2F", "a?b#c", "<b>", "'\"", "m.csv", "."]
    for name in names:
        topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(path, name=name)
    client = client_of(path)
    models = client.get(f"{client.get('/').headers['location']}models.json").json()["models"]
    assert [model["name"] for model in models] == names[::-1]
    for model in models:
        for page in ("", "topic/0", "overview.json", f"compare/{models[3]['slug']}.json"):
            answer = client.get(f"/m/{model['slug']}/{page}")
            assert answer.status_code == (400 if model is models[3] and "compare" in page else 200), (model, page)


def test_kernel_topics(tmp_path):
    path = tmp_path / "s.topoi"
    model = topoi.KernelTopicModel(3, features=["year", "authors"], n_iter=12, n_warmup=8, random_state=0)
    model.fit(ordinary_corpus()).save(path, name="m")
    client = walk(path, [*PAGES, "metadata", "metadata?topic=1", "author/0"])
    assert len(client.get("/m/m/overview.json").json()["topics"]) == 3


def test_regression(tmp_path):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus()
    model = topoi.DirichletMultinomialRegression(3, features=["year", "venue"], n_iter=60, n_warmup=20, random_state=0)
    model.fit(corpus).save(path, name="m")
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(path, name="l")
    client = walk(path, [*PAGES, "metadata", "metadata?topic=1", "author/0", "compare/l", "document/3?burn_in=3&lag=1"])
    data = client.get("/m/m/document/0.json").json()
    labelled = [piece["topic"] for piece in data["pieces"] if "topic" in piece]
    assert labelled == topoi.label_document(topoi.view(path, "m"), 0)["topic"].tolist()
    assert client.get("/m/m/parse.json?text=star+planet").json()["error"] is None


def test_topics_of_authors_whom_the_model_does_not_tell_apart(tmp_path):
    path, corpus = tmp_path / "s.topoi", ordinary_corpus()
    model = fit(topoi.LDA, corpus, 3, alpha=0.1)
    model.save(path, name="m")
    data = client_of(path).get("/m/m/author/2.json").json()
    works = model.catalogue_.author_documents(2)
    counts = model.chains_[0].documents.counts(works).sum(axis=0)
    assert {share["topic"]["topic"]: share["n_tokens"] for share in data["topics"]} == {
        k: n for k, n in enumerate(whole_tokens(counts).tolist()) if n
    }
    assert data["author"]["n_tokens"] == round(counts.sum()) and data["similar"] == []
    text = client_of(path).get("/m/m/author/2").text
    assert "whoever wrote them" in text and "Did this author write that" not in text
