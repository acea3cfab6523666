"""Fitting of a kernel topic model: sweeps over the words, steps of the Gaussian process, steps of its parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.executors import open_executor
from topoi.engine.loop import Saved, Trace, Training, checked_trace, plain_traces
from topoi.errors import ModelError
from topoi.models.bags import Bags
from topoi.models.features import folding
from topoi.models.kernel_topic import kernels
from topoi.models.kernel_topic.evidence import Hyper, Learned, learn
from topoi.models.kernel_topic.gaussian_process import (
    Each,
    Mode,
    Prior,
    Sites,
    deviation,
    find_mode,
    sites_at,
    start_at,
)
from topoi.models.trained import checked_floats
from topoi.models.validation import whole_number

Array = NDArray[np.float64]
# Within a fit Newton's method need not converge: the next sweep changes the counts anyway.
_STEPS_WITHIN, _WARM_ALPHA = 3, 0.5
# Name of the random numbers of draws, beside the seed.
_DRAWS = 1
# Arrays of the words, as checkpoints name them.
_COUNTS = ("shares", "doc_topic", "word_topic", "topic")


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
    # Whether hyper-parameters are learned from a draw of y and words' topics, not from the mode and expected counts.
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
        self.bags, self.beta = bags, beta
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
        kernels.count(self.bags, *self._arrays)

    def recounted(self) -> Counts:
        """The same shares with their counts computed anew; these counts stay as they are."""
        found = copy(self)
        found.doc_topic, found.word_topic, found.topic = (np.empty_like(counts) for counts in self._arrays[1:])
        found.recount()
        return found

    def arrays(self) -> dict[str, Array]:
        """Shares and counts, not copied. The counts differ from a recount in their last bits."""
        return dict(zip(_COUNTS, self._arrays, strict=True))

    def restored(self, arrays: Mapping[str, ArrayOrPieces]) -> Counts:
        """Counts of the same documents at an earlier ``arrays()``, checked."""
        found = copy(self)
        for name, mine in self.arrays().items():
            setattr(found, name, checked_floats(arrays, name, mine.shape))
        sums = found.shares.sum(axis=1)
        if (found.shares < 0).any() or (np.abs(sums - 1.0) > 1e-6).any():
            raise ModelError("the topic shares of words are not shares")
        again = found.recounted()
        if not all(np.allclose(a, b, 1e-6, 1e-3) for a, b in zip(found._arrays[1:], again._arrays[1:], strict=True)):
            raise ModelError("the topic counts are not those of the words")
        return found

    def without_shares(self, arrays: Mapping[str, ArrayOrPieces]) -> Counts:
        """Counts of the same documents at an earlier ``arrays()`` without shares: enough for the end of a fit."""
        found = copy(self)
        found.shares = np.zeros((0, self.shares.shape[1]))
        found.doc_topic, found.word_topic, found.topic = (np.array(arrays[name], np.float64) for name in _COUNTS[1:])
        return found

    @classmethod
    def of_mixtures(cls, bags: Bags, topic_word: Array, mixture: Array, beta: float) -> Counts:
        """Shares of every entry by its word and its document's mixture, as a fitted model has them."""
        found = cls.__new__(cls)
        found.bags, found.beta = bags, beta
        doc = np.repeat(np.arange(bags.n_docs), np.diff(bags.doc_start))
        shares = topic_word.T[bags.row] * mixture[doc]
        found.shares = shares / shares.sum(axis=1, keepdims=True)
        found.doc_topic, found.word_topic = np.zeros_like(mixture), np.zeros(topic_word.shape[::-1])
        found.topic = np.zeros(len(topic_word))
        found.recount()
        return found

    def drawn(self, mixture: Array, random: np.random.Generator) -> Array:
        """Topic counts with one topic drawn for every word, given the documents' mixtures."""
        found, uniform = np.empty_like(self.doc_topic), random.random(int(self.bags.times.sum()))
        kernels.draw_counts(self.bags, mixture, self.word_topic, self.topic, self.beta, uniform, found)
        return found

    def sweep(self, base: Array, counted: bool) -> None:
        """Recompute the shares of every word."""
        kernels.sweep(self.bags, *self._arrays, base, counted, self.beta)

    def share_document(self, d: int, base: Array, n_passes: int) -> None:
        """Recompute the shares of one document's words."""
        kernels.share_document(self.bags, d, *self._arrays, base, self.beta, n_passes)

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


def first_y(counts: Array) -> Array:
    """Initial y: the logs of the documents' shares, centred."""
    logs = np.log(smoothed(counts))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


class State(NamedTuple):
    """Snapshot of a process between two steps, which the next step does not change; ``a`` is None if it is unknown."""

    hyper: Hyper
    y: Array
    a: Array | None


class Process:
    """The Gaussian process of a fit by ``inference="laplace"``: y, and the hyper-parameters.

    ``began`` are the hyper-parameters that learning began at, and ``a`` belongs to y; both if they are known.
    """

    def __init__(
        self, hyper: Hyper, y: Array, schedule: Schedule, each: Each, began: Hyper | None = None, a: Array | None = None
    ) -> None:
        self._schedule, self._each, self._began = schedule, each, began or hyper
        self.info = {"newton_steps": 0, "newton_unfinished": 0, "evidence_evaluations": 0, "evidence_steps": 0}
        if a is None:
            self._start(hyper, y)
        else:
            self.hyper, self.prior, self.y, self.a = hyper, self._prior(hyper), y, a

    def _prior(self, hyper: Hyper) -> Prior:
        return hyper.prior()

    def _start(self, hyper: Hyper, y: Array) -> None:
        """Set new hyper-parameters; y stays."""
        self.hyper, self.prior, self.y = hyper, self._prior(hyper), y
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

    def _deviation(self, sites: Sites, random: np.random.Generator) -> Array:
        """How far a draw of all documents' y is from its mean."""
        return deviation(self.prior, sites, random, self._each)

    def _drawn(self, counts: Counts) -> Sites:
        """Sites of topics drawn for all words, given a draw of y.

        The mode and the expected counts have been drawn towards each other, so that documents seem to keep to the
        function more closely than they do, and the noise shrinks from sweep to sweep. The random numbers are the same
        every time, so that what is learned comes to rest.
        """
        random = np.random.default_rng([self._schedule.seed, len(self.y), _DRAWS])
        y = self.y + self._deviation(sites_at(self.y, counts.doc_topic), random)
        return sites_at(y, counts.drawn(softmax(y), random))

    def learn(self, counts: Counts) -> None:
        """Maximise the evidence with the sites at y, or at a draw; y stays."""
        if not self._schedule.learns:
            return
        sites = self._drawn(counts) if self._schedule.draws else sites_at(self.y, counts.doc_topic)
        found = self._learned(sites)
        self._start(found.hyper, self.y)
        self.info["evidence_evaluations"] += found.n_evaluations
        self.info["evidence_steps"] += 1

    def renew(self, counts: Counts, n_steps: int | None) -> None:
        """Learn the hyper-parameters, then update y."""
        self.learn(counts)
        self.step(counts.doc_topic, n_steps)


class Rest:
    """Convergence of a fit: shares of documents and words of topics hardly change any more."""

    def __init__(self, tol: float) -> None:
        self._tol, self.change = tol, float("inf")
        self._before: tuple[Array, ...] = ()

    @property
    def info(self) -> dict[str, Any]:
        """For ``fit_info_``."""
        return {"last_change": self.change if np.isfinite(self.change) else None}

    @property
    def reached(self) -> bool:
        """Whether the last comparison found next to no change."""
        return self.change < self._tol

    def compare(self, counts: Counts, y: Array, n_sweeps: int) -> None:
        """Compare with the previous state, ``n_sweeps`` ago.

        The change is the larger of two mean total variations: of documents' shares, weighted by their lengths, and of
        topics' words, weighted by their sizes; per ten sweeps.
        """
        now = softmax(y), counts.topic_word, counts.doc_topic.sum(axis=1), counts.topic.copy()
        before, self._before = self._before, now
        if not before:
            return
        each = [
            float(np.average(0.5 * np.abs(now[i] - before[i]).sum(axis=1), weights=np.maximum(now[i + 2], 1e-12)))
            for i in (0, 1)
        ]
        self.change = 10.0 * max(each) / n_sweeps

    def arrays(self) -> dict[str, Array]:
        """State that the next comparison reads."""
        return {f"before{i}": array for i, array in enumerate(self._before)} | {"change": np.array([self.change])}

    def restored(self, arrays: Mapping[str, ArrayOrPieces], like: Counts) -> Rest:
        """The same at an earlier ``arrays()``, checked."""
        found, change = Rest(self._tol), np.asarray(arrays["change"])
        if change.shape != (1,) or change.dtype != np.float64 or not change[0] >= 0:
            raise ModelError("the change of the last sweeps is no number")
        found.change = float(change[0])
        if "before0" in arrays:
            (n_docs, n_topics), n_words = like.doc_topic.shape, len(like.word_topic)
            shapes = (n_docs, n_topics), (n_topics, n_words), (n_docs,), (n_topics,)
            found._before = tuple(checked_floats(arrays, f"before{i}", shape) for i, shape in enumerate(shapes))
        return found


class Ended(NamedTuple):
    """Result of a fit: the final state of the process, the counts of words, and notes for ``fit_info_``."""

    state: Any
    counts: Counts
    info: dict[str, Any]


class Sweeps(Training):
    """Sweeps over the words under the loop: LDA first, to form topics before the process sees them, then with it.

    Each ``inference`` has its own process, which is made when a sweep needs it: from ``state``, that of a checkpoint or
    of a fitted model with ``done`` sweeps, or from the counts at the end of the warm-up.

    ``hyper`` are the hyper-parameters that learning begins at; ``saves`` tells that there is a checkpoint, for which a
    snapshot needs all shares.
    """

    state: Any

    def __init__(
        self, counts: Counts, schedule: Schedule, hyper: Hyper, state: Any = None, done: int = 0, saves: bool = False
    ) -> None:
        self.counts, self.schedule, self.hyper, self.state, self._saves = counts, schedule, hyper, state, saves
        self.info: dict[str, int] = {}
        self._warm_until = schedule.n_warmup if state is None else done
        self.rest, self._trace = Rest(schedule.tol), list[tuple[int, float]]()
        self.n_tokens = int(counts.bags.times.sum())

    @property
    def converged(self) -> bool:
        """Whether shares and topics have come to rest."""
        return self.rest.reached

    @property
    def traces(self) -> list[Trace]:
        """Trace of the log likelihood."""
        return [self._trace]

    def step(self, sweep: int, evaluate: bool) -> list[float]:
        """One sweep over the words and, after the warm-up, the steps of the process that are due."""
        counts = self.counts
        if sweep <= self._warm_until:
            counts.sweep(np.full_like(counts.doc_topic, _WARM_ALPHA), True)
            return [counts.log_likelihood(smoothed(counts.doc_topic))] if evaluate else []
        y = self._advance(counts, self.rest, sweep - self._warm_until)
        return [counts.log_likelihood(softmax(y))] if evaluate else []

    @abstractmethod
    def _advance(self, counts: Counts, rest: Rest, since: int) -> Array:
        """Sweep number ``since`` after the warm-up; return y of every document."""

    def is_long(self, sweep: int) -> bool:
        """Whether steps of the process are due."""
        since, schedule = sweep - self._warm_until, self.schedule
        return since == 1 or (since > 0 and (since % schedule.process_every == 0 or since % schedule.learn_every == 0))

    @abstractmethod
    def _first_state(self, counts: Counts) -> Any:
        """State of a fit that ends before the process has been made."""

    def ended(self) -> Ended:
        """Result at the present state."""
        # A snapshot for an end only has no shares.
        counts = self.counts.recounted() if len(self.counts.shares) else self.counts
        state = self._first_state(counts) if self.state is None else self.state
        return Ended(state, counts, self.info | self.rest.info)

    def saved(self, sweep: int) -> Saved:
        """Words, process, and convergence."""
        progress = {
            "sweep": sweep,
            "seed": self.schedule.seed,
            "traces": plain_traces(self.traces),
            "info": self.info,
            "begun": self.state is not None,
        }
        arrays: dict[str, ArrayOrPieces] = {**self.counts.arrays(), **self.rest.arrays()}
        if self.state is not None:
            hyper = self.state.hyper
            arrays |= {"amplitude": hyper.amplitude, "noise": hyper.noise}
            arrays |= {} if hyper.shape.learned is None else {"theta": hyper.shape.learned}
            arrays |= {name: array for name, array in self.state._asdict().items() if isinstance(array, np.ndarray)}
        return progress, arrays

    def kept(self, sweep: int) -> Saved:
        """Copies; of shares only if they are to be saved: they take the most memory."""
        progress, arrays = self.saved(sweep)
        left_out = () if self._saves else ("shares",)
        if self.state is not None:
            # As it is: the kernel of a resumed model cannot be made again from the one that learning began at.
            progress["held"] = type(self.state)(*(np.array(x) if isinstance(x, np.ndarray) else x for x in self.state))
        return progress, {name: np.array(array) for name, array in arrays.items() if name not in left_out}

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Go back to what ``saved`` or ``kept`` gave; the process is made by the next sweep."""
        if "shares" in arrays or self._saves:
            counts = self.counts.restored(arrays)
        else:
            counts = self.counts.without_shares(arrays)
        rest, (trace,) = self.rest.restored(arrays, counts), map(checked_trace, progress["traces"])
        info = {str(name): whole_number("info", number, 0) for name, number in progress["info"].items()}
        state = progress.get("held")
        # JSON has no tuples: a file cannot pass for a snapshot.
        if not isinstance(state, tuple):
            state = self._restored_state(arrays, counts.doc_topic.shape) if progress["begun"] else None
        self.schedule = self.schedule._replace(seed=whole_number("seed", progress["seed"], 0))
        self.counts, self.rest, self._trace, self.info, self.state = counts, rest, trace, info, state
        self._forget()

    def _restored_hyper(self, arrays: Mapping[str, ArrayOrPieces]) -> Hyper:
        amplitude, noise = (checked_floats(arrays, name, self.hyper.noise.shape) for name in ("amplitude", "noise"))
        if (amplitude <= 0).any() or (noise <= 0).any():
            raise ModelError("an amplitude or a noise is not positive")
        shape = self.hyper.shape
        if "theta" in arrays:
            theta, bounds = checked_floats(arrays, "theta", shape.theta.shape), shape.bounds
            if (theta < bounds[:, 0] - 1e-9).any() or (theta > bounds[:, 1] + 1e-9).any():
                raise ModelError("the kernel's hyper-parameters are out of their bounds")
            shape = shape.at(theta)
        return Hyper(shape, amplitude, noise)

    @abstractmethod
    def _restored_state(self, arrays: Mapping[str, ArrayOrPieces], shape: tuple[int, ...]) -> Any:
        """State from the arrays of its hyper-parameters and its own; ``shape`` is documents × topics."""

    @abstractmethod
    def _forget(self) -> None:
        """Drop the process, so that the next sweep makes it from ``state``."""


class MakesProcess(Protocol):
    """Function that makes the process of a solver; see ``Process``."""

    def __call__(self, hyper: Hyper, y: Array, schedule: Schedule, *, began: Hyper | None, a: Array | None) -> Process:
        """Make it."""
        ...


class LaplaceSweeps(Sweeps):
    """Alternation between words and process: the expected counts are the process's likelihood."""

    state: State | None

    def __init__(
        self,
        make: MakesProcess,
        counts: Counts,
        schedule: Schedule,
        hyper: Hyper,
        state: State | None = None,
        done: int = 0,
        saves: bool = False,
    ) -> None:
        super().__init__(counts, schedule, hyper, state, done, saves)
        self._make = make
        self._process: Process | None = None

    def _forget(self) -> None:
        self._process = None

    def _note(self, process: Process) -> None:
        self.state, self.info = process.state, dict(process.info)

    def _first_state(self, counts: Counts) -> State:
        y = first_y(counts.doc_topic)
        return State(self.hyper, y, np.zeros_like(y))

    def _made(self, counts: Counts) -> Process:
        """The process at ``state``; without one it begins at the counts, and learns twice."""
        if self.state is not None:
            hyper, y, a = self.state
            process = self._make(hyper, y, self.schedule, began=self.hyper, a=a)
            process.info |= self.info
            return process
        process = self._make(self.hyper, first_y(counts.doc_topic), self.schedule, began=None, a=None)
        process.step(counts.doc_topic, _STEPS_WITHIN)
        self._note(process)
        for _ in range(2):
            process.renew(counts, _STEPS_WITHIN)
            self._note(process)
        return process

    def _advance(self, counts: Counts, rest: Rest, since: int) -> Array:
        process, schedule = self._process, self.schedule
        if process is None:
            if self.state is None:
                counts.recount()
            process = self._made(counts)
        counts.sweep(softmax(process.y), False)
        if since % schedule.process_every == 0:
            counts.recount()
            process.step(counts.doc_topic, _STEPS_WITHIN)
        if since % schedule.learn_every == 0:
            process.renew(counts, _STEPS_WITHIN)
            rest.compare(counts, process.y, schedule.learn_every)
        self._process = process
        self._note(process)
        return process.y

    def finish(self) -> None:
        """Newton's method to the end, and hyper-parameters once more; each part is noted as soon as it is done."""
        counts = self.counts.recounted()
        process = self._process or self._made(counts)
        process.step(counts.doc_topic, None)
        self._note(process)
        process.renew(counts, None)
        self._note(process)

    def _restored_state(self, arrays: Mapping[str, ArrayOrPieces], shape: tuple[int, ...]) -> State:
        return State(self._restored_hyper(arrays), *(checked_floats(arrays, name, shape) for name in ("y", "a")))
