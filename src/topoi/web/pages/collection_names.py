"""Names that people give: the collection's title and sentence, and every topic's label, on one page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from topoi.errors import ModelError
from topoi.web.pages import parameters
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Page
from topoi.web.pages.shapes import TopicSummary
from topoi.web.pages.text import short

# A form has a field for each, and forms are limited.
A_PAGE = 150
LONGEST_LABEL = 1000
_LABEL = "label."


class NamesPage(TypedDict):
    """The collection's own title and sentence, null where there is none, and topics with their labels."""

    kind: Literal["names"]
    title: str | None
    sentence: str | None
    page: int
    n_pages: int
    topics: list[TopicSummary]


def names_page(context: PageContext, page: parameters.PageNumber = 1) -> NamesPage:
    """The title of the collection, a sentence about it, and the names of all topics."""
    topics = [summary["topic"] for summary in context.topics_in_order()] if context.has_topics else []
    return NamesPage(
        kind="names",
        title=context.snapshot.title,
        sentence=context.snapshot.sentence,
        page=page,
        n_pages=max(-(-len(topics) // A_PAGE), 1),
        topics=context.badges(topics[(page - 1) * A_PAGE : page * A_PAGE]),
    )


def names_in(
    context: PageContext, form: Mapping[str, list[str]], page: int
) -> tuple[tuple[str | None, str | None], dict[int, str]]:
    """Title and sentence of a submitted form, and the labels in it that differ from those in the file.

    Forms do not send empty fields. The page's own form says that it has all of them (``all``), so that those missing
    are empty; what is missing from another stays as it is.
    """
    given = {name: " ".join(values[-1].replace("\0", "").split()) for name, values in form.items()}
    is_whole = "all" in given
    title, sentence = (
        given.get(name, "" if is_whole else known or "") or None
        for name, known in (("title", context.snapshot.title), ("sentence", context.snapshot.sentence))
    )
    shown = [summary["topic"] for summary in names_page(context, page)["topics"]] if is_whole else []
    labels = {topic: given.get(f"{_LABEL}{topic}", "") for topic in shown}
    labels |= {_topic_in(name): text for name, text in given.items() if name.startswith(_LABEL)}
    for topic, text in labels.items():
        context.check_topic(topic)
        if len(text) > LONGEST_LABEL:
            raise ModelError(f"a label has at most {LONGEST_LABEL:,} characters, not {len(text):,}")
    return (title, sentence), {k: text for k, text in labels.items() if text != context.labels.get(k, "")}


def _topic_in(name: str) -> int:
    number = name.removeprefix(_LABEL)
    if not (number.isascii() and number.isdecimal() and len(number) < 7):
        raise ModelError(f"{short(name, 40)!r} names no topic; labels are sent as label.7")
    return int(number)


def _python(view: Mapping[str, Any], site: Mapping[str, Any]) -> str:
    return "model.store.about(), model.store.labels(model.name)"


PAGE = Page(
    "names",
    "Names",
    "names",
    names_page,
    NamesPage,
    place=165,
    in_menu=False,
    below="overview",
    needs_server=True,
    python=_python,
)
