"""The file changes, goes or breaks while it is being read."""

from __future__ import annotations

import os
import shutil
import threading

import pytest

import topoi
from web.addresses import LDA, MAIN, PAGES, html
from web.conftest import client_of
from web.samples import fit, ordinary_corpus


def test_model_added_while_running(path, corpus):
    client = client_of(path)
    assert client.get("/").headers["location"] == f"/m/{MAIN}/"
    fit(topoi.LDA, corpus, 2, alpha=0.1).save(path, name="newer")
    assert client.get("/").headers["location"] == "/m/newer/"
    assert len(client.get("/m/newer/overview.json").json()["topics"]) == 2
    assert client.get("/m/newer/").status_code == 200
    assert "newer" in client.get(f"/m/{MAIN}/").text


def test_model_replaced_by_another_of_its_name(path, corpus):
    client = client_of(path)
    assert len(client.get(f"/m/{LDA}/overview.json").json()["topics"]) == 4
    fit(topoi.LDA, corpus, 3, alpha=0.1).save(path, name="four topics")
    assert len(client.get(f"/m/{LDA}/overview.json").json()["topics"]) == 3
    assert client.get(f"/m/{LDA}/topic/3").status_code == 404


def test_labels_of_another_program(path):
    client = client_of(path)
    client.get(f"/m/{MAIN}/")
    topoi.open_store(path).set_label("who & what/é", 2, "given elsewhere")
    for page in ("overview.json", "topic/2.json", "", "topic/2"):
        assert "given elsewhere" in client.get(f"/m/{MAIN}/{page}").text


def test_file_replaced(path, tmp_path):
    client = client_of(path)
    for page in PAGES:
        client.get(f"/m/{MAIN}/{html(page)}")
    other = tmp_path / "other.topoi"
    fit(topoi.AuthorTopicModel, ordinary_corpus(12), 2, alpha=0.1).save(other, name="who & what/é")
    os.replace(other, path)
    for page in ("", "topic/1", "author/0", "authors", "document/11", "documents?q=star", "word/1", "trends", "models"):
        assert client.get(f"/m/{MAIN}/{page}").status_code == 200
    assert client.get(f"/m/{MAIN}/overview.json").json()["collection"]["n_documents"] == 12
    assert client.get(f"/m/{MAIN}/document/12").status_code == 404
    assert client.get(f"/m/{LDA}/").status_code == 404


def test_file_deleted_and_back(path, tmp_path):
    client = client_of(path)
    assert client.get(f"/m/{MAIN}/").status_code == 200
    aside = shutil.move(path, tmp_path / "aside.topoi")
    for page in ("", "topic/1", "overview.json", "parse?text=star", "topic/1.svg"):
        answer = client.get(f"/m/{MAIN}/{page}")
        assert answer.status_code == 503
        assert "moved or deleted" in answer.text
        assert str(tmp_path) not in answer.text
        assert answer.headers["retry-after"]
    assert client.get("/").status_code == 503
    token = client.app.state.server.tokens.token
    assert client.post(f"/m/{MAIN}/topic/1/label", data={"label": "x", "token": token}).status_code == 503
    shutil.move(aside, path)
    assert client.get(f"/m/{MAIN}/").status_code == 200


@pytest.mark.parametrize("contents", [b"", b"nonsense", b"SQLite format 3\0" + b"\0" * 5000, None])
def test_file_damaged(path, contents):
    client = client_of(path)
    assert client.get(f"/m/{MAIN}/topic/1").status_code == 200
    damaged = path.with_suffix(".new")
    damaged.write_bytes(path.read_bytes()[:50_001] if contents is None else contents)
    os.replace(damaged, path)
    for page in ("", "topic/1", "overview.json", "documents?q=star"):
        answer = client.get(f"/m/{MAIN}/{page}")
        assert answer.status_code == 503
        assert "Traceback" not in answer.text
    assert answer.headers["content-security-policy"]


def test_pages_of_the_middle_of_a_file_that_is_damaged(path):
    client = client_of(path)
    with open(path, "r+b") as stream:
        size = stream.seek(0, 2)
        for at in range(8192 * 6, size, 8192 * 2):
            stream.seek(at)
            stream.write(b"\xff" * 4096)
    answers = {client.get(f"/m/{MAIN}/{html(page)}").status_code for page in PAGES}
    assert answers <= {200, 400, 404, 503}


def test_no_model_in_the_file(tmp_path, path):
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM model")
    client = client_of(path)
    assert client.get("/").status_code == 503
    assert client.get(f"/m/{MAIN}/").status_code == 503


def test_many_readers_and_a_writer(path):
    client = client_of(path)
    token = client.app.state.server.tokens.token
    wrong: list[object] = []

    def read(first):
        for i in range(15):
            for page in ("topic/1.json", "author/0.json", "document/3.json", "search.json?q=star"):
                answer = client.get(f"/m/{MAIN}/{page}")
                if answer.status_code != 200:
                    wrong.append((first, i, page, answer.text))

    def write():
        for i in range(15):
            form = {"label": f"label {i}", "token": token}
            if client.post(f"/m/{MAIN}/topic/1/label", data=form).status_code != 303:
                wrong.append(("label", i))

    threads = [threading.Thread(target=read, args=(t,)) for t in range(3)] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert topoi.open_store(path).labels() == {1: "label 14"}


def test_caches_outlive_labels(path):
    client = client_of(path)
    client.get(f"/m/{MAIN}/author/0")
    watcher = client.app.state.server.watcher
    before = watcher.context().cache
    topoi.open_store(path).set_label(None, 0, "x")
    assert watcher.context().cache is before


def test_another_collection_copied_over_the_file(path, tmp_path):
    """The same inode, and perhaps the same number of changes: SQLite alone would not notice."""
    client = client_of(path)
    assert client.get(f"/m/{MAIN}/documents.json").json()["n_found"] == 60
    other = tmp_path / "other.topoi"
    fit(topoi.LDA, ordinary_corpus(30), 2, alpha=0.1).save(other, name="who & what/é")
    with open(other, "rb") as source, open(path, "r+b") as target:
        target.write(source.read())
        target.truncate()
    assert client.get(f"/m/{MAIN}/documents.json").json()["n_found"] == 30


@pytest.mark.parametrize(
    ("change", "page"),
    [
        ("DELETE FROM corpus", "overview"),
        ("UPDATE topic SET share = 'much'", "overview"),
        ("UPDATE topic SET hue = 9e999", "overview"),
        ("UPDATE author_document SET perplexity = 'high'", "author/0"),
        ("UPDATE topic_trend SET n_tokens = x'00'", "trends"),
        ("UPDATE document SET year = 'long ago'", "document/0"),
    ],
)
def test_values_of_a_wrong_kind_are_damage(path, change, page):
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    client = client_of(path)
    for address in (f"/m/{MAIN}/{html(page)}", f"/m/{MAIN}/{page}.json"):
        assert client.get(address).status_code in (200, 503), address
    if "DELETE" in change:
        assert client.get(f"/m/{MAIN}/").status_code == 503


def test_a_pipe_in_the_place_of_the_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.topoi")
    assert client_of(tmp_path / "pipe.topoi").get("/").status_code == 503
