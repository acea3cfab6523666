"""Chains over more documents and topics than before: old assignments stay, those of new documents are drawn given them.

Documents are cut into two shards, the old ones and the new ones, and only the second is sampled, by the family's own
sweep. So every draw is from the exact conditional given the assignments of all other tokens, and the stationary
distribution of these sweeps is P(assignments of new documents | assignments of old documents, all words).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.corpus import Corpus
from topoi.corpus.pieces import take_rows
from topoi.engine.executors import Executor
from topoi.engine.gibbs import Chain, Sampler
from topoi.engine.shards import Shards
from topoi.errors import ModelError
from topoi.kernels.random import new_stream

Arrays = dict[str, NDArray[Any]]
# Sweeps over new documents before all are sampled.
N_SWEEPS = 20
# Numbers of the random streams of these sweeps begin here, beyond the number of any shard.
_STREAM = 2**61


@dataclass(frozen=True)
class Grown:
    """Chains as arrays, by number, with their sampler, which knows the documents, and the key of their streams."""

    sampler: Sampler
    arrays: list[Arrays]
    seed: int
    sweep: int


def widened_vector(values: NDArray[np.float64], n: int, part: float = 1.0) -> NDArray[np.float64]:
    """A vector of parameters with more entries, each the median of those there are, or a part of it.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.growing import widened_vector
    >>> widened_vector(np.array([1.0, 2.0, 9.0]), 5).tolist()
    [1.0, 2.0, 9.0, 2.0, 2.0]
    """
    # The middle value itself, not a mean of two: a float32 number stays one.
    median = np.sort(values)[(len(values) - 1) // 2]
    return np.concatenate([values, np.full(n - len(values), part * median)])


def wider_setting(value: Any, n: int) -> Any:
    """A setting that may be one number or one for each of some things, of which there are now ``n``.

    Examples
    --------
    >>> from topoi.models.growing import wider_setting
    >>> wider_setting(0.1, 3), wider_setting([0.1, 0.2], 3), wider_setting(None, 3)
    (0.1, [0.1, 0.2, 0.1], None)
    """
    if value is None or isinstance(value, str) or np.ndim(value) != 1 or len(value) >= n:
        return value
    return widened_vector(np.asarray(value, np.float64), n).tolist()


def add_documents(
    make: Callable[[Corpus, Shards], Sampler],
    grown: Grown,
    corpus: Corpus,
    rows: NDArray[np.int64],
    executor: Executor,
    part: float = 1.0,
    n_sweeps: int = N_SWEEPS,
) -> Grown:
    """Add documents to chains; those of ``rows`` are in, in this order, and keep their assignments.

    The others begin at random, and are sampled given those of ``rows``, which stay.

    Parameters
    ----------
    make : callable
        Maker of a sampler of a corpus cut into shards.
    grown : Grown
        The chains of the documents in ``rows``.
    corpus : Corpus
        All documents.
    rows : array
        Numbers of the documents that are in.
    executor : Executor
        Each chain is a task.
    part : float
        Prior weight of topics that the chains did not have, as a part of that of the others.
    n_sweeps : int
        Sweeps over the new documents.
    """
    others = np.setdiff1d(np.arange(corpus.n_docs), rows)
    order = np.concatenate([rows, others])
    in_order = np.array_equal(order, np.arange(corpus.n_docs))
    ordered = corpus if in_order else corpus.subset(order)
    sampler = make(ordered, (len(rows),) if len(others) else 1)
    back = np.argsort(order)
    key = corpus.n_docs << 20

    def run(index: int) -> Arrays:
        arrays = _placed(sampler, grown, index, len(rows), int(ordered.doc_start[len(rows)]), part)
        chain = sampler.restore(index, arrays, [])
        if len(others) and corpus.n_tokens:
            sample_new(sampler, chain, grown, key, n_sweeps)
        found = sampler.to_arrays(chain)
        if in_order:
            return found
        names = [name for name in sampler.sampled if name in found]
        _, taken = take_rows(ordered.doc_start, back, [found[name] for name in names], sampler.scratch)
        return found | dict(zip(names, taken, strict=True)) | {name: found[name][back] for name in sampler.in_documents}

    return Grown(sampler, list(executor.map(run, range(len(grown.arrays)))), grown.seed, grown.sweep)


def sample_new(sampler: Sampler, chain: Chain, grown: Grown, key: int, n_sweeps: int, shard: int = 1) -> None:
    """Sample one shard, the second if nothing is said, given the others."""
    # An odd sweep: sparse schemes prune at even ones.
    chain.sweep, chain.seed = grown.sweep | 1, grown.seed
    for number in range(n_sweeps):
        stream = new_stream(grown.seed, chain.index, grown.sweep, _STREAM + key + number)
        sampler.sample(chain, shard, chain.counts, stream)


def _placed(sampler: Sampler, grown: Grown, index: int, n_docs: int, n_tokens: int, part: float) -> Arrays:
    """Arrays of a chain of all documents: the first ones' as they are, those of the others at random."""
    old = grown.arrays[index]
    if "order" in old:
        raise ModelError("documents are still coming into the chains (sparse=True); run resume before update")
    started = sampler.to_arrays(sampler.start(grown.seed, index))
    arrays = started | sampler.widened(old, grown.sampler, part)
    for name in sampler.sampled:
        arrays[name][:n_tokens] = old[name]
    for name in sampler.in_documents:
        arrays[name][:n_docs] = old[name]
    return {name: array for name, array in arrays.items() if name not in ("order", "n_in")}
