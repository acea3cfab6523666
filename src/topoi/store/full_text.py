"""Words of the full-text index with the documents that have them, for search outside the store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter

from topoi.store.connect import connect_reader, store_errors
from topoi.store.queries import FULL_TEXT_QUERIES
from topoi.store.store import Store


def indexed_words(store: Store) -> Iterator[tuple[str, Counter[int]]]:
    """Every word of titles and texts, in the order of its bytes, and how often each document has it.

    Words are as the index cuts and folds them: lower case, without accents.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.store.full_text import indexed_words
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> corpus = topoi.Corpus.from_texts(["A Café, a café.", "The sun"] * 3, min_df=1)
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(path)
    >>> next(word for word in indexed_words(topoi.open_store(path)) if word[0] == "cafe")
    ('cafe', Counter({0: 2, 2: 2, 4: 2}))
    """
    with store_errors(store.path), closing(connect_reader(store.path)) as connection:
        # The file is opened for reading only; this table is in memory, and reads the index.
        connection.execute("PRAGMA query_only = OFF")
        connection.execute(FULL_TEXT_QUERIES["open"])
        yield from _grouped(connection)


def _grouped(connection: sqlite3.Connection) -> Iterator[tuple[str, Counter[int]]]:
    rows = connection.execute(FULL_TEXT_QUERIES["words"])
    for word, same in groupby(rows, key=itemgetter(0)):
        yield str(word), Counter(int(row[1]) for row in same)
