"""Consecutive ranges of documents for work on several threads; results do not depend on the ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.ragged import row_positions
from topoi.engine.executors import open_executor
from topoi.engine.shards import cut
from topoi.kernels.counts import Documents

# Words in a range: enough to pay for the call, and some hundredths of a second of the slowest work.
_LONGEST = 10_000


def document_range(documents: Documents, first: int, last: int) -> Documents:
    """Documents ``first`` to ``last``, counted from zero."""
    tokens = slice(documents.doc_start[first], documents.doc_start[last])
    authors = slice(documents.author_start[first], documents.author_start[last])
    return Documents(
        documents.tokens[tokens],
        documents.doc_start[first : last + 1] - documents.doc_start[first],
        documents.author[authors],
        documents.author_start[first : last + 1] - documents.author_start[first],
        documents.author_weight[authors],
    )


def some_documents(documents: Documents, rows: NDArray[np.int64]) -> Documents:
    """Some of the documents, in the order of ``rows``.

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
    tokens, doc_start = row_positions(documents.doc_start, rows)
    authors, author_start = row_positions(documents.author_start, rows)
    weight = documents.author_weight[authors]
    return Documents(documents.tokens[tokens], doc_start, documents.author[authors], author_start, weight)


def for_documents(run: Callable[[int, int], Any], documents: Documents, n_jobs: int) -> None:
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
