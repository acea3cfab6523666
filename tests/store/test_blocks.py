"""A file is the same whatever the blocks that it was written in."""

import sqlite3
import zlib

import numpy as np
import pytest

import topoi
from store.samples import small_corpus
from topoi.corpus.blocks import table_values
from topoi.corpus.pieces import Pieces, string_pieces
from topoi.errors import StoreError
from topoi.kernels.word_lists import count_lists, empty_lists
from topoi.models.averages import Averaged, mean_counts, mean_lists
from topoi.models.leaders import Leaders
from topoi.models.smoothed_counts import count_samples, count_topics
from topoi.store.arrays import checksum, get_array, put_arrays
from topoi.store.connect import schema

TINY = {
    "topoi.engine.samples.BLOCK": 7,
    "topoi.models.averages._CELLS_AT_ONCE": 50,
    "topoi.models.averages._WORDS_AT_ONCE": 2,
    "topoi.models.smoothed_counts.BLOCK": 9,
    "topoi.models.smoothed_counts._CELLS_AT_ONCE": 3,
    "topoi.models.smoothed_counts._ROWS_AT_ONCE": 2,
    "topoi.models.sources._MANY_CELLS": 0,
    "topoi.store.topic_rows._CELLS_AT_ONCE": 5,
    "topoi.models.background._WORDS_AT_ONCE": 2,
    "topoi.models.labels.phrases._TOKENS_AT_ONCE": 3,
    "topoi.models.labels.phrases._MOST_CELLS": 0,
    "topoi.models.labels.titles._TOKENS_AT_ONCE": 3,
    "topoi.models.labels.telling._CELLS_AT_ONCE": 5,
    "topoi.models.pachinko.rows.BLOCK": 9,
    "topoi.corpus.blocks._ROWS_AT_A_TIME": 2,
    "topoi.store.corpus_rows._DOCUMENTS_AT_A_TIME": 4,
    "topoi.store.corpus_rows.BLOCK": 1,
}
MODELS = {
    "author-topic": lambda: topoi.AuthorTopicModel(11, n_iter=12, n_chains=2, random_state=3),
    "LDA": lambda: topoi.LDA(11, n_iter=12, random_state=3),
    "sparse": lambda: topoi.LDA(11, n_iter=12, random_state=3, sparse=True),
    "authors": lambda: topoi.AuthorModel(n_iter=12, random_state=3),
    "pachinko": lambda: topoi.PachinkoAllocation(2, 11, n_iter=12, random_state=3),
    "aspect": lambda: topoi.AspectModel(11, n_iter=2, random_state=3),
}


def contents(path):
    """All rows of all tables but for times, with packed numbers unpacked."""
    connection = sqlite3.connect(path)
    found = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table.startswith("document_search"):
            continue
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        if table in ("mixture", "array_part"):
            rows = [[zlib.decompress(v) if isinstance(v, bytes) else v for v in row] for row in rows]
        found[table] = [row[:7] for row in rows] if table == "model" else rows
    connection.close()
    return found


@pytest.mark.parametrize("name", MODELS)
def test_files_do_not_depend_on_blocks(monkeypatch, tmp_path, name):
    corpus = small_corpus()
    MODELS[name]().fit(corpus).save(tmp_path / "large.topoi")
    for place, size in TINY.items():
        monkeypatch.setattr(place, size)
    MODELS[name]().fit(corpus).save(tmp_path / "tiny.topoi")
    large, tiny = contents(tmp_path / "large.topoi"), contents(tmp_path / "tiny.topoi")
    assert len(large["document"]) == corpus.n_docs and len(large["document_assignment"]) == corpus.n_docs
    for table, rows in large.items():
        assert rows == tiny[table], table


def draws(n_tokens, n_samples, n_topics, seed=0):
    return list(np.random.default_rng(seed).integers(n_topics, size=(n_samples, n_tokens)).astype(np.uint8))


def test_samples_of_long_and_short_documents(monkeypatch):
    monkeypatch.setattr("topoi.models.smoothed_counts.BLOCK", 30)
    doc_start, samples = np.array([0, 4, 4, 40, 45, 47, 60]), draws(60, 3, 5)
    expected = count_topics(doc_start * 3, np.stack(samples, axis=1).ravel().astype(np.uint16), 5)
    for found, one in zip(count_samples(doc_start, samples, 5), expected, strict=True):
        assert found.tolist() == one.tolist()


@pytest.mark.parametrize("cells", [1, 40, 2**20])
def test_means_without_zeros_are_the_same_in_any_blocks(monkeypatch, cells):
    monkeypatch.setattr("topoi.models.averages._CELLS_AT_ONCE", cells)
    tokens = np.random.default_rng(1).integers(9, size=80, dtype=np.int32)
    samples = draws(80, 3, 6)
    averaged = Averaged([{"topic": sample} for sample in samples], [1, 2], [[], []], 3)
    found = mean_lists(tokens, averaged, 12, 6)
    lists = empty_lists(np.bincount(tokens, minlength=12) * 3, 6)
    count_lists(tokens, np.stack(samples).astype(np.uint16), lists)
    assert found.entry_topic.tolist() == lists.entry_topic.tolist() and found.length.tolist() == lists.length.tolist()
    assert found.entry_number.tolist() == (lists.entry_number / 3).astype(np.float32).tolist()
    dense = mean_counts(tokens, averaged, 12, 6)
    assert np.array_equal(found.word_rows(slice(None)), dense.word_rows(slice(None)))
    assert np.array_equal(found.topic, dense.topic)
    for words in (slice(0, 5), slice(5, 12)):
        for one, other in zip(found.word_cells(words), dense.word_cells(words), strict=True):
            assert one.tolist() == other.tolist()


def test_pieces_are_written_and_hashed_as_arrays_are():
    whole = np.random.default_rng(0).integers(255, size=(3 * 2**18 + 5, 2)).astype(np.uint8)
    cuts = [0, 1, 100, 2**18 + 3, 2**19 + 8, len(whole)]
    pieces = Pieces(whole.dtype, whole.shape, lambda: (whole[a:b] for a, b in zip(cuts, cuts[1:], strict=False)))
    assert checksum({}, {"x": pieces}) == checksum({}, {"x": whole})
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    put_arrays(connection, None, {"c_samples_x": pieces, "y": whole})
    for name in ("c_samples_x", "y"):
        assert np.array_equal(get_array(connection, None, name, whole.shape), whole)
    sizes = "SELECT count(*) FROM array_part GROUP BY array_id ORDER BY array_id"
    assert connection.execute(sizes).fetchall() == [(25,), (1,)]


@pytest.mark.parametrize("strings", [[], [""], ["é", "", "abc"], ["ü" * (2**20 + 3), "x"]])
def test_strings_in_pieces(strings):
    data, ends = string_pieces(strings)
    assert np.asarray(data).tobytes() == "".join(strings).encode()
    assert ends.tolist() == np.cumsum([len(s.encode()) for s in strings]).tolist()


def test_leaders_are_those_of_a_whole_sort():
    chance = np.random.default_rng(0)
    group, value, number = chance.integers(4, size=300), chance.integers(9, size=300) / 9, chance.permutation(300)
    leaders = Leaders(5, 7)
    for part in np.array_split(np.arange(300), 11):
        leaders.add(group[part], value[part], number[part], 2 * number[part])
    order = np.lexsort((number, -value, group))
    expected = np.concatenate([order[group[order] == k][:7] for k in range(4)])
    found = leaders.found()
    assert found.number.tolist() == number[expected].tolist() and found.tokens.tolist() == (2 * found.number).tolist()
    assert found.rank.tolist() == [1, 2, 3, 4, 5, 6, 7] * 4


def test_columns_of_one_length():
    with pytest.raises(StoreError, match="differ in length"):
        list(table_values({"a": [1], "b": [1, 2]}, ["a", "b"]))
