"""The map of documents: its JSON, the page without a script, places on demand, and a journey in a web browser."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import topoi
from topoi.drawing.document_map import inside, topic_anchors
from topoi.web.pages.map import MOST_CORNERS, corners_of
from topoi.web.pages.map_codes import PLACE_STEPS, coded, coded_places, decoded
from web.addresses import AUTHORS_ONLY, LDA, MAIN
from web.conftest import client_of
from web.test_journeys import browser, is_ours, playwright_api, program, served, watched  # noqa: F401


def data(client, query="", slug=MAIN):
    answer = client.get(f"/m/{slug}/map.json{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def places_in(points):
    together = decoded(points["places"], 5)
    return np.stack([together // (PLACE_STEPS + 2), together % (PLACE_STEPS + 2)], axis=1) / PLACE_STEPS


def test_numbers_as_text_and_back():
    values = np.random.default_rng(0).integers(0, 64**3, 500)
    assert decoded(coded(values, 3), 3).tolist() == values.tolist()
    places = np.random.default_rng(1).random((200, 2))
    places[7] = np.nan
    found = places_in({"places": coded_places(places)})
    assert np.abs(found - places)[np.arange(200) != 7].max() <= 0.5 / PLACE_STEPS + 1e-12
    assert (found[7] > 1).all()


def test_map_has_every_document_with_its_topic_and_year(client, stored, corpus):
    page = data(client)
    view = topoi.view(stored, "who & what/é")
    assert (page["kind"], page["state"], page["n_placed"]) == ("map", "placed", 60)
    np.testing.assert_allclose(places_in(page["points"]), view.document_places(), atol=1e-4)
    topics = decoded(page["points"]["topics"], 2)
    assert np.bincount(topics, minlength=6).tolist() == [one["n_documents"] for one in page["topics"]]
    years = decoded(page["points"]["years"], 2) + page["points"]["first_year"]
    assert years.tolist() == [1990 + d // 6 for d in range(60)]
    for one in page["topics"]:
        own = view.document_places()[topics == one["topic"]]
        if len(own):
            assert np.linalg.norm(own - [one["anchor_x"], one["anchor_y"]], axis=1).min() < 0.2


def test_documents_of_a_subject_are_near_each_other(client):
    places = places_in(data(client)["points"])
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(60)
    subject = np.arange(60) % 3
    assert (subject[np.argsort(apart, axis=1)[:, :5]] == subject[:, None]).mean() > 0.9


def test_colours_by_column_year_and_author(client):
    venue = data(client, "?part=colour&colour=venue")
    assert venue["points"] is None
    assert sorted(value["value"] for value in venue["colour"]["values"]) == ["ACL", "NIPS"]
    codes = decoded(venue["colour"]["codes"], 1)
    assert [venue["colour"]["values"][code]["value"] for code in codes] == ["ACL", "NIPS"] * 30
    year = data(client, "?part=colour&colour=year")["colour"]
    assert year["is_scale"] and [value["value"] for value in year["values"]] == [str(1990 + i) for i in range(10)]
    people = data(client, "?part=colour&colour=authors")["colour"]
    assert {value["value"] for value in people["values"]} >= {"Kepler, J", "Jordan, Ann"}
    answer = client.get(f"/m/{MAIN}/map.json?colour=nonsense")
    assert answer.status_code == 404 and "venue" in answer.json()["detail"]


def test_search_names_the_documents_to_light(client):
    page = data(client, "?part=hits&q=star")
    assert page["n_hits"] == len(page["hits"]) > 0 and page["hits"] == sorted(page["hits"])
    listed = client.get(f"/m/{MAIN}/documents.json?q=star").json()
    assert listed["n_found"] == page["n_hits"]
    assert data(client, "?part=hits&q=%22%27")["hits"] == []


def test_titles_are_told_on_demand(client, corpus):
    titles = data(client, "?part=titles&ids=3&ids=59&ids=3&ids=99999")["titles"]
    assert [(one["document_id"], one["title"]) for one in titles] == [
        (3, corpus.documents["title"][3]),
        (59, corpus.documents["title"][59]),
    ]
    assert client.get(f"/m/{MAIN}/map.json?" + "&".join(f"ids={d}" for d in range(51))).status_code == 400


def test_an_area_lists_its_documents_and_topics(client, stored):
    places = topoi.view(stored, "who & what/é").document_places()
    middle = np.median(places[:, 0])
    page = data(client, f"?area=-1,-1,{middle},2")
    expected = np.flatnonzero(places[:, 0] < middle)
    assert page["n_found"] == len(expected) == sum(row["n_tokens"] for row in page["inside"])
    found = [row["document"]["document_id"] for row in page["documents"]]
    assert found == expected[:30].tolist() and page["n_pages"] == -(-len(expected) // 30)
    later = data(client, "?area=-1,-1,2,2&first=1995&last=1996")
    assert later["n_found"] == 12 and {row["document"]["year"] for row in later["documents"]} == {1995, 1996}
    text = client.get(f"/m/{MAIN}/map?area=-1,-1,{middle},2").text
    assert f"{len(expected)} documents in the selected area" in text and 'class="lasso"' in text
    csv = client.get(f"/m/{MAIN}/map.csv?area=-1,-1,2,2&table=documents")
    assert csv.status_code == 200 and len(csv.text.splitlines()) == 31


@pytest.mark.parametrize("area", ["1", "1,2", "1,2,3", "a,b,c,d", "nan,0,1,1", "inf,0,1,1", ",".join(["1"] * 402)])
def test_areas_that_are_none(client, area):
    answer = client.get(f"/m/{MAIN}/map.json", params={"area": area})
    assert answer.status_code == 400 and "corners" in answer.json()["detail"]


def test_as_many_corners_as_allowed():
    assert len(corners_of(",".join(["0.5"] * 2 * MOST_CORNERS))) == MOST_CORNERS


def test_inside_agrees_with_half_planes():
    places = np.random.default_rng(3).random((2000, 2))
    triangle = [(0.1, 0.1), (0.9, 0.2), (0.4, 0.8)]
    sides = zip(triangle, triangle[1:] + triangle[:1], strict=True)
    left = [(x1 - x0) * (places[:, 1] - y0) - (y1 - y0) * (places[:, 0] - x0) > 0 for (x0, y0), (x1, y1) in sides]
    assert np.array_equal(inside(places, triangle), np.all(left, axis=0))


def test_names_stand_where_documents_are_densest():
    chance = np.random.default_rng(4)
    places = np.concatenate([0.2 + 0.02 * chance.normal(size=(80, 2)), chance.random((60, 2))])
    anchors, numbers = topic_anchors(places, np.zeros(140, np.int64), 2)
    assert np.linalg.norm(anchors[0] - 0.2) < 0.03 and numbers.tolist() == [140, 0]
    assert np.isnan(anchors[1]).all()


def test_page_without_a_script_has_dots_names_and_links(client):
    text = client.get(f"/m/{MAIN}/map").text
    dots = re.findall(r'class="dots h\d+', text)
    assert len(dots) >= 6 and text.count("h0") >= 2 * 60
    assert re.search(rf'<a href="/m/{re.escape(MAIN)}/topic/\d+" class="h\d+', text)
    assert 'id="map-tools" hidden' in text and "<noscript>" in text
    picture = client.get(f"/m/{MAIN}/document-map.svg")
    assert picture.status_code == 200 and "map of documents" in picture.text
    assert client.get(f"/m/{MAIN}/map.svg").text != picture.text  # that of topics keeps its address


def test_models_without_topics_have_no_map(client):
    assert 'href="/m/authors~20only/map"' not in client.get(f"/m/{AUTHORS_ONLY}/").text


def test_hostile_values_are_escaped(hostile):
    slug = hostile.get("/").headers["location"].split("/")[2]
    page = hostile.get(f"/m/{slug}/map?area=-1,-1,2,2")
    assert page.status_code == 200 and "<script>alert" not in page.text and "onerror=alert(1)>" not in page.text


def test_long_answers_are_compressed(client):
    answer = client.get(f"/m/{MAIN}/map.json", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip" and answer.json()["kind"] == "map"
    plain = client.get(f"/m/{MAIN}/map.json", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.json() == answer.json()


def test_sixty_thousand_documents_take_less_than_400_kilobytes():
    """Places fill the square evenly and topics follow no order: nothing packs worse."""
    chance, n = np.random.default_rng(0), 62_444
    points = {
        "places": coded_places(chance.random((n, 2))),
        "topics": coded(chance.integers(0, 300, n), 2),
        "years": coded(chance.integers(0, 30, n), 2),
    }
    assert len(gzip.compress(json.dumps(points).encode(), 5)) < 400_000


# A file without places.


@pytest.fixture
def unplaced(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM document_place")
        connection.commit()
    return path


def test_a_file_without_places_offers_to_compute_them(unplaced):
    client = client_of(unplaced)
    assert data(client)["state"] == "missing" and data(client)["points"] is None
    assert "Place the documents" in client.get(f"/m/{MAIN}/map").text
    token = client.app.state.server.tokens.token
    assert client.post(f"/m/{MAIN}/map/place", data={"token": "no"}).status_code == 403
    answer = client.post(f"/m/{MAIN}/map/place", data={"token": token})
    assert answer.status_code == 303 and answer.headers["location"] == f"/m/{MAIN}/map"
    assert client.app.state.server.places.wait(120)
    page = data(client)
    assert (page["state"], page["n_placed"]) == ("placed", 60)
    assert data(client, slug=LDA)["state"] == "missing"


def test_reading_only_says_how(unplaced):
    client = client_of(unplaced, read_only=True)
    text = client.get(f"/m/{MAIN}/map").text
    assert "topoi map copy.topoi" in text and "<form action" not in text.split("</header>")[1]
    token = client.app.state.server.tokens.token
    assert client.post(f"/m/{MAIN}/map/place", data={"token": token}).status_code == 403


def test_progress_is_shown_and_one_at_a_time(unplaced, monkeypatch):
    client = client_of(unplaced)
    desk = client.app.state.server.places

    class Busy:
        def is_alive(self):
            return True

        def join(self, seconds):
            pass

    from topoi.web.places import Placing

    monkeypatch.setattr(desk, "_thread", Busy())
    desk._states["who & what/é"] = Placing(0.375)
    page = data(client)
    assert (page["state"], page["part_done"]) == ("placing", 0.375)
    assert "38 % done" in client.get(f"/m/{MAIN}/map").text
    token = client.app.state.server.tokens.token
    assert client.post(f"/m/{MAIN}/map/place", data={"token": token}).status_code == 409


def test_a_failure_is_told(unplaced, monkeypatch):
    def fail(*given, **more):
        raise topoi.StoreError("the disk is full")

    monkeypatch.setattr("topoi.store.places.place_documents", fail)
    client = client_of(unplaced)
    token = client.app.state.server.tokens.token
    client.post(f"/m/{MAIN}/map/place", data={"token": token})
    client.app.state.server.places.wait(10)
    assert data(client)["state"] == "failed"
    assert "The disk is full" in client.get(f"/m/{MAIN}/map").text


# In a web browser.


@pytest.fixture(scope="module")
def address(stored, tmp_path_factory):
    path = shutil.copy(stored, tmp_path_factory.mktemp("map") / "small-collection.topoi")
    with served(path) as found:
        yield found


@pytest.fixture
def visit(browser, address):  # noqa: F811
    with watched(browser, address) as open_page:
        yield open_page


def ready(page):
    page.wait_for_selector("#map[data-ready]")
    return page


# Where the document of a number is on the screen.
SPOT = """(i) => { const m = document.querySelector('#map').map, b = m.canvas.getBoundingClientRect();
    return [b.left + m.x[i] * m.view.scale + m.view.left, b.top + m.y[i] * m.view.scale + m.view.top]; }"""
LIT = """() => { const m = document.querySelector('#map').map;
    return [...m.order].filter((i) => m.isLit(i)).sort((a, b) => a - b); }"""


def until(page, script):
    """Wait until a script gives a true value; the content security policy forbids Playwright's own way to do so."""
    for _ in range(300):
        if page.evaluate(script):
            return
        page.wait_for_timeout(50)
    raise AssertionError(script)


def test_journey_hover_and_click(visit, corpus):
    page = ready(visit(f"/m/{MAIN}/map"))
    x, y = page.evaluate(SPOT, 7)
    page.mouse.move(x, y)
    page.wait_for_selector(".map-tip:not([hidden])")
    shown = page.inner_text(".map-tip")
    number = page.evaluate("document.querySelector('#map').map.chosen")
    assert corpus.documents["title"][number] in shown
    page.mouse.click(x, y)
    page.wait_for_url(f"**/document/{number}")
    assert corpus.documents["title"][number] in page.inner_text("h1")


def test_journey_search_and_colour(visit):
    page = ready(visit(f"/m/{MAIN}/map"))
    page.fill("#map-find", "star")
    until(page, "document.querySelector('#map-found').textContent.includes('document')")
    lit = page.evaluate(LIT)
    assert 0 < len(lit) < 60 and page.inner_text("#map-found").startswith(str(len(lit)))
    page.fill("#map-find", "")
    until(page, "document.querySelector('#map').map.hits === null")
    page.select_option("#map-colour", "venue")
    page.wait_for_selector("#map-legend button")
    assert "ACL 30" in page.inner_text("#map-legend")
    page.click("#map-legend button >> nth=0")
    assert len(page.evaluate(LIT)) == 30
    assert "colour=venue" in page.url
    ready(page.goto(page.url) and page)
    page.wait_for_selector("#map-legend button")


def test_journey_select_an_area(visit):
    page = ready(visit(f"/m/{MAIN}/map"))
    page.click("#map-lasso")
    box = page.locator("#map canvas").bounding_box()
    left, top, right, bottom = box["x"] + 3, box["y"] + 3, box["x"] + box["width"] - 3, box["y"] + box["height"] - 3
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 5)):
        page.mouse.move(x, y, steps=6)
    page.mouse.up()
    page.wait_for_url("**area=*")
    assert page.inner_text("#inside-head").startswith("60 documents")
    ready(page)
    assert len(page.evaluate(LIT)) == 60
    page.click(".map-list ol.docs a >> nth=0")
    page.wait_for_url("**/document/*")


def test_journey_through_time(visit):
    page = ready(visit(f"/m/{MAIN}/map"))
    page.focus("#map-last")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert page.inner_text("#map-span") == "1990–1994" and page.evaluate(LIT) == list(range(30))
    assert "last=1994" in page.url
    page.keyboard.press("End")
    assert len(page.evaluate(LIT)) == 60
    page.click("#map-play")
    until(page, "document.querySelector('#map-span').textContent.trim() === '1992'")
    page.click("#map-play")
    lit = page.evaluate(LIT)
    assert len(lit) == 6 and page.get_attribute("#map-play", "aria-pressed") == "false"


def test_journey_with_keys(visit):
    page = ready(visit(f"/m/{MAIN}/map"))
    page.focus("#map canvas")
    before = page.evaluate("document.querySelector('#map').map.view.scale")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.querySelector('#map').map.view.scale") > before
    x, y = page.evaluate(SPOT, 4)
    page.evaluate(
        "([x, y]) => { const m = document.querySelector('#map').map, b = m.canvas.getBoundingClientRect();"
        " m.moveBy(b.left + m.width / 2 - x, b.top + m.height / 2 - y); }",
        [x, y],
    )
    page.keyboard.press("Enter")
    page.wait_for_url("**/document/*")


def test_touch_shows_a_card_that_leads_to_the_document(browser, address):  # noqa: F811
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{address}/m/{MAIN}/map")
    ready(page)
    x, y = page.evaluate(SPOT, 11)
    page.touchscreen.tap(x, y)
    page.wait_for_selector(".map-tip.stays a")
    page.click(".map-tip.stays a")
    page.wait_for_url("**/document/*")
    context.close()


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_pages_do_not_overflow(visit, script, scheme):
    for query in ("", "?area=-1,-1,2,2&colour=venue"):
        page = visit(f"/m/{MAIN}/map{query}", width=320, scheme=scheme, script=script)
        if script:
            ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_without_script_the_picture_is_there(visit):
    page = visit(f"/m/{MAIN}/map", script=False)
    assert page.locator("#map svg.wide").is_visible() and not page.locator("#map-tools").is_visible()
    page.click("#map svg.wide a >> nth=0")
    page.wait_for_url("**/topic/*")


def test_places_are_computed_from_the_page(browser, unplaced):  # noqa: F811
    with served(unplaced) as address, watched(browser, address) as open_page:  # noqa: F811
        page = open_page(f"/m/{MAIN}/map")
        page.set_default_timeout(60_000)
        page.click("text=Place the documents")
        ready(page)
        assert len(page.evaluate(LIT)) == 60
