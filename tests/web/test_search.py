"""The search page: ranked by words and topics, with the reason, and without a script."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

import topoi
from topoi.web.links import name_of
from web.addresses import AUTHORS_ONLY, MAIN
from web.conftest import client_of


def found(client, q, slug=MAIN):
    answer = client.get(f"/m/{slug}/search.json", params={"q": q})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_documents_are_ranked_as_by_the_library(client, stored):
    data = found(client, "star law")
    frame = topoi.Search(topoi.view(stored)).query("star law", n=20)
    frame = frame[[bool(own) or score > 0 for own, score in zip(frame["matched"], frame["score"], strict=True)]]
    assert [each["document"]["document_id"] for each in data["documents"]] == frame["document"].tolist()
    assert [each["matched"] for each in data["documents"]] == frame["matched"].tolist()
    assert [each["score"] for each in data["documents"]] == pytest.approx(frame["score"].tolist(), abs=1e-5)
    carried = [[topic["topic"] for topic in each["topics"]] for each in data["documents"]]
    assert all(own[: len(given)] == given for own, given in zip(carried, frame["topics"], strict=True))


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A file in which one document on stars does not name them."""
    texts = ["A star and a comet", "Comet and moon", "A star, a moon and a star", "Gene and cell", "Cell, gene, virus"]
    corpus = topoi.Corpus.from_texts(texts, min_df=1, max_df=1.0)
    path = tmp_path_factory.mktemp("few") / "few.topoi"
    topoi.LDA(2, alpha=0.1, n_iter=200, random_state=0).fit(corpus).save(path)
    return client_of(path)


def test_a_hit_without_the_words_says_so(few):
    data = found(few, "star", "LDA")
    assert [each["document"]["document_id"] for each in data["documents"]][:3] == [2, 0, 1]
    assert [each["by_topics"] for each in data["documents"]] == [False, False, True]
    assert [each["matched"] for each in data["documents"]][:3] == [["star"], ["star"], []]
    assert [part["text"] for part in data["documents"][0]["snippet"] if part["hit"]] == ["star", "star"]
    assert data["documents"][2]["snippet"] is None and data["documents"][2]["topics"]
    text = few.get("/m/LDA/search", params={"q": "star"}).text
    assert text.count("None of these words; found by its topics.") == 1


def test_unknown_words_are_named_and_escaped(client):
    data = found(client, "star zeppelin<script>")
    assert data["unknown"] == ["zeppelin", "script"]
    text = client.get(f"/m/{MAIN}/search", params={"q": "star <b>zeppelin"}).text
    assert "No document has" in text and "<bdi>zeppelin</bdi>" in text and "<b>zeppelin" not in text


def test_what_is_no_word_of_the_model_is_left_to_the_full_text(client):
    assert {each["author"] for each in found(client, "jordan")["authors"]} == {"Jordan, M", "Jordan, Ann"}
    data = found(client, "plane")  # the beginning of a word
    assert data["documents"] and all(each["score"] is None for each in data["documents"])
    assert found(client, "%%% ???")["documents"] == []


def test_a_title_is_found_by_its_words(client, stored):
    title = topoi.open_store(stored).sql("SELECT title FROM document WHERE document_id = 7")["title"][0]
    assert 7 in [each["document"]["document_id"] for each in found(client, title)["documents"][:3]]


def test_models_without_topics_rank_by_words(client):
    documents = found(client, "star", AUTHORS_ONLY)["documents"]
    assert documents and not any(each["by_topics"] for each in documents)


def test_topics_match_by_beginnings_of_words_and_labels(stored, tmp_path):
    path = shutil.copy(stored, tmp_path / "labelled.topoi")
    client = client_of(path)
    overview = client.get(f"/m/{MAIN}/overview.json").json()["topics"]
    first = overview[0]
    word = first["words"][1][:3]
    here = {each["topic"] for each in overview if any(own.startswith(word) for own in each["words"])}
    before = [each["topic"] for each in found(client, word)["topics"]]
    assert here <= set(before) and found(client, f"{word} zzz")["topics"] == []
    topoi.open_store(path).set_label(name_of(MAIN), first["topic"], "Quasars and Łukasz")
    assert [each["topic"] for each in found(client, "quas")["topics"]] == [first["topic"]]
    assert [each["topic"] for each in found(client, f"quas {word}")["topics"]] == [first["topic"]]
    assert {each["topic"] for each in found(client, word)["topics"]} == set(before)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE word_document SET postings = x'80'",
        "DELETE FROM word_document",
        "UPDATE word SET n_documents = n_documents + 1",
    ],
)
def test_a_damaged_index_is_an_error_page(stored, tmp_path, damage):
    path = shutil.copy(stored, tmp_path / "damaged.topoi")
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    connection.close()
    answer = client_of(path).get(f"/m/{MAIN}/search?q=star")
    assert answer.status_code == 503 and "damaged" in answer.text and "Traceback" not in answer.text
