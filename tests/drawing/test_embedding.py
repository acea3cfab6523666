"""Neighbour embedding: exact neighbours, the gradient of t-SNE, planted groups, threads, and degenerate input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topoi
from topoi.drawing import document_layout
from topoi.drawing.document_layout import document_places, root_rows, row_places
from topoi.drawing.embedding import Descent, Pairs, SparseRows, joint_probabilities, nearest, principal_plane
from topoi.engine.executors import SerialExecutor, open_executor
from topoi.kernels import embedding as kernels


def rows_of(shares: np.ndarray, most: int = 100) -> SparseRows:
    row, column = np.nonzero(shares)
    return root_rows(iter([(row, column, shares[row, column])]), len(shares), shares.shape[1], most)


def random_shares(n: int, n_topics: int, seed: int = 0) -> np.ndarray:
    shares = np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.2), n)
    return np.where(shares < 0.02, 0.0, shares)


def planted(n: int, n_groups: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Shares of documents, each with most of its words in its group's two topics."""
    chance = np.random.default_rng(seed)
    group = np.arange(n) % n_groups
    shares = 0.2 * chance.dirichlet(np.full(2 * n_groups, 0.1), n)
    split = chance.uniform(0.2, 0.8, n)
    shares[np.arange(n), 2 * group] += 0.8 * split
    shares[np.arange(n), 2 * group + 1] += 0.8 * (1 - split)
    return shares, group


def quiet(part: float) -> None:
    """No progress."""


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 60), st.integers(2, 9), st.integers(0, 10_000))
def test_neighbours_are_those_of_all_pairs(n, n_topics, seed):
    rows = rows_of(random_shares(n, n_topics, seed))
    k = min(5, n - 1)
    found, squared = nearest(rows, k, SerialExecutor(), quiet)
    dense = np.zeros((n, n_topics))
    dense[np.repeat(np.arange(n), np.diff(rows.start)), rows.column] = rows.value
    every = np.maximum(2.0 - 2.0 * dense @ dense.T, 0.0) + np.diag(np.full(n, np.inf))
    np.testing.assert_allclose(squared, np.sort(every, axis=1)[:, :k], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(every, found.astype(np.int64), axis=1), squared, atol=1e-5)
    assert all(len(set(row)) == k and d not in row for d, row in enumerate(found.tolist()))


@pytest.mark.parametrize("perplexity", [2.0, 5.0, 12.0])
def test_rows_have_the_perplexity_asked_for(perplexity):
    rows = rows_of(random_shares(80, 12))
    found, squared = nearest(rows, 36, SerialExecutor(), quiet)
    pairs = joint_probabilities(found, squared, perplexity, SerialExecutor())
    assert pairs.probability.sum() == pytest.approx(1.0)
    assert (np.diff(pairs.start) >= 36).all()
    own = np.empty((80, 36))
    from topoi.kernels.neighbours import neighbour_probabilities

    neighbour_probabilities(0, 80, squared, perplexity, own)
    entropy = -(own * np.log(np.maximum(own, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), perplexity, rtol=1e-3)


def small_problem(n: int = 40, seed: int = 3) -> tuple[Pairs, np.ndarray]:
    rows = rows_of(random_shares(n, 8, seed))
    found, squared = nearest(rows, 12, SerialExecutor(), quiet)
    pairs = joint_probabilities(found, squared, 4.0, SerialExecutor())
    return pairs, np.random.default_rng(seed).normal(size=(n, 2)) * 2.0


def divergence(pairs: Pairs, points: np.ndarray) -> float:
    """Σ p log(p / q) over all ordered pairs, by its definition."""
    apart = ((points[:, None] - points) ** 2).sum(axis=2)
    w = 1.0 / (1.0 + apart)
    np.fill_diagonal(w, 0.0)
    q = w / w.sum()
    row = np.repeat(np.arange(len(points)), np.diff(pairs.start))
    return float((pairs.probability * np.log(pairs.probability / q[row, pairs.other])).sum())


def gradient_error(openness: float) -> float:
    """Largest difference between the gradient and finite differences of the divergence."""
    pairs, points = small_problem()
    found = Descent(pairs, points, openness=openness).gradient()
    expected, step = np.empty_like(points), 1e-5
    for i in range(len(points)):
        for c in range(2):
            ends = []
            for sign in (1, -1):
                moved = points.copy()
                moved[i, c] += sign * step
                ends.append(divergence(pairs, moved))
            expected[i, c] = (ends[0] - ends[1]) / (2 * step)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def test_gradient_is_that_of_the_divergence():
    assert gradient_error(0.0) < 1e-6


def test_tree_is_close_to_the_exact_gradient():
    assert 0.0 < gradient_error(0.5) < 0.05


@pytest.mark.parametrize("name", ["repulsion", "attraction", "build_tree"])
def test_a_broken_kernel_is_noticed(monkeypatch, name):
    """Each of them, with a small mistake, is told from the right one by the test of the gradient."""
    right = getattr(kernels, name)

    def wrong(*given):
        result = right(*given)
        if name == "build_tree":
            given[3].x[:result] += 5.0
        else:
            given[-1 if name == "attraction" else -2][:, 0] *= 1.01
        return result

    openness = 0.5 if name == "build_tree" else 0.0
    before = gradient_error(openness)
    monkeypatch.setattr(kernels, name, wrong)
    assert gradient_error(openness) > before + 1e-4


def test_tree_has_every_point_once():
    chance = np.random.default_rng(1)
    points = np.concatenate(
        [chance.normal(size=(500, 2)), np.full((20, 2), 3.0), 3.0 + 1e-9 * chance.normal(size=(30, 2))]
    )
    codes, tree = np.empty(550, np.uint64), kernels.empty_tree(550)
    side = kernels.curve_codes(points, codes)
    order = np.argsort(codes, kind="stable")
    n = kernels.build_tree(codes[order], points[order], side, tree)
    leaves = [c for c in range(n) if tree.after[c] == c + 1]
    assert sorted(i for c in leaves for i in range(tree.begin[c], tree.end[c])) == list(range(550))
    assert tree.after[0] == n and (tree.begin[0], tree.end[0]) == (0, 550)
    np.testing.assert_allclose([tree.x[0], tree.y[0]], points.mean(axis=0))
    for c in range(n):
        own = points[order][tree.begin[c] : tree.end[c]]
        np.testing.assert_allclose([tree.x[c], tree.y[c]], own.mean(axis=0), atol=1e-12)
        assert np.ptp(own, axis=0).max() <= tree.width[c] * (1 + 1e-6)


def test_a_few_points_move_as_many_do(monkeypatch):
    pairs, start = small_problem()
    ends = []
    for few in (0, 1000):
        monkeypatch.setattr("topoi.drawing.embedding._FEW", few)
        descent = Descent(pairs, start, openness=0.0)
        descent.steps(5, 2.0, 10.0, 0.5, quiet)
        ends.append(descent.points)
    assert np.abs(ends[0] - start).max() > 0.1
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_planted_groups_are_found():
    shares, group = planted(600, 12)
    places = row_places(rows_of(shares))
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 10.0 * np.eye(600)
    near = np.argsort(apart, axis=1)[:, :10]
    assert (group[near] == group[:, None]).mean() > 0.98
    assert places.min() == 0.0 and places.max() == 1.0


def test_same_bits_for_any_number_of_threads():
    rows = rows_of(planted(5000, 9, seed=4)[0])
    monkey = (4, 6)
    found = []
    for jobs in (1, 2, 3):
        with open_executor(jobs, jobs) as executor:
            pairs = joint_probabilities(*nearest(rows, 30, executor, quiet), 10.0, executor)
            from topoi.drawing.embedding import embedded

            found.append(embedded(pairs, document_layout.start_of(rows), executor, steps=monkey).tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7])
def test_a_few_documents(n):
    places = row_places(rows_of(random_shares(n, 5, 8) + 1e-3 if n else np.zeros((0, 5))))
    assert places.shape == (n, 2) and np.isfinite(places).all()
    assert len({tuple(place) for place in places.tolist()}) == n
    if n:
        assert places.min() >= 0.0 and places.max() <= 1.0


def test_equal_documents_lie_side_by_side():
    one, other = np.eye(4)[[0]], np.eye(4)[[1]]
    places = row_places(rows_of(np.concatenate([np.repeat(one, 60, axis=0), np.repeat(other, 40, axis=0)])))
    assert len({tuple(place) for place in places.tolist()}) == 100
    middle = places[:60].mean(axis=0), places[60:].mean(axis=0)
    assert np.linalg.norm(middle[0] - middle[1]) > np.linalg.norm(places[:60] - middle[0], axis=1).max()
    alone = row_places(rows_of(np.repeat(one, 9, axis=0)))
    assert len({tuple(place) for place in alone.tolist()}) == 9


def test_documents_that_share_nothing_have_places():
    places = row_places(rows_of(np.eye(7)))
    assert np.isfinite(places).all() and len({tuple(place) for place in places.tolist()}) == 7


def test_documents_without_words_have_no_place():
    corpus = topoi.Corpus.from_tokens([["sun", "star"], [], ["cell", "gene"], ["sun", "gene"], ["star"]])
    places = document_places(topoi.LDA(3, n_iter=5, random_state=0).fit(corpus))
    assert np.isnan(places[1]).all() and np.isfinite(places[[0, 2, 3, 4]]).all()


@pytest.mark.parametrize("kind", ["CorrelatedTopicModel", "PLSI"])
def test_models_without_counts(kind):
    corpus = topoi.Corpus.from_tokens([["sun", "star", "sun"], ["cell", "gene", "cell"]] * 15 + [["sun", "cell"]])
    model = getattr(topoi, kind)(2, n_iter=20, random_state=0).fit(corpus)
    places = document_places(model)
    assert np.isfinite(places).all()
    even, odd = places[:30:2].mean(axis=0), places[1:30:2].mean(axis=0)
    assert np.linalg.norm(even - odd) > 0.3


def test_progress_rises_to_one_and_may_end_the_work():
    told: list[float] = []
    rows = rows_of(random_shares(50, 6))
    row_places(rows, progress=told.append)
    assert told[-1] == pytest.approx(1.0) and told == sorted(told)

    def stop(part: float) -> None:
        if part > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        row_places(rows, progress=stop)


def test_principal_plane_gives_back_points_in_the_plane():
    points = np.random.default_rng(0).normal(size=(20, 2)) * [2.0, 1.0]
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    found = principal_plane(distance)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found, axis=2), distance, atol=1e-6)
