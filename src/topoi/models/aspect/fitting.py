"""The fit: restarts, EM steps until nothing changes, a trace of the evidence, progress, Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.engine.interruption import interruptible
from topoi.engine.progress import SweepInfo, open_progress
from topoi.models.aspect.ep import Rule
from topoi.models.aspect.inference import Inferred
from topoi.models.aspect.learning import Learner, Plan, first_aspects
from topoi.models.aspect.state import Parameters
from topoi.models.bags import Bags


class Schedule(NamedTuple):
    """How long to learn, how often to estimate the evidence, and what a person sees of it."""

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
    """One start and where it led."""

    parameters: Parameters
    inferred: Inferred
    sizes: NDArray[np.float64]
    n_steps: int
    change: float
    converged: bool
    keeps_sites: bool
    trace: list[tuple[int, float]]
    stopped: bool
    interrupted: bool

    @property
    def evidence(self) -> float:
        """The estimate of log p(corpus)."""
        return float(self.inferred.evidence.sum())


def fit(
    bags: Bags, n_words: int, n_aspects: int, alpha: NDArray[np.float64], plan: Plan, schedule: Schedule,
    start: NDArray[np.float64] | None = None,
) -> list[Run]:  # fmt: skip
    """Learn from several random starts, or from ``start`` (words × aspects); a run that is broken off is the last."""
    runs: list[Run] = []
    for restart in range(schedule.n_restarts):
        rng = np.random.default_rng([schedule.seed, restart])
        aspects = first_aspects(bags, n_words, n_aspects, rng) if start is None else start
        learner = Learner(bags, n_words, Parameters.pad(aspects, alpha), plan)
        runs.append(_learn(learner, schedule, restart))
        if runs[-1].stopped or runs[-1].interrupted:
            break
    return runs


def _learn(learner: Learner, schedule: Schedule, restart: int) -> Run:
    of = f" {restart + 1}/{schedule.n_restarts}" if schedule.n_restarts > 1 else ""
    bar = open_progress(schedule.progress, schedule.title + of, schedule.n_iter)
    n_tokens = float(learner.bags.times.sum())
    begin, trace, step, change, stopped = time.perf_counter(), [], 0, np.inf, False
    with interruptible() as interrupted:
        try:
            while step < schedule.n_iter and change >= schedule.tol and not stopped and not interrupted.is_set():
                before = time.perf_counter()
                due = step % schedule.evaluate_every == 0
                change, inferred = learner.step(evidence=due)
                if due:
                    # The evidence is that of the parameters before the step.
                    trace.append((step, float(inferred.evidence.sum())))
                step += 1
                per_token = trace[-1][1] / max(n_tokens, 1.0) if due else None
                now = time.perf_counter()
                info = SweepInfo(step, schedule.n_iter, per_token, n_tokens / max(now - before, 1e-9), now - begin)
                bar.update(info)
                stopped = bool(schedule.callback(info)) if schedule.callback is not None else False
        finally:
            bar.close()
        inferred = learner.settle(schedule.final_rule)
    trace.append((step, float(inferred.evidence.sum())))
    # ``settle`` has worked in the learner's own room: the next start must not.
    return Run(
        learner.parameters, inferred, learner.sizes, step, float(change), change < schedule.tol, learner.keeps_sites,
        trace, stopped, interrupted.is_set(),
    )  # fmt: skip
