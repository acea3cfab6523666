"""Edits of a model in a store: whole or not at all, with labels, history and the way back."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topoi
from topoi.errors import ModelError, StoreError
from topoi.store import edit_states
from topoi.store.write import MODEL_TABLES

TEXTS = ["ship sail anchor harbor", "wheat plough barley farmer", "judge jury trial appeal"] * 6


@pytest.fixture
def path(tmp_path: Path) -> Path:
    corpus = topoi.Corpus.from_texts(TEXTS, max_df=1.0)
    place = tmp_path / "papers.topoi"
    topoi.LDA(4, alpha=0.1, n_iter=20, random_state=0, progress=False).fit(corpus).save(place, name="topics")
    topoi.LDA(3, n_iter=2, random_state=0, progress=False).fit(corpus).save(place, name="other")
    store = topoi.open_store(place)
    for k in range(4):
        store.set_label("topics", k, f"label {k}")
    return place


def rows_of(path: Path, name: str) -> dict[str, Any]:
    """All rows of a model, table by table, but for its number."""
    with closing(sqlite3.connect(path)) as connection:
        (model_id,) = connection.execute("SELECT model_id FROM model WHERE name = ?", (name,)).fetchone()
        found = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            if columns[0] == "model_id" and table != "model":
                rest = ", ".join(columns[1:])
                query = f"SELECT {rest} FROM {table} WHERE model_id = ? ORDER BY {rest}"
                found[table] = connection.execute(query, (model_id,)).fetchall()
        query = "SELECT name, digest, chain FROM model WHERE model_id = ?"
        return found | {"model": connection.execute(query, (model_id,)).fetchall()}


def test_file_has_the_edited_model_its_labels_and_history(path: Path) -> None:
    store, other = topoi.open_store(path), rows_of(path, "other")
    model = store.edit("topics", who="Ann").merge(0, 2).rename(1, "grain").commit(n_iter=3)
    loaded, view = topoi.load(path, "topics"), topoi.view(path, "topics")
    assert np.array_equal(loaded.topic_word_, model.topic_word_) and loaded.edits_ == model.edits_
    assert view.n_topics == 4 and view.top_words(3)["word"].tolist()[:3] == loaded.top_words(3)["word"].tolist()[:3]
    assert store.labels("topics") == {0: "label 0", 1: "grain", 3: "label 3"}
    assert store.retired_topics("topics") == [2] and store.retired_topics("other") == []
    frame = store.edits("topics")
    assert frame["text"].tolist() == ["merge 2 into 0", "call 1 'grain'"] and set(frame["who"]) == {"Ann"}
    assert frame["n_iter"].tolist() == [3, 3] and frame["step"].tolist() == [1, 1]
    assert store.sql("SELECT kind, undone FROM edit ORDER BY number").values.tolist() == [["merge", 0], ["rename", 0]]
    assert rows_of(path, "other") == other and store.models()["name"].tolist() == ["other", "topics"]
    again = topoi.edit(path, "topics").split(0).commit(n_iter=2)
    assert again.edits_[-1].topics == (0, 2) and store.labels("topics") == {0: "label 0", 1: "grain", 3: "label 3"}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_undo_another_day_gives_the_same_rows(path: Path) -> None:
    store, before = topoi.open_store(path), rows_of(path, "topics")
    bundle = topoi.load(path, "topics").to_bundle()
    store.edit("topics").merge(0, 2).rename(1, "grain").commit(n_iter=3)
    middle = {key: np.array(value) for key, value in topoi.load(path, "topics").to_bundle()[1].items()}
    store.edit("topics").split(0, into=3).commit(n_iter=2)
    store.set_label("topics", 3, "meanwhile")
    editor = topoi.edit(path, "topics")
    editor.undo()
    now = topoi.load(path, "topics").to_bundle()[1]
    assert now.keys() == middle.keys() and all(np.array_equal(now[key], middle[key]) for key in now)
    topoi.edit(path, "topics").undo()
    after = rows_of(path, "topics")
    assert store.labels("topics") == {0: "label 0", 1: "label 1", 2: "label 2", 3: "meanwhile"}
    changed = {"label", "edit", "model"}
    assert {key: rows for key, rows in after.items() if key not in changed} == {
        key: rows for key, rows in before.items() if key not in changed
    }
    arrays = topoi.load(path, "topics").to_bundle()[1]
    assert all(np.array_equal(arrays[key], bundle[1][key]) for key in bundle[1]) and len(arrays) == len(bundle[1])
    assert after["model"][0][2] == before["model"][0][2]  # the chain by which labels survive
    assert store.sql("SELECT count(*) AS n FROM array WHERE name GLOB 'undo*'")["n"][0] == 0
    with pytest.raises(ModelError, match="nothing to undo"):
        topoi.edit(path, "topics").undo()


def numbers_with_rows(path: Path) -> set[int]:
    """Numbers of models, or of what were models, that have rows in any table."""
    with closing(sqlite3.connect(path)) as connection:
        queries = (
            f"SELECT DISTINCT model_id FROM {table}" for table in (*MODEL_TABLES, "array", "label", "edit_state")
        )
        return {number for query in queries for (number,) in connection.execute(query) if number is not None}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("family", ["lda", "authors", "pachinko"])
def test_rows_after_edits_are_those_of_a_save(tmp_path: Path, family: str, n_jobs: int) -> None:
    corpus = topoi.Corpus.from_texts(
        TEXTS, authors=["Ann", "Bob", "Ann; Cy"] * 6, dates=[1999, 2003, 2011] * 6, max_df=1.0
    )
    how: dict[str, Any] = {"n_iter": 12, "random_state": 0, "progress": False}
    model = {
        "lda": lambda: topoi.LDA(4, **how),
        "authors": lambda: topoi.AuthorTopicModel(4, **how),
        "pachinko": lambda: topoi.PachinkoAllocation(2, 4, **how),
    }[family]()
    edited, fresh = tmp_path / "edited.topoi", tmp_path / "fresh.topoi"
    model.fit(corpus).save(edited, name="m")
    editor = topoi.edit(edited, "m")
    editor.model.set_params(n_jobs=n_jobs)
    editor.split(1).commit(n_iter=6)
    editor.split(0).rename(2, "law").commit(n_iter=6).save(fresh, name="m")
    ours, theirs = rows_of(edited, "m"), rows_of(fresh, "m")
    # Hues outlive edits, and the map is turned like the one before.
    places = {table: [(*row[:5], *row[8:]) for row in ours[table]] for table in ["topic"]}
    assert places["topic"] == [(*row[:5], *row[8:]) for row in theirs["topic"]]
    # Documents stay where they were on the map, too.
    without = {"topic", "edit_state", "label", "document_place"}
    assert {k: v for k, v in ours.items() if k not in without} == {k: v for k, v in theirs.items() if k not in without}
    for table in ("topic_word", "document_topic", "mixture", "document_assignment", "topic_trend", "topic_decade"):
        assert ours[table]
    editor.undo()
    assert len(topoi.load(edited).topic_word_) == 5  # its checksum is right
    editor.undo()
    assert np.array_equal(topoi.load(edited).topic_word_, model.topic_word_)


def test_rows_before_the_last_commit_are_kept_and_no_others(path: Path) -> None:
    (other,) = numbers_with_rows(path) - {1}
    first = rows_of(path, "topics")
    editor = topoi.edit(path, "topics")
    editor.split(0).commit(n_iter=1)
    assert numbers_with_rows(path) == {1, other, 3}
    second = rows_of(path, "topics")
    editor.split(1).commit(n_iter=1)
    assert numbers_with_rows(path) == {other, 3, 4}  # rows before the first commit are gone, its arrays are not
    editor.rename(1, "x").commit()
    assert numbers_with_rows(path) == {other, 3, 4}
    editor.undo()
    assert rows_of(path, "topics")["label"] == second["label"]
    editor.undo()
    assert numbers_with_rows(path) == {other, 3}
    same = {"edit", "model", "edit_state"}
    now = rows_of(path, "topics")
    assert {k: v for k, v in now.items() if k not in same} == {k: v for k, v in second.items() if k not in same}
    editor.undo()  # made from arrays
    assert len(numbers_with_rows(path)) == 2
    now = rows_of(path, "topics")
    assert {k: v for k, v in now.items() if k not in same} == {k: v for k, v in first.items() if k not in same}
    editor.split(0).commit(n_iter=1).save(path, name="topics")
    assert len(numbers_with_rows(path)) == 2  # a save leaves no states


def test_rows_of_another_model_are_never_taken_for_a_state(path: Path) -> None:
    other = rows_of(path, "other")
    topoi.edit(path, "topics").split(0).commit(n_iter=1)
    with closing(sqlite3.connect(path)) as connection:
        (number,) = connection.execute("SELECT model_id FROM model WHERE name = 'other'").fetchone()
        connection.execute("UPDATE edit_state SET labels = json_set(labels, '$.rows', ?)", (number,))
        connection.commit()
    topoi.edit(path, "topics").undo()
    assert rows_of(path, "other") == other
    topoi.edit(path, "topics").split(0).commit(n_iter=1)
    assert rows_of(path, "other") == other


def test_names_given_in_the_store_are_in_the_history_and_are_undone(path: Path) -> None:
    store, before = topoi.open_store(path), rows_of(path, "topics")
    editor = topoi.edit(path, "topics")  # opened before, as the browser's is
    store.set_label("topics", 1, "grain", who="Ann")
    store.set_label("topics", 1, "grain", who="Ann")  # no change, no edit
    assert store.edits("topics")[["kind", "text", "who", "step"]].values.tolist() == [
        ["rename", "call 1 'grain'", "Ann", 1]
    ]
    model = topoi.load(path, "topics")
    assert [edit.text for edit in model.edits_] == ["call 1 'grain'"]
    editor.split(0).commit(n_iter=1)
    assert store.edits("topics")["step"].tolist() == [1, 2] and store.labels("topics")[1] == "grain"
    store.set_label("topics", 1, None, who="Bob")
    assert store.edits("topics")["text"].tolist()[-1] == "take the name from 1" and 1 not in store.labels("topics")
    editor.undo()
    assert store.labels("topics")[1] == "grain"
    editor.undo()
    assert editor.model.n_topics == 4 and store.labels("topics")[1] == "grain"
    topoi.edit(path, "topics").undo()
    assert store.labels("topics")[1] == "label 1" and store.edits("topics")["undone"].all()
    after, same = rows_of(path, "topics"), {"edit", "model"}
    assert {k: v for k, v in after.items() if k not in same} == {k: v for k, v in before.items() if k not in same}


def test_a_name_outlives_more_sweeps_and_leaves_other_labels(path: Path) -> None:
    store = topoi.open_store(path)
    store.set_label("topics", 1, "grain", who="Ann")
    topoi.load(path, "topics").resume(2).save(path, name="topics")
    assert store.labels("topics") == {0: "label 0", 1: "grain", 2: "label 2", 3: "label 3"}
    assert store.edits("topics")["text"].tolist() == ["call 1 'grain'"]


def test_so_many_states_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_states, "MOST_STATES", 2)
    editor = topoi.edit(path, "topics")
    for _ in range(3):
        editor.split(0).commit(n_iter=0)
    store = topoi.open_store(path)
    assert store.sql("SELECT step FROM edit_state ORDER BY step")["step"].tolist() == [2, 3]
    assert store.sql("SELECT count(*) AS n FROM array WHERE name GLOB 'undo1_*'")["n"][0] == 0
    editor.undo()
    editor.undo()
    with pytest.raises(ModelError, match="step 1 cannot be undone"):
        editor.undo()
    assert editor.model.n_topics == 5


def test_an_update_keeps_the_edits(path: Path, tmp_path: Path) -> None:
    editor = topoi.edit(path, "topics")
    editor.merge(0, 2).ban(0, "ship").commit(n_iter=2)
    there = tmp_path / "updated.topoi"
    topoi.open_store(path).update(["ship sail anchor", "judge jury"] * 3, "topics", output=there, n_iter=5)
    store, model = topoi.open_store(there), topoi.load(there)
    assert store.edits()["kind"].tolist() == ["merge", "ban"] and store.retired_topics() == [2]
    found, words = model.chains_[0].assignments.topic, model.corpus_.words[model.corpus_.tokens]
    assert not (found == 2).any() and not (found[words == "ship"] == 0).any()
    with pytest.raises(ModelError, match="cannot be undone"):
        topoi.edit(there).undo()
    topoi.edit(there).split(1).commit(n_iter=1)
    topoi.edit(there).undo()


def test_a_model_changed_meanwhile_is_kept(path: Path) -> None:
    one, other = topoi.edit(path, "topics"), topoi.edit(path, "topics")
    one.merge(0, 2).commit(n_iter=1)
    topoi.open_store(path).set_label("topics", 0, "a label is no change")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        other.merge(1, 3).commit(n_iter=1)
    assert path.read_bytes() == before and other.model.edits_ == [] and len(other.pending) == 1
    one.split(0).commit(n_iter=1)
    assert one.undo().edits_[-1].undone


def test_a_failing_save_leaves_file_and_model(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, editor = path.read_bytes(), topoi.edit(path, "topics")
    monkeypatch.setattr("topoi.store.write.put_table", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        editor.merge(0, 2).commit(n_iter=1)
    monkeypatch.undo()
    assert path.read_bytes() == before and editor.model.edits_ == []
    assert editor.commit(n_iter=1).edits_[0].topics == (0, 2)


EDIT = """
import sys, time, topoi
from topoi.store import edit_states
def stop(*_):
    print("here", flush=True)
    time.sleep(60)
edit_states.put_entry = stop
topoi.edit(sys.argv[1], "topics").merge(0, 2).commit(n_iter=0)
"""


def test_killed_in_the_middle_the_file_is_whole(path: Path) -> None:
    before = rows_of(path, "topics")
    process = subprocess.Popen([sys.executable, "-c", EDIT, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"here\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert rows_of(path, "topics") == before and topoi.load(path, "topics").edits_ == []
    assert topoi.edit(path, "topics").merge(0, 2).commit(n_iter=0).edits_[0].number == 1


def test_names_of_a_model_in_memory_become_labels(path: Path, tmp_path: Path) -> None:
    model = topoi.load(path, "topics")
    topoi.edit(model).rename(1, "grain").commit()
    model.save(tmp_path / "new.topoi")
    store = topoi.open_store(tmp_path / "new.topoi")
    others = {k: f"label {k}" for k in (0, 2, 3)}
    assert store.labels() == others | {1: "grain"} and store.edits()["kind"].tolist() == ["rename"]
    store.set_label(None, 1, "barley")
    model.resume(1).save(tmp_path / "new.topoi")
    assert store.labels() == others | {1: "barley"}


def test_damaged_edits_are_said(path: Path) -> None:
    topoi.edit(path, "topics").merge(0, 2).commit(n_iter=0)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE edit_state SET digest = 'x'")
    with pytest.raises(StoreError, match="before the edit"):
        topoi.edit(path, "topics").undo()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE edit SET record = ?", (json.dumps({"kind": "burn"}),))
    with pytest.raises(StoreError, match="edits are damaged"):
        topoi.open_store(path).edits("topics")
    with pytest.raises(StoreError, match="edits are damaged"):
        topoi.load(path, "topics")


def test_what_can_be_edited(path: Path) -> None:
    model = topoi.load(path, "topics")
    with pytest.raises(ModelError, match="name is for models in a store"):
        topoi.edit(model, "topics")
    with pytest.raises(StoreError, match="no model 'none'"):
        topoi.edit(path, "none")


def test_threads_of_an_edit_are_not_settings_of_the_model(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    gibbs, edits = topoi.models.gibbs, topoi.store.edits
    opened, tasks = gibbs.open_executor, edits.open_tasks
    monkeypatch.setattr(gibbs, "open_executor", lambda jobs, n: used.append(jobs) or opened(jobs, n))
    monkeypatch.setattr(edits, "open_tasks", lambda jobs, **how: used.append(jobs) or tasks(jobs, **how))
    editor = topoi.edit(path, "topics", n_jobs=3)
    editor.merge(0, 2).commit(n_iter=1)
    assert used and set(used) == {3}
    used.clear()
    assert topoi.load(path, "topics").n_jobs == 1 and editor.model.n_jobs == 1
    topoi.open_store(path).edit("topics").split(0).commit(n_iter=1)
    assert set(used) == {1}


def test_an_undo_gives_the_model_its_number_back(path: Path) -> None:
    def numbers() -> list[tuple[int, str]]:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT model_id, name FROM model ORDER BY model_id").fetchall()

    before, names = numbers(), []
    editor = topoi.edit(path, "topics")
    for _ in range(2):
        editor.split(0).commit(n_iter=1)
        names.append(numbers())
        assert topoi.load(path).edits_, "an edited model is the one saved last"
    editor.undo()  # by rows that were kept
    assert numbers() == names[0]
    editor.undo()  # by rows that are made anew
    assert numbers() == before and not topoi.load(path).edits_
    topoi.edit(path, "topics").split(0).commit(n_iter=1)
    with closing(sqlite3.connect(path)) as connection, connection:  # another model's number is not taken
        connection.execute("UPDATE edit_state SET labels = json_set(json_remove(labels, '$.rows'), '$.number', 2)")
    other = rows_of(path, "other")
    topoi.edit(path, "topics").undo()
    assert rows_of(path, "other") == other and (2, "other") in numbers()
