"""Readers for tables: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import tempfile
import threading
from collections.abc import Iterator
from itertools import chain

from topoi.corpus.lines import LineReader
from topoi.corpus.records import RecordTable
from topoi.errors import CorpusError

_FIELD_LIMIT_LOCK = threading.Lock()
_BATCH = 1024


def read_csv(reader: LineReader, table: RecordTable) -> None:
    r"""Read a CSV file whose first row names the columns.

    Commas separate the cells. If the first row has none, semicolons do, as in a table that Excel saved in much of
    Europe, or tabs.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> from topoi.corpus.tables import read_csv
    >>> path = pathlib.Path(tempfile.mkdtemp(), "one.csv")
    >>> _ = path.write_text("id,text\n7,On dust\n")
    >>> table = RecordTable(FieldMap(), path)
    >>> read_csv(LineReader(path, table.problem), table)
    >>> table.texts
    ['On dust']
    """
    _read_separated(reader, table, ",;\t")


def read_tsv(reader: LineReader, table: RecordTable) -> None:
    r"""Read a tab-separated file whose first row names the columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> from topoi.corpus.tables import read_tsv
    >>> path = pathlib.Path(tempfile.mkdtemp(), "one.tsv")
    >>> _ = path.write_text("id\ttext\n7\tOn dust\n")
    >>> table = RecordTable(FieldMap(), path)
    >>> read_tsv(LineReader(path, table.problem), table)
    >>> table.texts
    ['On dust']
    """
    _read_separated(reader, table, "\t")


def _read_separated(reader: LineReader, table: RecordTable, delimiters: str) -> None:
    header: list[str] | None = None
    for number, row in _rows(reader, table, delimiters):
        if not row:
            continue
        if header is None:
            header = [name.strip() for name in row]
            if len(set(header)) != len(header):
                twice = next(name for name in header if header.count(name) > 1)
                raise CorpusError(f"the column {twice!r} is there twice", reader.path, number)
            table.set_columns(header)
        elif len(row) != len(header):
            message = f"{len(row)} fields, but the header names {len(header)}"
            table.problem(CorpusError(message, reader.path, number))
        else:
            table.add(dict(zip(header, row, strict=True)), number)


def _rows(reader: LineReader, table: RecordTable, delimiters: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of the line on which it begins.

    The cells are separated by the first of the delimiters that the first line with text has.
    """
    last, numbered = 0, reader.lines()
    before: list[tuple[int, str]] = []
    for each in numbered:
        before.append(each)
        if each[1].strip():
            break
    header = before[-1][1] if before else ""
    delimiter = next((mark for mark in delimiters if mark in header), delimiters[0])

    def lines() -> Iterator[str]:
        nonlocal last
        for number, line in chain(before, numbered):
            last = number
            yield line + "\n"

    rows = csv.reader(lines(), delimiter=delimiter, strict=True)
    while True:
        first = last + 1
        try:
            yield first, _next_row(rows, reader.max_line_bytes)
        except StopIteration:
            return
        except csv.Error as error:
            hint = "; a quotation mark is not closed" if "end of data" in str(error) else ""
            table.problem(CorpusError(f"broken row: {error}{hint}", reader.path, first))


def _next_row(rows: Iterator[list[str]], limit: int) -> list[str]:
    # The csv module's limit on the length of a field (131,072 characters) is global: raise it for one row only.
    with _FIELD_LIMIT_LOCK:
        before = csv.field_size_limit(limit)
        try:
            return next(rows)
        finally:
            csv.field_size_limit(before)


def read_parquet(reader: LineReader, table: RecordTable) -> None:
    """Read a Parquet file; needs pyarrow. Errors name the row, from 1.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> from topoi.corpus.tables import read_parquet
    >>> path = pathlib.Path(tempfile.mkdtemp(), "one.parquet")
    >>> pd.DataFrame({"text": ["On dust"]}).to_parquet(path)
    >>> table = RecordTable(FieldMap(), path)
    >>> read_parquet(LineReader(path, table.problem), table)
    >>> table.texts
    ['On dust']
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise CorpusError("reading Parquet needs pyarrow: pip install pyarrow", reader.path) from None
    with tempfile.TemporaryFile() as unpacked:
        # Parquet is read from its end, so a gzipped file must be decompressed first: to disk, not to memory.
        for chunk in reader.chunks():
            unpacked.write(chunk)
        unpacked.seek(0)
        row = 0
        try:
            with pyarrow.parquet.ParquetFile(unpacked) as file:
                table.set_columns(file.schema_arrow.names)
                for batch in file.iter_batches(_BATCH):
                    for record in batch.to_pylist():
                        row += 1
                        table.add(record, row)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            table.problem(CorpusError(f"damaged Parquet data: {str(error)[:200]}", reader.path, row + 1))
