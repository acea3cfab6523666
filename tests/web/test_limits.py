"""Large texts, long samplings, many at once."""

from __future__ import annotations

import threading

import pytest

from topoi.errors import ModelError
from topoi.web import limits
from topoi.web.limits import BusyError, Gate, check_sampling
from web.addresses import MAIN
from web.conftest import client_of


def test_long_texts(client):
    answer = client.post(
        f"/m/{MAIN}/parse.json", data={"text": "a star " * 28_500, "burn_in": 1, "samples": 1, "lag": 1}
    )
    assert answer.status_code == 200
    assert answer.json()["result"]["n_known"] == 28_500
    for page in ("parse", "parse.json", "reviewers.json"):
        assert client.post(f"/m/{MAIN}/{page}", data={"text": "x" * 200_001}).status_code == 413
    assert client.get(f"/m/{MAIN}/parse.json", params={"text": "star " * 5_000}).status_code == 200


def test_longest_text_of_wide_letters_is_taken(client):
    answer = client.post(f"/m/{MAIN}/parse.json", data={"text": "𝕏" * 200_000})
    assert answer.status_code == 200


def test_bodies_that_are_too_large(client):
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = b"text=" + b"x" * limits.MOST_BYTES
    assert client.post(f"/m/{MAIN}/parse", content=body, headers=form).status_code == 413

    def pieces():
        for _ in range(100):
            yield b"x" * (limits.MOST_BYTES // 50)

    assert client.post(f"/m/{MAIN}/parse", content=pieces(), headers=form).status_code == 413
    for length in ("-1", "1e9", "x", "9" * 30, "٣"):
        answer = client.post(f"/m/{MAIN}/parse", content=b"text=x", headers={**form, "content-length": length.encode()})
        assert answer.status_code in (400, 413)


def test_forms_with_too_many_fields(client):
    body = "&".join(f"a{i}=1" for i in range(1000))
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post(f"/m/{MAIN}/parse", content=body.encode(), headers=headers).status_code == 413


@pytest.mark.parametrize("text", [b"%FF%00%ED%A0%80", b"\xff\xfe\x00", b"%", b"+%0d%0a", "א🙂".encode()])
def test_forms_with_strange_letters(client, text):
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for page in ("parse", "parse.json", "reviewers", "reviewers.json"):
        answer = client.post(f"/m/{MAIN}/{page}", content=b"text=star+" + text, headers=headers)
        assert answer.status_code == 200


def test_forms_outside_limits(client):
    for field, value in (("burn_in", "501"), ("samples", "0"), ("lag", "21"), ("who", "x"), ("document", "-1")):
        answer = client.post(f"/m/{MAIN}/parse.json", data={"text": "star", field: value})
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith(field)
    names = ";".join(f"name {i}" for i in range(51))
    assert client.post(f"/m/{MAIN}/parse.json", data={"text": "star", "authors": names}).status_code == 400


def test_sweeps_are_bounded(client, monkeypatch):
    check_sampling(10_000, 300, 1, 100, 50, 5)
    with pytest.raises(ModelError, match="ask for at most 15 sweeps"):
        check_sampling(100_000, 1000, 1, 500, 200, 20)
    with pytest.raises(ModelError, match="or fewer authors"):
        check_sampling(10_000, 300, 50, 20, 20, 2)
    monkeypatch.setattr(limits, "MOST_WEIGHTS", 1000)
    answer = client.get(f"/m/{MAIN}/document/1?burn_in=100")
    assert answer.status_code == 400
    assert "sweeps" in answer.text
    parsed = client.get(f"/m/{MAIN}/parse.json?text=star+planet+comet&burn_in=500").json()
    assert "sweeps" in parsed["error"]


def test_gate_lets_few_in():
    gate = Gate(at_once=1, most_waiting=1, longest_wait=0.05)
    inside, leave, turned = threading.Event(), threading.Event(), []

    def stay():
        with gate.pass_through():
            inside.set()
            leave.wait(5)

    first = threading.Thread(target=stay)
    first.start()
    inside.wait(5)
    with pytest.raises(BusyError), gate.pass_through():  # waits, and waits too long
        turned.append("never")
    leave.set()
    first.join(5)
    with gate.pass_through():
        turned.append("now")
    assert turned == ["now"]


def test_busy_server_says_when_to_come_back(stored):
    client = client_of(stored)
    client.app.state.server.gate = Gate(at_once=1, most_waiting=0)
    with client.app.state.server.gate.pass_through():
        for page in ("parse?text=star", "document/1.json?samples=5", "reviewers.json?text=star"):
            answer = client.get(f"/m/{MAIN}/{page}")
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "5"
        assert client.get(f"/m/{MAIN}/document/1").status_code == 200
        assert client.get(f"/m/{MAIN}/parse").status_code == 200
    assert client.get(f"/m/{MAIN}/parse?text=star").status_code == 200
