"""Small graphs and states with their exact posteriors by brute force, written from the model's definition alone."""

from itertools import product

import numpy as np

from author_topic.small_states import dirichlet_multinomial, empty_counts
from author_topic.small_states import make_documents as documents_of
from topoi.models.dag import WORDS, Dag
from topoi.models.graph import make_graph, slot_children
from topoi.models.pachinko.equations import Paths, count
from topoi.models.pachinko.state import make_priors

DAGS = {
    "LDA": Dag.from_levels(3),
    "four levels": Dag.from_levels(2, 3),
    "three super-topics": Dag.from_levels(3, 2),
    "skipping edges": Dag.from_dict({"root": {"a": ["x", "y"], "x": None, "y": None}}),
    "diamond": Dag.from_dict({"root": {"a": ["m"], "b": ["m", "x"]}, "m": ["x", "y"]}),
    "words and topics": Dag.from_dict({"root": {"a": ["x", WORDS], "b": ["x", "y", WORDS]}}),
    "words at the root": Dag.from_dict({"root": ["a", "b", WORDS], "a": ["b", WORDS], "b": None}),
    "five levels": Dag.from_levels(2, 1, 2),
}


def make_documents(docs):
    """Documents from lists of word numbers."""
    return documents_of([(words, [-1]) for words in docs], 0)


def all_paths(dag):
    """For each topic its paths, as tuples of slots (node, child), in the order of their numbers."""
    inner = {name for name in dag.topics if dag.children(name)}

    def ways(node):
        if node == dag.root:
            return [()]
        return [(*path, (parent, node)) for parent in dag.parents(node) for path in ways(parent)]

    return [[(*path, *(((name, WORDS),) if name in inner else ())) for path in ways(name)] for name in dag.topics]


def random_alpha(dag, rng, low=0.1, high=2.0):
    """A parameter for every slot, in the order of the graph's slots."""
    return rng.uniform(low, high, sum(map(len, slot_children(dag).values())))


def open_slots(dag, allowed):
    """Slots on a path to an allowed topic, by the definition: those that a document with these topics can draw."""
    return {slot for k, ways in enumerate(all_paths(dag)) if allowed[k] for path in ways for slot in path}


def log_joint(dag, docs, states, alpha, beta, allowed=None):
    """log P(words, paths): ``states`` has a (topic, path number) for every token; plain Python.

    ``allowed`` has for every document whether it may have each topic; the result is -inf if one has another.
    """
    paths = all_paths(dag)
    slots = [(node, child) for node, below in slot_children(dag).items() for child in below]
    by_topic = np.zeros((len(dag.topics), len(beta)), int)
    result = 0.0
    token = iter(states)
    for d, words in enumerate(docs):
        number = dict.fromkeys(slots, 0)
        is_open = set(slots) if allowed is None else open_slots(dag, allowed[d])
        for w in words:
            k, path = next(token)
            by_topic[k, w] += 1
            for slot in paths[k][path]:
                number[slot] += 1
            if allowed is not None and not allowed[d][k]:
                return -np.inf
        for node, below in slot_children(dag).items():
            left = [(node, child) for child in below if (node, child) in is_open]
            if left:
                prior = [alpha[slots.index(slot)] for slot in left]
                result += dirichlet_multinomial([number[slot] for slot in left], prior)
    return result + sum(dirichlet_multinomial(row, beta) for row in by_topic)


def choices(dag):
    """Every (topic, path number) that a token may have."""
    return [(k, path) for k, ways in enumerate(all_paths(dag)) for path in range(len(ways))]


def exact_posterior(dag, docs, alpha, beta):
    """Every state with its probability given the words."""
    states = list(product(choices(dag), repeat=sum(map(len, docs))))
    logs = np.array([log_joint(dag, docs, state, alpha, beta) for state in states])
    p = np.exp(logs - logs.max())
    return states, p / p.sum()


def make_state(dag, docs, states, alpha, beta):
    """Documents, paths, counts, priors and graph for the kernels."""
    documents, graph = make_documents(docs), make_graph(dag)
    paths = Paths(np.array([k for k, _ in states], np.uint16), np.array([p for _, p in states], np.uint32))
    counts = empty_counts(len(beta), len(dag.topics), 0)
    count(documents, paths, counts)
    return documents, paths, counts, make_priors(graph, alpha, beta), graph


def random_state(dag, rng, n_docs=4, n_words=6, length=8, low=0.1, high=2.0, allowed=None):
    """A random corpus, state and priors on a graph, with what brute force needs of them."""
    docs = [rng.integers(0, n_words, int(rng.integers(1, length + 1))).tolist() for _ in range(n_docs)]
    states = []
    for d, words in enumerate(docs):
        any_path = [choice for choice in choices(dag) if allowed is None or allowed[d][choice[0]]]
        states += [any_path[int(rng.integers(len(any_path)))] for _ in words]
    alpha, beta = random_alpha(dag, rng, low, high), rng.uniform(0.05, 1.0, n_words)
    return *make_state(dag, docs, states, alpha, beta), (docs, states, alpha, beta)


def random_dag(rng, n_inner=4, n_leaves=4):
    """A random graph: every node has one or more parents among the inner nodes before it."""
    names = [f"n{i}" for i in range(n_inner + n_leaves)]
    edges = []
    for i in range(1, len(names)):
        above = min(i, n_inner)
        chosen = rng.choice(above, int(rng.integers(1, above + 1)), replace=False)
        edges += [(names[u], names[i]) for u in sorted(chosen)]
    edges += [(names[u], WORDS) for u in range(n_inner) if rng.random() < 0.4]
    return Dag.from_edges(edges)
