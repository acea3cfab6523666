"""Hosts, origins, methods, headers, labels: what may be asked, by whom."""

from __future__ import annotations

import re

import pytest

import topoi
from topoi.web.links import name_of
from topoi.web.security import CONTENT_SECURITY_POLICY, Hosts
from web.addresses import MAIN
from web.conftest import client_of

LABEL = f"/m/{MAIN}/topic/1/label"


@pytest.mark.parametrize(
    "address",
    ["/", f"/m/{MAIN}/", f"/m/{MAIN}/overview.json", f"/m/{MAIN}/topic/0.csv", f"/m/{MAIN}/trends.svg", "/x",
     "/static/x", f"/m/{MAIN}/topic/-1", f"/m/{MAIN}/topic/1.json?relevance=7", "/openapi.json", "/static/style.css"],
)  # fmt: skip
def test_every_answer_has_the_headers(client, address):
    headers = client.get(address).headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if address == "/static/style.css" else "no-store")
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_policy_is_that_of_the_design():
    assert CONTENT_SECURITY_POLICY == (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def test_pages_keep_to_the_policy(client):
    for page in ("", "topic/1", "author/1", "document/1", "trends", "parse?text=star", "search?q=star", "models", "x"):
        text = client.get(f"/m/{MAIN}/{page}").text
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
        assert all('src="/static/' in tag for tag in re.findall(r"<script[^>]*>", text))
        assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", text)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_right_hosts(client, host):
    assert client.get("/", headers={"host": host}).status_code == 303


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "localhost", "127.0.0.1.evil.example:8765", "",
     "127.0.0.1:8765.evil.example", "127.0.0.1:8765:8765", "[::1]", "0.0.0.0:8765", "127.0.0.1:8765@evil.example",
     "evil.example,127.0.0.1:8765"],
)  # fmt: skip
def test_wrong_hosts(client, host):
    for method in ("GET", "HEAD", "POST", "OPTIONS"):
        answer = client.request(method, f"/m/{MAIN}/", headers={"host": host})
        assert answer.status_code == 421
        assert answer.headers["content-security-policy"]
    assert "small" not in client.get("/", headers={"host": host}).text


def test_host_given_twice_is_refused(client):
    answer = client.get("/", headers=[("host", "127.0.0.1:8765"), ("host", "evil.example")])
    assert answer.status_code == 421


def test_other_addresses_to_listen_on():
    assert Hosts("192.168.0.7", 9000).allow("192.168.0.7:9000")
    assert Hosts("192.168.0.7", 9000).allow("localhost:9000")
    assert not Hosts("192.168.0.7", 9000).allow("192.168.0.8:9000")
    assert Hosts("0.0.0.0", 9000).allow("10.1.2.3:9000")
    assert not Hosts("0.0.0.0", 9000).allow("evil.example:9000")
    assert Hosts("::1", 80).allow("[::1]")
    assert Hosts("fe80::1", 81).allow("[fe80::1]:81")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_only_reading(client, method):
    assert client.request(method, f"/m/{MAIN}/topic/1").status_code == 405


@pytest.mark.parametrize("page", ["", "topic/1", "overview.json", "documents", "topic/1.csv", "models"])
def test_nothing_else_can_be_sent(client, page):
    assert client.post(f"/m/{MAIN}/{page}", data={"x": "1"}).status_code == 405


def test_head_is_get_without_the_body(client):
    for page in ("topic/1", "topic/1.json", "topic/999"):
        # Tokens differ, and so do the lengths of compressed pages.
        plain = {"accept-encoding": "identity"}
        head, got = (ask(f"/m/{MAIN}/{page}", headers=plain) for ask in (client.head, client.get))
        assert head.status_code == got.status_code
        assert head.content == b""
        assert head.headers["content-length"] == got.headers["content-length"]


def title_of(client):
    return re.search("<title>(.*?)</title>", client.get(f"/m/{MAIN}/topic/1").text).group(1)


def test_label_is_kept_and_shown(path):
    client = client_of(path)
    token = client.app.state.server.tokens.token
    answer = client.post(LABEL, data={"label": "  Stars \r\n & <b>sky</b>", "token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/m/{MAIN}/topic/1")
    assert client.get(f"/m/{MAIN}/topic/1.json").json()["topic"]["label"] == "Stars & <b>sky</b>"
    assert "&lt;b&gt;sky" in client.get(f"/m/{MAIN}/").text
    assert topoi.open_store(path).labels() == {1: "Stars & <b>sky</b>"}
    assert [one["label"] for one in client.get(f"/m/{MAIN}/complete.json?q=sky").json()] == ["Stars & <b>sky</b>"]
    automatic = client.get(f"/m/{MAIN}/topic/1.json").json()["topic"]["auto_label"]
    assert automatic not in title_of(client)
    client.post(LABEL, data={"label": "", "token": token})
    assert topoi.open_store(path).labels() == {}
    assert automatic in title_of(client) and automatic == topoi.view(path, name_of(MAIN)).topic_labels()[1]
    assert client.post(f"/m/{MAIN}/topic/99/label", data={"label": "x", "token": token}).status_code == 404
    assert client.post("/m/none/topic/1/label", data={"label": "x", "token": token}).status_code == 404
    assert client.post(LABEL, data={"label": "x" * 1001, "token": token}).status_code == 400
    assert client.post(LABEL, data={"label": "a\0b", "token": token}).status_code == 303
    assert topoi.open_store(path).labels() == {1: "ab"}


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("", {}),
        ("wrong", {}),
        ("é\ud7ff", {}),
        (None, {"origin": "http://evil.example"}),
        (None, {"origin": "null"}),
        (None, {"origin": "http://127.0.0.1:8766"}),
        (None, {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "cross-site"}),
        (None, {"sec-fetch-site": "same-site"}),
    ],
)
def test_label_from_elsewhere(path, token, headers):
    client = client_of(path)
    right = client.app.state.server.tokens.token
    answer = client.post(LABEL, data={"label": "x", "token": right if token is None else token}, headers=headers)
    assert answer.status_code == 403
    assert topoi.open_store(path).labels() == {}
    assert client.get(LABEL).status_code == 405


def test_label_from_our_own_page(path):
    client = client_of(path)
    token = re.search(r'name="token" value="([^"]+)"', client.get(f"/m/{MAIN}/topic/1").text).group(1)
    headers = {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
    assert client.post(LABEL, data={"label": "x", "token": token}, headers=headers).status_code == 303
    assert client_of(path).app.state.server.tokens.token != token


def test_label_as_something_else_than_a_form(path):
    client = client_of(path)
    token = client.app.state.server.tokens.token
    assert client.post(LABEL, json={"label": "x", "token": token}).status_code == 415
    assert client.post(LABEL, content=b"label=x", headers={"content-type": "text/plain"}).status_code == 415


def test_read_only(path):
    client = client_of(path, read_only=True)
    token = client.app.state.server.tokens.token
    answer = client.post(LABEL, data={"label": "x", "token": token})
    assert answer.status_code == 403
    assert "--read-only" in answer.text
    assert topoi.open_store(path).labels() == {}
    assert 'name="label"' not in client.get(f"/m/{MAIN}/topic/1").text
    assert client.post(f"/m/{MAIN}/parse", data={"text": "star"}).status_code == 200


def test_parse_from_elsewhere(client):
    for page in ("parse", "reviewers"):
        answer = client.post(f"/m/{MAIN}/{page}", data={"text": "star"}, headers={"origin": "http://evil.example"})
        assert answer.status_code == 403


def test_static_files(client):
    text = client.get(f"/m/{MAIN}/").text
    for address in re.findall(r'"(/static/[^"]+)"', text):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    for name in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", "x.css", ".hidden", ""):
        assert client.get(f"/static/{name}").status_code == 404


def test_no_pages_from_other_hosts(client):
    for address in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    "page",
    ["topic/99999999999999999999999", "topic/1e3", "topic/1.5", "author/-1", "document/-9223372036854775809",
     "word/9223372036854775808", "topic/%00", "topic/%FF%FE", "author/%ED%A0%80", "document/0x10", "word/१२३४५६७८९१०"],
)  # fmt: skip
def test_strange_numbers(client, page):
    for address in (page, f"{page}.json", f"{page}.csv"):
        assert client.get(f"/m/{MAIN}/{address}").status_code == 404


@pytest.mark.parametrize(
    "page",
    ["topic/1.json?relevance=nan", "topic/1.json?relevance=inf", "topic/1.json?relevance=-1", "documents.json?page=0",
     "documents.json?page=99999999999999999999", "documents.json?year=99999999999999999999", "documents.json?page=x",
     "authors.json?page=-1", "trends.json?by=century", "trends.json?topic=-1", "trends.json?topic=x",
     "document/1.json?burn_in=501", "document/1.json?samples=0", "document/1.json?samples=201",
     "document/1.json?lag=21", "document/1.json?colour=red",
     "parse.json?who=me", "parse.json?burn_in=-1&text=star", "parse.json?document=-1"],
)  # fmt: skip
def test_parameters_outside_their_limits(client, page):
    answer = client.get(f"/m/{MAIN}/{page}")
    assert answer.status_code == 400
    assert answer.json()["detail"].split(":")[0] in page
    assert client.get(f"/m/{MAIN}/{page.replace('.json', '')}").status_code == 400


@pytest.mark.parametrize(
    "query", ["%00", "%ED%A0%80", "%FF", "%", "%zz", "%u1234", "%F0%9F%98%80", "a%00b", "%E2%80%AE", "+", "%0A%0D"]
)
def test_strange_questions(client, query):
    for page in ("documents", "search", "authors", "complete.json", "parse", "reviewers"):
        name = "text" if page in ("parse", "reviewers") else "q"
        for address in {page, f"{page.removesuffix('.json')}.json"} - {"complete"}:
            assert client.get(f"/m/{MAIN}/{address}?{name}={query}").status_code == 200


def test_long_questions(client):
    assert client.get(f"/m/{MAIN}/search.json?q={'x' * 201}").status_code == 400
    assert client.get(f"/m/{MAIN}/search.json?q={'x+' * 99}").status_code == 200
    assert client.get(f"/m/{'a' * 3000}/").status_code == 404
    many = "&".join(f"topic={k % 6}" for k in range(51))
    assert client.get(f"/m/{MAIN}/trends.json?{many}").status_code == 400


def test_other_sites_can_link_but_not_load(client):
    page = f"/m/{MAIN}/document/0?burn_in=1&samples=1&lag=1"
    image = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert client.get(page, headers=image).status_code == 403
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get(page, headers=link).status_code == 200
    assert client.get(page, headers={"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}).status_code == 200


def test_a_formula_in_a_column_name_is_no_formula():
    from topoi.web.tables import rows_to_csv

    assert rows_to_csv([{"=HYPERLINK(1)": "\n=cmd()"}]).startswith("'=HYPERLINK")
