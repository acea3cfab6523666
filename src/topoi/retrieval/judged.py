"""Files of queries and of judgements: which documents a person found relevant to which query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from topoi.corpus.lines import LineReader
from topoi.errors import CorpusError

_LARGEST_GRADE = 1_000_000


class Question(NamedTuple):
    """A query of a test collection: its id, its words, and authors that belong to it."""

    id: str
    text: str
    authors: tuple[str, ...] = ()


def read_queries(path: str | Path) -> list[Question]:
    r"""Read queries: JSON lines with ``id``, ``text`` and perhaps ``authors``, or an id, a tab and the text; also .gz.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.retrieval.judged import read_queries
    >>> path = pathlib.Path(tempfile.mkdtemp(), "queries.tsv")
    >>> _ = path.write_text("1\twing flutter\n")
    >>> read_queries(path)
    [Question(id='1', text='wing flutter', authors=())]
    """
    found = [_query(line, Path(path), number) for number, line in _lines(path)]
    if not found:
        raise CorpusError("there are no queries", Path(path))
    if len({query.id for query in found}) < len(found):
        raise CorpusError("two queries have the same id", Path(path))
    return found


def read_judgements(path: str | Path) -> pd.DataFrame:
    r"""Read judgements: query, document and grade, separated by tabs or spaces; also TREC's four columns; also .gz.

    Returns
    -------
    DataFrame
        query, document (ids, as text), grade. A document of grade 1 or more is relevant.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.retrieval.judged import read_judgements
    >>> path = pathlib.Path(tempfile.mkdtemp(), "qrels.txt")
    >>> _ = path.write_text("1 0 d7 2\n1 0 d9 0\n")
    >>> read_judgements(path).values.tolist()
    [['1', 'd7', 2], ['1', 'd9', 0]]
    """
    rows = [_judgement(line, Path(path), number) for number, line in _lines(path)]
    frame = pd.DataFrame(rows, columns=["query", "document", "grade"])
    if not (frame["grade"] >= 1).any():
        raise CorpusError("no document is judged relevant (grade 1 or more)", Path(path))
    return frame


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    def stop(error: Exception) -> None:
        raise error

    for number, line in LineReader(Path(path), stop).lines():
        if line.strip():
            yield number, line.strip("\r\n")


def _query(line: str, path: Path, number: int) -> Question:
    if line.lstrip().startswith("{"):
        try:
            return _from_record(json.loads(line))
        except (ValueError, RecursionError, TypeError, KeyError):
            raise CorpusError('expected an object such as {"id": "1", "text": "…"}', path, number) from None
    name, tab, text = line.partition("\t")
    if not tab:
        raise CorpusError("expected an id, a tab and the query's text, or a JSON object", path, number)
    return Question(name.strip(), text.strip())


def _from_record(record: dict[str, Any]) -> Question:
    text, authors = record["text"], record.get("authors") or []
    listed = [authors] if isinstance(authors, str) else list(authors)
    if not isinstance(text, str) or not all(isinstance(name, str) for name in listed):
        raise TypeError
    return Question(str(record["id"]), text, tuple(listed))


def _judgement(line: str, path: Path, number: int) -> tuple[str, str, int]:
    parts = line.split("\t") if "\t" in line else line.split()
    try:
        query, *_, document, given = (part.strip() for part in parts)
        grade = int(given)
        if not 3 <= len(parts) <= 4 or abs(grade) > _LARGEST_GRADE:
            raise ValueError
    except ValueError:
        raise CorpusError("expected a query's id, a document's id and a whole number", path, number) from None
    return query, document, grade
