"""Collection of records with named fields into the columns of a corpus, with the line of each for messages."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from topoi.corpus.authors import DEFAULT_SEPARATOR, AuthorLists, author_names
from topoi.corpus.characters import without_surrogates
from topoi.corpus.metadata import document_frame, parse_date
from topoi.corpus.report import CorpusReport
from topoi.corpus.sources import Rows
from topoi.errors import CorpusError

_MOST_FIELDS = 1000


@dataclass(frozen=True)
class FieldMap:
    """Names of the fields of a record that hold the text, the authors, the date, the title and the id.

    By default ``authors`` or ``author``, ``date`` or ``year``, ``title`` and ``id`` are used if they exist. Several
    text fields are joined with an empty line between them; of several author fields, the main one is ``authors``, or
    else the first.

    Examples
    --------
    >>> from topoi.corpus.records import FieldMap
    >>> FieldMap(text=["title", "abstract"], authors="speaker").named
    ['title', 'abstract', 'speaker']
    """

    text: str | Sequence[str] = "text"
    authors: str | Sequence[str] | None = None
    date: str | None = None
    title: str | None = None
    id: str | None = None
    metadata: Sequence[str] | None = None
    author_separator: str | None = DEFAULT_SEPARATOR

    @property
    def texts(self) -> list[str]:
        """The text fields."""
        return [self.text] if isinstance(self.text, str) else list(self.text)

    @property
    def author_fields(self) -> list[str]:
        """The named author fields, the main one first."""
        if self.authors is None:
            return []
        if isinstance(self.authors, str):
            return [self.authors]
        return sorted(self.authors, key=lambda name: name != "authors")

    @property
    def named(self) -> list[str]:
        """All fields that the user named."""
        single = [name for name in (self.date, self.title, self.id) if name is not None]
        return list(dict.fromkeys([*self.texts, *self.author_fields, *single, *(self.metadata or ())]))


class RecordTable:
    """Collector of records into columns, which checks them and raises or counts their faults.

    Parameters
    ----------
    fields : FieldMap
        Names of the fields.
    path : path, optional
        The file, for messages.
    columns : list of str, optional
        All fields, if the file has a header; a named field that is missing is then an error at once.
    on_error : {"raise", "skip"}
        Whether a bad record is an error or is counted in the report.
    report : CorpusReport, optional
        The report to continue.
    on_text : callable, optional
        Called with each text that is added, in order.

    Examples
    --------
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> table = RecordTable(FieldMap(text="abstract"))
    >>> table.add({"abstract": "On dust", "year": 1999, "venue": "ACL"}, line=1)
    >>> table.texts, list(table.documents().columns)
    (['On dust'], ['id', 'date', 'year', 'venue'])
    """

    def __init__(
        self,
        fields: FieldMap,
        path: str | Path | None = None,
        columns: Sequence[str] | None = None,
        on_error: str = "raise",
        report: CorpusReport | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise CorpusError(f'on_error is {on_error!r}; it can be "raise" or "skip"')
        self.fields = fields
        self.path = path
        self.on_error = on_error
        self.report = CorpusReport() if report is None else report
        self.texts: list[str] = []
        self.n_docs = 0
        self._on_text = on_text
        self.authors: AuthorLists = []
        self._text_fields = fields.texts
        self._main_author = fields.author_fields[0] if fields.author_fields else None
        self._titles: list[Any] = []
        self._dates: list[datetime.datetime | None] = []
        self._ids: list[str] = []
        self._lines: dict[str, int] = {}
        self._metadata: dict[str, list[Any]] = {}
        self._seen: set[str] = set()
        self._taken = self._taken_fields()
        if columns is not None:
            self.set_columns(columns)

    def set_columns(self, columns: Sequence[str]) -> None:
        """Check the named fields against a table's header.

        Examples
        --------
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> RecordTable(FieldMap()).set_columns(["id", "text"])
        """
        missing = [name for name in self.fields.named if name not in columns]
        if missing:
            message = f"no column {missing[0]!r}; the columns are: {_shown(columns)}{self._hint(missing)}"
            raise CorpusError(message, self.path, None if self.path is None else 1)
        self._seen.update(columns)

    def _hint(self, missing: Sequence[str]) -> str:
        named = self.fields.text == "text" and "text" in missing
        return '. Name the one with the text: text="…" in Python, --text on the command line' if named else ""

    def _taken_fields(self) -> set[str]:
        """Return the fields that have another role, and so are not kept as metadata."""
        fields = self.fields
        taken = {*self._text_fields, fields.title or "title", fields.id or "id"}
        taken |= {"date", "year"} if fields.date is None else {fields.date}
        if fields.authors is None:
            taken |= {"authors", "author"}
        elif self._main_author == "authors":
            taken.add("authors")
        return taken

    def problem(self, error: CorpusError) -> None:
        """Raise an error, or count it in the report, as ``on_error`` says.

        Examples
        --------
        >>> from topoi.errors import CorpusError
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> table = RecordTable(FieldMap(), on_error="skip")
        >>> table.problem(CorpusError("broken"))
        >>> table.report.n_skipped
        1
        """
        if self.on_error == "raise":
            raise error from error.__cause__  # hide the context, which would only confuse
        self.report.skip(str(error))

    def add(self, record: Mapping[str, Any], line: int) -> None:
        """Add one record.

        Examples
        --------
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> table = RecordTable(FieldMap())
        >>> table.add({"text": "Dust", "authors": "Ann; Bob"}, line=1)
        >>> table.authors
        [['Ann', 'Bob']]
        """
        try:
            text = self._text(record)
            names = author_names(self._authors(record), self.fields.author_separator)
            name = self._id(record, line)
            date = self._date(record)
            self._add_metadata(record)
        except CorpusError as error:
            self.problem(error if error.line is not None else CorpusError(str(error), self.path, line))
            return
        self._lines[name] = line
        self._keep(text, names, name, date, record.get(self.fields.title or "title"))
        self.n_docs += 1
        if self._on_text is not None:
            self._on_text(text)

    def _keep(self, text: str, names: list[str], name: str, date: datetime.datetime | None, title: Any) -> None:
        """Keep one document, whose metadata ``_add_metadata`` has kept."""
        self.texts.append(text)
        self.authors.append(names)
        self._ids.append(name)
        self._dates.append(date)
        self._titles.append(title)

    def add_all(self, rows: Rows) -> None:
        """Add the rows of a table or of an iterable, numbered from 1.

        Examples
        --------
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> from topoi.corpus.sources import records_of
        >>> table = RecordTable(FieldMap())
        >>> table.add_all(records_of({"text": ["Dust", "Sand"]}))
        >>> table.texts
        ['Dust', 'Sand']
        """
        if rows.columns is not None:
            self.set_columns(rows.columns)
        for number, record in enumerate(rows.records, 1):
            self.add(record, number)

    def _text(self, record: Mapping[str, Any]) -> str:
        if len(self._text_fields) == 1:
            only = record.get(self._text_fields[0])
            if isinstance(only, str) and only.isascii():
                return only
        parts = [record[name] for name in self._text_fields if name in record]
        if not parts:
            wanted = " or ".join(map(repr, self._text_fields))
            raise CorpusError(f"no field {wanted}; the fields are: {_shown(record)}{self._hint(self._text_fields)}")
        for part in parts:
            if not isinstance(part, str) and part is not None and part == part:
                raise CorpusError(f"the text is of type {type(part).__name__}, not a string")
        text = "\n\n".join(part for part in parts if isinstance(part, str) and part)
        clean = without_surrogates(text)
        if clean is not text:
            self.report.n_replaced += 1
        return clean

    def _authors(self, record: Mapping[str, Any]) -> Any:
        if self._main_author is None:
            return record.get("authors", record.get("author"))
        if self._main_author in record:
            self._seen.add(self._main_author)
        return record.get(self._main_author)

    def _id(self, record: Mapping[str, Any], line: int) -> str:
        given = record.get(self.fields.id or "id")
        if given is None or given == "":
            name = str(self.n_docs) if self.fields.id is None else f"line {line}"
            while name in self._lines:
                name += "'"
            return name
        name = without_surrogates(str(given))
        if name in self._lines:
            raise CorpusError(f"the id {name!r} was already used in line {self._lines[name]}")
        return name

    def _date(self, record: Mapping[str, Any]) -> datetime.datetime | None:
        if self.fields.date is not None:
            value = record.get(self.fields.date)
        else:
            value = record.get("date")
            if value is None or value == "":
                value = record.get("year")
        try:
            return parse_date(value)
        except CorpusError:
            if self.on_error == "raise":
                raise
            self.report.n_bad_dates += 1
            return None

    def _add_metadata(self, record: Mapping[str, Any]) -> None:
        for name, value in self._other_fields(record):
            values = self._metadata[name]
            if len(values) < self.n_docs:
                values.extend([None] * (self.n_docs - len(values)))
            values.append(value)

    def _other_fields(self, record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the fields to keep as metadata, each of which has a column by then."""
        if not self._seen.issuperset(record):
            self._seen.update(record)
        for name, value in record.items():
            if name in self._taken:
                continue
            if name not in self._metadata:
                if self.fields.metadata is not None and name not in [*self.fields.metadata, *self.fields.author_fields]:
                    continue
                if len(self._metadata) >= _MOST_FIELDS:
                    raise CorpusError(f"more than {_MOST_FIELDS} different fields; name some with metadata=[…]")
                self._metadata[name] = []
            yield name, value

    def documents(self) -> pd.DataFrame:
        """Return the frame of metadata.

        Examples
        --------
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> RecordTable(FieldMap()).documents().columns.tolist()
        ['id']
        """
        n_docs = self.n_docs
        for values in self._metadata.values():
            values.extend([None] * (n_docs - len(values)))
            del values[n_docs:]
        titles = self._titles if any(title is not None for title in self._titles) else None
        dates = self._dates if any(date is not None for date in self._dates) else None
        return document_frame(n_docs, self._ids, titles, dates, self._metadata)

    def check_fields(self) -> None:
        """Raise an error for named fields that no record had, and for a file without documents.

        Examples
        --------
        >>> from topoi.corpus.records import FieldMap, RecordTable
        >>> table = RecordTable(FieldMap())
        >>> table.add({"text": "Dust"}, line=1)
        >>> table.check_fields()
        """
        if not self.n_docs:
            reasons = "".join(f"; {reason}" for reason in self.report.reasons)
            skipped = f" ({self.report.n_skipped} skipped{reasons})" if self.report.n_skipped else ""
            raise CorpusError(f"no documents{skipped}", self.path)
        for name in self.fields.named:
            if name not in self._seen:
                have = _shown(sorted(self._seen))
                raise CorpusError(f"no record has the field {name!r}; the fields are: {have}", self.path)


def _shown(names: Iterable[str]) -> str:
    """Format field names for a message; untrusted names may be many, long, or contain control characters."""
    listed = list(names)
    short = (name if len(name) <= 40 else name[:39] + "…" for name in listed[:20])
    clean = ", ".join("".join(c if c.isprintable() else "?" for c in name) for name in short)
    return f"{clean} and {len(listed) - 20} more" if len(listed) > 20 else clean
