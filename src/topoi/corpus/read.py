"""Reading a corpus from a file or a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from topoi.corpus.analysis import Analysis
from topoi.corpus.archive import read_archive, read_folder, read_text_lines
from topoi.corpus.authors import DEFAULT_SEPARATOR
from topoi.corpus.corpus import Corpus
from topoi.corpus.folder import is_corpus_folder, open_corpus
from topoi.corpus.folder_writer import write_folder
from topoi.corpus.jsonl import read_json, read_jsonl
from topoi.corpus.lines import MAX_LINE_BYTES, LineReader
from topoi.corpus.mail import read_mbox
from topoi.corpus.records import FieldMap, RecordTable
from topoi.corpus.report import CorpusReport
from topoi.corpus.scan import BackgroundScanner
from topoi.corpus.sources import records_of
from topoi.corpus.tables import read_csv, read_parquet, read_tsv
from topoi.errors import CorpusError

_READERS: dict[str, Callable[[LineReader, RecordTable], None]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "mbox": read_mbox,
    "lines": read_text_lines,
    "folder": read_folder,
    "zip": lambda reader, table: read_archive(reader, table, _kind_of_name, _read),
}
_FORMATS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".mbox": "mbox", ".mbx": "mbox",
    ".txt": "lines", ".text": "lines", ".zip": "zip",
}  # fmt: skip


def read_corpus(
    path: str | Path | Any,
    *,
    text: str | Sequence[str] = "text",
    authors: str | Sequence[str] | None = None,
    date: str | None = None,
    title: str | None = None,
    id: str | None = None,
    metadata: Sequence[str] | None = None,
    author_separator: str | None = DEFAULT_SEPARATOR,
    format: str | None = None,
    encoding: str = "utf-8",
    max_line_bytes: int = MAX_LINE_BYTES,
    on_error: str = "raise",
    on_disk: str | Path | None = None,
    replace: bool = False,
    like: Corpus | None = None,
    new_authors: str = "error",
    **analysis: Any,
) -> Corpus:
    r"""Read a corpus from JSON, CSV, TSV, Parquet, mbox, text files or a zip archive of these, gzipped or not.

    Parameters
    ----------
    path : path, table, or iterable of mappings
        The file or folder, whose format follows from its name; a folder that ``on_disk`` wrote, see
        :func:`~topoi.corpus.folder.open_corpus`; or data in memory, as ``Corpus.from_dataframe`` and
        ``Corpus.from_records`` take them.
    text : str or list of str
        The field with the text; several are joined.
    authors : str or list of str, optional
        The field or fields with the "authors": a list, or a separated string. By default ``authors`` or ``author``.
    date, title, id : str, optional
        Other fields; by default ``date`` or ``year``, ``title`` and ``id``, where they exist.
    metadata : list of str, optional
        The other fields to keep; all by default.
    author_separator : str or None
        Separator of names in a string.
    format : {"jsonl", "json", "csv", "tsv", "parquet", "mbox", "lines", "folder", "zip"}, optional
        The format, if it does not follow from the name. ``"json"`` is an array of objects; ``"lines"``, the format of
        .txt files, has a text on every line.
    encoding : str
        The encoding of text files.
    max_line_bytes : int
        Longer lines are bad records: see ``on_error``.
    on_error : {"raise", "skip"}
        Whether a bad record raises ``CorpusError`` with file and line, or is skipped and counted in ``report``.
    on_disk : path, optional
        A new folder for the corpus. It is written as the documents are read, in memory that does not grow with the
        text, and then opened as :func:`~topoi.corpus.folder.open_corpus` does.
    replace : bool
        Whether ``on_disk`` may be the folder of an encoded corpus, which is then replaced.
    like : Corpus, optional
        Read new documents with this corpus's vocabulary, analyser and authors, as ``like.encode`` does.
    new_authors : {"error", "add", "drop"}
        Treatment of authors that ``like`` does not have.
    **analysis
        Settings of text analysis: see :class:`~topoi.corpus.analysis.Analysis`.

    Returns
    -------
    Corpus
        Its ``report`` says what was read, skipped and dropped.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi import read_corpus
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.csv")
    >>> _ = path.write_text("text,authors\nOn dust and sand,Ann\nOn sand and stone,Bob; Cy\n")
    >>> read_corpus(path, min_df=1, max_df=1.0)
    <Corpus: 2 documents, 4 tokens, 3 words, 3 authors>
    """
    settings = Analysis(**analysis)
    if like is not None and analysis:
        raise CorpusError(f"like= brings its own settings; leave out {', '.join(analysis)}")
    fields = FieldMap(text, authors, date, title, id, metadata, author_separator)
    file = Path(path) if isinstance(path, str | os.PathLike) else None
    if file is not None and format in (None, "corpus") and is_corpus_folder(file):
        _refuse_settings(file, fields != FieldMap() or on_disk is not None, analysis, like)
        return open_corpus(file)
    if like is not None and on_disk is not None:
        raise CorpusError("a corpus read with like= cannot be written to disk; leave out on_disk")
    kind = "" if file is None else _format_of(file, format)
    report = CorpusReport(source="records" if file is None else file.name)

    def fill(table: RecordTable) -> None:
        if file is None:
            table.add_all(records_of(path))
        else:
            _read(kind, LineReader(file, table.problem, encoding, max_line_bytes), table)

    if on_disk is not None:
        return write_folder(on_disk, fill, fields, file, settings, on_error, report, replace)
    scanner = None if like is not None else settings.analyzer().scanner()
    if scanner is None:
        table = RecordTable(fields, file, on_error=on_error, report=report)
        fill(table)
        return Corpus.from_table(table, settings) if like is None else like.encode_records(table, new_authors)
    with BackgroundScanner(scanner) as background:
        table = RecordTable(fields, file, on_error=on_error, report=report, on_text=background.add)
        fill(table)
        return Corpus.from_table(table, settings, background.finish())


def _refuse_settings(path: Path, others: bool, analysis: dict[str, Any], like: Corpus | None) -> None:
    """Raise an error for settings of reading, if the corpus has been read already."""
    if like is not None:
        raise CorpusError(
            "this corpus is encoded already, with words of its own; name the file that it was read from", path
        )
    if others or analysis:
        named = f" ({', '.join(analysis)})" if analysis else ""
        raise CorpusError(
            f"this corpus is encoded already: fields and words{named} were chosen then; leave them out", path
        )


def _read(kind: str, reader: LineReader, table: RecordTable) -> None:
    if kind != "folder" and not reader.has_content():
        raise CorpusError("the file is empty", reader.path, 1)
    _READERS[kind](reader, table)


def _format_of(path: Path, given: str | None) -> str:
    if not path.exists():
        raise CorpusError("no such file or folder", path)
    if given is None and path.is_dir():
        return "folder"
    kind = given if given is not None else _kind_of_name(path.name)
    if kind not in _READERS:
        known = ", ".join(_READERS)
        raise CorpusError(f"unknown format {given or path.name!r}; name one with format=…: {known}", path)
    if (kind == "folder") != path.is_dir():
        raise CorpusError(f"the format is {kind}, but this is a {'folder' if path.is_dir() else 'file'}", path)
    return kind


def _kind_of_name(name: str) -> str | None:
    """Format of a file by its name, with or without ``.gz``; None if unknown."""
    return _FORMATS.get(Path(name.lower().removesuffix(".gz")).suffix)


def readable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of file names that ``read_corpus`` recognises, without ``.gz``.

    Examples
    --------
    >>> from topoi.corpus.read import readable_suffixes
    >>> ".jsonl" in readable_suffixes()
    True
    """
    return tuple(_FORMATS)
