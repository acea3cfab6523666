"""The loop of every fit: steps with trace, progress, callbacks, signals and checkpoints; and Gibbs chains as its user.

A family gives a ``Training``: its state, one step, and an end. ``run`` does the rest, in the same way for all.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.checkpoint import Checkpoint
from topoi.engine.executors import Executor
from topoi.engine.interruption import PATIENCE, Abandoned, Interruption, Pace, interruptible
from topoi.engine.progress import Bar, Silent, SweepInfo
from topoi.engine.samples import Sample, packed, retained, unpacked
from topoi.engine.shards import Merger
from topoi.kernels.random import new_stream

# Seconds between in-memory snapshots that a fit of long sweeps can return to.
_BETWEEN_STATES = 10.0

Trace = list[tuple[int, float]]
Saved = tuple[dict[str, Any], dict[str, ArrayOrPieces]]


class Training(ABC):
    """Interface of a way of fitting to the loop: what the next step reads, a step, and an end.

    An abandoned step may continue in its thread for a while: ``restore`` must replace the objects that steps modify.
    """

    # Tokens that a step reads in each chain, and whether further steps would change next to nothing.
    n_tokens: int
    converged = False

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
    progress: Bar | Silent | None = None,
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
                try:
                    result = interrupted.run(training.finish)
                except Abandoned:
                    pass
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


@dataclass
class Chain:
    """State of one chain between two sweeps: shared counts and priors, each shard's own state, and the trace.

    ``sweep`` is the last sweep begun (0 for a new chain), and ``seed`` keys its random streams, for draws between
    sweeps. ``sparse`` is the state of a sparse scheme. ``merge`` ends a sweep over several shards where differences of
    counts cannot be summed. ``samples`` are the earlier states, by sweep, that estimates average with the present one.
    """

    index: int
    counts: Any
    priors: Any
    shards: list[Any]
    trace: list[tuple[int, float]] = field(default_factory=list)
    merger: Merger | None = None
    sweep: int = 0
    seed: int = 0
    sparse: Any = None
    merge: Callable[[], None] | None = None
    samples: dict[int, Sample] = field(default_factory=dict)


class Sampler(Protocol):
    """Interface of a model family to the loop. Methods modify the chain they are given in place."""

    n_tokens: int

    @property
    def sampled(self) -> tuple[str, ...]:
        """Names of the arrays of a snapshot."""
        ...

    def sample(self, chain: Chain, shard: int, counts: Any, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        ...

    def learn(self, chain: Chain, sweep: int) -> None:
        """Update hyper-parameters after a sweep, if they are learned."""
        ...

    def log_joint(self, chain: Chain) -> float:
        """Log joint probability of words and assignments."""
        ...

    def to_arrays(self, chain: Chain) -> dict[str, NDArray[Any]]:
        """Arrays from which ``restore`` rebuilds the chain."""
        ...

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> Chain:
        """Rebuild the chain from the arrays of ``to_arrays``."""
        ...

    def snapshot(self, chain: Chain) -> Sample | None:
        """Compact copies of the chain's assignments, which determine all counts; None while they are incomplete."""
        ...

    def check_sample(self, sample: Sample) -> None:
        """Refuse a snapshot that does not fit the corpus: kernels check no bounds."""
        ...


def sweep_chains(sampler: Sampler, chains: list[Chain], sweep: int, seed: int, executor: Executor) -> None:
    """Run one sweep of every chain; each (chain, shard) is a task with its own random stream."""
    for chain in chains:
        chain.sweep, chain.seed = sweep, seed
        if len(chain.shards) > 1:
            chain.merger = chain.merger or Merger(chain.counts, chain.merge)
            chain.merger.begin()

    def run(task: tuple[Chain, int]) -> None:
        chain, shard = task
        stream = new_stream(seed, chain.index, sweep, shard)
        if chain.merger is None:
            sampler.sample(chain, shard, chain.counts, stream)
        else:
            chain.merger.sample(lambda counts: sampler.sample(chain, shard, counts, stream))

    list(executor.map(run, [(chain, s) for chain in chains for s in range(len(chain.shards))]))
    for chain in chains:
        if chain.merger is not None:
            chain.merger.finish()
        sampler.learn(chain, sweep)


class Sampling(Training):
    """Gibbs chains under the loop: each (chain, shard) is a task for the executor.

    ``begun`` tells that the chains are usable before their first sweep.
    """

    def __init__(
        self, sampler: Sampler, chains: list[Chain], schedule: Schedule, executor: Executor, begun: bool = False
    ) -> None:
        self.sampler, self.chains, self._schedule, self._executor = sampler, chains, schedule, executor
        self._begun = begun
        self.n_tokens = sampler.n_tokens

    @property
    def traces(self) -> list[Trace]:
        """Traces of the chains."""
        return [chain.trace for chain in self.chains]

    def step(self, sweep: int, evaluate: bool) -> list[float]:
        """Run one sweep of every chain."""
        # The list as it is now: an abandoned sweep must not touch chains that ``restore`` puts there.
        chains = list(self.chains)
        sweep_chains(self.sampler, chains, sweep, self._schedule.seed, self._executor)
        joints = [self.sampler.log_joint(chain) for chain in chains] if evaluate else []
        if self._schedule.average:
            _keep_samples(self.sampler, chains, sweep)
        return joints

    def saved(self, sweep: int) -> Saved:
        """Sweep, seed, traces, and the arrays of every chain."""
        return saved_progress(self.sampler, self.chains, sweep, self._schedule.seed)

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Replace the chains."""
        self.chains[:] = restored(self.sampler, len(self.chains), arrays, progress["traces"], int(progress["sweep"]))

    def is_long(self, sweep: int) -> bool:
        """Whether the sampler expects a sweep to take long."""
        return bool(getattr(self.sampler, "is_long", _never)(sweep))

    def is_usable(self, sweep: int) -> bool:
        """Whether chains have been swept, or had a beginning of their own."""
        return sweep > 0 or self._begun


def _never(sweep: int) -> bool:
    return False


def _keep_samples(sampler: Sampler, chains: list[Chain], sweep: int) -> None:
    """Keep the present state if it may be averaged, and drop samples that no later end of the run can need."""
    wanted = retained(sweep)
    for chain in chains:
        chain.samples = {s: sample for s, sample in chain.samples.items() if s in wanted}
        sample = sampler.snapshot(chain) if sweep in wanted else None
        if sample is not None:
            chain.samples[sweep] = sample


def saved_progress(sampler: Sampler, chains: list[Chain], sweep: int, seed: int) -> Saved:
    """Contents of a checkpoint: sweep, seed, traces, and each chain's arrays, samples included, as ``chain<i>_…``."""
    chains = sorted(chains, key=lambda chain: chain.index)
    arrays: dict[str, ArrayOrPieces] = {}
    for chain in chains:
        own = {**sampler.to_arrays(chain), **packed(chain.samples)}
        arrays |= {f"chain{chain.index}_{name}": array for name, array in own.items()}
    return {"sweep": sweep, "seed": seed, "traces": plain_traces([chain.trace for chain in chains])}, arrays


def chain_arrays(arrays: Mapping[str, ArrayOrPieces], index: int) -> dict[str, NDArray[Any]]:
    """Arrays of one chain among those of a checkpoint."""
    prefix = f"chain{index}_"
    return {name[len(prefix) :]: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}


def restored(
    sampler: Sampler, n_chains: int, arrays: Mapping[str, ArrayOrPieces], traces: list[Any], sweep: int
) -> list[Chain]:
    """Rebuild the chains at ``sweep``, in order, with their samples; all arrays are checked before kernels use them."""
    chains = []
    for c in range(n_chains):
        own = chain_arrays(arrays, c)
        chain = sampler.restore(c, own, traces[c])
        chain.sweep, chain.samples = sweep, unpacked(own, sampler.sampled, sampler.n_tokens, sweep)
        for sample in chain.samples.values():
            sampler.check_sample(sample)
        chains.append(chain)
    return chains
