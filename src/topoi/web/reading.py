"""Topic badges, lines of documents, and labelled texts: paragraphs in which each known word links to its topic.

A full paper has thousands of such words, so each carries only two short classes, its address, its topic's or author's
number and its probability; tooltips are assembled from the side column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup
from markupsafe import escape as marked_up

from topoi.drawing.colours import hue_class, strength_class, topic_class
from topoi.drawing.svg import other_words
from topoi.drawing.words import clip, count

_NAMES_SHOWN = 6
_LONGEST_TITLE, _LONGEST_NAME = 220, 60
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_SHORT_LINE = 45  # characters: shorter lines, as in verse or the head of a letter, are kept as lines
_LONG_PARAGRAPH = 4000  # characters: web browsers lay out many short paragraphs faster than one long one


def badge(topic: Mapping[str, Any], n: int = 7, also_in: Collection[str] = ()) -> Markup:
    """Badge of a topic: its label, its number, and its first words in fading colours.

    Parameters
    ----------
    topic : mapping
        A topic summary, as in JSON views.
    n : int
        Number of things shown, the label included.
    also_in : collection of str
        Words of another topic; those that both have are marked.

    Examples
    --------
    >>> badge({"topic": 3, "label": None, "auto_label": "gold coins", "words": ["silver", "mint"]}, 2)
    Markup('<b dir="auto">gold coins</b><sub><span class="vh">topic </span>3</sub> <span class="near">silver</span>')
    """
    name, others = topic["label"] or topic["auto_label"], other_words(topic)[: n - 1]
    near, far = (others[: n // 2], others[n // 2 :]) if n > 3 else (others, [])
    parts = [f'<b dir="auto">{escape(clip(name, 60))}</b><sub><span class="vh">topic </span>{topic["topic"]}</sub>']
    if near:
        parts.append(f' <span class="near">{_listed(near, also_in)}{"," if far else ""}</span>')
    if far:
        parts.append(f' <span class="far">{_listed(far, also_in)}</span>')
    return Markup("".join(parts))


def node_badge(node: Mapping[str, Any], n: int = 6) -> Markup:
    """Badge of a super-topic: its label, or its automatic label and number, then its first words.

    Examples
    --------
    >>> node_badge({"name": "super 3", "label": None, "auto_label": "gold + war", "words": ["silver"]}, 2)
    Markup('<b dir="auto">gold + war</b><sub>super 3</sub> <span class="near">silver</span>')
    >>> node_badge({"name": "health", "label": "health", "auto_label": "drug + pain", "words": ["drug"]}, 2)
    Markup('<b dir="auto">health</b> <span class="near">drug</span>')
    """
    name, others = node["label"] or node["auto_label"], other_words(node)[: n - 1]
    number = "" if node["label"] else f"<sub>{escape(node['name'])}</sub>"
    more = f' <span class="near">{_listed(others)}</span>' if others else ""
    return Markup(f'<b dir="auto">{escape(clip(name, 60))}</b>{number}{more}')


def _listed(words: Sequence[str], also_in: Collection[str] = ()) -> str:
    shown = ((escape(clip(word, 30)), word in also_in) for word in words)
    return ", ".join(f'<mark class="both">{word}</mark>' if marked else word for word, marked in shown)


def document_row(
    link: Any,
    document: Mapping[str, Any],
    figure: Any = None,
    skip: int | None = None,
    topics: Sequence[Mapping[str, Any]] | None = None,
    snippet: Sequence[Mapping[str, Any]] | None = None,
    note: str | None = None,
    reason: Markup | None = None,
) -> Markup:
    """One document in a list; a page has dozens, so no template is run for each.

    Parameters
    ----------
    link : object
        Link builder.
    document : mapping
        document_id, title, year, authors.
    figure : str, optional
        A number at the right, such as a share or a perplexity.
    skip : int, optional
        An author who is not named.
    topics, snippet : sequence of mappings, optional
        Topics, and pieces of the text with the words that were searched.
    note : str, optional
        A remark.
    reason : Markup, optional
        A paragraph below.
    """
    title, address = marked_up(clip(document["title"], _LONGEST_TITLE)), link.document(document["document_id"])
    if document.get("opening") and not snippet:
        # The title says nothing here, so the first words are what the eye should find.
        title = Markup('<span class="same">{}</span> <span class="opening">{}</span>').format(
            title, document["opening"]
        )
    parts = [
        f'<li class="doc">\n  <span class="num">{"" if document["year"] is None else document["year"]}</span>\n'
        f'  <span class="what">\n    <a class="title" dir="auto" href="{marked_up(address)}">{title}</a>\n'
    ]
    shown = [one for one in document["authors"] if skip is None or one["author_id"] != skip]
    if shown:
        parts.append(f"<small>{author_names(link, shown)}</small>")
    if snippet:
        pieces = (marked_up(part["text"]) for part in snippet)
        cut = (f"<mark>{text}</mark>" if part["hit"] else text for part, text in zip(snippet, pieces, strict=True))
        parts.append(f'<span class="snippet" dir="auto">{"".join(cut)}</span>')
    if note:
        parts.append(f"<small>{marked_up(note)}</small>")
    parts.append(f"    {_badges(link, topics or ())}\n  </span>\n")
    if figure is not None:
        parts.append(f'<span class="num figure">{marked_up(figure)}</span>')
    return Markup("".join([*parts, "" if reason is None else reason.__html__(), "</li>\n"]))


def author_names(link: Any, authors: Sequence[Mapping[str, Any]], n: int = _NAMES_SHOWN) -> Markup:
    """The first ``n`` authors as links, and the number of the others."""
    linked = ((marked_up(link.author(one["author_id"])), clip(one["author"], _LONGEST_NAME)) for one in authors[:n])
    names = (f'<a href="{address}"><bdi>{marked_up(name)}</bdi></a>' for address, name in linked)
    others = f" and {count(len(authors) - n, 'other')}" if len(authors) > n else ""
    return Markup("; ".join(names) + others)


def _badges(link: Any, topics: Sequence[Mapping[str, Any]]) -> str:
    each = (
        f'<a class="face {topic_class(one)}" href="{marked_up(link.topic(one["topic"]))}">{badge(one, 1)}</a>'
        for one in topics
    )
    return f'<span class="faces">{" ".join(each)}</span>' if topics else ""


def coloured(
    pieces: Sequence[Mapping[str, Any]],
    summaries: Mapping[str, Mapping[str, Any]],
    authors: Sequence[Mapping[str, Any]],
    link: object,
    colour: str = "topic",
) -> Markup:
    """The pieces of a text as paragraphs, coloured by topic or by author.

    Parameters
    ----------
    pieces : sequence of mappings
        Plain text, or a word with its topic and author.
    summaries : mapping
        The topics that occur; keys are numbers as strings.
    authors : sequence of mappings
        The authors that ``author`` of a piece indexes.
    link : object
        Link builder: ``link.topic(7)``.
    colour : {"topic", "author"}
        What the words are coloured by.
    """
    by_author = colour == "author"
    openings: dict[int, str] = {}
    strengths = [strength_class(percent / 100) for percent in range(101)]
    out: list[str] = []
    for piece in pieces:
        key = piece.get("author" if by_author else "topic")
        if key is None:
            out.append(escape(piece["text"]))
            continue
        if key not in openings:
            openings[key] = _author_opening(authors, key, link) if by_author else _topic_opening(summaries, key, link)
        percent = round(100 * (piece["q" if by_author else "p"] or 0))
        out.append(f'{openings[key]} {strengths[percent]}" data-p={percent}>{escape(piece["text"])}</a>')
    return Markup("").join(_paragraphs("".join(out), _has_short_lines(pieces)))


def _topic_opening(summaries: Mapping[str, Mapping[str, Any]], topic: int, link: Any) -> str:
    found = summaries.get(str(topic)) or {"hue": 0}
    return f'<a href="{escape(link.topic(topic))}" data-k={topic} class="{topic_class(found)}'


def _author_opening(authors: Sequence[Mapping[str, Any]], position: int, link: Any) -> str:
    author: Mapping[str, Any] = authors[position] if position < len(authors) else {"hue": 0, "author_id": None}
    address = f' href="{escape(link.author(author["author_id"]))}"' if author["author_id"] is not None else ""
    return f'<a{address} data-k={position + 1} class="{hue_class(author["hue"])}'


def _has_short_lines(pieces: Sequence[Mapping[str, Any]]) -> bool:
    lines = "".join(piece["text"] for piece in pieces).splitlines()
    lengths = sorted(len(line) for line in lines if line.strip())
    return len(lengths) > 1 and lengths[len(lengths) // 2] < _SHORT_LINE


def _paragraphs(html: str, short_lines: bool) -> Iterator[Markup]:
    """Paragraphs end at blank lines; without any, at line ends once the text is long."""
    parts = _BLANK_LINES.split(html)
    kind = ' class="lines"' if short_lines else ""
    for part in parts:
        for paragraph in _cut(part):
            if paragraph.strip():
                yield Markup(f'<p dir="auto"{kind}>{paragraph.strip()}</p>\n')


def _cut(part: str) -> Iterator[str]:
    """A part in pieces of bounded length, cut only at line ends, which no tag contains."""
    start = 0
    while len(part) - start > 12 * _LONG_PARAGRAPH:
        end = part.find("\n", start + 10 * _LONG_PARAGRAPH)
        if end < 0:
            break
        yield part[start:end]
        start = end + 1
    yield part[start:]
