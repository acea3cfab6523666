"""Executors of the tasks of a sweep: the calling thread, or a thread pool. Any object with a ``map`` works."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from topoi.errors import ModelError


class Executor(Protocol):
    """An execution engine: ``map`` applies a function to every task, in any order, and returns all results."""

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any], /) -> Iterable[Any]:
        """Apply ``function`` to every task."""
        ...


class SerialExecutor:
    """Runs every task in the calling thread."""

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any], /) -> Iterable[Any]:
        """Apply ``function`` to every task, one after the other."""
        return [function(task) for task in tasks]


def resolve_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads: None is 1, -1 is all cores, -2 all but one.

    Examples
    --------
    >>> from topoi.engine.executors import resolve_jobs
    >>> resolve_jobs(None), resolve_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ModelError(f"n_jobs is {n_jobs!r}; pass a number of threads, or -1 for all cores")
    if n_jobs < 0:
        return max(1, _cores() + 1 + int(n_jobs))
    return int(n_jobs)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def open_executor(n_jobs: int, n_tasks: int) -> Iterator[Executor]:
    """Open an executor with ``min(n_jobs, n_tasks)`` threads; it is closed at the end of the ``with`` block.

    Tasks of an abandoned step (see ``engine.interruption``) are not waited for.
    """
    threads = min(n_jobs, n_tasks)
    if threads <= 1:
        yield SerialExecutor()
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="topoi")
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
