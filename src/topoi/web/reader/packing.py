"""Data files of an exported site: JSON and columns of whole numbers, compressed, in a script that hands them over.

A web page opened from a folder may run scripts that lie beside it, but may not fetch files, so data are scripts too:
each calls ``topoiData`` with its name and its contents, zlib in base64. The contents are the length of the JSON (four
bytes, little-endian), the JSON, and the columns, whose numbers take seven bits to the byte, lowest first.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from topoi.store.postings import packed

SIGNIFICANT = 5  # digits of numbers that are not whole
_LEVEL = 9


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
    text = json.dumps(head, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
    body = zlib.compress(b"".join([len(text).to_bytes(4, "little"), text, *parts]), _LEVEL)
    return b'topoiData("%s","%s");\n' % (name.encode("ascii"), base64.b64encode(body))


def contents(body: bytes) -> tuple[Any, list[list[int]]]:
    """The JSON and the columns of a data file: what the reader's script does."""
    from topoi.store.postings import unpacked_numbers

    data = zlib.decompress(base64.b64decode(body.split(b'"')[3]))
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
