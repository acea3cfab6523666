"""Layered drawings: few crossings, room between neighbours, no line through a node."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi.drawing.layers import _crossings, layered


@st.composite
def graphs(draw):
    widths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    level = {f"{at}-{i}": at for at, width in enumerate(widths) for i in range(width)}
    pairs = [(a, b) for a, b in itertools.product(level, level) if level[a] < level[b]]
    kept = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    return level, {edge: draw(st.floats(0, 1)) for edge in kept}


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_everything_has_room(graph):
    level, weight = graph
    plan = layered(level, weight)
    assert {node: at for node, (at, _) in plan.place.items()} == dict(level)
    taken: dict[int, list[float]] = {}
    for at, place in plan.place.values():
        taken.setdefault(at, []).append(place)
    for edge, stops in plan.ways.items():
        assert stops[0] == plan.place[edge[0]] and stops[-1] == plan.place[edge[1]]
        assert [at for at, _ in stops] == list(range(level[edge[0]], level[edge[1]] + 1))
        for at, place in stops[1:-1]:
            taken[at].append(place)
    for places in taken.values():
        assert np.diff(sorted(places)).min(initial=1.0) > 1 - 1e-6
        assert min(places) > -1e-6 and max(places) < plan.size + 1e-6


def crossings(weight, place):
    found = 0.0
    for (a, x), (b, y) in itertools.combinations(weight, 2):
        is_crossed = (place[a] - place[b]) * (place[x] - place[y]) < 0
        found += weight[a, x] * weight[b, y] * (is_crossed and a[0] == b[0])
    return found


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_never_more_crossings_than_as_given(data):
    widths = data.draw(st.lists(st.integers(2, 5), min_size=2, max_size=3))
    level = {f"{'abc'[at]}{i}": at for at, width in enumerate(widths) for i in range(width)}
    pairs = [(a, b) for a, b in itertools.product(level, level) if level[a] + 1 == level[b]]
    kept = data.draw(st.lists(st.sampled_from(pairs), unique=True, min_size=2))
    weight = {edge: float(data.draw(st.integers(1, 3))) for edge in kept}
    before = crossings(weight, {node: int(node[1:]) for node in level})
    after = crossings(weight, {node: at for node, (_, at) in layered(level, weight).place.items()})
    assert after <= before


def test_crossings_are_counted_by_weight():
    rng = np.random.default_rng(0)
    link = rng.random((4, 5))
    pairs = itertools.product(range(4), range(5), range(4), range(5))
    by_hand = sum(link[i, j] * link[a, b] for i, j, a, b in pairs if i < a and j > b)
    assert _crossings([link], [np.arange(4), np.arange(5)]) == pytest.approx(by_hand)


def test_a_graph_without_crossings_is_drawn_so():
    children = {"a": "sx", "b": "tz", "c": "uyv"}
    level = {"root": 0, **dict.fromkeys("cab", 1), **dict.fromkeys("stuxyzv", 2)}
    weight = {("root", node): 1.0 for node in "cab"} | {(p, c): 1.0 for p, below in children.items() for c in below}
    place = {node: at for node, (_, at) in layered(level, weight).place.items()}
    for (a, x), (b, y) in itertools.combinations([(p, c) for p, below in children.items() for c in below], 2):
        assert a == b or (place[a] < place[b]) == (place[x] < place[y])
    # A parent stands amid its children.
    assert place["a"] == pytest.approx((place["s"] + place["x"]) / 2)


def test_places_keep_the_order_that_was_chosen():
    level = {"a0": 0, "a1": 0, "a2": 0, "a3": 0, "b0": 1, "b1": 1, "b2": 1, "c0": 2, "c1": 2, "c2": 2}
    weight = {("a1", "b2"): 2.0, ("b0", "c1"): 3.0, ("b1", "c1"): 3.0, ("b2", "c0"): 5.0}
    assert crossings(weight, {node: at for node, (_, at) in layered(level, weight).place.items()}) == 0


def test_heavy_edges_go_straight():
    level = {"a": 0, "b": 0, "x": 1, "y": 1}
    weight = {("a", "x"): 0.1, ("a", "y"): 0.9, ("b", "x"): 0.8, ("b", "y"): 0.2}
    place = layered(level, weight).place
    assert (place["a"] < place["b"]) == (place["y"] < place["x"])


def test_nothing_to_draw():
    assert layered({}, {}).place == {}
    assert layered({"only": 0}, {}).place == {"only": (0, 0.0)}
