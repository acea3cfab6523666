"""Documents in consecutive ranges, for work on several threads whose result does not depend on the ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.engine.executors import open_executor
from topoi.engine.shards import cut
from topoi.kernels.counts import Documents


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


def for_documents(run: Callable[[int, int], Any], documents: Documents, n_jobs: int) -> None:
    """Call ``run(first, last)`` for ranges that cover all documents, on ``n_jobs`` threads."""
    for_rows(run, np.diff(documents.doc_start), n_jobs)


def for_rows(run: Callable[[int, int], Any], lengths: NDArray[Any], n_jobs: int) -> None:
    """The same for anything that comes in rows of these lengths."""
    ranges = [r for r in cut(lengths + 1, min(4 * n_jobs, len(lengths)) or 1) if r[0] < r[1]]
    with open_executor(n_jobs, len(ranges)) as executor:
        list(executor.map(lambda r: run(*r), ranges))
