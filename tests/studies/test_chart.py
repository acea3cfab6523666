"""The studies' line chart: scales and dashes."""

from __future__ import annotations

import base64
import io
import math
import re

import pytest

line_chart = pytest.importorskip("studies.chart", reason="the studies are not part of an installed package").line_chart
LINES = {"one": [(0.01, 0.001), (0.1, 0.01), (1.0, 1.0)], "two": [(0.01, 1.0), (0.1, 1.0), (1.0, 10.0)]}


def points(svg):
    return [[tuple(map(float, p.split(","))) for p in found.split()] for found in re.findall(r'points="([^"]+)"', svg)]


def test_powers_of_ten_are_evenly_spaced():
    svg = line_chart(LINES, "x", "y", x_scale=math.log, log_y=True)
    first, second = points(svg)
    assert first[1][0] - first[0][0] == pytest.approx(first[2][0] - first[1][0], abs=0.11)
    assert 2 * (first[0][1] - first[1][1]) == pytest.approx(first[1][1] - first[2][1], abs=0.21)
    assert first[2][1] == second[0][1] > second[2][1]
    assert [f">{label}<" in svg for label in ("0.001", "0.01", "0.1", "1", "10")] == [True] * 5


def test_only_the_named_lines_are_dashed():
    svg = line_chart(LINES, "x", "y", dashed=["two"])
    assert ["dasharray" in line for line in svg.splitlines() if line.startswith("<polyline")] == [False, True]


def test_a_line_like_another_and_a_mark_have_its_colour():
    lines = LINES | {"two, stated": LINES["two"]}
    svg = line_chart(
        lines, "x", "y", dashed=["two, stated"], alike={"two, stated": "two", "here": "two"}, marks={"here": 0.1}
    )
    drawn = [line for line in svg.splitlines() if line.startswith("<polyline")]
    assert [re.search(r'class="l(\d)"', line)[1] for line in drawn] == ["0", "1", "1", "1"]
    (x, _), (same, _) = points(svg)[-1]
    assert x == same == pytest.approx(points(svg)[0][1][0])
    assert 'class="n1">here<' in svg


def test_more_lines_than_colours_are_all_drawn():
    lines = {f"line {i}": [(0.0, i), (1.0, i + 1.0)] for i in range(11)}
    assert len(points(line_chart(lines, "x", "y"))) == 11


def test_names_of_lines_that_end_low_stay_in_the_picture():
    svg = line_chart({f"line {i}": [(0.0, 10.0 * (i == 0)), (1.0, 0.0)] for i in range(6)}, "x", "y")
    heights = [float(y) for y in re.findall(r'<text x="580" y="([\d.]+)" class', svg)]
    assert len(heights) == 6 and max(heights) < 400
    assert all(b - a >= 17 for a, b in zip(sorted(heights), sorted(heights)[1:], strict=False))


def test_a_matrix_is_drawn_cell_by_cell_the_darker_the_smaller():
    imread = pytest.importorskip("matplotlib.image").imread
    from studies.chart import matrix_picture

    svg = matrix_picture([[0.0, 4.0], [2.0, 9.0]], "rows", "columns", "distance", (0, 2, 4))
    first = re.search(r"base64,([^\"]+)", svg)[1]
    pixels = imread(io.BytesIO(base64.b64decode(first)))
    brightness = pixels[..., :3].sum(axis=2)
    assert pixels.shape[:2] == (2, 2)
    assert brightness[0, 0] < brightness[1, 0] < brightness[0, 1] == brightness[1, 1]
    assert [f">{tick}<" in svg for tick in (0, 2, 4)] == [True] * 3
