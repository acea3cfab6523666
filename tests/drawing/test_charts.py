"""Charts: well-formed whatever names are, spoken for by a sentence, bare of styles, and complete as a file alone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from topoi.drawing import charts
from topoi.drawing.document_map import document_map
from topoi.drawing.svg import ticks, year_ticks
from topoi.drawing.text import clean, spread, text_width

HOSTILE = "<script>alert('1')</script>\"&\x00\x1b]\ud800\U0001f9e0 نص"


class Addresses:
    def topic(self, topic: int) -> str:
        return f"/m/a/topic/{topic}?a=1&b=2"


def face(topic: int = 3, **changes: Any) -> dict[str, Any]:
    words = ["gold", "silver", "coin", "mint", "bank", "paper", "note"]
    made = {
        "topic": topic,
        "label": None,
        "auto_label": words[0] if words else "no words",
        "words": words,
        "share": 0.02,
        "hue": (topic * 137) % 360,
        "glue": False,
    }
    return {**made, "trend": None, **changes}


YEARS = list(range(1987, 2000))
SHARES = [0.01 * (1 + (i * 7) % 5) for i in range(len(YEARS))]


def banded(shares: list[float | None]) -> dict[str, Any]:
    """Shares with intervals around them."""
    return {"share": shares, "lower": [0.5 * (x or 0.0) for x in shares], "upper": [1.5 * (x or 0.0) for x in shares]}


def timeline(years: list[int]) -> charts.Timeline:
    """Years of equal size, all of them shown."""
    return charts.Timeline(years, [100.0] * len(years), *((years[0], years[-1]) if years else (0, 0)))


def ends(shares: list[float | None]) -> tuple[list[float], list[float]]:
    """Narrow intervals."""
    return [0.95 * (x or 0.0) for x in shares], [1.05 * (x or 0.0) for x in shares]


TREND = {"years": YEARS, **banded(SHARES), "n_tokens": [100] * len(YEARS)}
SERIES = [{"topic": face(k), **banded([value * (k + 1) for value in SHARES])} for k in range(5)]
DIFFERENT = [
    {"topic": face(k), "share": 0.1, "share_lower": 0.09, "share_upper": 0.11, "other_share": 0.1 - d}
    | {"other_share_lower": 0.08 - d, "other_share_upper": 0.12 - d}
    | {"difference": d, "lower": d - 0.02, "upper": d + 0.02}
    | {"p_value": 0.01, "q_value": 0.02 * (k + 1)}
    for k, d in enumerate((0.05, 0.0, -0.03))
]
BY_YEAR = {"years": YEARS, "n_documents": [i % 4 for i in range(len(YEARS))], "topics": SERIES[:3]}
PLACED = [face(k, x=float(k % 7), y=float(k // 7), share=0.01 + 0.001 * k, glue=k % 9 == 0) for k in range(40)]
MATRIX = {"rows": [0, 1, 2], "columns": [0, 1], "shared": [[0.9, 0.1], [0.2, 0.8], [0.3, 0.3]]}
TRACE = [{"chain": c, "sweep": [10, 20, 30, 40], "log_joint": [-9e6, -8e6, -7.5e6, None]} for c in range(2)]

CHARTS = {
    "columns": charts.columns(TREND, face()),
    "lines": charts.lines(SERIES, YEARS),
    "differences": charts.differences(DIFFERENT, "one", "two"),
    "decades": charts.lines(SERIES, [1900 + 10 * i for i in range(len(YEARS))], "decade"),
    "stacked": charts.stacked(BY_YEAR, "Jordan, M"),
    "map": charts.topic_map(PLACED),
    "linked map": charts.topic_map(PLACED, Addresses()),
    "matrix": charts.matrix(MATRIX, "one", "two"),
    "trace": charts.trace(TRACE),
    "sparkline": charts.sparkline(SHARES, timeline(YEARS), ends(SHARES)),
    "linked columns": charts.columns(TREND, face(), href=lambda year: f"/m/a/documents?year={year}&topic=3"),
    "part of the years": charts.lines(SERIES, YEARS, shown=(1990, 1995)),
    "ribbon": charts.ribbon([{"topic": face(k), "share": 0.2} for k in range(3)]),
    "bar": charts.bar(0.4),
    "double bar": charts.double_bar(0.4, 0.5),
    "double bar that goes on": charts.double_bar(0.4, 0.1),
}
EVERY = pytest.mark.parametrize("markup", CHARTS.values(), ids=CHARTS.keys())
FIGURES = pytest.mark.parametrize(
    "name", ["columns", "lines", "differences", "decades", "stacked", "map", "matrix", "trace"]
)


def svgs(markup: str) -> list[ET.Element]:
    root = ET.fromstring(str(markup))
    return [root] if root.tag == "svg" else root.findall("svg")


@EVERY
def test_chart_is_well_formed_and_has_no_style(markup: Markup) -> None:
    assert isinstance(markup, Markup) and svgs(markup)
    for element in ET.fromstring(str(markup)).iter():
        assert element.tag not in {"style", "script", "foreignObject", "use", "image"}
        assert not any(name == "style" or name.startswith("on") for name in element.attrib)


@EVERY
def test_chart_has_a_sentence_or_is_hidden_from_readers(markup: Markup) -> None:
    for svg in svgs(markup):
        spoken = svg.get("role") in {"img", "group"} and len(svg.get("aria-label", "")) > 20
        assert spoken or svg.get("aria-hidden") == "true"


@FIGURES
def test_figure_is_drawn_for_wide_and_for_narrow_screens(name: str) -> None:
    wide, narrow = svgs(CHARTS[name])
    assert [wide.get("class"), narrow.get("class")] == ["wide", "narrow"]
    assert [svg.attrib["viewBox"].split()[2] for svg in (wide, narrow)] == ["720", "360"]


@FIGURES
def test_everything_is_inside_the_picture(name: str) -> None:
    for svg in svgs(CHARTS[name]):
        width, height = (float(value) for value in svg.attrib["viewBox"].split()[2:])
        for element in svg.iter("circle"):
            assert 0 <= float(element.attrib["cx"]) <= width and 0 <= float(element.attrib["cy"]) <= height
        for element in svg.iter("text"):
            assert -1 <= float(element.get("x", 0)) <= width and 0 <= float(element.get("y", 1)) <= height


@FIGURES
def test_standalone_file_needs_nothing_else(name: str) -> None:
    text = charts.standalone_svg(CHARTS[name], "A title with <signs> & more")
    root = ET.fromstring(text.encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("width")
    assert "A title with &lt;signs&gt; &amp; more" in text
    for element in root.iter():
        assert "class" not in element.attrib and "href" not in element.attrib
        if element.tag.endswith(("}rect", "}circle", "}text", "}path")):
            assert {"fill", "stroke"} & element.attrib.keys(), (element.tag, element.attrib)
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', text)) <= {"none", *re.findall("#[0-9a-f]{6}", text)}


@given(st.text(max_size=60))
def test_any_name_is_shown_and_never_markup(name: str) -> None:
    given_face = face(1, label=name or None, words=[name, "b"], x=0.0, y=0.0)
    others = [face(k, x=float(k), y=float(k * k)) for k in (2, 3)]
    for markup in (
        charts.columns(TREND, given_face),
        charts.differences([{**DIFFERENT[0], "topic": given_face}], name, name),
        charts.lines([{"topic": given_face, **banded(SHARES)}], YEARS),
        charts.stacked({**BY_YEAR, "topics": [{"topic": given_face, "share": [0.1] * len(YEARS)}]}, name),
        charts.topic_map([given_face, *others], Addresses()),
        charts.matrix(MATRIX, name, name),
    ):
        tags = {element.tag for element in ET.fromstring(str(markup)).iter()}
        assert tags <= {"div", "svg", "g", "a", "rect", "circle", "path", "text", "tspan", "title"}
        ET.fromstring(charts.standalone_svg(markup, name).encode())


def test_hostile_name_is_escaped() -> None:
    markup = charts.columns(TREND, face(label=HOSTILE))
    assert "<script" not in markup and "\x00" not in markup
    assert clean(HOSTILE) == HOSTILE.replace("\x00", "").replace("\x1b", "").replace("\ud800", "")


@pytest.mark.parametrize("values", [[], [0.5], [0.0, 0.0, 0.0], [None, None]])
def test_sparkline_of_nothing_is_nothing(values: list[float | None]) -> None:
    assert charts.sparkline(values, timeline(YEARS[: len(values)]), ends(values)) == ""


def test_sparkline_says_its_peak_if_it_is_clear() -> None:
    shares: list[float | None] = [0.01, 0.04, 0.02]
    drawn = charts.sparkline(shares, timeline([2000, 2001, 2002]), ends(shares))
    assert "highest in 2001 with 4.0\u202f%" in drawn and ">4.0\u202f%</text>" in drawn
    for unsure in (None, ([0.0] * 3, [0.5] * 3)):
        drawn = charts.sparkline(shares, timeline([2000, 2001, 2002]), unsure)
        assert "no year is clearly above" in drawn and "</text>" not in drawn and 'class="line"' in drawn


def test_a_thin_year_sets_neither_scale_nor_peak() -> None:
    """3 of 21 words in 1987 are 14 %, and say nothing."""
    years, words = [1987, *range(1990, 2000)], [21.0] + [5000.0] * 10
    shares = [3 / 21, *(0.01 + 0.001 * i for i in range(10))]
    lower, upper = [0.0] + [x - 0.001 for x in shares[1:]], [0.4] + [x + 0.001 for x in shares[1:]]
    trend = {"years": years, "share": shares, "lower": lower, "upper": upper, "n_tokens": [3] + [50] * 10}
    drawn = charts.columns(trend, face(share=0.0145))
    assert "highest in 1999 with 1.9" in drawn and "1987: 14" not in drawn
    wide = svgs(drawn)[0]
    kinds = [mark.get("class") for mark in wide.iter("rect") if "fill" in mark.get("class", "").split()]
    assert kinds[0] == "fill unsure" and kinds[-1] == "fill" and set(kinds[1:-1]) == {"fill soft"}
    assert not any(
        "10" in (text.text or "")
        for text in wide.iter("text")
        if text.get("class") == "axis" and "%" in (text.text or "")
    )
    assert "too few words" in drawn
    spark = charts.sparkline(shares, charts.Timeline(years, words, 1987, 1999), (lower, upper))
    assert "highest in 1999" in spark
    line = charts.lines([{"topic": face(), "share": shares, "lower": lower, "upper": upper}], years, "year", words)
    assert re.search("from 1.[01]\u202f% to 1.9\u202f%", line)


def test_only_the_years_asked_for_are_drawn() -> None:
    for drawn in (
        charts.columns(TREND, face(), shown=(1990, 1995)),
        charts.lines(SERIES, YEARS, shown=(1990, 1995)),
        charts.stacked(BY_YEAR, "Jordan, M", shown=(1990, 1995)),
    ):
        wide = svgs(drawn)[0]
        assert [mark.get("data-year") for mark in wide.iter("rect") if mark.get("class") == "band"] == [
            str(year) for year in range(1990, 1996)
        ]


def test_years_lead_to_their_documents() -> None:
    wide = svgs(charts.columns(TREND, face(), href=lambda year: f"documents?year={year}"))[0]
    assert [link.get("href") for link in wide.iter("a")] == [f"documents?year={year}" for year in YEARS]
    assert wide.get("role") == "group" and {link.get("tabindex") for link in wide.iter("a")} == {"-1"}


def test_long_sparkline_is_smoothed_and_short_in_bytes() -> None:
    years = list(range(1790, 2027))
    spike = [1.0 if year == 1800 else 0.01 for year in years]
    drawn = charts.sparkline(spike, timeline(years), ends(spike))
    assert "means of 11 years" in drawn and len(drawn) < 1500
    assert "100\u202f%" not in drawn


def test_years_without_words_leave_gaps() -> None:
    gap = [0.01, None, 0.02, 0.03]
    drawn = charts.lines([{"topic": face(), **banded(gap)}], [2000, 2001, 2002, 2003])
    assert re.search(r'class="line dash0"', drawn) and re.search(r'd="M[^"]*M[^"]*"', drawn)


def test_lines_of_hues_that_look_alike_are_drawn_differently() -> None:
    series = [{"topic": face(k, hue=20 + k), **banded(SHARES)} for k in range(4)]
    wide = svgs(charts.lines(series, YEARS))[0]
    kinds = [element.get("class") for element in wide.iter("path") if "line" in element.get("class", "").split()]
    assert len(set(kinds)) == 4


def test_map_leads_to_topics_and_stays_the_same() -> None:
    linked = charts.topic_map(PLACED, Addresses())
    assert {element.get("href") for element in svgs(linked)[0].iter("a")} == {
        f"/m/a/topic/{k}?a=1&b=2" for k in range(len(PLACED))
    }
    assert charts.topic_map(PLACED, Addresses()) == linked
    assert charts.topic_map([face(k, x=None, y=None) for k in range(3)]) == ""


def test_topics_of_connecting_words_have_no_name_on_maps() -> None:
    shown = [face(k, x=3.0 * k, y=float(k), share=0.2, glue=k == 1, label=f"name {k}") for k in range(3)]
    assert [text.text for text in svgs(charts.topic_map(shown))[0].iter("text")] == ["name 0", "name 2"]
    placed = [{**one, "anchor_x": 0.3 * k + 0.2, "anchor_y": 0.5, "n_documents": 9} for k, one in enumerate(shown)]
    drawn = document_map(np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]), np.arange(3), placed)
    assert [text.text for text in svgs(drawn)[0].iter("text")] == ["name 0", "name 2"]
    assert "about name 0" in drawn


def test_map_of_topics_in_one_place_is_drawn() -> None:
    discs = svgs(charts.topic_map([face(k, x=1.0, y=1.0) for k in range(6)]))[0].iter("circle")
    assert len({(disc.get("cx"), disc.get("cy")) for disc in discs}) == 6


def test_names_on_the_map_do_not_overlap() -> None:
    sizes = {"name big": 15.0, "name": 12.5, "name small": 11.0}
    boxes = []
    for text in svgs(charts.topic_map(PLACED))[0].iter("text"):
        size = sizes[text.attrib["class"]]
        long = text_width(text.text or "", size)
        start = {"start": 0.0, "middle": long / 2, "end": long}[text.get("text-anchor", "start")]
        left, base = float(text.attrib["x"]) - start, float(text.attrib["y"])
        boxes.append((left, base - size + 2, left + long, base + 3))
    assert len(boxes) > 20
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            # Coordinates are written with one decimal.
            assert a[0] > b[2] - 0.2 or b[0] > a[2] - 0.2 or a[1] > b[3] - 0.2 or b[1] > a[3] - 0.2


def test_picture_of_a_page() -> None:
    from topoi.web.pages import picture_of

    site = {"title": "Letters"}
    topic = {"kind": "topic", "topic": face(), "trend": TREND, "span": None}
    trends = {
        "kind": "trends",
        "series": SERIES,
        "years": YEARS,
        "by": "year",
        "n_tokens": [9] * len(YEARS),
        "span": None,
    }
    author = {
        "kind": "author",
        "author": {"name": "Jordan, M"},
        "by_year": BY_YEAR,
        "span": {"first": 1990, "last": 1992},
    }
    overview = {"kind": "overview", "topics": PLACED}
    for page in (topic, trends, author, overview):
        found = picture_of(page, site)
        assert found is not None and found.startswith("<?xml")
    assert picture_of({"kind": "topic", "topic": face(), "trend": None}, site) is None
    assert picture_of({"kind": "models"}, site) is None


@given(st.floats(1e-6, 1e6), st.integers(2, 6))
def test_ticks_are_round_and_within(high: float, n: int) -> None:
    found = ticks(high, n)
    assert found[0] == 0 and found[-1] <= high * (1 + 1e-9) and 1 < len(found) <= 2 * n + 2


@given(st.integers(-500, 2100), st.integers(0, 3000), st.integers(2, 15))
def test_year_ticks_are_few_and_in_order(first: int, length: int, room: int) -> None:
    found = year_ticks(first, first + length, room)
    assert found == sorted(set(found)) and found[0] == first and found[-1] == first + length
    assert len(found) <= room + 1


@given(st.lists(st.floats(0, 300), max_size=12))
def test_spread_keeps_order_and_distance(wanted: list[float]) -> None:
    found = spread(wanted, 15, 0, 300)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert all(found[b] - found[a] >= 15 - 1e-6 for a, b in zip(order, order[1:], strict=False))
