"""The samplers' long-run frequencies of whole paths against the exact posterior, by summing over every state."""

import numpy as np
import pytest

from author_topic.test_enumeration import batch_errors
from pachinko.small_states import DAGS, choices, exact_posterior, make_state, random_alpha
from pachinko.sweeps import SWEEPS, sweeps_for
from thinning import slow_unless
from topoi.kernels.random import new_stream

BETA = np.array([0.5, 0.2, 0.9])
N_SWEEPS, N_BATCHES = 10_000, 30


def corpus_for(dag):
    """As many tokens as leave a few thousand states."""
    return [[0, 1], [2, 0]] if len(choices(dag)) > 5 else [[0, 1, 1], [2, 0]]


def frequencies_of(dag, kind, alpha, told, seed=1):
    """Visits to each state in batches, the sampler being told the prior ``told``; and the exact probabilities."""
    docs = corpus_for(dag)
    states, exact = exact_posterior(dag, docs, alpha, BETA)
    documents, paths, counts, priors, graph = make_state(dag, docs, states[0], told, BETA)
    n_paths = graph.n_paths[graph.topic_node]
    first = np.cumsum(n_paths) - n_paths
    found = []
    for batch in range(N_BATCHES):
        visits = np.zeros(len(states), np.int64)
        stream = new_stream(seed, batch)
        visit = SWEEPS[kind].visit
        visit(documents, paths, counts, priors, graph, first, len(choices(dag)), N_SWEEPS, stream, visits)
        found.append(visits / visits.sum())
    return np.array(found), exact


CASES = [(name, kind) for name in DAGS for kind in sweeps_for(DAGS[name])]


@pytest.mark.parametrize(("name", "kind"), slow_unless(lambda case: case[0] != "LDA" or case[1] == CASES[0][1], CASES))
def test_matches_enumeration(name, kind):
    alpha = random_alpha(DAGS[name], np.random.default_rng(3), 0.2, 1.2)
    frequencies, exact = frequencies_of(DAGS[name], kind, alpha, alpha)
    assert batch_errors(frequencies, exact).max() < 4.5
    # Total variation: independent draws would give this much; sweeps are a little correlated.
    independent = 0.5 * np.sqrt(2 * exact * (1 - exact) / (np.pi * N_SWEEPS * N_BATCHES)).sum()
    assert 0.5 * np.abs(frequencies.mean(axis=0) - exact).sum() < 1.6 * independent


@pytest.mark.parametrize("slot", [0, -1], ids=["at the root", "further down"])
def test_enumeration_notices_one_wrong_parameter(slot):
    """The test above can fail: one component of one Dirichlet a little larger is far outside its bounds."""
    dag = DAGS["diamond"]
    alpha = random_alpha(dag, np.random.default_rng(3), 0.2, 1.2)
    told = alpha.copy()
    told[slot] *= 1.3
    frequencies, exact = frequencies_of(dag, "any graph, plain", alpha, told)
    assert batch_errors(frequencies, exact).max() > 6
