"""The fit: restarts, EM steps until convergence, a trace of the evidence, progress, Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.engine.interruption import Abandoned, interruptible
from topoi.engine.progress import SweepInfo, open_progress
from topoi.models.aspect.ep import Rule
from topoi.models.aspect.inference import Inferred, no_outcome
from topoi.models.aspect.learning import Learner, Plan, first_aspects
from topoi.models.aspect.state import Parameters
from topoi.models.bags import Bags


class Schedule(NamedTuple):
    """Schedule of a fit: its length, the interval between estimates of the evidence, and its display."""

    n_iter: int
    tol: float
    evaluate_every: int
    n_restarts: int
    seed: int
    final_rule: Rule
    progress: bool | None
    title: str
    callback: Callable[[SweepInfo], Any] | None


class Run(NamedTuple):
    """One start and its result."""

    parameters: Parameters
    inferred: Inferred
    sizes: NDArray[np.float64]
    n_steps: int
    change: float
    converged: bool
    keeps_sites: bool
    trace: list[tuple[int, float]]
    called_off: bool
    signal: str | None

    @property
    def evidence(self) -> float:
        """Estimate of log p(corpus); the last one in the trace if a signal left no time for another."""
        found = float(self.inferred.evidence.sum())
        return found if np.isfinite(found) or not self.trace else self.trace[-1][1]

    @property
    def reason(self) -> str:
        """Reason for the end: a signal, the callback, convergence, or the limit of steps."""
        by_itself = "converged" if self.converged else "n_iter"
        return self.signal or ("callback" if self.called_off else by_itself)


def fit(
    bags: Bags, n_words: int, n_aspects: int, alpha: NDArray[np.float64], plan: Plan, schedule: Schedule,
    start: NDArray[np.float64] | None = None,
) -> list[Run]:  # fmt: skip
    """Learn from several random starts, or from ``start`` (words × aspects); an interrupted run is the last."""
    runs: list[Run] = []
    for restart in range(schedule.n_restarts):
        rng = np.random.default_rng([schedule.seed, restart])
        aspects = first_aspects(bags, n_words, n_aspects, rng) if start is None else start
        learner = Learner(bags, n_words, Parameters.pad(aspects, alpha), plan)
        run = _learn(learner, schedule, restart)
        if run.n_steps or not runs:
            runs.append(run)
        if run.called_off or run.signal:
            break
    return runs


class _Before(NamedTuple):
    """State before a step, kept if the step is abandoned: parameters, posteriors and sizes of aspects."""

    parameters: Parameters
    room: NDArray[np.float64]
    sizes: NDArray[np.float64]

    def inferred(self, n_docs: int) -> Inferred:
        """The posteriors, without a report."""
        return Inferred(self.room, np.full(n_docs, np.nan), no_outcome(n_docs), self.parameters.n_aspects)


def _learn(learner: Learner, schedule: Schedule, restart: int) -> Run:
    of = f" {restart + 1}/{schedule.n_restarts}" if schedule.n_restarts > 1 else ""
    bar = open_progress(schedule.progress, schedule.title + of, schedule.n_iter)
    n_tokens = float(learner.bags.times.sum())
    begin, trace, step, change, stopped = time.perf_counter(), [], 0, np.inf, False
    with interruptible() as interrupted:
        kept = _Before(learner.parameters, learner.room, learner.sizes)
        try:
            while step < schedule.n_iter and change >= schedule.tol and not stopped and not interrupted.is_set():
                before = time.perf_counter()
                due = step % schedule.evaluate_every == 0
                change, inferred = interrupted.run(partial(learner.step, evidence=due))
                if due:
                    # The evidence belongs to the parameters before the step.
                    trace.append((step, float(inferred.evidence.sum())))
                step += 1
                per_token = trace[-1][1] / max(n_tokens, 1.0) if due else None
                now = time.perf_counter()
                kept = _Before(learner.parameters, learner.room.copy(), learner.sizes)
                info = SweepInfo(step, schedule.n_iter, per_token, n_tokens / max(now - before, 1e-9), now - begin)
                bar.update(info)
                stopped = bool(schedule.callback(info)) if schedule.callback is not None else False
            inferred = interrupted.run(partial(learner.settle, schedule.final_rule))
            trace.append((step, float(inferred.evidence.sum())))
        except Abandoned:
            if step == 0 and restart == 0:
                interrupted.give_up("the first step was done")
            inferred = kept.inferred(learner.bags.n_docs)
        finally:
            bar.close()
        reason = interrupted.reason
    # ``settle`` has used the learner's own arrays, which the next start must not overwrite.
    return Run(
        kept.parameters, inferred, kept.sizes, step, float(change), change < schedule.tol, learner.keeps_sites,
        trace, stopped, reason,
    )  # fmt: skip
