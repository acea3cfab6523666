"""Colours and places of topics, against the definitions worked out the slow way."""

from itertools import combinations

import numpy as np
import pytest

from topoi.drawing.colours import golden_places, wheel_hues
from topoi.drawing.topic_layout import CIRCLE, cooccurrence, kept_map, push_apart, topic_hues, topic_map


def cells(table):
    """Documents, topics and numbers of a documents × topics table."""
    doc, topic = np.nonzero(table)
    return doc, topic, table[doc, topic]


def random_table(n_docs, n_topics, seed=0):
    chance = np.random.default_rng(seed)
    return chance.poisson(chance.gamma(0.3, 3.0, (n_docs, n_topics)))


def together(table, i, j):
    return table[:, i] @ table[:, j] / np.linalg.norm(table[:, i]) / np.linalg.norm(table[:, j])


def apart(a, b, n):
    return min((a - b) % n, (b - a) % n)


def places_of(hues):
    """Where each topic is on the wheel, from its hue."""
    return np.argsort(np.argsort((np.asarray(hues) - 30) % 360))


def worth(table, places):
    n = len(places)
    return sum(together(table, i, j) * apart(places[i], places[j], n) for i, j in combinations(range(n), 2))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 60, 300, 360])
def test_hues_are_spread_evenly(n):
    hues = np.sort(topic_hues([cells(random_table(20, n))], n))
    gaps = np.diff(np.append(hues, hues[0] + 360))
    assert hues[0] >= 0 and hues[-1] < 360 and len(hues) == n
    assert gaps.min() >= 360 // n and gaps.max() <= -(-360 // n)


def test_more_topics_than_hues_share_them():
    hues = topic_hues([cells(random_table(5, 500))], 500)
    assert len(hues) == 500 and len(set(hues.tolist())) == 360


def test_golden_angle_order_where_no_topics_meet():
    hues = topic_hues([cells(np.eye(12, dtype=int))], 12)
    angle = [(k * 137.50776405003785) % 360 for k in range(12)]
    assert np.argsort(angle).tolist() == np.argsort((hues - 30) % 360).tolist()
    assert hues[0] == 30
    assert np.array_equal(hues, wheel_hues(golden_places(12)))


@pytest.mark.parametrize("seed", range(3))
def test_no_swap_of_two_hues_would_do_better(seed):
    table = random_table(30, 9, seed)
    places = places_of(topic_hues([cells(table)], 9))
    best = worth(table, places)
    assert best > worth(table, golden_places(9)) + 0.1
    for a, b in combinations(range(9), 2):
        other = places.copy()
        other[a], other[b] = places[b], places[a]
        assert worth(table, other) <= best + 1e-4


def test_topics_of_one_document_are_opposite():
    table = np.kron(np.eye(5, dtype=int), np.array([[7, 3]]))
    hues = topic_hues([cells(table)], 10)
    assert [abs(int(hues[k]) - int(hues[k + 1])) for k in range(0, 10, 2)] == [180] * 5


def test_large_topics_count_no_more_than_small_ones():
    table = random_table(30, 6)
    # Averages of samples are no whole numbers.
    halves = cooccurrence([cells(table * 0.5)], 6) / 2**20
    np.testing.assert_allclose(halves, cooccurrence([cells(table)], 6) / 2**20, atol=1e-6)
    assert np.array_equal(cooccurrence([cells(table)], 6), cooccurrence([cells(table * [1, 100, 1, 1, 1, 1])], 6))
    expected = [[together(table, i, j) if i != j else 0.0 for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(cooccurrence([cells(table)], 6) / 2**20, expected, atol=1e-6)


def test_topics_without_words_have_hues_and_places_too():
    assert sorted(topic_hues([cells(np.zeros((3, 4), int))], 4).tolist()) == [30, 120, 210, 300]
    places = topic_map(np.zeros((4, 4)), np.zeros(4))
    assert len({tuple(place) for place in places.tolist()}) == 4


def distances_of(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


def nearest_others(distance):
    return (distance + np.diag(np.full(len(distance), np.inf))).argmin(axis=1)


def test_map_fills_the_square_and_the_nearest_circle_is_the_most_similar_topic():
    chance = np.random.default_rng(2)
    middles = chance.normal(size=(20, 40))
    points = np.repeat(middles, 5, axis=0) + 0.2 * chance.normal(size=(100, 40))
    distance = distances_of(points)
    places = topic_map(distance, np.full(100, 0.01))
    assert places.min(axis=0).tolist() == [0.0, 0.0] and places.max(axis=0).tolist() == [1.0, 1.0]
    apart = distances_of(places)
    best = apart[np.arange(100), nearest_others(distance)]
    rank = (apart + 10.0 * np.eye(100) < best[:, None] - 1e-9).sum(axis=1) + 1
    assert np.median(rank) <= 2 and (rank <= 4).mean() > 0.95  # of a group of five
    radius = CIRCLE * 0.1
    assert (apart + np.eye(100)).min() > 1.9 * radius


def test_a_map_is_the_same_for_any_number_of_topics_alike():
    """Equal distances, no distances, and one topic far from all others are no reason to fail."""
    for distance in (1.0 - np.eye(12), np.zeros((12, 12)), distances_of(np.array([[0.0]] * 11 + [[5.0]]))):
        places = topic_map(distance, np.full(12, 0.05))
        assert np.isfinite(places).all() and len({tuple(place) for place in places.tolist()}) == 12


def test_topics_keep_their_places_after_an_edit():
    chance = np.random.default_rng(5)
    before = topic_map(distances_of(chance.normal(size=(30, 8))), np.full(30, 0.005))
    new = np.concatenate([before[::-1], [[0.5, 0.5]]])
    kept = kept_map(new, np.concatenate([before, [[np.nan, np.nan]]]), np.full(31, 0.005))
    moved = np.linalg.norm(kept[:30] - before, axis=1)
    assert (moved < 1e-3).mean() > 0.9 and moved.max() < 0.05
    nearest_new = np.argsort(np.linalg.norm(new[:30] - new[30], axis=1))[:3]
    assert np.linalg.norm(before[nearest_new] - kept[30], axis=1).min() < 0.5
    alone = np.full((31, 2), np.nan)
    assert kept_map(new, alone, np.full(31, 0.01)) is new


def test_circles_are_pushed_apart():
    chance = np.random.default_rng(3)
    share = chance.dirichlet(np.ones(60))
    radius = CIRCLE * np.sqrt(share)
    crowded = 0.4 + 0.2 * chance.uniform(size=(60, 2))
    room = radius[:, None] + radius - 10.0 * np.eye(60)

    def overlap(points):
        return np.maximum(room - distances_of(points), 0.0).sum()

    pushed = push_apart(crowded, radius)
    assert overlap(pushed) < 0.02 * overlap(crowded)
    assert pushed.min() >= 0.0 and pushed.max() <= 1.0
    free = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(push_apart(free, np.full(3, 0.1)), free, atol=1e-5)


def test_the_larger_of_two_circles_gives_way_less():
    before, radius = np.array([[0.5, 0.5], [0.53, 0.54]]), np.array([0.1, 0.05])
    after = push_apart(before, radius)
    assert distances_of(after)[0, 1] == pytest.approx(0.15, abs=1e-3)
    # Along the line between them, about a point that stays.
    np.testing.assert_allclose(radius**2 @ after, radius**2 @ before, atol=1e-6)
    direction = after[1] - after[0]
    np.testing.assert_allclose(direction / np.linalg.norm(direction), [0.6, 0.8], atol=1e-3)


def test_circles_in_one_place_part():
    after = push_apart(np.full((5, 2), 0.5), np.full(5, 0.05))
    assert (distances_of(after) + np.eye(5)).min() > 0.099


def test_no_map_of_fewer_than_three_topics():
    assert topic_map(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5])) is None
    assert topic_map(np.zeros((1, 1)), np.ones(1)) is None
