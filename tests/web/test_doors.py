"""Oddities, reviewers, names that people give, texts that are kept, and models switched on the same page."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import topoi
from topoi.analysis.surprise import author_surprises
from topoi.web.background import Background
from topoi.web.kept_texts import MOST_CHARACTERS, MOST_TEXTS, KeptTexts
from web.addresses import AUTHORS_ONLY, LDA, MAIN
from web.conftest import client_of
from web.samples import HOSTILE, SCRIPT

LONG = "A star and its planet in the light of a comet. " * 60


def get(client, page, slug=MAIN):
    answer = client.get(f"/m/{slug}/{page}")
    assert answer.status_code == 200, answer.text[:300]
    return answer.json()


@pytest.mark.parametrize("slug", [MAIN, LDA])
def test_oddities_are_the_most_surprising(client, corpus, stored, slug):
    view = get(client, "oddities.json", slug)
    assert view["done"] == 1 and view["n_documents"] == (np.diff(corpus.doc_start) >= 30).sum()
    times = [row["times"] for row in view["overall"]]
    assert times == sorted(times, reverse=True) and len(times) == min(25, view["n_documents"])
    chain = topoi.view(stored, {MAIN: "who & what/é", LDA: "four topics"}[slug]).chains_[0]
    for row in view["overall"][:5]:
        d = row["document"]["document_id"]
        tokens = corpus.tokens[corpus.doc_start[d] : corpus.doc_start[d + 1]]
        p = chain.documents.shares(np.array([d]))[0] @ chain.word_columns(tokens)
        assert row["perplexity"] == pytest.approx(np.exp(-np.log(p).mean()), rel=1e-3)
        assert row["words"] and {word["word_id"] for word in row["words"]} <= set(tokens.tolist())


def test_oddities_for_authors_are_beside_their_medians(client):
    view = get(client, "oddities.json")
    for row in view["for_authors"]:
        author = get(client, f"author/{row['author']['author_id']}.json")
        own = {one["document"]["document_id"]: one["multiple"] for one in author["surprising"]}
        d = row["document"]["document_id"]
        assert own.get(d, row["times"]) == pytest.approx(row["times"], rel=1e-6)
        assert row["times"] > 1 and row["author"]["author_id"] in [a["author_id"] for a in row["document"]["authors"]]
    assert get(client, "oddities.json", LDA)["for_authors"] == []


def test_surprising_documents_can_be_listed_first(client):
    first = get(client, "oddities.json")["overall"][0]["document"]["document_id"]
    view = get(client, "documents.json?sort=surprising")
    assert view["sort"] == "surprising" and view["documents"][0]["document"]["document_id"] == first


def test_the_author_who_is_least_surprised_counts():
    # Document 0 is odd for author 0, and usual for author 1; document 5 has an author of few documents.
    author = np.array([0] * 6 + [1] * 5 + [2])
    document = np.array([0, 1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 5])
    perplexity = np.array([90.0, 10, 10, 10, 10, 80, 11, 10, 10, 10, 10, 10])
    found = author_surprises(author, document, perplexity, 10)
    assert found.author[0] == 1 and found.times[0] == pytest.approx(1.1)
    assert np.isnan(found.times[5]) and found.author[5] == -1


def test_work_in_the_background_is_done_once_and_errors_are_told():
    gate, calls = threading.Event(), []

    def work(report):
        calls.append(1)
        report(0.5)
        gate.wait(10)
        if len(calls) == 1:
            raise topoi.ModelError("not yet")
        return "done"

    job = Background(work)
    assert job.result(0.05) is None and job.done == 0.5 and job.known is None
    gate.set()
    with pytest.raises(topoi.ModelError, match="not yet"):
        job.result(10)
    assert job.result(10) == "done" == job.known and len(calls) == 2 and job.done == 1


def test_reviewers_say_why(client):
    view = get(client, "reviewers.json?text=A+star+and+its+planet&least=2")
    for row in view["reviewers"]:
        assert row["n_documents"] >= 2 and 0 <= row["fit"] <= 100 and row["knows"]
        assert 1 <= len(row["papers"]) <= 3 and row["last_year"] >= max(paper["year"] for paper in row["papers"])
        for paper in row["papers"]:
            assert row["author_id"] in [author["author_id"] for author in paper["authors"]]
    assert view["reviewers"] and view["least"] == 2
    assert get(client, "reviewers.json?text=A+star&since=3000")["reviewers"] == []
    assert get(client, "reviewers.json?text=A+star&least=1000")["left_out"]["n_others"] > 0
    assert client.get(f"/m/{MAIN}/reviewers.json?text=x&least=0").status_code == 400


def test_long_texts_have_an_address_for_a_while(client):
    for page, proof in (("parse", "Your text, read"), ("reviewers", "of 100")):
        answer = client.post(
            f"/m/{MAIN}/{page}", data={"text": LONG, "who": "any"} if page == "parse" else {"text": LONG}
        )
        assert proof in answer.text
        address = next(part for part in answer.text.split('"') if "kept=" in part and f"/{page}?" in part).replace(
            "&amp;", "&"
        )
        again = client.get(address)
        assert again.status_code == 200 and proof in again.text
        assert client.get(address.replace(page, f"{page}.json")).json()["text"] == LONG
    assert client.get(f"/m/{MAIN}/parse.json?kept=never").status_code == 404
    assert client.get(f"/m/{MAIN}/parse.json?kept={'x' * 65}").status_code == 400


def test_short_texts_are_in_their_address(client):
    text = client.post(f"/m/{MAIN}/parse", data={"text": "A star", "who": "any"}).text
    assert f'href="/m/{MAIN}/parse?text=A+star&amp;who=any"' in text and "kept=" not in text


def test_kept_texts_are_few_and_go():
    texts = KeptTexts()
    keys = [texts.keep(f"text {n}") for n in range(MOST_TEXTS + 5)]
    assert texts.get(keys[0]) is None and texts.get(keys[-1]) == f"text {MOST_TEXTS + 4}"
    assert texts.keep("text 10") == keys[10] and len(set(keys)) == len(keys)
    texts.keep("x" * (MOST_CHARACTERS - 5))
    assert texts.get(keys[-1]) is None
    gone = KeptTexts(seconds=-1)
    assert gone.get(gone.keep("x")) is None


def form_of(own, **fields):
    return {"token": own.app.state.server.tokens.token, **fields}


def test_names_are_given_on_one_page(path):
    own = client_of(path)
    fields = {"title": "Sky & <law>", "sentence": "Sixty texts.", "label.0": "space", "label.2": SCRIPT, "all": "1"}
    answer = own.post(f"/m/{MAIN}/names", data=form_of(own, **fields))
    assert answer.status_code == 303 and answer.headers["location"] == f"/m/{MAIN}/names"
    view = own.get(f"/m/{MAIN}/names.json").json()
    assert (view["title"], view["sentence"]) == ("Sky & <law>", "Sixty texts.")
    assert {topic["topic"]: topic["label"] for topic in view["topics"] if topic["label"]} == {0: "space", 2: SCRIPT}
    first = own.get(f"/m/{MAIN}/").text
    assert "Sky &amp; &lt;law&gt;" in first and "Sixty texts." in first and "<script>" not in first
    assert topoi.open_store(path).about() == ("Sky & <law>", "Sixty texts.")
    # An empty field of the page's form takes a name away; one that another form does not send stays.
    own.post(f"/m/{MAIN}/names", data=form_of(own, title="Sky"))
    assert topoi.open_store(path).about() == ("Sky", "Sixty texts.") and topoi.open_store(path).labels("who & what/é")
    own.post(f"/m/{MAIN}/names", data=form_of(own, all="1"))
    assert topoi.open_store(path).about() == (None, None) and topoi.open_store(path).labels("who & what/é") == {}


def test_the_first_page_shows_a_new_title_at_once(path):
    own = client_of(path)
    before = own.get(f"/m/{MAIN}/").text
    assert "Sky papers" not in before
    own.post(f"/m/{MAIN}/names", data=form_of(own, title="Sky papers", sentence="Sixty short texts."))
    for page in ("", "trends", "topic/1"):
        assert "Sky papers" in own.get(f"/m/{MAIN}/{page}").text, page
    assert "Sixty short texts." in own.get(f"/m/{MAIN}/").text
    topoi.open_store(path).set_about(None, None)
    assert "Sky papers" not in own.get(f"/m/{MAIN}/").text


def test_names_need_the_token_and_permission(path):
    own = client_of(path)
    assert own.post(f"/m/{MAIN}/names", data={"title": "x"}).status_code == 403
    closed = client_of(path, read_only=True)
    assert closed.post(f"/m/{MAIN}/names", data=form_of(closed, title="x")).status_code == 403
    assert "disabled" in closed.get(f"/m/{MAIN}/names").text
    assert topoi.open_store(path).about() == (None, None)


@pytest.mark.parametrize(("fields", "status"), [
    ({"title": "x" * 201}, 503), ({"sentence": "x" * 1001}, 503), ({"label.0": "x" * 1001}, 400),
    ({"label.99": "x"}, 404), ({"label.x": "x"}, 400), ({"label.": "x"}, 400),
])  # fmt: skip
def test_wrong_names_are_refused(path, fields, status):
    own = client_of(path)
    assert own.post(f"/m/{MAIN}/names", data=form_of(own, **fields)).status_code == status
    assert topoi.open_store(path).about() == (None, None)


def test_a_title_stays_with_an_updated_file(tmp_path):
    path = tmp_path / "small.topoi"
    topoi.LDA(2, n_iter=2, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
    store = topoi.open_store(path)
    assert store.about() == (None, None)
    store.set_about(HOSTILE[0], "  Two\nlines ")
    assert topoi.open_store(path).about() == (HOSTILE[0], "Two lines")
    store.update([["sun", "moon"]], n_iter=2)
    assert topoi.open_store(path).about() == (HOSTILE[0], "Two lines")


def test_topics_are_renamed_at_their_heading(client):
    assert (
        f'action="/m/{MAIN}/topic/1/label"'
        in client.get(f"/m/{MAIN}/topic/1").text.partition("<main")[2].partition("<h2")[0]
    )


@pytest.mark.parametrize(("page", "same"), [
    ("author/3", "author/3"), ("document/5", "document/5"), ("documents?venue=ACL&topic=1", "documents?venue=ACL"),
    ("topic/1", ""), ("word/3", "word/3"), ("authors?q=jordan", "authors?q=jordan"),
    ("groups?a.venue=ACL", "groups?a.venue=ACL"),
])  # fmt: skip
def test_another_model_shows_the_same_page(client, page, same):
    text = client.get(f"/m/{MAIN}/{page}").text
    assert f'href="/m/{LDA}/{same}"' in text
    assert client.get(f"/m/{LDA}/{same}").status_code == 200


def test_a_model_without_such_a_page_shows_its_first(client):
    text = client.get(f"/m/{MAIN}/reviewers").text
    assert f'href="/m/{LDA}/"' in text and f'href="/m/{AUTHORS_ONLY}/"' in text
