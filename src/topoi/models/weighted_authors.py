"""Documents with their possible authors, as samplers read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class WeightedAuthors:
    """Each document's possible authors with their weights; row ``n_shared`` is the document's private author."""

    author: NDArray[np.int32]
    start: NDArray[np.int64]
    weight: NDArray[np.float32]
    n_shared: int

    @property
    def private_slot(self) -> NDArray[np.int64]:
        """For each document the position of its private author in its list, or -1."""
        slot = np.full(len(self.start) - 1, -1, np.int64)
        where = np.flatnonzero(self.author == self.n_shared)
        doc = np.searchsorted(self.start, where, side="right") - 1
        slot[doc] = where - self.start[doc]
        return slot

    @property
    def all_private(self) -> bool:
        """Whether every document has a private author and no other: the model is LDA."""
        return len(self.author) == len(self.start) - 1 and bool((self.author == self.n_shared).all())

    @classmethod
    def private(cls, n_docs: int, n_shared: int = 0) -> WeightedAuthors:
        """One private author per document."""
        return cls(np.full(n_docs, n_shared, np.int32), np.arange(n_docs + 1), np.ones(n_docs, np.float32), n_shared)

    @classmethod
    def from_csr(
        cls, author: NDArray[Any], start: NDArray[Any], n_shared: int, fictitious: bool, weight: float | None
    ) -> WeightedAuthors:
        """The documents' own authors; a private one for documents without any, and for all if ``fictitious``.

        With a ``weight`` the private author has that prior probability and the others share the rest evenly.
        """
        lengths = np.diff(start)
        extra = (lengths == 0) | fictitious
        new_start = np.concatenate(([0], np.cumsum(lengths + extra))).astype(np.int64)
        authors = np.full(new_start[-1], n_shared, np.int32)
        own = np.ones(len(authors), bool)
        own[new_start[1:][extra] - 1] = False
        authors[own] = author
        weights = np.ones(len(authors), np.float32)
        if weight is not None:
            shared = fictitious & (lengths > 0)
            share = np.repeat(np.where(shared, (1.0 - weight) / np.maximum(lengths, 1), 1.0), lengths + extra)
            weights = np.where(own, share, np.repeat(np.where(shared, weight, 1.0), lengths + extra))
        return cls(authors, new_start, weights.astype(np.float32), n_shared)
