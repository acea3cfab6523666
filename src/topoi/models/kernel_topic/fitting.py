"""Fitting of a kernel topic model: sweeps over the words, steps of the Gaussian process, steps of its parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from topoi.engine.executors import open_executor
from topoi.engine.interruption import Abandoned, Interruption, interruptible
from topoi.engine.progress import SweepInfo, open_progress
from topoi.models.bags import Bags
from topoi.models.features import folding
from topoi.models.kernel_topic import word_shares
from topoi.models.kernel_topic.evidence import Hyper, Learned, learn
from topoi.models.kernel_topic.gaussian_process import Each, Mode, Sites, find_mode, sites_at, start_at

Array = NDArray[np.float64]
# Within a fit Newton's method need not converge: the next sweep changes the counts anyway.
_STEPS_WITHIN, _WARM_ALPHA = 3, 0.5


class Schedule(NamedTuple):
    """Schedule of a fit: sweeps of LDA first, then steps of the process at intervals of sweeps."""

    n_iter: int
    n_warmup: int
    process_every: int
    learn_every: int
    evaluate_every: int
    seed: int
    shared_amplitude: bool
    learns: bool
    # Whether hyper-parameters are learned from drawn topics of words rather than from expected counts.
    draws: bool = False
    tol: float = 0.0


@contextmanager
def each_topic(n_jobs: int, n_topics: int) -> Iterator[Each]:
    """Executor over topics, several at a time, one BLAS thread each, so that results do not depend on their number."""
    with threadpool_limits(limits=1, user_api="blas"), open_executor(n_jobs, n_topics) as executor:
        yield lambda function, n: list(executor.map(function, range(n)))


class Counts:
    """Topic shares of every entry, and the expected counts they give."""

    def __init__(self, bags: Bags, n_words: int, n_topics: int, seed: int, beta: float) -> None:
        random = np.random.default_rng(seed)
        shares = random.exponential(size=(len(bags.row), n_topics))
        self.bags, self.beta, self._random = bags, beta, random
        self.shares = shares / shares.sum(axis=1, keepdims=True)
        self.doc_topic = np.zeros((bags.n_docs, n_topics))
        self.word_topic = np.zeros((n_words, n_topics))
        self.topic = np.zeros(n_topics)
        self.recount()

    @property
    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.shares, self.doc_topic, self.word_topic, self.topic

    def recount(self) -> None:
        """Recompute the counts from the shares, so that rounding errors do not accumulate."""
        word_shares.count(self.bags, *self._arrays)

    def drawn(self) -> Array:
        """Topic counts with one topic drawn for every word, which vary as topics do; expected counts vary less."""
        found = np.empty_like(self.doc_topic)
        word_shares.draw_counts(self.bags, self.shares, self._random.random(int(self.bags.times.sum())), found)
        return found

    def sweep(self, base: Array, counted: bool) -> None:
        """Recompute the shares of every word."""
        word_shares.sweep(self.bags, *self._arrays, base, counted, self.beta)

    def share_document(self, d: int, base: Array, n_passes: int) -> None:
        """Recompute the shares of one document's words."""
        word_shares.share_document(self.bags, d, *self._arrays, base, self.beta, n_passes)

    @property
    def topic_word(self) -> Array:
        """P(word | topic), topics × words."""
        smooth = self.word_topic + self.beta
        return np.ascontiguousarray((smooth / smooth.sum(axis=0)).T)

    def log_likelihood(self, mixture: Array) -> float:
        """Log probability of the words under the given document mixtures."""
        found = np.empty(self.bags.n_docs)
        folding.score(self.bags, np.ascontiguousarray(self.topic_word.T), np.ascontiguousarray(mixture), found)
        return float(found.sum())


def softmax(y: Array) -> Array:
    """Softmax along the last axis: shares of topics."""
    return np.asarray(np.exp(y - logsumexp(y, axis=-1, keepdims=True)))


def smoothed(counts: Array) -> Array:
    """Topic shares of each document, from its counts."""
    rows = counts + _WARM_ALPHA
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


class Watch:
    """Progress, the trace, the user's callback, and signals, which end a fit and leave it usable."""

    def __init__(self, title: str, progress: bool | None, schedule: Schedule, n_tokens: int, callback: Any) -> None:
        self._bar = open_progress(progress, title, schedule.n_iter)
        self._signals = interruptible()
        self._schedule, self._n_tokens, self._callback = schedule, n_tokens, callback
        self._begin = time.perf_counter()
        self.trace: list[tuple[int, float]] = []
        self.called_off = False

    def __enter__(self) -> Watch:
        self.interruption: Interruption = self._signals.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._signals.__exit__(*problem)
        self._bar.close()

    @property
    def interrupted(self) -> bool:
        """Whether a signal has come."""
        return self.interruption.is_set()

    def reason(self, converged: bool) -> str:
        """Reason for the end of a fit: a signal, the callback, convergence, or the limit of sweeps."""
        by_itself = "converged" if converged else "n_iter"
        return self.interruption.reason or ("callback" if self.called_off else by_itself)

    def run(self, work: Callable[[], Any]) -> Any:
        """Run work that may take long; ``Abandoned`` is raised if a signal comes meanwhile."""
        return self.interruption.run(work)

    def after(self, sweep: int, log_likelihood: Callable[[], float]) -> bool:
        """Record a sweep; return whether the callback, or a Ctrl-C, ends the sweeps."""
        value = None
        if sweep % self._schedule.evaluate_every == 0 or sweep == self._schedule.n_iter:
            self.trace.append((sweep, log_likelihood()))
            value = self.trace[-1][1] / max(self._n_tokens, 1)
        seconds = time.perf_counter() - self._begin
        info = SweepInfo(sweep, self._schedule.n_iter, value, sweep * self._n_tokens / max(seconds, 1e-9), seconds)
        self._bar.update(info)
        self.called_off = self._callback is not None and bool(self._callback(info))
        return self.called_off or self.interrupted


def warm_up(counts: Counts, schedule: Schedule, watch: Watch) -> tuple[int, bool]:
    """Sweeps of LDA, to form topics before the process sees them; return the last sweep and whether to stop."""
    base = np.full_like(counts.doc_topic, _WARM_ALPHA)
    for sweep in range(1, min(schedule.n_warmup, schedule.n_iter) + 1):
        counts.sweep(base, True)
        if watch.after(sweep, lambda: counts.log_likelihood(smoothed(counts.doc_topic))):
            return sweep, True
    return min(schedule.n_warmup, schedule.n_iter), False


def first_y(counts: Array) -> Array:
    """Initial y: the logs of the documents' shares, centred."""
    logs = np.log(smoothed(counts))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


class State(NamedTuple):
    """Snapshot of a process between two steps; the next step does not change it."""

    hyper: Hyper
    y: Array
    a: Array


class Process:
    """The Gaussian process of a fit by ``inference="laplace"``: y, and the hyper-parameters."""

    def __init__(self, hyper: Hyper, y: Array, schedule: Schedule, each: Each) -> None:
        self._schedule, self._each, self._began = schedule, each, hyper
        self.info = {"newton_steps": 0, "newton_unfinished": 0, "evidence_evaluations": 0, "evidence_steps": 0}
        self._start(hyper, y)

    def _start(self, hyper: Hyper, y: Array) -> None:
        """Set new hyper-parameters; y stays."""
        self.hyper, self.prior, self.y = hyper, hyper.prior(), y
        self.a = start_at(self.prior, y, self._each)

    @property
    def state(self) -> State:
        """Current snapshot."""
        return State(self.hyper, self.y, self.a)

    def _find_mode(self, counts: Array, n_steps: int | None) -> Mode:
        return find_mode(self.prior, counts, self.y, self.a, self._each, n_steps=n_steps)

    def _learned(self, sites: Sites) -> Learned:
        return learn(self.hyper, sites, self._schedule.shared_amplitude, self._each, centre=self._began)

    def step(self, counts: Array, n_steps: int | None) -> None:
        """Newton's method from the current state (warm start)."""
        found = self._find_mode(counts, n_steps)
        self.y, self.a = found.y, found.a
        self.info["newton_steps"] += found.n_steps
        if n_steps is None:
            self.info["newton_unfinished"] += not found.converged

    def learn(self, counts: Array) -> None:
        """Maximise the evidence with the sites at y; y stays."""
        if not self._schedule.learns:
            return
        found = self._learned(sites_at(self.y, counts))
        self._start(found.hyper, self.y)
        self.info["evidence_evaluations"] += found.n_evaluations
        self.info["evidence_steps"] += 1

    def renew(self, counts: Array, learned_on: Array, n_steps: int | None) -> None:
        """Learn the hyper-parameters, then update y."""
        self.learn(learned_on)
        self.step(counts, n_steps)


class Rest:
    """Convergence of a fit: shares of documents and words of topics hardly change any more."""

    def __init__(self, tol: float) -> None:
        self._tol, self.change = tol, float("inf")
        self._before: tuple[Array, ...] = ()

    @property
    def info(self) -> dict[str, Any]:
        """For ``fit_info_``."""
        return {"last_change": self.change if np.isfinite(self.change) else None}

    def reached(self, counts: Counts, y: Array, n_sweeps: int) -> bool:
        """Compare with the previous state, ``n_sweeps`` ago.

        The change is the larger of two mean total variations: of documents' shares, weighted by their lengths, and of
        topics' words, weighted by their sizes; per ten sweeps.
        """
        now = softmax(y), counts.topic_word, counts.doc_topic.sum(axis=1), counts.topic.copy()
        before, self._before = self._before, now
        if not before:
            return False
        each = [
            float(np.average(0.5 * np.abs(now[i] - before[i]).sum(axis=1), weights=np.maximum(now[i + 2], 1e-12)))
            for i in (0, 1)
        ]
        self.change = 10.0 * max(each) / n_sweeps
        return self.change < self._tol


class Ended(NamedTuple):
    """Result of a fit by ``inference="laplace"``: final state, number of sweeps, and whether it converged."""

    state: State
    sweep: int
    converged: bool
    info: dict[str, Any]


def fit_laplace(
    counts: Counts, schedule: Schedule, watch: Watch, hyper: Hyper, begin: Callable[[Hyper, Array], Process]
) -> Ended:
    """Alternate between words and process: the expected counts are the process's likelihood.

    ``begin`` makes the process that starts at given hyper-parameters and y. A step during which a signal comes may be
    abandoned: the fit then ends at the state before it.
    """
    sweep, stopped = warm_up(counts, schedule, watch)
    counts.recount()
    y = first_y(counts.doc_topic)
    kept = State(hyper, y, np.zeros_like(y))
    rest, info, converged = Rest(schedule.tol), {}, False

    def learned_on() -> Array:
        return counts.drawn() if schedule.draws else counts.doc_topic.copy()

    try:
        process = watch.run(partial(begin, hyper, y))
        info = process.info
        watch.run(partial(process.step, counts.doc_topic, _STEPS_WITHIN))
        kept = process.state
        for _ in range(2):
            watch.run(partial(process.renew, counts.doc_topic, learned_on(), _STEPS_WITHIN))
            kept = process.state
        since = 0
        while sweep < schedule.n_iter and not stopped:
            counts.sweep(softmax(process.y), False)
            sweep, since = sweep + 1, since + 1
            if since % schedule.process_every == 0:
                counts.recount()
                watch.run(partial(process.step, counts.doc_topic, _STEPS_WITHIN))
            if since % schedule.learn_every == 0:
                watch.run(partial(process.renew, counts.doc_topic, learned_on(), _STEPS_WITHIN))
                converged = rest.reached(counts, process.y, schedule.learn_every)
            kept = process.state
            stopped = watch.after(sweep, lambda: counts.log_likelihood(softmax(process.y))) or converged
        counts.recount()
        watch.run(partial(process.step, counts.doc_topic, None))
        kept = process.state
        watch.run(partial(process.renew, counts.doc_topic, learned_on(), None))
        kept = process.state
    except Abandoned:
        counts.recount()
    return Ended(kept, sweep, converged, dict(info) | rest.info)
