"""Notification of watchers that kernels are being compiled, which takes seconds without visible progress.

Light to import, because the command line registers its watcher long before a kernel is loaded.
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

    Only the innermost watcher is notified.

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
    """Register a watcher."""
    _watchers.append(watcher)


def unwatch(watcher: Callable[[bool], None]) -> None:
    """Unregister a watcher, if it is registered."""
    if watcher in _watchers:
        _watchers.remove(watcher)


def begin() -> None:
    """Note the start of a compilation; calls nest, as kernels call others. Called under numba's compiler lock."""
    global _under_way
    _under_way += 1
    if _under_way == 1:
        logger.info(MESSAGE)
        _tell(True)


def end() -> None:
    """Note the end of a compilation, successful or not."""
    global _under_way
    _under_way -= 1
    if _under_way == 0:
        _tell(False)


def _tell(busy: bool) -> None:
    for watcher in _watchers[-1:]:
        watcher(busy)


def no_cache(reason: str) -> None:
    """Log, once, that compiled kernels cannot be cached: every process will compile its own."""
    if not _told:
        told = "compiled kernels cannot be kept, so every process compiles its own; "
        logger.warning("%sset NUMBA_CACHE_DIR to a folder that can be written (%s)", told, reason)
    _told.add("no cache")
