"""A collection made to do harm is shown, and does none."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from topoi.web.security import CONTENT_SECURITY_POLICY
from web.addresses import AUTHORS_ONLY, LDA, MAIN, PRIVATE, html, twin
from web.conftest import client_of
from web.samples import HOSTILE, SCRIPT

PAGES = [
    "overview",
    *(f"topic/{k}" for k in range(4)),
    *(f"author/{a}" for a in range(0, 40, 3)),
    "authors",
    "authors?sort=name",
    "together",
    "names",
    "oddities",
    "groups?a.from=1990&a.to=1994",
    "documents?from=1990&to=1993&sort=newest",
    "authors?q=script",
    *(f"document/{d}" for d in range(12)),
    "document/5?colour=author",
    "documents",
    "documents?q=script",
    "word/0",
    "word/0?with=%3Cscript%3E&with=1",
    "trends",
    "search?q=script",
    "search?q=<script>alert(1)</script>",
    "parse",
    "parse?text=<script>alert(1)</script>+star",
    'parse?text="></textarea><script>alert(1)</script>&who=named&authors=<script>',
    "reviewers?text=star&exclude=<script>alert(1)</script>",
    "models",
    "topic/99",
    "compare/%3Cscript%3E",
    "<script>",
]


class Tags(HTMLParser):
    """What a web browser would see: elements and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "script":
            self.scripts.append(given.get("src") or "inline")
        if tag in ("iframe", "object", "embed", "base", "style"):
            self.wrong.append(tag)
        self.wrong += [name for name in given if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action", "formaction"):
            address = given.get(name)
            if address is not None and not address.startswith(("/", "#")):
                self.wrong.append(f"{name}={address}")


@pytest.mark.parametrize("page", PAGES)
def test_pages_run_nothing(hostile, page):
    for slug in (MAIN, PRIVATE, LDA, AUTHORS_ONLY):
        answer = hostile.get(f"/m/{slug}/{html(page)}")
        assert answer.status_code in (200, 404)
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        seen = Tags(answer.text)
        assert all(address.startswith("/static/") for address in seen.scripts)
        assert seen.wrong == []
        assert "<script>" not in answer.text


@pytest.mark.parametrize("page", [page for page in PAGES if "<script>" not in page and page != "compare/%3Cscript%3E"])
def test_twins_hold_the_text_as_it_is(hostile, page):
    answer = hostile.get(f"/m/{MAIN}/{twin(page, 'json')}")
    assert answer.status_code in (200, 404)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    answer.json()


def test_names_and_titles_are_shown_in_full(hostile):
    titles = {row["document"]["title"] for row in hostile.get(f"/m/{MAIN}/documents.json").json()["documents"]}
    assert {SCRIPT, HOSTILE[2], HOSTILE[7]} <= titles
    text = hostile.get(f"/m/{MAIN}/document/0").text
    assert "&lt;script&gt;" in text
    assert "20" in str(len(hostile.get(f"/m/{MAIN}/document/5.json").json()["document"]["authors"]))


def test_text_is_no_template(hostile):
    shown = re.sub(r"<[^>]*>", "", hostile.get(f"/m/{MAIN}/document/13").text)
    assert shown.count("{{ 7 * 7 }} {% raw %}") >= 3


def test_titles_of_a_megabyte_are_cut(hostile):
    for page in ("document/3", "documents", "topic/0", "search?q=long"):
        assert len(hostile.get(f"/m/{MAIN}/{page}").content) < 500_000
    data = hostile.get(f"/m/{MAIN}/document/3.json").json()
    assert 1000 < len(data["document"]["title"]) <= 5000
    empty = hostile.get(f"/m/{MAIN}/document/4.json").json()["document"]
    assert empty["title"] == empty["identifier"] != ""


def test_tables_are_no_formulas(hostile):
    rows = list(csv.DictReader(io.StringIO(hostile.get(f"/m/{MAIN}/documents.csv?table=documents").text)))
    assert any(row["title"].startswith("'=cmd") for row in rows)
    for page in ("documents.csv?table=documents", "authors.csv?table=authors", "topic/0.csv?table=documents"):
        for row in csv.reader(io.StringIO(hostile.get(f"/m/{MAIN}/{page}").text)):
            assert not any(cell.startswith(("=", "@", "+", "\t")) for cell in row)


def test_pictures_are_pictures(hostile):
    for a in range(0, 40, 5):
        answer = hostile.get(f"/m/{MAIN}/author/{a}.svg")
        if answer.status_code == 200:
            tree = ET.fromstring(answer.text)
            assert not [node.tag for node in tree.iter() if node.tag.endswith(("script", "foreignObject"))]
            assert not [name for node in tree.iter() for name in node.attrib if name.startswith("on")]


def test_labels_are_escaped(hostile, tmp_path):
    server = hostile.app.state.server
    form = {"label": SCRIPT, "token": server.tokens.token}
    assert hostile.post(f"/m/{MAIN}/topic/0/label", data=form).status_code == 303
    for page in ("", "topic/0", "trends", "search?q=script", "documents", "author/0"):
        assert "<script>" not in hostile.get(f"/m/{MAIN}/{page}").text
    form["label"] = ""
    assert hostile.post(f"/m/{MAIN}/topic/0/label", data=form).status_code == 303


def test_null_bytes_that_a_corpus_admits(tmp_path):
    import topoi
    from web.conftest import client_of

    texts = ["a star\0 and a planet " * 3, "a court and a judge " * 3] * 5
    corpus = topoi.Corpus.from_texts(
        texts, titles=["nul\0title", "x"] * 5, authors=["A\0B", "C"] * 5, min_df=1, max_df=1.0
    )
    topoi.AuthorTopicModel(3, n_iter=5, random_state=0).fit(corpus).save(tmp_path / "nul.topoi", name="m")
    client = client_of(tmp_path / "nul.topoi")
    for page in ("", "topic/0", "author/0", "authors", "document/0", "documents?q=star", "search?q=nul", "models"):
        answer = client.get(f"/m/m/{page}")
        assert answer.status_code == 200
        assert "\0" not in answer.text or page == "document/0"


def test_a_model_that_is_listed_under_another_name_than_its_own_is_refused(path):
    """As a file may have it in which one bit was changed, or that was replaced in this moment."""
    client = client_of(path)
    model = client.app.state.server.watcher.snapshot().models[0]
    model["name"] = "another"
    answer = client.get(f"/m/{model['slug']}/")
    assert answer.status_code == 503 and "two names" in answer.text
