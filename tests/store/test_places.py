"""Places of documents in a store: saved with small collections, computed on demand, kept by edits."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import topoi
from topoi.drawing.document_layout import document_places
from topoi.errors import ModelError, StoreError
from topoi.store import save as saving
from topoi.store.view import view


@pytest.fixture
def model():
    chance = np.random.default_rng(0)
    words = [f"{letter}{i}" for letter in "abcd" for i in range(8)]
    documents = [[words[8 * (d % 4) + i] for i in chance.integers(0, 8, 30)] for d in range(40)] + [[]]
    return topoi.LDA(4, n_iter=30, alpha=0.1, random_state=0).fit(topoi.Corpus.from_tokens(documents))


@pytest.fixture
def path(tmp_path, model):
    model.save(tmp_path / "small.topoi", name="four")
    return tmp_path / "small.topoi"


def drop_table(path):
    """As a file of an earlier version."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE document_place")
        connection.commit()


def test_saving_places_documents_of_small_collections(path, model):
    found = view(path).document_places()
    np.testing.assert_array_equal(found, document_places(model))
    assert np.isnan(found[40]).all() and np.isfinite(found[:40]).all()


def test_a_view_gives_the_same_places_as_the_model(path, model):
    np.testing.assert_array_equal(document_places(view(path)), document_places(model))


def test_large_collections_are_placed_on_demand(tmp_path, model, monkeypatch):
    monkeypatch.setattr(saving, "MOST_PLACED_BY_SAVE", 10)
    model.save(tmp_path / "large.topoi")
    store = topoi.open_store(tmp_path / "large.topoi")
    assert view(store).document_places() is None
    told: list[float] = []
    assert store.place_documents(progress=told.append) == 40
    assert told[-1] == pytest.approx(1.0)
    np.testing.assert_array_equal(view(store).document_places(), document_places(model))


def test_a_file_without_the_table_opens_and_gets_it(path, model):
    drop_table(path)
    assert view(path).document_places() is None
    assert topoi.open_store(path).place_documents() == 40
    np.testing.assert_array_equal(view(path).document_places(), document_places(model))
    drop_table(path)
    model.save(path, name="again")
    assert view(path, "again").document_places() is not None and view(path, "four").document_places() is None


def test_another_table_of_that_name_is_refused(path):
    drop_table(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW document_place AS SELECT 0 AS model_id, 0 AS document_id, 0.5 AS x, 0.5 AS y")
        connection.commit()
    with pytest.raises(StoreError, match="not as topoi makes it"):
        topoi.open_store(path)


@pytest.mark.parametrize("value", ["'far'", "1e9", "NULL"])
def test_a_damaged_place_is_an_error(path, value):
    with closing(sqlite3.connect(path)) as connection:
        if value == "NULL":
            connection.execute("UPDATE document_place SET document_id = 99 WHERE document_id = 3")
        else:
            connection.execute(f"UPDATE document_place SET x = {value} WHERE document_id = 3")
        connection.commit()
    with pytest.raises(StoreError):
        view(path).document_places()


def test_a_model_that_changes_meanwhile_is_left_alone(path, model):
    store = topoi.open_store(path)
    before = view(path).document_places()

    def change(part: float) -> None:
        if not changed:
            changed.append(part)
            topoi.edit(path).merge(0, 1).commit(n_iter=1)

    changed: list[float] = []
    with pytest.raises(StoreError, match="another program"):
        store.place_documents(progress=change)
    np.testing.assert_array_equal(view(path).document_places(), before)


def test_edits_and_undo_keep_places(path):
    before = view(path).document_places()
    topoi.edit(path).merge(0, 1).commit(n_iter=2)
    np.testing.assert_array_equal(view(path).document_places(), before)
    topoi.edit(path).undo()
    np.testing.assert_array_equal(view(path).document_places(), before)


def test_places_go_with_their_model(path, model):
    model.save(path, name="other")
    topoi.open_store(path).place_documents("other")
    assert view(path, "four").document_places() is not None
    topoi.LDA(3, n_iter=5, random_state=1).fit(model.corpus_).save(path, name="four")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT model_id, count(*) FROM document_place GROUP BY model_id").fetchall()
        known = {row[0] for row in connection.execute("SELECT model_id FROM model")}
    assert len(rows) == 2 and {row[0] for row in rows} == known and all(row[1] == 40 for row in rows)


def test_a_model_without_topics_cannot_be_placed(tmp_path):
    corpus = topoi.Corpus.from_tokens([["a", "b"], ["b", "c"]] * 3, authors=["Ann", "Bob"] * 3)
    topoi.AuthorModel().fit(corpus).save(tmp_path / "words.topoi")
    with pytest.raises(ModelError, match="no topics"):
        topoi.open_store(tmp_path / "words.topoi").place_documents()
