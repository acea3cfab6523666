"""Topics are changed in the browser: shown first, then kept or left, undone; and everything that is refused."""

from __future__ import annotations

import threading
import time

import pytest

import topoi
from topoi.models.registry import models
from topoi.web import edits
from topoi.web.pages.context import StoreWatcher
from web.addresses import AUTHORS_ONLY, LDA, MAIN
from web.conftest import client_of

WAIT = 60


@pytest.fixture
def own(path):
    """A client of a store of one's own."""
    client = client_of(path)
    yield client
    assert client.app.state.server.desk.stop(WAIT)


def send(client, address, slug=LDA, **fields):
    token = client.app.state.server.tokens.token
    return client.post(f"/m/{slug}/{address}", data={"token": token, **fields})


def settled(client, answer):
    """The JSON view of a change, once it has come to rest."""
    assert answer.status_code == 303, answer.text
    address = answer.headers["location"]
    number = int(address.rsplit("/", 1)[1])
    assert client.app.state.server.desk._changes[number].idle.wait(WAIT)
    return client.get(f"{address}.json").json()


def made(client, slug=LDA, **fields):
    """A change that was tried and kept."""
    shown = settled(client, send(client, "change", slug, **fields))
    assert shown["state"] == "proposed", shown["error"]
    return settled(client, send(client, f"change/{shown['change']}/keep", slug))


def words_of(client, topic, slug=LDA):
    return [word["word"] for word in client.get(f"/m/{slug}/topic/{topic}.json").json()["words"]]


def test_a_merge_is_shown_kept_and_undone(own, path):
    before = own.get(f"/m/{LDA}/overview.json").json()
    shown = settled(own, send(own, "change", topic=0, merge="chosen", other=1))
    assert (shown["state"], [topic["state"] for topic in shown["topics"]]) == ("proposed", ["kept", "retired"])
    assert shown["log_likelihood_before"] < 0 and shown["log_likelihood_after"] < 0
    page = own.get(f"/m/{LDA}/change/{shown['change']}").text
    assert "Keep</button>" in page and "Leave it</button>" in page and "refresh" not in page
    assert own.get(f"/m/{LDA}/overview.json").json() == before, "nothing is changed yet"
    kept = settled(own, send(own, f"change/{shown['change']}/keep"))
    assert (kept["state"], kept["n_done"]) == ("kept", edits.N_SWEEPS)
    now = own.get(f"/m/{LDA}/overview.json").json()
    assert sorted(topic["topic"] for topic in now["topics"]) == [0, 2, 3]
    assert topoi.open_store(path).retired_topics("four topics") == [1]
    gone = own.get(f"/m/{LDA}/topic/1")
    assert gone.status_code == 410 and f'href="/m/{LDA}/topic/0"' in gone.text
    assert own.get(f"/m/{LDA}/topic/1.json").json()["topic"]["topic"] == 0
    assert "changed</a>" in own.get(f"/m/{LDA}/").text
    history = own.get(f"/m/{LDA}/history.json").json()
    assert (history["n_edits"], history["undoes"], history["edits"][0]["kind"]) == (1, 1, "merge")
    assert "Undo</button>" in own.get(f"/m/{LDA}/history").text
    assert own.get(f"/m/{LDA}/history.csv").text.startswith("number,step")
    assert settled(own, send(own, "history/undo", step=1))["state"] == "kept"
    assert own.get(f"/m/{LDA}/overview.json").json() == before
    history = own.get(f"/m/{LDA}/history.json").json()
    assert (history["undoes"], history["edits"][0]["undone"]) == (None, True)
    assert "changed</a>" not in own.get(f"/m/{LDA}/").text


def test_all_cores_make_a_change(own, path, monkeypatch):
    used, opened = [], topoi.models.gibbs.open_executor
    monkeypatch.setattr("topoi.models.gibbs.open_executor", lambda jobs, n: used.append(jobs) or opened(jobs, n))
    monkeypatch.setattr("topoi.engine.executors._cores", lambda: 7)
    made(own, topic=0, merge=1)
    assert set(used) == {7} and topoi.load(path, "four topics").n_jobs == 1


def test_retired_topics_are_in_no_list(own):
    made(own, topic=0, merge=1)
    for page in ("trends", "search?q=star+", "compare", f"compare/{MAIN}", "topic/2", "topic/0"):
        address = page.replace("?", ".json?") if "?" in page else f"{page}.json"
        found = own.get(f"/m/{LDA}/{address}")
        assert found.status_code == 200
        view = found.json()
        listed = [*view.get("topics", []), *(row["topic"] for row in view.get("neighbours", []))]
        listed += [row["first"] for row in view.get("pairs", [])]
        assert 1 not in [topic["topic"] for topic in listed], page
        assert f'/m/{LDA}/topic/1"' not in own.get(f"/m/{LDA}/{page}").text, page


def test_words_are_banned_and_pinned(own, path):
    word = own.get(f"/m/{LDA}/topic/0.json").json()["words"][0]
    banned = made(own, topic=0, ban=word["word_id"])
    assert banned["title"].startswith(f"Ban “{word['word']}” from ")
    assert word["word"] not in words_of(own, 0)
    made(own, topic=2, pin=word["word_id"])
    holders = [k for k in range(4) if word["word"] in words_of(own, k)]
    assert holders == [2]
    assert topoi.open_store(path).edits("four topics")["kind"].tolist() == ["ban", "pin"]


def test_split_freeze_and_send(own):
    split = made(own, topic=0, split=2)
    assert [topic["state"] for topic in split["topics"]] == ["kept", "new"]
    assert len(own.get(f"/m/{LDA}/overview.json").json()["topics"]) == 5
    assert made(own, topic=1, freeze=1)["state"] == "kept"
    document = own.get(f"/m/{LDA}/document/0.json").json()
    first = document["topics"][0]["topic"]["topic"]
    sent = made(own, topic=first, send=0, other=(first + 1) % 4)
    assert sent["state"] == "kept" and sent["back"] == "document/0"
    topics = own.get(f"/m/{LDA}/document/0.json").json()["topics"]
    assert first not in [row["topic"]["topic"] for row in topics]


def test_a_change_is_left(own, path):
    digest = path.read_bytes()
    shown = settled(own, send(own, "change", topic=0, split=2))
    answer = send(own, f"change/{shown['change']}/leave")
    assert answer.headers["location"] == f"/m/{LDA}/topic/0"
    assert own.get(f"/m/{LDA}/change/{shown['change']}.json").json()["state"] == "left"
    assert send(own, f"change/{shown['change']}/keep").status_code == 409
    assert path.read_bytes() == digest


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"topic": 99, "split": 2}, 404),
        ({"topic": 0, "merge": 99}, 404),
        ({"topic": 0, "merge": 0}, 400),
        ({"topic": 0, "merge": "chosen"}, 400),
        ({"topic": 0, "ban": 10**9}, 404),
        ({"topic": 0, "ban": "1; DROP TABLE topic"}, 400),
        ({"topic": 0, "pin": "٣"}, 400),
        ({"topic": "9" * 5000, "split": 2}, 400),
        ({"topic": 0, "send": 10**6}, 404),
        ({"topic": 0, "send": 0, "other": 0}, 400),
        ({"topic": 0}, 400),
        ({"split": 2}, 400),
    ],
)
def test_wishes_that_make_no_sense(own, fields, status):
    answer = send(own, "change", **fields)
    assert answer.status_code == status
    assert "Traceback" not in answer.text
    assert own.app.state.server.desk.running is None


ADDRESSES = ("change", "change/1/keep", "change/1/leave", "history/undo")


@pytest.mark.parametrize("address", ADDRESSES)
def test_strangers_change_nothing(own, address):
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        token = own.app.state.server.tokens.token
        data = {"token": token, "topic": 0, "split": 2}
        assert own.post(f"/m/{LDA}/{address}", data=data, headers=headers).status_code == 403
    for token in ("", "wrong"):
        assert own.post(f"/m/{LDA}/{address}", data={"token": token, "topic": 0, "split": 2}).status_code == 403
    assert own.get(f"/m/{LDA}/{address}").status_code in (404, 405)


@pytest.mark.parametrize("address", ADDRESSES)
def test_read_only_shows_and_takes_nothing(stored, address):
    client = client_of(stored, read_only=True)
    assert send(client, address, topic=0, split=2).status_code == 403
    for page in ("topic/0", "document/0", "history", ""):
        text = client.get(f"/m/{LDA}/{page}").text
        assert (
            'method="post"' not in text
            and "drag" not in text
            and "edit.js" not in text
            and "data-word" not in text
            and "Split in two" not in text
            and "cannot be changed" not in text
        )
    assert client.get(f"/m/{LDA}/change/1").status_code == 404


def test_models_that_cannot_be_changed_say_why(own, graphed, monkeypatch):
    answer = send(own, "change", AUTHORS_ONLY, topic=0, split=2)
    assert answer.status_code == 400 and "cannot be changed by hand" in answer.text
    free = client_of(graphed)
    text = free.get("/m/free/topic/0").text
    assert "nodes of a graph that was given" in text and "Split in two" not in text
    monkeypatch.setattr("topoi.web.pages.context.os.access", lambda *_: False)
    assert "may not be written to" in own.get(f"/m/{LDA}/topic/0").text


def test_what_files_say_of_edits_is_what_models_say():
    for known in models().values():
        given = known.model_class(**known.small)
        why = known.why_not_edited(given.get_params(deep=False))
        try:
            assert why == given.why_not_edited()
        except ValueError:  # families without edits ask for a fitted model first
            assert why is not None


def test_one_change_at_a_time(own, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    waiting = edits.EditDesk._try

    def slowly(desk, change):
        begun.set()
        go_on.wait(WAIT)
        waiting(desk, change)

    monkeypatch.setattr(edits.EditDesk, "_try", slowly)
    monkeypatch.setattr("topoi.web.server._PATIENCE", 0.0)
    first = send(own, "change", topic=0, split=2)
    assert begun.wait(WAIT)
    page = own.get(first.headers["location"]).text
    assert "data-watch" in page and 'http-equiv="refresh"' in page
    second = send(own, "change", MAIN, topic=1, split=2)
    assert second.status_code == 409
    assert "One is made at a time" in second.text and "Split “" in second.text
    go_on.set()
    assert settled(own, first)["state"] == "proposed"


class Gate:
    """Holds the work on changes at a step, and counts the steps."""

    def __init__(self, monkeypatch):
        self.reached, self.go_on, self.held = threading.Event(), threading.Event(), threading.Event()
        self.held.set()
        check = edits.EditDesk._check

        def step(desk, change):
            check(desk, change)
            if self.held.is_set() and not self.go_on.is_set():
                self.reached.set()
                self.go_on.wait(WAIT)
                check(desk, change)

        monkeypatch.setattr(edits.EditDesk, "_check", step)
        monkeypatch.setattr(edits, "GLANCE_SECONDS", 0.0)
        monkeypatch.setattr("topoi.web.server._PATIENCE", 0.0)


def test_a_change_is_seen_settling(own, monkeypatch):
    shown = settled(own, send(own, "change", topic=0, split=2))
    address = f"/m/{LDA}/change/{shown['change']}"
    gate = Gate(monkeypatch)
    send(own, f"change/{shown['change']}/keep")
    assert gate.reached.wait(WAIT)
    view, page = own.get(f"{address}.json").json(), own.get(address).text
    glance = own.app.state.server.desk._changes[shown["change"]].glance
    assert view["state"] == "settling" and glance is not None
    for topic in view["topics"]:
        k = topic["topic"]
        after = sorted((word for word in topic["words"] if word["after"]), key=lambda word: word["after"])
        assert [word["word"] for word in after] == glance.words[k][:10] and topic["n_tokens_after"] == glance.sizes[k]
    assert {topic["topic"]: topic["is_new"] for topic in view["map"]} == {
        0: False,
        1: False,
        2: False,
        3: False,
        4: True,
    }
    assert sum(topic["share"] for topic in view["map"]) == pytest.approx(1)
    old = {topic["topic"]: topic for topic in own.get(f"/m/{LDA}/overview.json").json()["topics"]}
    new = {topic["topic"]: topic for topic in view["map"]}
    sources = glance.sources[4]
    assert new[4]["x"] == pytest.approx(sum(old[k]["x"] * n for k, n in sources.items()) / sum(sources.values()) + 0.03)
    assert new[1]["x"] == old[1]["x"] and new[1]["share"] != old[1]["share"]
    assert "data-watch" in page and 'http-equiv="refresh"' in page and "Stop and leave it</button>" in page
    assert f'/m/{LDA}/topic/4"' not in page, "it is not there yet"
    gate.go_on.set()
    assert own.app.state.server.desk._changes[shown["change"]].idle.wait(WAIT)
    kept = own.get(f"{address}.json").json()
    assert kept["state"] == "kept" and not any(topic["is_new"] for topic in kept["map"])


@pytest.mark.parametrize("when", ["trying", "settling"])
def test_a_change_is_stopped_and_another_made(own, path, monkeypatch, when):
    shown = settled(own, send(own, "change", topic=0, split=2)) if when == "settling" else None
    before, gate = path.read_bytes(), Gate(monkeypatch)
    if shown:
        answer = send(own, f"change/{shown['change']}/keep")
    else:
        answer = send(own, "change", topic=0, split=2)
    assert gate.reached.wait(WAIT)
    number = int(answer.headers["location"].rsplit("/", 1)[1])
    began = time.monotonic()
    stopped = send(own, f"change/{number}/leave")
    assert stopped.headers["location"] == f"/m/{LDA}/topic/0"
    assert own.get(f"/m/{LDA}/change/{number}.json").json()["state"] == "left"
    assert time.monotonic() - began < 2
    next_one = send(own, "change", topic=1, merge=2)  # it waits for the first to end
    gate.go_on.set()
    assert settled(own, next_one)["state"] == "proposed"
    assert own.app.state.server.desk._changes[number].idle.wait(WAIT)
    assert own.get(f"/m/{LDA}/change/{number}.json").json()["state"] == "left" and path.read_bytes() == before
    assert send(own, f"change/{number}/keep").status_code == 409


def test_names_are_in_the_history(own, path):
    assert send(own, "topic/1/label", label="harvest").status_code == 303
    history = own.get(f"/m/{LDA}/history.json").json()
    assert [(line["kind"], line["label"], line["who"]) for line in history["edits"]] == [
        ("rename", "harvest", "browser")
    ]
    assert history["undoes"] == 1 and "Called " in own.get(f"/m/{LDA}/history").text
    made(own, topic=0, freeze=1)
    send(own, "topic/1/label", label="")
    assert own.get(f"/m/{LDA}/history.json").json()["undoes"] == 3
    for step, label in ((3, "harvest"), (2, "harvest"), (1, None)):
        assert settled(own, send(own, "history/undo", step=step))["state"] == "kept"
        assert own.get(f"/m/{LDA}/topic/1.json").json()["topic"]["label"] == label
    # A model that cannot be edited has names, and no history.
    send(own, "topic/0/label", MAIN, label="x")
    assert topoi.open_store(path).edits("four topics")["undone"].all()


def test_two_previews_and_the_first_is_kept(own):
    first = settled(own, send(own, "change", topic=0, split=2))
    second = settled(own, send(own, "change", topic=1, merge=2))
    assert settled(own, send(own, f"change/{first['change']}/keep"))["state"] == "kept"
    assert [line["kind"] for line in own.get(f"/m/{LDA}/history.json").json()["edits"]] == ["split"]
    # The second was tried on what the file was before; it is made on what it is now.
    assert settled(own, send(own, f"change/{second['change']}/keep"))["state"] == "kept"
    assert settled(own, send(own, f"change/{second['change']}/keep"))["state"] == "kept", "pressed twice"
    assert own.get(f"/m/{LDA}/history.json").json()["n_edits"] == 2


@pytest.mark.parametrize("why", ["stopped", "minutes"])
def test_a_change_that_is_stopped_leaves_the_file_as_it_was(own, path, monkeypatch, why):
    shown = settled(own, send(own, "change", topic=0, split=2))
    before = path.read_bytes()
    if why == "stopped":
        own.app.state.server.desk._stopping = True
    else:
        monkeypatch.setattr(edits, "LONGEST_SECONDS", 0.0)
    failed = settled(own, send(own, f"change/{shown['change']}/keep"))
    assert failed["state"] == "failed" and why in failed["error"]
    assert "file is as it was" in own.get(f"/m/{LDA}/change/{shown['change']}").text
    assert path.read_bytes() == before


def test_a_model_that_another_program_changed(own, path):
    shown = settled(own, send(own, "change", topic=0, split=2))
    topoi.open_store(path).edit("four topics").merge(2, 3).commit(n_iter=1)
    kept = settled(own, send(own, f"change/{shown['change']}/keep"))
    assert kept["state"] == "kept", "made on what the file is now"
    assert topoi.open_store(path).edits("four topics")["kind"].tolist() == ["merge", "split"]


def test_an_undo_of_a_page_that_is_out_of_date(own):
    made(own, topic=0, freeze=1)
    assert send(own, "history/undo", step=7).status_code == 409
    assert send(own, "history/undo", MAIN, step=1).status_code == 400


def test_readers_meanwhile_see_one_state_or_the_other(own):
    """Words and sizes of all topics belong to the same state, however the requests fall."""
    wrong, seen, stop = [], set(), threading.Event()
    address = f"/m/{LDA}/overview.json"

    def read():
        while not stop.is_set():
            answer = own.get(address)
            view = answer.json()
            if answer.status_code != 200 or abs(sum(topic["share"] for topic in view["topics"]) - 1) > 1e-3:
                wrong.append(answer.text)
            seen.add(tuple(sorted((topic["topic"], round(topic["share"], 6)) for topic in view["topics"])))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    made(own, topic=0, merge=1)
    own.get(address)
    stop.set()
    for reader in readers:
        reader.join(WAIT)
    assert wrong == []
    assert {len(state) for state in seen} <= {3, 4} and len(seen) <= 2


def test_merged_numbers_are_followed(path):
    store = topoi.open_store(path)
    store.edit("four topics").merge(0, 1).commit(n_iter=0)
    store.edit("four topics").merge(2, 0).commit(n_iter=0)
    context = StoreWatcher(path).context(LDA)
    assert (context.merged_into(1), context.merged_into(0), context.topics) == (2, 2, [2, 3])
    store.edit("four topics").split(3).commit(n_iter=0)
    context = StoreWatcher(path).context(LDA)
    assert context.topics == [0, 2, 3] and context.merged_into(1) == 2


def test_a_static_copy_of_an_edited_model(path, tmp_path):
    from topoi.web.export import export_site

    store = topoi.open_store(path)
    store.edit("four topics").merge(0, 1).commit(n_iter=1)
    export_site(path, tmp_path / "site", names=["four topics"])
    folder = tmp_path / "site" / LDA
    assert not (folder / "topic" / "1.html").exists() and (folder / "topic" / "2.html").exists()
    text = (folder / "history.html").read_text()
    assert "Merged topic 1 into" in text and "<form" not in text
    assert 'href="history.html"' in (folder / "index.html").read_text()
    for page in folder.rglob("*.html"):
        assert "topic/1.html" not in page.read_text()
