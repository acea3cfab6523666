"""Tasks of a fit on a Dask worker, and what the worker keeps between them.

A worker keeps the documents of the shards that have their home there, the latest state of each, and the counts of each
chain. All of it is a cache: the root of the present stretch (see ``sampling``) is enough to make it anew. A task that
does not find what it needs raises ``StateLost``, and the client goes back to the root. Inputs of tasks never change.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.engine.cluster.contract import Arrays, ShardWork
from topoi.engine.cluster.deltas import Piece, added, apply, differences
from topoi.engine.cluster.files import SharedFolder, documents_file, state_file
from topoi.kernels.random import new_stream

# Seconds after which a fit that no task mentions is taken for dead.
_ABANDONED = 1800.0
# Number of the random stream of the draws that compile kernels; they are thrown away.
_COMPILING = 2**62 + 1


class StateLost(Exception):  # noqa: N818 (not an error: the client goes back to the root)
    """Raised by a task whose worker does not have the state that it continues."""


class Job(NamedTuple):
    """Arguments that all tasks of a fit share."""

    fit: str
    work: type[ShardWork]
    folder: str | None
    seed: int
    n_ranges: int


class _Resident:
    """Cache of one fit in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.used = time.monotonic()
        self.works: dict[int, ShardWork] = {}
        self.states: dict[tuple[int, int], tuple[int, Any]] = {}
        self.counts: dict[int, tuple[int, Any]] = {}
        self.spare: list[Any] = []


_fits: dict[str, _Resident] = {}
_lock = threading.Lock()


def _resident(fit: str) -> _Resident:
    """Cache of a fit, made if there is none; caches of fits whose client has gone are dropped."""
    now = time.monotonic()
    with _lock:
        for name in [name for name, kept in _fits.items() if now - kept.used > _ABANDONED and name != fit]:
            del _fits[name]
        kept = _fits.setdefault(fit, _Resident())
        kept.used = now
        return kept


def forget(fit: str) -> None:
    """Drop everything that is kept of a fit."""
    with _lock:
        _fits.pop(fit, None)


def teller() -> Callable[[], dict[str, str]]:
    """Function that tells the versions which must be the same everywhere, or bits may differ.

    A function within a function is sent by value: it runs on workers whose topoi knows nothing of clusters.
    """

    def tell() -> dict[str, str]:
        import platform

        import numba
        import numpy

        from topoi import __version__

        python = ".".join(platform.python_version_tuple()[:2])
        return {"topoi": __version__, "numba": numba.__version__, "numpy": numpy.__version__, "Python": python}

    return tell


class Shapes(NamedTuple):
    """Type of the counts, and the shape and the type of each of their arrays."""

    kind: type
    arrays: tuple[tuple[tuple[int, ...], str], ...]

    @classmethod
    def of(cls, counts: Any) -> Shapes:
        """Shapes of these counts."""
        return cls(type(counts), tuple((array.shape, array.dtype.str) for array in counts))

    @property
    def sizes(self) -> list[int]:
        """Number of cells of each array."""
        return [math.prod(shape) for shape, _ in self.arrays]


def prepare(job: Job, documents: Arrays, assignments: Arrays, shapes: Shapes, priors: Any) -> None:
    """Compile the kernels by sampling a few words."""
    work = job.work.from_arrays(documents)
    counts = shapes.kind(*(np.zeros(shape, dtype) for shape, dtype in shapes.arrays))
    state = work.open(assignments)
    work.count(state, counts)
    before = [np.array(array) for array in counts]
    work.sweep(state, counts, priors, new_stream(job.seed, 0, 0, _COMPILING))
    apply(before, differences(before, counts, job.n_ranges))
    # Differences that need more than a byte, and few of many, have loops of their own.
    for array in {array.dtype: array for array in counts}.values():
        cells = np.zeros(8, array.dtype)
        for most in (1, 1000):
            differences([cells], [np.eye(1, 8, dtype=array.dtype)[0] * most], 1)
    work.log_joint(state, counts, priors)


def sample(
    job: Job,
    chain: int,
    shard: int,
    sweep: int,
    root: int,
    priors: Any,
    counts: Any,
    given: tuple[Arrays, Arrays] | None,
    *pieces: Piece,
) -> list[Piece]:
    """Sweep a shard once and return the changes of the counts.

    ``counts`` are those after the sweep before, for a worker that does not have them; others add ``pieces``, the
    changes of the sweep before, to what they keep. ``given`` are the documents and the assignments at the ``root``,
    where there is no shared folder to read them from.
    """
    kept = _resident(job.fit)
    base = _counts_at(kept, chain, sweep - 1, counts, pieces)
    work, state = _take_state(kept, job, chain, shard, sweep - 1, root, given)
    with kept.lock:
        private = kept.spare.pop() if kept.spare else None
    if private is None:
        private = type(base)(*(np.array(array) for array in base))
    else:
        for mine, array in zip(private, base, strict=True):
            np.copyto(mine, array)
    work.sweep(state, private, priors, new_stream(job.seed, chain, sweep, shard))
    changes = differences(base, private, job.n_ranges)
    with kept.lock:
        kept.states[chain, shard] = sweep, state
        kept.spare.append(private)
    return changes


def _counts_at(kept: _Resident, chain: int, sweep: int, given: Any, pieces: Sequence[Piece]) -> Any:
    """Counts of a chain after ``sweep``; the first task of a sweep makes them, the others find them."""
    with kept.lock:
        at, counts = kept.counts.get(chain, (-1, None))
        if given is not None:
            if at != sweep:
                counts = given
        elif at == sweep - 1 and pieces:
            counts = type(counts)(*(np.array(array) for array in counts))
            apply(counts, pieces)
        elif at != sweep:
            raise StateLost(f"counts after sweep {sweep} of chain {chain}")
        kept.counts[chain] = sweep, counts
        return counts


def _take_state(
    kept: _Resident, job: Job, chain: int, shard: int, sweep: int, root: int, given: tuple[Arrays, Arrays] | None
) -> tuple[ShardWork, Any]:
    """Take a shard's state after ``sweep`` out of the cache, so that no other task changes it, or make it anew."""
    with kept.lock:
        work = kept.works.get(shard)
        at, state = kept.states.pop((chain, shard), (-1, None))
    if at == sweep and work is not None:
        return work, state
    if sweep != root or (given is None and job.folder is None):
        raise StateLost(f"shard {shard} after sweep {sweep} of chain {chain}")
    documents, assignments = given or _read(job, chain, shard, sweep, work is None)
    if work is None:
        work = job.work.from_arrays(documents)
        with kept.lock:
            work = kept.works.setdefault(shard, work)
    return work, work.open(assignments)


def _read(job: Job, chain: int, shard: int, sweep: int, with_documents: bool) -> tuple[Arrays, Arrays]:
    """Documents, if they are wanted, and assignments from the shared folder."""
    assert job.folder is not None
    folder = SharedFolder(job.folder)
    documents = folder.read(documents_file(shard)) if with_documents else {}
    return documents, folder.read(state_file(chain, shard, sweep))


def combine(number: int, sizes: Sequence[int], *shards: list[Piece]) -> Piece:
    """Add up the changes of a worker's shards within one range."""
    return added([pieces[number] for pieces in shards], sizes)


def merge(sizes: Sequence[int], *pieces: Piece) -> Piece:
    """Add up the workers' changes within one range."""
    return added(pieces, sizes)


def _state_of(job: Job, chain: int, shard: int, sweep: int) -> tuple[_Resident, ShardWork, Any]:
    kept = _resident(job.fit)
    with kept.lock:
        work, (at, state) = kept.works.get(shard), kept.states.get((chain, shard), (-1, None))
    if at != sweep or work is None:
        raise StateLost(f"shard {shard} after sweep {sweep} of chain {chain}")
    return kept, work, state


def save(job: Job, chain: int, shard: int, sweep: int) -> int:
    """Write a shard's assignments to the shared folder; return the number of bytes."""
    assert job.folder is not None
    _, work, state = _state_of(job, chain, shard, sweep)
    return SharedFolder(job.folder).write(state_file(chain, shard, sweep), work.assignments(state))


def fetch(job: Job, chain: int, shard: int, sweep: int) -> Arrays:
    """Assignments of a shard."""
    _, work, state = _state_of(job, chain, shard, sweep)
    return {name: np.array(array) for name, array in work.assignments(state).items()}


def log_joint(job: Job, chain: int, shard: int, sweep: int, priors: Any) -> float:
    """A shard's term of the log joint."""
    kept, work, state = _state_of(job, chain, shard, sweep)
    return work.log_joint(state, kept.counts[chain][1], priors)


def statistics(job: Job, chain: int, shard: int, sweep: int, priors: Any) -> Any:
    """A shard's statistics for learning hyper-parameters."""
    _, work, state = _state_of(job, chain, shard, sweep)
    return work.statistics(state, priors)


def same(value: Any) -> Any:
    """Return the value: a task that Dask can run again, unlike scattered data."""
    return value


def bytes_needed(counts: Sequence[NDArray[Any]], n_threads: int, n_tokens: int) -> int:
    """Memory that a worker needs: two copies of the counts for sweeps and sums, one for each thread, and its shards.

    A token takes four bytes for its word, twelve for the order in which kernels sample it, and six for its assignment.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.engine.cluster.worker import bytes_needed
    >>> bytes_needed([np.zeros((1000, 16), np.float32)], 2, 10_000)
    476000
    """
    size = sum(array.nbytes for array in counts)
    return (2 + n_threads) * size + 22 * n_tokens


def given_arrays(work: ShardWork, assignments: Mapping[str, NDArray[Any]]) -> tuple[Arrays, Arrays]:
    """Documents and assignments as they are sent where there is no shared folder."""
    return work.to_arrays(), {name: np.array(array) for name, array in assignments.items()}
