"""Layout of every page in a real web browser: heights, widths on small screens and on paper, targets, charts."""

from __future__ import annotations

import re
import shutil
import urllib.request

import pytest

import topoi
from thinning import slow_unless
from web.samples import ordinary_corpus
from web.test_journeys import browser, keep, playwright_api, program, served, uvicorn, watched  # noqa: F401

MANY = "many"
PAGES = (
    "",
    "topic/3",
    "author/1",
    "authors",
    "document/5",
    "documents?q=star",
    "word/2",
    "trends",
    "groups?by=venue",
    "compare/few",
    "compare/few?first=3&second=1",
    "search?q=star",
    "parse",
    "reviewers",
    "models",
    "history",
)
# Footers end a page, but for their own padding; sub-pixels are rounded.
FOOTER = """() => document.documentElement.scrollHeight
    - Math.max(innerHeight, Math.ceil(document.querySelector("footer").getBoundingClientRect().bottom + scrollY))"""
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# As WCAG 2.2 has it: 24 by 24 pixels, or far enough from all other targets; links in sentences are exempt.
SMALL = """() => {
  const shown = (item) => item.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })
    && !item.closest("svg, .text, p, .vh, .skip") && !item.matches(".vh");
  const targets = [...document.querySelectorAll("a[href], button, input, select, summary, textarea")].filter(shown);
  const boxes = targets.map((item) => (item.closest("label") || item).getBoundingClientRect());
  const middle = (box) => [box.left + box.width / 2, box.top + box.height / 2];
  const apart = (i, j) => {
    const [x, y] = middle(boxes[i]);
    const dx = Math.max(boxes[j].left - x, 0, x - boxes[j].right);
    const dy = Math.max(boxes[j].top - y, 0, y - boxes[j].bottom);
    return Math.hypot(dx, dy) >= 12;
  };
  const small = (box) => box.width < 23.5 || box.height < 23.5;
  return targets.filter((item, i) => small(boxes[i]) && targets.some((other, j) => j !== i && !item.contains(other)
    && !other.contains(item) && boxes[j].width && !apart(i, j))).map((item) => item.outerHTML.slice(0, 120));
}"""
OUTSIDE_PAPER = """() => [...document.querySelectorAll("main *")].filter((item) => {
  const box = item.getBoundingClientRect();
  return box.width && !item.closest("svg, .vh") && box.right > innerWidth + 1;
}).map((item) => item.outerHTML.slice(0, 100))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server of a collection with 300 topics, long names, equal titles, and a thin early year."""
    path = tmp_path_factory.mktemp("layout") / "a-collection.topoi"
    plain = ordinary_corpus()
    corpus = ordinary_corpus(
        titles=["The same title"] * 20 + list(plain.documents["title"][20:]),
        authors=[
            [f"{name} of the Longwindedandunbreakablename"] for name in ["Kepler, J", "Sagan, C", "Crick, F"] * 20
        ],
        dates=[1931, *plain.documents["year"][1:]],
    )
    topoi.LDA(4, alpha=0.1, n_iter=20, random_state=1).fit(corpus).save(path, name="few")
    topoi.AuthorTopicModel(300, n_iter=3, random_state=1).fit(corpus).save(path, name=MANY)
    with served(path) as found:
        urllib.request.urlopen(f"{found}/m/{MANY}/", timeout=120).close()  # what is slow the first time
        yield found


@pytest.fixture
def visit(browser, address):  # noqa: F811
    with watched(browser, address) as open_page:
        yield open_page


@pytest.mark.parametrize("width", slow_unless(lambda width: width < 400, [320, 390, 1280]))
def test_pages_end_with_their_footer_and_fit_the_screen(visit, width):
    page = visit(f"/m/{MANY}/", width=width)
    for path in PAGES:
        page.goto(re.sub(r"/m/.*", f"/m/{MANY}/{path}", page.url))
        assert page.evaluate(OVERFLOW) <= 0, path
        assert page.evaluate(FOOTER) <= 1, path


@pytest.mark.parametrize("width", slow_unless(lambda width: width < 400, [390, 1280]))
def test_targets_are_large_or_far_from_others(visit, width):
    page = visit(f"/m/{MANY}/", width=width)
    for path in PAGES:
        page.goto(re.sub(r"/m/.*", f"/m/{MANY}/{path}", page.url))
        assert page.evaluate(SMALL) == [], path


def test_paper_is_used_to_its_width(visit):
    page = visit(f"/m/{MANY}/", width=720)  # about the width of A4 between margins
    page.emulate_media(media="print")
    for path in ("", "topic/3", "documents", "trends", "compare/few"):
        page.goto(re.sub(r"/m/.*", f"/m/{MANY}/{path}", page.url))
        assert page.evaluate(OUTSIDE_PAPER) == [], path
        widths = page.locator(".row, .doc, .chart:not(.matrix)").evaluate_all(
            "all => all.filter(one => one.offsetParent && !one.closest('.pair, aside')).map(one => one.offsetWidth)"
        )
        assert all(width > 680 for width in widths), (path, widths[:5])
        assert not page.locator(".top nav").is_visible() and not page.locator(".search").first.is_visible()


def test_equal_titles_are_told_apart(visit):
    page = visit(f"/m/{MANY}/documents")
    names = [text for text in page.locator("ol.docs a.title").all_inner_texts() if "The same title" in text]
    assert len(names) == 20 and len(set(names)) > 15


def test_back_shows_a_list_as_it_was_left(visit):
    page = visit(f"/m/{MANY}/")
    page.locator("input[data-filter]").fill("star")
    left = page.locator("#topics > li:visible").count()
    assert 0 < left < page.locator("#topics > li").count()
    page.locator("#topics > li:visible a.face").first.click()
    page.wait_for_url("**/topic/*")
    page.go_back()
    page.wait_for_url(f"**/m/{MANY}/")
    assert page.locator("input[data-filter]").input_value() == "star"
    assert page.locator("#topics > li:visible").count() == left


def test_years_by_keys_and_by_mouse(visit):
    page = visit(f"/m/{MANY}/trends")
    chart = page.locator(".along-years svg.wide")
    assert "1990" in chart.locator(".axis").all_text_contents(), "not 1931, which has one document"
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip p").first.inner_text() == "1990" and page.locator(".cross").count() == 1
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**from=1990&to=1992*")
    assert page.locator(".along-years svg.wide .band").count() == 3
    page.get_by_role("link", name="The usual years").click()
    page.wait_for_function("() => !location.search.includes('from')")
    box = page.locator(".along-years svg.wide .band").nth(2).bounding_box()
    far = page.locator(".along-years svg.wide .band").nth(5).bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(far["x"] + 3, box["y"] + 25, steps=4)
    assert page.locator(".brush").count() == 1
    page.mouse.up()
    page.wait_for_url("**from=1992&to=1995*")
    page.locator(".along-years svg.wide .band").first.click()
    page.wait_for_url("**/documents?year=1992")
    page.go_back()
    page.wait_for_url("**from=1992&to=1995*")


def test_all_years_without_script(visit):
    page = visit(f"/m/{MANY}/topic/3", script=False)
    assert page.locator(".along-years svg.wide .band").count() == 10
    page.get_by_role("link", name="All years, 1931–1999").click()
    page.wait_for_load_state("load")
    page.locator(".along-years svg.wide .band").nth(10).wait_for()
    assert page.locator(".along-years svg.wide .band").count() == 11
    href = page.locator(".along-years svg.wide a").first.get_attribute("href")
    assert href == f"/m/{MANY}/documents?topic=3&year=1931"


def test_fonts_are_the_server_s_own(visit):
    page = visit(f"/m/{MANY}/document/5")
    page.evaluate("() => document.fonts.ready.then(() => true)")
    loaded = page.evaluate("() => [...document.fonts].filter(f => f.status === 'loaded').map(f => f.family + f.weight)")
    assert {'"Topoi Sans"400', '"Topoi Serif"400'} <= set(loaded) or {"Topoi Sans400", "Topoi Serif400"} <= set(loaded)


def test_a_collection_without_dates_and_authors_offers_neither(browser, tmp_path):  # noqa: F811
    corpus = topoi.Corpus.from_texts(list(ordinary_corpus().texts), min_df=1, max_df=1.0)
    topoi.LDA(4, alpha=0.1, n_iter=10, random_state=1).fit(corpus).save(tmp_path / "bare.topoi", "m")
    with (
        served(shutil.copy(tmp_path / "bare.topoi", tmp_path / "copy.topoi")) as address,
        watched(browser, address) as visit,
    ):
        page = visit("/m/m/")
        for path in ("", "topic/1", "document/5", "documents", "word/2", "search?q=star", "parse", "models"):
            page.goto(f"{address}/m/m/{path}")
            text = page.locator("body").inner_text().lower()
            assert not re.search(r"\byears?\b|\bauthors?\b|trends|reviewer|rising|who wr", text), path
