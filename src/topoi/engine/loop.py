"""The loop of every fit: steps with trace, progress, callbacks, signals and checkpoints.

A family gives a ``Training``: its state, one step, and an end. ``run`` does the rest, in the same way for all. Gibbs
chains are one kind of training (``engine.gibbs``).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.interruption import PATIENCE, Abandoned, Interruption, Pace, interruptible
from topoi.engine.progress import Display, Silent

# Seconds between in-memory snapshots that a fit of long sweeps can return to.
_BETWEEN_STATES = 10.0
Trace = list[tuple[int, float]]
Saved = tuple[dict[str, Any], dict[str, ArrayOrPieces]]


class SweepInfo(NamedTuple):
    """State of a fit after a sweep, as passed to callbacks."""

    sweep: int
    n_iter: int
    log_joint_per_token: float | None
    tokens_per_second: float
    seconds: float


class Training(ABC):
    """Interface of a way of fitting to the loop: what the next step reads, a step, and an end.

    An abandoned step may continue in its thread for a while: ``restore`` must replace the objects that steps modify.
    """

    # Tokens that a step reads in each chain.
    n_tokens: int

    @property
    def converged(self) -> bool:
        """Whether further steps would change next to nothing."""
        return False

    @property
    @abstractmethod
    def traces(self) -> list[Trace]:
        """Sweeps and log joints of every chain, to which the loop appends."""

    @abstractmethod
    def step(self, sweep: int, evaluate: bool) -> list[float]:
        """Make one step; return the log joint of every chain if asked to evaluate it, else nothing."""

    @abstractmethod
    def saved(self, sweep: int) -> Saved:
        """Everything that the step after ``sweep`` reads, with the sweep and the seed; valid until that step begins."""

    def kept(self, sweep: int) -> Saved:
        """The same, as copies that no later step modifies."""
        return self.saved(sweep)

    @abstractmethod
    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Go back to a saved state, checked: kernels check nothing, and files may be damaged."""

    def is_long(self, sweep: int) -> bool:
        """Whether a step takes much longer than the one before it."""
        return False

    def is_usable(self, sweep: int) -> bool:
        """Whether a fit that is interrupted after ``sweep`` has a result; a random start is none."""
        return sweep > 0

    def finish(self) -> Any:
        """Compute what the result needs besides the state; no step follows, and the state may be read as before."""
        return None


@dataclass(frozen=True)
class Schedule:
    """Number of sweeps, seed, interval of log joint evaluations, whether samples are kept.

    With ``evaluate_before`` a step evaluates the state that it starts from.
    """

    n_iter: int
    seed: int
    evaluate_every: int = 10
    average: bool = False
    evaluate_before: bool = False

    def evaluated(self, sweep: int) -> int | None:
        """The sweep whose state is evaluated in a step, or None.

        Examples
        --------
        >>> from topoi.engine.loop import Schedule
        >>> [Schedule(25, 0).evaluated(sweep) for sweep in (1, 10, 25)]
        [None, 10, 25]
        >>> [Schedule(25, 0, evaluate_before=True).evaluated(sweep) for sweep in (1, 10, 11, 25)]
        [0, None, 10, None]
        """
        at = sweep - self.evaluate_before
        return at if at % self.evaluate_every == 0 or at == self.n_iter else None


@dataclass
class Outcome:
    """Outcome of the loop: the last complete sweep, the time, whether it was interrupted, and why it ended.

    ``stopped`` is ``"n_iter"``, ``"converged"``, ``"callback"``, or the name of a signal. ``abandoned`` tells that the
    last step was left unfinished and the state restored. ``result`` is that of ``Training.finish``, None if a signal
    left no time for it.
    """

    sweep: int
    seconds: float
    interrupted: bool
    stopped: str = "n_iter"
    abandoned: bool = False
    result: Any = None


class _Kept:
    """Snapshot of the state that a fit returns to when a step is abandoned.

    Short steps are waited for after a signal, and need no snapshot. For long ones a snapshot is taken at most every
    ``_BETWEEN_STATES`` seconds, so that it costs next to nothing.
    """

    def __init__(self, training: Training) -> None:
        self._training, self._time = training, 0.0
        self.state: Saved | None = None

    def keep(self, sweep: int, last: float) -> bool:
        """Take a snapshot after ``sweep`` if the next step may be long; return whether that one may be abandoned.

        ``last`` is the duration of the last step.
        """
        if last <= PATIENCE and not self._training.is_long(sweep + 1):
            self.state = None
            return False
        due = self.state is None or last <= PATIENCE or time.monotonic() - self._time > _BETWEEN_STATES
        if due and self._training.is_usable(sweep):
            self.state = self._training.kept(sweep)
            self._time = time.monotonic()
        return True

    def restore(self, interruption: Interruption) -> int:
        """Restore the snapshot and return its sweep."""
        if self.state is None:
            interruption.give_up("the first sweep was done")
        self._training.restore(*self.state)
        return int(self.state[0]["sweep"])


def run(
    training: Training,
    schedule: Schedule,
    done: int = 0,
    checkpoint: Checkpoint | None = None,
    progress: Display | None = None,
    callback: Callable[[SweepInfo], Any] | None = None,
) -> Outcome:
    """Step from sweep ``done`` to ``schedule.n_iter``, or until the training has converged.

    Ctrl-C or SIGTERM ends the run after the step in progress. If that would take more than half a second, the step is
    abandoned and the state restored from a snapshot a few steps older. A second signal raises at once. A callback
    that returns a true value ends the run too.
    """
    progress = progress or Silent()
    start = time.perf_counter()
    sweep, stop, abandoned, result = done, False, False, None
    with interruptible() as interrupted:
        pace, kept = Pace(interrupted), _Kept(training)
        try:
            while sweep < schedule.n_iter and not (training.converged or stop or interrupted.is_set()):
                before, may_abandon = time.perf_counter(), kept.keep(sweep, pace.seconds)
                at = schedule.evaluated(sweep + 1)
                try:
                    joints = pace.run(partial(training.step, sweep + 1, at is not None), may_abandon)
                except Abandoned:
                    sweep, abandoned = kept.restore(interrupted), True
                    break
                sweep += 1
                if at is not None:
                    for trace, joint in zip(training.traces, joints, strict=True):
                        trace.append((at, joint))
                speed = training.n_tokens * len(training.traces) / max(time.perf_counter() - before, 1e-9)
                joint_per_token = None if at is None else joints[0] / max(training.n_tokens, 1)
                info = SweepInfo(sweep, schedule.n_iter, joint_per_token, speed, time.perf_counter() - start)
                progress.update(info)
                stop = bool(callback(info)) if callback is not None else False
                ends = sweep == schedule.n_iter or training.converged or stop
                if checkpoint is not None and not ends and checkpoint.due(sweep):
                    checkpoint.write(sweep, *training.saved(sweep))
            if checkpoint is not None and sweep > done:
                checkpoint.write(sweep, *training.saved(sweep))
            if interrupted.is_set() and not training.is_usable(sweep):
                interrupted.give_up("the first sweep was done")
            if not abandoned:
                # A signal may leave no time for the end: the result is then the state alone.
                with suppress(Abandoned):
                    result = interrupted.run(training.finish)
        finally:
            progress.close()
    by_itself = "converged" if training.converged else "n_iter"
    reason = interrupted.reason or ("callback" if stop else by_itself)
    return Outcome(sweep, time.perf_counter() - start, interrupted.is_set(), reason, abandoned, result)


def plain_traces(traces: list[Trace]) -> list[list[list[float]]]:
    """Traces as JSON can hold them."""
    return [[[int(sweep), float(value)] for sweep, value in trace] for trace in traces]


def checked_trace(plain: Any) -> Trace:
    """One of ``plain_traces``."""
    return [(int(sweep), float(value)) for sweep, value in plain]
