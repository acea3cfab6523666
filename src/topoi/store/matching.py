"""Queries that people type, in the syntax of a store's full-text index."""

from __future__ import annotations

import re

_LETTERS_OF_A_QUERY = re.compile(r'[\x00-\x1f\x7f"]')
_MOST_TERMS = 12
_SHORTEST_BEGINNING = 3


def match_for(query: str, column: str | None = None) -> str | None:
    """A user's query in the syntax of the full-text index; None if there is nothing to search for.

    Each word is quoted, so that no input is a command of the index; the last may be a prefix.

    Examples
    --------
    >>> from topoi.store.matching import match_for
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
