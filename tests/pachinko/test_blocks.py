"""Moves of whole blocks of tokens: their weights against brute force, and what they leave alone."""

import numpy as np
import pytest
from scipy.special import gammaln

from pachinko.small_states import log_joint, make_state, random_state
from topoi.kernels.random import new_stream
from topoi.models.dag import Dag
from topoi.models.pachinko.blocks import list_blocks, make_room, move_blocks, weigh_block


@pytest.mark.parametrize("seed", range(6))
def test_a_block_is_drawn_from_the_joint(seed):
    dag = Dag.from_levels(4, 3)
    rng = np.random.default_rng(seed)
    documents, paths, _, priors, _, (docs, states, alpha, beta) = random_state(dag, rng, n_docs=3, length=5, low=0.01)
    room = make_room(priors, 4, 3, 5)
    for d in range(3):
        here = range(documents.doc_start[d], documents.doc_start[d + 1])
        for b in range(list_blocks(paths, here[0], here[-1] + 1, room)):
            block = room.order[room.start[b] : room.start[b + 1]]
            s0 = int(paths.path[block[0]])
            assert block.tolist() == [i for i in here if paths.path[i] == s0]
            weigh_block(paths, b, s0, room)
            free = [s for s in range(4) if s == s0 or s not in paths.path[here]]
            assert np.flatnonzero(room.weight).tolist() == free
            moved = [[(k, s if i in block else p) for i, (k, p) in enumerate(states)] for s in free]
            logs = np.array([log_joint(dag, docs, state, alpha, beta) for state in moved])
            exact = np.exp(logs - logs.max())
            np.testing.assert_allclose(room.weight[free] / room.weight.sum(), exact / exact.sum(), rtol=2e-5)
    assert not room.number.any()


def test_long_blocks_stay_in_range():
    """Twenty thousand tokens: products that float64 cannot hold, and more than the table of divisions."""
    n, n_super, n_sub = 20_000, 3, 4
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0.001, 3.0, n_super + n_super * n_sub)
    topics = rng.choice(n_sub, n, p=[0.4, 0.3, 0.2, 0.1])
    states = [(int(k), 1) for k in topics]
    _, paths, _, priors, _ = make_state(Dag.from_levels(n_super, n_sub), [[0] * n], states, alpha, np.ones(2))
    room = make_room(priors, n_super, n_sub, n)
    assert list_blocks(paths, 0, n, room) == 1
    weigh_block(paths, 0, 1, room)
    a = np.asarray(priors.alpha, float)[n_super:].reshape(n_super, n_sub)
    logs = (gammaln(np.bincount(topics) + a) - gammaln(a)).sum(axis=1)
    logs -= gammaln(n + a.sum(axis=1)) - gammaln(a.sum(axis=1))
    root = np.asarray(priors.alpha, float)[:n_super]
    logs += gammaln(n + root) - gammaln(root)
    exact = np.exp(logs - logs.max())
    np.testing.assert_allclose(room.weight / room.weight.max(), exact, rtol=1e-6, atol=1e-300)


def test_only_super_topics_change_and_blocks_stay_together():
    dag = Dag.from_levels(6, 4)
    documents, paths, _, priors, _, _ = random_state(dag, np.random.default_rng(1), n_docs=30, length=12)
    before = paths.path.copy()
    topics = paths.topic.copy()
    stream = new_stream(3)
    while np.array_equal(paths.path, before):  # half of the calls do nothing
        move_blocks(documents, np.arange(30), paths, priors, 6, 4, stream)
    assert np.array_equal(paths.topic, topics)
    for d in range(30):
        here = slice(documents.doc_start[d], documents.doc_start[d + 1])
        pairs = set(zip(before[here].tolist(), paths.path[here].tolist(), strict=True))
        assert len(pairs) == len(set(before[here].tolist())) == len(set(paths.path[here].tolist()))


def test_only_the_documents_asked_for_move():
    dag = Dag.from_levels(6, 4)
    documents, paths, _, priors, _, _ = random_state(dag, np.random.default_rng(1), n_docs=30, length=12)
    before = paths.path.copy()
    stream = new_stream(3)
    while np.array_equal(paths.path, before):
        move_blocks(documents, np.array([3, 17]), paths, priors, 6, 4, stream)
    moved = np.repeat(np.arange(30), np.diff(documents.doc_start))[paths.path != before]
    assert set(moved.tolist()) <= {3, 17}


def test_one_super_topic_takes_no_random_number():
    documents, paths, _, priors, _, _ = random_state(Dag.from_levels(1, 3), np.random.default_rng(0))
    stream = new_stream(1)
    move_blocks(documents, np.arange(4), paths, priors, 1, 3, stream)
    assert np.array_equal(stream, new_stream(1)) and not paths.path.any()
