"""What a person sees of a fit while it runs: a bar on a terminal, a bar in a notebook, or lines in the log."""

from __future__ import annotations

import html
import logging
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from topoi.kernels import preparing

if TYPE_CHECKING:
    from topoi.engine.loop import SweepInfo

logger = logging.getLogger("topoi")
# Seconds between two pictures of a notebook's bar: each is a message to the reader's web browser.
_BETWEEN_PICTURES = 0.2


class Display(Protocol):
    """Where a fit shows its progress."""

    def update(self, info: SweepInfo) -> None:
        """Show the sweep just done."""

    def close(self) -> None:
        """Show that the fit has ended."""


class Silent:
    """Progress without a bar, only in the log."""

    def update(self, info: SweepInfo) -> None:
        """Log one line per evaluated sweep."""
        logger.debug("sweep %d of %d, %s", info.sweep, info.n_iter, info)

    def close(self) -> None:
        """Do nothing."""


class Bar:
    """A bar on standard error: sweeps, tokens per second, log joint per token, time left."""

    def __init__(self, title: str, n_iter: int, done: int):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar: Any = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}", style="dim"),
            TextColumn("{task.fields[joint]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True, force_jupyter=False),
        )
        self._task = self._bar.add_task(title, total=n_iter, completed=done, speed="", joint="")
        self._title, self._joint = title, ""
        self._bar.start()
        preparing.watch(self._prepare)

    def _prepare(self, busy: bool) -> None:
        """Show in the bar that kernels are being compiled."""
        self._bar.update(self._task, description=preparing.MESSAGE if busy else self._title)

    def update(self, info: SweepInfo) -> None:
        """Move the bar to the sweep just done."""
        if info.log_joint_per_token is not None:
            self._joint = _joint(info.log_joint_per_token)
        self._bar.update(self._task, completed=info.sweep, speed=_speed(info), joint=self._joint)

    def close(self) -> None:
        """Leave the finished bar on the screen."""
        preparing.unwatch(self._prepare)
        self._bar.stop()


class Picture(NamedTuple):
    """One picture of a notebook's bar; as text for readers without HTML."""

    title: str
    bar: str
    numbers: str

    def _repr_html_(self) -> str:
        title, numbers = html.escape(self.title), html.escape(self.numbers)
        return f'<div>{title} {self.bar}<span style="font-variant-numeric:tabular-nums">{numbers}</span></div>'

    def __repr__(self) -> str:
        return f"{self.title} {self.numbers}"


class NotebookBar:
    """The same as HTML below a notebook's cell; after the fit a line without times is left, the same in every run."""

    def __init__(self, title: str, n_iter: int, done: int):
        from IPython.display import display

        self._title, self._n_iter, self._first, self._joint = title, n_iter, done, ""
        self._done, self._begin, self._shown, self._note = done, time.monotonic(), 0.0, ""
        self._handle: Any = display(self._picture(""), display_id=True)
        preparing.watch(self._prepare)

    def _prepare(self, busy: bool) -> None:
        """Show below the bar that kernels are being compiled."""
        self._handle.update(self._picture(preparing.MESSAGE if busy else ""))

    def update(self, info: SweepInfo) -> None:
        """Move the bar to the sweep just done, a few times a second at most."""
        if info.log_joint_per_token is not None:
            self._joint = _joint(info.log_joint_per_token)
        self._done, now = info.sweep, time.monotonic()
        if now - self._shown < _BETWEEN_PICTURES:
            return
        self._shown = now
        left = (now - self._begin) / max(1, self._done - self._first) * (self._n_iter - self._done)
        said = (_speed(info), self._joint, f"{left // 60:.0f}:{left % 60:02.0f} left")
        self._handle.update(self._picture(" · ".join(filter(None, said))))

    def close(self) -> None:
        """Leave a line that says how far the fit went."""
        preparing.unwatch(self._prepare)
        self._handle.update(self._picture("", bar=False))

    def _picture(self, said: str, bar: bool = True) -> Picture:
        parts = [part for part in (f"{self._done:,} of {self._n_iter:,} iterations", said) if part]
        drawn = f'<progress max="{self._n_iter}" value="{self._done}" style="width:14em"></progress> ' if bar else ""
        return Picture(self._title, drawn, " · ".join(parts))


def _joint(per_token: float) -> str:
    return f"log joint {per_token:.4f}/token"


def _speed(info: SweepInfo) -> str:
    return f"{info.tokens_per_second / 1e6:.1f} M tokens/s"


def open_progress(progress: bool | None, title: str, n_iter: int, done: int = 0) -> Display:
    """Open the progress display: True shows a bar, False none, None a bar on a terminal or in a notebook."""
    notebook = _in_notebook()
    wanted = notebook or (sys.stderr is not None and sys.stderr.isatty()) if progress is None else progress
    if not wanted or n_iter <= done:
        return Silent()
    return (NotebookBar if notebook else Bar)(title, n_iter, done)


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code; IPython on a terminal has no kernel."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
