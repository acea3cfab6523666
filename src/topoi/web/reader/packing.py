"""Data files of an exported site: JSON and columns of whole numbers, compressed, in a script that hands them over.

A web page opened from a folder may run scripts that lie beside it, but may not fetch files, so data are scripts too:
each calls ``topoiData`` with its name and its contents, zlib in letters of seven bits. The contents are the length of
the JSON (four bytes, little-endian), the JSON, and the columns, of which each byte has seven bits of a number, the
lowest first.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from topoi.store.postings import packed

SIGNIFICANT = 5  # digits of numbers that are not whole
_LEVEL = 9
# Fields of so many bytes are compressed by themselves.
_LONG = 4096
_MEMORY = 9
_STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY)
# Letters that would end a string of a script, or mean something in it; a zero before a digit would be another number.
_ESCAPED = {b"\0": rb"\0", b"\n": rb"\n", b"\r": rb"\r", b'"': rb"\"", b"\\": rb"\\"}
_ESCAPED |= {b"\0%d" % digit: rb"\x00%d" % digit for digit in range(10)}
_SPECIAL = re.compile(rb'\0[0-9]|[\0\n\r"\\]')
_MEANT = {written: letter for letter, written in _ESCAPED.items() if len(letter) == 1} | {rb"\x00": b"\0"}
_ESCAPE = re.compile(rb'\\(?:x00|[0nr"\\])')


def script(name: str, head: Any, columns: Sequence[ArrayLike] = ()) -> bytes:
    """A data file.

    Parameters
    ----------
    name : str
        Its name, without ``.js``.
    head : object
        The JSON; ``columns`` of a dict is reserved for the columns' lengths in bytes.
    columns : sequence of arrays
        Whole numbers from 0.

    Examples
    --------
    >>> from topoi.web.reader.packing import contents, script
    >>> contents(script("years", {"n": 2}, [[1990, 5]]))
    ({'n': 2, 'columns': [3]}, [[1990, 5]])
    """
    parts = [packed(np.asarray(column, np.int64))[0].tobytes() for column in columns]
    if columns:
        head = {**head, "columns": [len(part) for part in parts]}
    texts = _fields(head) if isinstance(head, dict) and head else [_json(head)]
    texts[0] = sum(map(len, texts)).to_bytes(4, "little") + texts[0]
    return b'topoiData("%s","%s");\n' % (name.encode("ascii"), lettered(_compressed(texts, parts)))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def _fields(head: Mapping[str, Any]) -> list[bytes]:
    """The JSON of a dict in pieces, of which each long field is one."""
    pieces: list[bytes] = [b"{"]
    for at, (name, value) in enumerate(head.items()):
        made = b"%s%s:%s" % (b"," if at else b"", _json(str(name)), _json(value))
        if len(made) < _LONG:
            pieces[-1] += made
        else:
            pieces += [made, b""]
    pieces[-1] += b"}"
    return pieces


def _compressed(texts: Sequence[bytes], columns: Sequence[bytes]) -> bytes:
    """One zlib stream of texts and columns, each with codes of its own: letters and numbers have little in common."""
    made = [bytes([0x78, 0xDA])]
    made += [_deflated(piece) for piece in texts if piece]
    made += [min((_deflated(piece, way) for way in _STRATEGIES), key=len) for piece in columns if piece]
    made.append(zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS).flush())
    whole = b"".join([*texts, *columns])
    return b"".join([*made, zlib.adler32(whole).to_bytes(4, "big")])


def _deflated(piece: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    """A part of a stream that others may follow."""
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY, strategy)
    return press.compress(piece) + press.flush(zlib.Z_FULL_FLUSH)


def lettered(body: bytes) -> bytes:
    r"""Bytes as letters of seven bits, the highest first, as they stand in a string of a script.

    Base64 has six bits to the letter.

    Examples
    --------
    >>> from topoi.web.reader.packing import lettered, unlettered
    >>> lettered(b"topoi"), unlettered(lettered(b"topoi"))
    (b':\x1bn\x06{$', b'topoi')
    """
    bits = np.unpackbits(np.frombuffer(body, np.uint8))
    padded = np.concatenate([bits, np.zeros(-len(bits) % 7, np.uint8)]).reshape(-1, 7)
    letters = np.packbits(padded, axis=1)[:, 0] >> 1
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], letters.tobytes())


def unlettered(text: bytes) -> bytes:
    """Inverse of ``lettered``: what web browsers and the reader's script do."""
    letters = np.frombuffer(_ESCAPE.sub(lambda match: _MEANT[match[0]], text), np.uint8)
    bits = np.unpackbits(letters[:, None], axis=1)[:, 1:].ravel()
    return np.packbits(bits[: len(bits) // 8 * 8]).tobytes()


def contents(body: bytes) -> tuple[Any, list[list[int]]]:
    """The JSON and the columns of a data file: what the reader's script does."""
    from topoi.store.postings import unpacked_numbers

    data = zlib.decompress(unlettered(body[body.index(b',"') + 2 : -4]))
    end = 4 + int.from_bytes(data[:4], "little")
    head, columns = json.loads(data[4:end]), []
    for length in head.get("columns", ()) if isinstance(head, dict) else ():
        columns.append(unpacked_numbers(data[end : end + length]).tolist())
        end += length
    return head, columns


def shortened(value: Any) -> Any:
    """A JSON value with fewer digits: five that matter; nan and inf become null.

    Examples
    --------
    >>> from topoi.web.reader.packing import shortened
    >>> shortened({"share": 0.12345678, "years": [1990, None], "perplexity": float("nan"), "p": 1234567.8})
    {'share': 0.12346, 'years': [1990, None], 'perplexity': None, 'p': 1234600}
    """
    if isinstance(value, float):
        return _short(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(part) for part in value]
    return shortened(value.item()) if isinstance(value, np.generic) else value


def _short(value: float) -> float | int:
    """Zero and one are common, and shorter as whole numbers, which JSON does not tell apart."""
    kept = float(f"{value:.{SIGNIFICANT}g}")
    return int(kept) if kept.is_integer() and abs(kept) < 2**53 else kept


class Interned:
    """Views with what many of them repeat replaced by numbers: badges of topics, documents in lists, names of authors.

    ``{"$t": 7}`` is the badge of a topic and ``{"$s": 7}`` its summary, with its trend; ``{"$d": 5, …}`` has the
    fields of a document in lists; ``{"$a": 3, …}`` the number and name of an author; ``{"$l": [names, rows]}`` is a
    list of dicts with the same names; ``{"$o": pairs}`` a dict whose names begin with ``$``.

    Parameters
    ----------
    badges, summaries : sequence of mappings
        Of topic 0, 1, …
    documents : mapping
        Documents in lists, by number.

    Attributes
    ----------
    names : dict
        Names of the authors met, by number.

    Examples
    --------
    >>> from topoi.web.reader.packing import Interned
    >>> badge = {"topic": 0, "label": None, "auto_label": "gold"}
    >>> interned = Interned([badge], [{**badge, "trend": [0.5]}], {})
    >>> interned.pack([{"topic": badge, "share": 0.25}, {"topic": badge, "share": 0.5}])
    {'$l': [['topic', 'share'], [[{'$t': 0}, 0.25], [{'$t': 0}, 0.5]]]}
    >>> interned.pack({"author_id": 3, "author": "Ann"}), interned.names
    ({'$a': 3}, {3: 'Ann'})
    """

    def __init__(
        self,
        badges: Sequence[Mapping[str, Any]],
        summaries: Sequence[Mapping[str, Any]],
        documents: Mapping[int, Mapping[str, Any]],
    ) -> None:
        self._badges, self._summaries, self._documents = badges, summaries, documents
        self.names: dict[int, str] = {}

    def pack(self, value: Any) -> Any:
        """A JSON view, interned."""
        if isinstance(value, Mapping):
            return self._known(value) or self._fields(value)
        if isinstance(value, list | tuple):
            return self._rows(value) or [self.pack(part) for part in value]
        return value

    def _fields(self, value: Mapping[str, Any]) -> dict[str, Any]:
        made = {str(name): self.pack(part) for name, part in value.items()}
        return {"$o": [list(pair) for pair in made.items()]} if any(name.startswith("$") for name in made) else made

    def _rows(self, values: Sequence[Any]) -> dict[str, Any] | None:
        """A list of several dicts with the same names."""
        if len(values) < 2 or not all(isinstance(value, Mapping) for value in values):
            return None
        made = [self._known(value) or self._fields(value) for value in values]
        names = list(made[0])
        if names and names != ["$o"] and all(list(one) == names for one in made):
            return {"$l": [names, [list(one.values()) for one in made]]}
        return None

    def _known(self, value: Mapping[str, Any]) -> dict[str, Any] | None:
        if "auto_label" in value and isinstance(value.get("topic"), int):
            return self._topic(value)
        if "identifier" in value and "document_id" in value:
            return self._document(value)
        if "author" in value and isinstance(value.get("author_id"), int):
            return self._author(value)
        return None

    def _topic(self, value: Mapping[str, Any]) -> dict[str, Any] | None:
        number = value["topic"]
        for key, table in (("$t", self._badges), ("$s", self._summaries)):
            if 0 <= number < len(table) and table[number] == value:
                return {key: number}
        return None

    def _document(self, value: Mapping[str, Any]) -> dict[str, Any] | None:
        number = value["document_id"]
        known = self._documents.get(number, {"": None})
        if any(name not in value or value[name] != part for name, part in known.items()):
            return None
        rest = {name: part for name, part in value.items() if name not in known}
        return None if any(name.startswith("$") for name in rest) else {"$d": number, **self._fields(rest)}

    def _author(self, value: Mapping[str, Any]) -> dict[str, Any] | None:
        number, name = value["author_id"], value["author"]
        if self.names.setdefault(number, name) != name:
            return None
        return {"$a": number, **self._fields({k: v for k, v in value.items() if k not in ("author_id", "author")})}


def in_chunks(sizes: Iterable[int], most: int) -> list[int]:
    """Starts of runs of items whose sizes sum to ``most`` or little more; then the number of items.

    Examples
    --------
    >>> from topoi.web.reader.packing import in_chunks
    >>> in_chunks([4, 4, 4, 20, 1], 8)
    [0, 2, 4, 5]
    """
    starts, room, n = [0], most, 0
    for n, size in enumerate(sizes, 1):
        room -= size
        if room <= 0:
            starts.append(n)
            room = most
    return starts if starts[-1] == n else [*starts, n]
