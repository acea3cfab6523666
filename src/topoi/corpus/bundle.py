"""Serialisation of a corpus as named numeric arrays and JSON, for the store. No object arrays, no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from topoi.corpus.checked_json import Between, read_json
from topoi.corpus.mapped import release
from topoi.corpus.metadata import column, json_value
from topoi.corpus.pieces import ArrayOrPieces, ranges, string_pieces
from topoi.corpus.report import CorpusReport
from topoi.corpus.tokenize import Analyzer
from topoi.corpus.vocabulary import Vocabulary
from topoi.errors import CorpusError

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus

_FORMAT = 1
_FRAME = {"rows": Between(0, 2**31, whole=True), "columns": [{"name": str, "dtype": str, "values": list}]}
# Allowed types of values by dtype of the column; object columns allow any.
_VALUES: dict[str, set[type]] = {
    "int64": {int},
    "Int64": {int, NoneType},
    "float64": {float, int, NoneType},
    "bool": {bool},
    "boolean": {bool, NoneType},
    "datetime64[us]": {str, NoneType},
    "str": {str, NoneType},
}
_DTYPES = ("int64", "Int64", "float64", "bool", "boolean", "datetime64[us]", "str", "object")


def pack_strings(strings: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return strings as one array of UTF-8 bytes and the end of each.

    Examples
    --------
    >>> from topoi.corpus.bundle import pack_strings
    >>> pack_strings(["a", "é"])[1].tolist()
    [1, 3]
    """
    encoded = [string.encode() for string in strings]
    ends = np.cumsum([len(part) for part in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def unpack_strings(blob: np.ndarray, ends: np.ndarray) -> list[str]:
    """Return the strings that ``pack_strings`` packed.

    Examples
    --------
    >>> from topoi.corpus.bundle import pack_strings, unpack_strings
    >>> unpack_strings(*pack_strings(["a", "", "é"]))
    ['a', '', 'é']
    """
    data = np.ascontiguousarray(blob, np.uint8).tobytes()
    stops = np.asarray(ends, np.int64).tolist()
    if (stops and stops[-1] != len(data)) or any(a > b for a, b in zip([0, *stops], stops, strict=False)):
        raise CorpusError("the bundle's strings are damaged: their ends do not fit their bytes")
    return [data[a:b].decode() for a, b in zip([0, *stops], stops, strict=False)]


def pack_frame(frame: pd.DataFrame) -> np.ndarray:
    """Return a frame of metadata as the bytes of a JSON text that keeps types, dates and missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> from topoi.corpus.bundle import pack_frame, unpack_frame
    >>> unpack_frame(pack_frame(pd.DataFrame({"year": [1999]})))["year"].tolist()
    [1999]
    """
    columns = [_pack_column(str(name), frame[name]) for name in frame]
    text = json.dumps({"rows": len(frame), "columns": columns}, ensure_ascii=False)
    return np.frombuffer(text.encode(), np.uint8)


def _pack_column(name: str, series: pd.Series) -> dict[str, Any]:
    if str(series.dtype) not in _DTYPES:
        series = column(series)
    dtype = str(series.dtype)
    if dtype == "datetime64[us]":
        values = [None if value is pd.NaT else value.isoformat() for value in series]
    elif dtype == "object":
        values = [json_value(value) for value in series]
    else:
        values = [None if missing else value for value, missing in zip(series.tolist(), series.isna(), strict=True)]
    return {"name": name, "dtype": dtype, "values": values}


def unpack_frame(blob: np.ndarray) -> pd.DataFrame:
    """Return the frame that ``pack_frame`` packed.

    Examples
    --------
    >>> import pandas as pd
    >>> from topoi.corpus.bundle import pack_frame, unpack_frame
    >>> unpack_frame(pack_frame(pd.DataFrame({"links": [["a", "b"], None]})))["links"].tolist()
    [['a', 'b'], None]
    """
    try:
        packed = read_json(np.ascontiguousarray(blob, np.uint8).tobytes(), _FRAME, infinite=True)
    except ValueError as error:
        raise CorpusError(f"the bundle's metadata are damaged ({error})") from error
    if any(len(column["values"]) != packed["rows"] for column in packed["columns"]):
        raise CorpusError("the bundle's metadata are damaged: columns differ in length")
    columns = {packed_column["name"]: _unpack_column(packed_column) for packed_column in packed["columns"]}
    return pd.DataFrame(columns, index=pd.RangeIndex(packed["rows"]))


def _unpack_column(packed: Mapping[str, Any]) -> pd.Series:
    name, dtype, values = packed["name"], packed["dtype"], packed["values"]
    if dtype not in _DTYPES:
        raise CorpusError(f"the bundle's column {name!r} has the unknown type {dtype!r}")
    kinds = _VALUES.get(dtype)
    if kinds is not None and not set(map(type, values)) <= kinds:
        raise CorpusError(f"the bundle's column {name!r} is damaged: a value is not of type {dtype}")
    try:
        return _series(dtype, values)
    except (ValueError, OverflowError) as error:
        raise CorpusError(f"the bundle's column {name!r} is damaged ({error})") from error


def _series(dtype: str, values: list[Any]) -> pd.Series:
    if dtype == "datetime64[us]":
        return pd.Series(np.array([np.datetime64("NaT") if v is None else v for v in values], "datetime64[us]"))
    if dtype == "float64":
        return pd.Series(np.array([np.nan if v is None else v for v in values], np.float64))
    return pd.Series(values, dtype=dtype)


def pack_corpus(corpus: Corpus, texts: bool = True) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a corpus as JSON-able settings and arrays.

    Examples
    --------
    >>> from topoi import Corpus
    >>> from topoi.corpus.bundle import pack_corpus
    >>> sorted(pack_corpus(Corpus.from_tokens([["a"]]))[0])
    ['analyzer', 'fingerprint', 'format', 'report']
    """
    meta, arrays = corpus_pieces(corpus, texts)
    return meta, {name: np.asarray(array) for name, array in arrays.items()}


def corpus_pieces(corpus: Corpus, texts: bool = True) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
    """Return a corpus as ``pack_corpus`` does, but with texts, words and authors in pieces, to save memory.

    Examples
    --------
    >>> from topoi import Corpus
    >>> from topoi.corpus.bundle import corpus_pieces
    >>> corpus_pieces(Corpus.from_tokens([["a", "bc"]]))[1]["words"].shape
    (3,)
    """
    arrays: dict[str, ArrayOrPieces] = {
        "tokens": corpus.tokens,
        "doc_start": corpus.doc_start,
        "doc_author": corpus.doc_author,
        "doc_author_start": corpus.doc_author_start,
        "documents": pack_frame(corpus.documents),
    }
    for name in ("token_start", "token_end"):
        if getattr(corpus, name) is not None:
            arrays[name] = getattr(corpus, name)
    strings: dict[str, Any] = {"words": corpus.words, "authors": corpus.authors}
    if texts and corpus.texts is not None:
        strings["texts"] = corpus.texts
    for name, values in strings.items():
        arrays[name], arrays[f"{name}_end"] = string_pieces(values)
    meta: dict[str, Any] = {
        "format": _FORMAT,
        "analyzer": corpus.vocabulary.analyzer.to_dict(),
        "report": corpus.report.to_dict(),
        "fingerprint": corpus.fingerprint(),
    }
    return meta, arrays


def unpack_corpus(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return the arguments from which the packed corpus is rebuilt.

    Examples
    --------
    >>> from topoi import Corpus
    >>> from topoi.corpus.bundle import pack_corpus, unpack_corpus
    >>> unpack_corpus(*pack_corpus(Corpus.from_tokens([["a"]])))["tokens"].tolist()
    [0]
    """
    if meta.get("format") != _FORMAT:
        raise CorpusError(f"a bundle of format {meta.get('format')!r}; this version reads format {_FORMAT}")
    try:
        strings = {
            name: unpack_strings(arrays[name], arrays[f"{name}_end"])
            for name in ("words", "authors", "texts")
            if f"{name}_end" in arrays
        }
        parts = {
            "tokens": arrays["tokens"],
            "doc_start": arrays["doc_start"],
            "doc_author": arrays["doc_author"],
            "doc_author_start": arrays["doc_author_start"],
            "token_start": arrays.get("token_start"),
            "token_end": arrays.get("token_end"),
            "vocabulary": Vocabulary(strings["words"], Analyzer.from_dict(meta["analyzer"])),
            "authors": strings["authors"],
            "texts": strings.get("texts"),
            "documents": unpack_frame(arrays["documents"]),
            "report": CorpusReport.from_dict(meta["report"]),
        }
    except CorpusError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise CorpusError(f"the bundle is damaged: {type(problem).__name__} {problem}") from problem
    _check_parts(parts)
    return parts


def _check_parts(parts: Mapping[str, Any]) -> None:
    """Refuse inconsistent arrays: kernels do not check bounds."""
    n_docs = len(parts["documents"])
    for values, start, limit in (("tokens", "doc_start", "vocabulary"), ("doc_author", "doc_author_start", "authors")):
        ids, starts, n = parts[values], np.asarray(parts[start]), len(parts[limit])
        fits = len(starts) == n_docs + 1 and starts[0] == 0 and starts[-1] == len(ids) and (np.diff(starts) >= 0).all()
        if not fits or (len(ids) and not (0 <= ids.min() and ids.max() < n)):
            raise CorpusError(f"the bundle is damaged: {values}, {start} and {limit} do not fit together")
    for name in ("token_start", "token_end"):
        if parts[name] is not None and len(parts[name]) != len(parts["tokens"]):
            raise CorpusError(f"the bundle is damaged: {name} has {len(parts[name])} entries")
    if parts["texts"] is not None and len(parts["texts"]) != n_docs:
        raise CorpusError(f"the bundle is damaged: {len(parts['texts'])} texts for {n_docs} documents")


def corpus_fingerprint(corpus: Corpus) -> str:
    """Return a digest of a corpus's words, documents and authors.

    Examples
    --------
    >>> from topoi import Corpus
    >>> from topoi.corpus.bundle import corpus_fingerprint
    >>> len(corpus_fingerprint(Corpus.from_tokens([["a"]])))
    32
    """
    digest = hashlib.blake2b(digest_size=16)
    for values, kind in (
        (corpus.tokens, "<i4"),
        (corpus.doc_start, "<i8"),
        (corpus.doc_author, "<i4"),
        (corpus.doc_author_start, "<i8"),
    ):
        digest.update(len(values).to_bytes(8, "little"))
        for part in ranges(len(values)):
            digest.update(np.ascontiguousarray(values[part], kind).data)
            release(values[part])
    for strings in (corpus.words, corpus.authors):
        text, ends = string_pieces(strings)
        digest.update(len(ends).to_bytes(8, "little"))
        digest.update(ends.astype("<i8", copy=False).data)
        for block in text.blocks():
            digest.update(block.data)
    return digest.hexdigest()
