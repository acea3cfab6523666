"""Updates of a stored model: whole or not at all, with labels."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import topoi
from topoi.errors import StoreError
from topoi.store.updates import save_updated

TEXTS = ["ship sail anchor", "wheat plough barley"] * 6
NEW = ["ship moon orbit anchor", "moon orbit sail"] * 3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    corpus = topoi.Corpus.from_texts(TEXTS, max_df=1.0)
    place = tmp_path / "papers.topoi"
    topoi.LDA(2, alpha=0.1, n_iter=20, random_state=0).fit(corpus).save(place, name="topics")
    topoi.open_store(place).set_label("topics", 1, "one")
    return place


def test_file_has_the_updated_model_and_its_labels(path: Path) -> None:
    store = topoi.open_store(path)
    labels = store.sql("SELECT topic, label, created FROM label").values.tolist()
    model = store.update(NEW, "topics", n_iter=5, spare_topics=1)
    assert store.models()["name"].tolist() == ["topics"] and store.models()["n_topics"].tolist() == [3]
    assert store.sql("SELECT topic, label, created FROM label").values.tolist() == labels
    assert store.corpus().fingerprint() == model.corpus_.fingerprint() and store.corpus().texts[-1] == NEW[-1]
    loaded = topoi.load(path)
    assert np.array_equal(loaded.topic_word_, model.topic_word_)
    assert topoi.view(path).n_topics == 3
    reports = store.updates()
    assert len(reports) == 1 and reports[0].to_dict() == model.update_report_.to_dict()
    store.update(NEW[:2], n_iter=1)
    assert [report.n_docs for report in store.updates()] == [6, 2] and store.labels() == {1: "one"}
    assert [len(report.topics) for report in store.updates()] == [1, 3]


def test_other_models_are_not_left_without_their_corpus(path: Path, tmp_path: Path) -> None:
    topoi.LDA(3, n_iter=2, random_state=0).fit(topoi.open_store(path).corpus()).save(path, name="other")
    store, before = topoi.open_store(path), path.read_bytes()
    with pytest.raises(StoreError, match="2 models"):
        store.update(NEW, "topics", n_iter=1)
    assert path.read_bytes() == before
    there = tmp_path / "updated.topoi"
    store.update(NEW, "topics", output=there, n_iter=1)
    assert topoi.open_store(there).labels() == {1: "one"} and len(topoi.open_store(there).updates()) == 1
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="exists"):
        store.update(NEW, "topics", output=there, n_iter=1)


def test_a_file_changed_meanwhile_is_kept(path: Path) -> None:
    store = topoi.open_store(path)
    model = topoi.load(path)
    before = model.corpus_.fingerprint()
    model.update(NEW, n_iter=1)
    store.update(NEW[:2], n_iter=1)
    with pytest.raises(StoreError, match="another program"):
        save_updated(model, store, "topics", before)
    assert topoi.load(path).corpus_.n_docs == 14


def test_a_failing_save_leaves_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr("topoi.store.write.put_model", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        topoi.open_store(path).update(NEW, n_iter=1)
    monkeypatch.undo()
    assert path.read_bytes() == before and [each.name for each in path.parent.iterdir()] == [path.name]


def test_damaged_reports_are_said(path: Path) -> None:
    topoi.open_store(path).update(NEW, n_iter=1)
    with sqlite3.connect(path) as connection:
        meta = json.loads(connection.execute("SELECT bundle FROM model").fetchone()[0])
        meta["fit_info"]["updates"] = [{"n_docs": "many"}]
        connection.execute("UPDATE model SET bundle = ?", (json.dumps(meta),))
    with pytest.raises(StoreError, match="reports of updates"):
        topoi.open_store(path).updates()
