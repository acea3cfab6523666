"""``topoi.open_store`` and the ``Store`` it returns."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from topoi.corpus.corpus import Corpus
from topoi.errors import NotFoundError, StoreError
from topoi.models.update_report import UpdateReport
from topoi.retrieval.index import DocumentIndex
from topoi.store import write
from topoi.store.connect import connect_reader, store_errors
from topoi.store.corpus_rows import get_corpus
from topoi.store.door import Sizes, check_corpus
from topoi.store.migrate import migrated
from topoi.store.read import StoredModel, find_model, list_labels, list_models, read_model, run_query
from topoi.store.rows import read_blocks, read_rows

if TYPE_CHECKING:
    from topoi.models.editing.editor import Editor

# Largest number of idle connections in the pool.
_MOST_KEPT = 4


class Store:
    """A corpus and its fitted models in one SQLite file, opened for reading.

    Made by :func:`topoi.open_store`. May be used from several threads. When another program saves into the file, the
    next call sees the new contents.

    Attributes
    ----------
    path : Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
    >>> with topoi.open_store(path) as store:
    ...     store.models()["name"].tolist(), store.corpus().n_docs
    (['LDA'], 20)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._free: list[tuple[tuple[int, ...], sqlite3.Connection]] = []
        self._sizes: tuple[tuple[int, ...], Sizes] | None = None
        self._index: tuple[tuple[int, ...], DocumentIndex] | None = None
        self._open = True
        migrated(self.path)
        with self.connection():
            pass  # refuse an unreadable file now, not at the first query

    def __repr__(self) -> str:
        return f"<Store: {self.path}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_free"):
            self.close()

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).close()
        """
        with self._lock:
            self._open = False
            for _, connection in self._free:
                connection.close()
            self._free.clear()

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Yield a pooled read-only connection to the file's current contents; it is returned at the end of the block.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> with topoi.open_store(path).connection() as connection:
        ...     connection.execute("SELECT count(*) FROM word").fetchone()[0]
        2
        """
        if not self._open:
            raise StoreError(f"the store {self.path} has been closed")
        with store_errors(self.path):
            now = _contents(self.path)
        connection = self._take(now) or connect_reader(self.path)
        try:
            with store_errors(self.path):
                yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if self._open and len(self._free) < _MOST_KEPT:
                self._free.append((now, connection))
                return
        connection.close()

    def _take(self, now: tuple[int, ...]) -> sqlite3.Connection | None:
        """Take an idle connection to the file of that identity; close those to files that were replaced."""
        with self._lock:
            while self._free:
                then, connection = self._free.pop()
                if then == now:
                    return connection
                connection.close()
        return None

    def place_documents(
        self, model: str | None = None, *, n_jobs: int | None = -1, progress: Callable[[float], None] | None = None
    ) -> int:
        """Compute a place on the map for each document of a model, and keep them in the file.

        A reader finds the old places or the new ones. Saving does this for a thousand documents or fewer; 60,000 take
        a few minutes on two cores.

        Parameters
        ----------
        model : str, optional
            Which model; the one saved last if not given.
        n_jobs : int, optional
            Number of threads, on which the places do not depend; -1 is one for each core.
        progress : callable, optional
            Function that is told the part done, 0 to 1, again and again.

        Returns
        -------
        int
            Number of documents with a place; those without words have none.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
        >>> topoi.open_store(path).place_documents()
        6
        """
        from topoi.store.places import place_documents

        return place_documents(self, model, n_jobs, progress)

    def rows(
        self, query: str, parameters: Mapping[str, Any] | Sequence[Any] = (), limits: Mapping[str, int] | None = None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of one of topoi's own queries, checked as in ``topoi.store.rows``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).rows("SELECT n_documents, n_tokens FROM corpus")
        [(2, 6)]
        """
        with self.connection() as connection, self.named():
            return read_rows(connection, query, parameters, limits)

    def blocks(
        self, query: str, parameters: Mapping[str, Any] | Sequence[Any] = (), limits: Mapping[str, int] | None = None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of ``rows`` in blocks.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> [len(block) for block in topoi.open_store(path).blocks("SELECT document_id FROM document")]
        [20]
        """
        with self.connection() as connection, self.named():
            yield from read_blocks(connection, query, parameters, limits)

    @property
    def sizes(self) -> Sizes:
        """Sizes of the corpus, checked and cached until the file changes.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).sizes.n_words
        2
        """
        with store_errors(self.path):
            now = _contents(self.path)
        known = self._sizes
        if known is None or known[0] != now:
            with self.connection() as connection, self.named():
                known = self._sizes = (now, check_corpus(connection))
        return known[1]

    @contextmanager
    def named(self) -> Iterator[None]:
        """Prefix the file's name to errors about its contents.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> with topoi.open_store(path).named():
        ...     raise topoi.StoreError("topic 3 is damaged")
        Traceback (most recent call last):
        ...
        topoi.errors.StoreError: ...small.topoi: topic 3 is damaged
        """
        try:
            yield
        except NotFoundError:
            raise  # not about damage
        except StoreError as error:
            raise StoreError(f"{self.path}: {error}") from error

    def search_index(self) -> DocumentIndex:
        """The index of the documents, for ``topoi.Search``; kept until the file changes.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "moon"], ["sun"]])
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit(corpus).save(path)
        >>> topoi.Search(topoi.open_store(path)).query("moon", method="language")["document"].tolist()
        [0]
        """
        from topoi.store.search import StoreIndex  # it reads stores

        with store_errors(self.path):
            now = _contents(self.path)
        known = self._index
        if known is None or known[0] != now:
            known = self._index = (now, StoreIndex(self))
        return known[1]

    def searched_model(self, name: str | None) -> Any:
        """The model of that name, or the one saved last, for ``topoi.Search``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
        >>> topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus).save(path)
        >>> topoi.open_store(path).searched_model(None).name
        'LDA'
        """
        from topoi.store.view import ModelView  # it reads stores

        return ModelView(self, name)

    def models(self) -> pd.DataFrame:
        """The models, in the order saved: name, model, n_topics, n_iter, n_chains, seed, created, topoi_version.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path, name="two topics")
        >>> topoi.open_store(path).models()[["name", "model", "n_topics"]].values.tolist()
        [['two topics', 'LDA', 2]]
        """
        with self.connection() as connection:
            return list_models(connection)

    def corpus(self) -> Corpus:
        """The corpus, as it was saved.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).corpus().n_tokens
        6
        """
        with self.connection() as connection, self.named():
            return get_corpus(connection)

    def read_model(self, name: str | None = None) -> StoredModel:
        """Read the settings and arrays of a model (None: the one saved last); ``topoi.load`` rebuilds the model itself.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> sorted(topoi.open_store(path).read_model().arrays)
        ['chain0_alpha', 'chain0_beta', 'chain0_sampled', 'chain0_samples_topic', 'chain0_topic']
        """
        with self.connection() as connection:
            return read_model(connection, self.path, name)

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        max_rows: int = 100_000,
        timeout: float = 10.0,
    ) -> pd.DataFrame:
        """Return the rows of a SELECT as a frame; the tables are described in ``docs/store.md``.

        Parameters
        ----------
        query : str
            One SELECT. Values from outside belong in ``parameters``, never in the query's text.
        parameters : sequence or mapping
            Values for ``?`` or ``:name`` in the query.
        max_rows : int
            A query that returns more rows is a ``StoreError``.
        timeout : float
            A query that takes more seconds is a ``StoreError``.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).sql("SELECT word, n_tokens FROM word WHERE n_tokens >= ?", [3])["n_tokens"].tolist()
        [3, 3]
        """
        with closing(connect_reader(self.path)) as connection:
            return run_query(connection, self.path, query, parameters, max_rows, timeout)

    def labels(self, model: str | None = None) -> dict[int, str]:
        """Labels that users gave to a model's topics (None: the model saved last).

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> store = topoi.open_store(path)
        >>> store.set_label("LDA", 1, "weather")
        >>> store.labels()
        {1: 'weather'}
        """
        with self.connection() as connection:
            return list_labels(connection, model)

    def update(self, X: Any, name: str | None = None, *, output: str | Path | None = None, **options: Any) -> Any:
        """Update a model of the file by new documents, and save both; labels stay with their topics.

        Parameters
        ----------
        X : Corpus, texts, table
            The new documents, as ``model.update`` takes them.
        name : str, optional
            The model's name; the one saved last if not given.
        output : path, optional
            A new file for the updated model. Without it the file itself is replaced, at once and as a whole; that is
            refused if it holds other models, since all models of a file share its corpus.
        **options
            As in ``model.update``: ``n_iter``, ``spare_topics``, ``min_df``, ``known``, ``callback``.

        Returns
        -------
        fitted model
            The updated model; its ``update_report_`` says what has changed.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
        >>> store = topoi.open_store(path)
        >>> store.set_label(None, 1, "stars")
        >>> model = store.update([["sun", "moon"], ["moon"]], n_iter=5)
        >>> store.corpus().n_docs, store.labels(), len(store.updates())
        (8, {1: 'stars'}, 1)
        """
        from topoi.store.files import load  # these read stores
        from topoi.store.updates import check_place, save_updated

        place = None if output is None else Path(output)
        check_place(self, place)
        with self.connection() as connection:
            (found,) = find_model(connection, name, "name")
        model = load(self, str(found))
        before = model.corpus_.fingerprint()
        model.update(X, **options)
        save_updated(model, self, str(found), before, place)
        return model

    def updates(self, model: str | None = None) -> list[UpdateReport]:
        """Reports of a model's updates (None: the model saved last); of earlier ones, without the old topics' rows.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).updates()
        []
        """
        from topoi.store.updates import list_updates  # it reads stores

        return list_updates(self, model)

    def edit(self, name: str | None = None, *, who: str = "", n_jobs: int | None = None) -> Editor:
        """Edit a model of the file by hand; see ``topoi.edit``.

        Parameters
        ----------
        name : str, optional
            The model's name; the one saved last if not given.
        who : str
            Who edits, for the history.
        n_jobs : int, optional
            Threads, -1 for all cores; those of the model's settings if not given.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(3, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
        >>> topoi.open_store(path).edit().merge(0, 2).preview().topics["state"].tolist()
        ['kept', 'retired']
        """
        from topoi.store.edits import StoreEditor  # it reads stores

        return StoreEditor(self, name, who, n_jobs)

    def edits(self, model: str | None = None) -> pd.DataFrame:
        """Edits of a model by hand (None: the model saved last), as ``Editor.history`` gives them.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> len(topoi.open_store(path).edits())
        0
        """
        from topoi.store.edits import edits_frame  # it reads stores

        return edits_frame(self, model)

    def retired_topics(self, model: str | None = None) -> list[int]:
        """Topics of a model (None: the one saved last) that were merged into others: they stay empty.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).retired_topics()
        []
        """
        from topoi.store.edits import stored_retired  # it reads stores

        return stored_retired(self, model)

    def about(self) -> tuple[str | None, str | None]:
        """The collection's own title, and a sentence about it; None where nobody gave one.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> store = topoi.open_store(path)
        >>> store.set_about("Two numbers", "All texts of ones and twos.")
        >>> store.about()
        ('Two numbers', 'All texts of ones and twos.')
        """
        there = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'collection') AS is_there"
        if not self.rows(there)[0][0]:
            return None, None
        rows = self.rows("SELECT title, sentence FROM collection")
        return (rows[0][0], rows[0][1]) if rows else (None, None)

    def set_about(self, title: str | None, sentence: str | None) -> None:
        """Set the collection's title and sentence; None or an empty text removes them.

        Parameters
        ----------
        title : str or None
            At most 200 characters; shown in place of the file's name.
        sentence : str or None
            At most 1,000 characters.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).set_about("Two numbers", None)
        """
        write.set_about(self.path, title, sentence)

    def set_label(self, model: str | None, topic: int, text: str | None, who: str | None = None) -> None:
        """Set a topic's label; an empty text or None removes it.

        Labels survive when the same model is saved again after more sweeps, and are removed when another replaces it.

        Parameters
        ----------
        model : str or None
            The model's name; None is the one saved last.
        topic : int
            The topic.
        text : str or None
            At most 1,000 characters.
        who : str, optional
            If given, the name is an edit by this person (or ""): in the history, and undone as others are.

        Examples
        --------
        >>> import pathlib, tempfile, topoi
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
        >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
        >>> topoi.open_store(path).set_label(None, 0, "harvest")
        """
        write.set_label(self.path, model, topic, text, who)


def _contents(path: Path) -> tuple[int, ...]:
    """Identity and modification time of the file: SQLite may not notice that another was copied over it."""
    if not path.exists():
        return (0,)
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def open_store(path: str | Path) -> Store:
    """Open a store for reading; one of an older schema is migrated first.

    Parameters
    ----------
    path : str or Path
        A ``.topoi`` file. A missing, damaged, foreign or newer one is a ``StoreError``.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(2, n_iter=2, random_state=0).fit([[1, 2], [2, 1]]).save(path)
    >>> with topoi.open_store(path) as store:
    ...     store.models()["name"].tolist()
    ['LDA']
    """
    return Store(path)
