"""Small pictures and tables: they fit, they line up, they are right."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from topoi.cli import look
from topoi.cli.output import csv_text, json_text, plain_table
from topoi.cli.topics import labelled
from topoi.cli.trends import condense


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("topic", range(0, 200, 7))
def test_topic_colours_are_readable_on_black_and_white(topic: int) -> None:
    brightness = luminance(look.topic_colour(topic))
    assert 1.05 / (brightness + 0.05) >= 3
    assert (brightness + 0.05) / 0.05 >= 5


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_sparkline_has_one_block_per_value_and_a_full_one_at_the_peak(values: list[float]) -> None:
    line = look.sparkline(values)
    assert len(line) == len(values)
    assert max(values) == 0 or line[values.index(max(values))] == "█"


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=20), st.integers(12, 100))
def test_words_fit_and_none_is_cut(words: list[str], width: int) -> None:
    kept = look.fitting(words, width)
    assert kept == words[: len(kept)] and kept
    assert len(look.GAP.join(kept)) <= width


@given(st.floats(0, 1), st.integers(1, 20))
def test_bar_has_its_width(fraction: float, width: int) -> None:
    assert len(look.bar(fraction, width)) == width


def test_row_pads_all_but_the_end() -> None:
    assert look.row(("ab", 4), ("c", 3), ("d", 6)).plain == "ab    c    d"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.integers(1, 60))
def test_condensed_series_fits_and_keeps_its_range(values: list[float], width: int) -> None:
    short = condense(values, width)
    assert 0 < len(short) <= width
    assert min(values) - 1e-9 <= min(short) <= max(short) <= max(values) + 1e-9


def test_frame_in_three_forms() -> None:
    frame = pd.DataFrame(
        {"name": ["a\u2028b", "é"], "share": [0.5, None], "n_words": [12345, 2], "list": [["x", "y"], []]}
    )
    assert json.loads(json_text(frame))[0] == {"name": "a\u2028b", "share": 0.5, "n_words": 12345, "list": ["x", "y"]}
    assert json.loads(json_text(frame.iloc[:0])) == []
    assert csv_text(frame).splitlines()[-1] == "é,,2,"
    screen = Console(file=io.StringIO(), width=80)
    screen.print(plain_table(frame))
    assert "12,345" in screen.file.getvalue() and "50%" in screen.file.getvalue()


def test_topics_wear_the_hues_of_their_file() -> None:
    look.wear({})
    plain = look.topic_colour(2)
    look.wear({2: 200})
    try:
        assert look.topic_colour(2) == look.hex_from_oklch(look.LIGHTNESS, look.CHROMA, 200) != plain
        assert look.topic_colour(3) == look.hex_from_oklch(look.LIGHTNESS, look.CHROMA, look.numbered_hue(3))
    finally:
        look.wear({})
    assert look.topic_colour(2) == plain


VERBS = [
    ["topics"],
    ["topics", "--topic", "0"],
    ["authors"],
    ["trends"],
    ["similar", "Drake, F"],
    ["unusual", "Drake, F"],
    ["documents", "--topic", "0"],
    ["words", "ship"],
    ["label", "ship harbor wheat"],
    ["align", "--chain-b", "0"],
    ["models"],
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_what_goes_to_a_file_is_not_cut(topoi, model_file: Path, monkeypatch, verb: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = topoi(verb[0], model_file, *verb[1:]).out.splitlines()
    monkeypatch.delenv("COLUMNS")
    run = topoi(verb[0], model_file, *verb[1:])
    lines = run.out.splitlines()
    assert run.code == 0 and "…" not in run.out and "\x1b" not in run.out
    assert max(len(line) - len(line.rstrip()) for line in lines) < 40, "padded"
    assert max(map(len, lines)) < 400
    assert len(lines) <= len(narrow)


def test_all_words_and_authors_are_in_the_file(topoi, model_file: Path, monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS")
    told = topoi("topics", model_file, "--n-words", 10).out
    rows = json.loads(topoi("topics", model_file, "--n-words", 10, "--json").out)
    assert all("  ".join(labelled(row["label"], row["words"])) in told for row in rows)
    assert all(" · ".join(row["authors"]) in told for row in rows)
