"""The frame of metadata: parsing of dates, and columns whose values can be serialised."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import pandas as pd

from topoi.corpus.characters import without_surrogates
from topoi.corpus.sources import column_values, metadata_columns
from topoi.errors import CorpusError

# Untrusted files may nest lists a thousand deep; useful metadata do not.
_MOST_NESTED = 20
# Columns that ``Corpus.to_frame`` and ``Corpus.with_authors`` add to the metadata.
_RESERVED = ("authors", "text")
_YEAR = re.compile(r"[+-]?\d{1,4}$")
_MONTH = re.compile(r"(\d{4})-(\d{1,2})$")


def parse_date(value: object) -> datetime.datetime | None:
    """Return a date given as a year, an ISO string or a date object; None if there is none.

    A bare year is its first of January, a time zone is converted to UTC. Anything else is a ``CorpusError``.

    Examples
    --------
    >>> from topoi.corpus.metadata import parse_date
    >>> parse_date(1999).isoformat(), parse_date("2004-07-08").year, parse_date(None)
    ('1999-01-01T00:00:00', 2004, None)
    """
    if type(value) is datetime.datetime and value.tzinfo is None:
        return value
    if value is None or value is pd.NaT or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return None
    try:
        found = _parsed(value)
        if found is not None and found.tzinfo is not None:
            found = found.astimezone(datetime.UTC).replace(tzinfo=None)
        return found
    except (ValueError, OverflowError, TypeError):
        message = f"the date {_short(value)} is neither a year nor an ISO date such as 2004-07-08"
        raise CorpusError(message) from None


def _parsed(value: object) -> datetime.datetime | None:
    if isinstance(value, (bool, np.bool_)):
        raise ValueError
    if isinstance(value, (int, float, np.number)):
        if value != int(value):
            raise ValueError
        return datetime.datetime(int(value), 1, 1)
    if isinstance(value, datetime.datetime):
        return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value.astype("datetime64[us]").item()
    if isinstance(value, pd.Period):
        return value.start_time.to_pydatetime()
    text = value.strip() if isinstance(value, str) else None
    if text is None:
        raise TypeError
    if not text:
        return None
    if _YEAR.match(text):
        return datetime.datetime(int(text), 1, 1)
    if month := _MONTH.match(text):
        return datetime.datetime(int(month[1]), int(month[2]), 1)
    return datetime.datetime.fromisoformat(text)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def date_columns(dates: Sequence[datetime.datetime | None]) -> dict[str, pd.Series]:
    """Return the ``date`` and ``year`` columns; ``year`` is Int64 if some are missing.

    Examples
    --------
    >>> import datetime
    >>> from topoi.corpus.metadata import date_columns
    >>> date_columns([datetime.datetime(1999, 1, 1)])["year"].tolist()
    [1999]
    """
    date = pd.Series(np.array(dates, "datetime64[us]"))
    year = column([None if value is None else value.year for value in dates])
    return {"date": date, "year": year if len(dates) else year.astype("int64")}


def column(values: Sequence[Any] | pd.Series | np.ndarray) -> pd.Series:
    """Convert values to a column that keeps integers as integers, and that a bundle can hold.

    The dtype is one of int64, Int64, float64, bool, boolean, datetime64[us], str, or object for lists and mixtures.

    Examples
    --------
    >>> from topoi.corpus.metadata import column
    >>> str(column([1, None]).dtype), str(column([1.5, None]).dtype), column([["a"], None]).tolist()
    ('Int64', 'float64', [['a'], None])
    """
    if isinstance(values, pd.Series):
        values = values.tolist() if values.dtype != "datetime64[us]" else values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return pd.Series(values.astype("datetime64[us]"))
    kinds = set(map(type, values))
    plain = list(values) if kinds <= {int, bool, type(None)} else [plain_value(value) for value in values]
    kinds = set(map(type, plain))
    missing = type(None) in kinds
    kinds.discard(type(None))
    if kinds == {int}:
        try:
            return pd.Series(plain, dtype="Int64" if missing else "int64")
        except OverflowError:
            # Integers beyond 64 bits become floats.
            return _floats(plain)
    if kinds and kinds <= {int, float}:
        return _floats(plain)
    if kinds == {bool}:
        return pd.Series(plain, dtype="boolean" if missing else "bool")
    if kinds == {datetime.datetime}:
        return pd.Series(np.array(plain, "datetime64[us]"))
    if kinds == {str}:
        return pd.Series(plain, dtype="str")
    return pd.Series([json_value(value) for value in plain], dtype=object)


def _floats(values: Sequence[float | None]) -> pd.Series:
    return pd.Series(np.array([np.nan if value is None else _float(value) for value in values], np.float64))


def _float(value: float) -> float:
    """Convert to the nearest float; an integer beyond the largest is infinite, as 1e400 is."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def plain_value(value: object, depth: int = 0) -> Any:
    """Convert a value to one that JSON can hold, or to a datetime.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.corpus.metadata import plain_value
    >>> plain_value(np.int64(3)), plain_value(float("nan")), plain_value(("a", {1}))
    (3, None, ['a', [1]])
    """
    if isinstance(value, str):
        return str(value) if value.isascii() else without_surrogates(str(value))
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return None if np.isnan(value) else float(value)
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray, Mapping)):
        if depth == _MOST_NESTED:
            return "…"
        if isinstance(value, Mapping):
            return {without_surrogates(str(key)): json_value(item, depth + 1) for key, item in value.items()}
        items = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
        return [json_value(item, depth + 1) for item in items]
    if isinstance(value, np.generic):
        return plain_value(value.item())
    if value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, datetime.date):
        return parse_date(value)
    return without_surrogates(str(value))


def json_value(value: object, depth: int = 0) -> Any:
    """Convert a value to one that JSON can hold: dates as ISO strings, values nested too deeply as an ellipsis.

    Examples
    --------
    >>> import datetime
    >>> from topoi.corpus.metadata import json_value
    >>> json_value([datetime.date(2004, 7, 8), {"a": (1, float("nan"))}])
    ['2004-07-08T00:00:00', {'a': [1, None]}]
    """
    plain = plain_value(value, depth)
    return plain.isoformat() if isinstance(plain, datetime.datetime) else plain


def document_frame(
    n_docs: int,
    ids: Sequence[Any] | None = None,
    titles: Sequence[Any] | None = None,
    dates: Sequence[Any] | None = None,
    metadata: Mapping[str, Any] | pd.DataFrame | Sequence[Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """Build the frame of documents: id, title, date and year, then all other columns under their own names.

    Examples
    --------
    >>> from topoi.corpus.metadata import document_frame
    >>> list(document_frame(1, titles=["On dust"], dates=[1999], metadata={"venue": ["ACL"]}).columns)
    ['id', 'title', 'date', 'year', 'venue']
    """
    extra = _metadata_columns(metadata)
    ids, titles, dates = column_values(ids), column_values(titles), column_values(dates)
    given = {"ids": ids, "titles": titles, "dates": dates, **extra}
    for name, values in given.items():
        if values is not None and len(values) != n_docs:
            raise CorpusError(f"{len(values)} entries in {name} for {n_docs} documents")
    columns: dict[str, pd.Series] = {"id": pd.Series(document_ids(ids, n_docs), dtype="str")}
    if titles is not None:
        columns["title"] = column([title_text(title) for title in titles])
    if dates is not None:
        columns.update(date_columns([parse_date(value) for value in dates]))
    for name, values in extra.items():
        columns[_free_name(name, {*columns, *_RESERVED})] = column(values)
    return pd.DataFrame(columns, index=pd.RangeIndex(n_docs))


def _free_name(name: str, taken: Set[str]) -> str:
    """Return the column's own name, or another if a requested column already has it."""
    name = without_surrogates(name)
    while name in taken:
        name += "_original"
    return name


def document_ids(ids: Sequence[Any] | None, n_docs: int) -> list[str]:
    """Return the documents' ids as distinct strings; without ids, their numbers from 0.

    Examples
    --------
    >>> from topoi.corpus.metadata import document_ids
    >>> document_ids(None, 2), document_ids([7], 1)
    (['0', '1'], ['7'])
    """
    if ids is None:
        return [str(d) for d in range(n_docs)]
    names = [without_surrogates(str(value)) for value in ids]
    if len(set(names)) != len(names):
        seen: set[str] = set()
        for d, name in enumerate(names):
            if name in seen:
                raise CorpusError(f"the id {name!r} of document {d} is not the first of its kind; ids must differ")
            seen.add(name)
    return names


def title_text(title: Any) -> str | None:
    """Return a title as text, or None if there is none.

    Examples
    --------
    >>> from topoi.corpus.metadata import title_text
    >>> title_text(1984), title_text(float("nan"))
    ('1984', None)
    """
    return None if _missing(title) else str(title)


def _missing(value: Any) -> bool:
    return value is None or (not isinstance(value, (str, list, tuple, np.ndarray, dict)) and bool(pd.isna(value)))


def _metadata_columns(metadata: Any) -> dict[str, Any]:
    if metadata is None:
        return {}
    metadata = metadata_columns(metadata)
    if isinstance(metadata, (Mapping, pd.DataFrame)):
        return {str(name): metadata[name] for name in metadata}
    rows = list(metadata)
    if not all(isinstance(row, Mapping) for row in rows):
        raise CorpusError("metadata is a frame, a mapping of columns, or a list of mappings, one per document")
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
