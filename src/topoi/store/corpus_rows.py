"""Write a corpus as rows of a store and read it back, bit for bit."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.blocks import Columns, table_values
from topoi.corpus.bundle import corpus_pieces, pack_frame, pack_strings, unpack_frame
from topoi.corpus.corpus import Corpus
from topoi.corpus.metadata import document_frame, json_value
from topoi.corpus.pieces import BLOCK, occurrences, ranges
from topoi.errors import CorpusError, StoreError
from topoi.store.arrays import checksum, get_arrays, put_arrays, to_json
from topoi.store.door import check_corpus, stored_json
from topoi.store.insert import insert_rows
from topoi.store.postings import posting_rows
from topoi.store.rows import read_rows

# Kept as rows, from which the arrays are rebuilt. The frame of documents is also kept whole, to preserve its types.
_TABLES = ("word_document", "document_token", "document_author", "document", "author", "word", "corpus")
# Bytes per number in the columns of document_token: the narrower width wherever all numbers fit it.
_WIDTHS = {"word_ids": (2, 4), "starts": (2, 4), "lengths": (1, 4)}
_OWN_COLUMNS = ("id", "title", "date", "year")
_DOCUMENTS_AT_A_TIME = 1000


def put_corpus(connection: sqlite3.Connection, corpus: Corpus, texts: bool) -> None:
    """Write a corpus, replacing any that is there."""
    meta, arrays = _bundle(corpus, texts)
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM array_part WHERE array_id IN (SELECT array_id FROM array WHERE model_id IS NULL)")
    connection.execute("DELETE FROM array WHERE model_id IS NULL")
    put_arrays(connection, None, {"documents": arrays["documents"]})
    columns = _token_columns(arrays)
    widths = {name: _width(name, columns.get(name)) for name in _WIDTHS}
    summary = (
        *(meta["fingerprint"], corpus.n_docs, corpus.n_tokens, corpus.n_words, corpus.n_authors),
        *(int("texts_end" in arrays), *widths.values(), to_json(meta), checksum(meta, arrays)),
    )
    connection.execute("INSERT INTO corpus VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", summary)
    _put_names(connection, corpus)
    connection.executemany("INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _document_rows(corpus, texts))
    _put_tokens(connection, corpus.doc_start, [(columns.get(name), f"<u{width}") for name, width in widths.items()])
    connection.executemany("INSERT INTO word_document VALUES (?, ?, ?)", posting_rows(corpus))
    connection.execute("INSERT INTO document_search (document_search) VALUES ('rebuild')")


def has_other_metadata(connection: sqlite3.Connection, corpus: Corpus) -> bool:
    """Whether the file has other metadata than this corpus of the same words; one without metadata has no others."""
    given = pack_frame(corpus.documents)
    if np.array_equal(given, _plain_frame(corpus.n_docs)):
        return False
    return not np.array_equal(given, get_arrays(connection, None).get("documents", np.zeros(0, np.uint8)))


def knows_metadata(connection: sqlite3.Connection) -> bool:
    """Whether the file's documents have more than numbers."""
    (n_docs,) = connection.execute("SELECT n_documents FROM corpus").fetchone()
    return not np.array_equal(get_arrays(connection, None).get("documents", np.zeros(0)), _plain_frame(int(n_docs)))


def _plain_frame(n_docs: int) -> NDArray[np.uint8]:
    return np.asarray(pack_frame(document_frame(n_docs)))


def put_metadata(connection: sqlite3.Connection, corpus: Corpus) -> None:
    """Replace the metadata of the file's documents; the texts stay if the corpus has none."""
    if corpus.texts is None:
        stored = get_corpus(connection)
        stored.documents = corpus.documents
        corpus = stored
    put_corpus(connection, corpus, texts=True)


class _TokenColumn(NamedTuple):
    """A number for every token: ``part`` returns those of a slice, the bounds (which include 0) hold for all."""

    part: Callable[[slice], NDArray[Any]]
    least: int
    largest: int


def _token_columns(arrays: dict[str, Any]) -> dict[str, _TokenColumn]:
    tokens, start, end = arrays["tokens"], arrays.get("token_start"), arrays.get("token_end")
    parts: dict[str, Callable[[slice], NDArray[Any]]] = {"word_ids": lambda part: tokens[part]}
    if start is not None and end is not None:
        parts |= {"starts": lambda part: start[part], "lengths": lambda part: end[part] - start[part]}
    columns = {name: _token_column(part, len(tokens)) for name, part in parts.items()}
    if min(column.least for column in columns.values()) < 0:
        raise StoreError("the corpus has words that end before they start, or start before their text")
    return columns


def _token_column(part: Callable[[slice], NDArray[Any]], n_tokens: int) -> _TokenColumn:
    least = largest = 0
    for here in ranges(n_tokens):
        values = part(here)
        least, largest = min(least, int(values.min())), max(largest, int(values.max()))
    return _TokenColumn(part, least, largest)


def _width(name: str, column: _TokenColumn | None) -> int:
    narrow, wide = _WIDTHS[name]
    return narrow if column is None or column.largest < 2 ** (8 * narrow) else wide


def _put_tokens(
    connection: sqlite3.Connection, starts: NDArray[np.int64], columns: Sequence[tuple[_TokenColumn | None, str]]
) -> None:
    """Write a row of blobs per document; those of a long one in parts, or memory would hold them three times."""
    is_long = np.diff(starts) > BLOCK
    for long, group in itertools.groupby(range(len(is_long)), is_long.__getitem__):
        if long:
            for d in group:
                _put_long_document(connection, d, int(starts[d]), int(starts[d + 1]), columns)
            continue
        rows = (
            (d, *(column and _blob(column, dtype, starts[d], starts[d + 1]) for column, dtype in columns))
            for d in group
        )
        connection.executemany("INSERT INTO document_token VALUES (?, ?, ?, ?)", rows)


def _blob(column: _TokenColumn, dtype: str, first: int, last: int) -> bytes:
    return column.part(slice(first, last)).astype(dtype).tobytes()


def _put_long_document(
    connection: sqlite3.Connection, d: int, first: int, last: int, columns: Sequence[tuple[_TokenColumn | None, str]]
) -> None:
    sizes = [None if column is None else (last - first) * np.dtype(dtype).itemsize for column, dtype in columns]
    empty = ", ".join("NULL" if size is None else "zeroblob(?)" for size in sizes)
    given = (d, *(size for size in sizes if size is not None))
    connection.execute(f"INSERT INTO document_token VALUES (?, {empty})", given)
    for name, (column, dtype) in zip(_WIDTHS, columns, strict=True):
        if column is None:
            continue
        with connection.blobopen("document_token", name, d) as blob:
            for part in ranges(last - first):
                blob.write(_blob(column, dtype, first + part.start, first + part.stop))


def _bundle(corpus: Corpus, texts: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    meta, arrays = corpus_pieces(corpus, texts)
    for name in ("token_start", "token_end"):
        if name in arrays:
            arrays[name] = np.asarray(arrays[name], np.int32)
    if ("token_start" in arrays) != ("token_end" in arrays):
        raise StoreError("the corpus has only one of token_start and token_end; both are needed, or neither")
    return meta, arrays


def _put_names(connection: sqlite3.Connection, corpus: Corpus) -> None:
    words: Columns = {
        "word_id": range(corpus.n_words),
        "word": corpus.words,
        "n_tokens": occurrences(corpus.tokens, corpus.n_words),
        "n_documents": _documents_of_words(corpus),
    }
    insert_rows(connection, "word", table_values(words, list(words)))
    authors: Columns = {
        "author_id": range(corpus.n_authors),
        "author": corpus.authors,
        "n_documents": occurrences(corpus.doc_author, corpus.n_authors),
    }
    insert_rows(connection, "author", table_values(authors, list(authors)))
    lengths = np.diff(corpus.doc_author_start)
    doc = np.repeat(np.arange(corpus.n_docs), lengths)
    position = np.arange(len(doc)) - np.repeat(corpus.doc_author_start[:-1], lengths)
    by: Columns = {"document_id": doc, "position": position, "author_id": corpus.doc_author}
    insert_rows(connection, "document_author", table_values(by, list(by)))


def _documents_of_words(corpus: Corpus) -> NDArray[np.int64]:
    """Document frequency of each word, counted document by document, a long one in parts."""
    found = np.zeros(corpus.n_words, np.int64)
    for first, last in itertools.pairwise(corpus.doc_start.tolist()):
        if last - first <= BLOCK:
            found[np.unique(corpus.tokens[first:last])] += 1
            continue
        there = np.zeros(corpus.n_words, bool)
        for part in ranges(last - first):
            there[corpus.tokens[first + part.start : first + part.stop]] = True
        found += there
    return found


def _document_rows(corpus: Corpus, texts: bool) -> Iterator[tuple[Any, ...]]:
    frame, full = corpus.documents, corpus.texts if texts else None
    for part in ranges(corpus.n_docs, _DOCUMENTS_AT_A_TIME):
        yield from _rows_of_documents(frame.iloc[part], part, corpus.doc_lengths[part], full and full[part])


def _rows_of_documents(
    frame: pd.DataFrame, part: slice, lengths: NDArray[np.int64], texts: Sequence[str] | None
) -> Iterator[tuple[Any, ...]]:
    n, numbers = len(frame), range(part.start, part.stop)
    nothing: list[Any] = [None] * n

    def given(name: str) -> list[Any]:
        return [json_value(v) for v in frame[name].tolist()] if name in frame else nothing

    titles = [None if t is None else str(t) for t in given("title")]
    dates = [None if d is None else str(d) for d in given("date")]
    years = [y if type(y) is int and abs(y) < 2**63 else None for y in given("year")]
    others = [str(name) for name in frame if name not in _OWN_COLUMNS]
    extra = [to_json(dict(zip(others, row, strict=True))) for row in zip(*map(given, others), strict=True)]
    ids = [str(i) for i in frame["id"].tolist()] if "id" in frame else [str(d) for d in numbers]
    full = nothing if texts is None else texts
    return zip(numbers, ids, titles, dates, years, lengths.tolist(), extra or ["{}"] * n, full, strict=True)


def get_corpus(connection: sqlite3.Connection) -> Corpus:
    """Read the corpus; raise ``StoreError`` if its rows are inconsistent."""
    sizes = check_corpus(connection)
    settings, digest = read_rows(connection, "SELECT settings, digest FROM corpus")[0]
    meta = stored_json(settings, "the corpus", "corpus.settings")
    arrays = {
        "documents": get_arrays(connection, None).get("documents", np.zeros(0, np.uint8)),
        **_packed("words", connection.execute("SELECT word_id, word FROM word ORDER BY word_id")),
        **_packed("authors", connection.execute("SELECT author_id, author FROM author ORDER BY author_id")),
        **_token_arrays(connection, sizes.word_id_bytes, sizes.start_bytes, sizes.length_bytes),
        **_author_arrays(connection, sizes.n_documents),
    }
    if sizes.has_texts:
        rows = connection.execute("SELECT document_id, text FROM document ORDER BY document_id")
        arrays |= _packed("texts", rows)
    check_digest(checksum(meta, arrays), digest, "the corpus")
    try:
        return Corpus.from_bundle(meta, arrays)
    except CorpusError as error:
        raise StoreError(f"the corpus is damaged: {error}") from error


def stored_documents(connection: sqlite3.Connection) -> pd.DataFrame:
    """The frame of the documents' metadata alone; its checksum covers the whole corpus and is not checked."""
    try:
        return unpack_frame(get_arrays(connection, None).get("documents", np.zeros(0, np.uint8)))
    except CorpusError as error:
        raise StoreError(f"the documents' metadata are damaged: {error}") from error


def check_digest(found: str, expected: object, what: str) -> None:
    """Refuse data whose checksum is not the stored one."""
    if found != expected:
        raise StoreError(f"{what} is damaged: its checksum is not that of what was written")


def _packed(name: str, rows: Iterable[tuple[Any, Any]]) -> dict[str, NDArray[Any]]:
    strings = []
    for n, (number, string) in enumerate(rows):
        if number != n or not isinstance(string, str):
            raise StoreError(f"the corpus is damaged: {name} are not numbered strings")
        strings.append(string)
    data, ends = pack_strings(strings)
    return {name: data, f"{name}_end": ends}


def _token_arrays(
    connection: sqlite3.Connection, word_bytes: int, start_bytes: int, length_bytes: int
) -> dict[str, NDArray[Any]]:
    rows = connection.execute(
        "SELECT document_id, word_ids, starts, lengths FROM document_token ORDER BY document_id"
    ).fetchall()
    words = [row[1] for row in rows]
    if [row[0] for row in rows] != list(range(len(rows))) or not all(isinstance(blob, bytes) for blob in words):
        raise StoreError("the corpus is damaged: its tokens are not numbered blobs")
    n_tokens = [len(blob) // word_bytes for blob in words]
    arrays: dict[str, NDArray[Any]] = {
        "tokens": _joined(words, word_bytes, n_tokens),
        "doc_start": np.concatenate(([0], np.cumsum(n_tokens, dtype=np.int64))).astype(np.int64),
    }
    if any(row[2] is not None for row in rows):
        arrays["token_start"] = _joined([row[2] for row in rows], start_bytes, n_tokens)
        arrays["token_end"] = arrays["token_start"] + _joined([row[3] for row in rows], length_bytes, n_tokens)
    return arrays


def _joined(blobs: list[Any], size: int, lengths: list[int]) -> NDArray[np.int32]:
    fits = all(isinstance(b, bytes) and len(b) == n * size for b, n in zip(blobs, lengths, strict=True))
    values = np.frombuffer(b"".join(blobs), f"<u{size}") if fits else None
    if values is None or values.max(initial=0) >= 2**31:
        raise StoreError("the corpus is damaged: tokens and their offsets do not fit together")
    return values.astype(np.int32)


def _author_arrays(connection: sqlite3.Connection, n_docs: int) -> dict[str, NDArray[Any]]:
    rows = connection.execute(
        "SELECT document_id, author_id FROM document_author ORDER BY document_id, position"
    ).fetchall()
    if not all(type(d) is int and type(a) is int and 0 <= d < n_docs and 0 <= a < 2**31 for d, a in rows):
        raise StoreError("the corpus is damaged: document_author does not hold numbers of documents and authors")
    table = np.array(rows, np.int64).reshape(-1, 2)
    # The claimed number of documents is untrusted: allocate nothing of that size before the token rows confirm it.
    n_known = connection.execute("SELECT count(*) FROM document_token").fetchone()[0]
    if n_known != n_docs:
        raise StoreError(f"the corpus is damaged: {n_known} documents have tokens, {n_docs} were promised")
    start = np.concatenate(([0], np.cumsum(np.bincount(table[:, 0], minlength=n_docs))))
    return {"doc_author": table[:, 1].astype(np.int32), "doc_author_start": start.astype(np.int64)}


def bare(corpus: Corpus) -> Corpus:
    """Copy of the corpus without texts, metadata and provenance."""
    return Corpus(
        tokens=corpus.tokens,
        doc_start=corpus.doc_start,
        vocabulary=corpus.vocabulary,
        doc_author=corpus.doc_author,
        doc_author_start=corpus.doc_author_start,
        authors=corpus.authors,
    )
