"""A fit that advances only when asked to, so that long fits can take turns.

Some systems cannot be continued after a fit (topica), or do some work at the beginning and end of each (topoi copies
and freezes its state). Their long fit runs in a thread whose callback, called after every sweep, waits until more
sweeps are wanted: what is timed is sweeps alone, and only one contender ever runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class SteppedFit:
    """Wraps ``fit(after_sweep)``, which must call ``after_sweep`` after each sweep and end once it returns True."""

    def __init__(self, fit: Callable[[Callable[..., bool]], object]):
        self._fit = fit
        self._wanted = 0
        self._stop = False
        self._go = threading.Semaphore(0)
        self._done = threading.Semaphore(0)
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None

    def advance(self, n_sweeps: int) -> None:
        """Let the fit run for ``n_sweeps`` sweeps and wait for them."""
        self._wanted = n_sweeps
        if self._thread is None:
            self._thread = threading.Thread(target=self._body, daemon=True)
            self._thread.start()
        else:
            self._go.release()
        self._done.acquire()
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the fit."""
        self._stop = True
        if self._thread is not None and self._thread.is_alive():
            self._go.release()
            self._thread.join()

    def _body(self) -> None:
        try:
            self._fit(self._after_sweep)
        except BaseException as failure:
            self._failure = failure
        self._done.release()

    def _after_sweep(self, *_: Any) -> bool:
        self._wanted -= 1
        if self._wanted == 0:
            self._done.release()
            self._go.acquire()
        return self._stop
