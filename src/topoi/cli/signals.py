"""Ctrl-C and SIGTERM on the command line: one line, an exit code, and nothing lost without a word.

Light to import: it must be in place before anything heavy is.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Handler = Callable[[int, Any], Any]
_NUMBERS = (signal.SIGINT, signal.SIGTERM)


def leave_at_once(number: int, frame: Any) -> None:
    """End the process with one line; an exception could be swallowed by whatever is being imported."""
    say("interrupted; nothing was saved")
    os._exit(128 + number)


def raise_terminated(number: int, frame: Any) -> None:
    """Make SIGTERM an exception, as Ctrl-C is one: files that are being written are tidied up."""
    from topoi.engine.interruption import Terminated

    raise Terminated


# A fit may take them: it ends with what it has.
leave_at_once.gives_way = raise_terminated.gives_way = True  # type: ignore[attr-defined]


def say(text: str) -> None:
    """One line on standard error, from a signal handler too."""
    os.write(2, f"{os.linesep if sys.stderr.isatty() else ''}topoi: {text}\n".encode())


@contextmanager
def handled(interrupt: Handler, terminate: Handler) -> Iterator[None]:
    """Handlers for the block, where signals are ours: not outside the main thread, and not those that are ignored."""
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
    """A block of imports and reading: a signal ends the process at once."""
    with handled(leave_at_once, leave_at_once):
        yield


@contextmanager
def something_to_lose() -> Iterator[None]:
    """A block that fits and saves: a fit that is asked to end says so at once; elsewhere a signal is an exception."""
    from topoi.engine.interruption import notice

    told = notice.set(lambda number: say("interrupted; keeping what there is (once more: end at once)"))
    try:
        with handled(signal.default_int_handler, raise_terminated):
            yield
    except KeyboardInterrupt as stop:
        import typer

        say(str(stop) or "interrupted")
        number = signal.SIGTERM if type(stop).__name__ == "Terminated" else signal.SIGINT
        raise typer.Exit(128 + number) from stop
    finally:
        notice.reset(told)
