"""Data of the reader: JSON views of documents, authors and words, and the lists, packed in files of bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topoi.analysis.authors import enough_words
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import safe_text
from topoi.web.pages import KINDS
from topoi.web.pages.context import PageContext
from topoi.web.pages.page import Kept
from topoi.web.pages.parts import documents_by_id, falling, leading_topics, name_of_author, rising, shares_by
from topoi.web.pages.text import collection_title
from topoi.web.pages.trends import N_MOVES
from topoi.web.pages.word import word_head
from topoi.web.reader.near import LEAST, likely_neighbours
from topoi.web.reader.packing import Interned, script, shortened
from topoi.web.reader.texts import LabelledTexts
from topoi.web.share import opening_lines

FORMAT = 2
# What the reader's script shows of a JSON view.
SHOWN = {
    "document": ("document", "n_hidden", "topics", "authors", "similar", "pieces"),
    "author": (
        *("author", "summary", "topics", "words", "by_year", "surprising", "typical"),
        *("documents", "similar", "coauthors"),
    ),
    "word": ("word", "topics", "documents"),
}
# Items to a file, of which a list of thirty may need thirty files.
LISTED, NAMED = 512, 2048
# Characters of JSON to a file, before compression.
_MOST_CHARACTERS = 400_000
_MILLIONTHS = 1_000_000
# Lines of Python for the lists that the reader makes, to be filled in.
_PYTHON = {
    "documents": "model.store.sql('SELECT document_id, title, year FROM document LIMIT {n} OFFSET {skip}')",
    "of_year": "model.rows('documents_of_year', year={year}, n={n}, skip={skip})",
    "found": "model.rows('search', match={match}, n={n})",
    "authors": "model.rows('authors_by_documents', n={n}, skip={skip})",
    "trends": "topoi.topic_trends(model, by={by}).query('topic in [{topics}]')",
}


class DataFile(NamedTuple):
    """A step towards the data: its table, and a finished file with the place of its first item, or no file yet."""

    table: str
    start: int = 0
    name: str = ""
    body: bytes | None = None


def n_packed(context: PageContext, kept: Kept) -> int:
    """Number of steps of ``data_files``."""
    listed = -(-int(context.collection["n_documents"]) // LISTED) + -(-int(context.collection["n_authors"]) // NAMED)
    return 2 + listed + sum(map(len, kept))


def data_files(context: PageContext, kept: Kept) -> Iterator[DataFile]:
    """The files of all tables, in steps that take a moment each."""
    documents = documents_by_id(context, range(int(context.collection["n_documents"])))
    yield _years(documents)
    yield DataFile("words", 0, "words", script("words", {"words": [str(w) for w in context.view.vocabulary_.words]}))
    yield from _listed(context, documents)
    yield from _named(context)
    tables: list[tuple[str, Sequence[int]]] = [("document", kept.documents), ("word", kept.words)]
    if KINDS["author"].needs(context):
        tables.append(("author", sorted(kept.authors)))
    badges = [context.badge(k) for k in range(context.view.n_topics)]
    summaries = [context.summary(k) for k in range(context.view.n_topics)]
    for kind, numbers in tables:
        yield from _packed(context, kind, numbers, lambda: Interned(badges, summaries, documents))


def _listed(context: PageContext, documents: Mapping[int, Mapping[str, Any]]) -> Iterator[DataFile]:
    """Documents as lists show them, with their leading topics."""
    for start in range(0, len(documents), LISTED):
        some = [documents[d] for d in range(start, min(start + LISTED, len(documents)))]
        numbers = [int(one["document_id"]) for one in some]
        interned = Interned([], [], {})
        topics = leading_topics(context, "documents", numbers)
        head = {
            "documents": interned.pack([{k: v for k, v in one.items() if k != "document_id"} for one in some]),
            "topics": [[badge["topic"] for badge in topics.get(d, ())] for d in numbers],
        }
        name = f"list-{start // LISTED}"
        yield DataFile("list", start, name, script(name, shortened({**head, "names": interned.names})))


def _years(documents: Mapping[int, Mapping[str, Any]]) -> DataFile:
    """Year of each document; 0 for none, else how much it exceeds the year before the first."""
    known = [documents[d]["year"] for d in range(len(documents))]
    before = min((year for year in known if year is not None), default=1) - 1
    years = [0 if year is None else year - before for year in known]
    return DataFile("years", 0, "years", script("years", {"before": before}, [years]))


def _named(context: PageContext) -> Iterator[DataFile]:
    """Authors with their numbers of documents and their leading topics, the busiest first."""
    if not context.collection["n_authors"]:
        return
    order = [int(a) for a in context.snapshot.authors.busiest]
    for start in range(0, len(order), NAMED):
        some = order[start : start + NAMED]
        rows = context.rows("authors", ids=json.dumps(some))
        topics = leading_topics(context, "authors", some)
        head = {
            "names": [name_of_author(name) for _, name, _ in rows],
            "topics": [[badge["topic"] for badge in topics.get(a, ())] for a in some],
        }
        name = f"people-{start // NAMED}"
        yield DataFile("people", start, name, script(name, head, [some, [int(n) for _, _, n in rows]]))


def _packed(
    context: PageContext, kind: str, numbers: Sequence[int], interned: Callable[[], Interned]
) -> Iterator[DataFile]:
    """JSON views of one kind of page."""
    near = _near(context, kind, numbers)
    build = word_head if kind == "word" else KINDS[kind].build
    site = {"has_topics": context.has_topics, "has_authors": context.has_authors}
    words = context.view.vocabulary_
    part, start, n_files = _Part(kind, interned(), site, words), 0, 0
    for at, number in enumerate(numbers, 1):
        if near is not None and kind == "author":
            context.likely_authors = dict([next(near)])
        elif near is not None:
            context.likely_neighbours = dict([next(near)])
        part.add(build(context, number))
        if part.size < _MOST_CHARACTERS and at < len(numbers):
            yield DataFile(kind)
            continue
        name = f"{kind}-{n_files}"
        yield DataFile(kind, start, name, part.file(name))
        part, start, n_files = _Part(kind, interned(), site, words), at, n_files + 1


def _near(context: PageContext, kind: str, numbers: Sequence[int]) -> Iterator[tuple[int, Any]] | None:
    """Likely neighbours of documents or authors of a large collection, in their order."""
    if not context.has_topics:
        return None
    if kind == "document" and context.collection["n_documents"] >= LEAST:
        return likely_neighbours(context.view.chains_[0].documents, numbers)
    if kind == "author" and context.has_authors and context.collection["n_authors"] >= LEAST:
        authors, known = context.view.chains_[0].written, enough_words(context.view, None)
        return likely_neighbours(authors, numbers, among=known, smoothed=True)
    return None


class _Part:
    """JSON views of one file."""

    def __init__(self, kind: str, interned: Interned, site: Mapping[str, Any], vocabulary: Vocabulary) -> None:
        self._kind, self._interned, self._site = kind, interned, site
        self._views: list[Any] = []
        self._texts = LabelledTexts(vocabulary)
        self._lines: list[str | None] = []
        self.size = 0

    def add(self, view: Mapping[str, Any]) -> None:
        fields, line = {name: view[name] for name in SHOWN[self._kind]}, KINDS[self._kind].python
        self._lines.append(None if line is None else line(view, self._site))
        if self._kind == "document":
            self._texts.add(fields.pop("pieces"))
            self.size += 4 * len(self._texts.texts[-1])
        made = shortened(self._interned.pack(fields))
        self._views.append(made)
        self.size += len(json.dumps(made))

    def file(self, name: str) -> bytes:
        head = {"views": self._views, "names": self._interned.names, "python": self._lines}
        if self._kind != "document":
            return script(name, head)
        return script(name, {**head, **self._texts.head(), "texts": self._texts.texts}, self._texts.columns())


def trends_file(context: PageContext) -> bytes:
    """Topics along time: words of each year and decade, and shares of all topics with their intervals in millionths."""
    head: dict[str, Any] = {"by": {}}
    columns: list[Any] = []
    for by in ("year", "decade"):
        found = shares_by(context, by)
        moves = {"hottest": rising(context, N_MOVES, by), "coldest": falling(context, N_MOVES, by)}
        badges = [context.badge(k) for k in range(context.view.n_topics)]
        summaries = [context.summary(k) for k in range(context.view.n_topics)]
        head["by"][by] = {"years": found.periods, **shortened(Interned(badges, summaries, {}).pack(moves))}
        columns.append(found.tokens.sum(axis=0))
        shares = (found.share, found.lower, found.upper)
        columns += [np.rint(each * _MILLIONTHS).astype(np.int64).ravel() for each in shares]
    return script("trends", head, columns)


def core_file(context: PageContext, kept: Kept, starts: Mapping[str, Sequence[int]]) -> bytes:
    """What every page of the reader needs: topics with their trends, the size of things, and where they are.

    Parameters
    ----------
    context : PageContext
        The model.
    kept : Kept
        What the export includes.
    starts : mapping
        Of each table, the places of its files' first items.
    """
    found = shares_by(context, "year") if context.has_topics else None
    head = {
        "format": FORMAT,
        "title": collection_title(safe_text(context.watcher.path.name)),
        "model": context.model,
        "collection": context.collection,
        "years": context.years,
        "has": {name: getattr(context, f"has_{name}") for name in ("authors", "topics", "texts")},
        "topics": [context.badge(k) for k in range(context.view.n_topics)],
        "retired": sorted(context.cache.retired) if context.has_topics else [],
        "listed": {"documents": LISTED, "people": NAMED},
        "starts": dict(starts),
        "kept": _kept(context, kept),
        "words": _words(context, kept),
        "opening": opening_lines(safe_text(context.watcher.path.name), context.model["name"]),
        "python": _PYTHON,
    }
    trend = np.zeros(0) if found is None else np.rint(found.share * _MILLIONTHS)
    return script("core", head, [trend.astype(np.int64).ravel()])


def _kept(context: PageContext, kept: Kept) -> dict[str, list[int] | None]:
    """Numbers of the items of each table, in order; None for all."""
    every = {"document": context.collection["n_documents"], "author": context.collection["n_authors"]}
    tables = {"document": kept.documents, "author": kept.authors, "word": kept.words}
    return {kind: None if len(some) == every.get(kind) else sorted(map(int, some)) for kind, some in tables.items()}


def _words(context: PageContext, kept: Kept) -> list[str]:
    """The words that have a page."""
    words = context.view.vocabulary_.words
    return [str(words[w])[:100] for w in kept.words]
