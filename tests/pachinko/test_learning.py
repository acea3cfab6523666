"""Dirichlet parameters: known ones are found again from documents of 20 to 200 tokens, at any node of a graph."""

import numpy as np
import pytest

from pachinko.small_states import DAGS, all_paths, make_documents, random_state
from topoi.kernels.dirichlet import CountHistogram, learn_dirichlet
from topoi.kernels.moments import Proportions, match_moments
from topoi.models.graph import make_graph, slot_children
from topoi.models.pachinko.equations import Paths
from topoi.models.pachinko.learning import learn_alpha
from topoi.models.pachinko.statistics import add_proportions, slot_counts

TRUE = {"sum 20": np.array([8.0, 2.0, 6.0, 4.0]), "sum 1": np.array([0.05, 0.6, 0.1, 0.25])}


def simulated(true, n_tokens, n_docs=6000, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(n_tokens // 2, n_tokens * 3 // 2 + 1, n_docs)
    return np.array([rng.multinomial(n, theta) for n, theta in zip(lengths, rng.dirichlet(true, n_docs), strict=True)])


@pytest.mark.parametrize("n_tokens", [20, 60, 200])
@pytest.mark.parametrize("name", TRUE)
def test_corrected_moments_and_likelihood_recover_known_parameters(name, n_tokens):
    true, counts = TRUE[name], simulated(TRUE[name], n_tokens)
    np.testing.assert_allclose(match_moments(Proportions.of_counts(counts), np.ones(4)), true, rtol=0.12)
    d, j = np.nonzero(counts)
    histogram = CountHistogram.from_counts(j, counts[d, j], counts.sum(axis=1), 4)
    np.testing.assert_allclose(learn_dirichlet(histogram, np.ones(4), False, n_steps=2000), true, rtol=0.12)


@pytest.mark.parametrize(("n_tokens", "found"), [(20, 9.5), (200, 18.1), (20_000, 20.0)])
def test_the_papers_rule_recovers_them_only_from_long_documents(n_tokens, found):
    """It tends to s (n − 1) / (s + n), lengths being equal."""
    rng = np.random.default_rng(1)
    counts = rng.multinomial(n_tokens, rng.dirichlet(TRUE["sum 20"], 6000))
    learned = match_moments(Proportions.of_counts(counts), np.ones(4), corrected=False)
    assert learned.sum() == pytest.approx(found, rel=0.05)
    np.testing.assert_allclose(learned / learned.sum(), TRUE["sum 20"] / 20, rtol=0.05)


def test_nothing_to_learn_from_and_no_variance():
    start = np.array([0.3, 0.7])
    nobody = Proportions.of_counts(np.zeros((5, 2), np.int64))
    assert match_moments(nobody, start) is start
    alone = Proportions.of_counts(np.full((5, 1), 7))
    assert match_moments(alone, np.ones(1)).tolist() == [1.0]
    for corrected in (False, True):
        for counts in (
            np.full((50, 2), 3),
            np.array([[4, 0]] * 50),
            np.array([[1, 0], [0, 1]] * 20),
            np.array([[1, 0]]),
        ):
            found = match_moments(Proportions.of_counts(counts), start, corrected)
            assert np.isfinite(found).all() and (found > 0).all()


@pytest.mark.parametrize("name", DAGS)
def test_counts_of_nodes_equal_those_of_the_paths(name):
    """The sums and the lists of counts, against plain Python over the paths."""
    dag = DAGS[name]
    documents, paths, _, _, graph, (docs, states, _, _) = random_state(dag, np.random.default_rng(2), n_docs=9)
    nodes = list(dag.nodes)
    ways = all_paths(dag)
    first, second = np.zeros(graph.slot_start[-1]), np.zeros(graph.slot_start[-1])
    n_docs, inverse = np.zeros(len(nodes)), np.zeros(len(nodes))
    add_proportions(documents, paths, graph, n_docs, inverse, first, second)
    table = np.zeros((len(docs), graph.slot_start[-1]), np.int64)
    token = iter(states)
    for d, words in enumerate(docs):
        for _ in words:
            k, path = next(token)
            for node, child in ways[k][path]:
                table[d, graph.slot_start[nodes.index(node)] + slot_children(dag)[node].index(child)] += 1
    for u in range(len(nodes)):
        here = slice(graph.slot_start[u], graph.slot_start[u + 1])
        if here.start < here.stop:
            found = Proportions(n_docs[u], inverse[u], first[here], second[here])
            for ours, plain in zip(found, Proportions.of_counts(table[:, here]), strict=True):
                np.testing.assert_allclose(ours, plain)
    slots, numbers, at, totals, *_ = slot_counts(documents, paths, graph)
    assert np.array_equal(np.bincount(slots, numbers, graph.slot_start[-1]), table.sum(axis=0))
    assert len(slots) == (table > 0).sum()
    inner = [u for u in range(len(nodes)) if graph.slot_start[u] < graph.slot_start[u + 1]]
    sums = [table[:, graph.slot_start[u] : graph.slot_start[u + 1]].sum() for u in inner]
    assert np.bincount(at, totals, len(nodes))[inner].tolist() == sums


def documents_with_paths(dag, alpha, n_docs, length, seed):
    """Paths drawn from the prior with known parameters; words do not matter here."""
    rng = np.random.default_rng(seed)
    graph, ways = make_graph(dag), all_paths(dag)
    flat = [(k, p) for k, each in enumerate(ways) for p in range(len(each))]
    drawn = []
    for _ in range(n_docs):
        theta = {}
        for u, (node, below) in enumerate(slot_children(dag).items()):
            if below:
                mine = rng.dirichlet(alpha[graph.slot_start[u] : graph.slot_start[u + 1]])
                theta |= {(node, child): x for child, x in zip(below, mine, strict=True)}
        p = np.array([np.prod([theta[slot] for slot in ways[k][path]]) for k, path in flat])
        drawn += [flat[i] for i in rng.choice(len(flat), length, p=p / p.sum())]
    paths = Paths(np.array([k for k, _ in drawn], np.uint16), np.array([p for _, p in drawn], np.uint32))
    return make_documents([[0] * length] * n_docs), paths, graph


@pytest.mark.parametrize("rule", ["moments", "ml"])
@pytest.mark.parametrize("name", ["four levels", "diamond", "words and topics"])
def test_every_node_of_a_graph_is_learned_and_the_root_stays(name, rule):
    dag = DAGS[name]
    n_slots = sum(map(len, slot_children(dag).values()))
    true = np.random.default_rng(6).uniform(0.5, 4.0, n_slots)
    documents, paths, graph = documents_with_paths(dag, true, 1500, 100, 7)
    learned = np.full(n_slots, 1.0)
    for _ in range(40 if rule == "ml" else 1):
        learned = learn_alpha(graph, [(documents, paths)], learned, rule)
    root = len(dag.children(dag.root))
    assert (learned[:root] == 1.0).all()
    for u in range(1, len(dag.nodes)):
        here = slice(graph.slot_start[u], graph.slot_start[u + 1])
        if here.stop - here.start > 1:
            np.testing.assert_allclose(learned[here], true[here], rtol=0.2)
