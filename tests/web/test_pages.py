"""Every page as HTML, JSON, CSV and SVG, and that it says what the questions answer."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import topoi
from topoi.drawing.differences import signed_percents
from topoi.drawing.words import percent, percents
from topoi.web.pages import KINDS, page_of
from topoi.web.pages.groups import _column
from web.addresses import AUTHORS_ONLY, LDA, MAIN, PAGES, PRIVATE, TOPICLESS, html, twin
from web.conftest import client_of


def test_root_leads_to_the_model_saved_last(client):
    answer = client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/m/{MAIN}/")


@pytest.mark.parametrize("page", PAGES)
def test_page_and_twin(client, page):
    answer = client.get(f"/m/{MAIN}/{html(page)}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1" in answer.text
    data = client.get(f"/m/{MAIN}/{twin(page, 'json')}")
    assert data.status_code == 200
    assert data.headers["content-type"] == "application/json"
    assert data.json()["kind"] == re.split(r"[/?]", page)[0]


@pytest.mark.parametrize("page", PAGES)
def test_every_list_is_a_table(client, page):
    data = client.get(f"/m/{MAIN}/{twin(page, 'json')}").json()
    for name, rows in page_of(data).tables(data).items():
        question = "&" if "?" in page else "?"
        answer = client.get(f"/m/{MAIN}/{twin(page, 'csv')}{question}table={name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.headers["content-disposition"].startswith('attachment; filename="')
        assert len(list(csv.reader(io.StringIO(answer.text)))) == 1 + len(rows)
    missing = client.get(f"/m/{MAIN}/{twin(page, 'csv')}{'&' if '?' in page else '?'}table=nonsense")
    assert missing.status_code == 404


@pytest.mark.parametrize("slug", [LDA, PRIVATE])
@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith(("compare/", "topic/5"))])
def test_pages_of_other_models(client, slug, page):
    for address in (html(page), twin(page, "json")):
        assert client.get(f"/m/{slug}/{address}").status_code == 200, address


@pytest.mark.parametrize("page", TOPICLESS)
def test_pages_of_a_model_without_topics(client, page):
    for address in (html(page), twin(page, "json")):
        assert client.get(f"/m/{AUTHORS_ONLY}/{address}").status_code == 200, address
    data = client.get(f"/m/{AUTHORS_ONLY}/{twin(page, 'json')}").json()
    assert not data.get("topics")
    assert client.get(f"/m/{AUTHORS_ONLY}/topic/0").status_code == 404


@pytest.mark.parametrize("name", ["topic/1", "author/1", "trends", "map"])
def test_pictures(client, name):
    answer = client.get(f"/m/{MAIN}/{name}.svg")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert ET.fromstring(answer.text).tag.endswith("svg")
    assert "attachment" in answer.headers["content-disposition"]


def test_pictures_that_cannot_be_drawn(client):
    assert client.get(f"/m/{AUTHORS_ONLY}/map.svg").status_code == 404
    assert client.get(f"/m/{AUTHORS_ONLY}/trends.svg").status_code == 404


@pytest.mark.parametrize(
    "page", ["topic/6", "topic/-1", "author/9", "document/60", "word/25", "compare/none", "x", "topic/x"]
)
def test_what_is_not_there(client, page):
    for address in (page, f"{page}.json"):
        answer = client.get(f"/m/{MAIN}/{address}")
        assert answer.status_code == 404
    assert answer.json()["kind"] == "error"
    assert answer.json()["status"] == 404
    assert client.get("/m/no~20such~20model/").status_code == 404
    assert client.get("/m/%00/").status_code == 404
    assert client.get("/nothing").status_code == 404


def get(client, page, slug=MAIN):
    return client.get(f"/m/{slug}/{page}").json()


def test_overview(client, corpus):
    data = get(client, "overview.json")
    assert data["collection"]["n_documents"] == corpus.n_docs
    assert data["collection"]["first_year"] == 1990
    shares = [face["share"] for face in data["topics"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert all(len(face["trend"]) == 10 for face in data["topics"])


def test_topic_words_are_those_of_the_model(client, stored):
    view = topoi.view(stored, "who & what/é")
    for relevance in (0.0, 0.6, 1.0):
        data = get(client, f"topic/2.json?relevance={relevance}")
        expected = view.top_words(30, topic=2, relevance=relevance)
        assert [word["word"] for word in data["words"]] == expected["word"].tolist()
    assert all(0 < word["share_of_word"] <= 1 for word in data["words"])
    assert [one["author"] for one in data["authors"]][:3] == view.top_authors(3, topic=2, by="words")["author"].tolist()
    documents = topoi.topic_documents(view, 2, 15)
    shown = [row["document"]["document_id"] for row in data["documents"]]
    assert shown == [d for d, n in zip(documents["document"], documents["n_words"], strict=True) if n]
    # Expected numbers, each rounded.
    assert abs(sum(data["trend"]["n_tokens"]) - data["n_tokens"]) <= len(data["trend"]["n_tokens"]) / 2
    assert len(data["neighbours"]) == 5


def test_author_says_what_the_questions_answer(client, stored, corpus):
    view = topoi.view(stored, "who & what/é")
    for author in (0, 4, 8):
        data = get(client, f"author/{author}.json")
        assert data["author"]["name"] == corpus.authors[author]
        similar = topoi.similar_authors(view, author)
        assert [one["author"] for one in data["similar"]] == similar["name"].tolist()
        assert [[f["topic"] for f in one["topics"]] for one in data["similar"]] == similar["topics"].tolist()
        odd = topoi.unusual_documents(view, author=str(corpus.authors[author]))
        assert [row["document"]["document_id"] for row in data["surprising"]] == odd["document"].tolist()[:5]
        typical = odd["document"].tolist()[::-1][:5]
        assert [row["document"]["document_id"] for row in data["typical"]] == typical[: len(data["typical"])]
        assert data["median_perplexity"] == pytest.approx(odd["perplexity"].median())
        assert sum(data["by_year"]["n_documents"]) == data["author"]["n_documents"] == len(data["documents"])
        names = view.author_topics(author, 3)["topic"].tolist()
        assert [row["topic"]["topic"] for row in data["topics"][: len(names)]][:1] == names[:1]
        assert str(data["author"]["n_documents"]) in data["summary"]
        assert author not in [one["author_id"] for one in data["coauthors"]]
    years = [document["year"] for document in data["documents"]]
    assert years == sorted(years, reverse=True)


def test_coauthors_are_counted_once_a_document(client, corpus):
    data = get(client, "author/0.json")
    shared: dict[str, int] = {}
    for d in range(corpus.n_docs):
        names = corpus.authors[corpus.doc_author[slice(*corpus.doc_author_start[d : d + 2])]].tolist()
        if corpus.authors[0] in names:
            for name in names:
                shared[name] = shared.get(name, 0) + 1
    del shared[corpus.authors[0]]
    assert {one["author"]: one["n_documents"] for one in data["coauthors"]} == shared


def test_document_is_its_text(client, corpus, stored):
    for slug in (MAIN, PRIVATE, LDA):
        data = get(client, "document/7.json", slug)
        assert "".join(piece["text"] for piece in data["pieces"]) == corpus.texts[7]
        words = [piece for piece in data["pieces"] if "topic" in piece]
        assert len(words) == data["document"]["n_tokens"]
        assert all(corpus.words[piece["word_id"]] == piece["text"].lower() for piece in words)
        assert sum(row["n_tokens"] for row in data["topics"]) == len(words)
        assert set(data["faces"]) == {str(piece["topic"]) for piece in words}
        assert not data["sampling"]["live"]
    assert data["authors"] == []
    similar = topoi.similar_documents(topoi.view(stored, "who & what/é"), 7, 6, measure="jensen-shannon")
    data = get(client, "document/7.json")
    assert [row["document"]["document_id"] for row in data["similar"]] == similar["document"].tolist()
    assert [[f["topic"] for f in row["topics"]] for row in data["similar"]] == similar["topics"].tolist()


def test_document_authors_and_private_ones(client):
    data = get(client, "document/7.json?colour=author", PRIVATE)
    assert data["colour"] == "author"
    assert [one["author"] for one in data["authors"]][:-1] == [a["author"] for a in data["document"]["authors"]]
    assert data["authors"][-1] == data["authors"][-1] | {"author_id": None, "author": "this document alone"}
    assert sum(one["share"] for one in data["authors"]) == pytest.approx(1)
    assert all(one["lower"] <= one["share"] <= one["upper"] for one in data["authors"])


def test_document_sampled_on_the_spot(client):
    stored = get(client, "document/7.json")
    live = get(client, "document/7.json?burn_in=5&samples=10&lag=2")
    assert live["sampling"] == {"burn_in": 5, "samples": 10, "lag": 2, "live": True}
    assert [piece["text"] for piece in live["pieces"]] == [piece["text"] for piece in stored["pieces"]]
    assert live == get(client, "document/7.json?burn_in=5&samples=10&lag=2")


def test_documents_found(client, corpus):
    data = get(client, "documents.json?q=galaxy")
    expected = [d for d in range(corpus.n_docs) if "galaxy" in (corpus.texts[d] + corpus.documents["title"][d]).lower()]
    assert data["n_found"] == len(expected)
    assert all(row["document"]["document_id"] in expected for row in data["documents"])
    assert any(part["hit"] for part in data["documents"][0]["snippet"])
    assert get(client, "documents.json?q=galax")["n_found"] == len(expected)
    of_year = get(client, "documents.json?year=1991")
    assert [row["document"]["document_id"] for row in of_year["documents"]] == list(range(6, 12))
    pages = [get(client, f"documents.json?page={page}")["documents"] for page in (1, 2)]
    assert [row["document"]["document_id"] for page in pages for row in page] == list(range(60))


@pytest.mark.parametrize("query", ['" OR *', "NEAR(", "title:", "^", "a AND", "star NOT", "-", "(((", "*", '"', "'"])
def test_nothing_typed_is_a_command_of_the_index(client, query):
    for page in ("documents.json", "search.json", "complete.json"):
        answer = client.get(f"/m/{MAIN}/{page}", params={"q": query})
        assert answer.status_code == 200


def test_word(client, corpus, stored):
    number = corpus.vocabulary.index("galaxy")
    data = get(client, f"word/{number}.json")
    expected = topoi.word_topics(topoi.view(stored, "who & what/é"), "galaxy", 15)
    expected = expected[expected["n_words"] > 0]
    assert [row["topic"]["topic"] for row in data["topics"]] == expected["topic"].tolist()
    assert [row["word_rank"] for row in data["topics"]] == expected["word_rank"].tolist()
    assert len(data["documents"]) == min(20, data["word"]["n_documents"])


def test_trends(client, stored):
    data = get(client, "trends.json?topic=1&topic=0")
    assert (data["chosen"], data["years"]) == ([1, 0], list(range(1990, 2000)))
    frame = topoi.topic_trends(topoi.view(stored, "who & what/é"))
    expected = frame[frame["topic"] == 1]["share"].tolist()
    assert data["series"][0]["share"] == pytest.approx(expected)
    decades = get(client, "trends.json?by=decade")
    assert decades["years"] == [1990]
    assert client.get(f"/m/{MAIN}/trends.json?topic=99").status_code == 404
    assert [topic["topic"] for topic in data["topics"]] != []


def test_compare(client, stored):
    data = get(client, f"compare/{LDA}.json")
    expected = topoi.align_topics(topoi.view(stored, "who & what/é"), topoi.view(stored, "four topics"))
    assert [pair["first"]["topic"] for pair in data["pairs"]] == expected.pairs["topic_a"].tolist()
    assert [pair["shared"] for pair in data["pairs"]] == pytest.approx(expected.pairs["shared"].tolist())
    shared = np.array(data["matrix"]["shared"])
    assert shared.shape == (6, 4) and data["matrix"]["rows"] == expected.shared.index.tolist()
    np.testing.assert_allclose(np.diag(shared), [pair["shared"] for pair in data["pairs"]], atol=0.001)
    others = expected.shared.to_numpy()[~np.eye(6, 4, dtype=bool)]
    unpaired = data["unpaired"]
    assert (others <= unpaired["median"]).mean() == pytest.approx(0.5, abs=1.001 / others.size)
    assert 0.85 <= (others <= unpaired["most"]).mean() <= 0.95
    page = client.get(f"/m/{MAIN}/compare/{LDA}").text
    assert f"half share {percent(unpaired['median'])} or less" in page and "little in common" not in page
    figures = [float(x) for x in re.findall(r'<td class="num"><a[^>]*>([\d.]+)', page)]
    clear = [pair["shared"] for pair in data["pairs"] if pair["clear"]]
    assert [percent(x) for x in sorted(clear, reverse=True)] == [percent(x / 100) for x in figures[: len(clear)]]
    assert len(figures) == 6, "four pairs, and two topics without a partner"
    assert data == get(client, f"compare.json?other={LDA}")
    assert client.get(f"/m/{MAIN}/compare/{MAIN}").status_code == 400
    assert client.get(f"/m/{MAIN}/compare/{AUTHORS_ONLY}").status_code == 400


def test_search_and_completion(client):
    data = get(client, "search.json?q=jordan")
    assert {one["author"] for one in data["authors"]} == {"Jordan, M", "Jordan, Ann"}
    assert [one["author"] for one in get(client, "search.json?q=astrom")["authors"]] == ["Åström, Eva"]
    found = get(client, "complete.json?q=jor")
    assert {one["label"] for one in found} == {"Jordan, M", "Jordan, Ann"}
    assert all(client.get(one["href"]).status_code == 200 for one in get(client, "complete.json?q=st"))
    kinds = {one["kind"] for one in get(client, "complete.json?q=sta")}
    assert kinds == {"topic", "word", "document"}
    assert get(client, "complete.json?q=") == get(client, "complete.json") == []
    assert len(get(client, "complete.json?q=o")) <= 12


def test_parse(client):
    text = "The judge, the COURT and a comet.\n\nNonsenseword"
    asked = {"text": text, "who": "named", "authors": "Holmes, O;Kepler, J"}
    data = client.get(f"/m/{MAIN}/parse.json", params=asked).json()
    result = data["result"]
    assert "".join(piece["text"] for piece in result["pieces"]) == text
    assert (result["n_known"], result["n_unknown"]) == (3, 1)
    assert {one["author"] for one in result["authors"]} <= {"Holmes, O", "Kepler, J"}
    assert len(result["likely"]) == 5
    sent = client.post(
        f"/m/{MAIN}/parse.json", data={"text": text, "who": "named", "authors": "Holmes, O\r\nKepler, J"}
    )
    other = sent.json()["result"]
    assert {**other, "seconds": 0} == {**result, "seconds": 0}
    page = client.post(f"/m/{MAIN}/parse", data={"text": text})
    assert page.status_code == 200
    assert "COURT" in page.text
    wrong = get(client, "parse.json?text=star&who=named&authors=Nobody+Here")
    assert wrong["result"] is None
    assert "Nobody Here" in wrong["error"]
    assert get(client, "parse.json?text=star&who=named")["error"]
    assert get(client, "parse.json?text=star&who=any", LDA)["error"]
    assert get(client, "parse.json?document=7")["text"]


def test_reviewers(client):
    data = get(client, "reviewers.json?text=A+star+and+its+planet")
    names = [one["author"] for one in data["reviewers"]]
    assert set(names[:3]) == {"Åström, Eva", "Kepler, J", "Sagan, C"}
    sent = client.post(f"/m/{MAIN}/reviewers.json", data={"text": "A star", "exclude": "kepler, j; Unknown, U"}).json()
    assert not {"Kepler, J"} & {one["author"] for one in sent["reviewers"]}
    assert sent["left_out"]["n_excluded"] == 1
    assert sent["left_out"]["unknown"] == ["Unknown, U"]
    assert get(client, "reviewers.json?text=qqqq")["error"]


def test_models(client):
    data = get(client, "models.json")
    assert [model["name"] for model in data["models"]][0] == "who & what/é"
    assert [model["family"] for model in data["models"]][-1] == "AuthorModel"
    assert len(data["models"][0]["trace"]) == 2
    assert data["models"][0]["settings"]["n_topics"] == 6


def test_every_address_in_a_page_leads_somewhere(client):
    seen, waiting = set(), [f"/m/{MAIN}/"]
    while waiting and len(seen) < 150:
        address = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        answer = client.get(address)
        assert answer.status_code == 200, address
        if answer.headers["content-type"].startswith("text/html"):
            found = re.findall(r'(?:href|src)="(/[^"]*)"', answer.text)
            waiting += [part.replace("&amp;", "&") for part in found]
    assert len(seen) > 100


def test_menu_has_what_the_family_has(client):
    def menu(slug):
        site = re.search(r"<nav.*?</nav>", client.get(f"/m/{slug}/").text, re.DOTALL)
        return re.findall(r">([A-Z][a-z]+)<", site.group()) if site else []

    assert menu(MAIN) == [
        "Topics",
        "Map",
        "Authors",
        "Documents",
        "Oddities",
        "Trends",
        "Groups",
        "Compare",
        "Parse",
        "Reviewers",
        "Models",
    ]
    shown = ["Topics", "Map", "Authors", "Documents", "Oddities", "Trends", "Groups", "Compare", "Parse", "Models"]
    assert menu(LDA) == shown
    assert "Parse" not in menu(AUTHORS_ONLY)
    assert KINDS.keys() >= {"overview", "models"}


def test_a_new_page_needs_one_module(stored, tmp_path, monkeypatch):
    from topoi.web import pages

    (tmp_path / "moons.py").write_text(
        "from typing_extensions import TypedDict\n"
        "from topoi.web.pages.page import Page, Picture\n"
        "class MoonsPage(TypedDict):\n    kind: str\n    moons: list[dict[str, str]]\n"
        "def moons_page(context):\n    'Moons.'\n    return {'kind': 'moons', 'moons': [{'name': 'Io'}]}\n"
        "def chart(view, site):\n    return Picture('<div><svg viewBox=\"0 0 9 9\"/></div>', site['title'])\n"
        "PAGE = Page('moons', 'Moons', 'moons', moons_page, MoonsPage, place=105, chart=chart)\n"
    )
    monkeypatch.setattr(pages, "__path__", [*pages.__path__, str(tmp_path)])
    found = pages._declared()
    kinds = [page.kind for page in found]
    assert kinds[kinds.index("moons") - 1 : kinds.index("moons") + 2] == ["word", "moons", "trends"]
    monkeypatch.setitem(pages.KINDS, "moons", found[kinds.index("moons")])
    monkeypatch.setattr("topoi.web.app.PAGES", tuple(found))
    client = client_of(stored)
    assert client.get(f"/m/{MAIN}/moons.json").json() == {"kind": "moons", "moons": [{"name": "Io"}]}
    assert client.get(f"/m/{MAIN}/moons.csv").text == "name\r\nIo\r\n"
    assert client.get(f"/m/{MAIN}/moons.svg").text.startswith("<?xml")
    assert "MoonsPage" in client.get("/openapi.json").json()["components"]["schemas"]


def test_json_has_no_nan():
    from topoi.web.answers import to_json

    assert json.loads(to_json({"a": [float("nan"), float("inf"), 1.5], "b": (float("-inf"),)})) == {
        "a": [None, None, 1.5],
        "b": [None],
    }


def test_groups_are_those_of_the_frame(client, stored):
    data = get(client, "groups.json?by=venue")
    frame = topoi.compare_groups(topoi.view(stored), "venue", ["ACL", "NIPS"], n_permutations=499)
    assert (data["group"], data["other"], data["n_documents"]) == ("ACL", "NIPS", [30, 30])
    assert [row["topic"]["topic"] for row in data["differences"]] == frame["topic"].tolist()
    for name in frame.columns[3:]:
        np.testing.assert_allclose([row[name] for row in data["differences"]], frame[name])
    html = client.get(f"/m/{MAIN}/groups?by=venue").text
    for row in data["differences"]:
        for name in ("share", "other_share"):
            assert percents(row[f"{name}_lower"], row[f"{name}_upper"]) in html
        assert signed_percents(row["lower"], row["upper"]) in html
    assert data["n_clear"] == int((frame["q_value"] <= 0.05).sum())
    asked = get(client, "groups.json?by=authors&group=Kepler,+J&topic=1")
    behind = topoi.group_documents(topoi.view(stored), 1, "authors", "Kepler, J", n=15)
    assert [row["document"]["document_id"] for row in asked["documents"]] == [
        d for d, effect in zip(behind["document"], behind["effect"], strict=True) if effect > 0
    ]
    for name in ("share", "lower", "upper"):
        found = [row[name] for row in asked["documents"]]
        assert found == pytest.approx(behind[name].tolist()[: len(found)])
    assert {column["name"] for column in asked["columns"]} == {"venue", "year", "authors"} | (
        {"decade"} if len({year // 10 for year in range(1990, 2000)}) > 1 else set()
    )


def test_numbers_are_listed_in_order_and_names_by_their_documents():
    years = _column("year", pd.Series([1995, 890, 890, 2001, 2001, 2001]))
    assert years["values"] == ["890", "1995", "2001"] and years["commonest"] == "2001" and years["is_number"]
    names = _column("venue", pd.Series(["a", "b", "b", "c", "c", "c"]))
    assert names["values"] == ["c", "b", "a"] and names["commonest"] == "c" and not names["is_number"]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("by=nonsense", "cannot be grouped by"),
        ("by=authors", "name a group"),
        ("by=authors&group=Nobody", "Nobody"),
        ("by=year&group=1800..1810", "no document has"),
        ("by=venue&group=ACL&other=XYZ", "no document has"),
    ],
)
def test_groups_that_cannot_be_compared_say_why(client, query, says):
    data = get(client, f"groups.json?{query}")
    assert says in data["error"] and data["differences"] == []
    assert 'role="alert"' in client.get(f"/m/{MAIN}/groups?{query}").text


def test_topics_without_a_partner_are_listed(client):
    data = get(client, f"compare/{LDA}.json")
    paired = {pair["first"]["topic"] for pair in data["pairs"]}
    assert {row["topic"]["topic"] for row in data["unmatched_first"]} == set(range(6)) - paired
    assert data["unmatched_second"] == []
    table = {k: row for k, row in zip(data["matrix"]["rows"], data["matrix"]["shared"], strict=True)}
    for row in data["unmatched_first"]:
        own = table[row["topic"]["topic"]]
        assert row["nearest"]["topic"] == data["matrix"]["columns"][own.index(max(own))]
        assert row["shared"] == pytest.approx(max(own), abs=1e-3)
    for pair in data["pairs"]:
        assert pair["clear"] == (pair["shared"] > data["unpaired"]["most"])


def test_two_topics_word_by_word(client):
    data = get(client, f"compare/{LDA}.json")
    pair = data["pairs"][0]
    first, second = pair["first"]["topic"], pair["second"]["topic"]
    beside = get(client, f"compare/{LDA}.json?first={first}&second={second}")["beside"]
    assert beside["shared"] == pytest.approx(pair["shared"], abs=0.02)
    assert [word["shared"] for word in beside["both"]] == sorted(
        (word["shared"] for word in beside["both"]), reverse=True
    )
    assert all(word["shared"] == min(word["first"], word["second"]) > 0 for word in beside["both"])
    assert all(word["first"] > word["second"] for word in beside["only_first"])
    page = client.get(f"/m/{MAIN}/compare/{LDA}").text
    address = f"/m/{MAIN}/compare/{LDA}?first={first}&amp;second={second}#beside"
    assert page.count(address) == 1 + 2, "a cell of the list, and one of the matrix, which is drawn twice"
    common = set(pair["first"]["words"][:5]) & set(pair["second"]["words"])
    assert any(f'<mark class="both">{word}</mark>' in page for word in common)
    assert client.get(f"/m/{MAIN}/compare/{LDA}?first=6&second=0").status_code == 404
