"""Gibbs chains as a training of the engine's loop: sweeps over chains and shards, samples, and their arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.mapped import Scratch
from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.executors import Executor, SerialExecutor
from topoi.engine.loop import Saved, Schedule, Trace, Training, plain_traces
from topoi.engine.samples import Sample, packed, retained, unpacked
from topoi.engine.shards import Merger
from topoi.errors import ModelError
from topoi.kernels.random import new_stream

# The shared counts, the priors and the shards of a family's chains, each in the form that its kernels read.
CountsT = TypeVar("CountsT")
PriorsT = TypeVar("PriorsT")
ShardT = TypeVar("ShardT")


@dataclass
class Chain(Generic[CountsT, PriorsT, ShardT]):
    """State of one chain between two sweeps: shared counts and priors, each shard's own state, and the trace.

    ``sweep`` is the last sweep begun (0 for a new chain), and ``seed`` keys its random streams, for draws between
    sweeps. ``sparse`` is the state of a sparse scheme. ``merge`` ends a sweep over several shards where differences of
    counts cannot be summed. ``samples`` are the earlier states, by sweep, that estimates average with the present one;
    ``since`` is the sweep that they are counted from, that of the last update by new documents.
    """

    index: int
    counts: CountsT
    priors: PriorsT
    shards: list[ShardT]
    trace: list[tuple[int, float]] = field(default_factory=list)
    merger: Merger | None = None
    sweep: int = 0
    seed: int = 0
    sparse: Any = None
    merge: Callable[[], None] | None = None
    samples: dict[int, Sample] = field(default_factory=dict)
    since: int = 0


ChainT = TypeVar("ChainT", bound=Chain)


class Sampler(Protocol[ChainT]):
    """Interface of a model family to Gibbs chains; a sampler inherits from it what it need not say itself.

    Methods modify the chain they are given in place.
    """

    n_tokens: int
    # Where arrays with a number for every token are made: in memory, or in files if the corpus is on disk.
    scratch: Scratch = Scratch()
    # Names of those arrays of ``to_arrays`` that have a row for every document; ``sampled`` have one for every token.
    in_documents: tuple[str, ...] = ()
    # What the sampler was told about topics (``topoi.models.guidance``), if anything.
    guidance: Any = None
    # For work between sweeps that several threads can share; that of the training in progress.
    executor: Executor = SerialExecutor()

    @property
    def exact(self) -> bool:
        """Whether every sweep of one shard draws from the exact conditional."""
        return True

    def is_long(self, sweep: int) -> bool:
        """Whether a sweep takes much longer than the one before it."""
        return False

    def start(self, seed: int, index: int) -> ChainT:
        """A new chain at its random beginning."""
        ...

    @property
    def sampled(self) -> tuple[str, ...]:
        """Names of the arrays of a snapshot."""
        ...

    def sample(self, chain: ChainT, shard: int, counts: Any, stream: NDArray[np.uint64]) -> None:
        """Sample one shard once against the given counts."""
        ...

    def learn(self, chain: ChainT, sweep: int) -> None:
        """Update hyper-parameters after a sweep, if they are learned."""
        ...

    def log_joint(self, chain: ChainT) -> float:
        """Log joint probability of words and assignments."""
        ...

    def log_joint_terms(self, chain: ChainT) -> list[Callable[[], float]]:
        """Terms of ``log_joint`` in the order of its sum; threads may compute them at the same time."""
        return [lambda: self.log_joint(chain)]

    def to_arrays(self, chain: ChainT) -> dict[str, NDArray[Any]]:
        """Arrays from which ``restore`` rebuilds the chain."""
        ...

    def restore(self, index: int, arrays: dict[str, NDArray[Any]], trace: list[Any]) -> ChainT:
        """Rebuild the chain from the arrays of ``to_arrays``."""
        ...

    def widened(self, arrays: Mapping[str, NDArray[Any]], old: Any, part: float) -> dict[str, NDArray[Any]]:
        """Parameters for this sampler from the arrays of a chain of ``old``, with fewer documents, words or topics.

        The prior weight of new topics is this ``part`` of that of old ones. Arrays in ``sampled`` and ``in_documents``
        are left out. Only families whose models are updated have this.
        """
        raise ModelError("chains of this family cannot go on over other documents")

    def token_rows(
        self, arrays: Mapping[str, NDArray[Any]], at: NDArray[np.int64], topics: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The mixtures that some tokens draw their topics from, with all but the topics fixed.

        Returned are the number of each token's mixture, from 0, and the Dirichlet parameters of these ``topics`` in
        each mixture. Only families whose topics can be edited have this.
        """
        raise ModelError("topics of this family cannot be edited")

    def with_weight_moved(
        self, arrays: Mapping[str, NDArray[Any]], source: int, target: int, part: float, fresh: bool
    ) -> dict[str, NDArray[Any]]:
        """Arrays of a chain after a part of topic ``source``'s prior weight has gone to ``target``.

        A ``fresh`` target had no weight of its own. Only families whose topics can be edited have this.
        """
        raise ModelError("topics of this family cannot be edited")

    def snapshot(self, chain: ChainT) -> Sample | None:
        """Compact copies of the chain's assignments, which determine all counts; None while they are incomplete."""
        ...

    def check_sample(self, sample: Sample) -> None:
        """Refuse a snapshot that does not fit the corpus: kernels check no bounds."""
        ...

    def check_growth(self, chains: list[ChainT], sweep: int) -> None:
        """Refuse chains from a file that lack documents they should have after ``sweep``."""
        return

    def settled(self, chains: list[ChainT], sweep: int, seed: int, executor: Executor) -> list[ChainT]:
        """The chains that estimates are made from: the given ones, unless their last sweeps were approximate."""
        return chains

    def notes(self, chains: list[ChainT]) -> dict[str, Any]:
        """Additions to ``fit_info_``."""
        return {}


def sweep_chains(sampler: Sampler[ChainT], chains: list[ChainT], sweep: int, seed: int, executor: Executor) -> None:
    """Run one sweep of every chain; each (chain, shard) is a task with its own random stream."""
    for chain in chains:
        chain.sweep, chain.seed = sweep, seed
        if len(chain.shards) > 1:
            chain.merger = chain.merger or Merger(chain.counts, chain.merge)
            chain.merger.begin(executor)

    def run(task: tuple[ChainT, int]) -> None:
        chain, shard = task
        stream = new_stream(seed, chain.index, sweep, shard)
        if chain.merger is None:
            sampler.sample(chain, shard, chain.counts, stream)
        else:
            chain.merger.sample(lambda counts: sampler.sample(chain, shard, counts, stream))

    list(executor.map(run, [(chain, s) for chain in chains for s in range(len(chain.shards))]))
    for chain in chains:
        if chain.merger is not None:
            chain.merger.finish(executor)
        sampler.learn(chain, sweep)


def log_joints(sampler: Sampler[ChainT], chains: list[ChainT], executor: Executor) -> list[float]:
    """Log joint probability of every chain, its terms computed by the executor and added in order."""
    terms = [sampler.log_joint_terms(chain) for chain in chains]
    values = iter(list(executor.map(lambda term: term(), [term for each in terms for term in each])))
    return [sum((next(values) for _ in each[1:]), next(values)) for each in terms]


class Sampling(Training, Generic[ChainT]):
    """Gibbs chains under the loop: each (chain, shard) is a task for the executor.

    ``begun`` tells that the chains are usable before their first sweep.
    """

    def __init__(
        self,
        sampler: Sampler[ChainT],
        chains: list[ChainT],
        schedule: Schedule,
        executor: Executor,
        begun: bool = False,
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
        joints = log_joints(self.sampler, chains, self._executor) if evaluate else []
        if self._schedule.average:
            keep_samples(self.sampler, chains, sweep)
        return joints

    def saved(self, sweep: int) -> Saved:
        """Sweep, seed, traces, and the arrays of every chain."""
        return saved_progress(self.sampler, self.chains, sweep, self._schedule.seed)

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Replace the chains."""
        self.chains[:] = restored(self.sampler, len(self.chains), arrays, progress["traces"], int(progress["sweep"]))

    def is_long(self, sweep: int) -> bool:
        """Whether the sampler expects a sweep to take long."""
        return self.sampler.is_long(sweep)

    def is_usable(self, sweep: int) -> bool:
        """Whether chains have been swept, or had a beginning of their own."""
        return sweep > 0 or self._begun


def keep_samples(sampler: Sampler[ChainT], chains: list[ChainT], sweep: int) -> None:
    """Keep the present state if it may be averaged, and drop samples that no later end of the run can need."""
    for chain in chains:
        wanted = retained(sweep, chain.since)
        chain.samples = {s: sample for s, sample in chain.samples.items() if s in wanted}
        sample = sampler.snapshot(chain) if sweep in wanted else None
        if sample is not None:
            chain.samples[sweep] = sample


def saved_progress(sampler: Sampler[ChainT], chains: list[ChainT], sweep: int, seed: int) -> Saved:
    """Contents of a checkpoint: sweep, seed, traces, and each chain's arrays, samples included, as ``chain<i>_…``."""
    chains = sorted(chains, key=lambda chain: chain.index)
    arrays: dict[str, ArrayOrPieces] = {}
    for chain in chains:
        own = {**sampler.to_arrays(chain), **packed(chain.samples)}
        if chain.since:
            own["since"] = np.array([chain.since])
        arrays |= {f"chain{chain.index}_{name}": array for name, array in own.items()}
    return {"sweep": sweep, "seed": seed, "traces": plain_traces([chain.trace for chain in chains])}, arrays


def chain_arrays(arrays: Mapping[str, ArrayOrPieces], index: int) -> dict[str, NDArray[Any]]:
    """Arrays of one chain among those of a checkpoint."""
    prefix = f"chain{index}_"
    return {name[len(prefix) :]: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}


def restored(
    sampler: Sampler[ChainT], n_chains: int, arrays: Mapping[str, ArrayOrPieces], traces: list[Any], sweep: int
) -> list[ChainT]:
    """Rebuild the chains at ``sweep``, in order, with their samples; all arrays are checked before kernels use them."""
    chains = []
    for c in range(n_chains):
        own = chain_arrays(arrays, c)
        chain = sampler.restore(c, own, traces[c])
        chain.sweep, chain.since = sweep, _since(own, sweep)
        how = sampler.n_tokens, sweep, sampler.scratch, chain.since
        chain.samples = unpacked(own, sampler.sampled, *how)
        for sample in chain.samples.values():
            sampler.check_sample(sample)
        chains.append(chain)
    return chains


def _since(arrays: Mapping[str, NDArray[Any]], sweep: int) -> int:
    """The sweep that a chain's samples are counted from; 0 if its arrays do not say."""
    found = arrays.get("since")
    if found is None:
        return 0
    if found.dtype.kind != "i" or found.shape != (1,) or not 0 <= int(found[0]) <= sweep:
        raise ModelError("the saved samples are counted from a sweep that the chain has not had")
    return int(found[0])
