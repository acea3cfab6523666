"""The reader for JSON Lines: one object a line."""

from __future__ import annotations

import json

from topoi.corpus.lines import LineReader
from topoi.corpus.records import RecordTable
from topoi.errors import CorpusError


def read_jsonl(reader: LineReader, table: RecordTable) -> None:
    """Read all records of a JSON Lines file into the table. Empty lines hold nothing and are passed over.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.jsonl import read_jsonl
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> path = pathlib.Path(tempfile.mkdtemp(), "one.jsonl")
    >>> _ = path.write_text('{"text": "On dust"}')
    >>> table = RecordTable(FieldMap(), path)
    >>> read_jsonl(LineReader(path, table.problem), table)
    >>> table.texts
    ['On dust']
    """
    for number, line in reader.lines():
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            # RecursionError: thousands of nested brackets; ValueError: also numbers of more than 4,300 digits.
            hint = "; an array of objects must be written one object a line" if line.lstrip()[:1] == "[" else ""
            where = (
                f"{error.msg} (character {error.pos + 1})" if isinstance(error, json.JSONDecodeError) else str(error)
            )
            table.problem(CorpusError(f"broken JSON: {where[:200]}{hint}", reader.path, number))
            continue
        if not isinstance(record, dict):
            message = f'expected a JSON object such as {{"text": "…"}}, found {type(record).__name__}'
            table.problem(CorpusError(message, reader.path, number))
            continue
        table.add(record, number)
