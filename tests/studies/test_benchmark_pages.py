"""The manual's tables of benchmarks are made from the numbers that are kept, and from nothing else."""

import json

import pytest
from benchmarks import markdown, record
from benchmarks.published import BLOCKS, CHARTS
from benchmarks.report import Report
from benchmarks.runs import RUNS


def test_every_table_is_what_its_numbers_say():
    for page in record.pages():
        text = page.read_text(encoding="utf-8")
        assert record.filled(text) == text, f"{page}: python -m benchmarks.record --pages writes it anew"
    for name, chart in CHARTS.items():
        assert (record.KEPT / f"{name}.svg").read_text(encoding="utf-8") == record.made(chart)


def test_every_block_is_shown_and_every_run_is_used():
    shown = {block for _, block in record.blocks()}
    assert shown == set(BLOCKS)
    used = {run for block in (*BLOCKS.values(), *CHARTS.values()) for run in block.runs}
    assert used == set(RUNS)
    assert {path.stem for path in record.KEPT.glob("*.json")} == set(RUNS)


def test_every_run_says_how_it_was_made():
    for name, run in RUNS.items():
        about = record.numbers(name)["about"]
        assert about["command"] == f"python -m {run.words}", name
        assert {"made", "commit", "minutes", "machine", "versions"} <= set(about)


def test_tables_are_set_as_print_is():
    rows = [{"a": "x", "n": 1, "x": -0.5}, {"a": "x", "n": 1, "x": 2.0}, {"a": "y", "n": 1, "x": None}]
    assert markdown.table(rows, {"a": "name", "n": "K|,", "x": "share|.0%"}, 2).splitlines() == [
        "| name | K | share |",
        "|---|---:|---:|",
        "| x | 1 | −50% |",
        "| | | 200% |",
        "| y | 1 | – |",
    ]
    assert markdown.span([1.04, 1.0]) == "1.0" and markdown.span([3, 12], 0) == "3 to 12"


def test_systems_stand_beside_each_other():
    rows = [{"k": 1, "system": "a", "rate": 2}, {"k": 1, "system": "b", "rate": 3}, {"k": 2, "system": "a", "rate": 4}]
    found = markdown.beside(rows, ("k",), "system", ("rate",))
    assert found == [{"k": 1, "rate a": 2, "rate b": 3}, {"k": 2, "rate a": 4}]


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "KEPT", tmp_path)
    monkeypatch.setattr(record, "ROOT", tmp_path)
    return tmp_path


def test_numbers_are_kept_with_six_digits_and_blocks_wait_for_them(kept):
    text = "<!-- benchmark: frames -->\n<!-- end -->\n"
    assert record.filled(text) == text
    about = {"command": "python -m benchmarks.map_frames", "made": "2026-11-19", "machine": "One, 2 cores"}
    rows = [{"dots": 100_000, "shown": 70_000, "rate": 54.123456789, "middle": 13.0}]
    record.keep("frames", about, {"frames": rows})
    assert json.loads((kept / "frames.json").read_text())["sections"]["frames"][0]["rate"] == 54.1235
    filled = record.filled(text)
    assert "| 100,000 | 70,000 | 54 | 13 |" in filled and "19 November 2026: One, 2 cores.*" in filled
    assert record.filled(filled) == filled


def test_a_report_without_a_path_writes_nothing(tmp_path, capsys):
    report = Report()
    report.section("one", "One", [{"a": 1.5}], {"a": "a|.2f"}, "said")
    report.write(None)
    report.write(tmp_path / "one.json")
    assert "1.50" in capsys.readouterr().out and json.loads((tmp_path / "one.json").read_text()) == {
        "one": [{"a": 1.5}]
    }
