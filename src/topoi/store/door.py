"""What is checked of a store before it is used: that what it says of itself is so.

The checks read indexes and a few rows, however large the file: sizes are counted and compared with those that are
claimed, and nothing is made of a size that is only claimed. Rows are checked when they are read (``topoi.store.rows``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from topoi.corpus.checked_json import Between, read_json
from topoi.errors import StoreError
from topoi.store.rows import MOST_TOPICS, read_rows

_NUMBERED = (("document", "document_id"), ("word", "word_id"), ("author", "author_id"))
_WIDTHS = {"word_id_bytes": (2, 4), "start_bytes": (2, 4), "length_bytes": (1, 4)}
_CORPUS = "n_documents, n_tokens, n_words, n_authors, has_texts, word_id_bytes, start_bytes, length_bytes"
_POSITIVE = Between(1e-300, 1e300)
# The settings that say how large a model is; each is at most the number of topics, or of nodes, that there are.
_SIZES = ("n_topics", "n_aspects", "n_super", "n_sub")

SHAPES: Mapping[str, Any] = {
    "corpus.settings": {"analyzer": dict, "report": dict, "fingerprint": str},
    "model.bundle": {"model": str, "settings": dict, "progress": dict, "fit_info": dict},
    "words": [str],
    "metadata": dict,
}


class Sizes(NamedTuple):
    """How large a store's corpus is: claimed by its row, and counted."""

    n_documents: int
    n_tokens: int
    n_words: int
    n_authors: int
    has_texts: bool
    word_id_bytes: int
    start_bytes: int
    length_bytes: int

    @property
    def limits(self) -> dict[str, int]:
        """How many there are of what columns of a query number."""
        return {"document_id": self.n_documents, "word_id": self.n_words, "author_id": self.n_authors}


def check_corpus(connection: sqlite3.Connection) -> Sizes:
    """The sizes of the corpus, if documents, words and authors are there and numbered from 0."""
    rows = read_rows(connection, f"SELECT {_CORPUS} FROM corpus")
    if not rows:
        raise StoreError("the store holds no corpus")
    sizes = Sizes(*rows[0])
    if not all(getattr(sizes, name) in known for name, known in _WIDTHS.items()):
        raise StoreError("the corpus is damaged: the widths of its numbers are not valid")
    for table, key in _NUMBERED:
        _check_numbered(connection, table, key, getattr(sizes, f"n_{table}s"))
    return sizes


def _check_numbered(
    connection: sqlite3.Connection, table: str, key: str, n: int, where: str = "1", parameters: tuple[Any, ...] = ()
) -> None:
    query = f"SELECT count(*), min({key}), max({key}) FROM {table} WHERE {where}"
    found = connection.execute(query, parameters).fetchone()
    if found != ((n, 0, n - 1) if n else (0, None, None)):
        there = f"but {found[0]:,} are there" if found[0] != n else "but they have other numbers"
        raise StoreError(f"it is damaged: {n:,} rows of table {table} are claimed, numbered from 0, {there}")


def check_model(connection: sqlite3.Connection, model_id: int, n_topics: int) -> None:
    """Refuse a model that has not as many topics as it claims, numbered from 0."""
    if n_topics > MOST_TOPICS:
        raise StoreError(f"it is damaged: a model has at most {MOST_TOPICS:,} topics")
    _check_numbered(connection, "topic", "topic", n_topics, "model_id = ?", (model_id,))


def check_sizes(connection: sqlite3.Connection, model_id: int, settings: Mapping[str, Any], n_topics: int) -> None:
    """Refuse settings that claim more topics, or nodes, than there are, before anything of that size is made."""
    n_nodes = connection.execute("SELECT count(*) FROM dag_node WHERE model_id = ?", (model_id,)).fetchone()[0]
    for name in _SIZES if not settings.get("dag") else ():
        claimed = settings.get(name)
        # A file of an older version has no rows of nodes; then only what two bytes can number bounds them.
        most = MOST_TOPICS if name == "n_super" and not n_nodes else max(n_topics, n_nodes)
        if isinstance(claimed, int | float) and not claimed <= most:
            raise StoreError(f"its settings claim {name}={claimed:,}, but {n_topics:,} topics are there: damaged")


def stored_json(text: Any, what: str, shape: Any = None) -> Any:
    """A JSON value of the store, within limits and of a shape (one of ``SHAPES`` by name, or its own).

    Examples
    --------
    >>> from topoi.store.door import stored_json
    >>> stored_json('["sun", "star"]', "the words of a topic", "words")
    ['sun', 'star']
    """
    try:
        return read_json(text, SHAPES[shape] if isinstance(shape, str) else shape)
    except ValueError as error:
        raise StoreError(f"{what} is damaged ({error})") from error


def model_parameters(text: Any) -> dict[str, float]:
    """The sums of the priors."""
    given = stored_json(text, "the model's parameters", {"alpha_sum": _POSITIVE, "beta_sum": _POSITIVE})
    return {name: float(given[name]) for name in ("alpha_sum", "beta_sum")}
