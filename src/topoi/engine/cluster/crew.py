"""Workers of a cluster that a fit uses: checked, prepared, and each the home of some shards."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from topoi.engine.cluster import worker as tasks
from topoi.errors import ModelError

logger = logging.getLogger("topoi")
# Seconds to wait for a scheduler that does not answer, and for a first worker.
PATIENCE = 60.0
# Seconds to wait for a small result that is there.
_FOR_RESULTS = 5.0
# Workers that may die in a row while they are prepared.
_MOST_DEATHS = 20
# Share of a worker's memory that a fit may use: beyond it Dask pauses the worker.
_USABLE = 0.8


class Lost(Exception):  # noqa: N818 (not an error: the fit goes back to the root)
    """Raised when a worker, or what it had, is gone."""


class Crew:
    """Workers in use, by address. ``homes[shard]`` is where a shard is swept.

    Workers join and leave between stretches. One that lacks memory, or has other versions, is refused by name if it
    was there at the beginning, and left out with a warning if it came later.
    """

    def __init__(self, client: Any, shard_tokens: Sequence[int], needs: Callable[[int, int], int]) -> None:
        self.client, self._tokens, self._needs = client, list(shard_tokens), needs
        self.members: dict[str, int] = {}
        self.homes: list[str] = [""] * len(shard_tokens)
        # Tasks on workers that are not members yet: one that tells versions, then one that compiles.
        self._asked: dict[str, Any] = {}
        self._preparing: dict[str, Any] = {}
        self._refused: set[str] = set()
        self._deaths = 0
        self._begun = False

    def running(self) -> dict[str, int]:
        """Threads of all workers of the cluster, by address; a scheduler that does not answer is a ``ModelError``."""
        since = time.monotonic()
        while True:
            try:
                if self.client.status == "running":
                    return dict(self.client.nthreads())
            except Exception as error:  # whatever a broken connection raises
                logger.debug("the scheduler does not answer: %r", error)
            if self.client.status == "closed" or time.monotonic() - since > PATIENCE:
                address = getattr(getattr(self.client, "scheduler", None), "address", "of the cluster")
                raise ModelError(
                    f"the scheduler {address} cannot be reached; fit again with the same checkpoint, and the fit goes "
                    "on from there"
                )
            time.sleep(0.2)

    def check(self) -> None:
        """Raise ``Lost`` if a member is gone."""
        gone = self.members.keys() - self.running().keys()
        if gone:
            raise Lost(f"{len(gone)} of {len(self.members)} workers left: {', '.join(sorted(gone))}")

    def gather(self, prepare: Callable[[str], Any]) -> None:
        """Take in workers that have come and drop those that have gone; ``prepare`` starts a task on a worker.

        Waits for the first workers to be prepared, not for later ones: they join when they are ready.
        """
        since = time.monotonic()
        while True:
            running = self.running()
            self.members = {address: n for address, n in self.members.items() if address in running}
            for waiting in (self._asked, self._preparing):
                for gone in waiting.keys() - running.keys():
                    del waiting[gone]
            known = self.members.keys() | self._asked.keys() | self._preparing.keys() | self._refused
            for address in running.keys() - known:
                self._asked[address] = self._submit(tasks.teller(), address)
            self._admit(running, prepare)
            late = time.monotonic() - since > PATIENCE
            if self.members and (self._begun or late or not (self._asked or self._preparing)):
                break
            if not running and late:
                raise ModelError(f"the cluster has no workers; none came within {PATIENCE:.0f} seconds")
            if running and running.keys() <= self._refused:
                raise ModelError("no worker of the cluster can be used; see the warnings above")
            time.sleep(0.02)
        self._begun = True
        self._settle()

    def _submit(self, task: Callable[..., Any], address: str) -> Any:
        return self.client.submit(task, workers=[address], pure=False, key=f"topoi-versions-{secrets.token_hex(8)}")

    def _admit(self, running: dict[str, int], prepare: Callable[[str], Any]) -> None:
        """Prepare workers that have the right versions; take in those that are prepared, or refuse them."""
        expected = tasks.teller()()
        for address, found in self._ended(self._asked):
            other = [name for name, version in expected.items() if found.get(name) != version]
            if other:
                theirs = ", ".join(f"{name} {found.get(name)}" for name in other)
                ours = ", ".join(f"{name} {expected[name]}" for name in other)
                self._refuse(address, f"worker {address} has {theirs}, and this process has {ours}: install the same")
            else:
                self._preparing[address] = prepare(address)
        for address, _ in self._ended(self._preparing):
            self.members[address] = running[address]
            self._deaths = 0

    def _ended(self, waiting: dict[str, Any]) -> list[tuple[str, Any]]:
        """Take out the tasks that have ended, and return the results of those that succeeded."""
        found = []
        for address, future in [(a, f) for a, f in waiting.items() if f.status != "pending"]:
            del waiting[address]
            self._check_failure(address, future)
            if future.status != "finished":
                continue
            try:
                found.append((address, future.result(timeout=_FOR_RESULTS)))
            except Exception as error:  # the worker has gone in this moment; if it comes back, it is asked again
                logger.debug("no answer from %s: %r", address, error)
        return found

    def _check_failure(self, address: str, future: Any) -> None:
        """Refuse a worker whose preparation raised an error; one that died or was lost is asked again if it is back."""
        from distributed import KilledWorker

        if future.status != "error":
            return
        error = future.exception()
        if not isinstance(error, KilledWorker):
            self._refuse(address, f"worker {address} cannot sample: {type(error).__name__}: {error}")
            return
        self._deaths += 1
        logger.debug("worker %s died while it was prepared", address)
        if self._deaths > _MOST_DEATHS:
            raise ModelError(
                f"{self._deaths} workers in a row died while they were prepared; do they have enough memory? "
                "With a checkpoint, the same fit goes on"
            )

    def _refuse(self, address: str, reason: str) -> None:
        self._refused.add(address)
        if not self._begun:
            raise ModelError(reason)
        logger.warning("%s; the fit goes on without it", reason)

    def _settle(self) -> None:
        """Give every shard a home: the present one if that is a member with no more than its share."""
        total, threads = sum(self._tokens), sum(self.members.values())
        room = {address: total * n / threads for address, n in self.members.items()}
        load = dict.fromkeys(self.members, 0)
        homeless = []
        by_size = sorted(range(len(self._tokens)), key=lambda s: (-self._tokens[s], s))
        for shard in by_size:
            home, size = self.homes[shard], self._tokens[shard]
            if home in load and load[home] + size <= room[home] + size / 2:
                load[home] += size
            else:
                homeless.append(shard)
        for shard in homeless:
            home = min(load, key=lambda address: ((load[address] + self._tokens[shard]) / room[address], address))
            self.homes[shard] = home
            load[home] += self._tokens[shard]
        self._check_memory(load)

    def _check_memory(self, load: dict[str, int]) -> None:
        """Refuse to start work for which a worker has too little memory."""
        limits = {
            address: facts.get("memory_limit") or 0
            for address, facts in self.client.scheduler_info(n_workers=-1)["workers"].items()
        }
        for address, n_tokens in load.items():
            needed, limit = self._needs(self.members[address], n_tokens), limits.get(address, 0)
            if 0 < limit * _USABLE < needed:
                raise ModelError(
                    f"worker {address} needs {needed / 1e9:.1f} GB for its shards and counts, and may use "
                    f"{limit * _USABLE / 1e9:.1f} of its {limit / 1e9:.1f} GB: give workers more memory or fewer "
                    "threads, use more workers, or fit fewer topics or words"
                )

    @property
    def memory(self) -> dict[str, int]:
        """Bytes that each member needs."""
        load = dict.fromkeys(self.members, 0)
        for home, size in zip(self.homes, self._tokens, strict=True):
            load[home] += size
        return {address: self._needs(self.members[address], size) for address, size in load.items()}
