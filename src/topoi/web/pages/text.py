"""Texts cut to a length that a page can show, and snippets around a query's words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from topoi.store.matching import may_begin, terms_of
from topoi.web.pages.shapes import Snippet

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_QUOTED = 2000


def short(text: str, length: int) -> str:
    """At most ``length`` characters, the last an ellipsis if something was left out.

    Examples
    --------
    >>> from topoi.web.pages.text import short
    >>> short("a long title", 7)
    'a long…'
    """
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """A text without line breaks and other control characters."""
    return " ".join((text if text.isprintable() else _CONTROL.sub(" ", text)).split())


def collection_title(name: str) -> str:
    """Title from the name of a file.

    Examples
    --------
    >>> from topoi.web.pages.text import collection_title
    >>> collection_title("state-of-the-union.topoi"), collection_title("ACL_abstracts.topoi")
    ('State of the union', 'ACL abstracts')
    """
    stem = one_line(re.sub(r"[-_]+", " ", name.removesuffix(".topoi"))) or name
    return stem[:1].upper() + stem[1:]


def as_python(text: str) -> str:
    """A text as an expression of Python: itself, or what reads it from a file if it is long.

    Examples
    --------
    >>> from topoi.web.pages.text import as_python
    >>> as_python("A star"), as_python("long " * 1000)
    ("'A star'", "open('text.txt').read()")
    """
    return repr(text) if len(text) <= _LONGEST_QUOTED else "open('text.txt').read()"


def listed(words: list[str]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> from topoi.web.pages.text import listed
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


BEFORE, WHOLE = 60, 220
# All that is not a single space already; most texts have next to none of it.
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]{2,}|[^\S ]|[\x00-\x1f\x7f]")


class _Plain(dict[int, str]):
    """Translation table to letters without accents and in lower case, one for one, so that positions stay the same."""

    def __missing__(self, code: int) -> str:
        first = unicodedata.normalize("NFKD", chr(code))[:1].lower()
        plain = first if len(first) == 1 else chr(code)
        self[code] = plain
        return plain


_PLAIN = _Plain()


def plain(text: str) -> str:
    """A text of the same length in lower case and without accents.

    Examples
    --------
    >>> from topoi.web.pages.text import plain
    >>> plain("Schütze")
    'schutze'
    """
    return text.lower() if text.isascii() else text.translate(_PLAIN)


def finder(query: str) -> Callable[[str], list[Snippet] | None] | None:
    """A function that cuts a snippet with the query's words out of a text; None if the query has no words.

    Examples
    --------
    >>> from topoi.web.pages.text import finder
    >>> [part["text"] for part in finder("kernel meth")("On kernel methods") if part["hit"]]
    ['kernel', 'methods']
    """
    pattern = _pattern(query)
    if pattern is None:
        return None

    def find(text: str) -> list[Snippet] | None:
        even = _SPACES.sub(" ", text).strip()
        folded = plain(even)
        first = pattern.search(folded)
        if first is None:
            return None
        start, end = _window(even, first.start())
        return _marked(even, [match.span() for match in pattern.finditer(folded, start, end)], start, end)

    return find


def _pattern(query: str) -> re.Pattern[str] | None:
    terms = terms_of(query)
    choices = []
    for at, term in enumerate(terms):
        words = re.findall(r"[^\W_]+", plain(term))
        if words:
            last = r"\w*" if at == len(terms) - 1 and may_begin(term) else r"(?!\w)"
            choices.append(r"[\W_]{1,3}".join(map(re.escape, words)) + last)
    return re.compile(rf"(?<!\w)(?:{'|'.join(choices)})") if choices else None


def _window(text: str, hit: int) -> tuple[int, int]:
    """Start and end of a snippet: at spaces, a little before the hit and more after it."""
    start = max(hit - BEFORE, 0)
    if start:
        space = text.find(" ", start, hit)
        start = space + 1 if space >= 0 else start
    end = min(start + WHOLE, len(text))
    if end < len(text):
        space = text.rfind(" ", hit + 1, end)
        end = space if space > hit else end
    return start, end


def _marked(text: str, hits: list[tuple[int, int]], start: int, end: int) -> list[Snippet]:
    parts: list[Snippet] = []
    at = start
    for first, last in hits:
        if first >= end:
            break
        last = min(last, end)
        parts += [Snippet(text=text[at:first], hit=False), Snippet(text=text[first:last], hit=True)]
        at = last
    parts.append(Snippet(text=text[at:end], hit=False))
    if start > 0:
        parts.insert(0, Snippet(text="… ", hit=False))
    if end < len(text):
        parts.append(Snippet(text=" …", hit=False))
    return [part for part in parts if part["text"]]
