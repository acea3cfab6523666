"""Lists of authors in any order, and what an author's page says beside the collection."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from web.addresses import AUTHORS_ONLY, LDA, MAIN
from web.conftest import client_of
from web.samples import fit, ordinary_corpus


def get(client, page, slug=MAIN):
    answer = client.get(f"/m/{slug}/{page}")
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def test_orders_of_authors(client, corpus):
    by_name = [row["author"] for row in get(client, "authors.json?sort=name")["authors"]]
    assert by_name == [
        "Åström, Eva",
        "Crick, F",
        "Franklin, R",
        "Holmes, O",
        "Jordan, Ann",
        "Jordan, M",
        "Kepler, J",
        "Sagan, C",
        "Warren, E",
    ]
    numbers = [row["n_documents"] for row in get(client, "authors.json")["authors"]]
    assert numbers == sorted(numbers, reverse=True)
    last = [row["last_year"] for row in get(client, "authors.json?sort=last")["authors"]]
    assert last == sorted(last, reverse=True)


def test_filters_of_authors(client):
    assert {row["author"] for row in get(client, "authors.json?letter=j")["authors"]} == {"Jordan, M", "Jordan, Ann"}
    assert {row["author"] for row in get(client, "authors.json?letter=A")["authors"]} == {"Åström, Eva"}
    every = get(client, "authors.json")
    assert {one["letter"]: one["n_authors"] for one in every["letters"]}["J"] == 2
    most = max(row["n_documents"] for row in every["authors"])
    assert get(client, f"authors.json?least={most}")["n_found"] >= 1
    assert get(client, f"authors.json?least={most + 1}")["n_found"] == 0
    assert get(client, "authors.json?since=3000")["n_found"] == 0
    assert get(client, "authors.json?since=1990&q=jordan&letter=J&sort=name")["n_found"] == 2


@pytest.mark.parametrize("query", ["least=0", "least=x", "sort=size", "letter=ab", "since=x", "since=999999999"])
def test_wrong_filters_of_authors(client, query):
    assert client.get(f"/m/{MAIN}/authors.json?{query}").status_code == 400


def test_every_number_leads_to_its_documents(client):
    row = get(client, "authors.json")["authors"][0]
    text = client.get(f"/m/{MAIN}/authors").text
    assert f"/m/{MAIN}/documents?author={row['author_id']}" in text
    assert get(client, f"documents.json?author={row['author_id']}")["n_found"] == row["n_documents"]


def test_surprise_is_a_multiple_of_the_median(client):
    view = get(client, "author/0.json")
    for row in (*view["surprising"], *view["typical"]):
        assert row["multiple"] == pytest.approx(row["perplexity"] / view["median_perplexity"])
    assert "times the median" in client.get(f"/m/{MAIN}/author/0").text


@pytest.mark.parametrize("slug", [MAIN, LDA])
def test_an_authors_years_beside_the_collections(client, corpus, stored, slug):
    view = get(client, "author/0.json", slug)
    beside, years = view["beside"], corpus.documents["year"].to_numpy()
    own = [d for d in range(60) if 0 in corpus.doc_author[slice(*corpus.doc_author_start[d : d + 2])]]
    assert sum(beside["n_documents"]) == len(own)
    name = {MAIN: "who & what/é", LDA: "four topics"}[slug]
    counts = topoi.view(stored, name).chains_[0].documents.counts(np.arange(60))
    for one in beside["topics"]:
        k = one["topic"]["topic"]
        for first, last, share, whole in zip(beside["first"], beside["last"], one["share"], one["whole"], strict=True):
            mine = [d for d in own if first <= years[d] <= last]
            if mine:
                assert share == pytest.approx(counts[mine][:, k].sum() / counts[mine].sum(), abs=1e-5)
            else:
                assert share is None
            there = (years >= first) & (years <= last)
            assert whole == pytest.approx(counts[there][:, k].sum() / counts[there].sum(), abs=0.02)


def test_beside_is_a_table(client):
    text = client.get(f"/m/{MAIN}/author/0.csv?table=beside").text
    assert text.startswith("topic,first,last,share,whole")


def test_a_model_without_topics_has_no_such_years(client):
    assert get(client, "author/0.json", AUTHORS_ONLY)["beside"] is None


def test_names_of_one_person_are_found(tmp_path):
    people = [
        ["Lluís Màrquez"],
        ["Lluis Marquez"],
        ["Xavier Carreras"],
        ["X. Carreras"],
        ["Ann Doe"],
        ["<b>A.</b> Doe"],
    ]
    corpus = ordinary_corpus(60, authors=people * 10)
    fit(topoi.AuthorTopicModel, corpus, 3, alpha=0.1).save(tmp_path / "names.topoi", name="m")
    client = client_of(tmp_path / "names.topoi")
    number = {row["author"]: row["author_id"] for row in get(client, "authors.json", "m")["authors"]}
    also = get(client, f"author/{number['Lluís Màrquez']}.json", "m")["also"]
    assert [one["author"] for one in also] == ["Lluis Marquez"]
    assert "Perhaps also written as" in client.get(f"/m/m/author/{number['X. Carreras']}").text
    assert "<b>A." not in client.get(f"/m/m/author/{number['Ann Doe']}").text


def test_authors_can_be_compared_from_their_page(client):
    text = client.get(f"/m/{MAIN}/author/0").text
    assert f"/m/{MAIN}/groups?a.author=0" in text and 'name="b.author"' in text
    other = get(client, "author/0.json")["similar"][0]["author_id"]
    assert f"a.author=0&amp;b.author={other}" in text
