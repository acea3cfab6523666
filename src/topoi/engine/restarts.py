"""Several starts of one fit, one after the other, under the engine's loop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.loop import Outcome, Schedule, SweepInfo, Trace, Training, run
from topoi.engine.progress import open_progress
from topoi.errors import ModelError

ResultT = TypeVar("ResultT")


class Restarts(Training, Generic[ResultT]):
    """A training of ``n_restarts`` starts: the state of the present one, and the results of those before it."""

    def __init__(self, n_restarts: int) -> None:
        self.n_restarts, self.restart = n_restarts, 0
        self.results: list[ResultT] = []
        self.trace: Trace = []

    @property
    def traces(self) -> list[Trace]:
        """Trace of the present start."""
        return [self.trace]

    def is_usable(self, sweep: int) -> bool:
        """Whether a step of this start is done, or an earlier start."""
        return sweep > 0 or bool(self.results)

    @abstractmethod
    def begin(self, restart: int) -> None:
        """Begin a start from its first step, with an empty trace."""

    @abstractmethod
    def result(self, outcome: Outcome) -> ResultT:
        """Result of the present start; ``outcome.result`` is None if a signal left no time for its end."""


def run_restarts(
    training: Restarts[ResultT],
    schedule: Schedule,
    done: int = 0,
    checkpoint: Checkpoint | None = None,
    progress: bool | None = None,
    title: str = "",
    callback: Callable[[SweepInfo], Any] | None = None,
) -> list[ResultT]:
    """Run all starts, beginning after step ``done`` of the present one; an interrupted one is the last.

    A start that was interrupted before its first step has no result, unless it is the only one.
    """
    while True:
        of = f" {training.restart + 1}/{training.n_restarts}" if training.n_restarts > 1 else ""
        bar = open_progress(progress, title + of, schedule.n_iter, done)
        outcome = run(training, schedule, done, checkpoint, bar, callback)
        if outcome.sweep or not training.results:
            training.results.append(training.result(outcome))
        ended = outcome.interrupted or outcome.stopped == "callback"
        if ended or training.restart + 1 >= training.n_restarts:
            return training.results
        training.begin(training.restart + 1)
        done = 0


def trace_array(trace: Trace) -> NDArray[np.float64]:
    """A trace as an array of steps and values: JSON has no infinity."""
    return np.array(trace, np.float64).reshape(-1, 2)


def restored_trace(arrays: Mapping[str, ArrayOrPieces]) -> Trace:
    """The trace of a checkpoint, checked.

    Examples
    --------
    >>> from topoi.engine.restarts import restored_trace, trace_array
    >>> restored_trace({"trace": trace_array([(1, -2.5)])})
    [(1, -2.5)]
    """
    found = np.asarray(arrays["trace"])
    if found.dtype != np.float64 or found.ndim != 2 or found.shape[1] != 2 or not np.isfinite(found[:, 0]).all():
        raise ModelError("the trace is no table of steps and values")
    return [(int(step), float(value)) for step, value in found]
