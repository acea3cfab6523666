"""A pachinko model in a store answers as the model itself does: its graph, its documents and years."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import topoi
from pachinko.test_estimator import ODD
from topoi.errors import ModelError, NotFoundError, StoreError
from topoi.models.pachinko import equations
from topoi.models.smoothed_counts import whole_tokens
from topoi.store import graph_view
from topoi.store.door import find_damage

MODELS = {
    "four levels": lambda: topoi.PachinkoAllocation(3, 5, n_iter=90, random_state=0),
    "any graph": lambda: topoi.PachinkoAllocation(dag=ODD, n_iter=90, random_state=0),
    "LDA": lambda: topoi.PachinkoAllocation(dag=topoi.Dag.from_levels(4), n_iter=20, random_state=0),
    "fixed": lambda: topoi.PachinkoAllocation(
        2, 3, alpha=0.3, learn_alpha=False, n_iter=10, n_chains=2, random_state=1
    ),
}
SUBJECTS = [
    "sun star moon orbit comet light planet",
    "cell gene protein enzyme tissue light",
    "ship sail anchor tide harbor comet",
]


def dated_corpus():
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(SUBJECTS[d % 3].split(), 8 + d % 9)) for d in range(70)]
    texts = [f"{text} rare{d % 13}" for d, text in enumerate(texts)]  # more words than the rows of a node list
    texts[7] = ""
    return topoi.Corpus.from_texts(
        texts,
        authors=[["Ann"], ["Bob", "Cat"]] * 35,
        ids=[f"d{d}" for d in range(70)],
        titles=[f"Title {d}" for d in range(70)],
        dates=[None if d % 11 == 3 else 1985 + d // 4 for d in range(70)],
        min_df=1,
        max_df=1.0,
    )


@pytest.fixture(scope="module")
def texts():
    return dated_corpus()


@pytest.fixture(scope="module", params=list(MODELS))
def pair(request, texts, tmp_path_factory):
    """A fitted model, and the same model in a store."""
    path = tmp_path_factory.mktemp("stored") / "small.topoi"
    model = MODELS[request.param]().fit(texts)
    model.save(path)
    return model, topoi.view(path)


def same(expected, found):
    pd.testing.assert_frame_equal(expected, found, check_dtype=False, rtol=1e-12, atol=1e-15)


def rows(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_the_graph_and_its_frames(pair):
    model, view = pair
    assert view.dag_ == model.dag_
    pd.testing.assert_frame_equal(model.edges(), view.edges())
    for n in (1, 3, 20):
        same(model.super_topics(n, n), view.super_topics(n, n))
    for n in (1, 3, 20, 21):
        assert view.node_labels(n) == model.node_labels(n)
    assert view.pruned_dag(0.1) == model.pruned_dag(0.1)


def test_nodes_are_counted_from_the_paths(pair):
    """Every token's path, followed by the graph's definition."""
    model, view = pair
    dag, first = model.dag_, model.chains_[0]
    names = []
    samples = first.averaged.samples
    pairs = [pair for sample in samples for pair in zip(sample["topic"], sample["path"], strict=True)]
    for topic, path in pairs:
        node, way, rest = dag.topics[topic], [dag.topics[topic]], int(path)
        while node != dag.root:
            for parent in dag.parents(node):
                number = int(first.graph.n_paths[dag.nodes.index(parent)])
                if rest < number:
                    break
                rest -= number
            node = parent
            way.append(node)
        names.append(way)
    through = pd.Series([name for way in names for name in way]).value_counts() / len(samples)
    stored = rows(view.store.path, "SELECT name, n_tokens FROM dag_node")
    assert dict(stored) == {name: whole_tokens(through.get(name, 0)) for name in dag.nodes}
    doc = np.repeat(np.arange(model.corpus_.n_docs), model.corpus_.doc_lengths).tolist() * len(samples)
    expected = {}
    for d, way in zip(doc, names, strict=True):
        for name in way:
            if name != dag.root and dag.children(name):
                expected[d, dag.nodes.index(name)] = expected.get((d, dag.nodes.index(name)), 0) + 1
    found = rows(view.store.path, "SELECT document_id, node, n_tokens FROM document_node")
    rounded = {at: int(whole_tokens(n / len(samples))) for at, n in expected.items()}
    assert {(d, v): n for d, v, n in found} == {at: n for at, n in rounded.items() if n}


def test_documents_and_years_of_nodes(pair):
    model, view = pair
    for name in model.dag_.nodes[1:]:
        for n in (4, 201):
            expected = topoi.node_documents(model, name, n)
            same(expected, topoi.node_documents(view, name, n))
        shares = model.doc_node_[expected["document"], model.dag_.nodes.index(name)]
        assert np.allclose(expected["share"], shares, rtol=1e-12) and (np.diff(shares) <= 0).all()
    for document in (0, "d16", 7):
        same(topoi.document_nodes(model, document), topoi.document_nodes(view, document))
    same(topoi.document_nodes(model, 5, n=1), topoi.document_nodes(view, 5, n=1))
    for by in ("year", "decade"):
        expected = topoi.node_trends(model, by=by)
        same(expected, topoi.node_trends(view, by=by))
    if len(model.super_nodes):
        assert set(expected["node"]) == {model.dag_.nodes[v] for v in model.super_nodes}
        whole = topoi.topic_trends(model, by="decade").groupby("decade")["n_words"].sum()
        expected_words = (expected["share"] * whole[expected["decade"]].to_numpy()).round(9)
        assert whole_tokens(expected_words).tolist() == expected["n_words"].tolist()


TEXTS = ["A comet above the harbor, the gene of a star, light in the tissue", "sun sun sun", "tide"]


def test_new_texts_are_sampled_as_the_model_samples_them(pair):
    model, view = pair
    assert np.array_equal(view.transform(TEXTS), model.transform(TEXTS))
    plan = {"burn_in": 3, "n_samples": 4, "lag": 2}
    assert np.array_equal(view.transform(TEXTS, **plan), model.transform(TEXTS, **plan))
    for text in (*TEXTS, "nothing known"):
        for seed in (None, 7):
            expected = topoi.label_words(model, text, random_state=seed)
            pd.testing.assert_frame_equal(expected, topoi.label_words(view, text, random_state=seed))
    assert view.transform([""]).shape == (1, model.topic_word_.shape[0])


def test_a_documents_topics_are_posterior_means_over_paths(pair):
    model, view = pair
    for document in (0, 5, 7):
        expected = topoi.document_topics(model, document)
        same(expected, topoi.document_topics(view, document))
        assert np.allclose(expected["share"], model.doc_topic_[document][expected["topic"]], rtol=1e-12)
    for topic in range(view.n_topics):
        expected = topoi.topic_documents(model, topic, n=60)
        same(expected, topoi.topic_documents(view, topic, n=60))
        assert np.allclose(expected["share"], model.doc_topic_[expected["document"], topic], rtol=1e-12)
        stored = rows(
            view.store.path, f"SELECT document_id, share FROM topic_document WHERE topic = {topic} ORDER BY rank"
        )
        some = expected[expected["n_words"] > 0]
        assert [d for d, _ in stored][: len(some)] == some["document"].tolist()
        assert np.allclose([share for _, share in stored][: len(some)], some["share"], rtol=1e-12)
    expected = topoi.document_topics(model, TEXTS[0])
    same(expected, topoi.document_topics(view, TEXTS[0]))
    assert np.array_equal(expected["share"], model.transform(TEXTS[:1])[0][expected["topic"]])
    for measure in ("jensen-shannon", "symmetrised-kl"):
        for document in (0, TEXTS[0]):
            expected = topoi.similar_documents(model, document, measure=measure)
            same(expected, topoi.similar_documents(view, document, measure=measure))


def test_the_stored_sample_labels_a_document(pair):
    """Each word's probabilities given all others, by the plain formulas over the whole model's counts."""
    model, view = pair
    first, corpus = model.chains_[0], model.corpus_
    for d in (0, 9, 7):
        here = slice(corpus.doc_start[d], corpus.doc_start[d + 1])
        counts = first.counts._replace(word_topic=first.counts.word_topic.copy(), topic=first.counts.topic.copy())
        # The document counts as in the last sample, all others by their means.
        own = [(sample["topic"], -1.0 / first.n_samples) for sample in first.averaged.samples]
        for topics, weight in [*own, (first.assignments.topic, 1.0)]:
            for word, topic in zip(corpus.tokens[here], topics[here], strict=True):
                equations.move_word(counts, word, topic, weight)
        tally, reach = equations.new_tally(first.graph), np.empty(len(first.graph.n_paths))
        weights, expected = np.empty(first.n_topics), []
        tokens = list(zip(corpus.tokens[here], *(each[here] for each in first.assignments), strict=True))
        for _, topic, path in tokens:
            equations.move_path(first.graph, tally, topic, path, 1)
        for word, topic, path in tokens:
            equations.move_path(first.graph, tally, topic, path, -1)
            equations.move_word(counts, word, topic, -1)
            equations.reach_nodes(first.graph, tally, first.priors, reach)
            equations.topic_weights(first.graph, tally, counts, first.priors, reach, word, weights)
            expected.append(weights / weights.sum())
            equations.move_word(counts, word, topic, 1)
            equations.move_path(first.graph, tally, topic, path, 1)
        frame = topoi.label_document(view, d)
        assert np.allclose(frame["topic_probability"], [p.max() for p in expected], rtol=1e-5)
        assert frame["topic"].tolist() == [p.argmax() for p in expected]
        sampled = topoi.label_document(view, d, burn_in=5, n_samples=3)
        assert sampled["word_id"].tolist() == corpus.tokens[here].tolist()
        pd.testing.assert_frame_equal(sampled, topoi.label_document(view, d, burn_in=5, n_samples=3))


def test_more_documents_of_a_topic_than_are_ranked_are_worked_out(texts, tmp_path, monkeypatch):
    model = MODELS["four levels"]().fit(texts)
    model.save(tmp_path / "s.topoi")
    with closing(sqlite3.connect(tmp_path / "s.topoi")) as connection, connection:
        connection.execute("DELETE FROM topic_document WHERE rank > 3")
    monkeypatch.setattr(graph_view, "N_RANKED", 3)
    view = topoi.view(tmp_path / "s.topoi")
    for n in (2, 3, 4, 50):
        same(topoi.node_documents(model, "sub 1", n), topoi.node_documents(view, "sub 1", n))


def test_a_model_without_a_graph_says_so(texts, tmp_path):
    model = topoi.LDA(2, n_iter=2, random_state=0).fit(texts)
    model.save(tmp_path / "s.topoi")
    view = topoi.view(tmp_path / "s.topoi")
    for ask in (
        lambda m: topoi.node_documents(m, "super 0"),
        lambda m: topoi.document_nodes(m, 0),
        topoi.node_trends,
    ):
        for each in (model, view):
            with pytest.raises(ModelError, match="LDA has no graph of topics; fit a PachinkoAllocation"):
                ask(each)
    for ask in (
        lambda: view.dag_,
        lambda: view.edges(),
        lambda: view.super_topics(),
        lambda: view.node_labels(),
        lambda: view.pruned_dag(),
    ):
        with pytest.raises(ModelError, match="LDA has no graph"):
            ask()


def test_what_is_not_there(pair):
    for each in pair:
        with pytest.raises(NotFoundError, match="no node 'supper 0'"):
            topoi.node_documents(each, "supper 0")
        with pytest.raises(NotFoundError, match="there is no node 99"):
            topoi.node_documents(each, 99)
        with pytest.raises(ModelError, match="is the root"):
            topoi.node_documents(each, "root")
        with pytest.raises(NotFoundError, match="no document with the id or title 'star moon'"):
            topoi.document_nodes(each, "star moon")
        with pytest.raises(ModelError, match="no column 'venue'; there are: "):
            topoi.node_trends(each, by="venue")


DAMAGE = {
    "a node that is not there": "UPDATE dag_edge SET child = 99 WHERE parent = 1 AND position = 0",
    "a parent that is not there": "UPDATE dag_edge SET parent = 99 WHERE parent = 1",
    "an edge is missing": "DELETE FROM dag_edge WHERE parent = 2 AND position = 1",
    "a node is missing": "DELETE FROM dag_node WHERE node = 3",
    "a topic of another node": "UPDATE dag_node SET topic = 0 WHERE topic = 1",
    "another name": "UPDATE dag_node SET name = 'other' WHERE node = 2",
    "alpha is text": "UPDATE dag_edge SET alpha = 'much' WHERE parent = 1",
    "alpha is zero": "UPDATE dag_edge SET alpha = 0 WHERE parent = 1",
    "alpha is negative": "UPDATE dag_edge SET alpha = -1 WHERE parent = 1",
    "alpha is too large": "UPDATE dag_edge SET alpha = 1e300 WHERE parent = 1",
    "a path that is not there": "UPDATE document_path SET paths = filled(length(paths))",
    "paths are missing": "DELETE FROM document_path",
    "paths of another length": "UPDATE document_path SET paths = x'00'",
    "paths are text": "UPDATE document_path SET paths = 'abc'",
    "a larger model": "UPDATE model SET bundle = replace(bundle, '\"n_super\": 3', '\"n_super\": 1000000000')",
    "the graph is a number": "UPDATE model SET bundle = replace(bundle, '\"dag\": null', '\"dag\": 7')",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_a_store_error_before_a_kernel_sees_it(texts, tmp_path, what):
    path = tmp_path / "s.topoi"
    MODELS["four levels"]().set_params(n_iter=3).fit(texts).save(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.create_function("filled", 1, lambda n: b"\x03" * n)  # there are three, numbered from 0
        assert connection.execute(DAMAGE[what]).rowcount != 0
    view = topoi.view(path)
    questions = [
        lambda: topoi.label_document(view, 0, burn_in=2),
        lambda: view.transform(["star moon"]),
        lambda: topoi.label_words(view, "star moon"),
        lambda: topoi.topic_documents(view, 0),
        lambda: topoi.document_topics(view, 0),
    ]
    refused = 0
    for ask in questions:
        try:
            ask()
        except StoreError as error:
            refused += 1
            assert "s.topoi" in str(error)
    assert refused == (3 if "path" in what else 5)
    if what != "a topic too many":
        assert view.topic_sizes()["n_words"].sum() > 0


@pytest.mark.parametrize(
    "damage", ["DELETE FROM topic WHERE topic = 4", "UPDATE model SET bundle = '{\"settings\": {}}'"]
)
def test_damage_that_is_seen_at_the_door(texts, tmp_path, damage):
    path = tmp_path / "s.topoi"
    MODELS["four levels"]().set_params(n_iter=3).fit(texts).save(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    for use in (topoi.view, topoi.load):
        with pytest.raises(StoreError, match=r"s\.topoi.*damaged"):
            use(path)


WRONG_NUMBERS = {
    "documents": "UPDATE document_node SET node = 77 WHERE document_id = 0",
    "years": "UPDATE node_trend SET node = 77 WHERE node = 1",
    "another year": "UPDATE node_trend SET year = 3000 WHERE year = 1990",
    "words": "UPDATE dag_node SET words = '7'",
}


@pytest.mark.parametrize("what", WRONG_NUMBERS)
def test_rows_of_nodes_that_are_not_there(texts, tmp_path, what):
    path = tmp_path / "s.topoi"
    MODELS["four levels"]().set_params(n_iter=3).fit(texts).save(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(WRONG_NUMBERS[what]).rowcount > 0
    view = topoi.view(path)
    ask = {"documents": lambda: topoi.document_nodes(view, 0), "words": lambda: view.node_labels(3)}
    with pytest.raises(StoreError, match=r"s\.topoi"):
        ask.get(what, lambda: topoi.node_trends(view))()


FOUND = {
    "column parent of table dag_edge names a node": "UPDATE dag_edge SET parent = 99 WHERE parent = 1",
    "column child of table dag_edge names a node": DAMAGE["a node that is not there"],
    "column node of table document_node names a node": WRONG_NUMBERS["documents"],
    "column node of table node_trend names a node": WRONG_NUMBERS["years"],
    "column topic of table dag_node names a topic": "UPDATE dag_node SET topic = 5 WHERE topic = 4",
    "column alpha of table dag_edge holds": DAMAGE["alpha is text"],
    "column paths of table document_path holds": DAMAGE["paths are text"],
    "column node of table dag_node holds": "UPDATE dag_node SET node = -1 WHERE node = 2",
}


@pytest.mark.parametrize("what", FOUND)
def test_damage_is_found_and_named(texts, tmp_path, what):
    path = tmp_path / "s.topoi"
    MODELS["four levels"]().set_params(n_iter=3).fit(texts).save(path)
    store = topoi.open_store(path)
    with store.connection() as connection:
        assert find_damage(connection) is None
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(FOUND[what])
    with store.connection() as connection:
        assert find_damage(connection).startswith(what)
