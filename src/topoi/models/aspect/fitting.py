"""The fit: restarts, EM steps until convergence, and a trace of the evidence, under the engine's loop; its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.loop import Outcome as End
from topoi.engine.loop import Saved, SweepInfo, Trace
from topoi.engine.loop import Schedule as Steps
from topoi.engine.restarts import Restarts, restored_trace, run_restarts, trace_array
from topoi.errors import ModelError
from topoi.models.aspect.learning import ALPHA_RANGE, Learner, Plan, first_aspects
from topoi.models.bags import Bags
from topoi.models.fixed_topics.ep import Outcome, Rule
from topoi.models.fixed_topics.inference import Inferred, no_outcome
from topoi.models.fixed_topics.parameters import Parameters
from topoi.models.validation import whole_number

if TYPE_CHECKING:
    from topoi.models.aspect.estimator import AspectModel

# From this alpha on, the EP evidence is off by a tenth of a nat or less on average (docs/aspect.md).
RELIABLE_ALPHA = 0.5
# An aspect that explains less than half a word is dead.
_DEAD_BELOW = 0.5


class Schedule(NamedTuple):
    """Schedule of a fit: its length, the interval between estimates of the evidence, and its display."""

    n_iter: int
    tol: float
    evaluate_every: int
    n_restarts: int
    final_rule: Rule
    progress: bool | None
    title: str
    callback: Callable[[SweepInfo], Any] | None


class Run(NamedTuple):
    """One start and its result; ``stopped`` is the reason for its end."""

    parameters: Parameters
    inferred: Inferred
    sizes: NDArray[np.float64]
    n_steps: int
    change: float
    converged: bool
    keeps_sites: bool
    trace: Trace
    stopped: str
    interrupted: bool = False

    @property
    def evidence(self) -> float:
        """Estimate of log p(corpus); the last one in the trace if a signal left no time for another."""
        found = float(self.inferred.evidence.sum())
        return found if np.isfinite(found) or not self.trace else self.trace[-1][1]


class EMRestarts(Restarts[Run]):
    """EM steps of one start after the other.

    Aspects start at random, or at ``start`` (words × aspects). ``saves`` tells that there is a checkpoint, which needs
    sites too.
    """

    def __init__(
        self, bags: Bags, n_words: int, alpha: NDArray[np.float64], plan: Plan, schedule: Schedule, seed: int,
        start: NDArray[np.float64] | None = None, saves: bool = False,
    ) -> None:  # fmt: skip
        self._bags, self._n_words, self._alpha, self._plan = bags, n_words, alpha, plan
        super().__init__(schedule.n_restarts)
        self.schedule, self._seed, self._start, self._saves = schedule, seed, start, saves
        self.n_tokens = int(bags.times.sum())
        self.begin(0)

    def begin(self, restart: int) -> None:
        """Begin a start from its first step."""
        rng, aspects = np.random.default_rng([self._seed, restart]), self._start
        if aspects is None:
            aspects = first_aspects(self._bags, self._n_words, len(self._alpha), rng)
        self.restart, self.trace = restart, list[tuple[int, float]]()
        self.learner = Learner(self._bags, self._n_words, Parameters.pad(aspects, self._alpha), self._plan)

    @property
    def converged(self) -> bool:
        """Whether the last step changed the parameters by less than ``tol``."""
        return self.learner.change < self.schedule.tol

    def step(self, sweep: int, evaluate: bool) -> list[float]:
        """One EM step; the evidence belongs to the parameters before it."""
        _, inferred = self.learner.step(evidence=evaluate)
        return [float(inferred.evidence.sum())] if evaluate else []

    def finish(self) -> Inferred:
        """Posteriors and evidence under the final parameters."""
        return self.learner.settle(self.schedule.final_rule)

    def result(self, outcome: End) -> Run:
        """Parameters, posteriors and evidence of the present start."""
        learner, inferred = self.learner, outcome.result
        if inferred is None:
            n_docs = self._bags.n_docs
            inferred = Inferred(learner.room, np.full(n_docs, np.nan), no_outcome(n_docs), len(self._alpha))
        else:
            self.trace.append((outcome.sweep, float(inferred.evidence.sum())))
        return Run(
            learner.parameters, inferred, learner.sizes, outcome.sweep, learner.change, self.converged,
            learner.keeps_sites, self.trace, outcome.stopped, outcome.interrupted,
        )  # fmt: skip

    def saved(self, sweep: int) -> Saved:
        """The present start, and the results of those before it."""
        progress, arrays = self._present(sweep)
        for number, each in enumerate(self.results):
            arrays |= {f"run{number}_{name}": array for name, array in _run_arrays(each).items()}
        return progress | {"steps": [each.n_steps for each in self.results]}, arrays

    def kept(self, sweep: int) -> Saved:
        """Copies of the present start; of sites only if they are to be saved: they take much memory."""
        progress, arrays = self._present(sweep)
        left_out = () if self._saves else ("sites",)
        return progress, {name: np.array(array) for name, array in arrays.items() if name not in left_out}

    def _present(self, sweep: int) -> Saved:
        learner = self.learner
        progress = {"sweep": sweep, "seed": self._seed, "restart": self.restart, "warm": learner.warm}
        return progress, {**learner.arrays(), **_trace_arrays(self.trace, learner.change)}

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Go back to what ``saved`` or ``kept`` gave."""
        restart, warm = whole_number("restart", progress["restart"], 0), progress["warm"]
        learner = copy(self.learner)
        if restart >= self.n_restarts or not isinstance(warm, bool):
            raise ModelError("the starts of the aspects are not those of this fit")
        if self._saves and learner.keeps_sites != ("sites" in arrays):
            raise ModelError("the sites of expectation propagation are missing, or there should be none")
        learner.restore(arrays)
        self.trace, learner.change = _restored_trace(arrays)
        learner.warm = warm
        if "steps" in progress:
            steps = [whole_number("steps", n, 0) for n in progress["steps"]]
            if len(steps) > restart:
                raise ModelError("there are more results of aspects than starts")
            self.results = [self._restored_run(arrays, number, n) for number, n in enumerate(steps)]
        self.learner, self.restart, self._seed = learner, restart, int(progress["seed"])

    def _restored_run(self, arrays: Mapping[str, ArrayOrPieces], number: int, n_steps: int) -> Run:
        prefix, learner = f"run{number}_", copy(self.learner)
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        keeps_sites = learner.keeps_sites
        learner.restore(own)
        trace, change = _restored_trace(own)
        like = no_outcome(self._bags.n_docs)
        report = Outcome(*(np.array(own[f"report_{name}"]) for name in Outcome._fields))
        evidence = np.array(own["evidence"])
        pairs = zip((*report, evidence), (*like, like.change), strict=True)
        if any(found.shape != wanted.shape or found.dtype != wanted.dtype for found, wanted in pairs):
            raise ModelError("the reports of an earlier start do not fit the documents")
        inferred, converged = Inferred(learner.room, evidence, report, len(self._alpha)), change < self.schedule.tol
        return Run(
            learner.parameters, inferred, learner.sizes, n_steps, change, converged, keeps_sites, trace,
            "converged" if converged else "n_iter",
        )  # fmt: skip


def _trace_arrays(trace: Trace, change: float) -> dict[str, NDArray[Any]]:
    return {"trace": trace_array(trace), "change": np.array([change])}


def _restored_trace(arrays: Mapping[str, ArrayOrPieces]) -> tuple[Trace, float]:
    change = np.asarray(arrays["change"])
    if change.dtype != np.float64 or change.shape != (1,) or not change[0] >= 0:
        raise ModelError("the change of the last step is no number")
    return restored_trace(arrays), float(change[0])


def _run_arrays(run: Run) -> dict[str, NDArray[Any]]:
    n = run.parameters.n_aspects
    return {
        "word_aspect": run.parameters.word_aspect[:, :n],
        "alpha": run.parameters.alpha[:n],
        "room": run.inferred.room,
        "sizes": run.sizes,
        "evidence": run.inferred.evidence,
        **{f"report_{name}": array for name, array in run.inferred.outcome._asdict().items()},
        **_trace_arrays(run.trace, run.change),
    }


def fit(training: EMRestarts, seed: int, done: int = 0, store: Checkpoint | None = None) -> list[Run]:
    """Learn from several starts, beginning after step ``done`` of the present one; an interrupted run is the last."""
    plan = training.schedule
    schedule = Steps(plan.n_iter, seed, plan.evaluate_every, evaluate_before=True)
    return run_restarts(training, schedule, done, store, plan.progress, plan.title, plan.callback)


def fit_report(model: AspectModel, runs: list[Run], best: int, seconds: float) -> dict[str, Any]:
    """Return ``fit_info_``; ``runs`` are the starts, ``best`` the one that was kept."""
    run = runs[best]
    outcome, rule = run.inferred.outcome, model._final_rule()
    skipped = int(outcome.skipped.sum())
    alpha = run.parameters.alpha[: run.parameters.n_aspects]
    n_tokens = model.corpus_.n_tokens
    steps = sum(each.n_steps for each in runs)
    return {
        "model": type(model).__name__,
        "inference": model.inference,
        "learning": model.learning,
        "seed": model._seed,
        "n_sweeps": model.n_iter_,
        "n_chains": 1,
        "n_restarts": len(runs),
        "best_restart": best,
        "restart_log_likelihoods": [each.evidence for each in runs],
        "log_likelihood": run.evidence,
        "log_likelihood_per_token": run.evidence / max(n_tokens, 1),
        "converged": bool(run.converged),
        "last_change": run.change if np.isfinite(run.change) else None,
        "sites_kept": bool(run.keeps_sites),
        "skipped_words": skipped,
        "skipped_documents": int((outcome.skipped > 0).sum()),
        "unsettled_documents": int((outcome.change >= rule.tolerance).sum()),
        "mean_passes": float(outcome.passes.mean()) if len(outcome.passes) else 0.0,
        "dead_aspects": int((run.sizes < _DEAD_BELOW).sum()) if n_tokens and run.n_steps else 0,
        "advice": _advice(model, float(alpha.min()), skipped),
        "interrupted": runs[-1].interrupted,
        "stopped": runs[-1].stopped,
        "seconds": seconds,
        "tokens_per_second": n_tokens * steps / seconds if seconds > 0 and steps else None,
    }


def _advice(model: AspectModel, least_alpha: float, skipped: int) -> str | None:
    """Warnings about an unreliable alpha or evidence, with advice."""
    notes = []
    if model.learn_alpha and least_alpha <= ALPHA_RANGE[0]:
        notes.append(
            f"alpha has fallen to its limit of {ALPHA_RANGE[0]:g}, where each document has one aspect and new ones are "
            "predicted badly: hold it, for example by alpha=0.1, learn_alpha=False"
        )
    if model.inference == "vb":
        notes.append('the evidence is a lower bound: compare models by log_likelihood(..., estimator="filter")')
    elif skipped or (least_alpha < RELIABLE_ALPHA and (model.learn_alpha or model.alpha is not None)):
        reason = f"alpha is as low as {least_alpha:.3g}, where the evidence of expectation propagation can be off"
        if skipped:
            reason = f"expectation propagation had to skip {skipped:,} words"
        notes.append(f'{reason}: for document probabilities use log_likelihood(..., estimator="filter")')
    return "; ".join(notes) or None
