"""Tells who watches that kernels are being compiled: it takes seconds, happens once, and looks like standing still.

Light to import: the command line watches long before a kernel is loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger("topoi")
MESSAGE = "preparing the sampler (once)"
_watchers: list[Callable[[bool], None]] = []
_under_way = 0
_told: set[str] = set()


@contextmanager
def watching(watcher: Callable[[bool], None]) -> Iterator[None]:
    """Call ``watcher(True)`` when compilation begins and ``watcher(False)`` when it ends, within this block.

    Only the innermost watcher is told.

    Examples
    --------
    >>> from topoi.kernels.preparing import begin, end, watching
    >>> with watching(print):
    ...     begin(), begin(), end(), end()
    True
    False
    (None, None, None, None)
    """
    watch(watcher)
    try:
        yield
    finally:
        unwatch(watcher)


def watch(watcher: Callable[[bool], None]) -> None:
    """Begin to tell a watcher."""
    _watchers.append(watcher)


def unwatch(watcher: Callable[[bool], None]) -> None:
    """Tell a watcher no more; one that is not told anyway is no error."""
    if watcher in _watchers:
        _watchers.remove(watcher)


def begin() -> None:
    """A kernel is about to be compiled; those that it calls come within it. Under numba's compiler lock."""
    global _under_way
    _under_way += 1
    if _under_way == 1:
        logger.info(MESSAGE)
        _tell(True)


def end() -> None:
    """The kernel is compiled, or has failed to be."""
    global _under_way
    _under_way -= 1
    if _under_way == 0:
        _tell(False)


def _tell(busy: bool) -> None:
    for watcher in _watchers[-1:]:
        watcher(busy)


def no_cache(reason: str) -> None:
    """Log, once, that compiled kernels cannot be kept: every process will compile its own."""
    if not _told:
        logger.warning("compiled kernels cannot be kept (%s); set NUMBA_CACHE_DIR to a folder for them", reason)
    _told.add("no cache")
