"""Every score against a float64 twin that reads like the equation, one document and one term at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import topoi
from topoi.kernels.ranking import log_likelihoods, term_products
from topoi.models.mixing import MU, WEIGHT
from topoi.retrieval import equations
from topoi.retrieval.ranking import Evidence, Settings, Units, scores
from topoi.retrieval.terms import find_terms

SETTINGS = {"n_iter": 30, "random_state": 0}


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i:02d}" for i in range(30)], object)
    rows = [list(words[rng.integers(0, 15, 12) + 15 * (d % 2)]) for d in range(40)] + [[]]
    authors: list[list[str]] = [[f"a{d % 5}", f"b{d % 3}"] for d in range(39)] + [[], ["a1"]]
    return topoi.Corpus.from_tokens(rows, authors=authors, dates=[1990 + d % 10 for d in range(41)])


@pytest.fixture(scope="module")
def models(corpus: topoi.Corpus) -> dict[str, Any]:
    with pytest.warns(UserWarning, match="private"):
        author_topic = topoi.AuthorTopicModel(3, n_chains=2, **SETTINGS).fit(corpus)
    return {
        "lda": topoi.LDA(3, n_chains=2, **SETTINGS).fit(corpus),
        "author-topic": author_topic,
        "pachinko": topoi.PachinkoAllocation(n_super=2, n_sub=3, **SETTINGS).fit(corpus),
        "dmr": topoi.DirichletMultinomialRegression(3, features=["year"], **SETTINGS).fit(corpus),
        "aspect": topoi.AspectModel(3, n_iter=20, random_state=0, tol=0.0).fit(corpus),
        "kernel": topoi.KernelTopicModel(3, features=["year"], n_iter=5, random_state=0, tol=0.0).fit(corpus),
    }


QUERY = "w01 w01 w20 w07 w29 zzz"


def counts_of(corpus: topoi.Corpus, d: int, word: int) -> int:
    return int((corpus.tokens[corpus.doc_start[d] : corpus.doc_start[d + 1]] == word).sum())


def in_collection(corpus: topoi.Corpus, word: int) -> float:
    return int((corpus.tokens == word).sum()) / corpus.n_tokens


def language_model(corpus: topoi.Corpus, d: int, word: int, mu: float) -> float:
    """(count + mu P(w)) / (N + mu)."""
    return (counts_of(corpus, d, word) + mu * in_collection(corpus, word)) / (corpus.doc_lengths[d] + mu)


def document_mixture(model: Any, chain: Any, d: int) -> np.ndarray:
    return np.asarray(chain.doc_topic, np.float64)[d]


def author_mixture(model: Any, chain: Any, d: int) -> np.ndarray:
    """The mean of the authors' mixtures (AT09, equation 11); the document's own if it has no authors."""
    corpus = model.corpus_
    authors = corpus.doc_author[corpus.doc_author_start[d] : corpus.doc_author_start[d + 1]]
    return chain.author_topic[authors].mean(axis=0) if len(authors) else document_mixture(model, chain, d)


def expected(model: Any, weight: float, mu: float, mixture_of: Any = document_mixture, products: bool = False) -> Any:
    """Log ratio to the background per word, written out."""
    corpus = model.corpus_
    words = [corpus.vocabulary.index(word) for word in QUERY.split()[:-1]]
    found = []
    for d in range(corpus.n_docs):
        each = []
        for chain in model.chains_:
            theta = mixture_of(model, chain, d)
            each.append([float(theta @ chain.topic_word[:, w]) for w in words])
        topics = np.array(each) if products else np.mean(each, axis=0)[None]
        language = np.array([language_model(corpus, d, w, mu) for w in words])
        background = np.array([in_collection(corpus, w) for w in words])
        product = np.prod((weight * language + (1 - weight) * topics) / background, axis=1).mean()
        found.append(math.log(product) / len(words))
    return np.array(found)


def score(search: topoi.Search, method: str, text: str = QUERY, authors: Any = None) -> np.ndarray:
    return search.scores(search.evidence(text, authors), method)


@pytest.mark.parametrize("name", ["lda", "author-topic", "pachinko", "dmr", "aspect", "kernel"])
@pytest.mark.parametrize(("method", "weight"), [("mixture", WEIGHT), ("topics", 0.0), ("language", 1.0)])
def test_likelihoods_are_products_over_words(models: dict[str, Any], name: str, method: str, weight: float) -> None:
    model = models[name]
    found = score(topoi.Search(model.corpus_, model, mu=50.0), method)
    np.testing.assert_allclose(found, expected(model, weight, 50.0), atol=1e-6)


@pytest.mark.parametrize("name", ["lda", "author-topic"])
def test_very_many_mixtures_stay_sparse(models: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topoi.models.posterior._MOST_SHARES", 0)
    found = score(topoi.Search(models[name]), "mixture")
    np.testing.assert_allclose(found, expected(models[name], WEIGHT, MU), atol=1e-12)


def test_authors_mixtures_are_those_of_equation_11(models: dict[str, Any]) -> None:
    model = models["author-topic"]
    found = score(topoi.Search(model, mixtures="authors"), "mixture")
    np.testing.assert_allclose(found, expected(model, WEIGHT, MU, author_mixture), atol=1e-6)
    assert not np.allclose(found, score(topoi.Search(model), "mixture"))


@pytest.mark.parametrize("name", ["lda", "author-topic"])
def test_products_of_chains_are_averaged_on_request(models: dict[str, Any], name: str) -> None:
    model = models[name]
    found = score(topoi.Search(model, average="products"), "mixture")
    np.testing.assert_allclose(found, expected(model, WEIGHT, MU, products=True), atol=1e-6)
    assert not np.allclose(found, score(topoi.Search(model), "mixture"), atol=1e-9)


def test_bm25_is_the_formula_of_the_paper(corpus: topoi.Corpus) -> None:
    words = [corpus.vocabulary.index(word) for word in QUERY.split()[:-1]]
    found, mean = score(topoi.Search(corpus), "bm25"), corpus.doc_lengths.mean()
    for d in range(corpus.n_docs):
        total = 0.0
        for w in words:
            there = sum(counts_of(corpus, e, w) > 0 for e in range(corpus.n_docs))
            x, room = counts_of(corpus, d, w), 2.0 * (1 - 0.75 + 0.75 * corpus.doc_lengths[d] / mean)
            total += math.log((corpus.n_docs - there + 0.5) / (there + 0.5)) * x * 3.0 / (x + room)
        assert found[d] == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(("ours", "theirs"), [("robertson", "robertson"), ("positive", "lucene")])
def test_bm25_agrees_with_bm25s(corpus: topoi.Corpus, ours: str, theirs: str) -> None:
    bm25s = pytest.importorskip("bm25s")
    peer = bm25s.BM25(k1=2.0, b=0.75, method="atire", idf_method=theirs, dtype="float64")
    tokens = [corpus.tokens[a:b].tolist() for a, b in zip(corpus.doc_start, corpus.doc_start[1:], strict=False)]
    peer.index((tokens, {word: w for w, word in enumerate(corpus.words)}), show_progress=False)
    query = corpus.vocabulary.encode([QUERY]).tokens.tolist()
    # No word is in more than half of the documents here, where bm25s would cut the Robertson weight at zero.
    np.testing.assert_allclose(score(topoi.Search(corpus, idf=ours), "bm25"), peer.get_scores(query), rtol=1e-6)


def test_robertson_weight_of_a_common_word_is_negative() -> None:
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["a"], ["a", "c"]])
    assert score(topoi.Search(corpus), "bm25", "a").max() < 0
    assert score(topoi.Search(corpus, idf="positive"), "bm25", "a").min() > 0


def test_an_author_in_a_query_is_a_word_that_stands_once_in_each_of_their_documents(corpus: topoi.Corpus) -> None:
    found = score(topoi.Search(corpus, mu=20.0), "language", "", ["a1"])
    author = corpus.authors.tolist().index("a1")
    lists = [corpus.doc_author[a:b] for a, b in zip(corpus.doc_author_start, corpus.doc_author_start[1:], strict=False)]
    written = np.array([author in own for own in lists], float)
    share = written.sum() / corpus.n_tokens
    np.testing.assert_allclose(found, np.log((written / share + 20.0) / (corpus.doc_lengths + 20.0)), atol=1e-9)


def test_topics_of_a_query_author_are_compared_with_the_documents(models: dict[str, Any]) -> None:
    model = models["author-topic"]
    author = model.authors_.tolist().index("b2")
    each = []
    for chain in model.chains_:
        common = chain.topic_totals + chain.alpha
        each.append(chain.doc_topic @ (chain.author_topic[author] / (common / common.sum())))
    found = score(topoi.Search(model), "topics", "", ["b2"])
    np.testing.assert_allclose(found, np.log(np.mean(each, axis=0)), atol=1e-6)


def test_authors_are_scored_as_all_their_documents_together(models: dict[str, Any]) -> None:
    model, mu = models["author-topic"], 80.0
    corpus = model.corpus_
    search = topoi.Search(model, mu=mu)
    evidence = Evidence(search.index, find_terms(search.index, QUERY), search.topics)
    found = scores(Units(search.index, authors=True), evidence, "mixture", Settings(mu=mu))
    words = [corpus.vocabulary.index(word) for word in QUERY.split()[:-1]]
    of = [np.flatnonzero([a in own for own in author_lists(corpus)]) for a in range(corpus.n_authors)]
    for a in range(corpus.n_authors):
        total, length = 0.0, corpus.doc_lengths[of[a]].sum()
        for w in words:
            p = in_collection(corpus, w)
            language = (sum(counts_of(corpus, d, w) for d in of[a]) + mu * p) / (length + mu)
            topics = np.mean([chain.author_topic[a] @ chain.topic_word[:, w] for chain in model.chains_])
            total += math.log((WEIGHT * language + (1 - WEIGHT) * topics) / p)
        assert found[a] == pytest.approx(total / len(words), abs=1e-9)


def author_lists(corpus: topoi.Corpus) -> list[np.ndarray]:
    return [corpus.doc_author[a:b] for a, b in zip(corpus.doc_author_start, corpus.doc_author_start[1:], strict=False)]


def test_long_queries_are_scored_in_blocks(models: dict[str, Any]) -> None:
    model = models["lda"]
    search, words = topoi.Search(model, weight=0.4), list(model.corpus_.words)
    whole = score(search, "mixture", " ".join(words))
    each = [score(search, "mixture", word) for word in words]
    np.testing.assert_allclose(whole, np.mean(each, axis=0), atol=1e-6)


@pytest.mark.parametrize(("n_docs", "n_topics", "n_terms"), [(1, 1, 1), (2500, 7, 3), (1024, 8, 20)])
def test_products_with_mixtures_are_those_of_matrices(n_docs: int, n_topics: int, n_terms: int) -> None:
    rng = np.random.default_rng(0)
    mixtures = rng.dirichlet(np.full(n_topics, 0.1), n_docs).T.astype(np.float32)
    columns = rng.gamma(0.3, 3.0, (n_topics, n_terms)).astype(np.float32)
    found = term_products(np.ascontiguousarray(mixtures), columns)
    np.testing.assert_allclose(found, columns.T.astype(np.float64) @ mixtures, rtol=2e-6, atol=1e-30)


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("times", [1, 3])
def test_compiled_likelihoods_are_the_equations(weight: float, times: int) -> None:
    """More units than a block, more terms than share a logarithm, terms that nobody has, and empty units."""
    rng, mu = np.random.default_rng(1), 30.0
    n_units, n_terms = 2100, 37
    counts = rng.poisson(0.05, (n_units, n_terms)).astype(np.float64)
    counts[:, 5] = counts[-3] = 0
    lengths, background = counts.sum(axis=1) + rng.integers(0, 9, n_units), rng.uniform(1e-4, 1e-2, n_terms)
    topics = rng.gamma(0.5, 2.0, (n_units, n_terms)) + 1e-6
    weights = rng.integers(1, times + 1, n_terms).astype(np.float64)
    lists = [np.flatnonzero(column) for column in counts.T]
    found = log_likelihoods(
        np.cumsum([0, *map(len, lists)]),
        np.concatenate(lists),
        np.concatenate([counts[rows, j] / background[j] for j, rows in enumerate(lists)]),
        lengths,
        mu,
        weight,
        np.ascontiguousarray(topics.T),
        weights,
    )
    language = equations.language_ratios(counts, lengths, background, mu)
    twin = np.log(equations.mixed(language, topics, weight)) @ weights
    np.testing.assert_allclose(found, twin, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(found, equations.log_score(equations.mixed(language, topics, weight), weights), 1e-10)
