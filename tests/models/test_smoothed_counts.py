"""Sparse rows against the dense definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from topoi.kernels.counts import sort_range
from topoi.models import smoothed_counts
from topoi.models.smoothed_counts import MEASURES, SmoothedCounts, count_topics, distances, kl_matrix, sparse_rows

COUNTS = hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(1, 6)), elements=st.integers(0, 5))


def priors(n: int, kind: str) -> np.ndarray:
    return {"none": np.zeros(n), "even": np.full(n, 0.3), "uneven": 0.1 + np.arange(n)}[kind]


def dense_shares(counts: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    rows = []
    for row in counts + alpha:
        rows.append(row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row)))
    return np.array(rows)


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.sampled_from(["none", "even", "uneven"]), st.randoms(use_true_random=False))
def test_everything_agrees_with_the_dense_definition(counts, kind, random):
    alpha = priors(counts.shape[1], kind)
    made = SmoothedCounts.from_counts(counts, alpha)
    rows = [random.randrange(len(counts)) for _ in range(3)]
    dense = dense_shares(counts, alpha)
    np.testing.assert_array_equal(made.counts(rows), counts[rows])
    np.testing.assert_allclose(made.shares(rows), dense[rows])
    np.testing.assert_array_equal(made.totals, counts.sum(axis=1))
    column = random.randrange(counts.shape[1])
    np.testing.assert_array_equal(made.column(column), counts[:, column])
    p = dense_shares(np.array([[random.randrange(4) for _ in alpha]]), alpha)[0]
    for measure in MEASURES:
        if measure == "symmetrised-kl" and kind == "none":
            continue  # infinite where one has what the other lacks
        np.testing.assert_allclose(made.distances(p, measure), distances(p, dense, measure), atol=1e-7)
    some = np.array(random.sample(range(len(alpha)), random.randint(1, len(alpha))))
    np.testing.assert_allclose(
        made.some_columns(some).shares(np.arange(len(counts))), dense_shares(counts[:, some], alpha[some])
    )


@settings(max_examples=40, deadline=None)
@given(COUNTS, st.integers(1, 6), st.sampled_from(["even", "uneven"]))
def test_matrices_and_likelihoods_agree_with_the_dense_definition(counts, n_words, kind):
    alpha = priors(counts.shape[1], kind)
    made, dense = SmoothedCounts.from_counts(counts, alpha), dense_shares(counts, alpha)
    other = np.roll(counts, 1, axis=1)[: max(1, len(counts) - 1)]
    found = made.kl_matrix(SmoothedCounts.from_counts(other, 2 * alpha))
    np.testing.assert_allclose(found, kl_matrix(dense, dense_shares(other, 2 * alpha)), atol=1e-9)
    rng = np.random.default_rng(n_words)
    columns, times = rng.dirichlet(np.ones(n_words), len(alpha)), rng.integers(1, 9, n_words)
    np.testing.assert_allclose(made.log_likelihoods(columns, times), np.log(dense @ columns) @ times, atol=1e-12)


def test_a_share_is_a_distribution_whatever_the_row_is():
    made = SmoothedCounts.from_counts(np.array([[0, 0, 0], [3, 0, 1]]), np.zeros(3))
    np.testing.assert_allclose(made.shares([0, 1]).sum(axis=1), 1)
    for measure in ("jensen-shannon", "hellinger", "cosine"):
        assert np.isfinite(made.distances(np.array([0.5, 0.5, 0.0]), measure)).all()


def test_smoothed_and_unsmoothed_share_their_counts():
    made = SmoothedCounts.from_counts(np.array([[1, 3]]), np.array([2.0, 2.0]))
    assert made.shares([0]).tolist() == [[3 / 8, 5 / 8]]
    assert made.unsmoothed().shares([0]).tolist() == [[0.25, 0.75]]


def test_blocks_cover_all_rows(monkeypatch):
    monkeypatch.setattr(smoothed_counts, "_ROWS_AT_ONCE", 3)
    assert [(b.start, b.stop) for b in smoothed_counts.blocks(7)] == [(0, 3), (3, 6), (6, 7)]
    counts = np.arange(14).reshape(7, 2)
    p, made = np.array([0.4, 0.6]), SmoothedCounts.from_counts(counts, np.array([0.5, 0.1]))
    expected = distances(p, dense_shares(counts, made.alpha), "jensen-shannon")
    np.testing.assert_allclose(made.distances(p, "jensen-shannon"), expected)


def test_many_columns_need_wider_numbers():
    wide = SmoothedCounts(np.array([0, 1]), np.array([70_000]), np.array([5]), np.full(70_001, 0.1))
    assert wide.column(70_000).tolist() == [5]


@pytest.mark.parametrize("seed", range(3))
def test_counting_documents_topics(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, 12)
    start = np.concatenate(([0], np.cumsum(lengths)))
    topic = rng.integers(0, 4, start[-1])
    dense = np.array([np.bincount(topic[a:b], minlength=4) for a, b in zip(start, start[1:], strict=False)])
    for found, expected in zip(count_topics(start, topic, 4), sparse_rows(dense), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_long_texts_neither_vanish_nor_lose_precision():
    rng = np.random.default_rng(0)
    made = SmoothedCounts.from_counts(rng.integers(0, 9, (5, 4)), np.full(4, 0.1))
    columns, times = rng.uniform(1e-12, 1e-9, (4, 3000)), rng.integers(1, 7, 3000)
    expected = np.log(made.shares(np.arange(5)) @ columns) @ times
    np.testing.assert_allclose(made.log_likelihoods(columns, times), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 60, 700, 5000])
def test_a_range_is_sorted_and_nothing_else(n):
    values = np.random.default_rng(n).permutation(n + 6).astype(np.int64)
    expected = values.copy()
    expected[3 : n + 3].sort()
    sort_range(values, 3, n + 3)
    assert np.array_equal(values, expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("measure", ["jensen-shannon", "hellinger", "symmetrised-kl"])
def test_the_nearest_rows_are_those_of_all_distances(seed, measure):
    rng = np.random.default_rng(seed)
    mixtures = rng.dirichlet(np.full(12, 0.3), 3000)
    counts = np.array([rng.multinomial(rng.integers(0, 60), mixture) for mixture in mixtures])
    counts[100:140] = counts[100]  # ties
    counts[7, 0] = 5000  # more than tables have
    made = SmoothedCounts.from_counts(counts, np.full(12, 0.5 if measure == "symmetrised-kl" else 0.0))
    among = rng.permutation(3000)[:2500]
    for row in (100, 7, 0, 1):
        p = made.shares(row)[0]
        expected = distances(p, made.shares(among), measure)
        order = np.argsort(made.distances(p, measure)[among], kind="stable")[:10]
        found, distance = made.nearest(p, measure, 10, among)
        np.testing.assert_array_equal(found, among[order])
        np.testing.assert_allclose(distance, np.sort(expected)[:10], atol=1e-7)
    assert made.nearest(p, measure, 0, among)[0].tolist() == []


@given(st.floats(0.0, 1e3))
def test_the_bound_of_divergences_holds_for_every_column(t):
    """log 2 · (1 − √t)² ≤ log(2 / (1 + t)) + t log(2 t / (1 + t)), of which the bound on distances is a sum."""
    f = np.log(2 / (1 + t)) + (t * np.log(2 * t / (1 + t)) if t else 0.0)
    assert f >= np.log(2) * (1 - np.sqrt(t)) ** 2 - 1e-12 * (1 + t)
