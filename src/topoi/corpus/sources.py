"""Conversion of tables and columns of other libraries (polars, pyarrow, Hugging Face datasets, mappings) to rows.

pandas needs no conversion. polars, pyarrow and all others that narwhals supports go through it, imported lazily.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from topoi.errors import CorpusError

_KNOWN = (str, bytes, list, tuple, set, frozenset, Mapping, np.ndarray, pd.Series, pd.Index, pd.DataFrame)
_ROWS_AT_ONCE = 1024


class Rows(NamedTuple):
    """Rows of a table, each a mapping, and the names of its columns, if known."""

    columns: list[str] | None
    records: Iterator[Mapping[str, Any]]


def table_rows(source: Any) -> Rows | None:
    """Return the rows of a table with named columns; None if the source is not a table.

    Tables are frames of pandas, polars and others, pyarrow's tables and batches, and mappings of columns.

    Examples
    --------
    >>> from topoi.corpus.sources import table_rows
    >>> found = table_rows({"text": ["On dust", "On sand"], "year": [1999, 2001]})
    >>> found.columns, list(found.records)[1]
    (['text', 'year'], {'text': 'On sand', 'year': 2001})
    """
    if isinstance(source, pd.DataFrame):
        names = _distinct(source.columns)
        return _by_columns({name: pandas_values(source[key]) for name, key in zip(names, source.columns, strict=True)})
    if isinstance(source, Mapping):
        return _by_columns(_mapping_columns(source))
    batches = _batches(source)
    if batches is not None:
        return Rows(_distinct(source.schema.names), _batch_rows(batches))
    frame = _through_narwhals(source, "frame")
    if frame is None:
        return None
    names = _distinct(frame.collect_schema().names())
    whole = frame.collect() if hasattr(frame, "collect") else frame
    return Rows(names, whole.iter_rows(named=True, buffer_size=_ROWS_AT_ONCE))


def is_table(value: object) -> bool:
    """Whether this is a table, not a column: iterating over a table may give the names of its columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from topoi.corpus.sources import is_table
    >>> is_table(pd.DataFrame({"text": ["On dust"]})), is_table(pd.Series(["On dust"]))
    (True, False)
    """
    # Ask the class: a lazy frame would have to be computed to know its columns.
    if isinstance(value, Mapping):
        return not hasattr(value, "shape")  # scipy's DOK matrix is a mapping
    return any(hasattr(type(value), name) for name in ("columns", "column_names"))


def records_of(source: object) -> Rows:
    """Return the rows of a table, a Hugging Face dataset, or any iterable of mappings or texts.

    Nothing is read before the rows are iterated over, so a generator is read once.

    Examples
    --------
    >>> from topoi.corpus.sources import records_of
    >>> list(records_of({"text": text} for text in ("On dust", "On sand")).records)[0]
    {'text': 'On dust'}
    """
    _refuse_splits(source)
    table = table_rows(source)
    if table is not None:
        return table
    values = column_values(source)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        needed = "a table, or an iterable of mappings such as {'text': '…'}"
        raise CorpusError(f"the documents are of type {type(source).__name__}; give {needed}")
    columns = getattr(source, "column_names", None)  # of a Hugging Face dataset
    names = [str(name) for name in columns] if isinstance(columns, list) else None
    return Rows(names, map(_record, range(1, 1 << 62), values))


def _record(number: int, value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value if all(map(_is_text, value)) else {str(name): each for name, each in value.items()}
    if isinstance(value, str):
        return {"text": value}
    needed = "a mapping such as {'text': '…'}"
    raise CorpusError(f"record {number} is of type {type(value).__name__}, not {needed}")


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def column_values(values: object) -> Any:
    """Return a column of another library as a list of Python values; anything else unchanged.

    Examples
    --------
    >>> import pyarrow
    >>> from topoi.corpus.sources import column_values
    >>> column_values(pyarrow.chunked_array([["On dust"], ["On sand"]])), column_values(["a"])
    (['On dust', 'On sand'], ['a'])
    """
    if values is None or isinstance(values, _KNOWN):
        return values
    if _is_arrow(values) and hasattr(values, "to_pylist") and not hasattr(values, "schema"):
        return values.to_pylist()
    series = _through_narwhals(values, "series")
    return values if series is None else series.to_list()


def metadata_columns(metadata: object) -> Any:
    """Return a table of another library as a mapping of columns; anything else unchanged.

    Examples
    --------
    >>> import pyarrow
    >>> from topoi.corpus.sources import metadata_columns
    >>> metadata_columns(pyarrow.table({"venue": ["ACL"]}))
    {'venue': ['ACL']}
    """
    if metadata is None or isinstance(metadata, pd.DataFrame | list | tuple):
        return metadata
    if isinstance(metadata, Mapping):
        return {name: column_values(values) for name, values in metadata.items()}
    table = table_rows(metadata)
    if table is None or table.columns is None:
        return metadata
    columns: dict[str, list[Any]] = {name: [] for name in table.columns}
    for record in table.records:
        for name, value in record.items():
            columns[name].append(value)
    return columns


def pandas_values(column: pd.Series) -> list[Any]:
    """Return the values of a pandas column, missing ones as None.

    Examples
    --------
    >>> import pandas as pd
    >>> from topoi.corpus.sources import pandas_values
    >>> pandas_values(pd.Series([1.5, float("nan")]))
    [1.5, None]
    """
    return column.astype(object).where(column.notna(), None).tolist()


def _by_columns(columns: dict[str, list[Any]]) -> Rows:
    names = list(columns)
    return Rows(names, (dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)))


def _mapping_columns(source: Mapping[Any, Any]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for name, given in source.items():
        values = column_values(given)
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            hint = "give a list with one value per document, or a list of mappings, one per document"
            raise CorpusError(f"the column {str(name)!r} is of type {type(given).__name__}; {hint}")
        columns[str(name)] = pandas_values(values) if isinstance(values, pd.Series) else list(values)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{n} values of {name!r}" for name, n in list(lengths.items())[:5])
        raise CorpusError(f"the columns differ in length: {each}")
    return columns


def _batches(source: object) -> Iterable[Any] | None:
    """Batches of pyarrow's tables, datasets and readers; None for anything else."""
    if not _is_arrow(source):
        return None
    if hasattr(source, "to_batches"):
        return cast(Iterable[Any], source.to_batches())
    if hasattr(source, "read_next_batch"):
        return cast(Iterable[Any], source)
    return [source] if hasattr(source, "schema") else None


def _is_arrow(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "pyarrow"


def _batch_rows(batches: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield from batch.slice(start, _ROWS_AT_ONCE).to_pylist()


def _refuse_splits(source: object) -> None:
    """Refuse a Hugging Face DatasetDict, which is several tables: the user must choose one."""
    names = getattr(source, "column_names", None)
    if isinstance(names, Mapping):
        splits = ", ".join(map(repr, list(names)[:10]))
        raise CorpusError(f"these are several datasets ({splits}); pass one of them, as in data[{next(iter(names))!r}]")


def _distinct(names: Iterable[Any]) -> list[str]:
    listed = [str(name) for name in names]
    if len(set(listed)) != len(listed):
        twice = next(name for name in listed if listed.count(name) > 1)
        raise CorpusError(f"the column {twice!r} is there twice")
    return listed


def _through_narwhals(value: object, kind: str) -> Any:
    """Wrap a frame or a column with narwhals; None if it does not support the type."""
    if isinstance(value, _KNOWN) or isinstance(value, Iterator):
        return None
    import narwhals

    frame = kind == "frame"
    found = narwhals.from_native(value, pass_through=True, allow_series=not frame, series_only=not frame)
    wrapped = found is not value or isinstance(value, narwhals.DataFrame | narwhals.LazyFrame | narwhals.Series)
    return found if wrapped else None
