"""Estimates of the sparse schemes are made from exact sweeps, wherever a fit ends: enumeration, bits, growth."""

from itertools import product

import numpy as np
import pytest

import topoi
from models.test_sparse_fits import MODELS, digest
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import sweep_chains
from topoi.models.author_topic.state import AuthorTopicSampler
from topoi.models.graph import slot_children
from topoi.models.inputs import WeightedAuthors
from topoi.models.pachinko.state import PachinkoSampler

TINY = topoi.Corpus.from_tokens([["a", "b"], ["b"]])
GRAPHS = {
    "four levels": topoi.Dag.from_levels(2, 2),
    "any graph": topoi.Dag.from_dict({"root": {"a": ["x", "y"], "b": ["y"], "z": None}}),
}
N_SWEEPS = 2400


def estimates(model):
    """The assignments that estimates are made from."""
    return [array.tolist() for chain in model.chains_ for array in chain.assignments]


def tiny_sampler(name):
    """A pruned sampler for the tiny corpus, and every state of one token: a topic, and a path to it."""
    beta = np.full(TINY.n_words, 0.3)
    if name == "LDA":
        lists = WeightedAuthors.private(TINY.n_docs)
        return AuthorTopicSampler(TINY, lists, np.full(3, 0.4), beta, sparse="pruned"), [(k, 0) for k in range(3)]
    dag = GRAPHS[name]
    alpha = np.full(sum(len(below) for below in slot_children(dag).values()), 0.4)
    sampler = PachinkoSampler(TINY, dag, alpha, beta, sparse="pruned")
    n_paths = sampler.graph.n_paths[sampler.graph.topic_node]
    return sampler, [(k, p) for k in range(sampler.n_topics) for p in range(int(n_paths[k]))]


def state_of(sampler, chain):
    arrays = sampler.to_arrays(chain)
    return tuple(zip(arrays["topic"].tolist(), arrays.get("path", np.zeros(TINY.n_tokens)).astype(int), strict=True))


def posterior(sampler, choices):
    """Every state's exact probability, from the log joint."""
    arrays, found = sampler.to_arrays(sampler.start(0, 0)), {}
    for state in product(choices, repeat=TINY.n_tokens):
        topic, path = np.array(state).T
        given = arrays | {"topic": topic.astype(np.uint16), "path": path.astype(np.uint32)}
        found[state] = sampler.log_joint(sampler.restore(0, given, []))
    values = np.array(list(found.values()))
    p = np.exp(values - values.max())
    return dict(zip(found, p / p.sum(), strict=True))


def total_variation(visits, exact):
    total = sum(visits.values())
    return 0.5 * sum(abs(visits.get(state, 0) / total - p) for state, p in exact.items())


@pytest.mark.parametrize("name", ["LDA", *GRAPHS])
def test_settled_states_have_the_exact_posterior_after_even_and_odd_sweeps(name):
    sampler, choices = tiny_sampler(name)
    exact, chain = posterior(sampler, choices), sampler.start(1, 0)
    raw, settled = ({}, {}), ({}, {})
    for sweep in range(1, N_SWEEPS + 1):
        sweep_chains(sampler, [chain], sweep, 1, SerialExecutor())
        for visits, which in ((raw, chain), (settled, sampler.settled([chain], sweep, 1, SerialExecutor())[0])):
            state = state_of(sampler, which)
            visits[sweep % 2][state] = visits[sweep % 2].get(state, 0) + 1
    p = np.array(list(exact.values()))
    noise = 0.5 * np.sqrt(2 * p * (1 - p) / (np.pi * N_SWEEPS / 2)).sum()
    assert total_variation(raw[0], exact) > 0.25  # what a fit of an even number of sweeps used to end on
    assert max(total_variation(visits, exact) for visits in settled) < noise + 0.03


@pytest.fixture(scope="module")
def corpus():
    return topoi.PachinkoAllocation(3, 6, alpha=0.2, root_alpha=0.3, beta=0.05).simulate(260, 25, random_state=3)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("last", [7, 8])
def test_a_fit_that_ends_while_documents_come_in_has_them_all_and_goes_on_as_ever(corpus, name, last, tmp_path):
    options = {"sparse": True, "n_iter": 20, "random_state": 4, "n_shards": 2}
    whole = MODELS[name](**options).fit(corpus)
    early = MODELS[name](**options).fit(corpus, callback=lambda info: info.sweep == last)
    assert early.n_iter_ == last and early.fit_info_["documents_in"] == 200
    assert early._settled[0].counts.topic.sum() == corpus.n_tokens
    assert np.allclose(early.doc_topic_.sum(axis=1), 1.0)
    early.save(tmp_path / "early.topoi")
    loaded = topoi.load(tmp_path / "early.topoi")
    assert estimates(loaded) == estimates(early) and digest(loaded) == digest(early)
    assert np.array_equal(loaded.topic_word_, early.topic_word_)
    assert digest(loaded.resume(20 - last)) == digest(early.resume(20 - last)) == digest(whole)
    assert estimates(loaded) == estimates(early) == estimates(whole)
    assert "documents_in" not in early.fit_info_


@pytest.mark.parametrize("name", MODELS)
def test_settling_leaves_the_chain_alone_and_learns_nothing(corpus, name):
    learn = "symmetric" if name == "LDA" else "moments"
    model = MODELS[name](sparse="pruned", n_iter=30, random_state=4, learn_alpha=learn).fit(corpus)
    chain, settled = model._chains[0], model._settled[0]
    before = digest(model)
    arrays = model._sampler.to_arrays(chain)
    again = model._sampler.settled(model._chains, 30, 4, SerialExecutor())[0]
    for name_, array in model._sampler.to_arrays(chain).items():
        assert np.array_equal(array, arrays[name_], equal_nan=True)
    for name_, array in model._sampler.to_arrays(again).items():
        assert np.array_equal(array, model._sampler.to_arrays(settled)[name_], equal_nan=True)
    assert np.array_equal(settled.priors.alpha, chain.priors.alpha)
    assert not np.array_equal(arrays["topic"], model._sampler.to_arrays(settled)["topic"])
    assert digest(model) == before


@pytest.mark.parametrize("sparse", [False, "counts"])
def test_exact_schemes_are_not_settled(corpus, sparse):
    model = topoi.LDA(7, sparse=sparse, n_iter=6, random_state=4).fit(corpus)
    assert model._settled is model._chains
