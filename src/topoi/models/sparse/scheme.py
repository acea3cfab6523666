"""Common parts of the families' sparse schemes (Li and McCallum, section 3.2): pruned sweeps and a growing corpus.

Three devices: sparse counts, pruned sweeps that alternate with exact ones, and a start from few documents, whose number
doubles. All decisions depend only on the number of the sweep, the number of documents and the seed, so that a resumed
fit continues exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.executors import Executor
from topoi.engine.gibbs import ChainT, Sampler, sweep_chains
from topoi.errors import ModelError
from topoi.kernels.counts import Documents
from topoi.kernels.jit import compiled
from topoi.kernels.random import new_stream, next_bits
from topoi.models.validation import choice

SPARSE = (False, "counts", "pruned", True)
_FEWEST_AT_FIRST = 100
_FIRST_SHARE = 32
_SWEEPS_PER_STEP = 5
# Shard number in the name of the stream that shuffles documents; no real shard has it.
_SHUFFLE = 2**40
# Sweeps that settle a copy of a chain are numbered from here, so that their random streams are never a chain's own.
_SETTLING = 2**40
# One exact sweep after a pruned one leaves a total variation of about 0.06 on a tiny corpus, two leave none visible.
_EXACT_IN_THE_END = 2
_LEARN_AFTER, _LEARN_EVERY = 20, 10


def resolve_sparse(sparse: bool | str, n_docs: int, n_iter: int) -> bool | str:
    """Return the setting after checking that it is known and that ``n_iter`` sweeps suffice to add all documents.

    Examples
    --------
    >>> from topoi.models.sparse.scheme import resolve_sparse
    >>> resolve_sparse("pruned", 1000, 10)
    'pruned'
    """
    choice("sparse", sparse, SPARSE)
    needed = sweeps_needed(n_docs)
    if sparse is True and n_iter < needed:
        raise ModelError(
            f"n_iter is {n_iter}, but with sparse=True {n_docs:,} documents come in over {needed} sweeps: "
            f'raise n_iter to {needed} at least, better to several times that, or use sparse="pruned"'
        )
    return sparse


def documents_in(n_docs: int, sweep: int) -> int:
    """Number of documents in the chain at the end of a sweep; it doubles every five sweeps.

    Examples
    --------
    >>> from topoi.models.sparse.scheme import documents_in
    >>> [documents_in(64_000, sweep) for sweep in (0, 1, 5, 6, 11, 26)]
    [0, 2000, 2000, 4000, 8000, 64000]
    """
    if sweep < 1:
        return 0
    first = max(_FEWEST_AT_FIRST, -(-n_docs // _FIRST_SHARE))
    return min(n_docs, first * min(2 ** min((sweep - 1) // _SWEEPS_PER_STEP, _FIRST_SHARE), _FIRST_SHARE))


def sweeps_needed(n_docs: int) -> int:
    """The first sweep that has all documents.

    Examples
    --------
    >>> from topoi.models.sparse.scheme import sweeps_needed
    >>> sweeps_needed(50), sweeps_needed(64_000)
    (1, 26)
    """
    sweep = 1
    while documents_in(n_docs, sweep) < n_docs:
        sweep += _SWEEPS_PER_STEP
    return sweep


@compiled
def _random_keys(stream: NDArray[np.uint64], keys: NDArray[np.uint64]) -> None:
    """Fill ``keys`` with random whole numbers."""
    for i in range(keys.shape[0]):
        keys[i] = next_bits(stream) >> np.uint64(1)


def shuffled(n_docs: int, seed: int, chain: int) -> NDArray[np.uint32]:
    """All documents in a random order, one per chain, since corpora are often sorted."""
    keys = np.empty(n_docs, np.uint64)
    _random_keys(new_stream(seed, chain, 0, _SHUFFLE), keys)
    return np.argsort(keys, kind="stable").astype(np.uint32)


@dataclass
class SparseState:
    """State of a chain with sparse counts besides the counts.

    ``order`` is the order in which documents are added, None if all were in from the start, and ``n_in`` the number
    added so far. ``tally`` has, for each shard, the paths that its last sweep considered and the tokens it sampled;
    ``paths_per_token`` is their ratio over all shards in the last pruned sweep, NaN before the first.
    """

    n_docs: int
    n_in: int
    tally: NDArray[np.int64]
    order: NDArray[np.uint32] | None = None
    paths_per_token: float = float("nan")

    @property
    def whole(self) -> bool:
        """Whether all documents have been added."""
        return self.n_in == self.n_docs

    def before_and_new(self, sweep: int, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of documents ``first`` to ``last``: those already in, and those that this sweep adds.

        Numbered from ``first``; the former sorted, the latter in the order in which they are added.
        """
        if self.order is None or self.whole:
            return np.arange(last - first), np.zeros(0, np.int64)
        before = np.sort(self.order[: self.n_in].astype(np.int64))
        new = self.order[self.n_in : documents_in(self.n_docs, sweep)].astype(np.int64)
        return tuple(part[(part >= first) & (part < last)] - first for part in (before, new))  # type: ignore[return-value]


def chosen_tokens(documents: Documents, docs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of some documents' tokens."""
    lengths = np.diff(documents.doc_start)[docs]
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(documents.doc_start[docs] - ends + lengths, lengths)


def chosen_documents(documents: Documents, docs: NDArray[np.int64]) -> tuple[Documents, NDArray[np.int64]]:
    """Some documents, each with a private author, and the positions of their tokens in the corpus."""
    at = chosen_tokens(documents, docs)
    doc_start = np.concatenate(([0], np.cumsum(np.diff(documents.doc_start)[docs]))).astype(np.int64)
    n = len(docs)
    author, start, weight = np.zeros(n, np.int32), np.arange(n + 1), np.ones(n, np.float32)
    return Documents(documents.tokens[at], doc_start, author, start, weight), at


class SparseScheme(Sampler[ChainT]):
    """Mixin of the families' samplers with the common behaviour of sparse chains. ``sparse`` is the setting."""

    sparse: bool | str
    n_docs: int

    @property
    def exact(self) -> bool:
        """Whether every sweep draws from the exact conditional."""
        return self.sparse in (False, "counts")

    def recount(self, chain: ChainT) -> None:
        """Recompute the shared counts from the assignments."""
        raise NotImplementedError  # abstract: each family's own

    def _pruned(self, sweep: int) -> bool:
        """Whether a sweep is pruned: every second one, except settling sweeps."""
        return not self.exact and sweep < _SETTLING and sweep % 2 == 0

    def _learning_due(self, sweep: int) -> bool:
        """Whether hyper-parameters are learned after a sweep: every ten sweeps, from the twentieth on."""
        return _LEARN_AFTER <= sweep < _SETTLING and sweep % _LEARN_EVERY == 0

    def settled(self, chains: list[ChainT], sweep: int, seed: int, executor: Executor) -> list[ChainT]:
        """The chains that estimates are made from: the given ones or, where sweeps are pruned, settled copies.

        A copy has all documents added, and its last sweeps are exact. The running chains are not touched, so they
        continue in the same way wherever a fit is interrupted. Copies depend only on the chains, the seed and the
        sweep.
        """
        if self.exact or sweep == 0:
            return chains
        copies = [self.restore(chain.index, self.to_arrays(chain), chain.trace) for chain in chains]
        n_sweeps = _EXACT_IN_THE_END + (not all(copy.sparse.whole for copy in copies))
        for number in range(n_sweeps):
            sweep_chains(self, copies, _SETTLING + (_EXACT_IN_THE_END + 1) * sweep + number, seed, executor)
        for chain, copy in zip(chains, copies, strict=True):
            copy.sweep, copy.samples = sweep, chain.samples
        return copies

    def _new_state(self, n_shards: int, order: NDArray[np.uint32] | None, n_in: int | None) -> SparseState | None:
        if self.sparse is False:
            return None
        return SparseState(self.n_docs, self.n_docs if n_in is None else n_in, np.zeros((n_shards, 2), np.int64), order)

    def _merge(self, chain: ChainT) -> Callable[[], None] | None:
        """Function that ends a sweep over several shards for list counts, instead of summing differences."""
        if self.sparse is False:
            return None

        def finish() -> None:
            self._settle(chain)
            self.recount(chain)

        return finish

    def _settle(self, chain: ChainT) -> None:
        """Update the state after a sweep: documents added, paths considered."""
        state = chain.sparse
        if state is None:
            return
        state.n_in = max(state.n_in, documents_in(self.n_docs, chain.sweep))
        if self._pruned(chain.sweep) and state.tally[:, 1].sum() > 0:
            considered, tokens = state.tally.sum(axis=0)
            state.paths_per_token = float(considered / tokens)

    def _growing(self, chain: ChainT) -> dict[str, NDArray[Any]]:
        """Arrays of the scheme for a checkpoint."""
        state = chain.sparse
        if state is None:
            return {}
        arrays: dict[str, NDArray[Any]] = {"paths_per_token": np.array([state.paths_per_token])}
        if not state.whole:
            arrays |= {"order": state.order, "n_in": np.array([state.n_in])}
        return arrays

    def _restore_state(self, arrays: dict[str, NDArray[Any]], n_shards: int) -> SparseState | None:
        """Restore the state from the arrays of ``_growing``, checked."""
        order, n_in = arrays.get("order"), None
        if order is not None:
            whole = order.dtype == np.uint32 and arrays["n_in"].dtype.kind == "i" and arrays["n_in"].shape == (1,)
            n_in = int(arrays["n_in"].flat[0]) if whole else -1
            fits = np.array_equal(np.sort(order), np.arange(self.n_docs)) and 0 <= n_in <= self.n_docs
            if self.sparse is not True or not fits:
                raise ModelError("the saved order of documents does not fit this corpus")
        state = self._new_state(n_shards, order, n_in)
        if state is not None and "paths_per_token" in arrays:
            state.paths_per_token = float(arrays["paths_per_token"][0])
        return state

    def check_growth(self, chains: list[ChainT], sweep: int) -> None:
        """Raise an error if chains from a file do not have the documents that are in after ``sweep``."""
        expected = documents_in(self.n_docs, sweep) if self.sparse is True else self.n_docs
        for chain in chains:
            if chain.sparse is not None and chain.sparse.n_in != expected:
                raise ModelError(f"{chain.sparse.n_in:,} documents are in, not {expected:,} as after sweep {sweep}")

    def notes(self, chains: list[ChainT]) -> dict[str, Any]:
        """For ``fit_info_``: mean number of paths considered per token in the last pruned sweep.

        If the fit was interrupted while documents were being added, also the number added.
        """
        if self.exact:
            return {}
        each = [chain.sparse.paths_per_token for chain in chains]
        found: dict[str, Any] = {"paths_per_token": None if np.isnan(each).all() else float(np.nanmean(each))}
        if not all(chain.sparse.whole for chain in chains):
            found["documents_in"] = min(chain.sparse.n_in for chain in chains)
        return found
