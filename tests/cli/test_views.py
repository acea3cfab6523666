"""What ``topics``, ``authors``, ``trends`` and ``label`` show of a fitted model."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from topoi.cli.label import coloured_text
from topoi.cli.look import topic_colour

from .conftest import FIELD, SEA


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def topic_with(topoi, model_file: Path, word: str) -> int:
    rows = json.loads(topoi("topics", model_file, "--json").out)
    return next(row["topic"] for row in rows if word in row["words"])


def test_topics_as_json(topoi, model_file: Path) -> None:
    rows = json.loads(topoi("topics", model_file, "--json", "--n-words", 4, "--n-authors", 2).out)
    assert sorted(row["topic"] for row in rows) == [0, 1, 2]
    assert [row["share"] for row in rows] == sorted((row["share"] for row in rows), reverse=True)
    assert all(len(row["words"]) == 4 and 1 <= len(row["authors"]) <= 2 for row in rows)
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    sea = next(row for row in rows if set(row["words"]) <= set(SEA))
    assert set(sea["authors"]) == {"Drake, F", "Cook, J"}


def test_topics_as_csv_has_the_same_rows(topoi, model_file: Path) -> None:
    table = rows_of(topoi("topics", model_file, "--csv").out)
    rows = json.loads(topoi("topics", model_file, "--json").out)
    assert [row["words"].split("; ") for row in table] == [row["words"] for row in rows]


def test_topics_for_people(topoi, model_file: Path) -> None:
    run = topoi("topics", model_file)
    assert (run.code, run.err) == (0, "")
    assert "Tull, J" in run.out
    assert max(map(len, run.out.splitlines())) <= 80
    assert "\x1b" not in run.out, "no colour when piped"
    assert not any(line.endswith(" ") for line in run.out.splitlines())


def test_one_topic(topoi, model_file: Path) -> None:
    topic = topic_with(topoi, model_file, "wheat")
    rows = json.loads(topoi("topics", model_file, "--topic", topic, "--json").out)
    assert {row["word"] for row in rows} == set(FIELD)
    assert rows[0]["author"] == "Tull, J"
    assert rows[0]["word_probability"] >= rows[-1]["word_probability"] > 0
    assert "wheat" in topoi("topics", model_file, "--topic", topic).out


def test_unknown_topic(topoi, model_file: Path) -> None:
    run = topoi("topics", model_file, "--topic", 99)
    assert (run.code, run.err) == (1, "topoi: there is no topic 99; topics are numbered 0 to 2\n")


def test_topics_without_authors(topoi, lda_file: Path) -> None:
    assert "authors" not in json.loads(topoi("topics", lda_file, "--json").out)[0]
    assert topoi("topics", lda_file).code == 0


def test_authors(topoi, model_file: Path) -> None:
    rows = json.loads(topoi("authors", model_file, "--json", "-n", 2).out)
    assert len({row["author"] for row in rows}) == 2
    assert all(row["n_words"] == 12 * 30 for row in rows)
    assert all(row["n_documents"] == 12 for row in rows)
    assert "12 documents, 360 words" in topoi("authors", model_file).out


def test_one_author(topoi, model_file: Path) -> None:
    run = topoi("authors", model_file, "tull, j", "--csv")
    rows = rows_of(run.out)
    assert rows[0]["author"] == "Tull, J"
    assert set(rows[0]["words"].split("; ")) == set(FIELD)
    assert float(rows[0]["probability"]) > 0.5
    assert topoi("authors", model_file, "Tull, J").out.startswith("Tull, J\n")


@pytest.mark.parametrize(
    ("given", "offered"), [("Tul, J", "'Tull, J'"), ("cock", "'Cook, J'"), ("Zzzz", "there are 4")]
)
def test_unknown_author(topoi, model_file: Path, given: str, offered: str) -> None:
    run = topoi("authors", model_file, given)
    assert run.code == 1
    assert run.err.startswith(f"topoi: there is no author '{given}'") and offered in run.err


def test_authors_of_a_model_without_any(topoi, lda_file: Path) -> None:
    run = topoi("authors", lda_file)
    assert run.code == 1
    assert "knows no authors" in run.err


def test_authors_of_a_model_without_topics(topoi, author_file: Path) -> None:
    rows = json.loads(topoi("authors", author_file, "--json").out)
    assert {row["author"]: set(row["words"]) for row in rows}["Tull, J"] == set(FIELD)
    words = rows_of(topoi("authors", author_file, "tull, j", "-n", 3, "--csv").out)
    assert [row["rank"] for row in words] == ["1", "2", "3"]
    assert "Tull, J  12 documents, 360 words" in topoi("authors", author_file).out


@pytest.mark.parametrize("verb", ["topics", "trends", "label"])
def test_a_model_without_topics_is_refused(topoi, author_file: Path, verb: str) -> None:
    run = topoi(verb, author_file, *(["ship"] if verb == "label" else []))
    assert run.code == 1
    assert "has no topics" in run.err and run.err.count("\n") == 1


def test_trends(topoi, model_file: Path) -> None:
    rows = json.loads(topoi("trends", model_file, "--by", "decade", "--json").out)
    shares: dict[int, float] = {}
    for row in rows:
        shares[row["decade"]] = shares.get(row["decade"], 0) + row["share"]
    assert list(shares) == sorted(shares)
    assert all(total == pytest.approx(1) for total in shares.values())


def test_trends_for_people(topoi, model_file: Path) -> None:
    run = topoi("trends", model_file, "--by", "decade", "-n", 2)
    lines = run.out.splitlines()
    assert run.code == 0 and len(lines) >= 4
    assert "first → last" in lines[0] and "earliest" in lines[-1]
    assert all(line.count("→") == 2 for line in lines[4:-1]), "of those that came and went: three shares each"
    rise, fall = ([float(x) for x in re.findall(r"([\d.]+)%", line)] for line in lines[1:3])
    assert rise[0] < rise[1] and fall[0] > fall[1]
    assert max(map(len, lines)) <= 80


def test_trend_of_one_topic(topoi, model_file: Path) -> None:
    rows = json.loads(topoi("trends", model_file, "--topic", 1, "--json").out)
    assert {row["topic"] for row in rows} == {1}
    assert topoi("trends", model_file, "--topic", 9).code == 1


def test_trends_by_a_column_without_order(topoi, model_file: Path) -> None:
    run = topoi("trends", model_file, "--by", "title", "-n", 1)
    assert run.code == 0
    assert run.out.startswith("Paper 0\n")
    assert len(run.out.splitlines()) == 2 * 48


def test_trends_by_an_unknown_column(topoi, model_file: Path) -> None:
    run = topoi("trends", model_file, "--by", "planet")
    assert run.code == 1
    assert "planet" in run.err and run.err.count("\n") == 1


def test_label_as_json(topoi, model_file: Path) -> None:
    text = "The ship left the harbor; the farmer cut his wheat."
    rows = json.loads(topoi("label", model_file, text, "--json").out)
    assert [text[row["start"] : row["end"]] for row in rows] == ["ship", "harbor", "farmer", "wheat"]


def test_label_for_people(topoi, model_file: Path) -> None:
    run = topoi("label", model_file, "ship harbor sail anchor captain")
    assert run.code == 0
    assert "ship₀" in run.out or "ship₁" in run.out or "ship₂" in run.out
    assert "voyage" in run.out, "the legend has the topic's words"
    assert not any(line.endswith(" ") for line in run.out.splitlines())


def test_label_keeps_the_lines_of_the_text(topoi, model_file: Path) -> None:
    lines = topoi("label", model_file, "\nthe ship\n\n" + "and the farmer " * 8 + "\n").out.splitlines()
    text = lines[: next(i for i, line in enumerate(lines) if "%" in line)]
    words = "".join(c for c in " ".join(text) if c.isascii()).split()
    assert words == ["the", "ship"] + ["and", "the", "farmer"] * 8
    assert max(map(len, lines)) <= 80


def test_label_colours_words_on_a_terminal() -> None:
    frame = pd.DataFrame({"start": [4, 9], "end": [8, 13], "topic": [1, 1], "topic_probability": [0.9, 0.2]})
    text = coloured_text("The ship sail.", frame, numbers=False)
    assert text.plain == "The ship₁ sail.", "the number stands where the topic changes"
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert topic_colour(1) in styles["ship"] and styles["sail"].startswith("dim")
    assert coloured_text("The ship sail.", frame, numbers=True).plain == "The ship₁ sail₁."


def test_label_from_standard_input_and_file(topoi, model_file: Path, tmp_path: Path, monkeypatch) -> None:
    text = "a verdict of the jury"
    direct = topoi("label", model_file, text, "--csv").out
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert topoi("label", model_file, "-", "--csv").out == direct
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert topoi("label", model_file, "--csv").out == direct
    path = tmp_path / "text.txt"
    path.write_text(text)
    assert topoi("label", model_file, "--file", path, "--csv").out == direct
    assert len(rows_of(direct)) == 2


def test_label_with_authors(topoi, model_file: Path) -> None:
    text = "ship harbor wheat barn"
    repeated = topoi("label", model_file, text, "--authors", "Drake, F", "--authors", "Tull, J", "--json").out
    assert topoi("label", model_file, text, "--authors", "drake, f;tull, j", "--json").out == repeated
    assert {row["author"] for row in json.loads(repeated)} <= {"Drake, F", "Tull, J"}
    assert "by " in topoi("label", model_file, text, "--authors", "Drake, F").out
    anybody = json.loads(topoi("label", model_file, text, "--authors", "any", "--json").out)
    assert {row["author"] for row in anybody} <= {"Drake, F", "Cook, J", "Tull, J", "Coke, E"}
    assert "author" not in json.loads(topoi("label", model_file, text, "--json").out)[0]


def test_label_refuses(topoi, model_file: Path, lda_file: Path, monkeypatch) -> None:
    assert topoi("label", model_file, "ship", "--authors", "Nobody").code == 1
    assert topoi("label", lda_file, "ship", "--authors", "Drake, F").code == 1
    assert topoi("label", model_file, "ship", "--file", "x").code == 2
    assert topoi("label", model_file, "--file", "absent.txt").err == "topoi: no such file: absent.txt\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert topoi("label", model_file).code == 2


def test_label_of_unknown_words(topoi, model_file: Path) -> None:
    run = topoi("label", model_file, "quantum chromodynamics")
    assert run.code == 0
    assert "None of these words" in run.out
    assert json.loads(topoi("label", model_file, "quantum chromodynamics", "--json").out) == []
