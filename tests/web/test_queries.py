"""A page asks at most five questions of the file, each answered from an index."""

from __future__ import annotations

import re
import sqlite3

import pytest

from thinning import slow_unless
from topoi.store import connect
from topoi.store import store as store_module
from topoi.store.queries import PAGE_QUERIES, READ_ONCE
from web.addresses import AUTHORS_ONLY, LDA, MAIN, PAGES, PRIVATE, TOPICLESS, html
from web.conftest import client_of

MOST = 5
# Finding a typed name takes a query each, and so does asking who of all could have written a text.
LABELLING = re.compile(r"(parse|reviewers)\?text")
MOST_LABELLING = 10
TINY = {"model", "corpus", "topic", "label", "m"}  # m: the models in the query for their traces
GIVEN = {
    "model_id": 4, "topic": 0, "node": 0, "author_id": 0, "document_id": 0, "word_id": 0, "n": 5, "skip": 0,
    "year": 1990,
    "match": '"star"*', "ids": "[0, 1, 2]", "first": "s", "beyond": "t",
}  # fmt: skip


@pytest.fixture
def asked(stored, monkeypatch):
    """A client, and the list of all statements that its pages have run."""
    statements: list[str] = []

    def reader(path):
        connection = connect.connect_reader(path)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(store_module, "connect_reader", reader)
    return client_of(stored), statements


def count(statements):
    """Statements of ours: not those that the full-text index runs for itself, nor pragmas."""
    return [s for s in statements if not s.startswith("--") and not s.lstrip().upper().startswith("PRAGMA")]


@pytest.mark.parametrize("slug", slow_unless(lambda slug: slug in (LDA, PRIVATE), [MAIN, LDA, PRIVATE, AUTHORS_ONLY]))
def test_pages_ask_little(asked, slug):
    client, statements = asked
    pages = TOPICLESS if slug == AUTHORS_ONLY else [p for p in PAGES if "compare/" not in p and "topic/5" not in p]
    for page in pages:
        client.get(f"/m/{slug}/{html(page)}")  # what is read once is read now
    for page in [*pages, "complete.json?q=st"]:
        statements.clear()
        assert client.get(f"/m/{slug}/{html(page)}").status_code == 200
        ours = count(statements)
        most = MOST_LABELLING if LABELLING.match(page) else MOST
        assert len(ours) <= most, (page, ours)


def test_compare_asks_little_the_second_time(asked):
    client, statements = asked
    client.get(f"/m/{MAIN}/compare/{LDA}")
    statements.clear()
    client.get(f"/m/{MAIN}/compare/{LDA}")
    assert len(count(statements)) <= MOST


@pytest.mark.parametrize("name", PAGE_QUERIES)
def test_questions_are_answered_from_indexes(stored, name):
    with sqlite3.connect(f"file:{stored}?mode=ro", uri=True) as connection:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {PAGE_QUERIES[name]}", GIVEN)]
    scans = [step for step in plan if step.startswith("SCAN") and "VIRTUAL TABLE INDEX" not in step]
    scanned = {step.split()[1] for step in scans} - TINY - {"(subquery-1)", "(subquery-2)", "(subquery-3)", "y", "f"}
    if name == "author_works":
        scanned -= {"m"}
    assert scanned == set() or name in READ_ONCE
    # A join with a list of numbers begins with the list: otherwise the whole table would be compared with it.
    if ":ids" in PAGE_QUERIES[name]:
        loops = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
        assert loops[0].startswith("SCAN i VIRTUAL TABLE")


@pytest.mark.parametrize("name", PAGE_QUERIES)
def test_every_value_is_bound(name):
    assert "?" not in PAGE_QUERIES[name]
    assert "{" not in PAGE_QUERIES[name]
