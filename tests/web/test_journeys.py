"""Journeys in a real web browser: what a person clicks, types and sees, and no error in its console.

Screenshots of every stop are kept in ``build/screenshots``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

import topoi
from thinning import slow_unless
from topoi.web import edits
from topoi.web.run import listen
from web.addresses import LDA, MAIN

uvicorn = pytest.importorskip("uvicorn")
playwright_api = pytest.importorskip("playwright.sync_api")

PICTURES = Path(os.environ.get("TOPOI_SCREENSHOTS", Path(__file__).parents[2] / "build" / "screenshots"))
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
TEXT = "The court heard the appeal under the light of a comet; the judge and the jury saw a star and a planet."


@pytest.fixture(scope="module")
def program():
    """The web browser's program; tests are skipped where there is none (on Debian: apt install chromium)."""
    found = os.environ.get("TOPOI_CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium is installed")
    return found


@pytest.fixture(scope="module")
def browser(program):
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(stored, tmp_path_factory):
    """A running server of a copy that may be written to."""
    path = shutil.copy(stored, tmp_path_factory.mktemp("journeys") / "small-collection.topoi")
    with served(path) as found:
        yield found


@contextmanager
def served(path):
    """The address of a server that runs as long as the block."""
    from topoi.web.app import make_app

    with listen("127.0.0.1", 0) as door:
        port = door.getsockname()[1]
        config = uvicorn.Config(make_app(path, port=port), log_level="error", ws="none", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def visit(browser, address):
    """Opens pages of the collection."""
    with watched(browser, address) as open_page:
        yield open_page


@contextmanager
def watched(browser, address):
    """Opens pages, and fails the test if a console or the network complains or another host is asked for anything."""
    complaints: list[str] = []
    contexts = []

    def open_page(path: str, width: int = 1280, scheme: str = "light", script: bool = True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on(
            "console", lambda m: complaints.append(f"console: {m.text}") if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
        page.on("request", lambda r: complaints.append(f"host: {r.url}") if not is_ours(r.url, address) else None)
        page.goto(address + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def is_ours(url: str, address: str) -> bool:
    return url.startswith((address + "/", "data:", "blob:"))


def keep(page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def heading(page) -> str:
    return page.locator("h1").first.inner_text()


def test_author_to_topic_to_document_to_word(visit):
    page = visit("/")
    assert page.url.endswith(f"/m/{LDA}/") or "/m/" in page.url
    page.goto(re.sub(r"/m/.*", f"/m/{MAIN}/", page.url))
    keep(page, "overview")
    page.keyboard.press("/")
    page.keyboard.type("keple")
    option = page.get_by_role("option").first
    option.wait_for()
    assert "Kepler, J" in option.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/author/*")
    assert heading(page) == "Kepler, J"
    keep(page, "author")
    page.locator("#topics a.face").first.click()
    page.wait_for_url("**/topic/*")
    keep(page, "topic")
    page.locator("ol.docs a.title").first.click()
    page.wait_for_url("**/document/*")
    keep(page, "document-by-topic")
    assert page.locator(".text a").count() > 10
    page.go_back()
    word = page.locator("ol.words a").first
    name = word.inner_text()
    word.click()
    page.wait_for_url("**/word/*")
    assert name in heading(page)
    keep(page, "word")


def test_structure_to_super_topic_to_topic_to_document(browser, graphed):
    with served(graphed) as address, watched(browser, address) as visit:
        page = visit("/m/four/")
        page.get_by_role("navigation").get_by_role("link", name="Structure").click()
        page.wait_for_url("**/structure")
        n_lines = page.locator("svg.wide .way").count()
        keep(page, "structure")
        page.get_by_role("link", name="all edges").click()
        page.wait_for_url("**/structure?min_share=0.0")
        assert page.locator("svg.wide .way").count() == 4 + 24 > n_lines
        name = page.locator("#super-topics .node b").first.inner_text()
        page.locator("#super-topics a.node").first.click()
        page.wait_for_url("**/structure/*")
        assert name in heading(page)
        keep(page, "super-topic")
        page.locator("svg.wide a.leaf").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/topic/*")
        assert page.get_by_role("heading", name="Part of super-topics").is_visible()
        page.locator("ol.docs a.title").first.click()
        page.wait_for_url("**/document/*")
        assert page.get_by_role("heading", name="Its super-topics").is_visible()
        page.locator("aside a.node").first.click()
        page.wait_for_url("**/structure/*")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), slow_unless(lambda case: case[0] == 390, [(390, "dark"), (1280, "light")])
)
def test_structure_without_script_fits_the_screen(browser, graphed, width, scheme):
    with served(graphed) as address, watched(browser, address) as visit:
        for path in ("/m/four/structure", "/m/free/structure", "/m/four/structure/2"):
            page = visit(path, width=width, scheme=scheme, script=False)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            kind = "narrow" if width < 500 else "wide"
            boxes = [box.bounding_box() for box in page.locator(f"svg.{kind} .box").all()]
            assert len(boxes) > 4
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    apart = a["x"] >= b["x"] + b["width"] or b["x"] >= a["x"] + a["width"]
                    assert apart or a["y"] >= b["y"] + b["height"] or b["y"] >= a["y"] + a["height"]
            for text, box in zip(page.locator(f".graph svg.{kind} text").all(), boxes, strict=False):
                assert text.bounding_box()["width"] <= box["width"] + 1
            keep(page, f"{path[3:].replace('/', '-')}-{width}-{scheme}")


@pytest.mark.slow
def test_metadata_of_chosen_topics_and_authors(browser, featured):
    with served(featured) as address, watched(browser, address) as visit:
        page = visit("/m/kernel/topic/1")
        page.get_by_role("link", name="How it depends on").click()
        page.wait_for_url("**/metadata?topic=1")
        assert page.locator("svg.wide .spread").count() == 1
        page.get_by_label("Kepler, J").check()
        page.wait_for_function("() => location.search.includes('value=Kepler')")
        page.get_by_label("Holmes, O").check()
        page.wait_for_function("() => document.querySelectorAll('svg.wide .spread').length === 2")
        page.locator("svg.wide .band").nth(3).hover(force=True)
        assert re.search(r"Kepler, J .*%", page.locator("#tip").inner_text())
        keep(page, "metadata-authors")
        page.get_by_role("link", name="of one document").click()
        page.wait_for_url("**bands=document*")
        assert page.url.count("value=") == 2 and "topic=1" in page.url
        page.get_by_text("These numbers as a table").click()
        assert page.locator("#picture table tbody tr").first.is_visible()
        page.get_by_role("link", name="by venue").click()
        page.wait_for_url("**along=venue*")
        assert page.locator("svg.wide .whisker").count() == 2
        page.go_back()
        page.wait_for_function("() => document.querySelectorAll('svg.wide .spread').length === 2")
        page.get_by_role("link", name="stack all of them").click()
        page.wait_for_function("() => document.querySelectorAll('svg.wide .area').length === 6")
        keep(page, "metadata-stacked")
        page.locator("svg.wide .panel").first.click()
        page.wait_for_url("**/author/*")
        assert heading(page) == "Holmes, O"
        page.get_by_role("link", name="What the model expects of this author").click()
        page.wait_for_url("**/metadata?value=Holmes*")


def test_from_document_to_linked_document(browser, featured):
    with served(featured) as address, watched(browser, address) as visit:
        page = visit("/m/kernel/document/3")
        page.get_by_role("link", name="The documents it is linked with").click()
        page.wait_for_url("**/metadata?document=3")
        keep(page, "metadata-links")
        leaf = page.locator("svg.wide a.leaf").first
        leaf.focus()
        target = leaf.get_attribute("href")
        page.keyboard.press("Enter")
        page.wait_for_url("**/document/*")
        assert page.url.endswith(target) and not target.endswith("document/3"), "the neighbour, not the document itself"


OUTSIDE = """svg => {
  const frame = svg.getBoundingClientRect();
  const out = text => (box => box.left < frame.left - 4 || box.right > frame.right + 6)(text.getBoundingClientRect());
  return [...svg.querySelectorAll("text")].filter(out).map(text => text.textContent);
}"""
METADATA = (
    "metadata?topic=1&topic=2&value=Kepler,+J&value=Holmes,+O",
    "metadata?along=authors&topic=1",
    "metadata?along=venue&document=3",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), slow_unless(lambda case: case[0] == 390, [(390, "dark"), (1280, "light")])
)
def test_metadata_without_script_fits_the_screen(browser, featured, width, scheme):
    with served(featured) as address, watched(browser, address) as visit:
        for i, path in enumerate(METADATA):
            page = visit(f"/m/kernel/{path}", width=width, scheme=scheme, script=False)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            kind = "narrow" if width < 500 else "wide"
            outside = page.locator(f".chart svg.{kind}").first.evaluate(OUTSIDE)
            assert outside == []
            keep(page, f"metadata-{i}-{width}-{scheme}")


def test_words_change_colour_and_numbers_show(visit):
    page = visit(f"/m/{MAIN}/document/0")
    page.get_by_role("link", name="by author").click()
    page.locator('.text[data-colour="author"]').wait_for()
    assert "colour=author" in page.url
    keep(page, "document-by-author")
    before = page.locator(".text").inner_text()
    page.get_by_label("show numbers").check()
    content = page.locator(".text a").first.evaluate("word => getComputedStyle(word, '::after').content")
    assert re.search(r"\d", content) or page.locator(".text").inner_text() != before


def test_sampling_again_and_the_stored_sample(visit):
    page = visit(f"/m/{MAIN}/document/3")
    page.get_by_label("burn-in sweeps").fill("5")
    page.get_by_label("samples", exact=True).fill("4")
    page.get_by_role("button", name="Sample this document").click()
    page.get_by_text("Sampled just now").wait_for()
    assert "burn_in=5" in page.url
    keep(page, "document-sampled")
    page.get_by_role("link", name="Back to the stored one").click()
    page.get_by_text("Now shown: the words’ topics in the last sample").wait_for()


def test_the_slider_ranks_words_anew(visit, client):
    page = visit(f"/m/{MAIN}/topic/0")
    page.get_by_role("slider").focus()
    page.evaluate("document.querySelector('#words-list').dataset.old = 'yes'")
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => location.search === '?relevance=0' && !document.querySelector('[data-old]')")
    expected = [word["word"] for word in client.get(f"/m/{MAIN}/topic/0.json?relevance=0").json()["words"]]
    assert page.locator("ol.words a").all_inner_texts() == expected
    page.reload()
    assert page.locator("ol.words a").all_inner_texts() == expected
    assert page.locator("output").inner_text() == "λ 0.00"


def test_a_topic_gets_a_name_and_keeps_it(visit):
    page = visit(f"/m/{MAIN}/topic/2")
    assert page.locator("input[name=label]").count() == 1
    page.get_by_text("Rename").click()
    page.get_by_label("A name for this topic").fill("Law & <order>")
    page.get_by_role("button", name="Keep").click()
    page.wait_for_function("() => document.querySelector('h1')?.innerText.startsWith('Law')")
    assert heading(page).startswith("Law & <order>")
    page.goto(page.url.replace("topic/2", ""))
    assert page.get_by_text("Law & <order>").count() > 0
    page.goto(page.url + "topic/2")
    page.get_by_text("Rename").click()
    page.get_by_label("A name for this topic").fill("")
    page.get_by_role("button", name="Change", exact=True).click()
    page.wait_for_function("() => document.querySelector('h1')?.innerText.startsWith('Law') === false")


def test_choices_of_a_form_that_is_not_live_wait_for_its_button(visit):
    page = visit(f"/m/{MAIN}/trends")
    page.evaluate("document.querySelector('form.choose').removeAttribute('data-live')")
    address = page.url
    page.locator("form.choose input[type=checkbox]").first.check()
    assert page.url == address
    assert page.locator("form.choose button").is_visible()


def test_a_topic_is_split_a_word_banned_and_both_undone(browser, stored, tmp_path):
    path = shutil.copy(stored, tmp_path / "steered.topoi")
    with served(path) as address, watched(browser, address) as visit:
        before = {page: texts(address, page) for page in READ}
        editor, reader, plain = (visit(f"/m/{LDA}/topic/0", script=script) for script in (True, True, False))
        editor.get_by_role("button", name="Split in two").click()
        editor.get_by_role("button", name="Keep", exact=True).wait_for()
        assert editor.locator(".changes").count() == 2
        keep(editor, "change-proposed")
        reader.reload()
        assert reader.locator("ol.words a").all_inner_texts() == before["topic/0.json"], "nothing is changed yet"
        editor.get_by_role("button", name="Keep", exact=True).click()
        editor.locator("#change .sub", has_text="Done").wait_for()
        keep(editor, "change-kept")
        # The readers come and go; one of them uses no script, and bans a word.
        reader.goto(f"{address}/m/{LDA}/")
        assert reader.locator(".changed").count() == 2
        keep(reader, "overview-changed")
        plain.reload()
        row = plain.locator("ol.words li").first
        word = row.locator("a").inner_text()
        row.get_by_role("button", name=f"ban {word}").click()
        for _ in range(50):
            if plain.get_by_role("button", name="Keep", exact=True).count():
                break
            plain.reload()
        plain.get_by_role("button", name="Keep", exact=True).click()
        editor.goto(f"{address}/m/{LDA}/history")
        plain.locator("#change .sub", has_text="Done").wait_for()
        editor.reload()
        assert editor.locator(".history li").count() == 2
        keep(editor, "history")
        reader.goto(f"{address}/m/{LDA}/topic/0")
        assert word not in reader.locator("ol.words a").all_inner_texts()
        for _ in range(2):
            editor.get_by_role("button", name="Undo").click()
            editor.locator("#change .sub", has_text="Done").wait_for()
            editor.get_by_role("link", name="History, and undo").click()
            editor.wait_for_url("**/history")
        assert editor.get_by_role("button", name="Undo").count() == 0
        assert {page: texts(address, page) for page in READ} == before
    assert len(topoi.open_store(path).edits("four topics")) == 2, "the history is saved"


def middle(page, selector):
    """Where an element is on the screen."""
    page.locator(selector).first.scroll_into_view_if_needed()
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, source, target):
    """Drag one thing onto another, as a hand does; ``target`` may appear with the drag."""
    page.mouse.move(*middle(page, source))
    page.mouse.down()
    x, y = middle(page, source)
    page.mouse.move(x + 12, y + 12, steps=3)
    page.mouse.move(*middle(page, target), steps=8)
    return page.mouse.up


@pytest.mark.slow
def test_topics_and_words_are_dragged(browser, stored, tmp_path):
    path = shutil.copy(stored, tmp_path / "dragged.topoi")
    with served(path) as address, watched(browser, address) as visit:
        page = visit(f"/m/{LDA}/")
        disc = (
            ".map.wide a[href$='/topic/{}'] circle"
            if page.locator(".map.wide").count()
            else ".map a[href$='/topic/{}'] circle"
        )
        drop = drag(page, disc.format(1), disc.format(2))
        assert page.locator(".map .drop-here").count() >= 1
        assert "Merge" in page.locator("#status").inner_text()
        keep(page, "drag-disc")
        drop()
        page.wait_for_url("**/change/*")
        page.get_by_role("button", name="Leave it").click()
        page.wait_for_url("**/topic/2")
        word = page.locator("ol.words li[data-word] a").first.inner_text()
        drop = drag(page, "ol.words li[data-word] a", ".drop-bar [data-drop=ban]")
        keep(page, "drag-word")
        drop()
        page.wait_for_url("**/change/*")
        assert heading(page).startswith(f"Ban “{word}” from") and heading(page).endswith("(2)?")
        page.get_by_role("button", name="Leave it").click()
        page.wait_for_url("**/topic/2")
        badge = page.locator("aside .lines a.face").first.get_attribute("href")
        drag(page, "ol.words li[data-word] a", "aside .lines a.face")()
        page.wait_for_url("**/change/*")
        assert heading(page).startswith(f"Pin “{word}” to") and f"({badge.rsplit('/', 1)[1]})" in heading(page)
        page.get_by_role("button", name="Leave it").click()
        # A short way is a click, and Escape ends a drag.
        page.goto(f"{address}/m/{LDA}/")
        drag(page, disc.format(1), disc.format(2))
        page.keyboard.press("Escape")
        page.mouse.up()
        assert page.url.endswith(f"/m/{LDA}/")
        page.mouse.click(*middle(page, disc.format(1)))
        page.wait_for_url("**/topic/1")


def radii(url):
    """Sizes of the discs of the map on a page, as a browser without script gets it."""
    with urllib.request.urlopen(url, timeout=20) as answer:
        text = answer.read().decode()
    wide = text[text.index("<svg") :].split("</svg>")[0]
    return re.findall(r'<circle[^>]* r="([^"]+)"', wide)


@pytest.mark.slow
def test_topics_are_seen_settling(browser, stored, tmp_path, monkeypatch):
    """Words and discs change while sweeps go on, readers see the old state meanwhile, and the button stops it."""
    check, held, sweeps = edits.EditDesk._check, threading.Event(), threading.Semaphore(0)

    def step(desk, change):
        check(desk, change)
        if held.is_set() and change.state == "settling":
            sweeps.acquire(timeout=60)
            check(desk, change)

    monkeypatch.setattr(edits.EditDesk, "_check", step)
    monkeypatch.setattr(edits, "GLANCE_SECONDS", 0.0)
    path = shutil.copy(stored, tmp_path / "settling.topoi")
    with served(path) as address, watched(browser, address) as visit:
        before = {page: texts(address, page) for page in READ}
        editor, plain = visit(f"/m/{LDA}/topic/0"), visit(f"/m/{LDA}/topic/0", script=False)
        editor.get_by_role("button", name="Split in two").click()
        editor.get_by_role("button", name="Keep", exact=True).wait_for()
        held.set()
        editor.get_by_role("button", name="Keep", exact=True).click()
        seen = []
        for n in (2, 6, 10):
            for _ in range(4):
                sweeps.release()
            done = "|".join(str(k) for k in range(n, edits.N_SWEEPS + 1))
            editor.locator("#stage", has_text=re.compile(f"Settling: ({done}) of")).wait_for()
            if n == 2:
                plain.goto(editor.url)  # from then on it loads itself anew every second
            plain.locator(".changes .now li").first.wait_for()
            seen.append(radii(editor.url))
            assert {page: texts(address, page) for page in READ} == before, "readers see what the file has"
        keep(editor, "change-settling")
        assert seen[0] != seen[-1] and len(seen[-1]) == 5
        editor.get_by_role("button", name="Stop and leave it").click()
        editor.wait_for_url("**/topic/0", timeout=5000)
        sweeps.release()
        editor.get_by_role("button", name="Split in two").click()
        editor.get_by_role("button", name="Keep", exact=True).wait_for()
        held.clear()
        editor.get_by_role("button", name="Keep", exact=True).click()
        editor.locator("#change .sub", has_text="Done").wait_for()
    assert topoi.open_store(path).edits("four topics")["kind"].tolist() == ["split"], "saved, once"


READ = tuple(f"topic/{k}.json" for k in range(4))


def texts(address, page):
    """Words of a topic, as another program reads them."""
    with urllib.request.urlopen(f"{address}/m/{LDA}/{page}", timeout=20) as answer:
        return [word["word"] for word in json.load(answer)["words"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), slow_unless(lambda case: case[0] == 390, [(390, "dark"), (1280, "light")])
)
def test_changes_without_script_fit_the_screen(browser, stored, tmp_path, width, scheme):
    path = shutil.copy(stored, tmp_path / "steered.topoi")
    with served(path) as address, watched(browser, address) as visit:
        page = visit(f"/m/{LDA}/topic/0", width=width, scheme=scheme, script=False)
        page.get_by_role("button", name="Split in two").click()
        page.wait_for_selector("text=Leave it")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        small = page.locator("main button").evaluate_all(
            "all => all.map(b => b.getBoundingClientRect()).filter(b => b.width < 24 || b.height < 24).length"
        )
        assert small == 0
        keep(page, f"change-{width}-{scheme}")


@pytest.mark.parametrize("who", ["nobody", "any", "named"])
def test_a_pasted_text_is_labelled(visit, who):
    page = visit(f"/m/{MAIN}/parse")
    page.locator("#text").fill(TEXT)
    page.locator(f"input[name=who][value={who}]").check()
    if who == "named":
        page.locator("#names").fill("Holmes, O; Kepler, J")
    page.get_by_role("button", name="Label this text").click()
    page.get_by_text("Your text, read").wait_for()
    page.wait_for_load_state()
    assert page.locator(".text a").count() > 5
    assert "court" in page.locator(".text").first.inner_text()
    keep(page, f"parse-{who}")


def test_reviewers_leave_out_the_authors(visit):
    page = visit(f"/m/{MAIN}/reviewers")
    page.locator("#text").fill(TEXT)
    page.locator("#names").fill("Kepler, J")
    page.get_by_role("button", name="Find reviewers").click()
    page.locator(".fits").wait_for()
    names = page.locator(".fits h2").all_inner_texts()
    assert names and "Kepler, J" not in names
    keep(page, "reviewers")


def test_trends_of_chosen_topics(visit):
    page = visit(f"/m/{MAIN}/trends")
    keep(page, "trends")
    while page.locator("#choices input:checked").count():
        page.locator("#choices input:checked").first.uncheck()
    page.locator("#choices input").nth(3).check()
    page.get_by_label("decade").check()
    page.wait_for_function("() => location.search.includes('by=decade')")
    assert page.url.count("topic=") == 1
    # What is said around the picture is of decades, too, as it is after a reload.
    page.locator("#said", has_text="each decade’s words").wait_for()
    around = page.locator("#movers").inner_text()
    page.reload()
    assert page.locator("#movers").inner_text() == around


def test_two_models_side_by_side(visit):
    page = visit(f"/m/{MAIN}/compare/{LDA}")
    assert page.get_by_role("img").count() + page.locator("table").count() > 0
    keep(page, "compare")


def test_downloads(visit):
    page = visit(f"/m/{MAIN}/trends")
    for name, ending in (("Picture as SVG", ".svg"), ("Picture as PNG", ".png"), ("Series as CSV", ".csv")):
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name).or_(page.get_by_role("button", name=name)).click()
        file = Path(waiting.value.path())
        assert waiting.value.suggested_filename.endswith(ending)
        head = file.read_bytes()[:8]
        assert {".svg": b"<svg", ".png": b"\x89PNG", ".csv": b""}[ending] in head or ending == ".svg"


STOPS = ("", "topic/1", "author/4", "document/5", "word/2", "trends", "authors", "documents?q=star", "search?q=jordan")


@pytest.mark.parametrize(
    "path",
    slow_unless(lambda path: path in ("", "topic/1", "document/5"), STOPS),
    ids=lambda path: path.replace("/", "-") or "overview",
)
def test_everything_is_readable_without_script(visit, path):
    page = visit(f"/m/{MAIN}/{path}", script=False)
    assert heading(page)
    assert page.locator("main a").count() > 3
    assert not page.locator(".busy").count()


# Colours move nothing, and what fits a telephone seldom sticks out of a screen.
@pytest.mark.parametrize(
    ("width", "scheme"),
    slow_unless(lambda case: case == (390, "light"), [(w, s) for w in (390, 1280) for s in ("light", "dark")]),
)
@pytest.mark.parametrize(
    "path", [*STOPS, "parse", "reviewers", "models", f"compare/{LDA}"], ids=lambda p: p or "overview"
)
def test_nothing_sticks_out(visit, path, width, scheme):
    page = visit(f"/m/{MAIN}/{path}", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    keep(page, f"{width}-{scheme}-{re.sub(r'[^a-z0-9]+', '-', path) or 'overview'}")


def test_a_page_can_be_walked_with_the_keyboard(visit):
    page = visit(f"/m/{MAIN}/author/1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('skip')")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.outerHTML"))
    assert len(reached) > 6
