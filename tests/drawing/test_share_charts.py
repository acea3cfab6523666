"""The pictures of the metadata page: what they draw are the page's numbers, whatever names are."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.test_charts import face, svgs
from topoi.drawing import charts
from topoi.drawing.curves import Field, place_ticks
from topoi.drawing.svg import number_ticks


def curve(topic: int, *mean: float) -> dict[str, Any]:
    return {
        "topic": face(topic),
        "mean": list(mean),
        "lower": [0.5 * value for value in mean],
        "upper": [1.2 * value for value in mean],
    }


def page(at: list[Any], groups: list[list[dict[str, Any]]], chosen: bool, names: tuple[str, ...] = ("Ann", "Bob")):
    listed = [
        {"name": name, "value": name, "author_id": i, "hue": 90 * i, "curves": curves, "points": []}
        for i, (name, curves) in enumerate(zip(names, groups, strict=False))
    ]
    topics = [one["topic"]["topic"] for one in groups[0]] if chosen else []
    return {"at": at, "groups": listed, "chosen": topics, "along": "year", "is_number": not isinstance(at[0], str)}


YEARS = [1990.0, 1992.0, 1994.0]
STACKED = page(YEARS, [[curve(1, 0.2, 0.5, 0.1), curve(2, 0.8, 0.5, 0.9)]] * 2, chosen=False)
BANDS = page(YEARS, [[curve(1, 0.2, 0.5, 0.1)]], chosen=True)
OVERLAID = page(YEARS, [[curve(1, 0.2, 0.5, 0.1)], [curve(1, 0.3, 0.2, 0.1)]], chosen=True)
BARS = page(["ACL", "NIPS"], [[curve(1, 0.2, 0.5), curve(2, 0.1, 0.2)]], chosen=True)
DIVIDED = page(["ACL", "NIPS"], [[curve(1, 0.25, 0.5), curve(2, 0.75, 0.5)]], chosen=False)
EVERY = {"stacked": STACKED, "bands": BANDS, "overlaid": OVERLAID, "bars": BARS, "divided": DIVIDED}


def parts(markup: str, kind: str, tag: str = "path") -> list[ET.Element]:
    """The elements of a class in the wide picture."""
    return [one for one in svgs(markup)[0].iter(tag) if kind in one.get("class", "").split()]


def points(element: ET.Element) -> list[tuple[float, float]]:
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", element.attrib["d"])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_drawn_for_all_screens_and_for_a_file(name):
    markup = charts.shares_chart(EVERY[name])
    wide, narrow = svgs(markup)
    assert [svg.attrib["viewBox"].split()[2] for svg in (wide, narrow)] == ["720", "360"]
    for svg in (wide, narrow):
        assert len(svg.attrib["aria-label"]) > 60 and "Ann" in svg.attrib["aria-label"]
    text = charts.standalone_svg(markup, "A title")
    for element in ET.fromstring(text.encode()).iter():
        assert "class" not in element.attrib and "href" not in element.attrib
        if element.tag.endswith(("}rect", "}circle", "}text", "}path")):
            assert {"fill", "stroke"} & element.attrib.keys(), (element.tag, element.attrib)


def test_a_band_reaches_from_its_lower_to_its_upper_end():
    markup = charts.shares_chart(BANDS)
    (band,), (line,) = parts(markup, "spread"), parts(markup, "line")
    field = Field(YEARS, 720, 320, 0.6 * 1.04, right=720 - max(x for x, _ in points(line)))
    upper, lower = points(band)[:3], points(band)[:2:-1]
    for i, one in enumerate(BANDS["groups"][0]["curves"][0]["mean"]):
        assert points(line)[i] == pytest.approx((field.x(YEARS[i]), field.y(one)), abs=0.1)
        assert upper[i] == pytest.approx((field.x(YEARS[i]), field.y(1.2 * one)), abs=0.1)
        assert lower[i] == pytest.approx((field.x(YEARS[i]), field.y(0.5 * one)), abs=0.1)


def test_areas_lie_on_each_other_and_fill_the_field():
    areas = parts(charts.shares_chart(STACKED), "area")
    assert len(areas) == 4
    first, second = points(areas[0]), points(areas[1])
    assert second[3:][::-1] == first[:3]  # the upper edge of one is the lower edge of the next
    assert {y for _, y in first[3:]} == {240 - 22.0} and {y for _, y in second[:3]} == {8.0}


def test_bars_and_whiskers():
    markup = charts.shares_chart(BARS)
    bars, whiskers = parts(markup, "fill", "rect"), parts(markup, "whisker")
    assert len(bars) == len(whiskers) == 4
    unit = float(bars[0].attrib["width"]) / 0.2
    for bar, whisker, mean in zip(bars, whiskers, (0.2, 0.5, 0.1, 0.2), strict=True):
        left, _, right = (float(number) for number in re.findall(r"[\d.]+", whisker.attrib["d"]))
        start = float(bar.attrib["x"])
        assert float(bar.attrib["width"]) == pytest.approx(unit * mean, abs=0.3)
        assert (left - start, right - start) == pytest.approx((unit * 0.5 * mean, unit * 1.2 * mean), abs=0.3)


def test_divided_bars_are_as_long_as_the_field():
    pieces = parts(charts.shares_chart(DIVIDED), "area", "rect")
    widths = [float(piece.attrib["width"]) for piece in pieces]
    assert widths[0] + widths[1] == pytest.approx(widths[2] + widths[3], abs=0.2)
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.3)


def test_one_topic_of_several_authors_wears_their_hues():
    markup = charts.shares_chart(OVERLAID)
    series = [one.attrib["class"].split()[1] for one in parts(markup, "serie", "g")]
    assert series == ["h0", "h90"]
    assert len({one.attrib["class"] for one in parts(markup, "line")} | {"x"}) >= 2
    assert "Ann 20\u202f% (10\u202f% to 24\u202f%), Bob 30\u202f%" in markup


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60))
def test_any_name_is_shown_and_never_markup(name):
    strange = face(1, label=name or None, words=[name, "b"])
    curves = [{**curve(1, 0.4, 0.5, 0.6), "topic": strange}, curve(2, 0.6, 0.5, 0.4)]
    document = {"document_id": 1, "identifier": name, "title": name, "year": None, "authors": []}
    linked = [
        {"document": document, "relation": relation, "similarity": 0.5, "topic": strange, "share": 0.5}
        for relation in ("itself", "links here", "linked", "both")
    ]
    pictures = [charts.shares_chart(page(YEARS, [curves] * 2, chosen, (name, name))) for chosen in (False, True)]
    pictures += [charts.shares_chart(page([name, "x", "y"], [curves], chosen, (name,))) for chosen in (False, True)]
    for markup in [*pictures, charts.link_graph(linked)]:
        tags = {element.tag for element in ET.fromstring(str(markup)).iter()}
        assert tags <= {"div", "svg", "g", "a", "rect", "circle", "path", "text", "tspan", "title"}
        ET.fromstring(charts.standalone_svg(markup, name).encode())


@pytest.mark.parametrize("n_back", [0, 1, 5])
@pytest.mark.parametrize("n_out", [0, 4])
def test_documents_around_one_do_not_overlap(n_back, n_out):
    relations = ["itself"] + ["links here"] * n_back + ["linked"] * n_out
    linked = [
        {
            "document": {"document_id": d, "title": f"A long title of document {d}", "year": 1990},
            "relation": relation,
            "similarity": 0.9,
            "topic": face(d % 3),
            "share": 0.5,
        }
        for d, relation in enumerate(relations)
    ]
    for svg in svgs(charts.link_graph(linked)):
        width, height = (float(value) for value in svg.attrib["viewBox"].split()[2:])
        boxes = [[float(rect.attrib[side]) for side in ("x", "y", "width", "height")] for rect in svg.iter("rect")]
        assert len(boxes) == len(linked) and len(list(svg.iter("path"))) == n_back + n_out
        for i, (x, y, wide, high) in enumerate(boxes):
            assert x >= 0 and y >= 0 and x + wide <= width and y + high <= height
            for a, b, c, d in boxes[:i]:
                assert x >= a + c or a >= x + wide or y >= b + d or b >= y + high


def test_a_single_place_and_places_that_are_not_whole():
    assert charts.shares_chart(page([1990.0], [[curve(1, 0.2)]], chosen=True))
    assert charts.shares_chart(page([0.5, 0.75], [[curve(1, 0.2, 0.3)]], chosen=True))
    assert place_ticks(1990, 1990, 5) == [1990]
    assert list(place_ticks(1790, 2026, 5))[0] == 1790
    assert number_ticks(0.5, 0.75, 4) == [0.5, 0.6, 0.7]


def test_a_table_lists_a_dozen_places():
    many = page([float(year) for year in range(1900, 1980)], [[curve(1, *[0.1] * 80)]], chosen=True)
    rows = charts.table_rows(many)
    assert rows[0] == 0 and rows[-1] == 79 and len(rows) == 13
    assert charts.table_rows(BANDS) == [0, 1, 2] and charts.table_rows(BARS) == [0, 1]
