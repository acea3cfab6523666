"""Work on tables of submissions: some seconds for each request, and one table at a time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from topoi.web.limits import Gate

# Seconds of work for one request; the next one goes on where it ended.
SECONDS = 4.0
_MOST_KEPT = 8


class SubmissionDesk:
    """Reviewers found so far for the latest tables; one table is worked on at a time.

    Examples
    --------
    >>> from topoi.web.submission_desk import SubmissionDesk
    >>> desk = SubmissionDesk()
    >>> desk.read("a table", ["one", "two"], str.upper)
    {0: 'ONE', 1: 'TWO'}
    """

    def __init__(self) -> None:
        self._gate = Gate(at_once=1, most_waiting=2)
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, dict[int, Any]] = OrderedDict()

    def read(self, key: object, items: Sequence[Any], find: Callable[[Any], Any]) -> dict[int, Any]:
        """Results by position, after some seconds of work on those that are missing."""
        with self._lock:
            found = self._kept.setdefault(key, {})
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        if len(found) < len(items):
            with self._gate.pass_through():
                _work(found, items, find)
        return dict(found)


def _work(found: dict[int, Any], items: Sequence[Any], find: Callable[[Any], Any]) -> None:
    until = time.monotonic() + SECONDS
    for at, item in enumerate(items):
        if at not in found:
            found[at] = find(item)
            if time.monotonic() > until:
                return
