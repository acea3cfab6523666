"""Ctrl-C and SIGTERM during a fit: the first sets a flag, the second ends at once; the fit ends within two seconds.

Python runs signal handlers between bytecode instructions of the main thread; a compiled sweep or a factorisation is one
instruction, however long it takes. So work that may take long runs in a thread of its own while the main thread waits.
If a signal has come and the work has not ended within half a second, it is abandoned. Its results are lost: the fit
goes back to the last complete state. Abandoned work is also stopped, or it would take processor time from the estimates
and the save that follow.
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
from types import FrameType
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Called at the first signal, to tell the user that the fit is ending.
notice: ContextVar[Callable[[signal.Signals], None] | None] = ContextVar("notice", default=None)
# Seconds to wait for running work after a signal; the rest of the two seconds is for the save.
PATIENCE = 0.5
# Seconds that stopped work has to remove what it has half written.
_CLEANING_UP = 0.15
# Seconds: work that took less the last time runs without a thread.
_SHORT = 0.25


class Terminated(KeyboardInterrupt):
    """Raised for SIGTERM, as KeyboardInterrupt is for Ctrl-C."""


class Abandoned(Exception):  # noqa: N818 (not an error: the user asked for it)
    """Raised when work is left unfinished because of a signal."""


class _Stopped(BaseException):
    """Raised in a thread whose work was abandoned; a BaseException, so that no ``except Exception`` swallows it."""


class Interruption:
    """Flag of the first signal that asked a fit to end."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._since = 0.0
        self.waits = False

    def is_set(self) -> bool:
        """Whether a signal has come."""
        return self.signal is not None

    @property
    def reason(self) -> str | None:
        """Name of the signal, None if none has come."""
        return None if self.signal is None else self.signal.name

    def ask(self, number: int) -> None:
        """Record the first signal; raise at a second one."""
        if self.is_set():
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        self._since = time.monotonic()
        self.signal = signal.Signals(number)
        if (tell := notice.get()) is not None:
            tell(self.signal)

    def give_up(self, what: str) -> NoReturn:
        """Raise KeyboardInterrupt or Terminated: no result exists that could be kept."""
        kind = Terminated if self.signal == signal.SIGTERM else KeyboardInterrupt
        raise kind(f"interrupted before {what}: there is nothing to keep")

    @property
    def left(self) -> float:
        """Seconds of ``PATIENCE`` that are left."""
        return PATIENCE if not self.is_set() else max(0.0, self._since + PATIENCE - time.monotonic())

    def run(self, work: Callable[[], Result], may_abandon: bool = True) -> Result:
        """Return the result of ``work()``; raise ``Abandoned`` if it does not end within ``PATIENCE`` after a signal.

        Abandoned work continues in its thread to the end of the compiled code it is in; the caller must no longer use
        anything it modifies. Without signal handlers (outside the main thread) the work runs in the caller's thread.
        Work that may not be abandoned is waited for, but signals are handled meanwhile.
        """
        if not self.waits:
            return work()
        task = Background(work)
        while task.is_running(0.05 if self.is_set() else 0.2):
            if may_abandon and self.is_set() and not self.left:
                task.stop()
                raise Abandoned
        return task.result()


class Background:
    """Work in a thread of its own, which does not keep the process from ending."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._found: list[tuple[bool, Any]] = []
        context = contextvars.copy_context()  # numpy's errstate, among others
        self._thread = threading.Thread(target=lambda: context.run(self._run, work), name="topoi work", daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], Any]) -> None:
        try:
            self._found.append((True, work()))
        except BaseException as problem:  # raised again in the calling thread
            self._found.append((False, problem))

    def is_running(self, seconds: float) -> bool:
        """Wait so long for the end; return whether it has not come."""
        self._thread.join(seconds)
        return self._thread.is_alive()

    def result(self) -> Any:
        """The result, or the exception, of work that has ended."""
        succeeded, result = self._found[0]
        if not succeeded:
            raise result
        return result

    def stop(self) -> None:
        """Raise ``_Stopped`` in the thread when it next runs bytecode; a pool's present tasks end first."""
        ident = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_Stopped))


def run_within(seconds: float, work: Callable[[], Result]) -> Result:
    """Return the result of ``work()``; raise ``Abandoned`` if it takes longer than this.

    Work that is abandoned, or that a signal's exception interrupts, is stopped; it has a moment to clean up.

    Examples
    --------
    >>> from topoi.engine.interruption import run_within
    >>> run_within(5.0, lambda: 6 * 7)
    42
    """
    task = Background(work)
    try:
        if task.is_running(max(seconds, 0.0)):
            raise Abandoned
    except BaseException:
        task.stop()
        task.is_running(_CLEANING_UP)
        raise
    return task.result()  # type: ignore[no-any-return]


class Pace:
    """Run repeated work of one kind, and measure how long it took the last time.

    Work that may not be abandoned gets a thread only if it took long the last time, or runs for the first time.
    """

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption
        self.seconds = float("inf")

    def run(self, work: Callable[[], Result], may_abandon: bool = True) -> Result:
        """Return the result of ``work()``, or raise ``Abandoned``."""
        begin = time.perf_counter()
        short = self.seconds < _SHORT and not may_abandon
        result = work() if short else self._interruption.run(work, may_abandon)
        self.seconds = time.perf_counter() - begin
        return result


_active: list[Interruption] = []


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Turn the first Ctrl-C or SIGTERM into a flag, for this block and all nested ones.

    Signals are left alone outside the main thread and where they are ignored. So is SIGTERM if the program has its own
    handler, unless that handler has a true attribute ``gives_way``.
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

    def handle(number: int, frame: FrameType | None) -> None:
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


def _is_free(number: signal.Signals, handler: object) -> bool:
    """Whether a handler may be replaced: not if the signal is ignored, nor a program's own handler of SIGTERM."""
    if number == signal.SIGINT:
        return handler not in (signal.SIG_IGN, None)
    return handler is signal.SIG_DFL or getattr(handler, "gives_way", False)
