"""Compilation in the background: pages of a store show what is stored at once, and the rest once it is compiled.

Kernels are compiled when they are first called, which takes seconds. A thread calls those that pages need, model by
model; until it has, pages leave out the parts that need them, and say so in ``pending``.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from topoi.errors import TopoiError

if TYPE_CHECKING:
    from topoi.web.pages.context import PageContext, StoreWatcher

_log = logging.getLogger(__name__)
Step = Callable[["PageContext"], None]


class Warming:
    """What is compiled already, for each model; it is switched on by a server, and everything is ready without one.

    Parameters
    ----------
    watcher : StoreWatcher
        The file.
    steps : mapping
        Kinds of work, the most wanted first, and a function that does each once.

    Examples
    --------
    >>> from topoi.web.warming import Warming
    >>> Warming(None, {}).is_ready("model", "near")
    True
    """

    def __init__(self, watcher: StoreWatcher, steps: Mapping[str, Step]) -> None:
        self._watcher, self._steps = watcher, steps
        self._lock = threading.Lock()
        self._done: set[tuple[str, str]] = set()
        self._known: set[str] = set()
        self._waiting: deque[str] = deque()
        self._thread: threading.Thread | None = None
        self._on = False
        # Called whenever a model is ready.
        self.then: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin with all models of the file, the newest first; returns at once."""
        self._on = True
        try:
            slugs = [model["slug"] for model in self._watcher.snapshot().models]
        except TopoiError:
            return  # pages will say what is wrong with the file
        for slug in slugs:
            self._want(slug)

    def is_ready(self, slug: str, kind: str) -> bool:
        """Whether a kind of work needs no compiler any more; if not, it will be seen to."""
        if not self._on or threading.current_thread() is self._thread or (slug, kind) in self._done:
            return True
        self._want(slug)
        return False

    def pending(self, slug: str) -> list[str]:
        """Kinds of work that are still being compiled."""
        return [kind for kind in self._steps if not self.is_ready(slug, kind)]

    def run(self, slug: str) -> None:
        """Do everything that pages of a model need, once, in this thread."""
        for kind, step in self._steps.items():
            try:
                step(self._watcher.context(slug))
            except (TopoiError, OSError):
                pass  # the page that needs it will say why
            except Exception:
                _log.exception("could not prepare %s", kind)
            self._done.add((slug, kind))

    def _want(self, slug: str) -> None:
        with self._lock:
            if slug in self._known:
                return
            self._known.add(slug)
            self._waiting.append(slug)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="topoi-warming", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                slug = self._waiting.popleft()
            self.run(slug)
            self.then()
