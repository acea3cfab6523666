"""Work that takes longer than a request may: done once by a thread, while pages show how far it has come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")
Report = Callable[[float], None]
# Most small collections are done within this time, so that the first page seen has the answer.
PATIENCE = 1.0


class Background(Generic[Result]):
    """One piece of work, begun when it is first asked for.

    Parameters
    ----------
    work : callable
        Function of a function that reports the part done, from 0 to 1; returns the result.

    Examples
    --------
    >>> from topoi.web.background import Background
    >>> work = Background(lambda report: 42)
    >>> work.result(), work.done
    (42, 1.0)
    """

    def __init__(self, work: Callable[[Report], Result]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._finished = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        self.done = 0.0

    def result(self, patience: float = PATIENCE) -> Result | None:
        """The result; None if it is not there after so many seconds. An error of the work is raised, once."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="background", daemon=True)
                self._thread.start()
        self._finished.wait(patience)
        with self._lock:
            if self._error is not None:
                error, self._error = self._error, None
                self._thread = None  # asked again, it is tried again
                self._finished.clear()
                raise error
            return self._result

    @property
    def known(self) -> Result | None:
        """The result if it is there; nothing is begun."""
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._work(self._report)
            self.done = 1.0
        except Exception as error:  # handed to whoever asks
            self._error = error
        finally:
            self._finished.set()

    def _report(self, part: float) -> None:
        self.done = min(max(float(part), 0.0), 1.0)
