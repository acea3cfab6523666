"""The reader for a folder of text files."""

from __future__ import annotations

from pathlib import Path

from topoi.corpus.lines import LineReader
from topoi.corpus.records import RecordTable
from topoi.errors import CorpusError

_SUFFIXES = (".txt", ".text", ".md", ".txt.gz", ".text.gz", ".md.gz")


def read_folder(reader: LineReader, table: RecordTable) -> None:
    """Read all text files of a folder and its subfolders, in the order of their names.

    A document's id is its path without the ending, its title the file's name, and the field ``folder`` the
    subfolder, so that ``authors="folder"`` works.

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
    texts = [path for path in files if path.name.lower().endswith(_SUFFIXES) and not path.name.startswith(".")]
    if not texts:
        raise CorpusError(f"no text files ({', '.join(_SUFFIXES)}) in this folder", reader.path)
    if len(texts) < len(files):
        table.report.notes.append(f"{len(files) - len(texts):,} other files in the folder were not read")
    for path in texts:
        _read_file(path, reader, table)


def _read_file(path: Path, reader: LineReader, table: RecordTable) -> None:
    faults: list[CorpusError] = []
    one = LineReader(path, faults.append, reader.encoding, reader.max_line_bytes)
    try:
        text = "\n".join(line for _, line in one.lines())
    except CorpusError as error:
        faults.append(error)
    if faults:
        table.problem(faults[0])
        return
    relative = path.relative_to(reader.path)
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
