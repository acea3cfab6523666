"""What the workers of a cluster are asked to do for one fit, and what each of them has."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from topoi.engine.cluster import worker as tasks
from topoi.engine.cluster.calls import Calls
from topoi.engine.cluster.contract import ClusterChain, DistributableSampler
from topoi.engine.cluster.crew import Crew
from topoi.engine.cluster.deltas import Piece, bounds

logger = logging.getLogger("topoi")


class RemoteChains:
    """Chains of a fit on the workers of a cluster.

    Every shard has a home, the worker that keeps its state. What workers have is a cache: ``drop`` forgets it, and the
    first sweep after a root sends whatever is missing.
    """

    def __init__(
        self, client: Any, sampler: DistributableSampler, chains: list[ClusterChain], works: list[Any], job: tasks.Job
    ) -> None:
        self._client, self._sampler, self._works, self.job = client, sampler, works, job
        self.chains = chains
        self._shapes = tasks.Shapes.of(chains[0].counts)
        n_shards = range(len(works))
        n_tokens = [len(next(iter(sampler.give_assignments(chains[0], s).values()))) for s in n_shards]
        all_counts = [array for chain in chains for array in chain.counts]
        self.crew = Crew(client, n_tokens, lambda threads, tokens: tasks.bytes_needed(all_counts, threads, tokens))
        self._calls = Calls(client, job.fit, self.crew.check)
        self._resident: set[tuple[int, int, str]] = set()
        self._current: set[str] = set()
        self._pieces: list[list[Any]] = [[] for _ in chains]
        self._priors: list[Any] = []
        self._futures: list[Any] = []

    def muster(self) -> None:
        """See who is there; the first time, say what the fit will take."""
        first = not self.crew.members
        self.crew.gather(self._prepare)
        if first:
            threads, most = sum(self.crew.members.values()), max(self.crew.memory.values()) / 1e6
            logger.info("%d workers with %d threads; one needs up to %.0f MB", len(self.crew.members), threads, most)
            n_parts = len(self._works) * len(self.chains)
            if n_parts < threads:
                logger.warning(
                    "the cluster has %d threads, and the fit %d shards: the others have nothing to do; n_shards=%d "
                    "would use them (a setting that changes the result)",
                    threads,
                    n_parts,
                    threads,
                )

    def _prepare(self, address: str) -> Any:
        """Task that compiles the kernels on a worker."""
        small = self._works[0].small()
        documents, chain = small.to_arrays(), self.chains[0]
        n_tokens = len(documents["tokens"])
        given = self._sampler.give_assignments(chain, 0)
        assignments = {name: np.zeros(n_tokens, array.dtype) for name, array in given.items()}
        what = self.job, documents, assignments, self._shapes, self._sampler.sent_priors(chain)
        return self._calls.submit(tasks.prepare, address, "prepare", *what)

    # One sweep.

    def sweep(self, sweep: int, root: int, counts: Sequence[Any]) -> list[list[Any]]:
        """Sweep all shards of all chains; return each chain's tasks that have added up the changes, one for each range.

        ``counts`` are those at the ``root``, for workers that do not have them.
        """
        used = sorted(set(self.crew.homes))
        self.send_priors()
        sent = self._scattered_counts(used, counts) if sweep == root + 1 else [None] * len(self.chains)
        merged = [self._submit_sweep(c, sweep, root, sent[c]) for c in range(len(self.chains))]
        self._calls.wait([future for futures in merged for future in futures])
        return merged

    def changes(self, merged: Sequence[Any]) -> list[Piece]:
        """Changes of one chain's counts, by its tasks that have added them up."""
        return self._calls.gathered(merged)

    def keep(self, merged: list[list[Any]]) -> None:
        """Note that the workers are at the end of a sweep, and will add these changes to their counts."""
        self._current = set(self.crew.homes)
        self._resident = {(c, s, home) for c in range(len(merged)) for s, home in enumerate(self.crew.homes)}
        self._pieces = merged
        self._futures = [future for futures in merged for future in futures]

    def _submit_sweep(self, c: int, sweep: int, root: int, sent: Any) -> list[Any]:
        """Submit the tasks of one chain's sweep; return those that add up the changes, one for each range."""
        index, sampled = self.chains[c].index, []
        for shard, home in enumerate(self.crew.homes):
            fresh = sent is not None and home not in self._current
            given = self._given(c, shard, home) if sweep == root + 1 else None
            counts, pieces = (sent, []) if fresh else (None, self._pieces[c])
            what = self.job, index, shard, sweep, root, self._priors[c], counts, given, *pieces
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

    # What workers need for it.

    def send_priors(self) -> None:
        """Send every chain's priors unless the workers have them.

        They are results of tasks: those can be run again, unlike scattered data.
        """
        if self._priors:
            return
        members = sorted(self.crew.members)
        self._priors = [
            self._calls.submit(tasks.same, members, "priors", self._sampler.sent_priors(chain)) for chain in self.chains
        ]
        self._futures += self._priors

    def forget_priors(self) -> None:
        """Note that the priors have changed: they are sent when they are needed."""
        self._priors = []

    def forget_counts(self) -> None:
        """Note that the client has changed its counts: they are sent with the first sweep after the next root."""
        self._current = set()

    def _scattered_counts(self, used: Sequence[str], counts: Sequence[Any]) -> list[Any]:
        """Counts of every chain on one of the workers that do not have them; None if all have."""
        fresh = [home for home in used if home not in self._current]
        if not fresh:
            return [None] * len(self.chains)
        return [self._calls.scatter(each, fresh[0]) for each in counts]

    def _given(self, c: int, shard: int, home: str) -> Any:
        """Documents and assignments for a home that does not have them, if there is no shared folder."""
        if self.job.folder is not None or (c, shard, home) in self._resident:
            return None
        assignments = self._sampler.give_assignments(self.chains[c], shard)
        return self._calls.scatter(tasks.given_arrays(self._works[shard], assignments), home)

    # Between sweeps.

    def statistics(self, c: int, sweep: int) -> list[Any]:
        """Statistics of a chain's shards, to learn hyper-parameters from."""
        return self._on_shards(tasks.statistics, c, sweep, range(len(self._works)), self._priors[c])

    def log_joints(self, c: int, sweep: int) -> list[Any]:
        """Terms of a chain's log joint, one for each shard."""
        self.send_priors()
        return self._on_shards(tasks.log_joint, c, sweep, range(len(self._works)), self._priors[c])

    def save(self, c: int, sweep: int) -> None:
        """Write a chain's assignments to the shared folder."""
        self._on_shards(tasks.save, c, sweep, range(len(self._works)))

    def fetch(self, c: int, sweep: int, shards: Sequence[int]) -> list[Mapping[str, Any]]:
        """Assignments of some of a chain's shards."""
        return self._on_shards(tasks.fetch, c, sweep, shards)

    def _on_shards(self, task: Callable[..., Any], c: int, sweep: int, shards: Sequence[int], *more: Any) -> list[Any]:
        """Results of a task for some shards of a chain, where their states are."""
        index, name, homes = self.chains[c].index, task.__name__, self.crew.homes
        futures = [
            self._calls.submit(task, homes[shard], name, self.job, index, shard, sweep, *more) for shard in shards
        ]
        self._calls.wait(futures)
        return self._calls.gathered(futures)

    # The end.

    def drop(self) -> None:
        """Release all tasks, which Dask then drops, and forget which worker has what.

        Not ``client.cancel``: it fails in the scheduler where tasks depend on these that the client has released.
        """
        futures = self._futures + self._priors + [future for pieces in self._pieces for future in pieces]
        self._futures, self._priors, self._pieces = [], [], [[] for _ in self.chains]
        self._resident, self._current = set(), set()
        for future in futures:
            future.release()

    def close(self) -> None:
        """Let the workers forget the fit."""
        self.drop()
        try:
            if self._client.status == "running":
                self._client.run(tasks.forget, self.job.fit, on_error="ignore")
        except Exception as error:  # a cluster that is gone has forgotten, too
            logger.debug("workers could not be told to forget: %r", error)
