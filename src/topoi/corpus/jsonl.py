"""Readers for JSON: one object per line, or an array of objects."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from topoi.corpus.lines import Damaged, LineReader
from topoi.corpus.records import RecordTable
from topoi.errors import CorpusError

_SPACE = re.compile(r"[ \t\r\n]*")
_CHARACTERS = 1 << 16
# A parse error this near to the end of the buffer may only mean that the rest has not been read yet.
_NEAR_END = 16
_ARRAY = '; an array of objects is read with format="json", other files have one object a line'
_SPREAD = "; write one object a line, or an array of objects"


def read_jsonl(reader: LineReader, table: RecordTable) -> None:
    """Read all records of a JSON Lines file into the table. Empty lines are skipped.

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
            hint = _ARRAY if line.lstrip()[:1] == "[" else _SPREAD if line.strip() == "{" else ""
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


def read_json(reader: LineReader, table: RecordTable) -> None:
    r"""Read an array of objects incrementally, or JSON Lines if the file does not begin with an array.

    A broken array cannot be read beyond the break; if faults are skipped, the records before it are kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.jsonl import read_json
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.json")
    >>> _ = path.write_text('[\n {"text": "On dust"},\n {"text": "On sand"}\n]')
    >>> table = RecordTable(FieldMap(), path)
    >>> read_json(LineReader(path, table.problem), table)
    >>> table.texts
    ['On dust', 'On sand']
    """
    if _first_byte(reader) != b"[":
        read_jsonl(reader, table)
        return
    array = _Array(reader)
    elements = array.elements()
    while True:
        try:
            found = next(elements, None)
        except Damaged as damage:
            table.problem(CorpusError(damage.message, reader.path, array.line))
            return
        except CorpusError as error:
            table.problem(error)
            return
        if found is None:
            return
        line, record = found
        if isinstance(record, dict):
            table.add(record, line)
        else:
            message = f'expected JSON objects such as {{"text": "…"}} in the array, found {type(record).__name__}'
            table.problem(CorpusError(message, reader.path, line))


def _first_byte(reader: LineReader) -> bytes:
    """First byte that is not white space, or nothing; damage is ignored here and reported by the later read."""
    try:
        for chunk in reader.chunks():
            rest = chunk.removeprefix(codecs.BOM_UTF8).lstrip()
            if rest:
                return rest[:1]
    except Damaged:
        pass
    return b""


class _Array:
    """Incremental parser of a JSON array; holds one element and the rest of its chunk in memory."""

    def __init__(self, reader: LineReader) -> None:
        self._reader = reader
        self._pieces = self._decoded()
        self._text, self._at, self._ended = "", 0, False
        self.line = 1

    def _decoded(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self._reader.encoding)()
        try:
            for chunk in self._reader.chunks():
                yield decoder.decode(chunk)
            yield decoder.decode(b"", True)
        except UnicodeDecodeError as error:
            line = self.line + self._text.count("\n", self._at) + error.object[: error.start].count(b"\n")
            message = f'not {self._reader.encoding}: {error.reason}; name another with encoding="…"'
            raise CorpusError(message, self._reader.path, line) from None

    def _read(self, wanted: int) -> None:
        """Fill the buffer to at least ``wanted`` characters, if the file has as many."""
        pieces, n = [self._text[self._at :]], len(self._text) - self._at
        while n < wanted and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            pieces.append(piece or "")
            n += len(pieces[-1])
        self._text, self._at = "".join(pieces), 0

    def _move(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _next(self) -> str:
        """Next character that is not white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._move(self._at if space is None else space.end())
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read(_CHARACTERS)

    def _take(self, expected: str) -> str:
        """Consume the next character, which must be one of those expected."""
        found = self._next()
        if not found or found not in expected:
            wanted = " or ".join(map(repr, expected))
            what = "the file ends too early" if not found else f"{found!r} stands"
            raise CorpusError(f"broken JSON: {what} where {wanted} is expected", self._reader.path, self.line)
        self._at += 1
        return found

    def elements(self) -> Iterator[tuple[int, Any]]:
        """Yield each element with the number of the line on which it begins."""
        if self._next() == "\ufeff":
            self._at += 1
        self._take("[")
        more = self._next() != "]"
        if not more:
            self._take("]")
        while more:
            self._next()
            yield self.line, self._element()
            more = self._take(",]") == ","
        if self._next():
            raise CorpusError("there is something after the end of the array", self._reader.path, self.line)

    def _element(self) -> Any:
        decode = json.JSONDecoder().raw_decode
        while True:
            size = len(self._text) - self._at
            try:
                value, end = decode(self._text, self._at)
                # A number at the end of the buffer may continue in the part not yet read.
                if end < len(self._text) or self._ended:
                    self._move(end)
                    return value
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated") or error.pos + _NEAR_END >= len(self._text)
                if self._ended or not unfinished:
                    line = self.line + self._text.count("\n", self._at, error.pos)
                    raise CorpusError(f"broken JSON: {error.msg}", self._reader.path, line) from None
            except (ValueError, RecursionError) as error:
                # RecursionError: thousands of nested brackets; ValueError: numbers of more than 4,300 digits.
                raise CorpusError(f"broken JSON: {str(error)[:200]}", self._reader.path, self.line) from None
            if size > self._reader.max_line_bytes:
                most = f"{self._reader.max_line_bytes:,} bytes"
                message = f"a record is longer than {most}; allow more with max_line_bytes"
                raise CorpusError(message, self._reader.path, self.line)
            self._read(2 * size + _CHARACTERS)  # double each time, so that a long record is parsed few times
