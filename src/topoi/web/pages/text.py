"""Texts cut to a length that a page can show, and queries cut to what a search index accepts."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LETTERS_OF_A_QUERY = re.compile(r'[\x00-\x1f\x7f"]')
_MOST_TERMS = 12
_SHORTEST_BEGINNING = 3


def short(text: str, length: int) -> str:
    """At most ``length`` characters, the last an ellipsis if something was left out.

    Examples
    --------
    >>> from topoi.web.pages.text import short
    >>> short("a long title", 7)
    'a long…'
    """
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def match_for(query: str, column: str | None = None) -> str | None:
    """A user's query in the syntax of the full-text index; None if there is nothing to search for.

    Each word is quoted, so that no input is a command of the index; the last may be a prefix.

    Examples
    --------
    >>> from topoi.web.pages.text import match_for
    >>> match_for('kernel OR "xyz'), match_for("  "), match_for("neur", column="title")
    ('"kernel" "OR" "xyz"*', None, 'title : ("neur"*)')
    """
    terms = terms_of(query)
    if not any(c.isalnum() for term in terms for c in term):
        return None
    words = " ".join(f'"{term}"' for term in terms) + ("*" if may_begin(terms[-1]) else "")
    return words if column is None else f"{column} : ({words})"


def may_begin(term: str) -> bool:
    """Whether a word may be used as a prefix: one or two letters match too much to be useful."""
    return len(term) >= _SHORTEST_BEGINNING or not term.isascii()


def terms_of(query: str) -> list[str]:
    """Words of a query."""
    return _LETTERS_OF_A_QUERY.sub(" ", query).split()[:_MOST_TERMS]


def one_line(text: str) -> str:
    """A text without line breaks and other control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def listed(words: list[str]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> from topoi.web.pages.text import listed
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
