"""Labelled texts: nothing of a text is lost, nothing in it is markup, and long ones stay light; bare templates."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoi.web import filters, reading


class Addresses:
    def topic(self, topic: int) -> str:
        return f"/m/AuthorTopicModel/topic/{topic}"

    def author(self, author_id: int) -> str:
        return f"/m/AuthorTopicModel/author/{author_id}"

    def document(self, document_id: int) -> str:
        return f"/m/AuthorTopicModel/document/{document_id}"


FACES = {"7": {"topic": 7, "hue": 120, "glue": False}, "8": {"topic": 8, "hue": 10, "glue": True}}
AUTHORS = [{"author_id": 5, "author": "A", "hue": 30}, {"author_id": None, "author": "alone", "hue": 90}]


def word(text: str, topic: int = 7, **more: Any) -> dict[str, Any]:
    return {"text": text, "word_id": 1, "topic": topic, "p": 0.87, "author": 0, "q": 0.4, **more}


def shown(pieces: list[dict[str, Any]], colour: str = "topic") -> str:
    return str(reading.coloured(pieces, FACES, AUTHORS, Addresses(), colour))


def text_of(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))


def test_a_word_wears_its_topic() -> None:
    assert shown([{"text": "of "}, word("gold")]) == (
        '<p dir="auto">of <a href="/m/AuthorTopicModel/topic/7" data-k=7 class="h120 s9" data-p=87>gold</a></p>\n'
    )
    assert 'class="h10 glue s9"' in shown([word("also", 8)])


def test_a_word_wears_its_author() -> None:
    html = shown([word("gold"), word("coin", author=1), word("mint", author=None)], "author")
    assert '<a href="/m/AuthorTopicModel/author/5" data-k=1 class="h30 s4" data-p=40>gold</a>' in html
    assert '<a data-k=2 class="h90 s4" data-p=40>coin</a>' in html
    assert html.endswith("mint</p>\n")


def test_unknown_topics_and_authors_do_not_break_the_page() -> None:
    assert "data-k=99" in shown([word("gold", 99)])
    assert "data-k=10" in shown([word("gold", author=9)], "author")


words = st.builds(word, st.text(min_size=1, max_size=8), st.sampled_from([7, 8]), p=st.floats(0, 1))
plain = st.builds(lambda text: {"text": text}, st.text(max_size=12))


@given(st.lists(st.one_of(words, plain), max_size=30))
def test_text_is_all_there_and_nothing_in_it_is_markup(pieces: list[dict[str, Any]]) -> None:
    html = shown(pieces)
    given_text = "".join(piece["text"] for piece in pieces)
    assert text_of(html).split() == given_text.split()
    assert set(re.findall(r"</?(\w+)", html)) <= {"p", "a"}


def test_paragraphs_end_at_blank_lines_only() -> None:
    html = shown(
        [{"text": "one line of a long paragraph that was broken by hand\nand goes on here, also rather long\n \n"}]
    )
    assert html.count("<p") == 1
    assert shown([{"text": "a\n\n\nb"}]).count("<p") == 2


def test_verse_keeps_its_lines() -> None:
    assert 'class="lines"' in shown([{"text": "Roses are red,\nviolets are blue\n"}])
    assert 'class="lines"' not in shown([{"text": "prose " * 40}])


def test_a_very_long_paragraph_is_cut_where_lines_end() -> None:
    line = "a line of some seventy characters, as people wrote in plain text files\n"
    html = shown([{"text": line * 3000}])
    assert html.count("<p") > 1 and text_of(html).split() == (line * 3000).split()


def test_a_full_paper_stays_light() -> None:
    html = shown([piece for i in range(5000) for piece in (word(f"word{i}", 7 + i % 2), {"text": " "})])
    assert len(html) < 5000 * 100


def test_face_fades_and_is_escaped() -> None:
    words = ["gold", "<silver>", "coin", "mint", "bank", "note", "paper"]
    topic = {"topic": 3, "label": None, "auto_label": "<Gold> coin", "words": words}
    html = str(reading.badge(topic))
    assert text_of(html) == "<Gold> cointopic 3 gold, <silver>, mint, bank, note, paper"
    assert "<silver>" not in html and "<Gold>" not in html
    assert text_of(str(reading.badge({**topic, "label": "Money"}, 3))) == "Moneytopic 3 gold, <silver>"
    assert text_of(str(reading.badge({**topic, "auto_label": "background: mint, gold"}, 2))).endswith("3 <silver>")


@pytest.mark.parametrize("n", range(1, 9))
def test_face_shows_as_many_words_as_asked(n: int) -> None:
    html = str(reading.badge({"topic": 3, "label": None, "auto_label": "a", "words": list("abcdefghij")}, n))
    assert len(re.findall(r"\b[a-j]\b", text_of(html).replace("topic", ""))) == n


def test_clip_never_grows_and_keeps_short_texts() -> None:
    assert filters.clip("short", 10) == "short"
    assert len(filters.clip("x" * 1_000_000, 200)) == 200
    assert filters.clip("a b", 3) == "a b"


TEMPLATES = {entry.name: entry.read_text(encoding="utf-8") for entry in (files("topoi.web") / "templates").iterdir()}


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_templates_have_nothing_that_the_policy_forbids(name: str) -> None:
    source = TEMPLATES[name]
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|javascript:|https?://", source)
    assert "|safe" not in source.replace(" ", "") and "autoescape false" not in source
    assert re.findall(r"<script[^>]*>", source) == re.findall(r"<script src=[^>]*>", source)


def test_nothing_in_a_line_of_a_document_is_markup() -> None:
    evil = "<script>'\"&"
    authors = [{"author_id": a, "author": f"{evil}{a}"} for a in range(8)]
    document = {"document_id": 3, "title": evil, "year": None, "authors": authors}
    snippet = [{"text": evil, "hit": False}, {"text": evil, "hit": True}]
    topics = [{"topic": 7, "hue": 1, "glue": False, "label": None, "auto_label": evil, "words": []}]
    html = str(reading.document_row(Addresses(), document, evil, 0, topics, snippet, evil))
    assert "<script>" not in html and html.count("&lt;script&gt;") == 12
    assert f"{evil}1" in text_of(html) and f"{evil}0" not in text_of(html) and "and 1 other" in html
    bare = reading.document_row(Addresses(), {"document_id": 3, "title": "A", "year": 1999, "authors": []})
    assert text_of(str(bare)).split() == ["1999", "A"] and "<small>" not in bare
