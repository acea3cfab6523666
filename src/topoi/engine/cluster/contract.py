"""Interface of a family to the cluster: shards that can be sampled on another machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from topoi.engine.gibbs import Chain, Sampler

Arrays = dict[str, NDArray[Any]]


class ShardWork(Protocol):
    """Documents of one shard, with all that a sweep reads besides counts and priors.

    A *state* is what one chain has of the shard: the assignments of its tokens, in the form that its kernel changes.
    """

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the documents from ``to_arrays``."""
        ...

    def to_arrays(self) -> Arrays:
        """Plain arrays of numbers."""
        ...

    def small(self) -> Self:
        """A few of the documents' words: enough to compile the kernels with."""
        ...

    def open(self, assignments: Mapping[str, NDArray[Any]]) -> Any:
        """The state with these assignments, in document order."""
        ...

    def assignments(self, state: Any) -> Arrays:
        """Assignments of a state, in document order."""
        ...

    def count(self, state: Any, counts: Any) -> None:
        """Add the assignments to the counts."""
        ...

    def sweep(self, state: Any, counts: Any, priors: Any, stream: NDArray[np.uint64]) -> None:
        """Sample every token once; changes state, counts and stream."""
        ...

    def log_joint(self, state: Any, counts: Any, priors: Any) -> float:
        """Term of the log joint that belongs to these documents; ``counts`` say no more than sizes and types."""
        ...

    def statistics(self, state: Any, priors: Any) -> Any:
        """Statistics of these documents that ``Distributable.learn_from`` needs."""
        ...


@runtime_checkable
class Distributable(Protocol):
    """A sampler whose shards can be sampled on other machines."""

    def undistributable(self) -> str | None:
        """The setting that keeps this sampler on one machine, None if there is none."""
        ...

    def shard_work(self, shard: int) -> ShardWork:
        """The documents of a shard."""
        ...

    def give_assignments(self, chain: Any, shard: int) -> Arrays:
        """Assignments of a shard, in document order."""
        ...

    def take_assignments(self, chain: Any, shard: int, assignments: Mapping[str, NDArray[Any]]) -> None:
        """Replace the assignments of a shard."""
        ...

    def sent_priors(self, chain: Any) -> Any:
        """Priors in the form that ``ShardWork.sweep`` reads, small enough to send at every change."""
        ...

    def shared_terms(self, chain: Any) -> list[Callable[[], float]]:
        """Terms of the log joint that follow from the counts; those of the shards are added after them, in order."""
        ...

    def learns(self, sweep: int) -> bool:
        """Whether hyper-parameters are learned after a sweep."""
        ...

    def learn_from(self, chain: Any, sweep: int, statistics: Sequence[Any]) -> None:
        """Learn hyper-parameters from the statistics of all shards, in order."""
        ...


class DistributableSampler(Sampler[Any], Distributable, Protocol):
    """A sampler that can also be distributed."""


ClusterChain = Chain[Any, Any, Any]
