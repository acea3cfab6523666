"""Pages while kernels are being compiled: what is stored at once, the rest once it is ready."""

import threading
import time
import warnings

import pytest

from topoi.web.app import make_app
from topoi.web.warming import Warming
from web.addresses import AUTHORS_ONLY, LDA, MAIN
from web.conftest import BASE

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

PENDING = {
    "document/3": ("labels", "similar"),
    "author/1": ("near", "similar"),
    "search?q=star": ("search", None),
    f"compare/{LDA}": ("compare", "pairs"),
}


def twin(page):
    path, question, query = page.partition("?")
    return f"/m/{MAIN}/{path}.json{question}{query}"


@pytest.fixture
def compiler(stored):
    """A server whose compiler works until it is told that it has finished."""
    finished = threading.Event()
    app = make_app(stored)
    warming = app.state.server.watcher.warming
    warming._steps = {kind: lambda context: finished.wait(30) and None for kind in warming._steps}
    with TestClient(app, base_url=BASE, follow_redirects=False) as client:
        yield client, finished
        finished.set()


def test_stored_pages_do_not_wait_for_the_compiler(compiler, client):
    busy, finished = compiler
    for page, (kind, part) in PENDING.items():
        data = busy.get(twin(page)).json()
        assert data["pending"] == [kind]
        assert part is None or data[part] == []
        html = busy.get(f"/m/{MAIN}/{page}").text
        assert f'data-later="/m/{MAIN}/ready.json" data-kinds="{kind}"' in html and "Look again" in html
        assert f'href="/m/{MAIN}/{page.partition("?")[0]}' in html, "a way on without script"
    labelled = [piece for piece in busy.get(twin("document/3")).json()["pieces"] if "topic" in piece]
    assert labelled and {piece["p"] for piece in labelled} == {1.0}
    assert busy.get(twin("search?q=star")).json()["documents"], "full-text search needs no compiler"
    assert kind in busy.get(f"/m/{MAIN}/ready.json").json()["pending"]
    finished.set()
    for _ in range(200):
        if not busy.get(f"/m/{MAIN}/ready.json").json()["pending"]:
            break
        time.sleep(0.02)
    for page in PENDING:
        assert busy.get(twin(page)).json() == client.get(twin(page)).json(), "the same as without waiting"
        assert "data-later" not in busy.get(f"/m/{MAIN}/{page}").text


@pytest.mark.parametrize("slug", [MAIN, LDA, AUTHORS_ONLY])
def test_what_pages_need_is_done_in_the_background(stored, slug):
    app = make_app(stored)
    warming = app.state.server.watcher.warming
    warming.run(slug)
    assert {kind for done, kind in warming._done if done == slug} == set(warming._steps)


def test_a_step_that_fails_does_not_keep_pages_waiting(stored, caplog):
    watcher = make_app(stored).state.server.watcher

    def fails(context):
        raise ValueError("not compiled")

    warming = Warming(watcher, {"labels": fails, "near": lambda context: None})
    warming._on = True
    warming.run(MAIN)
    assert warming.pending(MAIN) == [] and "could not prepare labels" in caplog.text


def test_a_model_that_is_saved_later_is_prepared_too(stored):
    watcher = make_app(stored).state.server.watcher
    seen = []
    warming = Warming(watcher, {"near": lambda context: seen.append(context.model["slug"])})
    warming._on = True
    assert not warming.is_ready(LDA, "near")
    for _ in range(200):
        if warming.is_ready(LDA, "near"):
            break
        time.sleep(0.02)
    assert seen == [LDA] and warming.is_ready(LDA, "near")


def test_what_is_to_follow_is_called_once_a_model_is_ready(stored):
    app, called = make_app(stored), threading.Event()
    warming = app.state.server.watcher.warming
    warming._steps = {}
    warming.then = called.set
    with TestClient(app, base_url=BASE):
        assert called.wait(10)
