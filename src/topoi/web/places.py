"""Places of documents on the map, computed when the browser is asked to, one model at a time, with progress."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, NamedTuple

from topoi.errors import TopoiError, safe_text

if TYPE_CHECKING:
    from topoi.web.pages.context import StoreWatcher

_log = logging.getLogger(__name__)


class Placing(NamedTuple):
    """How far the places of a model have come: the part done, or why it failed."""

    part: float
    error: str | None = None


class _StopError(Exception):
    """The work is to end, and nothing to be kept."""


class PlaceDesk:
    """Computes the places of one model at a time, in a thread that does not depend on the page that asked.

    Parameters
    ----------
    watcher : StoreWatcher
        The file.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.web.places import PlaceDesk
    >>> from topoi.web.pages.context import StoreWatcher
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(3, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
    >>> desk = PlaceDesk(StoreWatcher(path))
    >>> desk.start("LDA")
    True
    >>> desk.wait(60), desk.state("LDA")
    (True, None)
    """

    def __init__(self, watcher: StoreWatcher) -> None:
        self._watcher = watcher
        self._lock = threading.Lock()
        self._states: dict[str, Placing] = {}
        self._thread: threading.Thread | None = None
        self._stopping = False

    def start(self, name: str) -> bool:
        """Begin with a model; False if one is being worked on already."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return False
            self._states[name] = Placing(0.0)
            self._thread = threading.Thread(target=self._work, args=(name,), name="topoi-places", daemon=True)
            self._thread.start()
            return True

    def state(self, name: str) -> Placing | None:
        """How far a model's places have come; None if nobody asked, or if they are done."""
        return self._states.get(name)

    def wait(self, seconds: float) -> bool:
        """Wait for the work to end; whether it has."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def stop(self) -> None:
        """Give up what is being worked on; the file stays as it is."""
        self._stopping = True
        self.wait(5.0)

    def _work(self, name: str) -> None:
        def told(part: float) -> None:
            if self._stopping:
                raise _StopError
            self._states[name] = Placing(part)

        try:
            # One core is left for readers, if there are several.
            self._watcher.snapshot().store.place_documents(name, n_jobs=-1, progress=told)
            self._states.pop(name, None)
        except _StopError:
            self._states.pop(name, None)
        except TopoiError as error:
            self._states[name] = Placing(0.0, safe_text(str(error)))
        except Exception:
            _log.exception("places of documents failed")
            self._states[name] = Placing(0.0, "something went wrong in topoi; its log says what")
