"""Writing a corpus into a folder in one pass over the records, in memory that does not grow with the tokens.

Words get provisional ids as they come, and go to disk with them; when all are known, the vocabulary is chosen and the
ids on disk are replaced block by block. Each text is read and taken apart once.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.analysis import Analysis, choose_vocabulary, learned_analyzer
from topoi.corpus.authors import author_table
from topoi.corpus.characters import without_surrogates
from topoi.corpus.corpus import Corpus
from topoi.corpus.file_columns import FileColumns
from topoi.corpus.folder import DOCUMENTS, FORMAT, META, SCHEMA, is_corpus_folder, open_corpus
from topoi.corpus.metadata import plain_value, title_text
from topoi.corpus.phrases import join_pairs
from topoi.corpus.pieces import row_blocks
from topoi.corpus.records import FieldMap, RecordTable
from topoi.corpus.report import CorpusReport
from topoi.corpus.scan import BackgroundScanner, Scan, Sink
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary, renumber
from topoi.corpus.writing import whole_folder
from topoi.errors import CorpusError

_TOKENS_AT_ONCE = 2**22
_NOBODY = -1


class PatternScanner:
    """Scanner by the analyser's regular expression, for a sink; see ``topoi.corpus.scan.Scanner``.

    Examples
    --------
    >>> from topoi.corpus.folder_writer import PatternScanner
    >>> from topoi.corpus.tokenize import Analyzer
    >>> scanner = PatternScanner(Analyzer(pattern=r"[a-z]+"), lambda lengths, *columns: print(lengths))
    >>> scanner.feed(["to be"])
    [2]
    >>> scanner.finish().words
    ['to', 'be']
    """

    def __init__(self, analyzer: Analyzer, sink: Sink) -> None:
        self._analyzer, self._sink = analyzer, sink
        self._ids: dict[str, int] = {}

    def feed(self, texts: Sequence[str]) -> None:
        """Scan more texts."""
        tokens, doc_start, start, end, linked, _, _ = self._analyzer.scan_plainly(texts, self._ids)
        self._sink(np.diff(doc_start), tokens, start, end, linked)

    def finish(self) -> Scan:
        """Return the words."""
        return self._analyzer.scan_plainly([])._replace(words=list(self._ids))


class RawTokens:
    """Tokens on disk with provisional word ids, until the vocabulary is known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.analysis import Analysis
    >>> from topoi.corpus.file_columns import FileColumns
    >>> from topoi.corpus.folder_writer import RawTokens
    >>> from topoi.corpus.report import CorpusReport
    >>> rules = Analysis(min_df=1, max_df=1.0)
    >>> with FileColumns(pathlib.Path(tempfile.mkdtemp())) as columns:
    ...     raw = RawTokens(columns, rules)
    ...     scanner = rules.analyzer().scanner(raw.take)
    ...     scanner.feed(["red fish", "blue fish"])
    ...     vocabulary, n_tokens = raw.encode(scanner.finish(), rules, CorpusReport())
    ...     columns.read("tokens.i32", 0, n_tokens).tolist()
    [2, 1, 0, 1]
    """

    _names = ("tokens.i32", "token_start.i32", "token_end.i32", "linked.u8")

    def __init__(self, columns: FileColumns, analysis: Analysis) -> None:
        self._columns = columns
        self._lengths: list[NDArray[np.int32]] = []
        # Whether words adjoin is needed for phrases alone.
        joins = analysis.phrase_threshold is not None or bool(analysis.analyzer().phrases)
        self._kept = self._names if joins else self._names[:-1]
        for name in self._kept:
            columns.append(name, [])

    def take(
        self,
        lengths: NDArray[Any],
        token: NDArray[Any],
        start: NDArray[Any],
        end: NDArray[Any],
        linked: NDArray[Any],
    ) -> None:
        """Take over scanned documents, as a scanner's sink."""
        self._lengths.append(lengths.astype(np.int32))
        for name, column in zip(self._kept, (token, start, end, linked), strict=False):
            self._columns.append(name, column)

    def encode(self, scan: Scan, analysis: Analysis, report: CorpusReport) -> tuple[Vocabulary, int]:
        """Choose the vocabulary and replace the ids on disk: the vocabulary, and the number of tokens left.

        ``scan`` has the words and the counts of what was skipped.
        """
        doc_start = np.zeros(sum(map(len, self._lengths)) + 1, np.int64)
        np.cumsum(np.concatenate([*self._lengths, np.zeros(0, np.int32)]), out=doc_start[1:])
        self._lengths.clear()
        analyzer = learned_analyzer(analysis, lambda: self._blocks(scan, doc_start), scan, report)
        joined = (join_pairs(block, analyzer.phrases) for block in self._blocks(scan, doc_start))
        vocabulary, new_id = choose_vocabulary(joined, scan.words, analysis, analyzer, report)
        n = 0
        self._columns.append("doc_start.i64", [0])
        for block in self._blocks(scan, doc_start):
            left = renumber(join_pairs(block, analyzer.phrases), new_id)
            # What is left of a block never reaches beyond its place, so nothing is overwritten before it is read.
            for name, column in zip(self._names, (left.tokens, left.token_start, left.token_end), strict=False):
                self._columns.put(name, n, column)
            self._columns.append("doc_start.i64", left.doc_start[1:] + n)
            n += len(left.tokens)
        for name in self._names[:3]:
            self._columns.cut(name, n)
        (self._columns.folder / self._names[3]).unlink(missing_ok=True)
        return vocabulary, n

    def _blocks(self, scan: Scan, doc_start: NDArray[np.int64]) -> Iterator[Scan]:
        """Yield the documents in blocks, with the words of all."""
        for part in row_blocks(doc_start, _TOKENS_AT_ONCE):
            first, last = int(doc_start[part.start]), int(doc_start[part.stop])
            found = [self._columns.read(name, first, last - first) for name in self._kept]
            linked = found[3].view(bool) if len(found) == 4 else np.zeros(last - first, bool)
            own = doc_start[part.start : part.stop + 1] - first
            yield Scan(found[0], own, found[1], found[2], linked, scan.words, scan.skipped)


class RecordWriter(RecordTable):
    r"""``RecordTable`` that writes texts, metadata and authors to files instead of keeping them.

    It keeps the ids, to refuse those that occur twice, and the names of authors.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.file_columns import FileColumns
    >>> from topoi.corpus.folder_writer import RecordWriter
    >>> from topoi.corpus.records import FieldMap
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with FileColumns(folder) as columns:
    ...     table = RecordWriter(columns, FieldMap())
    ...     table.add({"text": "On dust", "authors": "Ann", "year": 1999}, line=1)
    >>> (folder / "documents.jsonl").read_text()
    '["0", null, "1999-01-01T00:00:00", []]\n'
    """

    def __init__(self, columns: FileColumns, fields: FieldMap, *given: Any, **options: Any) -> None:
        super().__init__(fields, *given, **options)
        self._columns = columns
        self._places: dict[str, int] = {}
        self._date_columns: dict[str, bool] = {}
        self._with_dates: set[str] = set()
        self._row: list[Any] = []
        self._author_ids: dict[str, int] = {}
        self._has_titles = self._has_dates = False
        self.texts_bytes = self.n_document_authors = 0
        for name in ("doc_author.i32", DOCUMENTS, "texts.utf8", "texts_end.i64"):
            columns.file(name)
        columns.append("doc_author_start.i64", [0])

    def _add_metadata(self, record: Mapping[str, Any]) -> None:
        self._row = []
        for name, value in self._other_fields(record):
            place = self._places.setdefault(name, len(self._places))
            plain = plain_value(value)
            if isinstance(plain, datetime.datetime):
                plain = plain.isoformat()
                self._date_columns.setdefault(name, True)
                self._with_dates.add(name)
            elif plain is not None:
                self._date_columns[name] = False
            self._row.extend([None] * (place + 1 - len(self._row)))
            self._row[place] = plain

    def _keep(self, text: str, names: list[str], name: str, date: datetime.datetime | None, title: Any) -> None:
        encoded = text.encode()
        self._columns.file("texts.utf8").write(encoded)
        self.texts_bytes += len(encoded)
        self._columns.append("texts_end.i64", [self.texts_bytes])
        self._has_titles |= title is not None
        self._has_dates |= date is not None
        shown = title_text(title)
        row = (name, None if shown is None else without_surrogates(shown), date and date.isoformat(), self._row)
        self._columns.file(DOCUMENTS).write(json.dumps(row).encode() + b"\n")
        ids = [self._author_ids.setdefault(each, len(self._author_ids)) for each in names]
        self.n_document_authors += len(ids)
        self._columns.append("doc_author.i32", ids)
        self._columns.append("doc_author_start.i64", [self.n_document_authors])
        self.report.n_empty_texts += not text.strip()
        self.report.n_without_authors += not names

    @property
    def author_list(self) -> list[str]:
        """Names of the authors by id."""
        return list(self._author_ids)

    def layout(self) -> dict[str, Any]:
        """Return what ``meta.json`` says of the metadata."""
        dates = {name: self._date_columns.get(name, False) for name in self._metadata}
        columns = [
            {"name": name, "dates": only, "mixed": name in self._with_dates and not only}
            for name, only in dates.items()
        ]
        known = {"titles": self._has_titles, "dates": self._has_dates}
        return known | {"read_authors": _NOBODY, "columns": columns}


def write_folder(
    target: str | Path,
    fill: Callable[[RecordTable], None],
    fields: FieldMap,
    source: Path | None,
    analysis: Analysis,
    on_error: str = "raise",
    report: CorpusReport | None = None,
    replace: bool = False,
) -> Corpus:
    """Write the records with which ``fill`` fills a table into a new folder, and open it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from topoi.corpus.analysis import Analysis
    >>> from topoi.corpus.folder_writer import write_folder
    >>> from topoi.corpus.records import FieldMap
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "dust.corpus")
    >>> rules = Analysis(min_df=1, max_df=1.0)
    >>> write_folder(folder, lambda table: table.add({"text": "On dust"}, 1), FieldMap(), None, rules)
    <Corpus: 1 documents, 1 tokens, 1 words>
    """
    if not (replace and is_corpus_folder(target)):
        refuse_folder(target)
    report = CorpusReport() if report is None else report
    with whole_folder(target) as made:
        with FileColumns(made) as columns:
            raw = RawTokens(columns, analysis)
            analyzer = analysis.analyzer()
            scanner = analyzer.scanner(raw.take) or PatternScanner(analyzer, raw.take)
            with BackgroundScanner(scanner) as background:
                table = RecordWriter(columns, fields, source, None, on_error, report, background.add)
                fill(table)
                scan = background.finish()
            table.check_fields()
            report.n_read = table.n_docs
            vocabulary, n_tokens = raw.encode(scan, analysis, report)
            sizes = {"documents": table.n_docs, "tokens": n_tokens, "texts_bytes": table.texts_bytes}
            sizes |= {"document_authors": table.n_document_authors}
            meta = describe(columns, vocabulary, table.author_list, sizes, report, table.layout())
        seal(made, meta, fields.author_fields[1:])
    return open_corpus(target)


def refuse_folder(target: str | Path) -> None:
    """Raise an error if there is something where a folder is to be written.

    Examples
    --------
    >>> from topoi.corpus.folder_writer import refuse_folder
    >>> refuse_folder("no_such_folder_yet")
    """
    target = Path(target)
    if target.is_dir() and not any(target.iterdir()):
        return
    if is_corpus_folder(target):
        raise CorpusError("there is a corpus already; open it with topoi.open_corpus, or add replace=True", target)
    if target.exists():
        raise CorpusError("this exists already; name a new folder", target)


def describe(
    columns: FileColumns,
    vocabulary: Vocabulary,
    authors: Sequence[str],
    sizes: dict[str, int],
    report: CorpusReport,
    layout: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the names of words and authors, and return the contents of ``meta.json``.

    ``sizes`` are the numbers of documents and tokens, of the bytes of the texts, and of the documents' authors. For an
    example see ``seal``.
    """
    none = {"titles": False, "dates": False, "read_authors": _NOBODY, "columns": []}
    names = {"words": len(vocabulary), "words_bytes": columns.strings("words", vocabulary.words)}
    names |= {"authors": len(authors), "authors_bytes": columns.strings("authors", authors)}
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "sizes": sizes | names,
        "documents": layout or none,
        "analyzer": vocabulary.analyzer.to_dict(),
        "report": report.to_dict(),
        "fingerprint": "",
    }


def seal(folder: Path, meta: dict[str, Any], author_columns: Sequence[str] = ()) -> None:
    """Write ``meta.json`` with the digest of a finished folder; make metadata columns authors, too, where asked for.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.corpus.file_columns import FileColumns
    >>> from topoi.corpus.folder_writer import describe, seal
    >>> from topoi.corpus.report import CorpusReport
    >>> from topoi.corpus.vocabulary import Vocabulary
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> sizes = {"documents": 1, "tokens": 2, "texts_bytes": 0, "document_authors": 0}
    >>> with FileColumns(folder) as columns:
    ...     columns.append("tokens.i32", [1, 0])
    ...     columns.append("doc_start.i64", [0, 2])
    ...     columns.append("doc_author.i32", [])
    ...     columns.append("doc_author_start.i64", [0, 0])
    ...     _ = columns.file("documents.jsonl").write(b'["0", null, null, []]')
    ...     meta = describe(columns, Vocabulary(["dust", "sand"]), [], sizes, CorpusReport())
    >>> seal(folder, meta)
    >>> topoi.open_corpus(folder)
    <Corpus: 1 documents, 2 tokens, 2 words>
    """
    (folder / META).write_text(json.dumps(meta), encoding="utf-8")
    corpus = open_corpus(folder, scratch=folder)
    if author_columns:
        read = corpus.author_lists()
        corpus = corpus.with_authors(["authors", *author_columns])
        with FileColumns(folder) as columns:
            table = author_table(read)
            columns.append("read_author.i32", table.doc_author)
            columns.append("read_author_start.i64", table.doc_author_start)
            columns.strings("read_authors", table.names)
            columns.append("doc_author.i32", corpus.doc_author)
            columns.append("doc_author_start.i64", corpus.doc_author_start)
            size = columns.strings("authors", corpus.authors)
        meta["sizes"] |= {
            "authors": corpus.n_authors,
            "authors_bytes": size,
            "document_authors": len(corpus.doc_author),
        }
        meta["documents"]["read_authors"] = len(table.names)
        meta["report"] = corpus.report.to_dict()
    meta["fingerprint"] = corpus.fingerprint()
    (folder / META).write_text(json.dumps(meta), encoding="utf-8")
    _flush(folder)


def _flush(folder: Path) -> None:
    """Have the disk hold what was written, before the folder gets its name."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
