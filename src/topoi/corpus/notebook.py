"""HTML of a corpus for notebooks: its size, and its first documents. Everything that comes from files is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from topoi.errors import safe_text

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus

_ROWS = 5
_LONGEST = 120
_CELL = 'style="text-align:left;padding:0.15em 0.8em;vertical-align:top"'


def shortened(value: object, longest: int = _LONGEST) -> str:
    """A value of a cell as escaped text of one line; nothing for a missing one.

    Examples
    --------
    >>> from topoi.corpus.notebook import shortened
    >>> shortened("<b>fish</b> & chips", 14)
    '&lt;b&gt;fish&lt;/b&gt; &amp;…'
    """
    text = "" if value is None or value != value else " ".join(safe_text(value).split())
    return escape(text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…")


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table under a line of text. Cells and the note are HTML already; the title and the head are escaped here.

    Examples
    --------
    >>> from topoi.corpus.notebook import table
    >>> table("Two & two", ["n"], [["4"]]).count("&amp;")
    1
    """
    names = "".join(f"<th {_CELL}>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td {_CELL}>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    below = f"<p>{note}</p>" if note else ""
    body = f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div><p><b>{escape(title)}</b></p>{body}{below}</div>"


def corpus_html(corpus: Corpus) -> str:
    """A corpus as HTML: its size and its first documents. Of one on disk only these are read."""
    shown = min(_ROWS, corpus.n_docs)
    first = corpus.subset(range(shown))
    years = first.documents["year"] if "year" in first.documents else [None] * shown
    titles = first.documents["title"] if "title" in first.documents else [None] * shown
    texts = first.texts or [" ".join(first[d].words) for d in range(shown)]
    rows = [
        [str(d), shortened(year), shortened("; ".join(names)), shortened(title), shortened(text)]
        for d, (year, names, title, text) in enumerate(zip(years, first.author_lists(), titles, texts, strict=True))
    ]
    rest = corpus.n_docs - shown
    note = f"and {rest:,} more; <code>corpus.documents</code> has all metadata" if rest else ""
    return table(repr(corpus).strip("<>"), ["", "year", "authors", "title", "text"], rows, note)
