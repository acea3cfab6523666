"""A corpus as rows of a store, and back, to the last bit."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topoi.corpus.bundle import pack_strings
from topoi.corpus.corpus import Corpus
from topoi.corpus.metadata import json_value
from topoi.errors import CorpusError, StoreError
from topoi.store.arrays import checksum, get_arrays, put_arrays, to_json
from topoi.store.door import check_corpus, stored_json
from topoi.store.rows import read_rows

# Kept as rows, from which the arrays are made again; the frame of documents is kept whole, for its types.
_TABLES = ("document_token", "document_author", "document", "author", "word", "corpus")
# Bytes per number in the columns of document_token: the narrower width wherever all numbers fit it.
_WIDTHS = {"word_ids": (2, 4), "starts": (2, 4), "lengths": (1, 4)}
_OWN_COLUMNS = ("id", "title", "date", "year")


def put_corpus(connection: sqlite3.Connection, corpus: Corpus, texts: bool) -> None:
    """Write a corpus in place of any that is there."""
    meta, arrays = _bundle(corpus, texts)
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM array_part WHERE array_id IN (SELECT array_id FROM array WHERE model_id IS NULL)")
    connection.execute("DELETE FROM array WHERE model_id IS NULL")
    put_arrays(connection, None, {"documents": arrays["documents"]})
    columns = {"word_ids": arrays["tokens"]}
    if "token_start" in arrays:
        columns |= {"starts": arrays["token_start"], "lengths": arrays["token_end"] - arrays["token_start"]}
        if min(columns["starts"].min(initial=0), columns["lengths"].min(initial=0)) < 0:
            raise StoreError("the corpus has words that end before they start, or start before their text")
    widths = {name: _width(name, columns.get(name)) for name in _WIDTHS}
    summary = (
        *(corpus.fingerprint(), corpus.n_docs, corpus.n_tokens, corpus.n_words, corpus.n_authors),
        *(int("texts_end" in arrays), *widths.values(), to_json(meta), checksum(meta, arrays)),
    )
    connection.execute("INSERT INTO corpus VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", summary)
    _put_names(connection, corpus)
    connection.executemany("INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _document_rows(corpus, texts))
    blobs = [
        each_blob(columns[name], f"<u{width}", corpus.doc_start) if name in columns else [None] * corpus.n_docs
        for name, width in widths.items()
    ]
    rows = zip(range(corpus.n_docs), *blobs, strict=True)
    connection.executemany("INSERT INTO document_token VALUES (?, ?, ?, ?)", rows)
    connection.execute("INSERT INTO document_search (document_search) VALUES ('rebuild')")


def _width(name: str, values: NDArray[Any] | None) -> int:
    narrow, wide = _WIDTHS[name]
    return narrow if values is None or int(values.max(initial=0)) < 2 ** (8 * narrow) else wide


def _bundle(corpus: Corpus, texts: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    meta, arrays = corpus.to_bundle(texts=texts)
    for name in ("token_start", "token_end"):
        if name in arrays:
            arrays[name] = np.asarray(arrays[name], np.int32)
    if ("token_start" in arrays) != ("token_end" in arrays):
        raise StoreError("the corpus has only one of token_start and token_end; both are needed, or neither")
    return meta, arrays


def _put_names(connection: sqlite3.Connection, corpus: Corpus) -> None:
    n_tokens = np.bincount(corpus.tokens, minlength=corpus.n_words)
    n_documents = _documents_of_words(corpus)
    # Numbers become Python's one by one: lists of all of them would take ten times the memory.
    words = ((w, str(corpus.words[w]), int(n_tokens[w]), int(n_documents[w])) for w in range(corpus.n_words))
    connection.executemany("INSERT INTO word VALUES (?, ?, ?, ?)", words)
    written = np.bincount(corpus.doc_author, minlength=corpus.n_authors).tolist()
    authors = zip(range(corpus.n_authors), corpus.authors.tolist(), written, strict=True)
    connection.executemany("INSERT INTO author VALUES (?, ?, ?)", authors)
    lengths = np.diff(corpus.doc_author_start)
    doc = np.repeat(np.arange(corpus.n_docs), lengths)
    position = np.arange(len(doc)) - np.repeat(corpus.doc_author_start[:-1], lengths)
    by = zip(doc.tolist(), position.tolist(), corpus.doc_author.tolist(), strict=True)
    connection.executemany("INSERT INTO document_author VALUES (?, ?, ?)", by)


def _documents_of_words(corpus: Corpus) -> NDArray[np.int64]:
    """In how many documents each word occurs, counted document by document."""
    found = np.zeros(corpus.n_words, np.int64)
    bounds = corpus.doc_start.tolist()
    for first, last in itertools.pairwise(bounds):
        found[np.unique(corpus.tokens[first:last])] += 1
    return found


def _document_rows(corpus: Corpus, texts: bool) -> Iterator[tuple[Any, ...]]:
    frame = corpus.documents
    n = corpus.n_docs
    nothing: list[Any] = [None] * n

    def given(name: str) -> list[Any]:
        return [json_value(v) for v in frame[name].tolist()] if name in frame else nothing

    titles = [None if t is None else str(t) for t in given("title")]
    dates = [None if d is None else str(d) for d in given("date")]
    years = [y if type(y) is int and abs(y) < 2**63 else None for y in given("year")]
    others = [str(name) for name in frame if name not in _OWN_COLUMNS]
    extra = [to_json(dict(zip(others, row, strict=True))) for row in zip(*map(given, others), strict=True)]
    ids = [str(i) for i in frame["id"].tolist()] if "id" in frame else [str(d) for d in range(n)]
    full = corpus.texts if texts and corpus.texts is not None else nothing
    lengths = corpus.doc_lengths.tolist()
    return zip(range(n), ids, titles, dates, years, lengths, extra or ["{}"] * n, full, strict=True)


def cut_blobs(values: NDArray[Any], starts: NDArray[np.int64]) -> list[bytes]:
    r"""The bytes of each document's part of an array over all tokens.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.corpus_rows import cut_blobs
    >>> cut_blobs(np.array([1, 2, 3], "<u2"), np.array([0, 1, 3]))
    [b'\x01\x00', b'\x02\x00\x03\x00']
    """
    data, at = values.tobytes(), (starts * values.itemsize).tolist()
    return [data[a:b] for a, b in zip(at, at[1:], strict=False)]


def each_blob(values: NDArray[Any], dtype: str, starts: NDArray[np.int64]) -> Iterator[bytes]:
    r"""The same one by one, in numbers of another type: nothing of the size of all tokens is made.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.corpus_rows import each_blob
    >>> list(each_blob(np.array([1, 2, 3]), "<u2", np.array([0, 1, 3])))
    [b'\x01\x00', b'\x02\x00\x03\x00']
    """
    for first, last in itertools.pairwise(starts.tolist()):
        yield values[first:last].astype(dtype).tobytes()


def position_blobs(positions: NDArray[Any], starts: NDArray[np.int64]) -> list[bytes]:
    r"""Authors' positions by document: a byte each, or two each if any is above 255.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.store.corpus_rows import position_blobs
    >>> position_blobs(np.array([1, 0], np.uint16), np.array([0, 2]))
    [b'\x01\x00']
    """
    return cut_blobs(positions.astype("<u2" if positions.max(initial=0) > 255 else "u1"), starts)


def get_corpus(connection: sqlite3.Connection) -> Corpus:
    """Read the corpus; whatever does not fit together is a ``StoreError``."""
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


def check_digest(found: str, expected: Any, what: str) -> None:
    """Refuse data that are not those that were written."""
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
    # The number of documents is the file's word only: nothing of that size is made before the tokens agree with it.
    n_known = connection.execute("SELECT count(*) FROM document_token").fetchone()[0]
    if n_known != n_docs:
        raise StoreError(f"the corpus is damaged: {n_known} documents have tokens, {n_docs} were promised")
    start = np.concatenate(([0], np.cumsum(np.bincount(table[:, 0], minlength=n_docs))))
    return {"doc_author": table[:, 1].astype(np.int32), "doc_author_start": start.astype(np.int64)}


def bare(corpus: Corpus) -> Corpus:
    """The corpus without texts, metadata and where it came from."""
    return Corpus(
        tokens=corpus.tokens,
        doc_start=corpus.doc_start,
        vocabulary=corpus.vocabulary,
        doc_author=corpus.doc_author,
        doc_author_start=corpus.doc_author_start,
        authors=corpus.authors,
    )


def years(corpus: Corpus) -> NDArray[np.float64]:
    """Each document's year, nan where there is none or it is not a number."""
    if "year" not in corpus.documents:
        return np.full(corpus.n_docs, np.nan)
    return pd.to_numeric(corpus.documents["year"], errors="coerce").to_numpy(np.float64, na_value=np.nan)
