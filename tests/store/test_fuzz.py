"""Damaged and hostile stores, by the thousand: every way in gives an answer or a clear refusal."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import time
import tracemalloc
import warnings
from contextlib import closing

import pytest

import topoi
from store.mutations import DEEP, HUGE, mutate
from store.samples import small_corpus
from store.surfaces import FAMILIES, Surfaces, run_verb, save_stores
from thinning import slow_unless
from topoi.errors import StoreError, TopoiError
from topoi.store import corpus_rows, read
from topoi.store.queries import PAGE_QUERIES, QUERIES
from topoi.store.rows import kind_of

# Of one question about a small file, whatever the file says of itself.
MOST_SECONDS = 5.0
MOST_KILOBYTES = 200_000
EXPORT_EVERY = 40


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    return save_stores(tmp_path_factory.mktemp("stores"), small_corpus())


@pytest.fixture(scope="module")
def surfaces(stores, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "damaged.topoi"
    shutil.copy(stores["texts"], path)
    return Surfaces(path)


def chosen(surfaces, group, number):
    """A question to the library, one to the command line and one to the browser; now and then a whole export."""
    chance = random.Random(number)
    questions = list(surfaces.all_questions(group, chance))
    picked = [chance.choice([q for q in questions if q[0].startswith(kind)]) for kind in ("api", "cli", "web")]
    return [*picked, questions[-1]] if number % EXPORT_EVERY == 0 else picked


def failures(surfaces, stores, numbers, monkeypatch):
    """What went wrong, by the number of the damage: to see it again, pass that number alone."""
    found = []
    for number in numbers:
        group = random.Random(-number).choice(list(FAMILIES))
        fresh = surfaces.path.with_name("fresh")
        shutil.copy(stores[group], fresh)
        os.replace(fresh, surfaces.path)
        what = mutate(surfaces.path, number)
        # A forger computes checksums as well as we do: most files are read without.
        for module in (read, corpus_rows):
            monkeypatch.setattr(module, "check_digest", corpus_rows_digest if number % 3 == 0 else lambda *_: None)
        for name, question in chosen(surfaces, group, number):
            before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            try:
                question()
            except TopoiError:
                pass
            except Exception as error:
                found.append(f"{number}: {what}: {name}: {type(error).__name__} {error}")
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            taken = time.process_time() - start
            if grown > MOST_KILOBYTES or taken > MOST_SECONDS:
                found.append(f"{number}: {what}: {name}: {grown // 1000} MB, {taken:.1f} s")
    return found


corpus_rows_digest = corpus_rows.check_digest


def check(surfaces, stores, numbers, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers of a damaged file may be anything
        assert failures(surfaces, stores, numbers, monkeypatch) == []


def test_whole_files_answer_everything(stores, surfaces):
    for group, path in stores.items():
        shutil.copy(path, surfaces.path)
        refused = set()
        for name, question in surfaces.all_questions(group, random.Random(0)):
            try:
                question()
            except StoreError as error:
                raise AssertionError(name) from error
            except TopoiError:
                refused.add(name)  # a question that is not for this family
        assert len(refused) < 30


@pytest.mark.parametrize("part", slow_unless(lambda part: part < 1, range(5)))
def test_damaged_files_are_answered_or_refused(stores, surfaces, monkeypatch, part):
    check(surfaces, stores, range(100 * part, 100 * (part + 1)), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_damaged_files_are_answered_or_refused(stores, surfaces, monkeypatch, part):
    check(surfaces, stores, range(1000 * (part + 1), 1000 * (part + 2)), monkeypatch)


# Of longer runs: no years in a table of years, bytes for a seed, a length of a document that is not that of its words,
# nodes or topics with a year that the others do not have, a model with two names.
FOUND = [1366, 4434, 5967, 13928, 19760, 20000]


def test_damage_that_was_found_before(stores, surfaces, monkeypatch):
    check(surfaces, stores, FOUND, monkeypatch)


CLAIMS = {
    "topics of the model": "UPDATE model SET n_topics = {huge}",
    "topics in its settings": "UPDATE model SET bundle = replace(bundle, '\"n_topics\": 3', '\"n_topics\": {huge}')",
    "documents": "UPDATE corpus SET n_documents = {huge}",
    "words": "UPDATE corpus SET n_words = {huge}",
    "authors": "UPDATE corpus SET n_authors = {huge}",
    "rows of a mixture": "UPDATE mixture SET n_rows = {huge}",
    "an array": "UPDATE array SET shape = '[{huge}]'",
    "the number of a topic": "UPDATE topic SET topic = {huge} WHERE topic = 2",
    "the number of a word": "UPDATE word SET word_id = {huge} WHERE word_id = 2",
    "a document's length": "UPDATE document SET n_tokens = {huge}",
}


@pytest.mark.parametrize("what", CLAIMS)
def test_claimed_sizes_are_not_believed(stores, tmp_path, what, monkeypatch):
    path = shutil.copy(stores["texts"], tmp_path / "s.topoi")
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(CLAIMS[what].format(huge=HUGE)).rowcount
    for module in (read, corpus_rows):
        monkeypatch.setattr(module, "check_digest", lambda *_: None)
    uses = [
        lambda: topoi.load(path, "lda"),
        lambda: topoi.similar_documents(topoi.view(path, "at"), 2),
        lambda: topoi.label_document(topoi.view(path, "at"), 2),
        lambda: topoi.view(path, "at").transform(["stars and genes"]),
    ]
    tracemalloc.start()
    try:
        refused = 0
        for use in uses:
            try:
                use()
            except StoreError as error:
                refused += "s.topoi" in str(error)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert refused >= 1


def test_deep_json_is_refused_everywhere(stores, surfaces):
    for table, column in (("model", "bundle"), ("model", "parameters"), ("topic", "words"), ("corpus", "settings")):
        shutil.copy(stores["texts"], surfaces.path)
        with closing(sqlite3.connect(surfaces.path)) as connection, connection:
            connection.execute(f"UPDATE {table} SET {column} = ?", (DEEP,))
        with pytest.raises(StoreError, match="damaged"):
            topoi.view(surfaces.path, "at").transform(["stars"])
            topoi.load(surfaces.path, "at")
            surfaces.export()
        for address in ("/m/at/", "/m/at/models", "/m/at/document/0", "/m/at/parse?text=stars"):
            surfaces.get(address)
        run_verb(["topics", str(surfaces.path)])


def test_every_column_of_a_query_is_declared(stores):
    with topoi.open_store(stores["texts"]).connection() as connection:
        for query in (*QUERIES.values(), *PAGE_QUERIES.values()):
            names = {
                name: 0
                for name in (
                    *("model_id", "topic", "node", "author_id", "document_id", "word_id", "year", "n", "skip"),
                    *("word", "author", "first", "beyond"),
                )
            }
            cursor = connection.execute(query, {**names, "match": '"x"', "ids": "[]"})
            for column in cursor.description:
                kind_of(column[0])
