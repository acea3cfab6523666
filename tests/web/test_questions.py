"""Ten questions of a newcomer, each answered in two steps from the first page; ``docs/browser.md`` lists them.

A step is a click, or a field filled in and sent, that leads to another page.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from thinning import slow_unless
from web.addresses import LDA, MAIN
from web.test_journeys import address, browser, program, visit  # noqa: F401

DOCS = Path(__file__).parents[2] / "docs" / "browser.md"
MOST_STEPS = 2
TEXT = "A star and its planet seen by telescope: light of a comet, an orbit about a moon."


def search(page, words):
    page.fill("header input[type=search]", words)
    with page.expect_navigation():
        page.press("header input[type=search]", "Enter")


def follow(page, selector):
    """Click what leads to another page, and wait until all of that page is there."""
    with page.expect_navigation():
        page.click(selector)


def menu(page, name):
    follow(page, f"nav[aria-label=Pages] >> text={name}")


def what_somebody_writes_about(page):
    search(page, "kepler")
    follow(page, "main >> text=Kepler, J")
    assert "Writes mostly about" in page.inner_text("main")
    assert page.locator("#topics li").count() > 1


def what_a_paper_is_about_and_who_wrote_which_word(page):
    search(page, "part 12")
    follow(page, "main .docs a.title >> nth=0")
    assert page.locator(".text a[data-k]").count() > 10
    assert "Topics of this document" in page.inner_text("aside") and "Who wrote the words" in page.inner_text("aside")


def who_could_review_this(page):
    menu(page, "Reviewers")
    page.fill("#text", TEXT)
    page.click("text=Find reviewers")
    page.locator(".fits .papers a").nth(2).wait_for()
    page.wait_for_load_state()
    assert page.locator(".fits > li").count() > 2
    assert page.locator(".fits .papers a").count() > 2 and "of 100" in page.inner_text(".fits")


def how_topics_hang_together(page):
    follow(page, "#topics a.face >> nth=0")
    follow(page, "text=How all topics hang together")
    assert "Topics in the same documents" in page.inner_text("h1")
    assert "Pairs of topics" in page.inner_text("main")


def what_changed_in_some_years(page):
    menu(page, "Groups")
    page.fill("#a-from", "1990")
    page.fill("#a-to", "1994")
    follow(page, "text=Compare A with B")
    page.wait_for_selector(".word-sides")
    assert "1990–1994" in page.inner_text("h1")


def which_papers_are_odd(page):
    menu(page, "Oddities")
    page.wait_for_selector("#overall-head")
    assert page.locator("section .docs li").count() > 5
    assert "Unexpected:" in page.inner_text("main")


def how_two_authors_differ(page):
    menu(page, "Groups")
    page.fill("#a-author", "Kepler, J")
    page.fill("#b-author", "Holmes, O")
    follow(page, "text=Compare A with B")
    page.wait_for_selector(".word-sides")
    assert {"Kepler, J", "Holmes, O"} <= set(re.split(r" and ", page.inner_text("h1")))


def papers_with_a_word_of_a_year(page):
    search(page, "star")
    follow(page, ".year-bars a >> nth=3")
    assert "star" in page.inner_text("h1")
    shown = {text for text in page.locator(".docs .doc > .num").all_inner_texts() if text}
    assert shown == {"1993"}


def when_a_word_took_off(page):
    search(page, "star")
    follow(page, "main .chips >> text=star")
    assert page.locator(".word-years svg").count() >= 1
    assert "Share of each year’s words" in page.inner_text("main")


def all_papers_of_a_venue(page):
    menu(page, "Documents")
    follow(page, ".counts >> text=NIPS")
    assert "NIPS" in page.inner_text("h1") and "30 documents" in page.inner_text(".sub")


# The question as the docs have it, its answer, and the model it is asked of.
QUESTIONS = [
    ("What does X write about?", what_somebody_writes_about, MAIN),
    ("What is a paper about, and who wrote which word?", what_a_paper_is_about_and_who_wrote_which_word, MAIN),
    ("Who could review this?", who_could_review_this, MAIN),
    ("How do topics hang together?", how_topics_hang_together, LDA),
    ("What changed in the 1990s?", what_changed_in_some_years, MAIN),
    ("Which papers are odd?", which_papers_are_odd, MAIN),
    ("How do two authors differ?", how_two_authors_differ, MAIN),
    ("Which papers of 1998 have the word kernel?", papers_with_a_word_of_a_year, MAIN),
    ("When did a word take off?", when_a_word_took_off, MAIN),
    ("Which papers are of a venue?", all_papers_of_a_venue, MAIN),
]


@pytest.mark.parametrize("script", slow_unless(lambda script: script, [True, False]))
@pytest.mark.parametrize(("question", "answer", "model"), QUESTIONS, ids=[row[0] for row in QUESTIONS])
def test_questions_are_answered_in_two_steps(visit, question, answer, model, script):  # noqa: F811
    page = visit(f"/m/{model}/", script=script)
    steps: list[str] = []
    page.on("framenavigated", lambda frame: steps.append(frame.url) if frame == page.main_frame else None)
    answer(page)
    assert len({step.partition("#")[0] for step in steps}) <= MOST_STEPS, steps


def test_the_docs_list_them():
    text = DOCS.read_text(encoding="utf-8")
    for question, *_ in QUESTIONS:
        assert question in text
