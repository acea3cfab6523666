"""Compressed responses, and a token that compressed pages do not give away."""

import gzip
import re

import pytest

from topoi.web.compressing import LEAST_BYTES, takes_gzip
from topoi.web.security import Tokens
from web.addresses import MAIN

SHORT, LONG = f"/m/{MAIN}/ready.json", f"/m/{MAIN}/topic/0"


def raw(client, path, accept):
    with client.stream("GET", path, headers={"accept-encoding": accept}) as answer:
        return answer.headers, b"".join(answer.iter_raw())


@pytest.mark.parametrize(
    "path", [LONG, f"{LONG}.json", f"/m/{MAIN}/trends.svg", "/static/style.css", "/static/script.js"]
)
def test_long_texts_are_compressed_for_those_who_take_it(client, path):
    headers, plain = raw(client, path, "identity")
    assert "content-encoding" not in headers and headers["vary"] == "Accept-Encoding"
    headers, packed = raw(client, path, "gzip, br")
    assert headers["content-encoding"] == "gzip" and headers["vary"] == "Accept-Encoding"
    assert int(headers["content-length"]) == len(packed) < len(plain) / 2
    unpacked = gzip.decompress(packed)
    assert len(unpacked) == len(plain) and (unpacked == plain or "token" in plain.decode())
    assert "content-security-policy" in headers


def test_short_answers_and_fonts_are_not(client):
    assert "content-encoding" not in raw(client, SHORT, "gzip")[0]
    assert len(raw(client, SHORT, "gzip")[1]) < LEAST_BYTES
    page = client.get("/static/style.css").text
    font = re.search(r'url\("(fonts/[^"]+woff2[^"]*)"\)', page)[1]
    headers, body = raw(client, f"/static/{font}", "gzip")
    assert "content-encoding" not in headers and headers["content-type"] == "font/woff2" and body[:4] == b"wOF2"


def test_head_has_no_body(client):
    answer = client.head(LONG, headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200 and answer.content == b""


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("gzip", True),
        ("GZIP;q=1.0", True),
        ("*", True),
        ("gzip; q=0", False),
        ("gzip;q=0.0", False),
        ("deflate", False),
    ],
)
def test_accept_encoding(header, expected):
    assert takes_gzip(header) == expected


def test_no_page_repeats_the_token(client):
    """Otherwise the length of a page that shows a query tells whether the query has a part of the token (BREACH)."""
    found = [re.search(r'name="token" value="([^"]+)"', client.get(LONG).text)[1] for _ in range(3)]
    assert len(set(found)) == 3
    tokens = client.app.state.server.tokens
    assert all(tokens.right(token) for token in found)
    assert not any(a[i : i + 8] in b for a in found for b in found if a != b for i in range(len(a) - 8))


@pytest.mark.parametrize("given", ["", "x", "é", "A" * 80, None])
def test_other_tokens_are_refused(given):
    tokens = Tokens()
    assert not tokens.right(given) and not tokens.right(Tokens().token) and not tokens.right(tokens.token[:-4])
