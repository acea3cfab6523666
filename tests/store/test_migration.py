"""Files of older versions of the schema become files of this version, with everything that was in them."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sklearn.base import clone

import topoi
from topoi.errors import StoreError
from topoi.store.connect import VERSION
from topoi.store.entry import GRAPH_TABLES
from topoi.store.hues import golden_places, place_hues
from topoi.store.write import put_missing_tables

VERSION_1 = """
CREATE TABLE corpus (
    corpus_id INTEGER PRIMARY KEY CHECK (corpus_id = 0),
    fingerprint TEXT NOT NULL,
    n_documents INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    n_words INTEGER NOT NULL,
    n_authors INTEGER NOT NULL,
    has_texts INTEGER NOT NULL,
    word_id_bytes INTEGER NOT NULL,
    start_bytes INTEGER NOT NULL,
    length_bytes INTEGER NOT NULL,
    settings TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE word (
    word_id INTEGER PRIMARY KEY,
    word TEXT NOT NULL,
    n_tokens INTEGER NOT NULL,
    n_documents INTEGER NOT NULL
);
CREATE INDEX word_by_word ON word (word);
CREATE TABLE author (
    author_id INTEGER PRIMARY KEY,
    author TEXT NOT NULL,
    n_documents INTEGER NOT NULL
);
CREATE INDEX author_by_author ON author (author COLLATE NOCASE);
CREATE TABLE document (
    document_id INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL,
    title TEXT,
    date TEXT,
    year INTEGER,
    n_tokens INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    text TEXT
);
CREATE INDEX document_by_identifier ON document (identifier);
CREATE INDEX document_by_year ON document (year);
CREATE TABLE document_author (
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    position INTEGER NOT NULL,
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    PRIMARY KEY (document_id, position)
) WITHOUT ROWID;
CREATE INDEX document_author_by_author ON document_author (author_id, document_id);
CREATE TABLE document_token (
    document_id INTEGER PRIMARY KEY REFERENCES document (document_id),
    word_ids BLOB NOT NULL,
    starts BLOB,
    lengths BLOB
);
CREATE VIRTUAL TABLE document_search USING fts5 (
    title, text, content = 'document', content_rowid = 'document_id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE model (
    model_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    n_topics INTEGER,
    n_iter INTEGER NOT NULL,
    n_chains INTEGER NOT NULL,
    seed INTEGER,
    created TEXT NOT NULL,
    topoi_version TEXT NOT NULL,
    parameters TEXT NOT NULL,
    chain TEXT NOT NULL,
    bundle TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE array (
    array_id INTEGER PRIMARY KEY,
    model_id INTEGER REFERENCES model (model_id),
    name TEXT NOT NULL,
    dtype TEXT NOT NULL,
    shape TEXT NOT NULL
);
CREATE INDEX array_by_model ON array (model_id, name);
CREATE TABLE array_part (
    array_id INTEGER NOT NULL REFERENCES array (array_id),
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (array_id, part)
);
CREATE TABLE topic (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,
    alpha REAL NOT NULL,
    PRIMARY KEY (model_id, topic)
) WITHOUT ROWID;
CREATE TABLE topic_word (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    word_id INTEGER NOT NULL REFERENCES word (word_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (model_id, word_id, topic)
) WITHOUT ROWID;
CREATE INDEX topic_word_by_topic ON topic_word (model_id, topic, n_tokens DESC, word_id);
CREATE TABLE author_topic (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    PRIMARY KEY (model_id, author_id, topic)
) WITHOUT ROWID;
CREATE TABLE topic_author (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    n_tokens INTEGER NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (model_id, topic, rank)
) WITHOUT ROWID;
CREATE TABLE document_topic (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    topic INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    PRIMARY KEY (model_id, document_id, topic)
) WITHOUT ROWID;
CREATE TABLE topic_document (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,
    PRIMARY KEY (model_id, topic, rank)
) WITHOUT ROWID;
CREATE TABLE topic_trend (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    year INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    share REAL NOT NULL,
    PRIMARY KEY (model_id, topic, year)
) WITHOUT ROWID;
CREATE TABLE author_word (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    word_id INTEGER NOT NULL REFERENCES word (word_id),
    n_tokens INTEGER NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (model_id, author_id, word_id)
) WITHOUT ROWID;
CREATE TABLE document_assignment (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    document_id INTEGER NOT NULL REFERENCES document (document_id),
    topics BLOB,
    author_positions BLOB,
    PRIMARY KEY (model_id, document_id)
) WITHOUT ROWID;
CREATE TABLE trace (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    chain INTEGER NOT NULL,
    sweep INTEGER NOT NULL,
    log_joint REAL NOT NULL,
    PRIMARY KEY (model_id, chain, sweep)
) WITHOUT ROWID;
CREATE TABLE label (
    model_id INTEGER NOT NULL REFERENCES model (model_id),
    topic INTEGER NOT NULL,
    label TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (model_id, topic)
) WITHOUT ROWID;
"""
# The columns that version 1 had, of tables that have more now.
FEWER = {"topic": "model_id, topic, n_tokens, share, alpha"}


@pytest.fixture
def models(models, corpus):
    """One fitted model of each family, and one with more topics; version 1 knew the last sample alone."""
    alone = {name: clone(model).set_params(average=False).fit(corpus) for name, model in models.items()}
    return alone | {"five": topoi.LDA(5, n_iter=5, average=False, random_state=0).fit(corpus)}


@pytest.fixture
def now(models, tmp_path):
    """A store as it is written now."""
    for name, model in models.items():
        model.save(tmp_path / "now.topoi", name=name)
    topoi.open_store(tmp_path / "now.topoi").set_label("at", 1, "Genes")
    return tmp_path / "now.topoi"


@pytest.fixture
def old(now, tmp_path):
    """The same as version 1 had it."""
    path = tmp_path / "old.topoi"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {0x746F706F}")
        connection.execute("PRAGMA user_version = 1")
        connection.executescript(VERSION_1)
        connection.execute("ATTACH ? AS new", (str(now),))
        inside = "name NOT LIKE 'document_search%' AND name NOT LIKE 'sqlite%'"
        names = connection.execute(f"SELECT name FROM main.sqlite_schema WHERE type = 'table' AND {inside}").fetchall()
        for (name,) in names:
            connection.execute(f"INSERT INTO main.{name} SELECT {FEWER.get(name, '*')} FROM new.{name}")
        connection.execute("INSERT INTO main.document_search (document_search) VALUES ('rebuild')")
    return path


def rows(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_nothing_is_lost(old, models, corpus):
    before = {table: rows(old, f"SELECT * FROM {table}") for table in ("topic_word", "trace", "model", "array_part")}
    store = topoi.open_store(old)
    assert rows(old, "PRAGMA user_version") == [(VERSION,)]
    assert store.labels("at") == {1: "Genes"} and len(store.models()) == 4
    for name, model in models.items():
        loaded = topoi.load(old, name)
        for a, b in zip(loaded._chains, model._chains, strict=True):
            both = zip(loaded._sampler.to_arrays(a).values(), model._sampler.to_arrays(b).values(), strict=True)
            assert all(np.array_equal(x, y) for x, y in both)
    assert topoi.load(old).corpus_.texts == corpus.texts
    assert {table: rows(old, f"SELECT * FROM {table}") for table in before} == before
    assert rows(old, "PRAGMA integrity_check") == [("ok",)] and rows(old, "PRAGMA foreign_key_check") == []


def test_schema_has_the_same_text_as_a_new_file(old, now):
    topoi.open_store(old)
    query = (
        "SELECT name, sql FROM sqlite_schema WHERE name IN ('topic', 'topic_neighbour', 'author_document', 'mixture')"
    )
    assert sorted(rows(old, query)) == sorted(rows(now, query)) and len(rows(old, query)) == 4
    (found,) = rows(old, "SELECT sql FROM sqlite_schema WHERE name = 'author_by_documents'")
    assert "n_documents DESC" in found[0]


def test_what_the_rows_tell_is_filled_in(old, now):
    topoi.open_store(old)
    kept = "SELECT model_id, topic, n_tokens, share, alpha FROM topic ORDER BY model_id, topic"
    assert rows(old, kept) == rows(now, kept) and len(rows(old, kept)) == 10
    mixtures = "SELECT * FROM mixture ORDER BY model_id, kind"
    assert rows(old, mixtures) == rows(now, mixtures) and len(rows(old, mixtures)) == 4
    for model_id, n_topics in ((1, 3), (2, 2), (4, 5)):
        found = rows(old, f"SELECT hue, x, y, glue FROM topic WHERE model_id = {model_id} ORDER BY topic")
        assert found == [(hue, None, None, 0) for hue in place_hues(golden_places(n_topics)).tolist()]
    words = "SELECT words FROM topic WHERE model_id = 1 ORDER BY topic"
    for (mine,), (full,), (n,) in zip(
        rows(old, words),
        rows(now, words),
        rows(now, "SELECT count(*) FROM topic_word WHERE model_id = 1 GROUP BY topic ORDER BY topic"),
        strict=True,
    ):
        assert json.loads(mine) == json.loads(full)[:n] and n > 0  # without words that the topic has no token of
    assert rows(old, "SELECT * FROM author_document") == rows(old, "SELECT * FROM topic_neighbour") == []


def test_saving_again_fills_in_the_rest(old, now, models):
    topoi.load(old, "at").save(old, name="at")
    for table in ("topic_neighbour", "author_document"):
        columns = f"SELECT * FROM {table} WHERE model_id = (SELECT model_id FROM model WHERE name = 'at')"
        assert [row[1:] for row in rows(old, columns)] == [row[1:] for row in rows(now, columns)] != []
    assert topoi.open_store(old).labels("at") == {1: "Genes"}


DAMAGE = {
    "numbers are text": "UPDATE document_topic SET n_tokens = 'many' WHERE model_id = 1",
    "numbers are missing": "UPDATE author_topic SET n_tokens = x'00' WHERE author_id = 0",
    "documents are missing": "DELETE FROM document WHERE document_id > 3",
    "topic too large": "UPDATE document_topic SET topic = 70000 WHERE document_id = 3 AND model_id = 2",
    "author of nobody": "UPDATE author_topic SET author_id = 99 WHERE author_id = 1",
    "negative": "UPDATE author_topic SET n_tokens = -5",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_old_file_is_refused_and_left_as_it_was(old, what):
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute(DAMAGE[what])
    before = old.read_bytes()
    with pytest.raises(StoreError, match=r"old\.topoi"):
        topoi.open_store(old)
    assert old.read_bytes() == before


@pytest.fixture
def graphs(corpus, tmp_path):
    """A store with a model over a graph, as it is written now."""
    path = tmp_path / "now.topoi"
    topoi.LDA(2, n_iter=3, random_state=0).fit(corpus).save(path, name="lda")
    topoi.PachinkoAllocation(2, 3, n_iter=25, random_state=0).fit(corpus).save(path, name="pam")
    dag = {"root": {"a": ["x", "y", topoi.WORDS], "b": ["y"], "z": None}}
    topoi.PachinkoAllocation(dag=dag, n_iter=25, random_state=0).fit(corpus).save(path, name="odd")
    return path


@pytest.fixture
def without_graph_tables(graphs, tmp_path):
    """The same as version 2 had it."""
    path = tmp_path / "old.topoi"
    path.write_bytes(graphs.read_bytes())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in GRAPH_TABLES:
            connection.execute(f"DROP TABLE {table}")
        connection.execute("PRAGMA user_version = 2")
    return path


def graph_rows(path):
    return {table: rows(path, f"SELECT * FROM {table}") for table in GRAPH_TABLES}


def test_a_graph_is_filled_in_when_its_model_is_looked_at(graphs, without_graph_tables):
    old = without_graph_tables
    topoi.open_store(old)
    assert rows(old, "PRAGMA user_version") == [(VERSION,)]
    assert not any(graph_rows(old).values())
    query = "SELECT name, sql FROM sqlite_schema WHERE name LIKE 'dag%' OR name LIKE '%node%' ORDER BY name"
    assert rows(old, query) == rows(graphs, query) and len(rows(old, query)) == 7
    topoi.view(old, "lda")
    assert not any(graph_rows(old).values())
    for name in ("pam", "odd"):
        now, then = topoi.view(graphs, name), topoi.view(old, name)
        assert then.dag_ == now.dag_ and then.edges().equals(now.edges())
    assert graph_rows(old) == graph_rows(graphs) and all(graph_rows(old).values())
    before = old.read_bytes()
    topoi.view(old, "pam")
    assert old.read_bytes() == before


def test_a_graph_that_cannot_be_filled_in_is_missing_and_the_rest_is_there(without_graph_tables):
    old = without_graph_tables
    topoi.open_store(old)
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE array SET name = 'lost' WHERE name = 'chain0_path'")
    view = topoi.view(old, "pam")
    assert view.topic_sizes()["n_words"].sum() > 0
    with pytest.raises(StoreError, match=r"old\.topoi.*save it again"):
        view.edges()


def test_tables_are_filled_once_and_for_the_model_they_belong_to(graphs, without_graph_tables):
    old = without_graph_tables
    topoi.open_store(old)
    model = topoi.load(old, "pam")
    tables = {name: model._tables(model.corpus_)[name] for name in GRAPH_TABLES}
    ((model_id, digest),) = rows(old, "SELECT model_id, digest FROM model WHERE name = 'pam'")
    put_missing_tables(old, model_id, "another", tables)
    assert not any(graph_rows(old).values())
    put_missing_tables(old, model_id, digest, tables)
    once = graph_rows(old)
    put_missing_tables(old, model_id, digest, tables)
    assert graph_rows(old) == once and all(once.values())
