"""A corpus in a folder of plain arrays, opened without reading it: what does not fit into memory stays on disk.

The folder has ``meta.json`` (schema, sizes, the analyser's settings, the report, a digest), an array in each of its
other files (``.i32`` and ``.i64`` are little-endian integers, ``.utf8`` are strings one after the other, whose ends are
in a ``.i64`` file), and ``documents.jsonl``, the metadata, a line for each document. Nothing in it is ever executed.
All sizes and ids are checked before kernels, which check no bounds, may read them.
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.bundle import corpus_fingerprint, unpack_strings
from topoi.corpus.checked_json import Between, read_json
from topoi.corpus.corpus import Corpus
from topoi.corpus.mapped import Scratch, map_file, release
from topoi.corpus.metadata import document_frame
from topoi.corpus.pieces import ranges
from topoi.corpus.report import CorpusReport
from topoi.corpus.stored_texts import StoredTexts
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import CorpusError

FORMAT, SCHEMA = "topoi-corpus", 1
META = "meta.json"
DOCUMENTS = "documents.jsonl"
_LARGEST_META = 2**26
_CHECKED_AT_ONCE = 2**24
_SIZE = Between(0, 2**47, whole=True)
_FEWER = Between(0, 2**31, whole=True)
_SHAPE = {
    "format": str,
    "schema": int,
    "sizes": {
        "documents": _FEWER,
        "tokens": _SIZE,
        "words": _FEWER,
        "words_bytes": _SIZE,
        "authors": _FEWER,
        "authors_bytes": _SIZE,
        "document_authors": _SIZE,
        "texts_bytes": _SIZE,
    },
    "documents": {"titles": bool, "dates": bool, "read_authors": Between(-1, 2**31, whole=True), "columns": [dict]},
    "analyzer": dict,
    "report": dict,
    "fingerprint": str,
}


class Strings(NamedTuple):
    """Files of a list of strings: its bytes, and the end of each string."""

    data: Path
    ends: Path


def string_files(folder: Path, name: str) -> Strings:
    """Return the paths of a list of strings.

    Examples
    --------
    >>> from pathlib import Path
    >>> from topoi.corpus.folder import string_files
    >>> string_files(Path("papers.corpus"), "words").ends.name
    'words_end.i64'
    """
    return Strings(folder / f"{name}.utf8", folder / f"{name}_end.i64")


def is_corpus_folder(path: str | Path) -> bool:
    """Whether a folder holds an encoded corpus.

    Examples
    --------
    >>> import tempfile
    >>> from topoi.corpus.folder import is_corpus_folder
    >>> is_corpus_folder(tempfile.mkdtemp())
    False
    """
    try:
        with (Path(path) / META).open("rb") as file:
            return f'"format": "{FORMAT}"'.encode() in file.read(200)
    except OSError:
        return False


def open_corpus(folder: str | Path, *, scratch: str | Path | None = None, verify: bool = False) -> Corpus:
    """Open a corpus that ``read_corpus(…, on_disk=folder)`` or ``topoi encode`` wrote, without reading it.

    Its arrays are memory-mapped, its texts and metadata are read when they are asked for. Fits to it keep what they
    need for every token in files, too, and give the same bits as fits in memory.

    Parameters
    ----------
    folder : path
        The folder.
    scratch : path, optional
        A folder for the files of fits and of parts of the corpus, which vanish with the process; by default the
        corpus's own or, if that cannot be written to, the one for temporary files.
    verify : bool
        Whether to read everything once and compare it with the digest that was written. Sizes and ids, which kernels
        rely on, are always checked.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "fish.corpus")
    >>> records = [{"text": "red fish"}, {"text": "blue fish"}]
    >>> _ = topoi.read_corpus(records, on_disk=folder, min_df=1, max_df=1.0)
    >>> corpus = topoi.open_corpus(folder)
    >>> corpus, corpus.texts[0]
    (<Corpus: 2 documents, 4 tokens, 3 words>, 'red fish')
    """
    folder = Path(folder)
    meta = _read_meta(folder)
    corpus = _corpus_in(folder, meta, _scratch_folder(folder, scratch))
    if verify and corpus_fingerprint(corpus) != meta["fingerprint"]:
        raise CorpusError("damaged: the digest of its contents is not the one that was written", folder)
    return corpus


def _scratch_folder(folder: Path, given: str | Path | None) -> Path:
    if given is None:
        return folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())
    if not Path(given).is_dir():
        raise CorpusError("scratch is no folder that exists", given)
    return Path(given)


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / META
    if not is_corpus_folder(folder):
        raise CorpusError(
            "not an encoded corpus; make one with topoi.read_corpus(…, on_disk=…) or topoi encode", folder
        )
    if path.stat().st_size > _LARGEST_META:
        raise CorpusError("too large for the settings of a corpus: refused", path)
    try:
        meta: dict[str, Any] = read_json(path.read_bytes(), {"schema": int})
        if meta["schema"] != SCHEMA:
            raise CorpusError(f"of schema {meta['schema']}; this version reads schema {SCHEMA}: encode again", folder)
        meta = read_json(path.read_bytes(), _SHAPE)
        for column in meta["documents"]["columns"]:
            if not isinstance(column.get("name"), str) or not isinstance(column.get("dates"), bool):
                raise ValueError("a column of the metadata has no name")
    except ValueError as error:
        raise CorpusError(f"damaged ({error})", path) from error
    return meta


def _corpus_in(folder: Path, meta: dict[str, Any], scratch: Path) -> Corpus:
    """Return the corpus that a folder holds, all sizes and ids checked."""
    sizes = meta["sizes"]
    n_docs, n_tokens = sizes["documents"], sizes["tokens"]
    words = _strings(folder, "words", sizes["words"], sizes["words_bytes"])
    authors = _strings(folder, "authors", sizes["authors"], sizes["authors_bytes"])
    try:
        vocabulary = Vocabulary(words, Analyzer.from_dict(meta["analyzer"]))
        report = CorpusReport.from_dict(meta["report"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"damaged: {error}", folder / META) from error
    tokens, doc_start = _ragged(folder, "tokens", "doc_start", n_docs, n_tokens, len(words))
    doc_author, doc_author_start = _ragged(
        folder, "doc_author", "doc_author_start", n_docs, sizes["document_authors"], len(authors)
    )
    has_texts = (folder / "texts.utf8").exists()
    has_offsets = (folder / "token_start.i32").exists()
    return Corpus(
        tokens=tokens,
        doc_start=doc_start,
        vocabulary=vocabulary,
        doc_author=doc_author,
        doc_author_start=doc_author_start,
        authors=authors,
        documents=StoredDocuments(folder, n_docs, meta["documents"]),
        texts=_texts(folder, n_docs, sizes["texts_bytes"]) if has_texts else None,
        token_start=map_file(folder / "token_start.i32", "<i4", n_tokens) if has_offsets else None,
        token_end=map_file(folder / "token_end.i32", "<i4", n_tokens) if has_offsets else None,
        report=report,
        scratch=Scratch(scratch),
    )


def _ragged(
    folder: Path, values: str, starts: str, n_rows: int, n_values: int, n_ids: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    ids, start = (
        map_file(folder / f"{values}.i32", "<i4", n_values),
        map_file(folder / f"{starts}.i64", "<i8", n_rows + 1),
    )
    _check_ends(start, n_values, folder / f"{starts}.i64")
    for part in ranges(n_values, _CHECKED_AT_ONCE):
        here = ids[part]
        if here.min() < 0 or here.max() >= n_ids:
            raise CorpusError(f"damaged: an id is not one of {n_ids:,}", folder / f"{values}.i32")
        release(here)
    return ids, start


def _check_ends(ends: NDArray[np.int64], n: int, path: Path) -> None:
    """Refuse offsets that do not go from 0 to n; strings' ends have no 0 in front."""
    fits = not len(ends) or (0 <= ends[0] and ends[-1] == n)
    for part in ranges(len(ends), _CHECKED_AT_ONCE):
        fits = fits and bool((np.diff(ends[part.start : part.stop + 1]) >= 0).all())
    if not fits or (not len(ends) and n):
        raise CorpusError(f"damaged: its offsets do not go up to {n:,}", path)
    if path.name.endswith("_start.i64") and ends[0] != 0:
        raise CorpusError("damaged: its offsets do not begin with 0", path)


def _strings(folder: Path, name: str, n: int, n_bytes: int) -> list[str]:
    files = string_files(folder, name)
    try:
        return unpack_strings(map_file(files.data, "u1", n_bytes), map_file(files.ends, "<i8", n))
    except UnicodeDecodeError as error:
        raise CorpusError(f"damaged ({error.reason})", files.data) from None


def _texts(folder: Path, n_docs: int, n_bytes: int) -> StoredTexts:
    files = string_files(folder, "texts")
    last = map_file(files.ends, "<i8", n_docs)
    _check_ends(last, n_bytes, files.ends)
    first = np.concatenate(([0], last[:-1])).astype(np.int64) if n_docs else last
    return StoredTexts(files.data, map_file(files.data, "u1", n_bytes), first, last)


class StoredDocuments:
    """Maker of the frame of metadata from a folder: the same frame as if the records were read into memory.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "fish.corpus")
    >>> corpus = topoi.read_corpus([{"text": "red fish", "year": 1960}], on_disk=folder, min_df=1, max_df=1.0)
    >>> corpus.documents["year"].tolist()
    [1960]
    """

    def __init__(self, folder: Path, n_docs: int, layout: dict[str, Any]) -> None:
        self._folder, self._n_docs, self._layout = folder, n_docs, layout

    def __call__(self) -> pd.DataFrame:
        """Read the frame."""
        path, layout = self._folder / DOCUMENTS, self._layout
        names = [column["name"] for column in layout["columns"]]
        try:
            ids, titles, dates, values = self._rows(path, len(names))
            for column, here in zip(layout["columns"], values, strict=True):
                if column["dates"]:
                    here[:] = map(_date, here)
            given = (titles if layout["titles"] else None, list(map(_date, dates)) if layout["dates"] else None)
            frame = document_frame(self._n_docs, ids, *given, dict(zip(names, values, strict=True)))
            for place, (column, here) in enumerate(zip(layout["columns"], values, strict=True), -len(names)):
                if column.get("mixed"):  # dates among other values, which are texts now, were no column of texts
                    frame[frame.columns[place]] = pd.Series(here, dtype=object)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise CorpusError(f"damaged ({error})", path) from error
        return frame if layout["read_authors"] < 0 else frame.assign(authors=self._read_authors())

    def _rows(self, path: Path, n_columns: int) -> tuple[list[str], list[Any], list[Any], list[list[Any]]]:
        ids: list[str] = []
        titles: list[Any] = []
        dates: list[Any] = []
        values: list[list[Any]] = [[] for _ in range(n_columns)]
        with path.open("rb") as file:
            for line in file:
                name, title, date, row = json.loads(line)
                if len(ids) == self._n_docs or not isinstance(name, str) or len(row) > n_columns:
                    raise ValueError(f"line {len(ids) + 1} is no row of the metadata")
                ids.append(name)
                titles.append(title)
                dates.append(date)
                for column, value in zip(values, [*row, *[None] * (n_columns - len(row))], strict=True):
                    column.append(value)
        return ids, titles, dates, values

    def _read_authors(self) -> pd.Series:
        """The authors as they were read, where others are the corpus's authors."""
        n = self._layout["read_authors"]
        files = string_files(self._folder, "read_authors")
        names = np.array([*_strings(self._folder, "read_authors", n, _size_of(files.data)), None], object)[:-1]
        n_values = _size_of(self._folder / "read_author.i32") // 4
        author, start = _ragged(self._folder, "read_author", "read_author_start", self._n_docs, n_values, n)
        rows, at = names[author].tolist(), start.tolist()
        return pd.Series([rows[a:b] for a, b in zip(at, at[1:], strict=False)], dtype=object)


def _date(text: str | None) -> datetime.datetime | None:
    return None if text is None else datetime.datetime.fromisoformat(text)


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise CorpusError(f"cannot be read: {error.strerror or error}", path) from error
