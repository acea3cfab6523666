"""The sampling loop of all Gibbs families: sweeps over chains and shards, with trace, checkpoint and progress."""

from __future__ import annotations

import time
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


@dataclass(frozen=True)
class Schedule:
    """Number of sweeps, seed of the streams, interval of log joint evaluations, whether samples are kept."""

    n_iter: int
    seed: int
    evaluate_every: int = 10
    average: bool = False


@dataclass
class Outcome:
    """Outcome of the loop: the last complete sweep, the time, whether it was interrupted, and why it ended.

    ``stopped`` is ``"n_iter"``, ``"callback"``, or the name of a signal.
    """

    sweep: int
    seconds: float
    interrupted: bool
    stopped: str = "n_iter"


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


class _Kept:
    """Snapshot of the chains that a fit returns to when a sweep is abandoned.

    Short sweeps are waited for after a signal, and need no snapshot. For long ones a snapshot is taken at most every
    ``_BETWEEN_STATES`` seconds, so that it costs next to nothing.
    """

    def __init__(self, sampler: Sampler, seed: int) -> None:
        self._sampler, self._seed, self._time = sampler, seed, 0.0
        self.state: tuple[dict[str, Any], dict[str, ArrayOrPieces]] | None = None

    def keep(self, chains: list[Chain], sweep: int, last: float) -> bool:
        """Take a snapshot after ``sweep`` if the next sweep may be long; return whether that one may be abandoned.

        ``last`` is the duration of the last sweep. Before the first sweep there is nothing to save.
        """
        if last <= PATIENCE and not getattr(self._sampler, "is_long", _never)(sweep + 1):
            self.state = None
            return False
        due = self.state is None or last <= PATIENCE or time.monotonic() - self._time > _BETWEEN_STATES
        if sweep > 0 and due:
            self.state = saved_progress(self._sampler, chains, sweep, self._seed)
            self._time = time.monotonic()
        return True

    def restore(self, chains: list[Chain], interruption: Interruption) -> int:
        """Restore the chains from the snapshot, as new objects: abandoned work may still modify the old ones."""
        if self.state is None:
            interruption.give_up("the first sweep was done")
        progress, arrays = self.state
        sweep = int(progress["sweep"])
        chains[:] = restored(self._sampler, len(chains), arrays, progress["traces"], sweep)
        return sweep


def _never(sweep: int) -> bool:
    return False


def run(
    sampler: Sampler,
    chains: list[Chain],
    schedule: Schedule,
    executor: Executor,
    done: int = 0,
    checkpoint: Checkpoint | None = None,
    progress: Bar | Silent | None = None,
    callback: Callable[[SweepInfo], Any] | None = None,
) -> Outcome:
    """Run all chains from sweep ``done`` to ``schedule.n_iter``.

    Ctrl-C or SIGTERM ends the run after the sweep in progress. If that would take more than half a second, the sweep is
    abandoned and ``chains`` are restored from a snapshot a few sweeps older. A second signal raises at once. A callback
    that returns a true value ends the run too.
    """
    progress = progress or Silent()
    start = time.perf_counter()
    sweep, stop = done, False
    with interruptible() as interrupted:
        pace, kept = Pace(interrupted), _Kept(sampler, schedule.seed)
        try:
            while sweep < schedule.n_iter and not stop and not interrupted.is_set():
                before, may_abandon = time.perf_counter(), kept.keep(chains, sweep, pace.seconds)
                work = partial(_sweep, sampler, list(chains), sweep + 1, schedule, executor)
                try:
                    joint = pace.run(work, may_abandon)
                except Abandoned:
                    sweep = kept.restore(chains, interrupted)
                    break
                sweep += 1
                if schedule.average:
                    _keep_samples(sampler, chains, sweep)
                speed = sampler.n_tokens * len(chains) / max(time.perf_counter() - before, 1e-9)
                info = SweepInfo(sweep, schedule.n_iter, joint, speed, time.perf_counter() - start)
                progress.update(info)
                stop = bool(callback(info)) if callback is not None else False
                if checkpoint is not None and sweep < schedule.n_iter and not stop and checkpoint.due(sweep):
                    checkpoint.write(sweep, *saved_progress(sampler, chains, sweep, schedule.seed))
        finally:
            progress.close()
        if checkpoint is not None and sweep > done:
            checkpoint.write(sweep, *saved_progress(sampler, chains, sweep, schedule.seed))
    reason = interrupted.reason or ("callback" if stop else "n_iter")
    return Outcome(sweep, time.perf_counter() - start, interrupted.is_set(), reason)


def _sweep(sampler: Sampler, chains: list[Chain], sweep: int, schedule: Schedule, executor: Executor) -> float | None:
    """Run one sweep of every chain; return the log joint per token of the first chain if it is due."""
    sweep_chains(sampler, chains, sweep, schedule.seed, executor)
    return _evaluate(sampler, chains, sweep, schedule)


def _keep_samples(sampler: Sampler, chains: list[Chain], sweep: int) -> None:
    """Keep the present state if it may be averaged, and drop samples that no later end of the run can need."""
    wanted = retained(sweep)
    for chain in chains:
        chain.samples = {s: sample for s, sample in chain.samples.items() if s in wanted}
        sample = sampler.snapshot(chain) if sweep in wanted else None
        if sample is not None:
            chain.samples[sweep] = sample


def _evaluate(sampler: Sampler, chains: list[Chain], sweep: int, schedule: Schedule) -> float | None:
    """Append the log joint to each trace if it is due, and return the first chain's per token."""
    if sweep % schedule.evaluate_every and sweep != schedule.n_iter:
        return None
    for chain in chains:
        chain.trace.append((sweep, sampler.log_joint(chain)))
    return chains[0].trace[-1][1] / max(sampler.n_tokens, 1)


def saved_progress(
    sampler: Sampler, chains: list[Chain], sweep: int, seed: int
) -> tuple[dict[str, Any], dict[str, ArrayOrPieces]]:
    """Contents of a checkpoint: sweep, seed, traces, and each chain's arrays, samples included, as ``chain<i>_…``."""
    chains = sorted(chains, key=lambda chain: chain.index)
    arrays: dict[str, ArrayOrPieces] = {}
    for chain in chains:
        own = {**sampler.to_arrays(chain), **packed(chain.samples)}
        arrays |= {f"chain{chain.index}_{name}": array for name, array in own.items()}
    traces = [[[int(s), float(value)] for s, value in chain.trace] for chain in chains]
    return {"sweep": sweep, "seed": seed, "traces": traces}, arrays


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
