"""Words along time and in context, and topics that documents have together."""

from __future__ import annotations

import csv
import io
import itertools
import re

import numpy as np
import pytest

import topoi
from topoi.analysis.together import count_together
from web.addresses import AUTHORS_ONLY, LDA, MAIN


def get(client, page, slug=MAIN):
    answer = client.get(f"/m/{slug}/{page}")
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


def test_shares_by_year_are_counts(client, corpus):
    word = corpus.vocabulary.index("star")
    years = get(client, f"word/{word}.json")["years"]
    of_document = corpus.documents["year"].to_numpy()[np.repeat(np.arange(60), np.diff(corpus.doc_start))]
    for first, last, n, uses, share in zip(
        years["first"],
        years["last"],
        years["n_tokens"],
        years["words"][0]["n_tokens"],
        years["words"][0]["share"],
        strict=True,
    ):
        inside = (of_document >= first) & (of_document <= last)
        assert n == inside.sum() and uses == (corpus.tokens[inside] == word).sum()
        assert share == pytest.approx(uses / n, abs=1e-8)


@pytest.mark.parametrize("slug", [MAIN, LDA])
def test_topics_are_parts_of_the_share(client, corpus, stored, slug):
    word = corpus.vocabulary.index("star")
    years = get(client, f"word/{word}.json", slug)["years"]
    total = np.array(years["words"][0]["share"])
    parts = np.array([one["share"] for one in years["topics"]])
    assert (parts.sum(axis=0) <= total + 1e-7).all() and parts.sum() > 0.9 * total.sum()
    # The topic that the model gives most of the word to leads here too.
    leading = get(client, f"word/{word}.json", slug)["topics"][0]["topic"]["topic"]
    assert years["topics"][0]["topic"]["topic"] == leading


def test_several_words_in_one_chart(client, corpus):
    star, moon = corpus.vocabulary.index("star"), corpus.vocabulary.index("moon")
    view = get(client, f"word/{star}.json?with={moon}&with=Galaxy&with=zeppelin&with={star}")
    assert [one["word"] for one in view["years"]["words"]] == ["star", "moon", "galaxy"]
    assert view["unknown"] == ["zeppelin"]
    text = client.get(f"/m/{MAIN}/word/{star}?with={moon}&with=galaxy").text
    assert text.count('name="with" value=') == 2 and "dash1" in text
    assert client.get(f"/m/{MAIN}/word/{star}.svg?with={moon}").status_code == 200


def test_too_many_words_are_refused(client):
    assert client.get(f"/m/{MAIN}/word/0.json?" + "&".join(f"with={w}" for w in range(6))).status_code == 400
    assert client.get(f"/m/{MAIN}/word/0.json?with={'x' * 201}").status_code == 400


def test_lines_are_in_the_texts(client, corpus):
    word = corpus.vocabulary.index("star")
    lines = get(client, f"word/{word}.json")["lines"]
    assert 1 <= len(lines) <= 16
    for line in lines:
        assert line["word"].lower() == "star"
        shown = (line["before"].lstrip("…") + line["word"] + line["after"].rstrip("…")).strip()
        assert shown in " ".join(corpus.texts[line["document_id"]].split())
        assert len(line["before"]) <= 50 and len(line["after"]) <= 50
    of_documents = [line["document_id"] for line in lines]
    assert max(of_documents.count(d) for d in of_documents) <= 2
    assert all(line["topic"] is None for line in get(client, f"word/{word}.json", AUTHORS_ONLY)["lines"])


def test_tables_of_a_word(client, corpus):
    word = corpus.vocabulary.index("star")
    for table, columns in (
        ("years", {"first", "last", "n_words", "star"}),
        ("lines", {"before", "word", "after", "title"}),
    ):
        rows = list(csv.DictReader(io.StringIO(client.get(f"/m/{MAIN}/word/{word}.csv?table={table}").text)))
        assert columns <= rows[0].keys()


def test_years_lead_to_documents(client, corpus):
    word = corpus.vocabulary.index("star")
    first = get(client, f"word/{word}.json")["years"]["first"][0]
    assert f"documents?q=star&amp;from={first}" in client.get(f"/m/{MAIN}/word/{word}").text


def test_topics_together_are_counted(client, stored):
    counts = topoi.view(stored, "who & what/é").chains_[0].documents.counts(np.arange(60))
    has = np.round(counts / counts.sum(axis=1, keepdims=True), 6) >= 0.1
    pairs = get(client, "together.json")["pairs"]
    assert pairs
    for row in pairs:
        a, b = row["topic"]["topic"], row["other"]["topic"]
        both = (has[:, a] & has[:, b]).sum()
        assert row["n_documents"] == both
        assert (
            row["times"] == pytest.approx(both * 60 / (has[:, a].sum() * has[:, b].sum()), abs=1e-3)
            and row["times"] > 1
        )
        of_topic = {one["topic"]["topic"]: one for one in get(client, f"topic/{a}.json")["together"]}
        if b in of_topic:
            assert of_topic[b]["n_documents"] == both
        assert f"documents?topic={a}&amp;topic={b}" in client.get(f"/m/{MAIN}/together").text
        assert get(client, f"documents.json?topic={a}&topic={b}")["n_found"] == both


def test_evidence_comes_before_coincidence():
    # Topics 0 and 1 are together in 40 of 100 documents; topics 2 and 3 in one, which has nothing else of either.
    rows = [(d, k) for d in range(40) for k in (0, 1)] + [(d, 0) for d in range(40, 50)] + [(99, 2), (99, 3)]
    row, topic = (np.array(each) for each in zip(*rows, strict=True))
    found = count_together(row, topic, 100, 4)
    assert found.times[2, 3] > found.times[0, 1] > 1
    assert found.evidence[0, 1] > found.evidence[2, 3] > 0
    for a, b in itertools.product((0, 1), (2, 3)):
        assert found.evidence[a, b] <= 0


def test_specialists_are_sure(client):
    for topic in range(6):
        view = get(client, f"topic/{topic}.json?authors=specialists")
        lower = [one["lower"] for one in view["authors"]]
        assert lower == sorted(lower, reverse=True) and view["rank"] == "specialists"
        most = get(client, f"topic/{topic}.json")
        tokens = [one["n_tokens"] for one in most["authors"]]
        assert tokens == sorted(tokens, reverse=True)
    assert client.get(f"/m/{MAIN}/topic/0.json?authors=all").status_code == 400


def test_narrow_pictures_name_what_their_colours_mean(client, corpus):
    star, moon = corpus.vocabulary.index("star"), corpus.vocabulary.index("moon")
    for page in (f"word/{star}", f"word/{star}?with={moon}"):
        text = client.get(f"/m/{MAIN}/{page}").text
        wide, narrow = re.findall(r'<svg class="(?:wide|narrow)" viewBox="0 0 [^"]*" role="group".*?</svg>', text, re.S)
        names = [re.findall(r'class="axis name[^"]*">([^<]*)<', picture) for picture in (wide, narrow)]
        assert sorted(names[0]) == sorted(names[1]) and len(names[1]) > 1, page
        # Below the years, and inside the picture.
        height = float(re.search(r'viewBox="0 0 \S+ (\S+)"', narrow)[1])
        places = re.findall(r'<text[^>]*y="([^"]*)"[^>]*class="axis name', narrow)
        assert places and all(180 < float(y) < height for y in places)
