"""Readers for text files, in a folder or one document per line, and for zip archives, never unpacked to disk."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from topoi.corpus.lines import BOMB_BYTES, BOMB_RATIO, Damaged, LineReader
from topoi.corpus.records import RecordTable
from topoi.errors import CorpusError

Problem = Callable[[CorpusError], None]
_SUFFIXES = (".txt", ".text", ".md", ".txt.gz", ".text.gz", ".md.gz")


def read_folder(reader: LineReader, table: RecordTable) -> None:
    """Read all text files of a folder and its subfolders, in the order of their names.

    A document's id is its path without the suffix, its title the file's name, and the field ``folder`` the subfolder,
    so that ``authors="folder"`` works.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.archive import read_folder
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "dust.txt").write_text("On dust")
    >>> table = RecordTable(FieldMap(), folder)
    >>> read_folder(LineReader(folder, table.problem), table)
    >>> table.texts
    ['On dust']
    """
    files = sorted(path for path in reader.path.rglob("*") if path.is_file())
    texts = [path for path in files if is_text_file(path.name)]
    if not texts:
        raise CorpusError(f"no text files ({', '.join(_SUFFIXES)}) in this folder", reader.path)
    if len(texts) < len(files):
        table.report.notes.append(f"{len(files) - len(texts):,} other files in the folder were not read")
    for path in texts:

        def reader_of(problem: Problem, path: Path = path) -> LineReader:
            return LineReader(path, problem, reader.encoding, reader.max_line_bytes)

        add_text_file(PurePosixPath(path.relative_to(reader.path).as_posix()), reader_of, table)


def is_text_file(name: str) -> bool:
    """Whether a file in a folder is a document, by its name.

    Examples
    --------
    >>> from topoi.corpus.archive import is_text_file
    >>> is_text_file("dust.txt"), is_text_file(".dust.txt"), is_text_file("dust.pdf")
    (True, False, False)
    """
    return name.lower().endswith(_SUFFIXES) and not name.startswith(".")


def add_text_file(relative: PurePosixPath, reader_of: Callable[[Problem], LineReader], table: RecordTable) -> None:
    """Add one text file as a document; a faulty line makes the whole file faulty."""
    faults: list[CorpusError] = []
    try:
        text = "\n".join(line for _, line in reader_of(faults.append).lines())
    except CorpusError as error:
        faults.append(error)
    if faults:
        table.problem(faults[0])
        return
    name = relative.name
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
            break
    folder = relative.parent.as_posix()
    record = {
        "text": text,
        "id": (relative.parent / name).as_posix(),
        "title": name,
        "folder": None if folder == "." else folder,
    }
    table.add(record, 1)


def read_text_lines(reader: LineReader, table: RecordTable) -> None:
    r"""Read a text file in which every line is a document. Empty lines are skipped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.archive import read_text_lines
    >>> from topoi.corpus.lines import LineReader
    >>> from topoi.corpus.records import FieldMap, RecordTable
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.txt")
    >>> _ = path.write_text("On dust\n\nOn sand\n")
    >>> table = RecordTable(FieldMap(), path)
    >>> read_text_lines(LineReader(path, table.problem), table)
    >>> table.texts, table.report.notes
    (['On dust', 'On sand'], ['every line is a document; 1 empty line was passed over'])
    """
    n_empty = 0
    for number, line in reader.lines():
        text = line.strip()
        if text:
            table.add({"text": text}, number)
        else:
            n_empty += 1
    passed = "" if not n_empty else f"; {n_empty:,} empty {'line was' if n_empty == 1 else 'lines were'} passed over"
    table.report.notes.append(f"every line is a document{passed}")


# Names of files that accompany data but are not data.
_ABOUT = re.compile(r"(readme|licen[cs]e|copying|notice|changes|changelog|citation|metadata)\b", re.IGNORECASE)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
# Longest single read. zipfile reads the central directory as a whole: enough for half a million names of 100 letters.
_LONGEST_READ = 1 << 26
_SHOWN = 5
# Exceptions that zipfile raises for damaged archives.
_OF_ZIPFILE = (zipfile.BadZipFile, struct.error, ArithmeticError, EOFError, LookupError, RuntimeError, ValueError)


def read_archive(
    reader: LineReader,
    table: RecordTable,
    kind_of: Callable[[str], str | None],
    read: Callable[[str, LineReader, RecordTable], None],
) -> None:
    """Read a zip archive that holds one table, or else text files.

    Parameters
    ----------
    reader : LineReader
        The archive.
    table : RecordTable
        The table that collects the records.
    kind_of : callable
        Returns the format of a file from its name; None if unknown.
    read : callable
        Reads a file of the given format.

    Examples
    --------
    >>> import pathlib, tempfile, zipfile
    >>> from topoi import read_corpus
    >>> path = pathlib.Path(tempfile.mkdtemp(), "papers.zip")
    >>> with zipfile.ZipFile(path, "w") as archive:
    ...     archive.writestr("papers.jsonl", '{"text": "On dust"}')
    >>> read_corpus(path, min_df=1, max_df=1.0)
    <Corpus: 1 documents, 1 tokens, 1 words>
    """
    with _opened(reader.path) as archive:
        members = [info for info in archive.infolist() if not _is_hidden(info.filename)]
        chosen = _chosen(members, reader.path, kind_of)
        _check(chosen, reader.path)
        if len(chosen) < len(members):
            table.report.notes.append(f"{len(members) - len(chosen):,} other files in the archive were not read")
        kind = kind_of(_name(chosen[0])) if len(chosen) == 1 else None
        if kind is None:
            _read_texts(archive, chosen, reader, table)
        else:
            read(kind, _member_reader(archive, chosen[0], reader, table.problem), table)


def is_about(name: str) -> bool:
    """Whether a file, by its name, accompanies the data without being data: a README, a licence.

    Examples
    --------
    >>> from topoi.corpus.archive import is_about
    >>> is_about("README.txt"), is_about("reading.txt")
    (True, False)
    """
    return _ABOUT.match(name) is not None


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open the archive; any error of zipfile about its directory becomes a ``CorpusError``."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(_Bounded(path.open("rb", buffering=0)))  # type: ignore[arg-type]
            archive = stack.enter_context(zipfile.ZipFile(file))
        except OSError as error:
            raise CorpusError(f"cannot be read: {error.strerror or error}", path) from None
        except (
            zipfile.BadZipFile,
            struct.error,
            ArithmeticError,
            EOFError,
            LookupError,
            RuntimeError,
            ValueError,
        ) as why:
            raise CorpusError(f"not a zip archive, or a damaged one: {str(why)[:200]}", path) from None
        yield archive


class _Bounded(io.BufferedReader):
    """File that limits the size of a single read, whatever size a hostile archive's directory claims."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LONGEST_READ:
            raise zipfile.BadZipFile(f"its list of files takes {size:,} bytes; unpack it and read the folder")
        return super().read(size)


class _Member:
    """A file in an archive, readable by ``LineReader``; damage raises ``Damaged``, as for gzip."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
        self._path = path
        self._file: Any = self._guarded(lambda: archive.open(info))

    def _guarded(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except (zlib.error, *_OF_ZIPFILE) as error:
            raise Damaged(f"the zip data are damaged: {str(error)[:200]}", self._path) from None

    def read(self, size: int = -1) -> bytes:
        return cast(bytes, self._guarded(lambda: self._file.read(size)))

    def seek(self, at: int) -> int:
        return cast(int, self._guarded(lambda: self._file.seek(at)))

    def tell(self) -> int:
        return cast(int, self._file.tell())

    def __enter__(self) -> _Member:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _member_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo, reader: LineReader, problem: Problem) -> LineReader:
    path = reader.path / _name(info)

    def opened() -> BinaryIO:
        return cast(BinaryIO, _Member(archive, info, path))

    return LineReader(path, problem, reader.encoding, reader.max_line_bytes, opened)


def _read_texts(
    archive: zipfile.ZipFile, chosen: list[zipfile.ZipInfo], reader: LineReader, table: RecordTable
) -> None:
    for info in sorted(chosen, key=_name):

        def reader_of(problem: Problem, info: zipfile.ZipInfo = info) -> LineReader:
            return _member_reader(archive, info, reader, problem)

        add_text_file(PurePosixPath(_name(info)), reader_of, table)


def _name(info: zipfile.ZipInfo) -> str:
    """Path within the archive, without ``..`` and other parts that could lead out of it."""
    parts = info.filename.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _is_hidden(filename: str) -> bool:
    """Whether this is a folder, or a hidden file of an operating system."""
    parts = filename.replace("\\", "/").split("/")
    inside = [part for part in parts if part not in (".", "..")]
    return not parts[-1] or any(part.startswith(".") or part == "__MACOSX" for part in inside)


def _chosen(members: list[zipfile.ZipInfo], path: Path, kind_of: Callable[[str], str | None]) -> list[zipfile.ZipInfo]:
    """Choose the one table of an archive, or its text files; refuse an ambiguous archive."""
    data = [info for info in members if not is_about(PurePosixPath(_name(info)).name)] or members
    texts, tables = [], []
    for info in data:
        if is_text_file(PurePosixPath(_name(info)).name):
            texts.append(info)
        elif kind_of(_name(info)) not in (None, "zip"):
            tables.append(info)
    names = ", ".join(_name(info) for info in tables[:_SHOWN]) + (", …" if len(tables) > _SHOWN else "")
    if len(tables) > 1:
        raise CorpusError(f"there are {len(tables):,} tables in the archive ({names}); unpack it and read one", path)
    if tables and texts:
        message = f"there are a table ({names}) and {len(texts):,} text files in the archive; unpack it and read one"
        raise CorpusError(message, path)
    if not tables and not texts:
        raise CorpusError("the archive holds neither a table nor text files", path)
    return tables or texts


def _check(chosen: list[zipfile.ZipInfo], path: Path) -> None:
    """Refuse members that cannot be unpacked, and zip bombs; zipfile unpacks no more than the claimed sizes."""
    for info in chosen:
        if info.flag_bits & _ENCRYPTED:
            raise CorpusError(f"{_name(info)} is encrypted; unpack the archive first", path)
        if info.compress_type not in _METHODS:
            raise CorpusError(f"{_name(info)} is not packed by deflate; unpack the archive first", path)
    total = sum(info.file_size for info in chosen)
    if total > BOMB_BYTES and total > BOMB_RATIO * path.stat().st_size:
        raise CorpusError(f"the zip data grow more than {BOMB_RATIO}-fold; unpack it first if you trust it", path)
