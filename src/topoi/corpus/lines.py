"""Reading of files as numbered lines: gunzipped, decoded, limited in length, with faults reported by line."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from topoi.errors import CorpusError

MAX_LINE_BYTES = 10_000_000
_CHUNK = 1 << 16
_PACKED_CHUNK = 1 << 13  # gzip can expand a thousandfold: limits one step to 8 MB
_GZIP_MAGIC = b"\x1f\x8b"
# Text seldom compresses more than tenfold; a file that expands this much and gets this large is a zip bomb.
BOMB_RATIO = 200
BOMB_BYTES = 100_000_000


class Damaged(CorpusError):
    """Error about a file that is truncated or corrupt."""

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message, path)
        self.message = message


class LineReader:
    r"""Reader of one file line by line, which reports faults through a callback that may raise.

    Parameters
    ----------
    path : path
        The file; gzip is recognised by its first bytes.
    problem : callable
        Called with a ``CorpusError`` for each line that cannot be used. If it returns, reading continues.
    encoding : str
        The text's encoding; a byte-order mark is removed.
    max_line_bytes : int
        Longer lines are faults and are never held in memory as a whole.
    opened : callable, optional
        Opens the stream of bytes, if it is not the file at that path but a member of an archive.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.lines import LineReader
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.txt")
    >>> _ = path.write_text("one\ntwo")
    >>> list(LineReader(path, problem=print).lines())
    [(1, 'one'), (2, 'two')]
    """

    def __init__(
        self,
        path: str | Path,
        problem: Callable[[CorpusError], None],
        encoding: str = "utf-8",
        max_line_bytes: int = MAX_LINE_BYTES,
        opened: Callable[[], BinaryIO] | None = None,
    ) -> None:
        self.path = Path(path)
        self._opened = opened
        self.problem = problem
        self.encoding = encoding
        self.max_line_bytes = max_line_bytes
        try:
            if "\n".encode(encoding) != b"\n":
                raise CorpusError(f"{encoding} files cannot be read line by line; convert the file to UTF-8", path)
        except LookupError:
            raise CorpusError(f"unknown encoding {encoding!r}", path) from None

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes, decompressed, in chunks.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from topoi.corpus.lines import LineReader
        >>> path = pathlib.Path(tempfile.mkdtemp(), "one.txt")
        >>> _ = path.write_text("one")
        >>> list(LineReader(path, problem=print).chunks())
        [b'one']
        """
        try:
            with self.path.open("rb") if self._opened is None else self._opened() as file:
                start = file.read(2)
                file.seek(0)
                if start == _GZIP_MAGIC:
                    yield from _unzipped(file, self.path)
                elif self.path.suffix.lower() == ".gz" and start:
                    raise CorpusError("the name ends in .gz, but the content is not gzip", self.path)
                else:
                    while chunk := file.read(_CHUNK):
                        yield chunk
        except OSError as problem:
            raise CorpusError(f"cannot be read: {problem.strerror or problem}", self.path) from None

    def byte_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines as bytes, numbered from 1, without line ends; faulty lines are reported and left out.

        Examples
        --------
        >>> import gzip, pathlib, tempfile
        >>> from topoi.corpus.lines import LineReader
        >>> path = pathlib.Path(tempfile.mkdtemp(), "one.txt.gz")
        >>> _ = path.write_bytes(gzip.compress(b"one"))
        >>> list(LineReader(path, problem=print).byte_lines())
        [(1, b'one')]
        """
        number, tail, overlong = 1, b"", False
        try:
            for chunk in self.chunks():
                pieces = chunk.split(b"\n")
                pieces[0] = tail + pieces[0]
                tail = pieces.pop()
                for piece in pieces:
                    if not overlong and self._fits(piece, number):
                        yield number, piece
                    number, overlong = number + 1, False
                if overlong or not self._fits(tail, number):
                    overlong, tail = True, b""
        except Damaged as damage:
            self.problem(CorpusError(damage.message, self.path, number))
            return
        if tail:
            yield number, tail

    def _fits(self, line: bytes, number: int) -> bool:
        if len(line) <= self.max_line_bytes:
            return True
        message = f"the line is longer than {self.max_line_bytes:,} bytes; allow more with max_line_bytes"
        self.problem(CorpusError(message, self.path, number))
        return False

    def lines(self) -> Iterator[tuple[int, str]]:
        r"""Yield the decoded lines, numbered from 1; faulty lines are reported and left out.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from topoi.corpus.lines import LineReader
        >>> path = pathlib.Path(tempfile.mkdtemp(), "bad.txt")
        >>> _ = path.write_bytes(b"caf\xe9")
        >>> list(LineReader(path, problem=print, encoding="latin-1").lines())
        [(1, 'café')]
        """
        for number, line in self.byte_lines():
            try:
                text = line.decode(self.encoding)
            except UnicodeDecodeError as error:
                message = f'not {self.encoding}: {error.reason} at byte {error.start}; name another with encoding="…"'
                self.problem(CorpusError(message, self.path, number))
                continue
            yield number, text[1:] if number == 1 and text[:1] == "\ufeff" else text

    def has_content(self) -> bool:
        """Whether the file has any bytes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from topoi.corpus.lines import LineReader
        >>> path = pathlib.Path(tempfile.mkdtemp(), "empty.txt")
        >>> path.touch()
        >>> LineReader(path, problem=print).has_content()
        False
        """
        try:
            return any(self.chunks())
        except Damaged:
            return True


def _unzipped(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Decompress gzip in small steps, member by member; raise an error at a zip bomb."""
    unpacker = zlib.decompressobj(31)
    total = 0
    begun = True
    while data := file.read(_PACKED_CHUNK):
        while data:
            try:
                unpacked = unpacker.decompress(data)
            except zlib.error as error:
                raise Damaged(f"the gzip data are damaged: {error}", path) from None
            total += len(unpacked)
            if total > BOMB_BYTES and total > BOMB_RATIO * file.tell():
                message = f"the gzip data grow more than {BOMB_RATIO}-fold; unpack the file first if you trust it"
                raise Damaged(message, path)
            if unpacked:
                yield unpacked
            if not unpacker.eof:
                break
            data = unpacker.unused_data.lstrip(b"\0")
            unpacker, begun = zlib.decompressobj(31), bool(data)
        else:
            continue
        begun = True
    if begun and not unpacker.eof:
        raise Damaged("the gzip data end too early; the file is truncated", path)
