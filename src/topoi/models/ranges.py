"""Consecutive ranges of documents for work on several threads; results do not depend on the ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.pieces import row_positions
from topoi.engine.executors import open_executor
from topoi.engine.shards import cut

# Words in a range: enough to pay for the call, and some hundredths of a second of the slowest work.
_LONGEST = 10_000

DocumentsT = TypeVar("DocumentsT", bound=NamedTuple)


class HasDocuments(Protocol):
    """Tokens of documents, one after the other."""

    @property
    def doc_start(self) -> NDArray[np.int64]:
        """Offset of each document's first token, then the end of the last document."""
        ...


def document_range(documents: DocumentsT, first: int, last: int) -> DocumentsT:
    """Documents ``first`` to ``last``, counted from zero.

    ``documents`` is a ``Documents``, or another named tuple of tokens, their start, and a list of items with weights:
    items, their start, weights.
    """
    tokens, doc_start, item, item_start, weight = documents
    here, there = slice(doc_start[first], doc_start[last]), slice(item_start[first], item_start[last])
    starts = doc_start[first : last + 1] - doc_start[first], item_start[first : last + 1] - item_start[first]
    return documents._make((tokens[here], starts[0], item[there], starts[1], weight[there]))


def some_documents(documents: DocumentsT, rows: NDArray[np.int64]) -> DocumentsT:
    """Some of the documents, in the order of ``rows``; see ``document_range``.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.kernels.counts import Documents
    >>> from topoi.models.ranges import some_documents
    >>> start = np.array([0, 2, 3])
    >>> documents = Documents(np.array([5, 6, 7]), start, np.array([0, 1, 2]), start, np.ones(3))
    >>> some_documents(documents, np.array([1])).tokens.tolist()
    [7]
    """
    tokens, doc_start, item, item_start, weight = documents
    here, new_start = row_positions(doc_start, rows)
    there, new_item_start = row_positions(item_start, rows)
    return documents._make((tokens[here], new_start, item[there], new_item_start, weight[there]))


def for_documents(run: Callable[[int, int], Any], documents: HasDocuments, n_jobs: int) -> None:
    """Call ``run(first, last)`` for ranges that cover all documents, on ``n_jobs`` threads."""
    for_rows(run, np.diff(documents.doc_start), n_jobs)


def for_rows(run: Callable[[int, int], Any], lengths: NDArray[Any], n_jobs: int) -> None:
    """``for_documents`` for anything with rows of these lengths.

    Ranges are short, so that threads stop soon after an interrupt.
    """
    wanted = max(4 * n_jobs, int(lengths.sum()) // _LONGEST)
    ranges = [r for r in cut(lengths + 1, min(wanted, len(lengths)) or 1) if r[0] < r[1]]
    with open_executor(n_jobs, len(ranges)) as executor:
        list(executor.map(lambda r: run(*r), ranges))
