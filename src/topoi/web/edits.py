"""Changes of topics that are asked for in the browser: tried, shown, and then kept or left.

One is worked on at a time, in a thread of its own, which does not depend on the page that asked for it. The file is
changed at the very end, in one transaction of ``topoi.edit``; until then readers find it as it was.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from topoi.errors import NotFoundError, TopoiError, safe_text

if TYPE_CHECKING:
    from topoi.engine.loop import SweepInfo
    from topoi.models.editing.editor import Editor
    from topoi.models.editing.glance import Glance
    from topoi.web.pages.context import PageContext, StoreWatcher

N_SWEEPS = 20
LONGEST_SECONDS = 1200.0
# Changes that are remembered, and seconds that a model stays in memory for the next change.
_MOST_KEPT = 50
_IDLE_SECONDS = 600.0
# Seconds between two looks at topics that settle: each reads all words once.
GLANCE_SECONDS = 1.0
_log = logging.getLogger(__name__)

State = Literal["trying", "proposed", "settling", "saving", "kept", "left", "failed"]
RUNNING: tuple[State, ...] = ("trying", "settling", "saving")


class ConflictError(Exception):
    """Another change is under way, or this one is not in a state to be kept."""


class _StopError(Exception):
    """The sweeps are to end, and nothing to be kept."""


class _CancelledError(Exception):
    """Nobody wants the change any more."""


@dataclass(frozen=True)
class Wish:
    """What is to be done: kind and topics as in ``topoi.models.editing.records.Edit``, words, number of a document."""

    kind: Literal["merge", "split", "freeze", "ban", "pin", "send", "undo"]
    topics: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    document: int | None = None

    def apply(self, editor: Editor) -> None:
        """Make the edit, without committing it."""
        first, *rest = self.topics
        if self.kind == "merge":
            editor.merge(first, *rest)
        elif self.kind == "split":
            editor.split(first)
        elif self.kind == "freeze":
            editor.freeze(first)
        elif self.kind == "ban":
            editor.ban(first, self.words)
        elif self.kind == "pin":
            editor.pin(first, self.words)
        elif self.document is not None:
            editor.send(self.document, rest[0] if rest else None, first)


@dataclass
class Change:
    """A change and how far it has come.

    Attributes
    ----------
    number : int
        Its number, from 1.
    slug, name : str
        The model.
    wish : Wish
        What is to be done.
    title : str
        The same in words.
    back : str
        Path of the page that it was asked for on.
    state : str
        "trying", then "proposed" with a preview; "settling" and "saving", then "kept"; "left" or "failed".
    n_done, n_sweeps : int
        Sweeps over all documents.
    preview : dict, optional
        What ``Preview.to_dict`` gives.
    error : str, optional
        Why it failed.
    glance : Glance, optional
        A look at the topics while they settle.
    is_cancelled : bool
        Whether it was left while it was being worked on; the work ends at its next step.
    """

    number: int
    slug: str
    name: str
    wish: Wish
    title: str
    back: str
    state: State = "trying"
    n_done: int = 0
    n_sweeps: int = N_SWEEPS
    preview: dict[str, Any] | None = None
    error: str | None = None
    glance: Glance | None = None
    is_cancelled: bool = False
    idle: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_running(self) -> bool:
        """Whether it is being worked on."""
        return self.state in RUNNING


class EditDesk:
    """Takes changes of one file, works on one at a time, and remembers the last.

    Parameters
    ----------
    watcher : StoreWatcher
        The file.
    prepare : callable, optional
        Called with the slug of a model that was changed, before anybody is told so: to fill caches.

    Examples
    --------
    >>> import pathlib, tempfile, topoi
    >>> from topoi.web.edits import EditDesk, Wish
    >>> from topoi.web.pages.context import StoreWatcher
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.topoi"
    >>> topoi.LDA(3, n_iter=5, random_state=0).fit([["sun", "star"], ["cell", "gene"]] * 3).save(path)
    >>> watcher = StoreWatcher(path)
    >>> desk = EditDesk(watcher)
    >>> change = desk.propose(watcher.context(), Wish("merge", (0, 1)), "Merge topic 1 into topic 0", "topic/0")
    >>> change.idle.wait(60), change.state
    (True, 'proposed')
    """

    def __init__(self, watcher: StoreWatcher, prepare: Callable[[str], object] = lambda slug: None) -> None:
        self._watcher = watcher
        self._prepare = prepare
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._changes: OrderedDict[int, Change] = OrderedDict()
        self._running: Change | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False
        # The editor of the last change, for which model (its digest), and whose draft it holds.
        self._editor: Editor | None = None
        self._of: tuple[str, str] | None = None
        self._drafted: Change | None = None
        self._timer: threading.Timer | None = None

    def propose(self, context: PageContext, wish: Wish, title: str, back: str) -> Change:
        """Try a change; a ``ConflictError`` if another is being worked on."""
        return self._take(context, wish, title, back, self._try)

    def undo(self, context: PageContext, concerned: dict[str, Any]) -> Change:
        """Undo the last commit; a ``ConflictError`` if a change is being worked on.

        ``concerned`` are the topics of that commit, in the form of a preview.
        """
        title = "Undo the last change"
        return self._take(context, Wish("undo"), title, "history", self._undo, "saving", concerned)

    def find(self, slug: str, number: int) -> Change:
        """A change by its number."""
        found = self._changes.get(number)
        if found is None or found.slug != slug:
            raise NotFoundError(f"there is no change {number}, or no longer; what was kept is in the history")
        return found

    def keep(self, change: Change) -> None:
        """Make a change that has been tried, in the background."""
        with self._lock:
            if change.state in ("settling", "saving", "kept"):
                return  # the button was pressed twice
            if change.state != "proposed":
                raise ConflictError("this change is not there to be kept: ask for it again")
            self._begin(change, self._settle, "settling")

    def leave(self, change: Change) -> None:
        """Drop a change that has been tried, or is being tried or settled; one that is being saved goes on."""
        with self._lock:
            if change.state in ("proposed", "trying", "settling"):
                change.is_cancelled = change.state != "proposed"
                change.state, change.preview, change.glance = "left", None, None
                if self._running is change:
                    self._running = None  # the next one waits until the work has ended

    @property
    def running(self) -> Change | None:
        """The change that is being worked on."""
        return self._running

    def stop(self, seconds: float = 1.0) -> bool:
        """Stop what is being worked on, without keeping it; return whether it has ended."""
        self._stopping = True
        thread = self._thread
        if self._timer is not None:
            self._timer.cancel()
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def _take(
        self,
        context: PageContext,
        wish: Wish,
        title: str,
        back: str,
        work: Callable[[Change], None],
        state: State = "trying",
        preview: dict[str, Any] | None = None,
    ) -> Change:
        with self._lock:
            number = next(self._numbers)
            model = context.model
            change = Change(number, model["slug"], model["name"], wish, title, back, state, preview=preview)
            self._begin(change, work, state)
            self._changes[number] = change
            while len(self._changes) > _MOST_KEPT:
                self._changes.popitem(last=False)
        return change

    def _begin(self, change: Change, work: Callable[[Change], None], state: State) -> None:
        """Start work in the background; the lock is held."""
        if self._running is not None:
            raise ConflictError(
                f"another change is being worked on: {self._running.title}. One is made at a time; wait until it is "
                "done, look at what it made, and ask again"
            )
        if self._timer is not None:
            self._timer.cancel()
        change.state = state
        change.idle.clear()
        self._running = change
        how = (change, work, self._thread)
        self._thread = threading.Thread(target=self._run, args=how, name="topoi edit", daemon=True)
        self._thread.start()

    def _run(self, change: Change, work: Callable[[Change], None], before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        try:
            work(change)
        except _CancelledError:
            self._drafted = None
        except (TopoiError, _StopError) as error:
            self._fail(change, str(error))
        except Exception:
            _log.exception("no change: %s", change.title)
            self._fail(change, "something went wrong in topoi; the terminal says what. The file is as it was")
        finally:
            with self._lock:
                self._running = None if self._running is change else self._running
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = threading.Timer(_IDLE_SECONDS, self._forget)
                self._timer.daemon = True
                self._timer.start()
            change.idle.set()

    def _fail(self, change: Change, why: str) -> None:
        self._editor = self._drafted = None
        if change.is_cancelled:
            return
        path = self._watcher.path
        change.error = why.replace(safe_text(path), safe_text(path.name))
        change.state = "failed"

    def _forget(self) -> None:
        """Free the memory of a model that nobody has changed for a while."""
        with self._lock:
            if self._running is None:
                self._editor = self._drafted = None

    def _opened(self, change: Change) -> Editor:
        """An editor of the model as it is in the file now."""
        from topoi.store.edits import edit  # estimators take long to import, and readers do without

        context = self._watcher.context(change.slug)
        now = (change.name, context.cache.digest)
        if self._editor is None or self._of != now:
            self._editor = self._drafted = None  # one model in memory, not two
            self._editor, self._of = edit(context.view.store, change.name, who="browser", n_jobs=-1), now
        return self._editor

    def _draft(self, change: Change) -> Editor:
        editor = self._opened(change)
        if self._drafted is not change:
            self._drafted = None
            change.wish.apply(editor.discard())
            self._drafted = change
        return editor

    def _check(self, change: Change) -> None:
        """End the work on a change that is no longer wanted."""
        if change.is_cancelled:
            raise _CancelledError
        if self._stopping:
            raise _StopError("topoi was stopped; the file is as it was")

    def _go_on(self, change: Change, state: State) -> None:
        with self._lock:
            self._check(change)
            change.state = state

    def _try(self, change: Change) -> None:
        change.preview = self._draft(change).preview(watch=lambda: self._check(change)).to_dict()
        self._go_on(change, "proposed")

    def _settle(self, change: Change) -> None:
        editor = self._draft(change)
        until = time.monotonic() + LONGEST_SECONDS
        change.n_done, last = 0, 0.0

        def look(info: SweepInfo, glance: Callable[[], Glance]) -> None:
            nonlocal last
            if time.monotonic() - last >= GLANCE_SECONDS or info.sweep >= info.n_iter:
                change.glance, last = glance(), time.monotonic()

        def watch(info: SweepInfo) -> None:
            self._check(change)
            if time.monotonic() > until:
                raise _StopError(
                    f"the change took more than {LONGEST_SECONDS / 60:.0f} minutes and was given up; the file is as it "
                    "was. topoi.edit, in Python, has all the time it needs"
                )
            change.n_done += 1
            if info.sweep >= info.n_iter:
                self._go_on(change, "saving")

        editor.commit(N_SWEEPS, watch, look)
        self._kept(change)

    def _undo(self, change: Change) -> None:
        self._opened(change).undo()
        self._kept(change)

    def _kept(self, change: Change) -> None:
        self._drafted = None
        try:
            self._of = (change.name, self._watcher.context(change.slug).cache.digest)
            self._prepare(change.slug)
        except TopoiError:  # another program has moved the file, or changed it again
            self._editor = None
        change.state = "kept"
