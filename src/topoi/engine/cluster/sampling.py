"""Gibbs chains on a cluster as a training of the engine's loop."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.calls import Calls
from topoi.engine.cluster.contract import ClusterChain, Distributable, DistributableSampler
from topoi.engine.cluster.crew import Crew, Lost
from topoi.engine.cluster.deltas import apply, bounds
from topoi.engine.cluster.files import SharedFolder, absolute, documents_file, state_file
from topoi.engine.executors import SerialExecutor
from topoi.engine.gibbs import Sampling, keep_samples
from topoi.engine.loop import Saved, Schedule
from topoi.engine.samples import retained
from topoi.errors import ModelError

logger = logging.getLogger("topoi")
# Seconds of sweeps that are done again, at the most, when a worker is lost.
STRETCH = 5.0
# Shards for each range that counts are cut into, ranges at the most, and cells of a range at the least.
_PER_RANGE, _MOST_RANGES, _FEWEST_CELLS = 4, 16, 2**16
# Losses in a row, without a new root, after which a fit gives up.
_MOST_LOSSES = 10
# Shards whose assignments are brought to the client at a time.
_AT_ONCE = 16


class _Root(NamedTuple):
    """State that a fit goes back to: the sweep, and counts and priors of every chain.

    The assignments are in the shared folder or, without one, in the client's chains.
    """

    sweep: int
    counts: list[Any]
    priors: list[Any]


@contextmanager
def open_cluster(
    sampler: Any, chains: list[Any], schedule: Schedule, client: Any, folder: str | None, begun: bool, done: int
) -> Iterator[ClusterSampling]:
    """Open chains on a cluster; at the end its workers forget them, and files in the shared folder are removed."""
    check_client(client)
    training = ClusterSampling(sampler, chains, schedule, client, folder, begun, done)
    try:
        yield training
    finally:
        training.close()


def plan_ranges(n_shards: int, n_cells: int) -> int:
    """Number of ranges that counts are cut into, each added up by itself: more for many shards, but no small ones.

    Examples
    --------
    >>> from topoi.engine.cluster.sampling import plan_ranges
    >>> plan_ranges(4, 10**7), plan_ranges(32, 10**7), plan_ranges(1000, 10**7), plan_ranges(1000, 1000)
    (1, 8, 16, 1)
    """
    return max(1, min(-(-n_shards // _PER_RANGE), _MOST_RANGES, n_cells // _FEWEST_CELLS))


def check_client(client: Any) -> None:
    """Refuse what is not a client of Dask."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError('fits on a cluster need Dask: pip install "topoi[cluster]"') from error
    if not isinstance(client, Client):
        raise ModelError(f"executor is {client!r}; pass a dask.distributed.Client")
    if client.asynchronous:
        raise ModelError("executor is an asynchronous client; pass one made with asynchronous=False")


class ClusterSampling(Sampling[Any]):
    """Chains whose shards are swept by the workers of a cluster.

    The client keeps the counts up to date, and learns hyper-parameters from statistics of the shards. Its own copies of
    the assignments are those of the last sweep at which they were wanted.
    """

    sampler: DistributableSampler

    def __init__(
        self,
        sampler: DistributableSampler,
        chains: list[ClusterChain],
        schedule: Schedule,
        client: Any,
        folder: str | None,
        begun: bool,
        done: int,
    ) -> None:
        super().__init__(sampler, chains, schedule, SerialExecutor(), begun)
        if not isinstance(sampler, Distributable):
            raise ModelError("this family of models cannot be fitted on a cluster; leave executor out")
        if (setting := sampler.undistributable()) is not None:
            raise ModelError(f"{setting} cannot be used on a cluster; leave it or executor out")
        self._client = client
        self.n_shards = len(chains[0].shards)
        shapes = tasks.Shapes.of(chains[0].counts)
        n_ranges = plan_ranges(self.n_shards, max(shapes.sizes))
        fit = f"topoi-{secrets.token_hex(8)}"
        self._folder = None if folder is None else SharedFolder(absolute(str(folder))).below(fit)
        self._works = [sampler.shard_work(shard) for shard in range(self.n_shards)]
        self._shapes = shapes
        address = None if self._folder is None else self._folder.address
        self.job = tasks.Job(fit, type(self._works[0]), address, schedule.seed, n_ranges)
        n_tokens = [len(next(iter(sampler.give_assignments(chains[0], s).values()))) for s in range(self.n_shards)]
        all_counts = [array for chain in chains for array in chain.counts]
        self.crew = Crew(client, n_tokens, lambda threads, tokens: tasks.bytes_needed(all_counts, threads, tokens))
        self._calls = Calls(client, fit, self.crew.check)
        self.losses = 0
        self._lost_in_a_row = 0
        self._resident: set[tuple[int, int, str]] = set()
        self._current: set[str] = set()
        self._pieces: list[list[Any]] = [[] for _ in chains]
        self._priors: list[Any] = []
        self._futures: list[Any] = []
        self.bytes_merged = 0
        self._done = self._collected = done
        self._due = False
        self._begin(done)

    def _begin(self, done: int) -> None:
        """Make the first root from the client's own chains."""
        if self._folder is not None:
            for shard, work in enumerate(self._works):
                self._folder.write(documents_file(shard), work.to_arrays())
        self._root = self._make_root(done)
        self._write_states(done)

    def _write_states(self, sweep: int) -> None:
        """Write the client's assignments to the shared folder."""
        if self._folder is None:
            return
        for chain in self.chains:
            for shard in range(self.n_shards):
                arrays = self.sampler.give_assignments(chain, shard)
                self._folder.write(state_file(chain.index, shard, sweep), arrays)

    def _make_root(self, sweep: int) -> _Root:
        counts = [type(chain.counts)(*(np.array(array) for array in chain.counts)) for chain in self.chains]
        self._root_time = time.monotonic()
        return _Root(sweep, counts, [chain.priors for chain in self.chains])

    # One sweep.

    def step(self, sweep: int, evaluate: bool) -> list[float]:
        """Run one sweep of every chain; go back to the root and repeat what followed as often as workers are lost."""
        while True:
            try:
                while self._done < sweep:
                    self._sweep(self._done + 1)
                wanted = self._schedule.average and sweep in retained(sweep)
                joints = self._log_joints(sweep) if evaluate else []
                if wanted:
                    self._collect(sweep)
                # The root comes last: whatever is asked before it can be asked again after a loss.
                if self._due or time.monotonic() - self._root_time > STRETCH:
                    self._end_stretch(sweep)
                break
            except Lost as loss:
                self._go_back(loss)
        if self._schedule.average:
            keep_samples(self.sampler, list(self.chains), sweep)
        return joints

    def _sweep(self, sweep: int) -> None:
        """Sweep all shards of all chains, add up their changes, and learn."""
        at_root = sweep == self._root.sweep + 1
        if at_root:
            self._muster()
        if not self._priors:
            self._priors = self._sent_priors()
        used = sorted(set(self.crew.homes))
        sent = self._scattered_counts(used) if at_root else [None] * len(self.chains)
        merged = [self._submit_sweep(c, sweep, sent[c]) for c in range(len(self.chains))]
        self._calls.wait([future for futures in merged for future in futures])
        for chain, futures in zip(self.chains, merged, strict=True):
            chain.sweep, chain.seed = sweep, self._schedule.seed
            pieces = self._calls.gathered(futures)
            self.bytes_merged += sum(piece.nbytes for piece in pieces)
            apply(chain.counts, pieces)
        self._current = set(used)
        self._resident = {(c, s, home) for c in range(len(merged)) for s, home in enumerate(self.crew.homes)}
        self._pieces = merged
        self._futures = [future for futures in merged for future in futures]
        self._done = sweep
        if self.sampler.learns(sweep):
            self._learn(sweep)

    def _muster(self) -> None:
        """See who is there; the first time, say what the fit will take."""
        first = not self.crew.members
        self.crew.gather(self._prepare)
        if first:
            threads, most = sum(self.crew.members.values()), max(self.crew.memory.values()) / 1e6
            logger.info("%d workers with %d threads; one needs up to %.0f MB", len(self.crew.members), threads, most)
            if self.n_shards * len(self.chains) < threads:
                logger.warning(
                    "the cluster has %d threads, and the fit %d shards: the others have nothing to do; n_shards=%d "
                    "would use them (a setting that changes the result)",
                    threads,
                    self.n_shards * len(self.chains),
                    threads,
                )

    def _submit_sweep(self, c: int, sweep: int, sent: Any) -> list[Any]:
        """Submit the tasks of one chain's sweep; return those that add up the changes, one for each range."""
        chain, homes, job, root = self.chains[c], self.crew.homes, self.job, self._root.sweep
        sampled = []
        for shard, home in enumerate(homes):
            fresh = sent is not None and home not in self._current
            given = self._given(c, shard, home) if sweep == root + 1 else None
            counts, pieces = (sent, []) if fresh else (None, self._pieces[c])
            what = job, chain.index, shard, sweep, root, self._priors[c], counts, given, *pieces
            sampled.append(self._calls.submit(tasks.sample, home, "sample", *what))
        self._futures += sampled
        return self._submit_sums(sampled)

    def _submit_sums(self, sampled: Sequence[Any]) -> list[Any]:
        """Submit tasks that add up changes: those of each worker's own shards, then those of all, range by range."""
        homes, n_ranges, sizes = self.crew.homes, self.job.n_ranges, self._shapes.sizes
        used = sorted(set(homes))
        of_home = {home: [sampled[s] for s, other in enumerate(homes) if other == home] for home in used}
        merged = []
        for r in range(n_ranges):
            lengths = [each.stop - each.start for each in (bounds(size, n_ranges)[r] for size in sizes)]
            sums = [self._calls.submit(tasks.combine, home, "combine", r, lengths, *of_home[home]) for home in used]
            if len(used) > 1:
                where = used[r * len(used) // n_ranges]
                sums = [self._calls.submit(tasks.merge, where, "merge", lengths, *sums)]
            merged += sums
        return merged

    def _sent_priors(self) -> list[Any]:
        """Priors of every chain on the workers, as results of tasks: those can be run again, unlike scattered data."""
        members = sorted(self.crew.members)
        sent = [
            self._calls.submit(tasks.same, members, "priors", self.sampler.sent_priors(chain)) for chain in self.chains
        ]
        self._futures += sent
        return sent

    def _prepare(self, address: str) -> Any:
        """Task that compiles the kernels on a worker."""
        small = self._works[0].small()
        documents, chain = small.to_arrays(), self.chains[0]
        n_tokens = len(documents["tokens"])
        given = self.sampler.give_assignments(chain, 0)
        assignments = {name: np.zeros(n_tokens, array.dtype) for name, array in given.items()}
        what = self.job, documents, assignments, self._shapes, self.sampler.sent_priors(chain)
        return self._calls.submit(tasks.prepare, address, "prepare", *what)

    def _scattered_counts(self, used: Sequence[str]) -> list[Any]:
        """Counts of every chain on one of the workers that do not have them; None if all have."""
        fresh = [home for home in used if home not in self._current]
        if not fresh:
            return [None] * len(self.chains)
        # The root's copies: the client's own counts change while workers of the same process may read them.
        return [self._calls.scatter(counts, fresh[0]) for counts in self._root.counts]

    def _given(self, c: int, shard: int, home: str) -> Any:
        """Documents and assignments for a home that does not have them, if there is no shared folder."""
        if self._folder is not None or (c, shard, home) in self._resident:
            return None
        assignments = self.sampler.give_assignments(self.chains[c], shard)
        return self._calls.scatter(tasks.given_arrays(self._works[shard], assignments), home)

    def _learn(self, sweep: int) -> None:
        """Learn hyper-parameters from the shards' statistics, and begin a new stretch with them."""
        for c, chain in enumerate(self.chains):
            found = self._on_shards(tasks.statistics, c, sweep, self._priors[c])
            self.sampler.learn_from(chain, sweep, found)
        self._priors = []
        self._due = True

    def _log_joints(self, sweep: int) -> list[float]:
        """Log joint of every chain: the terms of the counts, and then those of the shards, in order."""
        joints = []
        for c, chain in enumerate(self.chains):
            if not self._priors:
                self._priors = self._sent_priors()
            terms = [term() for term in self.sampler.shared_terms(chain)]
            terms += self._on_shards(tasks.log_joint, c, sweep, self._priors[c])
            joints.append(sum(terms[1:], terms[0]))
        return joints

    def _on_shards(self, task: Callable[..., Any], c: int, sweep: int, *more: Any) -> list[Any]:
        """Results of a task for every shard of a chain, where its state is."""
        index, name = self.chains[c].index, task.__name__
        futures = [
            self._calls.submit(task, home, name, self.job, index, shard, sweep, *more)
            for shard, home in enumerate(self.crew.homes)
        ]
        self._calls.wait(futures)
        return self._calls.gathered(futures)

    # Roots.

    def _end_stretch(self, sweep: int) -> None:
        """Make the present state the root: write the assignments, or bring them to the client."""
        if self._folder is None:
            self._collect(sweep)
            return
        old = self._root.sweep
        for c in range(len(self.chains)):
            self._on_shards(tasks.save, c, sweep)
        self._set_root(sweep)
        if old != sweep:
            names = [state_file(chain.index, s, old) for chain in self.chains for s in range(self.n_shards)]
            self._folder.remove(*names)

    def _collect(self, sweep: int) -> None:
        """Bring the assignments to the client; without a shared folder that is a new root."""
        if self._collected == sweep:
            return
        if self._folder is not None and self._root.sweep == sweep:
            for chain in self.chains:
                for shard in range(self.n_shards):
                    self._take(chain, shard, self._folder.read(state_file(chain.index, shard, sweep)))
            self._collected = sweep
            return
        # All arrive before any is taken: without a shared folder the client's own are the root until then.
        arrived = []
        for chain in self.chains:
            for first in range(0, self.n_shards, _AT_ONCE):
                some = range(first, min(first + _AT_ONCE, self.n_shards))
                futures = [
                    self._calls.submit(tasks.fetch, self.crew.homes[s], "fetch", self.job, chain.index, s, sweep)
                    for s in some
                ]
                self._calls.wait(futures)
                found = self._calls.gathered(futures)
                arrived += [(chain, shard, arrays) for shard, arrays in zip(some, found, strict=True)]
        for chain, shard, arrays in arrived:
            self._take(chain, shard, arrays)
        self._collected = sweep
        if self._folder is None:
            self._set_root(sweep)

    def _take(self, chain: ClusterChain, shard: int, arrays: Mapping[str, Any]) -> None:
        self.sampler.take_assignments(chain, shard, arrays)

    def _set_root(self, sweep: int) -> None:
        self._root = self._make_root(sweep)
        self._lost_in_a_row, self._due = 0, False

    def _go_back(self, loss: Lost) -> None:
        """Go back to the root: cancel what runs, restore counts and priors; no worker is trusted to have anything."""
        self.losses += 1
        self._lost_in_a_row += 1
        if self._lost_in_a_row > _MOST_LOSSES:
            raise ModelError(
                f"the cluster lost workers {_MOST_LOSSES} times in a row without getting beyond sweep "
                f"{self._root.sweep} ({loss}); do workers have enough memory? With a checkpoint, the same fit goes on"
            ) from loss
        logger.warning("%s; going back from sweep %d to sweep %d", loss, self._done, self._root.sweep)
        self._drop_futures()
        for chain, counts, priors in zip(self.chains, self._root.counts, self._root.priors, strict=True):
            for array, old in zip(chain.counts, counts, strict=True):
                array[...] = old
            chain.priors, chain.sweep = priors, self._root.sweep
        self._done, self._due = self._root.sweep, False

    def _drop_futures(self) -> None:
        """Release all tasks, which Dask then drops, and forget which worker has what.

        Not ``client.cancel``: it fails in the scheduler where tasks depend on these that the client has released.
        """
        futures = self._futures + self._priors + [future for pieces in self._pieces for future in pieces]
        self._futures, self._priors, self._pieces = [], [], [[] for _ in self.chains]
        self._resident, self._current = set(), set()
        for future in futures:
            future.release()

    # The loop's interface.

    def saved(self, sweep: int) -> Saved:
        """Sweep, seed, traces, and the arrays of every chain, brought to the client."""
        self._bring(sweep)
        return super().saved(sweep)

    def _bring(self, sweep: int) -> None:
        """Bring the assignments of ``sweep`` to the client, whatever happens meanwhile."""
        while True:
            try:
                while self._done < sweep:
                    self._sweep(self._done + 1)
                self._collect(sweep)
                return
            except Lost as loss:
                self._go_back(loss)

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, ArrayOrPieces]) -> None:
        """Replace the chains; nothing on the workers is used any more."""
        self._drop_futures()
        super().restore(progress, arrays)
        self._done = self._collected = int(progress["sweep"])
        self._root = self._make_root(self._done)
        self._write_states(self._done)

    def finish(self) -> dict[str, Any]:
        """Bring the assignments to the client; return facts for ``fit_info_``."""
        self._bring(self._done)
        return {
            "workers": len(self.crew.members),
            "rollbacks": self.losses,
            "bytes_per_sweep": self.bytes_merged // max(self._done, 1),
        }

    def close(self) -> None:
        """Let the workers forget the fit, and remove its files."""
        self._drop_futures()
        try:
            if self._client.status == "running":
                self._client.run(tasks.forget, self.job.fit, on_error="ignore")
        except Exception as error:  # a cluster that is gone has forgotten, too
            logger.debug("workers could not be told to forget: %r", error)
        if self._folder is not None:
            self._folder.remove_all()
