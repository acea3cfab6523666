"""Readers for text files: a folder of them, or one with a document per line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from topoi.corpus.lines import LineReader
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
    >>> from topoi.corpus.folder import read_folder
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
    >>> from topoi.corpus.folder import is_text_file
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
    >>> from topoi.corpus.folder import read_text_lines
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
