"""Ctrl-C and SIGTERM on the command line: a one-line message and an exit code; losses are always reported.

Light to import, because the handlers must be installed before heavy imports.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Handler = Callable[[int, Any], Any]
_NUMBERS = (signal.SIGINT, signal.SIGTERM)


def leave_at_once(number: int, frame: object) -> None:
    """Print one line and exit at once; an exception could be swallowed by a module being imported."""
    say("interrupted; nothing was saved")
    os._exit(128 + number)


def raise_terminated(number: int, frame: object) -> None:
    """Raise ``Terminated`` for SIGTERM, as Ctrl-C raises, so that unfinished files are cleaned up."""
    from topoi.engine.interruption import Terminated

    raise Terminated


# A fit may replace these handlers, to end with what it has (see engine.interruption).
leave_at_once.gives_way = raise_terminated.gives_way = True  # type: ignore[attr-defined]


def say(text: str) -> None:
    """Write one line to standard error; safe in a signal handler."""
    os.write(2, f"{os.linesep if sys.stderr.isatty() else ''}topoi: {text}\n".encode())


@contextmanager
def handled(interrupt: Handler, terminate: Handler) -> Iterator[None]:
    """Install handlers for the block, only in the main thread and only for signals that are not ignored."""
    ours = threading.current_thread() is threading.main_thread()
    before: dict[signal.Signals, Any] = {}
    for number, handler in zip(_NUMBERS, (interrupt, terminate), strict=True):
        if ours and signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def nothing_to_lose() -> Iterator[None]:
    """Handle signals in a block of imports and reading: they end the process at once."""
    with handled(leave_at_once, leave_at_once):
        yield


def leave_a_fit_at_once(number: int, frame: object) -> None:
    """Exit at once, also from a fit, which may not replace this handler of SIGTERM."""
    leave_at_once(number, frame)


@contextmanager
def nothing_to_keep() -> Iterator[None]:
    """Handle signals in a block of fits whose models are not saved: they end the process, with one line."""
    try:
        with handled(leave_a_fit_at_once, leave_a_fit_at_once):
            yield
    except KeyboardInterrupt:  # a fit takes Ctrl-C for its own, ends, and is not used
        leave_at_once(signal.SIGINT, None)


@dataclass
class Asked:
    """The moment at which a signal asked a fit to end; None before."""

    at: float | None = None

    def left(self, seconds: float) -> float:
        """Rest of so many seconds after the signal."""
        return seconds if self.at is None else max(0.0, self.at + seconds - time.monotonic())


@contextmanager
def something_to_lose() -> Iterator[Asked]:
    """Handle signals in a block that fits and saves: a fit acknowledges them at once; elsewhere they are exceptions."""
    from topoi.engine.interruption import notice

    asked = Asked()

    def acknowledge(number: signal.Signals) -> None:
        asked.at = time.monotonic()
        say("interrupted; keeping what there is (once more: end at once)")

    told = notice.set(acknowledge)
    try:
        with handled(signal.default_int_handler, raise_terminated):
            yield asked
    except KeyboardInterrupt as stop:
        import typer

        say(str(stop) or "interrupted")
        number = signal.SIGTERM if type(stop).__name__ == "Terminated" else signal.SIGINT
        raise typer.Exit(128 + number) from stop
    finally:
        notice.reset(told)
