"""Documents of one shard with the rows of their design matrix, as any machine samples them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.corpus.mapped import Scratch
from topoi.kernels.counts import Counts, Documents, Priors
from topoi.kernels.lanes import padded
from topoi.models.author_topic import kernels, word_lists
from topoi.models.author_topic.shards import DocumentShard, clear_private_author
from topoi.models.author_topic.work import AllowedTopics, TopicWork
from topoi.models.dmr.likelihood import TopicCells, alpha_rows, log_counts
from topoi.models.smoothed_counts import count_topics

Array = NDArray[np.float64]


class SentPriors(NamedTuple):
    """Coefficients and beta; every machine computes its documents' alpha from them."""

    coefficients: Array
    beta: NDArray[np.float32]
    beta_sum: float


class RowPriors(NamedTuple):
    """Rows of alpha, one for each document of a shard, padded to whole lanes; and beta."""

    rows: NDArray[np.float32]
    beta: NDArray[np.float32]
    beta_sum: float


class RegressedShard(DocumentShard):
    """Consecutive documents, from number ``first`` of the priors' rows on, each with its own alpha."""

    def __init__(
        self,
        documents: Documents,
        first: int,
        scratch: Scratch | None = None,
        word_times: NDArray[np.int64] | None = None,
    ):
        super().__init__(documents, scratch, word_times)
        self.here = slice(first, first + len(documents.doc_start) - 1)

    def sweep(self, counts: Counts, priors: Any, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        rows = priors.rows[self.here]
        room = Priors(np.zeros(rows.shape[1], np.float32), 0.0, priors.beta, priors.beta_sum)
        state = self.documents, self.assignments, counts, rows, room
        if self.use_lists(counts):
            word_lists.sweep_listed_with_priors(*state, self.word_times, stream)
        else:
            kernels.sweep_with_priors(*state, stream)
        clear_private_author(counts)


class RegressionWork(TopicWork):
    """``TopicWork`` of documents with private authors, and the design matrix of the documents.

    ``first`` is the number of the first document in the rows of a model's own priors. Elsewhere priors come as
    ``SentPriors``, and the rows of these documents are computed when the coefficients change.
    """

    def __init__(
        self,
        documents: Documents,
        n_topics: int,
        n_words: int,
        design: csr_matrix,
        first: int = 0,
        scratch: Scratch | None = None,
        word_times: NDArray[np.int64] | None = None,
        allowed: AllowedTopics | None = None,
    ) -> None:
        super().__init__(documents, n_topics, n_words, 0, False, scratch, word_times, allowed)
        self.design, self._first = design, first
        self._rows: tuple[Array, NDArray[np.float32]] | None = None

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the documents from ``to_arrays``."""
        plain = TopicWork.from_arrays(arrays)
        parts = tuple(np.array(arrays[f"design_{name}"]) for name in ("data", "indices", "indptr"))
        shape = len(plain.documents.doc_start) - 1, int(arrays["n_columns"][0])
        design = csr_matrix(parts, shape)
        sizes, times = (plain.n_topics, plain.n_words), plain.word_times
        return cls(plain.documents, *sizes, design, word_times=times, allowed=plain.allowed)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Documents, sizes, and the design matrix."""
        design = {f"design_{name}": getattr(self.design, name) for name in ("data", "indices", "indptr")}
        return super().to_arrays() | design | {"n_columns": np.array([self.design.shape[1]])}

    def _with(self, documents: Documents, here: slice) -> Self:
        sizes, times, allowed = (self.n_topics, self.n_words), self.word_times, self._allowed_in(here)
        return type(self)(documents, *sizes, self.design[here], word_times=times, allowed=allowed)

    def new(self) -> RegressedShard:
        """A state without assignments."""
        return RegressedShard(self.documents, self._first, self._scratch, self.word_times)

    def _with_rows(self, priors: Any) -> Any:
        """Priors with rows of alpha, those of these documents alone if there were none."""
        if not isinstance(priors, SentPriors):
            return priors
        known = self._rows
        if known is None or not np.array_equal(known[0], priors.coefficients):
            rows = np.zeros((self.design.shape[0], padded(self.n_topics)), np.float32)
            rows[:, : self.n_topics] = alpha_rows(self.design, priors.coefficients)
            if self.allowed is not None:
                rows[:, : self.n_topics] *= self.allowed[0][self.allowed[1]]
            self._rows = known = np.array(priors.coefficients), rows
        return RowPriors(known[1], priors.beta, priors.beta_sum)

    def sweep(self, state: Any, counts: Counts, priors: Any, stream: NDArray[np.uint64]) -> None:
        """Sample every token once."""
        state.sweep(counts, self._with_rows(priors), stream)

    def log_joint(self, state: Any, counts: Any, priors: Any) -> float:
        """log P(topics | coefficients) of the documents, with their distributions integrated out."""
        rows = self._with_rows(priors).rows[state.here, : self.n_topics].astype(np.float64)
        return float(log_counts(self.statistics(state, priors), rows))

    def statistics(self, state: Any, priors: Any) -> TopicCells:  # type: ignore[override]  # of another kind of prior
        """Topic counts of the documents."""
        doc_start = self.documents.doc_start
        start, column, number = count_topics(doc_start, state.in_document_order().topic, self.n_topics)
        lengths = np.diff(doc_start).astype(np.float64)
        return TopicCells(start, column.astype(np.int64), number.astype(np.float64), lengths)


def joined_cells(parts: list[TopicCells]) -> TopicCells:
    """Counts of the documents of all parts.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.dmr.likelihood import TopicCells
    >>> from topoi.models.dmr.work import joined_cells
    >>> one = TopicCells(np.array([0, 1]), np.array([2]), np.array([5.0]), np.array([5.0]))
    >>> joined_cells([one, one]).start.tolist()
    [0, 1, 2]
    """
    before = np.cumsum([0] + [len(part.topic) for part in parts])
    starts = [part.start[:-1] + first for part, first in zip(parts, before, strict=False)]
    topic, number, total = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("topic", "number", "total")
    )
    return TopicCells(np.concatenate([*starts, before[-1:]]), topic, number, total)
