"""Layout of documents: a place on a map for each, near others with similar shares of topics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.drawing.embedding import (
    Floats,
    Progress,
    SparseRows,
    embedded,
    joint_probabilities,
    nearest,
    placed_by_distance,
    sunflower,
)
from topoi.engine.executors import Executor, open_executor, resolve_jobs
from topoi.models.contract import ModelLike
from topoi.models.smoothed_counts import Cells, blocks

PERPLEXITY = 30.0
_NEIGHBOURS = 3 * int(PERPLEXITY)
# Neighbours of all are found in about this many multiplications, by fewer topics of each document if there are many.
_PRODUCTS = 1.2e10
_FEWEST_TOPICS, _MOST_TOPICS = 8, 64
# Attraction in the last steps: above 1, groups are denser and stand farther apart.
_PULL = 1.0
_DIGITS = 6
# Parts of the work, for the progress: neighbours, then steps.
_FOR_NEIGHBOURS = 0.25


def document_places(
    model: ModelLike, *, n_jobs: int | None = -1, progress: Progress | None = None
) -> NDArray[np.float64]:
    """A place on a map for each training document: documents × 2, nan for a document without words.

    A neighbour embedding (t-SNE) of the documents' shares of topics in the first chain, by Hellinger distances. Of
    models whose mixtures follow from counts, shares are not smoothed: a prior makes short documents alike. Places are
    between 0 and 1 with the longer side of the map filling that range, and depend on the shares alone: no random
    numbers, and the same bits for any number of threads.

    Parameters
    ----------
    model : fitted model or ModelView
        A model with topics.
    n_jobs : int, optional
        Number of threads; -1 is one for each core.
    progress : callable, optional
        Function that is told the part done, 0 to 1, again and again. An exception from it ends the work.

    Examples
    --------
    >>> import topoi
    >>> from topoi.drawing.document_layout import document_places
    >>> corpus = topoi.Corpus.from_tokens([["sun", "star"], ["cell", "gene"]] * 10)
    >>> places = document_places(topoi.LDA(2, alpha=0.1, n_iter=50, random_state=0).fit(corpus))
    >>> places.shape, float(places.min()), float(places.max())
    ((20, 2), 0.0, 1.0)
    """
    chain = model.chains_[0]
    n_docs = len(chain.documents)
    has_words = chain.documents.totals > 0
    places = np.full((n_docs, 2), np.nan)
    number = np.cumsum(has_words) - 1
    cells = ((number[doc], topic, share) for doc, topic, share in _share_cells(chain))
    most = topics_of_each(int(has_words.sum()), chain.n_topics)
    rows = root_rows(cells, int(has_words.sum()), chain.n_topics, most)
    places[has_words] = row_places(rows, n_jobs=n_jobs, progress=progress)
    return places


def _share_cells(chain: Any) -> Iterator[Cells]:
    """Shares of topics in documents that have words: documents, topics, shares, in blocks."""
    totals = chain.documents.totals
    if chain.mixtures_are_counts:
        yield from chain.documents.cell_blocks()
        return
    for part in blocks(len(totals)):
        shares = chain.mixtures[part]
        doc, topic = np.nonzero((shares > 0) & (totals[part, None] > 0))
        yield doc + part.start, topic, shares[doc, topic]


def topics_of_each(n_docs: int, n_topics: int) -> int:
    """Number of leading topics by which each document is compared.

    Examples
    --------
    >>> from topoi.drawing.document_layout import topics_of_each
    >>> topics_of_each(1000, 20), topics_of_each(62_444, 300), topics_of_each(200_000, 40)
    (20, 30, 8)
    """
    affordable = math.isqrt(int(_PRODUCTS * n_topics / max(n_docs, 1) ** 2))
    return min(n_topics, max(_FEWEST_TOPICS, min(_MOST_TOPICS, affordable)))


def root_rows(cells: Iterator[Cells], n_rows: int, n_columns: int, most: int) -> SparseRows:
    """Square roots of the largest ``most`` shares of each row, scaled to unit length.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.document_layout import root_rows
    >>> rows = root_rows(iter([(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([9.0, 1.0, 16.0]))]), 1, 3, 2)
    >>> rows.column.tolist(), rows.value.astype(float).round(1).tolist()
    ([0, 2], [0.6, 0.8])
    """
    parts = [_leading(*block, most) for block in cells]
    empty = np.zeros(0, np.int64)
    row, column, share = (np.concatenate(part) for part in zip(*(parts or [(empty, empty, np.zeros(0))]), strict=True))
    total = np.bincount(row, share, n_rows)
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=n_rows)))).astype(np.int64)
    return SparseRows(start, column.astype(np.int32), np.sqrt(share / total[row]).astype(np.float32), n_columns)


def _leading(row: NDArray[Any], column: NDArray[Any], share: NDArray[Any], most: int) -> Cells:
    """Cells with the largest shares of each row, ties to the lower column, in their order."""
    order = np.lexsort((column, -share, row))
    ordered = row[order]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, side="left")
    kept = np.sort(order[rank < most])
    return row[kept], column[kept], share[kept]


def row_places(rows: SparseRows, *, n_jobs: int | None = -1, progress: Progress | None = None) -> Floats:
    """Places of rows of unit length on a map: rows × 2, between 0 and 1. Equal rows lie side by side."""
    tell = progress or (lambda part: None)
    first, group = _distinct(rows)
    with open_executor(resolve_jobs(n_jobs), len(first)) as executor:
        own = _some(rows, first) if len(first) < len(group) else rows
        points = _distinct_places(own, executor, tell)
    return framed(_side_by_side(points, group))


def _distinct_places(rows: SparseRows, executor: Executor, tell: Progress) -> Floats:
    """Places of rows that all differ."""
    n = len(rows.start) - 1
    if n < 3:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:n]
    k = min(_NEIGHBOURS, n - 1)
    found, squared = nearest(rows, k, executor, lambda part: tell(_FOR_NEIGHBOURS * part))
    pairs = joint_probabilities(found, squared, PERPLEXITY, executor)
    later = lambda part: tell(_FOR_NEIGHBOURS + (1 - _FOR_NEIGHBOURS) * part)  # noqa: E731
    return embedded(pairs, start_of(rows), executor, later, _PULL)


def start_of(rows: SparseRows) -> Floats:
    """First places of rows: means of their columns' places, by shares; rows with equal means lie on a spiral."""
    n = len(rows.start) - 1
    row = np.repeat(np.arange(n), np.diff(rows.start))
    columns = column_places(rows)
    share = rows.value.astype(np.float64) ** 2
    means = np.stack([np.bincount(row, share * columns[rows.column, c], n) for c in (0, 1)], axis=1)
    return means + 0.01 * float(np.std(means, axis=0).max() or 1.0) * sunflower(n) / math.sqrt(n)


def column_places(rows: SparseRows) -> Floats:
    """Places of columns, near each other if the same rows have them: a neighbour embedding of their cosines."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((rows.value.astype(np.float64), rows.column, rows.start), (len(rows.start) - 1, rows.n_columns))
    products = (matrix.T @ matrix).toarray()
    length = np.sqrt(np.maximum(products.diagonal(), 1e-12))
    return placed_by_distance(np.sqrt(np.maximum(2.0 - 2.0 * products / (length[:, None] * length), 0.0)))


def _distinct(rows: SparseRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First of each set of equal rows, and the set of each row."""
    size = np.diff(rows.start)
    n, widest = len(size), int(size.max(initial=0))
    packed = np.zeros((n, widest), [("column", np.int32), ("value", np.float32)])
    packed["column"] = -1
    row = np.repeat(np.arange(n), size)
    at = np.arange(len(row)) - rows.start[row]
    packed["column"][row, at], packed["value"][row, at] = rows.column, rows.value
    whole = np.ascontiguousarray(packed).view(np.dtype((np.void, max(packed.dtype.itemsize * widest, 1))))
    _, first, group = np.unique(whole.ravel() if widest else np.zeros(n), return_index=True, return_inverse=True)
    # Sets are numbered by their first rows, so that places do not depend on how numbers are packed.
    order = np.argsort(first, kind="stable")
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(first))
    return first[order], number[group.ravel()]


def _some(rows: SparseRows, chosen: NDArray[np.int64]) -> SparseRows:
    size = np.diff(rows.start)[chosen]
    start = np.concatenate(([0], np.cumsum(size)))
    at = np.arange(start[-1]) - np.repeat(start[:-1], size) + np.repeat(rows.start[chosen], size)
    return SparseRows(start, rows.column[at], rows.value[at], rows.n_columns)


def _side_by_side(points: Floats, group: NDArray[np.int64]) -> Floats:
    """Points of sets, one for each member: members lie on a small spiral around their set's point."""
    if len(points) == len(group):
        return points
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered, side="left")
    step = (
        0.3 * float(np.sqrt(np.prod(np.maximum(np.ptp(points, axis=0), 1e-3)) / len(group))) if len(points) > 1 else 1.0
    )
    return np.asarray(points[group] + step * sunflower(int(rank.max()) + 1)[rank])


def framed(points: Floats) -> Floats:
    """Points turned so that the map is widest from left to right, and scaled to 0 to 1 along its longer side."""
    if not len(points):
        return points
    centred = points - points.mean(axis=0)
    x, y = centred[:, 0], centred[:, 1]
    angle = 0.5 * math.atan2(2.0 * float((x * y).sum()), float((x * x).sum()) - float((y * y).sum()))
    cos, sin = math.cos(angle), math.sin(angle)
    turned = np.stack([cos * x + sin * y, cos * y - sin * x], axis=1)
    low, high = turned.min(axis=0), turned.max(axis=0)
    size = float((high - low).max())
    return np.round(0.5 + (turned - (low + high) / 2.0) / (size or 1.0), _DIGITS)
