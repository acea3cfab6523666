"""Search in a store: the numbers of memory, by SQL; damage is a ``StoreError``."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import topoi
from topoi.store.postings import packed, posting_rows, read_postings, unpacked_numbers

WORDS = np.array([f"w{i:02d}" for i in range(40)], object)


@pytest.fixture(scope="module")
def corpus() -> topoi.Corpus:
    rng = np.random.default_rng(1)
    texts = [" ".join(WORDS[rng.integers(0, 20, 25) + 20 * (d % 2)]) for d in range(30)] + [""]
    return topoi.Corpus.from_texts(
        texts,
        authors=[[f"a{d % 4}", "b"] if d % 3 else [f"a{d % 4}"] for d in range(31)],
        dates=[None if d == 7 else 1990 + d % 5 for d in range(31)],
        metadata={"venue": ["A" if d % 2 else "B" for d in range(31)], "tags": [["x", f"t{d % 2}"] for d in range(31)]},
        min_df=1,
        max_df=1.0,
    )


@pytest.fixture(scope="module")
def models(corpus: topoi.Corpus) -> dict[str, Any]:
    settings = {"n_iter": 30, "random_state": 0}
    return {
        "lda": topoi.LDA(3, **settings).fit(corpus),
        "author-topic": topoi.AuthorTopicModel(3, **settings).fit(corpus),
        "pachinko": topoi.PachinkoAllocation(n_super=2, n_sub=3, **settings).fit(corpus),
        "aspect": topoi.AspectModel(3, n_iter=10, random_state=0, tol=0.0).fit(corpus),
    }


@pytest.fixture(scope="module")
def path(models: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("search") / "small.topoi"
    for name, model in models.items():
        model.save(file, name=name)
    return file


@pytest.mark.parametrize("name", ["lda", "author-topic", "pachinko", "aspect"])
@pytest.mark.parametrize("method", ["mixture", "topics", "language", "bm25"])
@pytest.mark.parametrize("mixtures", ["documents", "authors"])
def test_a_store_answers_as_memory_does(
    models: dict[str, Any], path: Path, name: str, method: str, mixtures: str
) -> None:
    memory = topoi.Search(models[name], mixtures=mixtures)
    stored = topoi.Search(topoi.open_store(path), name, mixtures=mixtures)
    asked = "w01 w30 w30 zebra", ["b"]
    scores = [each.scores(each.evidence(*asked), method) for each in (memory, stored)]
    # Mixtures that are not counts are kept with half precision.
    exact = models[name].chains_[0].mixtures_are_counts or (mixtures == "authors" and name == "author-topic")
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-6 if exact else 1e-3)
    frames = [each.query(*asked, n=5, method=method, by=["a1", "a2"], years=(1991, None)) for each in (memory, stored)]
    assert frames[0].attrs["unknown"] == frames[1].attrs["unknown"] == ["zebra"]
    if exact:
        for column in ("document", "id", "matched", "topics"):
            assert frames[0][column].tolist() == frames[1][column].tolist()


@pytest.mark.parametrize("where", [{"venue": "A"}, {"tags": "t1"}, {"year": 1992}, {"id": "3"}, {"tags": "none"}])
def test_metadata_filter_in_a_store(models: dict[str, Any], path: Path, where: dict[str, Any]) -> None:
    found = [
        set(topoi.Search(each).query("w01", n=99, where=where)["document"])
        for each in (models["lda"], topoi.view(path))
    ]
    assert found[0] == found[1]
    with pytest.raises(topoi.NotFoundError, match="no column 'place'"):
        topoi.Search(topoi.view(path)).query("w01", where={"place": "x"})


def test_text_of_a_stored_document_is_marked(corpus: topoi.Corpus, path: Path) -> None:
    memory, stored = topoi.Search(corpus), topoi.Search(topoi.open_store(path))
    assert stored.explain("w01 w02", 4).pieces == memory.explain("w01 w02", 4).pieces
    assert any(hit for _, hit in stored.explain("w01 w02", 4).pieces)


def test_models_without_texts_can_be_searched(models: dict[str, Any], tmp_path: Path) -> None:
    models["lda"].save(tmp_path / "bare.topoi", corpus=False)
    search = topoi.Search(topoi.view(tmp_path / "bare.topoi"))
    assert search.query("w01")["document"].tolist() == topoi.Search(models["lda"]).query("w01")["document"].tolist()
    assert search.explain("w01", 0).pieces == []


def test_a_view_searches_with_its_own_model(path: Path) -> None:
    view = topoi.view(path, "lda")
    assert topoi.Search(view).model.name == "lda"
    assert topoi.Search(view, "pachinko").model.name == "pachinko"
    with pytest.raises(topoi.NotFoundError, match="no model 'x'"):
        topoi.Search(view, "x")
    with pytest.raises(topoi.ModelError, match="the name of one"):
        topoi.Search(view, topoi.LDA(3))


def test_postings_are_those_of_the_corpus(corpus: topoi.Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = corpus.to_matrix().tocsc()
    for size in (7, 2**20):
        monkeypatch.setattr("topoi.store.postings.BLOCK", size)
        rows: dict[int, list[bytes]] = {w: [] for w in range(corpus.n_words)}
        parts = set()
        for w, part, data in posting_rows(corpus):
            rows[w].append(data)
            parts.add(part)
        assert (len(parts) > 1) == (size == 7)
        for w, blobs in rows.items():
            column = matrix[:, w].tocoo()
            order = np.argsort(column.row)
            documents, counts = read_postings(blobs, int(column.data.sum()), column.nnz, corpus.n_docs)
            assert (documents.tolist(), counts.tolist()) == (column.row[order].tolist(), column.data[order].tolist())


def test_numbers_are_packed_and_unpacked() -> None:
    values = np.array([0, 1, 127, 128, 16383, 16384, 2**21 - 1, 2**21, 2**28, 2**31 - 1])
    data, ends = packed(values)
    assert unpacked_numbers(data.tobytes()).tolist() == values.tolist()
    assert len(data) == ends[-1]
    assert unpacked_numbers(b"").tolist() == []


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",  # a number without an end
        b"\x00\x01\x80",
        b"\xff" * 9 + b"\x01",  # a number of ten bytes
        b"\x00",  # half a pair
        b"\x00\x01",  # one document of two
        b"\x00\x01\x00\x01",  # the same document twice
        b"\x00\x00\x01\x02",  # no occurrence
        b"\x00\x01\x01\x02",  # not as many occurrences as the word has
        b"\x00\x01\x7f\x01",  # a document that is not there
    ],
)
def test_damaged_postings(data: bytes) -> None:
    with pytest.raises(topoi.StoreError):
        read_postings([data], n_tokens=2, n_documents=2, limit=10)
    assert read_postings([b"\x03\x01\x04\x01"], 2, 2, 10)[0].tolist() == [3, 7]
    assert read_postings([b"\x03\x01", b"\x07\x01"], 2, 2, 10)[0].tolist() == [3, 7]
    with pytest.raises(topoi.StoreError):
        read_postings([b"\x07\x01", b"\x03\x01"], 2, 2, 10)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE word_document SET postings = x'80'",
        "UPDATE word_document SET postings = x''",
        "UPDATE word_document SET postings = 'text'",
        "UPDATE word_document SET postings = 3",
        "UPDATE word SET n_documents = 5000000000",
        "UPDATE word SET n_tokens = -1",
        "DELETE FROM document_share",
        "UPDATE document_share SET shares = x'00'",
        "UPDATE document_share SET part = part + 1",
        "UPDATE document SET n_tokens = 'x'",
        "UPDATE document SET metadata = '{'",
        "UPDATE document_author SET author_id = 99",
    ],
)
def test_damage_is_a_store_error(path: Path, tmp_path: Path, damage: str) -> None:
    file = tmp_path / "damaged.topoi"
    file.write_bytes(path.read_bytes())
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(damage)
    connection.close()
    with pytest.raises(topoi.StoreError, match="damaged.topoi"):
        search = topoi.Search(topoi.view(file, "pachinko"), mixtures="authors")
        search.query("w01", by="a1", where={"venue": "A"})
        search.topics.of_authors(*search.evidence("w01").columns[0])


@pytest.mark.parametrize("value", [np.nan, -0.5, np.inf])
def test_mixtures_that_are_no_probabilities(path: Path, tmp_path: Path, value: float) -> None:
    file = tmp_path / "damaged.topoi"
    file.write_bytes(path.read_bytes())
    shares = np.full((31, 3), 1 / 3, np.float16)
    shares[4, 1] = value
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE document_share SET shares = ?", (zlib.compress(shares.tobytes()),))
    connection.close()
    with pytest.raises(topoi.StoreError, match="no probabilities"):
        topoi.Search(topoi.view(file, "pachinko")).query("w01")


def test_words_without_postings_are_nowhere(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "thin.topoi"
    file.write_bytes(path.read_bytes())
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM word_document")
    connection.close()
    with pytest.raises(topoi.StoreError, match="postings"):
        topoi.Search(topoi.view(file)).query("w01", method="language")


def test_words_that_no_document_has_are_found_nowhere(tmp_path: Path) -> None:
    corpus = topoi.Corpus.from_counts(np.array([[2, 0, 1], [0, 0, 3]] * 4), ["sun", "never", "sky"])
    topoi.LDA(2, n_iter=5, random_state=0).fit(corpus).save(tmp_path / "m.topoi")
    search = topoi.Search(topoi.view(tmp_path / "m.topoi"))
    assert search.query("never sun", method="language")["matched"].tolist()[0] == ["sun"]
