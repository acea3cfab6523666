"""Every table of a store as Parquet, value by value."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

import topoi
from exchange.samples import SAMPLED, corpus
from topoi.errors import StoreError
from topoi.exchange import to_parquet
from topoi.exchange.parquet import LISTS
from topoi.store.write import MODEL_TABLES

TYPES = {"INTEGER": pyarrow.int64(), "REAL": pyarrow.float64(), "TEXT": pyarrow.string(), "BLOB": pyarrow.binary()}


@pytest.fixture(scope="module")
def exported(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parquet") / "tables"
    topoi.open_store(stored).set_label("LDA", 1, "ships")
    to_parquet(stored, folder)
    return folder


def tables(path: Path) -> list[str]:
    """Tables that SQLite lists, without the full-text index and its shadows."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return sorted(name for (name,) in rows if not name.startswith(("document_search", "sqlite_")))


def test_every_table_is_there(exported: Path, stored: Path) -> None:
    assert sorted(path.stem for path in exported.iterdir()) == tables(stored)
    assert {*MODEL_TABLES, "corpus", "word", "document", "label", "array_part"} <= set(tables(stored))


def test_every_value_is_that_of_the_store(exported: Path, stored: Path) -> None:
    n_compared = 0
    with closing(sqlite3.connect(stored)) as connection:
        for table in tables(stored):
            read = pyarrow.parquet.read_table(exported / f"{table}.parquet")
            columns = [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})")]
            assert read.schema.names == [name for name, _ in columns]
            rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            assert read.num_rows == len(rows), table
            for at, (name, kind) in enumerate(columns):
                if kind == "BLOB" and name in LISTS:
                    assert read.schema.field(name).type == pyarrow.list_(pyarrow.uint32())
                    continue
                assert read.schema.field(name).type == TYPES[kind], (table, name)
                assert read[name].to_pylist() == [row[at] for row in rows], (table, name)
                n_compared += len(rows)
    assert n_compared > 5_000


def test_packed_numbers_of_words_are_lists(exported: Path) -> None:
    documents = corpus()
    frame = pd.read_parquet(exported / "document_token.parquet")
    lists = [documents.tokens[a:b].tolist() for a, b in zip(documents.doc_start, documents.doc_start[1:], strict=False)]
    assert [row.tolist() for row in frame["word_ids"]] == lists and lists[5] == []
    assert frame["starts"].isna().all(), "a corpus of tokens has no texts"


def rows_of(exported: Path, name: str, table: str) -> pd.DataFrame:
    """Rows of one model."""
    numbers = pd.read_parquet(exported / "model.parquet").set_index("name")["model_id"]
    frame = pd.read_parquet(exported / f"{table}.parquet")
    return frame[frame["model_id"] == numbers[name]]


@pytest.mark.parametrize("name", SAMPLED)
def test_topics_of_words_are_lists(name: str, exported: Path, models: dict) -> None:
    frame = rows_of(exported, name, "document_assignment")
    last = models[name].chains_[0].assignments
    assert np.concatenate(list(frame["topics"])).tolist() == last.topic.tolist()
    if name == "AuthorTopicModel":
        assert np.concatenate(list(frame["author_positions"])).tolist() == last.slot.tolist()
    if name == "PachinkoAllocation":
        paths = rows_of(exported, name, "document_path")
        assert np.concatenate(list(paths["paths"])).tolist() == last.path.tolist()


def test_texts_and_places_are_there_if_the_store_has_them(tmp_path: Path) -> None:
    texts = ["Ships sail — to Köln.", "", "Sail on, ships " + "and sail " * 30_000]
    documents = topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)
    topoi.LDA(2, n_iter=1, random_state=0).fit(documents).save(tmp_path / "texts.topoi")
    to_parquet(topoi.open_store(tmp_path / "texts.topoi"), tmp_path / "tables")
    assert pd.read_parquet(tmp_path / "tables" / "document.parquet")["text"].tolist() == texts
    frame = pd.read_parquet(tmp_path / "tables" / "document_token.parquet")
    assert np.concatenate(list(frame["starts"])).tolist() == documents.token_start.tolist()
    lengths = documents.token_end - documents.token_start
    assert np.concatenate(list(frame["lengths"])).tolist() == lengths.tolist()


def test_pandas_joins_the_tables(exported: Path, models: dict) -> None:
    words, counts = (pd.read_parquet(exported / f"{name}.parquet") for name in ("word", "topic_word"))
    number = pd.read_parquet(exported / "model.parquet").set_index("name").loc["LDA", "model_id"]
    mine = counts[(counts["model_id"] == number) & (counts["topic"] == 1)].merge(words, on="word_id")
    best = mine.sort_values(["probability", "word_id"], ascending=[False, True])["word"].iloc[0]
    assert best == models["LDA"].top_words(1, topic=1)["word"].item()


# Where to write.


def test_folders_with_other_things_are_left_alone(stored: Path, tmp_path: Path) -> None:
    target = tmp_path / "tables"
    assert "topic" in to_parquet(stored, target)
    with pytest.raises(StoreError, match="holds an earlier export"):
        to_parquet(stored, target)
    before = (target / "word.parquet").stat().st_mtime_ns
    to_parquet(stored, target, replace=True)
    assert (target / "word.parquet").stat().st_mtime_ns > before
    (target / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"other things in it \(mine.txt\)"):
        to_parquet(stored, target, replace=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="is a file"):
        to_parquet(stored, tmp_path / "file")
    assert (target / "mine.txt").read_text() == (tmp_path / "file").read_text() == "mine"


def test_damaged_table_is_named_and_nothing_is_written(stored: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(stored, tmp_path / "damaged.topoi"))
    for statement, table in [
        ("UPDATE topic SET share = 'much' WHERE topic = 0", "topic"),
        ("UPDATE document_token SET word_ids = zeroblob(length(word_ids) + 2) WHERE document_id = 0", "document_token"),
    ]:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)
        with pytest.raises(StoreError, match=f"damaged.topoi: table {table} is damaged"):
            to_parquet(path, tmp_path / "tables")
        assert [entry.name for entry in tmp_path.iterdir()] == ["damaged.topoi"]
        shutil.copy(stored, path)


def test_full_disk_is_an_error_about_the_target(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow.parquet.ParquetWriter, "write_batch", full)
    with pytest.raises(StoreError, match=r"cannot write .*parquet: No space left on device"):
        to_parquet(stored, tmp_path / "tables")
    assert not list(tmp_path.iterdir())


def test_without_pyarrow_the_error_says_what_to_install(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(StoreError, match=r"pip install \"topoi\[parquet\]\""):
        to_parquet(stored, tmp_path / "tables")
