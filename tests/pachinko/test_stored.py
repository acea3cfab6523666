"""A pachinko model in a store answers as the model itself does: its graph, its documents and years."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import topoi
from pachinko.test_estimator import ODD

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
    for topic, path in zip(*first.assignments, strict=True):
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
    through = pd.Series([name for way in names for name in way]).value_counts()
    stored = rows(view.store.path, "SELECT name, n_tokens FROM dag_node")
    assert dict(stored) == {name: through.get(name, 0) for name in dag.nodes}
    doc = np.repeat(np.arange(model.corpus_.n_docs), model.corpus_.doc_lengths)
    expected = {}
    for d, way in zip(doc.tolist(), names, strict=True):
        for name in way:
            if name != dag.root and dag.children(name):
                expected[d, dag.nodes.index(name)] = expected.get((d, dag.nodes.index(name)), 0) + 1
    found = rows(view.store.path, "SELECT document_id, node, n_tokens FROM document_node")
    assert {(d, v): n for d, v, n in found} == expected


def test_documents_and_years_of_nodes(pair):
    model, view = pair
    for name in model.dag_.nodes[1:]:
        for n in (4, 100):
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
        assert (expected["share"] * whole[expected["decade"]].to_numpy()).round(9).tolist() == expected[
            "n_words"
        ].tolist()
