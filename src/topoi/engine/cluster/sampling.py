"""Gibbs chains on a cluster as a training of the engine's loop."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from topoi.corpus.pieces import ArrayOrPieces
from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.contract import ClusterChain, Distributable, DistributableSampler
from topoi.engine.cluster.crew import Lost
from topoi.engine.cluster.deltas import apply
from topoi.engine.cluster.files import SharedFolder, absolute, documents_file, state_file
from topoi.engine.cluster.remote import RemoteChains
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
        self.n_shards = len(chains[0].shards)
        n_ranges = plan_ranges(self.n_shards, max(array.size for array in chains[0].counts))
        fit = f"topoi-{secrets.token_hex(8)}"
        self._folder = None if folder is None else SharedFolder(absolute(str(folder))).below(fit)
        works = [sampler.shard_work(shard) for shard in range(self.n_shards)]
        address = None if self._folder is None else self._folder.address
        job = tasks.Job(fit, type(works[0]), address, schedule.seed, n_ranges)
        self._remote = RemoteChains(client, sampler, self.chains, works, job)
        self.losses = 0
        self._lost_in_a_row = 0
        self.bytes_merged = self.sweeps_merged = 0
        self._done = self._collected = done
        self._due = False
        # The first root is made from the client's own chains.
        if self._folder is not None:
            for shard, work in enumerate(works):
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
        if sweep == self._root.sweep + 1:
            self._remote.muster()
        # The root's copies: the client's own counts change while workers of the same process may read them.
        merged = self._remote.sweep(sweep, self._root.sweep, self._root.counts)
        for chain, futures in zip(self.chains, merged, strict=True):
            chain.sweep, chain.seed = sweep, self._schedule.seed
            pieces = self._remote.changes(futures)
            self.bytes_merged += sum(piece.nbytes for piece in pieces)
            apply(chain.counts, pieces)
        self.sweeps_merged += 1
        self._remote.keep(merged)
        self._done = sweep
        if self.sampler.learns(sweep):
            self._learn(sweep)

    def _learn(self, sweep: int) -> None:
        """Learn hyper-parameters from the shards' statistics, and begin a new stretch with them."""
        for c, chain in enumerate(self.chains):
            self.sampler.learn_from(chain, sweep, self._remote.statistics(c, sweep))
        self._remote.forget_priors()
        if self.sampler.guidance is not None:
            # Banned cells hold -beta, which may be another now: workers get the counts of the root that comes next.
            self._remote.forget_counts()
        self._due = True

    def _log_joints(self, sweep: int) -> list[float]:
        """Log joint of every chain: the terms of the counts, and then those of the shards, in order."""
        joints = []
        for c, chain in enumerate(self.chains):
            terms = [term() for term in self.sampler.shared_terms(chain)]
            terms += self._remote.log_joints(c, sweep)
            joints.append(sum(terms[1:], terms[0]))
        return joints

    # Roots.

    def _end_stretch(self, sweep: int) -> None:
        """Make the present state the root: write the assignments, or bring them to the client."""
        if self._folder is None:
            self._collect(sweep)
            return
        old = self._root.sweep
        for c in range(len(self.chains)):
            self._remote.save(c, sweep)
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
        for c, chain in enumerate(self.chains):
            for first in range(0, self.n_shards, _AT_ONCE):
                some = range(first, min(first + _AT_ONCE, self.n_shards))
                found = self._remote.fetch(c, sweep, some)
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
        self._remote.drop()
        for chain, counts, priors in zip(self.chains, self._root.counts, self._root.priors, strict=True):
            for array, old in zip(chain.counts, counts, strict=True):
                array[...] = old
            chain.priors, chain.sweep = priors, self._root.sweep
        self._done, self._due = self._root.sweep, False

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
        self._remote.drop()
        super().restore(progress, arrays)
        self._done = self._collected = int(progress["sweep"])
        self._root = self._make_root(self._done)
        self._write_states(self._done)

    def finish(self) -> dict[str, Any]:
        """Bring the assignments to the client; return facts for ``fit_info_``."""
        self._bring(self._done)
        return {
            "workers": len(self._remote.crew.members),
            "rollbacks": self.losses,
            "bytes_per_sweep": self.bytes_merged // max(self.sweeps_merged, 1),
        }

    def close(self) -> None:
        """Let the workers forget the fit, and remove its files."""
        self._remote.close()
        if self._folder is not None:
            self._folder.remove_all()
