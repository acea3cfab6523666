"""Readers and writers at once, and writers that are killed."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

import topoi
from thinning import slow_unless
from topoi.errors import StoreError
from topoi.store import connect, write

SAVE = """
import sys, topoi
from topoi.store import write
model = topoi.load(sys.argv[1], "lda")
if sys.argv[2] == "tables":
    def stop(*_):
        print("here", flush=True)
        import time
        time.sleep(60)
    write.put_table = stop
else:
    print("here", flush=True)
while True:
    model.save(sys.argv[1], name="second")
"""

NEW = """
import sys, time, topoi
from topoi.store import replace
model = topoi.load(sys.argv[1], "lda")
def stop(*_):
    print("here", flush=True)
    time.sleep(60)
replace._put_in_place = stop
model.save(sys.argv[2], replace_file=True)
"""

LABEL = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("PRAGMA cache_spill = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE document SET title = 'spoiled', text = hex(randomblob(20000))")
connection.execute("DELETE FROM topic_word")
print("here", flush=True)
import time
time.sleep(60)
"""


def run_and_kill(script, *arguments, after=0.0):
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"here\n"
        time.sleep(after)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


def names(path):
    return topoi.open_store(path).models()["name"].tolist()


def test_killed_save_leaves_the_old_contents(path, models):
    before = path.read_bytes()
    run_and_kill(SAVE, path, "tables")
    assert path.read_bytes() == before
    assert names(path) == ["at", "lda", "am"]
    models["lda"].save(path, name="second")  # the lock died with its holder
    assert names(path) == ["at", "lda", "am", "second"]
    assert [p.name for p in path.parent.iterdir()] == ["s.topoi"]


@pytest.mark.parametrize("after", slow_unless(lambda after: after in (0.003, 0.029), [0.003, 0.011, 0.029, 0.05]))
def test_killed_at_any_moment_the_file_is_whole(path, corpus, after):
    run_and_kill(SAVE, path, "anywhere", after=after)
    assert set(names(path)) - {"second"} == {"at", "lda", "am"}
    for name in names(path):
        assert topoi.load(path, name).corpus_.texts == corpus.texts
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_killed_new_file_leaves_the_old_one_and_is_cleared_away(path, models, tmp_path):
    before = path.read_bytes()
    run_and_kill(NEW, path, path)
    assert path.read_bytes() == before
    (left,) = [p for p in path.parent.iterdir() if p != path]
    os.utime(left, (1, 1))
    models["lda"].save(path, name="second")
    assert [p.name for p in path.parent.iterdir()] == ["s.topoi"]


def test_killed_label_is_rolled_back_by_the_next_reader(path, corpus):
    run_and_kill(LABEL, path)
    assert path.with_name("s.topoi-journal").exists()
    assert topoi.load(path).corpus_.texts == corpus.texts
    assert topoi.open_store(path).sql("SELECT count(*) AS n FROM topic_word")["n"][0] > 0


def test_journal_of_a_lost_file_is_not_played_into_a_new_one(path, models):
    run_and_kill(LABEL, path)
    journal = path.with_name("s.topoi-journal")
    data = journal.read_bytes()
    models["lda"].save(path, replace_file=True)
    assert [p.name for p in path.parent.iterdir()] == ["s.topoi"]
    path.unlink()
    journal.write_bytes(data)
    models["lda"].save(path)
    assert [p.name for p in path.parent.iterdir()] == ["s.topoi"]
    assert topoi.open_store(path).models()["name"].tolist() == ["LDA"]


def test_journal_from_a_stranger_deletes_no_file(path, tmp_path):
    run_and_kill(LABEL, path)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    name = bytes(victim)
    record = bytes(4) + name + len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big")
    with open(path.with_name("s.topoi-journal"), "ab") as journal:
        journal.write(record + bytes.fromhex("d9d505f920a163d7"))
    for use in (topoi.load, topoi.open_store, lambda p: write.set_label(p, None, 0, "x")):
        with pytest.raises(StoreError, match="journal that topoi did not write"):
            use(path)
    assert victim.read_text() == "precious"


def test_first_writers_at_once_both_succeed(models, tmp_path):
    problems = []

    def save(name):
        try:
            models[name].save(tmp_path / "new", name=name)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=save, args=(name,)) for name in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and sorted(names(tmp_path / "new")) == sorted(models)
    assert [p.name for p in tmp_path.iterdir()] == ["new"]


def test_two_readers_and_a_writer(path, models, corpus):
    store = topoi.open_store(path)
    problems, reads, stop = [], [0, 0], threading.Event()

    def read(which):
        try:
            while not stop.is_set():
                assert topoi.load(store, "at").corpus_.n_docs == 15
                assert set(store.models()["name"]) >= {"at", "lda", "am"}
                assert set(store.labels("lda")) <= {0}
                store.sql("SELECT * FROM topic_word")
                reads[which] += 1
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for n in range(8):
        models["lda"].save(path, name="lda")
        store.set_label("lda", 0, f"label {n}")
    time.sleep(0.2)
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == [] and min(reads) > 0
    assert store.labels("lda") == {0: "label 7"}


def test_writers_at_once_lose_nothing(path, models):
    problems = []

    def save(n):
        try:
            models["lda"].save(path, name=f"lda {n}")
            topoi.open_store(path).set_label(f"lda {n}", 1, str(n))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=save, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = topoi.open_store(path)
    assert problems == [] and len(store.models()) == 9
    assert all(store.labels(f"lda {n}") == {1: str(n)} for n in range(6))


def test_reader_that_never_ends_is_named_as_the_reason(path, models, monkeypatch):
    monkeypatch.setattr(connect, "WAIT_SECONDS", 0.2)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reader:
        rows = reader.execute("SELECT name FROM model ORDER BY model_id")
        first = rows.fetchone()
        with pytest.raises(StoreError, match="another program"):
            models["lda"].save(path, name="new")
        assert [first, *rows.fetchall()] == [("at",), ("lda",), ("am",)]
    models["lda"].save(path, name="new")
    assert len(topoi.open_store(path).models()) == 4


def test_failed_save_leaves_the_old_contents(path, models, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(write, "put_table", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        models["lda"].save(path)
    assert path.read_bytes() == before and [p.name for p in path.parent.iterdir()] == ["s.topoi"]


@pytest.mark.skipif(os.name == "nt", reason="links and modes are POSIX's")
def test_links_and_modes_are_kept(path, models, tmp_path):
    os.chmod(path, 0o640)
    (tmp_path / "link").symlink_to(path)
    models["lda"].save(tmp_path / "link", name="new")
    assert (tmp_path / "link").is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert len(topoi.open_store(path).models()) == 4
