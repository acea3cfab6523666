"""Rows are inserted whole, whatever the number that a statement takes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import topoi
from topoi.store import insert
from topoi.store.insert import insert_rows


@pytest.mark.parametrize("n_rows", [0, 1, 6, 7, 8, 21])
@pytest.mark.parametrize("kind", ["INTEGER", "BLOB"])
def test_every_row_once(n_rows: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insert, "_NUMBERS" if kind == "INTEGER" else "_OTHERS", 7)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE pair (a INTEGER, b {kind})")
    rows = [(n, n * n if kind == "INTEGER" else bytes(n)) for n in range(n_rows)]
    insert_rows(connection, "pair", iter(rows))
    assert connection.execute("SELECT a, b FROM pair ORDER BY rowid").fetchall() == rows


def test_few_parameters_will_do() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE pair (a INTEGER, b REAL)")
    connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 5)
    insert_rows(connection, "pair", ((n, n / 3) for n in range(9)))
    assert connection.execute("SELECT b FROM pair ORDER BY a").fetchall() == [(n / 3,) for n in range(9)]


def test_rows_of_texts_are_taken_a_few_at_a_time() -> None:
    connection, taken = sqlite3.connect(":memory:"), 0
    connection.execute("CREATE TABLE page (text TEXT)")
    most = []

    def rows():
        nonlocal taken
        for n in range(100):
            taken += 1
            most.append(taken - connection.execute("SELECT count(*) FROM page").fetchone()[0])
            yield (str(n),)

    insert_rows(connection, "page", rows())
    assert max(most) <= insert._OTHERS + 1


def test_no_map_is_drawn_if_all_topics_have_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, texts = tmp_path / "a.topoi", ["ship sail anchor", "wheat plough barley", "judge jury trial"] * 4
    corpus = topoi.Corpus.from_texts(texts, max_df=1.0, min_df=1)
    topoi.LDA(4, n_iter=5, random_state=0, progress=False).fit(corpus).save(path)
    places = topoi.open_store(path).sql("SELECT x, y FROM topic ORDER BY topic")
    drawn = []
    draw = topoi.store.topic_rows.topic_map
    monkeypatch.setattr("topoi.store.topic_rows.topic_map", lambda *given: drawn.append(1) or draw(*given))
    topoi.edit(path).merge(0, 1).commit(n_iter=1)
    assert not drawn and topoi.open_store(path).sql("SELECT x, y FROM topic").notna().all(axis=None)
    topoi.edit(path).split(0).split(2).commit(n_iter=1)  # the second part of topic 2 is a new topic
    assert drawn
    for _ in range(2):  # rows of the first step are made anew, with the places that its topics had
        topoi.edit(path).undo()
    assert len(drawn) == 1 and topoi.open_store(path).sql("SELECT x, y FROM topic ORDER BY topic").equals(places)
