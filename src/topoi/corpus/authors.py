"""Authors: names from lists, strings and metadata columns, and their ids in CSR form."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from topoi.corpus.characters import without_surrogates
from topoi.corpus.sources import column_values
from topoi.corpus.vocabulary import close_matches, object_array
from topoi.errors import CorpusError

DEFAULT_SEPARATOR = ";"
AuthorLists = list[list[str]]


class AuthorTable(NamedTuple):
    """The authors of all documents: distinct names, and CSR values and row ends.

    Examples
    --------
    >>> from topoi.corpus.authors import author_table
    >>> author_table([["Ann", "Bob"], [], ["Ann"]]).doc_author.tolist()
    [0, 1, 0]
    """

    names: np.ndarray
    doc_author: np.ndarray
    doc_author_start: np.ndarray


def author_names(value: object, separator: str | None = DEFAULT_SEPARATOR) -> list[str]:
    """Return the names in one document's author value: a list, a separated string, one name, or nothing.

    A list may hold mappings with a ``name``. Names are stripped; empty ones and repetitions are left out.

    Examples
    --------
    >>> from topoi.corpus.authors import author_names
    >>> author_names("Lovelace, A; Babbage, C"), author_names(["Ann", {"name": "Bob"}, "Ann"]), author_names(None)
    (['Lovelace, A', 'Babbage, C'], ['Ann', 'Bob'], [])
    """
    if isinstance(value, str):
        parts: Iterable[Any] = value.split(separator) if separator else (value,)
    elif isinstance(value, (list, tuple, set, frozenset, np.ndarray, pd.Series)):
        parts = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
    else:
        parts = (value,)
    names = dict.fromkeys([_name(part) for part in parts])
    names.pop("", None)
    return list(names)


def _name(part: Any) -> str:
    if isinstance(part, str):
        name = part.strip()
        return name if name.isascii() else without_surrogates(name)
    if isinstance(part, dict):
        if "name" not in part:
            raise CorpusError(f"an author given as a mapping needs a 'name'; this one has {sorted(map(str, part))}")
        return _name(part["name"])
    if isinstance(part, (list, tuple, np.ndarray)):
        raise CorpusError(f"an author is a name, not a list: {part!r}")
    if part is None or pd.isna(part):
        return ""
    if isinstance(part, (float, np.floating)) and float(part).is_integer():
        return str(int(part))
    if isinstance(part, datetime.datetime) and part.time() == datetime.time():
        return part.date().isoformat()
    return str(part).strip()


def author_lists(authors: Sequence[Any] | None, n_docs: int, separator: str | None = DEFAULT_SEPARATOR) -> AuthorLists:
    """Return each document's author names, having checked that there is one entry per document.

    Examples
    --------
    >>> from topoi.corpus.authors import author_lists
    >>> author_lists(["Ann; Bob", None], 2)
    [['Ann', 'Bob'], []]
    """
    if authors is None:
        return [[] for _ in range(n_docs)]
    if isinstance(authors, str):
        raise CorpusError("authors is one string; give one entry per document")
    authors = column_values(authors)
    if len(authors) != n_docs:
        raise CorpusError(f"{len(authors)} entries in authors for {n_docs} documents")
    return [author_names(value, separator) for value in authors]


def author_table(lists: AuthorLists, names: Sequence[str] = ()) -> AuthorTable:
    """Number the authors: the given names first, then new ones in order of appearance.

    Examples
    --------
    >>> from topoi.corpus.authors import author_table
    >>> author_table([["Bob"]], names=["Ann"]).names.tolist()
    ['Ann', 'Bob']
    """
    ids = {name: a for a, name in enumerate(names)}
    doc_author = [ids.setdefault(name, len(ids)) for row in lists for name in row]
    start = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=start[1:])
    return AuthorTable(object_array(list(ids)), np.array(doc_author, np.int32), start)


def known_author_table(lists: AuthorLists, names: Sequence[str], new_authors: str) -> AuthorTable:
    """Number authors by an existing list; unknown names are an error, are added, or are dropped.

    Examples
    --------
    >>> from topoi.corpus.authors import known_author_table
    >>> known_author_table([["Ann", "Zoe"]], ["Ann"], "drop").doc_author.tolist()
    [0]
    """
    if new_authors not in ("error", "add", "drop"):
        raise CorpusError(f'new_authors is {new_authors!r}; it can be "error", "add" or "drop"')
    known = set(names)
    if new_authors == "error":
        unknown = list(dict.fromkeys(name for row in lists for name in row if name not in known))
        if unknown:
            shown = ", ".join(f"{name!r}{close_matches(name, known)}" for name in unknown[:3])
            more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
            raise CorpusError(f'unknown authors: {shown}{more}. new_authors="add" or "drop" accepts them')
    if new_authors == "drop":
        lists = [[name for name in row if name in known] for row in lists]
    return author_table(lists, names)


def prefixed_authors(columns: dict[str, AuthorLists]) -> AuthorLists:
    """Merge several columns of names; names of all but the main column carry the column's name.

    The main column is ``authors`` if it is there, else the first.

    Examples
    --------
    >>> from topoi.corpus.authors import prefixed_authors
    >>> prefixed_authors({"authors": [["Ann"]], "venue": [["ACL"]]})
    [['Ann', 'venue: ACL']]
    """
    main = "authors" if "authors" in columns else next(iter(columns))
    rows = zip(*columns.values(), strict=True)
    return [
        [
            name if column == main else f"{column}: {name}"
            for column, names in zip(columns, row, strict=True)
            for name in names
        ]
        for row in rows
    ]
