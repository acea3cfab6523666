"""Documents of equal titles, told apart by how their texts begin, or by what they are about."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from topoi.web.pages.context import PageContext
from topoi.web.pages.parts import leading_topics
from topoi.web.pages.text import one_line, short

View = TypeVar("View")

LONGEST_OPENING = 110
MOST_TOLD_APART = 1000
# Long lists that hold no documents.
_WITHOUT_DOCUMENTS = frozenset(("pieces", "faces", "words", "trend", "years", "matrix", "curves", "points"))


def tell_apart(context: PageContext, view: View) -> View:
    """Give an ``opening`` to all documents of a page whose titles are not their own; the view is changed in place.

    An opening is how the text begins. Where there are no texts, or texts begin alike, it names the leading topics.

    Parameters
    ----------
    context : PageContext
        The model.
    view : JSON view
        Any page's.
    """
    documents = [document for document in _documents(view) if document.get("title")]
    by_number = {document["document_id"]: document for document in documents}
    often = Counter(document["title"] for document in by_number.values())
    alike = [number for number, document in by_number.items() if often[document["title"]] > 1][:MOST_TOLD_APART]
    if not alike:
        return view
    openings = openings_of(context, alike)
    for document in documents:
        if openings.get(document["document_id"]):
            document["opening"] = openings[document["document_id"]]
    return view


def _documents(part: object) -> Iterator[dict[str, Any]]:
    """All documents anywhere in a view."""
    if isinstance(part, dict):
        if part.keys() >= {"document_id", "title"}:
            yield part
            return
        for key, value in part.items():
            if key not in _WITHOUT_DOCUMENTS and isinstance(value, dict | list):
                yield from _documents(value)
    elif isinstance(part, list) and part and isinstance(part[0], dict):
        for value in part:
            yield from _documents(value)


def openings_of(context: PageContext, numbers: list[int]) -> dict[int, str]:
    """Openings of some documents, by number."""
    texts = dict(context.rows("openings", ids=json.dumps(sorted(numbers)))) if context.has_texts else {}
    first = {number: _beginning(one_line(str(texts.get(number) or ""))) for number in numbers}
    often = Counter(first.values())
    unclear = [number for number in numbers if not first[number] or often[first[number]] > 1]
    topics = leading_topics(context, "documents", unclear)
    return first | {number: _with_topics(first[number], topics.get(number, [])) for number in unclear}


def _beginning(text: str) -> str:
    """The first words of a text; the last one is whole, if it is not very long."""
    cut = short(text, LONGEST_OPENING)
    if cut == text:
        return text
    words = cut[:-1].rpartition(" ")[0].rstrip(" ,;:.–-")
    return f"{words}\N{NO-BREAK SPACE}…" if len(words) > LONGEST_OPENING // 2 else cut


def _with_topics(opening: str, topics: list[Any]) -> str:
    named = ", ".join(short(str(_name(topic)), 40) for topic in topics)
    return f"{opening} ({named})" if opening and named else opening or named


def _name(topic: Mapping[str, Any]) -> Any:
    return topic["label"] or topic["auto_label"]
