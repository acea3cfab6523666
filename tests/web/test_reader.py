"""An exported site: its data are the server's JSON views, and it reads from any web server, from a folder, and in part
without script; nothing in a collection becomes markup, and nothing else is overwritten."""

from __future__ import annotations

import gzip
import json
import threading
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from thinning import slow_unless
from topoi.cli.main import main
from topoi.errors import StoreError
from topoi.models.smoothed_counts import SmoothedCounts, distances
from topoi.web.export import MARK, Limits
from topoi.web.links import name_of
from topoi.web.reader import site as site_module
from topoi.web.reader.data import SHOWN
from topoi.web.reader.near import likely_neighbours
from topoi.web.reader.packing import contents, lettered, script, unlettered
from topoi.web.reader.site import export_reader
from web.addresses import AUTHORS_ONLY, LDA, MAIN, PRIVATE
from web.samples import HOSTILE, hostile_corpus, save_all
from web.test_export import read
from web.test_journeys import ARGUMENTS, keep, program  # noqa: F401

playwright_api = pytest.importorskip("playwright.sync_api")
UNDER = "some/where"


@pytest.fixture(scope="module")
def site(stored, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader") / UNDER / "site"
    seen = []
    n_steps = export_reader(stored, folder, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (n_steps, n_steps) and [done for done, _ in seen[:n_steps]] == list(range(1, n_steps + 1))
    return folder


@pytest.fixture(scope="module")
def browser(program):  # noqa: F811
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


@contextmanager
def served(folder: Path):
    """The address of a site below a web server's root."""
    root = folder.parents[len(Path(UNDER).parts)]
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{folder.relative_to(root).as_posix()}"
        server.shutdown()


@contextmanager
def watched(browser, address: str, **options):
    """A page whose complaints, requests to elsewhere and dialogs fail the test."""
    complaints: list[str] = []
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on(
        "request", lambda r: complaints.append(r.url) if not r.url.startswith((address, "data:", "blob:")) else None
    )
    yield page
    context.close()
    assert complaints == []


@pytest.fixture(scope="module", params=["http", "file"])
def address(request, site):
    if request.param == "file":
        yield site.as_uri()
    else:
        with served(site) as found:
            yield found


def opened(page, address: str, slug: str, at: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}/{slug}/read.html#/{at}")
    page.locator("main:not([aria-busy]) aside").wait_for(state="attached")


def same(reader, server, where: str = "", step: float = 0.0) -> None:
    """The reader's numbers are the server's, to five digits; probabilities of words, to per cent."""
    if isinstance(server, dict):
        assert isinstance(reader, dict) and set(reader) == set(server), where
        for name, value in server.items():
            same(reader[name], value, f"{where}.{name}", 0.0051 if name in ("p", "q") and ".pieces" in where else 0.0)
    elif isinstance(server, list):
        assert isinstance(reader, list) and len(reader) == len(server), where
        for i, value in enumerate(server):
            same(reader[i], value, f"{where}[{i}]", step)
    elif isinstance(server, float) and not isinstance(server, bool):
        assert reader == pytest.approx(server, rel=5.1e-5, abs=max(step, 1e-6)), where
    else:
        assert reader == server, where


VIEWS = """async (wanted) => {
  const found = [];
  for (const [kind, number] of wanted) found.push((await topoiReader.view(kind, number))?.view ?? null);
  return found;
}"""


@pytest.mark.parametrize("slug", [MAIN, LDA, PRIVATE, AUTHORS_ONLY])
def test_the_data_are_the_json_views(site, client, browser, slug):
    step = 1 if slug == MAIN else 7
    sizes = (("document", 60), ("author", 9), ("word", 24))
    wanted = [[kind, number] for kind, n in sizes for number in range(0, n, step)]
    with served(site) as address, watched(browser, address) as page:
        opened(page, address, slug, "documents")
        found = page.evaluate(VIEWS, [*wanted, ["document", 60]])
    assert found.pop() is None
    assert sum(view is not None for view in found) > len(wanted) / 2
    for (kind, number), view in zip(wanted, found, strict=True):
        if kind != "word" or view is not None:
            whole = client.get(f"/m/{slug}/{kind}/{number}.json").json()
            shown = (*SHOWN[kind], "faces") if kind == "document" else SHOWN[kind]
            same(view, {name: whole[name] for name in shown}, f"{kind}/{number}")


def test_lists_search_and_trends_are_the_servers(site, client, browser):
    find = "async (query) => topoiReader.search.documents(query)"
    with served(site) as address, watched(browser, address) as page:
        opened(page, address, MAIN, "documents")
        for query in ("star", "star moon", "galax", "of the kind", "on part", "zzz", "Ga", "plasma, virus", '"law" OR'):
            answers = [client.get(f"/m/{MAIN}/documents.json", params={"q": query, "page": n}).json() for n in (1, 2)]
            ids = [row["document"]["document_id"] for answer in answers for row in answer["documents"]]
            assert page.evaluate(find, query)[:60] == ids and answers[0]["n_found"] == len(ids), query
        people = page.evaluate("async () => topoiReader.people(0, 50)")
        rows = client.get(f"/m/{MAIN}/authors.json").json()["authors"]
        same(people, [{name: value for name, value in row.items() if name != "last_year"} for row in rows])
        listed = page.evaluate("async () => [...(await topoiReader.listed([0, 7, 59])).values()]")
        lines = [client.get(f"/m/{MAIN}/documents.json", params={"page": n}).json()["documents"] for n in (1, 2)]
        for one, there in zip(listed, (lines[0][0], lines[0][7], lines[1][29]), strict=True):
            same(one, {"document": there["document"], "topics": there["topics"]})
        for by in ("year", "decade"):
            view = client.get(f"/m/{MAIN}/trends.json", params={"by": by, "topic": [2, 4]}).json()
            trend = page.evaluate(
                "async (by) => { const t = await topoiReader.trends(by); return { ...t, row: [t.row(2), t.row(4)] }; }",
                by,
            )
            rows = [[one["share"], one["lower"], one["upper"]] for one in view["series"]]
            names = ("years", "n_tokens", "hottest", "coldest")
            same(trend, {"row": rows, **{name: view[name] for name in names}}, by)


def test_a_journey_from_a_topic_to_a_text_and_back(address, browser):
    with watched(browser, address) as page:
        page.goto(f"{address}/index.html")
        page.wait_for_url(f"**/{MAIN}/index.html")
        page.goto(f"{address}/{MAIN}/topic/1.html")
        page.locator("ol.docs a.title").first.click()
        page.locator(".text a").first.wait_for()
        assert "read.html#/document/" in page.url and page.locator(".text a").count() > 10
        title = page.locator("h1").inner_text()
        assert title in page.title()
        page.get_by_role("link", name="by author").click()
        page.locator('.text[data-colour="author"]').wait_for()
        page.go_back()
        page.locator('.text[data-colour="topic"]').wait_for()
        page.reload()
        page.locator(".text a").first.wait_for()
        assert page.locator("h1").inner_text() == title
        page.keyboard.press("/")
        page.keyboard.type("galaxy")
        page.keyboard.press("Enter")
        page.wait_for_url("**/read.html#/search?q=galaxy")
        page.locator(".snippet mark").first.wait_for()
        assert "galaxy" in page.locator(".snippet mark").first.inner_text().lower()
        page.get_by_role("heading", name="Words").wait_for()
        page.locator(".chips a", has_text="galaxy").click()
        page.get_by_role("heading", name="Topics it is used in").wait_for()
        page.locator("ol.senses a.face").first.click()
        page.wait_for_url("**/topic/*.html")


def test_a_search_begins_on_any_page(address, browser):
    with watched(browser, address) as page:
        page.goto(f"{address}/{MAIN}/topic/1.html")
        page.locator(".search input").fill("kepler")
        page.keyboard.press("Enter")
        page.locator(".chips a", has_text="Kepler, J").click()
        page.get_by_role("heading", name="Kepler, J").wait_for()
        assert page.locator(".rows .row").count() > 0
        page.locator("#share-python summary").click()
        assert "model.author_topics(" in page.locator("#python-lines").inner_text()
        assert page.locator("[data-permalink]").get_attribute("href") == page.url


def test_words_are_reached_by_keys(site, browser):
    with served(site) as address, watched(browser, address) as page:
        opened(page, address, MAIN, "document/3")
        assert page.locator('.text a[tabindex="0"]').count() == 1
        page.locator(".text a").first.focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement === document.querySelectorAll('.text a')[1]")
        assert page.evaluate("document.querySelectorAll('h1').length") == 1


def test_trends_of_chosen_topics_have_an_address(site, browser):
    with served(site) as address, watched(browser, address) as page:
        opened(page, address, MAIN, "trends?topic=2&topic=4")
        assert page.locator(".serie").count() == 2
        page.locator(".choices input:not(:checked)").first.click()
        page.locator(".serie").nth(2).wait_for(state="attached")
        assert page.url.count("topic=") == 3


@pytest.mark.parametrize(
    ("width", "scheme"), slow_unless(lambda case: case[0] == 390, [(1440, "light"), (820, "dark"), (390, "light")])
)
def test_nothing_is_wider_than_the_window(site, browser, width, scheme):
    size = {"width": width, "height": 900}
    with served(site) as address, watched(browser, address, viewport=size, color_scheme=scheme) as page:
        for at in ("document/1", "author/2", "word/5", "documents?q=star", "authors", "search?q=star", "trends"):
            opened(page, address, MAIN, at)
            page.wait_for_timeout(150)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, at
            keep(page, f"reader-{at.split('?')[0].replace('/', '-')}-{scheme}-{width}")


def test_without_script_the_lists_remain(site, browser):
    with served(site) as address, watched(browser, address, java_script_enabled=False) as page:
        for at, words in (
            ("index", "Small collection"),
            ("topic/1", "Topic 1 of 6"),
            ("authors", "Kepler, J"),
            ("trends", "Trends"),
        ):
            page.goto(f"{address}/{MAIN}/{at}.html")
            assert words in page.locator("main").inner_text(), at
        page.goto(f"{address}/{MAIN}/read.html#/document/3")
        assert "a script, which is switched off" in page.locator("main").inner_text()
        page.get_by_role("link", name="All topics, with their words").click()
        page.wait_for_url("**/index.html")
        page.locator(".share summary", has_text="Cite").click()
        assert "@misc{" in page.locator("#cite-bibtex").inner_text()


def test_every_link_leads_to_a_file(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        parsed = read(page)
        assert not parsed.inline, page
        for address in parsed.found:
            if not address.startswith(("#", "data:")):
                assert "://" not in address and not address.startswith("/"), f"{page}: {address}"
                assert (page.parent / address.partition("#")[0]).resolve().is_file(), f"{page}: {address}"
        assert "default-src 'none'; script-src 'self'" in unescape(page.read_text(encoding="utf-8")), page


def test_a_hostile_collection_stays_text(tmp_path, browser):
    path = save_all(hostile_corpus(), tmp_path / "hostile.topoi")
    folder = tmp_path / UNDER / "site"
    export_reader(path, folder, names=[name_of(MAIN), name_of(LDA)])
    for page in folder.rglob("*.html"):
        parsed = read(page)
        assert not parsed.inline, page
        assert not any("evil.example" in address or "javascript:" in address for address in parsed.found), page
    with served(folder) as address, watched(browser, address) as page:
        for at in (
            *(f"document/{n}" for n in range(12)),
            "author/0",
            "author/3",
            "documents",
            "authors",
            "search?q=script",
        ):
            opened(page, address, MAIN, at)
            page.wait_for_timeout(100)
            assert page.locator("main script, main img, main style, main [onerror]").count() == 0, at
            hrefs = page.eval_on_selector_all("main a", "links => links.map((a) => a.getAttribute('href'))")
            assert all(
                href is None or href.startswith(("#/", "topic/", "index.html", "authors.html")) for href in hrefs
            )
        opened(page, address, MAIN, "document/0")
        assert page.locator("h1").inner_text() == HOSTILE[0]


def test_limits_leave_out_documents_and_authors(stored, tmp_path, browser):
    folder = tmp_path / UNDER / "site"
    export_reader(stored, folder, Limits(authors=2, documents=5), names=[name_of(MAIN)])
    with served(folder) as address, watched(browser, address) as page:
        opened(page, address, MAIN, "documents")
        assert page.locator("li.doc").count() == 5
        found = [view is not None for view in page.evaluate(VIEWS, [["document", n] for n in range(60)])]
        assert sum(found) == 5
        assert sum(view is not None for view in page.evaluate(VIEWS, [["author", n] for n in range(9)])) == 2
        opened(page, address, MAIN, f"document/{found.index(False)}")
        assert page.locator("h1").inner_text() == "Not in this copy"
        opened(page, address, MAIN, "search?q=the+kind")
        assert page.locator("li.doc").count() == 5


def test_a_failure_leaves_nothing_and_others_are_not_replaced(stored, tmp_path):
    def stop(done: int, total: int) -> None:
        if done == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_reader(stored, tmp_path / "site", progress=stop)
    assert list(tmp_path.iterdir()) == []
    only = [name_of(LDA)]
    export_reader(stored, tmp_path / "site", Limits(0, 0), names=only)
    with pytest.raises(StoreError, match="holds an earlier copy; .* --force"):
        export_reader(stored, tmp_path / "site", names=only)
    export_reader(stored, tmp_path / "site", Limits(0, 0), names=only, replace=True)
    (tmp_path / "site" / "CNAME").write_text("mine")
    with pytest.raises(StoreError, match="holds more than an earlier copy .CNAME."):
        export_reader(stored, tmp_path / "site", replace=True)


def test_the_command_line_writes_a_site(stored, tmp_path, capsys):
    options = ["--authors", "1", "--documents", "1", "--name", name_of(LDA)]
    assert main(["export", str(stored), str(tmp_path / "site"), *options]) == 0
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    assert f"wrote {len(files)} files, {size / 1e6:,.1f} MB; open" in capsys.readouterr().err
    assert {path.name for path in (tmp_path / "site").rglob("*.json")} == {MARK, "map.json"}
    # The map asks the reader's files for titles: they have to be there before it.
    map_page = (tmp_path / "site" / LDA / "map.html").read_text(encoding="utf-8")
    assert 0 < map_page.index("reader_data.js") < map_page.index("static/map.js")
    assert "click a dot to read it" in map_page
    assert main(["export", str(stored), str(tmp_path / "small"), *options, "--gzip"]) == 0
    packed = tmp_path / "small" / LDA / "topic" / "1.json.gz"
    assert json.loads(gzip.decompress(packed.read_bytes()))["kind"] == "topic"
    assert main(["export", str(stored), str(tmp_path / "plain"), *options, "--json"]) == 0
    assert (tmp_path / "plain" / LDA / "trends.json").is_file()


def test_likely_neighbours_hold_the_nearest_authors(stored):
    rng = np.random.default_rng(0)
    table = rng.poisson(rng.dirichlet(np.full(12, 0.2), 400) * rng.integers(5, 400, (400, 1)))
    authors = SmoothedCounts.from_counts(table, np.full(12, 0.1))
    known = np.flatnonzero(table.sum(axis=1) > 20)
    for row, near in likely_neighbours(authors, [3, 40, 399], 64, known, smoothed=True):
        others = known[known != row]
        distance = distances(authors.shares(row)[0], authors.shares(others), "symmetrised-kl")
        assert set(others[np.argsort(distance)[:8]]) <= set(near.tolist())
        assert len(near) in (64, 65) and row not in near and np.isin(near, known).all()


def test_authors_of_large_collections_are_compared_with_likely_ones(stored, tmp_path, monkeypatch):
    from topoi.web.reader import data

    export_reader(stored, tmp_path / "all", names=[name_of(MAIN)])
    monkeypatch.setattr(data, "LEAST", 2)
    export_reader(stored, tmp_path / "likely", names=[name_of(MAIN)])
    name = f"{MAIN}/data/author-0.js"
    assert (tmp_path / "likely" / name).read_bytes() == (tmp_path / "all" / name).read_bytes()


def test_data_files_keep_every_letter():
    head = {"a": 'quote " backslash \\ </script> \u2028 😀', "n": [1, 2.5, None]}
    body = script("some", head, [[0, 127, 128, 2**31 - 1]])
    assert body.isascii() and body.count(b"\n") == 1 and not set(body) & {0, 13}
    assert all(
        unlettered(lettered(bytes([n, 0, m, 0, 48]))) == bytes([n, 0, m, 0, 48]) for n in range(256) for m in (0, 9)
    )
    found, columns = contents(body)
    assert {**head, "columns": found["columns"]} == found and columns == [[0, 127, 128, 2**31 - 1]]


def test_pages_that_fetch_their_data_have_it(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(site_module, "FETCHED", frozenset({"trends"}))
    export_reader(stored, tmp_path / "site", Limits(0, 0), names=[name_of(LDA)])
    assert json.loads((tmp_path / "site" / LDA / "trends.json").read_text(encoding="utf-8"))["kind"] == "trends"
    assert "trends.json" in read(tmp_path / "site" / LDA / "trends.html").found
    assert not (tmp_path / "site" / LDA / "topic" / "1.json").exists()
