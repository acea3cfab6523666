"""Limits on requests: bytes, sweeps, and concurrent labellings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from topoi.errors import ModelError

# A text of the greatest length, in characters of four bytes, each byte written %XX in a form; plus the other fields.
MOST_BYTES = 200_000 * 12 + 100_000
AT_ONCE = 2
MOST_WAITING = 8
LONGEST_WAIT = 30.0
RETRY_AFTER = 5
# Weights computed while sampling, words × sweeps × topics × possible authors: five to ten seconds of one core.
MOST_WEIGHTS = 1_500_000_000


class BusyError(Exception):
    """Too much work is in progress already."""


class TooLargeError(Exception):
    """A request body exceeds the limit."""


# A word costs at least as much as this many topics.
_LEAST_TOPICS = 64


class Gate:
    """Semaphore with a bounded queue: a few run at once, a few more wait, the others are refused.

    Parameters
    ----------
    at_once : int
        Number of concurrent holders.
    most_waiting : int
        Number of waiters; the next is a ``BusyError``.
    longest_wait : float
        Seconds after which a waiter is refused too.

    Examples
    --------
    >>> from topoi.web.limits import Gate
    >>> gate = Gate(at_once=1, most_waiting=0)
    >>> with gate.pass_through():
    ...     with gate.pass_through():
    ...         pass
    Traceback (most recent call last):
    topoi.web.limits.BusyError: too much is being worked out at the moment; try again in a few seconds
    """

    def __init__(
        self, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING, longest_wait: float = LONGEST_WAIT
    ) -> None:
        self._places = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._waiting = 0
        self._most_waiting = most_waiting
        self._longest_wait = longest_wait

    @contextmanager
    def pass_through(self) -> Iterator[None]:
        """Hold a place for the length of the block."""
        if not self._places.acquire(blocking=False):
            self._wait()
        try:
            yield
        finally:
            self._places.release()

    def _wait(self) -> None:
        with self._lock:
            if self._waiting >= self._most_waiting:
                raise BusyError("too much is being worked out at the moment; try again in a few seconds")
            self._waiting += 1
        try:
            inside = self._places.acquire(timeout=self._longest_wait)
        finally:
            with self._lock:
                self._waiting -= 1
        if not inside:
            raise BusyError("too much is being worked out at the moment; try again in a few seconds")


def check_sampling(n_words: int, n_topics: int, n_authors: int, burn_in: int, samples: int, lag: int) -> None:
    """Refuse a labelling that would take more than seconds.

    Examples
    --------
    >>> from topoi.web.limits import check_sampling
    >>> check_sampling(10_000, 300, 2, burn_in=100, samples=20, lag=5)
    """
    sweeps = burn_in + samples * lag
    each = n_words * max(n_topics, _LEAST_TOPICS) * max(n_authors, 1)
    if each * sweeps > MOST_WEIGHTS:
        most = MOST_WEIGHTS // each
        among = f", {n_authors:,} possible authors" if n_authors > 1 else ""
        instead = f"ask for at most {most:,} sweeps, or for" if most else "ask for"
        raise ModelError(
            f"{sweeps:,} sweeps (burn-in + samples × lag) over {n_words:,} words, {n_topics:,} topics{among} take too "
            f"long; {instead} a shorter text{' or fewer authors' if n_authors > 1 else ''}"
        )


def most_authors(n_words: int, n_topics: int, sweeps: int, least: int, most: int) -> int:
    """Number of authors that a text's words can be divided among without a noticeable wait.

    Examples
    --------
    >>> from topoi.web.limits import most_authors
    >>> most_authors(100, 300, 60, least=5, most=20), most_authors(10_000, 300, 60, least=5, most=20)
    (20, 5)
    """
    each = n_words * max(n_topics, _LEAST_TOPICS)
    return max(least, min(most, MOST_WEIGHTS // 10 // max(each * sweeps, 1)))
