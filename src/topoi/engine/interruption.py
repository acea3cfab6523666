"""Ctrl-C and SIGTERM during a fit: a flag at the first, the end at the second, and an answer within two seconds.

Python runs signal handlers between two steps of the main thread's own code; a compiled sweep or a factorisation is one
step, however long it takes. So work that may take long is done in a thread of its own while the main thread waits, and
is abandoned, unfinished, when somebody has asked for the end and it has not come within half a second. What it was
working on is lost: a fit goes back to the last state that was whole. Abandoned work is stopped, or it would take the
processor from the estimates and the save that come after it.
"""

from __future__ import annotations

import contextvars
import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Told of the first signal at once: what a person reads, while the fit comes to its end.
notice: ContextVar[Callable[[signal.Signals], None] | None] = ContextVar("notice", default=None)
# How long to wait for work that is under way when a signal comes: the rest of two seconds is for the save.
PATIENCE = 0.5
# Work that took less the last time is not worth a thread.
_SHORT = 0.25


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it ends a program as Ctrl-C does."""


class Abandoned(Exception):  # noqa: N818 (no error: what was asked for)
    """Work was left unfinished because a signal asked for the end."""


class _Stopped(BaseException):
    """Raised in a thread whose work was abandoned; nobody else's ``except Exception`` may swallow it."""


class Interruption:
    """Whether, and by which signal, a fit was asked to end; true if it was."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._since = 0.0
        self.waits = False

    def is_set(self) -> bool:
        """Whether a signal has come."""
        return self.signal is not None

    @property
    def reason(self) -> str | None:
        """The signal's name."""
        return None if self.signal is None else self.signal.name

    def ask(self, number: int) -> None:
        """Note a signal; a second one ends everything at once."""
        if self.is_set():
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        self._since = time.monotonic()
        self.signal = signal.Signals(number)
        if (tell := notice.get()) is not None:
            tell(self.signal)

    def give_up(self, what: str) -> NoReturn:
        """End as a signal ends a program, since there is nothing that could be kept."""
        kind = Terminated if self.signal == signal.SIGTERM else KeyboardInterrupt
        raise kind(f"interrupted before {what}: there is nothing to keep")

    @property
    def left(self) -> float:
        """Seconds of patience that are left."""
        return PATIENCE if not self.is_set() else max(0.0, self._since + PATIENCE - time.monotonic())

    def run(self, work: Callable[[], Result], may_abandon: bool = True) -> Result:
        """The result of ``work()``, or ``Abandoned`` if a signal came and patience ended before it did.

        Abandoned work goes on, in its thread, to the end of the compiled code that it is in, and no further; nobody may
        look at what it changes any more.
        Where no signal can come (outside the main thread) it is done at once, by the caller. Work that may not be
        abandoned is waited for, but signals are heard meanwhile.
        """
        if not self.waits:
            return work()
        found: list[tuple[bool, Any]] = []

        def report() -> None:
            try:
                found.append((True, work()))
            except BaseException as problem:  # the caller's to raise
                found.append((False, problem))

        context = contextvars.copy_context()  # what numpy is told of overflow, for one
        thread = threading.Thread(target=lambda: context.run(report), name="topoi work", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.05 if self.is_set() else 0.2)
            if may_abandon and self.is_set() and thread.is_alive() and not self.left:
                _stop(thread)
                raise Abandoned
        succeeded, result = found[0]
        if not succeeded:
            raise result
        return result  # type: ignore[no-any-return]


def _stop(thread: threading.Thread) -> None:
    """End a thread where it next runs Python code; one that waits for a pool of threads, after their present tasks."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stopped))


class Pace:
    """Runs repeated work of one kind, and knows how long it took the last time.

    Work that may not be abandoned has a thread of its own only while it takes long, or nobody knows.
    """

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption
        self.seconds = float("inf")

    def run(self, work: Callable[[], Result], may_abandon: bool = True) -> Result:
        """The result of ``work()``, or ``Abandoned``."""
        begin = time.perf_counter()
        short = self.seconds < _SHORT and not may_abandon
        result = work() if short else self._interruption.run(work, may_abandon)
        self.seconds = time.perf_counter() - begin
        return result


_active: list[Interruption] = []


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn the first Ctrl-C or SIGTERM into a flag, for this block and all such blocks within it.

    Outside the main thread, or where they are ignored, signals are somebody else's; so is a SIGTERM for which the
    program has a handler of its own, unless that has an attribute ``gives_way``.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if in_main and _active:
        yield _active[-1]
        return
    flag = Interruption()
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    mine = [number for number in SIGNALS if in_main and _is_free(number, previous[number])]
    if not mine:
        yield flag
        return

    def handle(number: int, frame: Any) -> None:
        flag.ask(number)

    for number in mine:
        signal.signal(number, handle)
    flag.waits = True
    _active.append(flag)
    try:
        yield flag
    finally:
        _active.pop()
        for number in mine:
            signal.signal(number, previous[number])


def _is_free(number: signal.Signals, handler: Any) -> bool:
    """Whether a signal may be taken: not if it is ignored, nor a SIGTERM that is for a handler of the program's own."""
    if number == signal.SIGINT:
        return handler not in (signal.SIG_IGN, None)
    return handler is signal.SIG_DFL or getattr(handler, "gives_way", False)
