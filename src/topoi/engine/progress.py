"""Progress bar of long work: sweeps, tokens per second, log joint per token and time left."""

from __future__ import annotations

import logging
import sys
from typing import Any, NamedTuple

from topoi.kernels import preparing

logger = logging.getLogger("topoi")


class SweepInfo(NamedTuple):
    """State of a fit after a sweep, as passed to callbacks."""

    sweep: int
    n_iter: int
    log_joint_per_token: float | None
    tokens_per_second: float
    seconds: float


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
            console=Console(stderr=True),
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
            self._joint = f"log joint {info.log_joint_per_token:.4f}/token"
        speed = f"{info.tokens_per_second / 1e6:.1f} M tokens/s"
        self._bar.update(self._task, completed=info.sweep, speed=speed, joint=self._joint)

    def close(self) -> None:
        """Leave the finished bar on the screen."""
        preparing.unwatch(self._prepare)
        self._bar.stop()


def open_progress(progress: bool | None, title: str, n_iter: int, done: int = 0) -> Bar | Silent:
    """Open the progress display: True shows a bar, False none, None a bar on a terminal only."""
    wanted = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    return Bar(title, n_iter, done) if wanted and n_iter > done else Silent()
