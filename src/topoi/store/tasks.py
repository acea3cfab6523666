"""Work that the rows of a model wait for: done at once, or on threads while other rows are written.

Either way BLAS uses one thread: rows are the same on any number of cores, and threads that wait in BLAS keep none of
them busy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from topoi.corpus.blocks import Blocks, Columns, Table
from topoi.models.blas import one_thread

T = TypeVar("T")


class Tasks:
    """Begins work; without threads it is done before ``begin`` returns.

    Attributes
    ----------
    hues, places : bool
        Whether hues of topics are wanted, and their places on the map; those of an edited model are the old model's.

    Examples
    --------
    >>> from topoi.store.tasks import Tasks
    >>> Tasks().begin(lambda: 6 * 7)()
    42
    """

    def __init__(self, hues: bool = True, places: bool = True) -> None:
        self.hues, self.places = hues, places

    def begin(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin work; the function that is returned waits for its result."""
        with one_thread():
            found = work()
        return lambda: found

    def table(self, make: Callable[[], Columns]) -> Table:
        """Columns of a table, made by the time that they are written."""
        return make()


class ThreadTasks(Tasks):
    """Work on threads; a table is made from results of work that was begun before, when it is written."""

    def __init__(self, pool: ThreadPoolExecutor, hues: bool = True, places: bool = True) -> None:
        super().__init__(hues, places)
        self._pool = pool

    def begin(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin work; the function that is returned waits for its result."""
        future: Future[T] = self._pool.submit(work)
        return future.result

    def table(self, make: Callable[[], Columns]) -> Table:
        """A table that is made when it is written."""
        return Blocks(lambda: [make()])


@contextmanager
def open_tasks(n_threads: int, hues: bool = True, places: bool = True) -> Iterator[Tasks]:
    """Threads that make rows; they end with the ``with`` block, and what was not begun is left undone.

    Examples
    --------
    >>> from topoi.store.tasks import open_tasks
    >>> with open_tasks(2) as tasks:
    ...     result = tasks.begin(lambda: 6 * 7)()
    >>> result
    42
    """
    if n_threads <= 1:
        yield Tasks(hues, places)
        return
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="topoi rows")
    try:
        with one_thread():
            yield ThreadTasks(pool, hues, places)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
