"""The loop every Gibbs family runs in: sweeps over chains and shards, with trace, checkpoint and progress."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoi.engine.checkpoint import Checkpoint
from topoi.engine.executors import Executor
from topoi.engine.progress import Bar, Silent, SweepInfo
from topoi.engine.samples import Sample, packed, retained
from topoi.engine.shards import Merger
from topoi.kernels.random import new_stream


@dataclass
class Chain:
    """One chain between two sweeps: shared counts and priors, each shard's own state, and the trace.

    ``sweep`` is the last sweep that was begun since the chain was made; ``sparse`` what a sparse scheme keeps;
    ``merge`` what ends a sweep over several shards where differences of counts cannot be summed; ``samples`` the
    earlier states, by sweep, that estimates average with the present one.
    """

    index: int
    counts: Any
    priors: Any
    shards: list[Any]
    trace: list[tuple[int, float]] = field(default_factory=list)
    merger: Merger | None = None
    sweep: int = 0
    sparse: Any = None
    merge: Callable[[], None] | None = None
    samples: dict[int, Sample] = field(default_factory=dict)


class Sampler(Protocol):
    """What a family tells the loop. All methods change the chain they are given, in place."""

    n_tokens: int

    def sample(self, chain: Chain, shard: int, counts: Any, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        ...

    def learn(self, chain: Chain, sweep: int) -> None:
        """Update hyper-parameters after a sweep, if they are to be learned."""
        ...

    def log_joint(self, chain: Chain) -> float:
        """Log joint probability of words and assignments."""
        ...

    def to_arrays(self, chain: Chain) -> dict[str, NDArray[Any]]:
        """The arrays from which ``restore`` rebuilds the chain."""
        ...

    def snapshot(self, chain: Chain) -> Sample | None:
        """The chain's assignments as compact copies, from which all counts follow; None if a part is still to come."""
        ...


@dataclass(frozen=True)
class Schedule:
    """How long to run, what seeds the streams, how often the log joint is computed, whether samples are kept."""

    n_iter: int
    seed: int
    evaluate_every: int = 10
    average: bool = False


@dataclass
class Outcome:
    """What the loop did: the last complete sweep, the time, and whether it was interrupted."""

    sweep: int
    seconds: float
    interrupted: bool


def sweep_chains(sampler: Sampler, chains: list[Chain], sweep: int, seed: int, executor: Executor) -> None:
    """One sweep of every chain; every (chain, shard) is a task with a random stream of its own."""
    for chain in chains:
        chain.sweep = sweep
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

    Ctrl-C ends after the sweep in progress, with the chains whole; a second one ends at once. A callback that returns
    a true value ends the run too.
    """
    progress = progress or Silent()
    start = time.perf_counter()
    sweep = done
    stop = False
    with interruptible() as interrupted:
        try:
            while sweep < schedule.n_iter and not stop and not interrupted.is_set():
                before = time.perf_counter()
                sweep_chains(sampler, chains, sweep + 1, schedule.seed, executor)
                sweep += 1
                if schedule.average:
                    _keep_samples(sampler, chains, sweep)
                speed = sampler.n_tokens * len(chains) / max(time.perf_counter() - before, 1e-9)
                joint = _evaluate(sampler, chains, sweep, schedule)
                info = SweepInfo(sweep, schedule.n_iter, joint, speed, time.perf_counter() - start)
                progress.update(info)
                stop = bool(callback(info)) if callback is not None else False
                ending = sweep == schedule.n_iter or stop or interrupted.is_set()
                if checkpoint is not None and (ending or checkpoint.due(sweep)):
                    checkpoint.write(sweep, *saved_progress(sampler, chains, sweep, schedule.seed))
        finally:
            progress.close()
    return Outcome(sweep, time.perf_counter() - start, interrupted.is_set())


def _keep_samples(sampler: Sampler, chains: list[Chain], sweep: int) -> None:
    """Drop samples that no later end of the run can need, and keep the present state if it may be needed."""
    wanted = retained(sweep)
    for chain in chains:
        chain.samples = {s: sample for s, sample in chain.samples.items() if s in wanted}
        sample = sampler.snapshot(chain) if sweep in wanted else None
        if sample is not None:
            chain.samples[sweep] = sample


def _evaluate(sampler: Sampler, chains: list[Chain], sweep: int, schedule: Schedule) -> float | None:
    """Append the log joint to each trace when it is due; the first chain's, per token."""
    if sweep % schedule.evaluate_every and sweep != schedule.n_iter:
        return None
    for chain in chains:
        chain.trace.append((sweep, sampler.log_joint(chain)))
    return chains[0].trace[-1][1] / max(sampler.n_tokens, 1)


def saved_progress(
    sampler: Sampler, chains: list[Chain], sweep: int, seed: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a checkpoint holds: sweep, seed, traces, and each chain's arrays under ``chain<i>_``, samples included."""
    chains = sorted(chains, key=lambda chain: chain.index)
    named = [(c.index, sampler.to_arrays(c) | packed(c.samples)) for c in chains]
    arrays = {f"chain{index}_{name}": array for index, own in named for name, array in own.items()}
    traces = [[[int(s), float(value)] for s, value in chain.trace] for chain in chains]
    return {"sweep": sweep, "seed": seed, "traces": traces}, arrays


def chain_arrays(arrays: dict[str, NDArray[Any]], index: int) -> dict[str, NDArray[Any]]:
    """One chain's arrays out of a checkpoint's."""
    prefix = f"chain{index}_"
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a flag; outside the main thread, or where it is ignored, it is somebody else's."""
    flag = threading.Event()
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        yield flag
        return

    def handle(signum: int, frame: Any) -> None:
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)
