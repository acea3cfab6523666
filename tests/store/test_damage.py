"""Files from strangers, broken files, old and new ones: a clear error or the right data, and nothing runs."""

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import topoi
from topoi.cli.main import main
from topoi.errors import StoreError
from topoi.store import connect, corpus_rows, migrate, read


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*(statement if isinstance(statement, tuple) else (statement,)))


def test_missing_foreign_and_newer_files(path, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("hello" * 1000)
    (tmp_path / "zip").write_bytes(b"PK\x03\x04" + bytes(1000))
    change(tmp_path / "other", "CREATE TABLE model (name)")
    change(path, "PRAGMA user_version = 99")
    for name, message in {
        "nowhere": "nowhere does not exist",
        "empty": "not a topoi store",
        "text": "not a topoi store",
        "zip": "checkpoint",
        "other": "not a topoi store",
        "s.topoi": "newer topoi.*upgrade",
        ".": "folder",
    }.items():
        for use in (topoi.load, topoi.open_store):
            with pytest.raises(StoreError, match=message):
                use(tmp_path / name)


def test_save_does_not_touch_foreign_files(models, tmp_path):
    (tmp_path / "letter").write_text("dear reader")
    with pytest.raises(StoreError, match="letter is not a topoi store"):
        models["lda"].save(tmp_path / "letter")
    assert (tmp_path / "letter").read_text() == "dear reader"
    (tmp_path / "empty").touch()  # as tempfile leaves it
    models["lda"].save(tmp_path / "empty")
    with pytest.raises(StoreError, match="folder"):
        models["lda"].save(tmp_path)
    with pytest.raises(StoreError, match="no folder"):
        models["lda"].save(tmp_path / "missing" / "s")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty", "letter"]


def test_devices_are_not_replaced(models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for fresh in (False, True):
        with pytest.raises(StoreError, match="device or a pipe"):
            models["lda"].save(tmp_path / "pipe", replace_file=fresh)


def test_numbers_of_a_wrong_kind_do_no_harm(path):
    change(
        path, "INSERT INTO label VALUES (1, 'x', 'evil', '')", "UPDATE model SET n_topics = 'many' WHERE name = 'at'"
    )
    store = topoi.open_store(path)
    assert store.labels("at") == {} and store.models()["n_topics"].tolist()[1] == 2
    with pytest.raises(StoreError, match="column n_topics holds what is not a whole number"):
        store.set_label("at", 0, "x")


def test_a_store_without_a_corpus_is_refused(path, capsys, tmp_path):
    change(path, "DELETE FROM corpus")
    for opened in (topoi.view, topoi.load):
        with pytest.raises(StoreError, match="the store holds no corpus"):
            opened(path, "at")
    papers = tmp_path / "papers.jsonl"
    papers.write_text('{"text": "sun star", "authors": ["Ann"]}\n' * 3)
    assert main(["fit", str(papers), "-o", str(path), "--name", "new", "-q", "--min-df", "1", "--max-df", "1.0"]) == 1
    assert "holds no corpus" in capsys.readouterr().err


def test_models_with_damaged_numbers_are_listed(path, capsys):
    change(path, "UPDATE model SET n_chains = x'00', n_iter = 'many' WHERE name = 'at'")
    assert main(["models", str(path)]) == 0
    out = capsys.readouterr().out
    assert "at " in out and out.count("saved") == 3
    assert topoi.open_store(path).models()["n_chains"].isna().sum() == 1


def test_damaged_search_index_spoils_only_searches(path):
    change(path, "UPDATE document_search_data SET block = randomblob(50)")
    store = topoi.open_store(path)
    assert len(store.sql("SELECT * FROM word")) > 0
    with pytest.raises(StoreError):
        store.sql("SELECT rowid FROM document_search WHERE document_search MATCH 'stars'")


def test_write_ahead_mode_that_others_set_is_fine(path, models):
    change(path, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM model").fetchone() == (3,)
        assert len(topoi.open_store(path).models()) == 3
        models["lda"].save(path, name="new")
        assert other.execute("SELECT count(*) FROM model").fetchone() == (4,)
    assert type(topoi.load(path)) is topoi.LDA


def loads_right(path, models, corpus):
    """Whether all models load with the right data; a ``StoreError`` says no, anything else is a mistake."""
    try:
        for name, model in models.items():
            loaded = topoi.load(path, name)
            for a, b in zip(loaded._chains, model._chains, strict=True):
                for x, y in zip(
                    loaded._sampler.to_arrays(a).values(), model._sampler.to_arrays(b).values(), strict=True
                ):
                    assert np.array_equal(x, y)
            assert loaded.corpus_.texts == corpus.texts
            assert loaded.corpus_.documents.equals(corpus.documents)
    except StoreError:
        return False
    return True


def test_truncated_files_are_refused(path, models, corpus, tmp_path):
    data = path.read_bytes()
    for share in (0.01, 0.3, 0.5, 0.9, 0.999):
        (tmp_path / "cut").write_bytes(data[: int(len(data) * share)])
        assert not loads_right(tmp_path / "cut", models, corpus)


def test_flipped_bytes_give_an_error_or_the_right_data(path, models, corpus, tmp_path):
    data = path.read_bytes()
    chance = random.Random(1)
    used = [i for i, byte in enumerate(data) if byte]
    refused = 0
    for _ in range(80):
        broken = bytearray(data)
        for _ in range(chance.choice([1, 3])):
            broken[chance.choice(used)] ^= 1 << chance.randrange(8)
        (tmp_path / "flipped").write_bytes(broken)
        refused += not loads_right(tmp_path / "flipped", models, corpus)
    assert refused > 5


@pytest.fixture
def trusting(monkeypatch):
    """A forger computes checksums as well as we do, so the checks behind them are tested without."""
    for module in (read, corpus_rows):
        monkeypatch.setattr(module, "check_digest", lambda *_: None)


FORGERIES = {
    "word id too large": "UPDATE document_token SET word_ids = x'ffff' || substr(word_ids, 3) WHERE document_id = 1",
    "odd bytes": "UPDATE document_token SET word_ids = word_ids || x'00' WHERE document_id = 1",
    "words are text": "UPDATE document_token SET word_ids = 'abcd' WHERE document_id = 1",
    "offsets cut": "UPDATE document_token SET starts = substr(starts, 3) WHERE document_id = 1",
    "offsets gone": "UPDATE document_token SET starts = NULL WHERE document_id = 1",
    "document gone": "DELETE FROM document_token WHERE document_id = 1",
    "documents renumbered": "UPDATE document_token SET document_id = 99 WHERE document_id = 14",
    "more documents": "UPDATE corpus SET n_documents = 10000000000000",
    "documents are text": "UPDATE corpus SET n_documents = 'many'",
    "width unknown": "UPDATE corpus SET word_id_bytes = 3",
    "width is text": "UPDATE corpus SET start_bytes = '2; x'",
    "author id too large": "UPDATE document_author SET author_id = 2000000000",
    "author id negative": "UPDATE document_author SET author_id = -1",
    "author of no document": "UPDATE document_author SET document_id = 77 WHERE document_id = 0",
    "word is a number": "UPDATE word SET word = x'00ff' WHERE word_id = 1",
    "word twice": "UPDATE word SET word = (SELECT word FROM word WHERE word_id = 0)",
    "text not utf-8": "UPDATE document SET text = CAST(x'ff' AS TEXT) WHERE document_id = 1",
    "text gone": "UPDATE document SET text = NULL WHERE document_id = 1",
    "corpus gone": "DELETE FROM corpus",
    "settings not json": "UPDATE corpus SET settings = '{'",
    "settings a list": "UPDATE corpus SET settings = '[]'",
    "settings deep": f"UPDATE corpus SET settings = '{'[' * 100_000}'",
    "bundle not utf-8": "UPDATE model SET bundle = CAST(CAST('interrupted, locked' AS BLOB) || x'ff' AS TEXT)",
    "bundle not json": "UPDATE model SET bundle = x'00'",
    "unknown model": "UPDATE model SET model = 'os.system'",
    "array gone": "DELETE FROM array WHERE model_id = 1",
    "array of objects": "UPDATE array SET dtype = '|O' WHERE model_id = 1",
    "array of text": "UPDATE array SET dtype = '<U9' WHERE model_id = 1",
    "array of fractions": "UPDATE array SET dtype = '<f2' WHERE model_id = 1",
    "shape huge": "UPDATE array SET shape = '[281474976710655]' WHERE model_id = 1",
    "shape beyond": "UPDATE array SET shape = '[1000000000, 1000000000, 1000000000]' WHERE model_id = 1",
    "shape negative": "UPDATE array SET shape = '[-1]' WHERE model_id = 1",
    "shape no list": "UPDATE array SET shape = '{}' WHERE model_id = 1",
    "part no zlib": "UPDATE array_part SET data = x'00'",
    "part gone": "DELETE FROM array_part",
    "part is text": "UPDATE array_part SET data = 'x'",
    "parts too many": "INSERT INTO array_part SELECT array_id, 1, data FROM array_part",
    "topic out of range": "UPDATE model SET bundle = replace(bundle, '\"n_topics\": 3', '\"n_topics\": 2')",
    "extra setting": 'UPDATE model SET bundle = replace(bundle, \'"n_topics": 3\', \'"n_topics": 3, "evil": 1\')',
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_file_is_refused_before_a_kernel_sees_it(path, what, trusting):
    change(path, FORGERIES[what])
    with pytest.raises(StoreError, match=r"s\.topoi"):
        topoi.load(path, "at")


@pytest.mark.parametrize("what", FORGERIES)
def test_checksums_notice_too(path, what):
    change(path, FORGERIES[what])
    with pytest.raises(StoreError, match=r"s\.topoi"):
        topoi.load(path, "at")


def test_small_file_cannot_unpack_to_more_than_it_promises(path, trusting):
    import zlib

    bomb = zlib.compress(bytes(10**8))
    change(path, ("UPDATE array_part SET data = ?", (bomb,)))
    with pytest.raises(StoreError, match="more, or less"):
        topoi.load(path)


ALTERED = {
    "view in place of a table": ["DROP TABLE label", "CREATE VIEW label AS SELECT 1 AS model_id, 0 AS topic"],
    "missing index": ["DROP INDEX topic_word_by_topic"],
    "extra column": ["ALTER TABLE word ADD COLUMN evil TEXT DEFAULT 'x'"],
    "missing table": ["DROP TABLE trace"],
}


@pytest.mark.parametrize("what", ALTERED)
def test_altered_tables_are_refused(path, models, what):
    change(path, *ALTERED[what])
    with pytest.raises(StoreError, match="altered"):
        topoi.open_store(path)
    with pytest.raises(StoreError, match="altered"):
        models["lda"].save(path)


def test_what_others_add_is_left_alone_but_triggers_stop_writers(path, models):
    change(path, "CREATE TABLE notes (note TEXT)", "CREATE VIEW longest AS SELECT max(n_tokens) AS n FROM document")
    models["lda"].save(path, name="more")
    assert topoi.open_store(path).sql("SELECT n FROM longest")["n"].tolist() == [3]
    change(path, "CREATE TRIGGER evil AFTER INSERT ON label BEGIN DELETE FROM model; END")
    store = topoi.open_store(path)
    assert len(store.models()) == 4
    for act in (lambda: store.set_label(None, 0, "x"), lambda: models["lda"].save(path)):
        with pytest.raises(StoreError, match="triggers"):
            act()
    assert len(store.models()) == 4


FORBIDDEN = [
    "DELETE FROM model",
    "UPDATE word SET word = 'x'",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x (y)",
    "DROP TABLE model",
    "ATTACH 'other' AS other",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA table_info(word)",
    "VACUUM INTO 'copy'",
    "BEGIN",
    "SELECT 1; SELECT 2",
    "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')",
    "SELECT zeroblob(900000000)",
    "SELECT * FROM nowhere",
    "",
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r",
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
    "INSERT INTO document_search (document_search) VALUES ('delete-all')",
]


@pytest.mark.parametrize("query", FORBIDDEN)
def test_sql_only_reads_and_not_for_ever(path, query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = path.read_bytes()
    with pytest.raises(StoreError):
        topoi.open_store(path).sql(query, timeout=0.3, max_rows=2000)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["s.topoi"]


def test_sql_says_what_to_do(path):
    store = topoi.open_store(path)
    with pytest.raises(StoreError, match="more than 3 rows; add LIMIT"):
        store.sql("SELECT * FROM word", max_rows=3)
    with pytest.raises(StoreError, match="more than 0.05 seconds"):
        store.sql("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r", timeout=0.05)
    assert store.sql("SELECT :a AS a", {"a": "'; DROP TABLE word; --"})["a"].tolist() == ["'; DROP TABLE word; --"]
    assert store.sql("SELECT * FROM word WHERE 0").columns.tolist() == ["word_id", "word", "n_tokens", "n_documents"]


def test_file_cannot_choose_where_a_later_fit_writes(path, corpus, tmp_path, trusting):
    victim = str(tmp_path / "victim")
    change(
        path, ("UPDATE model SET bundle = replace(bundle, '\"checkpoint\": null', ?)", (f'"checkpoint": "{victim}"',))
    )
    topoi.load(path, "at").fit(corpus)
    assert not Path(victim).exists()


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders are POSIX's")
def test_read_only_places_can_be_read(path, models, monkeypatch):
    os.chmod(path, 0o444)
    os.chmod(path.parent, 0o555)
    try:
        store = topoi.open_store(path)
        assert len(store.models()) == 3 and store.sql("SELECT count(*) AS n FROM word")["n"][0] > 0
        assert type(topoi.load(path, "lda")) is topoi.LDA
        if os.geteuid():  # root may write anywhere
            with pytest.raises(StoreError, match="cannot write"):
                models["lda"].save(path)
            with pytest.raises(StoreError, match="cannot write"):
                store.set_label("lda", 0, "x")
    finally:
        os.chmod(path.parent, 0o755)


def older(path):
    """Make the file one of a version 0, in which labels were called names."""
    change(path, "ALTER TABLE label RENAME TO topic_name", "PRAGMA user_version = 0")


def step(connection):
    connection.execute("DROP TABLE topic_name")
    start = connect.schema().index("CREATE TABLE label")
    connection.execute(connect.schema()[start:])


LATER = dict.fromkeys(range(1, connect.VERSION), lambda connection: None)


def test_older_version_is_migrated_whole_or_not_at_all(path, models, monkeypatch):
    older(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"schema 0, from which this topoi knows no way to {connect.VERSION}"):
        topoi.load(path)

    def broken(connection):
        step(connection)
        raise RuntimeError("power cut")

    monkeypatch.setattr(migrate, "STEPS", {0: broken, **LATER})
    with pytest.raises(RuntimeError):
        topoi.open_store(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM topic_name").fetchone() == (0,)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
    monkeypatch.setattr(migrate, "STEPS", {0: step, **LATER})
    store = topoi.open_store(path)
    assert len(store.models()) == 3 and store.labels("at") == {}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (connect.VERSION,)


def test_saving_migrates_first(path, models, monkeypatch):
    older(path)
    monkeypatch.setattr(migrate, "STEPS", {0: step, **LATER})
    models["lda"].save(path, name="new")
    assert topoi.open_store(path).models()["name"].tolist()[-1] == "new"
