"""Documents chosen by filters: parsing of addresses, the documents that pass, and a description in words.

The same parameters choose documents on every page that takes them; a prefix tells two selections of one page apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.analysis.together import LEAST
from topoi.errors import ModelError, NotFoundError
from topoi.store.facets import SMALLEST_SHARE, TopicCells
from topoi.store.matching import match_for
from topoi.web.pages.context import Answers, PageContext
from topoi.web.pages.names import fold
from topoi.web.pages.parameters import LARGEST_NUMBER, LONGEST_QUERY, LONGEST_VALUE
from topoi.web.pages.parts import MOST_RANKED
from topoi.web.pages.text import listed, one_line, short

MOST_PAIRS = 60
MOST_CHOSEN = 10
COLUMN = "in."
PREFIXES = ("a.", "b.")
_LARGEST_YEAR = 100_000
_OWN = ("q", "topic", "author", "from", "to", "year", "least")

Pairs = Sequence[tuple[str, str]]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Selection:
    """Filters of documents: all must hold; of several values of one column, one must.

    Attributes
    ----------
    query : str
        Words that all must be in a document.
    topics, authors : tuple of int
        Topics of which a document must have a share of at least ``least``, and authors it must be by.
    first, last : int, optional
        Years, both included.
    values : tuple of (str, tuple of str)
        Columns of the metadata and the values asked for.
    least : float
        The smallest share of a topic.

    Examples
    --------
    >>> from topoi.web.pages.selection import Selection
    >>> Selection(topics=(3,), first=1990, values=(("topic", ("x",)),)).parameters()
    {'topic': [3], 'from': 1990, 'in.topic': ['x']}
    """

    query: str = ""
    topics: tuple[int, ...] = ()
    authors: tuple[int, ...] = ()
    first: int | None = None
    last: int | None = None
    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    least: float = LEAST
    unknown: tuple[str, ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        return self != Selection(least=self.least)

    def parameters(self, prefix: str = "") -> dict[str, Any]:
        """The query parameters of an address that chooses the same documents."""
        given: dict[str, Any] = {"q": self.query or None, "topic": list(self.topics), "author": list(self.authors)}
        if self.first is not None and self.first == self.last:
            given["year"] = self.first
        else:
            given |= {"from": self.first, "to": self.last}
        given["least"] = None if self.least == LEAST else self.least
        given |= {parameter_of(name): list(values) for name, values in self.values}
        return {prefix + name: value for name, value in given.items() if value not in (None, [])}


def parameter_of(column: str) -> str:
    """Name of the parameter that filters by a column; one that means something else is told apart.

    Examples
    --------
    >>> from topoi.web.pages.selection import parameter_of
    >>> parameter_of("venue"), parameter_of("topic"), parameter_of("a.b")
    ('venue', 'in.topic', 'in.a.b')
    """
    return COLUMN + column if is_reserved(column) else column


def is_reserved(name: str) -> bool:
    """Whether a parameter's name means something besides a column."""
    return name in RESERVED or name.startswith((COLUMN, *PREFIXES))


# Parameters of the pages that take filters, and of their tables.
RESERVED = frozenset(
    {*_OWN, "sort", "page", "table", "by", "group", "other", "units", "topics", "words", "colour", "n", "text", "with"}
)


def parse_selection(context: PageContext, asked: Pairs, prefix: str = "") -> Selection:
    """The selection that the parameters of an address with a prefix describe.

    Names of columns that the documents do not have are listed in ``unknown``; a value out of its limits is an error.
    """
    if len(asked) > MOST_PAIRS:
        raise ModelError(f"the address has {len(asked)} parameters; at most {MOST_PAIRS} are read")
    given: dict[str, list[str]] = {}
    for name, value in asked:
        if not prefix and name.startswith(PREFIXES):
            continue
        if name.startswith(prefix) and value.strip():
            given.setdefault(name.removeprefix(prefix), []).append(value)
    query = _last(given, "q")
    if len(query) > LONGEST_QUERY:
        raise ModelError(f"q: at most {LONGEST_QUERY} characters can be searched for, not {len(query):,}")
    year = _whole(given, "year", -_LARGEST_YEAR, _LARGEST_YEAR)
    first, last = (_whole(given, name, -_LARGEST_YEAR, _LARGEST_YEAR) for name in ("from", "to"))
    topics, authors = _numbers(given, "topic", 65_535), _authors(context, given)
    values, unknown = _values(context, given)
    found = Selection(
        query=query,
        topics=topics,
        authors=authors,
        first=first if year is None else year,
        last=last if year is None else year,
        values=values,
        least=_share(given),
        unknown=unknown,
    )
    _check(context, found)
    return found


def _check(context: PageContext, selection: Selection) -> None:
    for topic in selection.topics:
        context.check_topic(topic)
    n_authors = context.collection["n_authors"]
    for author in selection.authors:
        if author >= n_authors:
            there = f"authors are numbered 0 to {n_authors - 1}" if n_authors else "the collection has none"
            raise NotFoundError(f"there is no author {author}; {there}")


def _last(given: Mapping[str, list[str]], name: str) -> str:
    return given.get(name, [""])[-1]


def _whole(given: Mapping[str, list[str]], name: str, low: int, high: int) -> int | None:
    text = _last(given, name)
    return None if not text else _number(name, text, low, high)


def _number(name: str, text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ModelError(f"{name}: {short(text, 40)!r} is no whole number") from None
    if not low <= number <= high:
        raise ModelError(f"{name}: {short(text, 40)} is not between {low:,} and {high:,}")
    return number


def _numbers(given: Mapping[str, list[str]], name: str, high: int) -> tuple[int, ...]:
    texts = given.get(name, [])
    if len(texts) > MOST_CHOSEN:
        raise ModelError(f"{name}: {len(texts)} are asked for; at most {MOST_CHOSEN} can be")
    return tuple(dict.fromkeys(_number(name, text, 0, high) for text in texts))


def _authors(context: PageContext, given: Mapping[str, list[str]]) -> tuple[int, ...]:
    """Authors by number or, if it is none, by name."""
    texts = given.get("author", [])
    numbers = [text if text.strip().isdecimal() else str(find_author(context, text)) for text in texts[:MOST_CHOSEN]]
    return _numbers({"author": numbers + texts[MOST_CHOSEN:]}, "author", LARGEST_NUMBER)


def find_author(context: PageContext, name: str) -> int:
    """Number of the author of a name, with or without accents and capitals; of several, the one with most documents."""
    known = context.snapshot.authors
    found = known.find(short(name, LONGEST_QUERY)) if fold(name) else []
    same = [a for a in found if known.folded(a) == fold(name)]
    if not same:
        rows = context.rows("authors", ids=json.dumps(found[:3]))
        near = f"; there are {listed([repr(short(str(row[1]), 60)) for row in rows])}" if rows else ""
        raise NotFoundError(f"there is no author {short(one_line(name), 60)!r}{near}")
    return same[0]


def _share(given: Mapping[str, list[str]]) -> float:
    text = _last(given, "least")
    if not text:
        return LEAST
    try:
        share = float(text)
    except ValueError:
        raise ModelError(f"least: {short(text, 40)!r} is no number") from None
    if not SMALLEST_SHARE <= share <= 1:
        raise ModelError(f"least: {short(text, 40)} is not between {SMALLEST_SHARE} and 1")
    return share


def _values(
    context: PageContext, given: Mapping[str, list[str]]
) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], tuple[str, ...]]:
    """Columns and values asked for, in the order of the address, and parameters that name no column."""
    found: dict[str, list[str]] = {}
    unknown = []
    for name, values in given.items():
        column = name.removeprefix(COLUMN) if name.startswith(COLUMN) else name
        if not name.startswith(COLUMN) and is_reserved(name):
            continue
        if column not in context.snapshot.columns:
            unknown.append(short(one_line(name), 60))
            continue
        if len(values) > MOST_CHOSEN or max(map(len, values)) > LONGEST_VALUE:
            raise ModelError(f"{short(name, 40)}: at most {MOST_CHOSEN} values of {LONGEST_VALUE:,} characters")
        found[column] = list(dict.fromkeys(found.get(column, []) + values))
    return tuple((name, tuple(values)) for name, values in found.items()), tuple(unknown)


def topic_cells(context: PageContext) -> TopicCells:
    """Shares of topics in documents, kept with the model."""
    return context.cache.keep("topic cells", lambda: TopicCells(context.view.chains_[0]))


def documents_of_topics(context: PageContext) -> NDArray[np.int64]:
    """Number of documents of each topic."""

    def count() -> NDArray[np.int64]:
        return topic_cells(context).counts(np.ones(context.collection["n_documents"], bool), LEAST)

    return context.cache.keep("documents of topics", count)


class Chosen(NamedTuple):
    """Documents that pass a selection: all filters, all but the years, and all but each column."""

    passed: Mask
    but_years: Mask
    but_column: Mapping[str, Mask]


def choose(context: PageContext, selection: Selection) -> Chosen:
    """The documents that pass a selection; the latest answers are kept."""
    return context.cache.keep("selections", Answers).get(selection, lambda: _choose(context, selection))


def _choose(context: PageContext, selection: Selection) -> Chosen:
    columns = context.snapshot.columns
    common = np.ones(columns.n_documents, bool)
    if selection.query:
        common &= _matching(context, selection.query)
    for topic in selection.topics:
        common &= topic_cells(context).of(topic) >= selection.least
    for author in selection.authors:
        common &= columns.of_author(author)
    own = {name: columns[name].having(values, columns.n_documents) for name, values in selection.values}
    years = columns.within(selection.first, selection.last)

    def all_but(left_out: str | None, *more: Mask) -> Mask:
        found = common.copy()
        for mask in (*(mask for name, mask in own.items() if name != left_out), *more):
            found &= mask
        return found

    return Chosen(all_but(None, years), all_but(None), {name: all_but(name, years) for name in own})


def _matching(context: PageContext, query: str) -> Mask:
    """Whether each document has all words of a query."""
    found = np.zeros(context.snapshot.columns.n_documents, bool)
    match = match_for(query)
    if match is not None:
        found[[row[0] for row in context.rows("matching", match=match)]] = True
    return found


def ranked_by_words(context: PageContext, query: str, n_matching: int) -> NDArray[np.int64] | None:
    """Documents that have all words of a query, the best first; None if they are too many to be ranked."""
    match = match_for(query)
    if match is None or n_matching > MOST_RANKED:
        return None

    def rank() -> NDArray[np.int64]:
        return np.array([row[0] for row in context.rows("matching_ranked", match=match)], np.int64)

    return context.cache.keep("rankings", Answers).get(query, rank)


def words_of(context: PageContext, selection: Selection, names: Mapping[int, str] | None = None) -> str:
    """A selection in a few words, for headings; ``names`` are those of authors."""
    parts: list[str] = [] if not selection.query else [f"“{short(one_line(selection.query), 60)}”"]
    parts += [short(_topic_name(context, topic), 60) for topic in selection.topics]
    parts += [short((names or {}).get(author, f"author {author}"), 60) for author in selection.authors]
    parts += [" or ".join(short(one_line(value), 60) for value in values) for _, values in selection.values]
    parts += [span] if (span := years_of(selection)) else []
    return ", ".join(parts) if parts else "all documents"


def _topic_name(context: PageContext, topic: int) -> str:
    badge = context.badge(topic)
    return badge["label"] or badge["auto_label"]


def years_of(selection: Selection) -> str:
    """The years of a selection in words; empty without any.

    Examples
    --------
    >>> from topoi.web.pages.selection import Selection, years_of
    >>> years_of(Selection(first=1990, last=1999)), years_of(Selection(first=1990)), years_of(Selection(last=1990))
    ('1990–1999', 'since 1990', 'until 1990')
    """
    first, last = selection.first, selection.last
    if first is None:
        return "" if last is None else f"until {last}"
    return f"since {first}" if last is None else str(first) if first == last else f"{first}–{last}"


def described(prefix: str = "", what: str = "documents") -> list[dict[str, Any]]:
    """The parameters of a selection as OpenAPI describes them."""

    def one(name: str, schema: dict[str, Any], words: str) -> dict[str, Any]:
        return {"name": prefix + name, "in": "query", "required": False, "description": words, "schema": schema}

    year = {"type": "integer", "minimum": -_LARGEST_YEAR, "maximum": _LARGEST_YEAR}
    share = {"type": "number", "minimum": SMALLEST_SHARE, "maximum": 1, "default": LEAST}

    number = {"type": "integer", "minimum": 0, "maximum": 65_535}
    topics = {"type": "array", "items": number, "maxItems": MOST_CHOSEN}
    text = {"type": "string", "maxLength": LONGEST_VALUE}
    people = {"type": "array", "items": text, "maxItems": MOST_CHOSEN}
    columns = {"type": "object", "additionalProperties": text, "maxProperties": MOST_CHOSEN}
    return [
        one("q", {"type": "string", "maxLength": LONGEST_QUERY}, f"Words that all are in the {what}."),
        one("topic", topics, f"Topics of the {what}; all must hold."),
        one("author", people, f"Authors of the {what}, by number or by name; all must hold."),
        one("from", year, "The first year."),
        one("to", year, "The last year."),
        one("year", year, f"Only {what} of this year."),
        one("least", share, "The smallest share of a topic."),
        {
            **one("columns", columns, "Any column of the metadata by name; in.NAME where another parameter has it."),
            "style": "form",
            "explode": True,
        },
    ]


def ids_in_order(chosen: Mask, keys: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Numbers of the chosen documents, sorted by keys (the first one first), ties by number."""
    rows = np.flatnonzero(chosen)
    order = np.lexsort([rows, *(key[rows] for key in reversed(list(keys)))])
    return rows[order]
