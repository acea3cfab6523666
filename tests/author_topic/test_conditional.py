"""Each sampler's conditional probabilities against brute force from the joint, on random states."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from author_topic.small_states import log_joint, plain_weights, random_state
from topoi.kernels import lanes
from topoi.kernels.draw import draw_lanes, scratch_length
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream, next_bits
from topoi.models.author_topic.kernels import lane_weights
from topoi.models.author_topic.word_major import word_lane_weights


def brute_force(documents, assignments, i, d, n_topics, rest):
    """P(topic of token i | all other tokens), by evaluating the whole joint for every topic and author."""
    n_slots = documents.author_start[d + 1] - documents.author_start[d]
    topic, slot = assignments.topic.astype(int), assignments.slot.astype(int)
    logs = np.empty((n_topics, n_slots))
    for k in range(n_topics):
        for q in range(n_slots):
            topic[i], slot[i] = k, q
            logs[k, q] = log_joint(documents, topic, slot, *rest)
    p = np.exp(logs - logs.max())
    return p.sum(axis=1) / p.sum()


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 16, 17, 40]))
@settings(max_examples=60, deadline=None)
def test_plain_and_lane_weights_equal_brute_force(seed, n_topics):
    rng = np.random.default_rng(seed)
    documents, assignments, counts, priors, (n_words, n_authors, alpha, beta) = random_state(rng, n_topics=n_topics)
    i = int(rng.integers(len(documents.tokens)))
    d = int(np.searchsorted(documents.doc_start, i, side="right") - 1)
    exact = brute_force(documents, assignments, i, d, n_topics, (n_words, n_authors, alpha, beta))
    plain = plain_weights(documents, assignments, counts, priors, d, i)
    fast = lane_weights(documents, assignments, counts, priors, d, i)
    np.testing.assert_allclose(plain / plain.sum(), exact, atol=1e-6)
    np.testing.assert_allclose(fast / fast.sum(), exact, atol=1e-5)


@given(st.integers(0, 10**6), st.sampled_from([1, 3, 16, 100, 300]))
@settings(max_examples=60, deadline=None)
def test_lane_weights_equal_plain_with_tiny_priors(seed, n_topics):
    """Priors so small that leaving the token out by subtraction would lose its topic's weight to rounding."""
    rng = np.random.default_rng(seed)
    documents, assignments, counts, priors, _ = random_state(rng, n_topics=n_topics, length=30)
    priors = priors._replace(
        alpha=priors.alpha * np.float32(1e-3), alpha_sum=priors.alpha_sum * 1e-3, beta=priors.beta * np.float32(1e-3)
    )
    priors = priors._replace(beta_sum=float(priors.beta.astype(float).sum()))
    i = int(rng.integers(len(documents.tokens)))
    d = int(np.searchsorted(documents.doc_start, i, side="right") - 1)
    plain = plain_weights(documents, assignments, counts, priors, d, i)
    fast = lane_weights(documents, assignments, counts, priors, d, i)
    np.testing.assert_allclose(fast / fast.sum(), plain / plain.sum(), atol=1e-5)


@given(st.integers(0, 10**6), st.sampled_from([1, 5, 100, 1000]))
@settings(max_examples=40, deadline=None)
def test_word_order_weights_equal_the_equation(seed, n_topics):
    rng = np.random.default_rng(seed)
    _, _, counts, priors, (_, _, alpha, beta) = random_state(rng, n_topics=n_topics, length=30)
    width = counts.word_topic.shape[1]
    w, k0 = map(int, np.argwhere(counts.word_topic > 0)[0])
    doc_topic = np.zeros((2, width), np.uint16)
    doc_topic[1, :n_topics] = rng.integers(0, 3, n_topics)
    doc_topic[1, k0] += 1
    fast = word_lane_weights(doc_topic, counts, priors, 1, w, k0)
    one = np.eye(n_topics)[k0]
    exact = (counts.word_topic[w, :n_topics] - one + beta[w]) / (counts.topic - one + beta.sum())
    exact = exact * (doc_topic[1, :n_topics] - one + alpha)
    np.testing.assert_allclose(fast / fast.sum(), exact / exact.sum(), atol=1e-5)


@compiled
def tally(weights, own, n_draws, stream, visits):
    n = len(weights)
    running = np.full(scratch_length(n), np.float32(np.inf), np.float32)
    padded = np.zeros(16 * ((n + 15) // 16), np.float32)
    padded[:n] = weights
    own_weight = padded[own]
    padded[own] = np.float32(0.0)
    sums = lanes.splat(np.float32(0.0))
    for j in range(0, len(padded), 16):
        sums = lanes.add(sums, lanes.load(padded, j))
        lanes.store(running, j, sums)
    for _ in range(n_draws):
        visits[draw_lanes(running, sums, n, own, own_weight, next_bits(stream))] += 1


def test_lane_draw_has_the_given_probabilities():
    """Over several blocks and groups, with any topic as the token's own; p-values of many tables are not all small."""
    rng = np.random.default_rng(5)
    p_values = []
    for n in (1, 2, 5, 15, 16, 17, 31, 100, 128, 129, 300, 1000):
        for repeat in range(3):
            weights = rng.gamma(0.5, size=n).astype(np.float32) + np.float32(0.05)
            visits = np.zeros(n, np.int64)
            tally(weights, int(rng.integers(n)), 300_000, new_stream(9, n, repeat), visits)
            assert visits.sum() == 300_000
            expected = weights.astype(float) / weights.astype(float).sum() * 300_000
            if n > 1:
                p_values.append(chisquare(visits, expected).pvalue)
    assert min(p_values) > 1e-4
    assert 0.2 < np.mean(p_values) < 0.8


def test_lane_draw_stays_in_range_at_the_extremes():
    """All random bits zero or one: the first and the last index that has weight, never a padded one."""
    for n in (1, 3, 16, 17, 100, 127, 128, 129, 1000):
        for own in (0, n - 1):
            low, high = extremes(np.ones(n, np.float32), own)
            assert 0 <= low < n and 0 <= high < n


@compiled
def extremes(weights, own):
    n = len(weights)
    running = np.full(scratch_length(n), np.float32(np.inf), np.float32)
    padded = np.zeros(16 * ((n + 15) // 16), np.float32)
    padded[:n] = weights
    padded[own] = np.float32(0.0)
    sums = lanes.splat(np.float32(0.0))
    for j in range(0, len(padded), 16):
        sums = lanes.add(sums, lanes.load(padded, j))
        lanes.store(running, j, sums)
    low = draw_lanes(running, sums, n, own, weights[own], np.uint64(0))
    return low, draw_lanes(running, sums, n, own, weights[own], np.uint64(0xFFFFFFFFFFFFFFFF))
