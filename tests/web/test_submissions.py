"""A table of submissions, sent as a file: reviewers of each, limits, and what is said of bad lines."""

from __future__ import annotations

import csv
import io
import re
from html import unescape

import pytest

from topoi.web import submission_desk
from topoi.web.pages import submissions
from web.addresses import AUTHORS_ONLY, MAIN
from web.conftest import client_of

TABLE = """ID,Title,Abstract,Authors
a7,A star,"The star and its planet,
and a comet","Kepler, J; Nobody, N"
b2,"The judge, the court",The law of the court,
c3,Nothing known,qqqq,
"""
PAGE = f"/m/{MAIN}/submissions"


def send(client, table: str | bytes, page: str = PAGE, name: str = "papers.csv", headers=None, **fields):
    body = table.encode() if isinstance(table, str) else table
    return client.post(page, data=fields, files={"table": (name, body, "text/csv")}, headers=headers)


def test_reviewers_of_every_line(client):
    view = send(client, TABLE, f"{PAGE}.json", each="3", least="1").json()
    first, second, third = view["submissions"]
    assert (view["n_read"], view["each"], view["least"]) == (3, 3, 1)
    assert [one["submission"] for one in view["submissions"]] == ["a7", "b2", "c3"]
    assert [one["line"] for one in view["submissions"]] == [2, 4, 5]
    alone = client.get(
        f"/m/{MAIN}/reviewers.json",
        params={"text": "A star The star and its planet,\nand a comet", "exclude": "Kepler, J", "least": 1},
    ).json()
    assert first["reviewers"] == alone["reviewers"][:3]
    assert first["unknown"] == ["Nobody, N"] and "Kepler, J" not in {one["author"] for one in first["reviewers"]}
    assert second["reviewers"] and not second["problem"]
    assert third["reviewers"] == [] and "knows none of the words" in third["problem"]


def test_the_answer_is_a_page_with_a_download(client):
    answer = send(client, TABLE, least="1", since="")
    assert answer.status_code == 303
    shown = client.get(answer.headers["location"])
    assert shown.status_code == 200
    assert "The judge, the court" in shown.text and "Line 5:" in shown.text
    table = unescape(re.search(r'href="([^"]+)" download>Download as CSV', shown.text)[1])
    rows = list(csv.DictReader(io.StringIO(client.get(table).text)))
    assert {row["submission"] for row in rows} == {"a7", "b2", "c3"}
    assert [row["rank"] for row in rows if row["submission"] == "b2"] == ["1", "2", "3", "4", "5"]
    assert [row["problem"] != "" for row in rows if row["submission"] == "c3"] == [True]
    assert client.get(f"{PAGE}?kept=unknown").status_code == 404


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("text\nA star\n\nA star, a planet\n", "line 4 has 2 cells"),
        ('text\nA star\n"A planet\n', "line 3 cannot be read: its quotation mark is never closed"),
        ('text\n"A "star" of them"\n', "line 2 cannot be read: a quotation mark"),
        (b"text\nA star\nNa\xefve\n", "line 3 is not written in UTF-8"),
        ("\ufefftext\n".encode("utf-16"), "line 1 is not written in UTF-8"),
        ("name,year\nA star,1990\n", "line 1 names name, year"),
        ("text\n", "has no rows"),
        ("", "choose a file"),
        ("text\n" + "A star\n" * (submissions.MOST_SUBMISSIONS + 1), "line 202: a table has at most 200"),
        ("text\n" + "x" * submissions.MOST_BYTES, "at most 1,000,000 bytes"),
        ("text\n" + "x" * 140_000, "line 2 cannot be read: a cell has more than"),
    ],
    ids=lambda value: None,
)
def test_bad_tables_are_refused_by_line(client, table, told):
    page = send(client, table)
    assert page.status_code == 400
    assert told in page.text and 'type="file"' in page.text
    data = send(client, table, f"{PAGE}.json")
    assert data.status_code == 400
    assert told in data.json()["detail"]


def test_semicolons_and_tabs(client):
    for mark in ";\t":
        view = send(client, f"text{mark}id\nA star, a planet{mark}7\n", f"{PAGE}.json").json()
        assert [(one["submission"], one["line"]) for one in view["submissions"]] == [("7", 2)]


def test_from_elsewhere_and_other_bodies(client):
    evil = {"origin": "http://evil.example"}
    assert send(client, TABLE, headers=evil).status_code == 403
    assert send(client, TABLE, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.post(PAGE, data={"table": "text"}).status_code == 415
    kind = {"content-type": "multipart/form-data; boundary=x"}
    for body in (b"", b"--x\r\n", b"--x\r\n\r\nrest\r\n--x--", b"--x--"):
        assert client.post(PAGE, content=body, headers=kind).status_code in (400, 415)
    many = b"".join(b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n' for _ in range(50)) + b"--x--"
    assert client.post(PAGE, content=many, headers=kind).status_code == 413
    assert client.post(PAGE, content=b"x" * 3_000_000, headers=kind).status_code == 413
    assert send(client, TABLE, each="99").status_code == 400


def test_read_only_servers_answer_and_nothing_is_written(path):
    before = path.read_bytes()
    view = send(client_of(path, read_only=True), TABLE, f"{PAGE}.json").json()
    assert view["submissions"][0]["reviewers"]
    assert path.read_bytes() == before


def test_long_tables_are_read_in_parts(stored, monkeypatch):
    monkeypatch.setattr(submission_desk, "SECONDS", -1.0)
    client = client_of(stored)
    where = send(client, TABLE).headers["location"]
    data = where.replace("/submissions?", "/submissions.json?")
    first = client.get(where).text
    assert "1 of 3" in first and "data-watch" in first and "Read on" in first and 'type="file"' not in first
    assert client.get(data).json()["submissions"][2]["problem"] == "not read yet"
    assert client.get(data).json()["n_read"] == 3
    last = client.get(where).text
    assert "data-watch" not in last and 'type="file"' in last


def test_formulas_in_tables_stay_texts(client):
    where = send(client, "id,text\n=cmd(),A star\n").headers["location"]
    text = client.get(where.replace("/submissions?", "/submissions.csv?")).text
    assert "\r\n'=cmd()," in text


def test_models_without_authors_topics(client):
    answer = send(client, TABLE, f"/m/{AUTHORS_ONLY}/submissions.json")
    assert "choose another model" in answer.json()["error"]
