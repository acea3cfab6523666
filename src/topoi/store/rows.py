"""Rows of a store, checked as they are read: each value against the type and bounds declared for its column.

A column's name means the same in every table and query, so one declaration (``COLUMNS``) covers all of them. In a
query, a column named ``…_or_null`` may be null even if the column itself may not.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from topoi.errors import StoreError

# A token's topic is stored in at most two bytes.
MOST_TOPICS = 2**16
_MOST = 2**31 - 1
_MOST_TOKENS = 2**48
_ROWS_AT_A_TIME = 100_000
_SLACK = 1e-6  # rounding tolerance of shares
_OR_NULL = "_or_null"


class Kind(NamedTuple):
    """Types and bounds of a column's values."""

    types: tuple[type, ...]
    name: str
    low: float = -math.inf
    high: float = math.inf
    null: bool = False


def _whole(high: float = _MOST, low: float = 0) -> Kind:
    return Kind((int,), "a whole number", low, high)


def _real(low: float, high: float) -> Kind:
    return Kind((float, int), "a number", low, high)


_TEXT = Kind((str,), "text")
_BLOB = Kind((bytes,), "binary")
_TOPIC = _whole(MOST_TOPICS - 1)
_TOKENS = _whole(_MOST_TOKENS)
_ANY_WHOLE = _whole(2**63 - 1, -(2**63))
_SHARE = _real(-_SLACK, 1 + _SLACK)
_ALPHA = _real(0, 1e30)

COLUMNS: Mapping[str, Kind] = {
    **dict.fromkeys(("model_id", "array_id", "document_id", "author_id", "word_id"), _whole()),
    **dict.fromkeys(("position", "rank", "level", "part", "node", "parent", "n_rows", "n_children"), _whole()),
    **dict.fromkeys(("n_documents", "n_words", "n_authors", "n_found"), _whole()),
    **dict.fromkeys(("n_iter", "n_chains", "chain", "sweep"), _whole(2**53)),
    **dict.fromkeys(("topic", "other"), _TOPIC),
    **dict.fromkeys(("n_tokens", "n_of_word", "n_before", "n_same", "n_lacking"), _TOKENS),
    **dict.fromkeys(("has_texts", "glue", "absent", "is_there"), _whole(1)),
    **dict.fromkeys(("word_id_bytes", "start_bytes", "length_bytes"), _whole(4, 1)),
    "hue": _whole(359),
    "n_topics": _whole(MOST_TOPICS)._replace(null=True),
    "child": _whole()._replace(null=True),
    "seed": _ANY_WHOLE._replace(null=True),
    "year": _ANY_WHOLE._replace(null=True),
    "decade": _ANY_WHOLE,
    **dict.fromkeys(("share", "lower", "upper", "probability"), _SHARE),
    "deviation": _real(0, 1),
    **dict.fromkeys(("alpha", "alpha_sum"), _ALPHA),
    **dict.fromkeys(("x", "y"), _real(-10, 10)._replace(null=True)),
    "step": _whole(),
    "distance": _real(0, math.inf),
    "perplexity": _real(0, math.inf)._replace(null=True),
    "log_joint": _real(-1e300, 1e300),
    **dict.fromkeys(("author", "identifier", "word", "name", "model", "label", "created", "topoi_version"), _TEXT),
    **dict.fromkeys(("record", "bundle", "parameters", "settings", "metadata", "words"), _TEXT),
    **dict.fromkeys(("authors", "coauthors", "nodes"), _TEXT),
    **dict.fromkeys(("digest", "fingerprint", "kind", "dtype", "shape"), _TEXT),
    **dict.fromkeys(("title", "long_title", "date", "text", "sentence"), _TEXT._replace(null=True)),
    **dict.fromkeys(("word_ids", "paths", "data", "row_start", "topic_blob", "n_tokens_blob"), _BLOB),
    **dict.fromkeys(("postings", "shares"), _BLOB),
    **dict.fromkeys(("starts", "lengths", "topics", "author_positions"), _BLOB._replace(null=True)),
    **dict.fromkeys(("deviation_blob", "deviations"), _BLOB._replace(null=True)),
}


def kind_of(column: str) -> Kind:
    """Return the kind of a column of a query; an undeclared one is a mistake in the query.

    Examples
    --------
    >>> from topoi.store.rows import kind_of
    >>> kind_of("topic").name, kind_of("name_or_null").null
    ('a whole number', True)
    """
    if column.endswith(_OR_NULL):
        return COLUMNS[column.removesuffix(_OR_NULL)]._replace(null=True)
    return COLUMNS[column]


def read_rows(
    connection: sqlite3.Connection,
    query: str,
    parameters: Mapping[str, Any] | Sequence[Any] = (),
    limits: Mapping[str, int] | None = None,
) -> list[tuple[Any, ...]]:
    """Return the rows of a query, each value checked against its column; a wrong value is a ``StoreError``.

    Parameters
    ----------
    connection : Connection
        A reader of the store.
    query : str
        A SELECT whose columns are named as in ``COLUMNS``.
    parameters : mapping or sequence
        Its parameters.
    limits : mapping
        Exclusive upper bounds of id columns (topics, words, …).
    """
    return [row for block in read_blocks(connection, query, parameters, limits) for row in block]


def read_blocks(
    connection: sqlite3.Connection,
    query: str,
    parameters: Mapping[str, Any] | Sequence[Any] = (),
    limits: Mapping[str, int] | None = None,
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of ``read_rows`` in blocks, for callers that need not hold all of them."""
    cursor = connection.execute(query, parameters)
    names = [column[0] for column in cursor.description]
    kinds = [_limited(name, limits or {}) for name in names]
    while rows := cursor.fetchmany(_ROWS_AT_A_TIME):
        for name, kind, values in zip(names, kinds, zip(*rows, strict=True), strict=True):
            _check(name, kind, values)
        yield rows


def _limited(name: str, limits: Mapping[str, int]) -> Kind:
    kind = kind_of(name)
    limit = limits.get(name.removesuffix(_OR_NULL))
    return kind if limit is None else kind._replace(high=min(kind.high, limit - 1))


def _check(name: str, kind: Kind, values: tuple[Any, ...]) -> None:
    found = set(map(type, values))
    if type(None) in found and kind.null:
        found.discard(type(None))
        values = tuple(value for value in values if value is not None)
    if not found <= set(kind.types):
        raise StoreError(f"it is damaged: column {name.removesuffix(_OR_NULL)} holds what is not {kind.name}")
    if values and (kind.low > -math.inf or kind.high < math.inf):
        if not (min(values) >= kind.low and max(values) <= kind.high):
            bounds = f"from {kind.low:.12g} to {kind.high:.12g}"
            raise StoreError(f"it is damaged: column {name.removesuffix(_OR_NULL)} is not always {bounds}")
