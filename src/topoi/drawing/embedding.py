"""Neighbour embedding: points in the plane, near each other if their shares are alike.

t-SNE (van der Maaten and Hinton, 2008) with the Hellinger distance between shares, exact nearest neighbours, repulsion
by a Barnes–Hut tree, and a start that depends on the shares alone: no random numbers, and the same bits for any number
of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.drawing.colours import GOLDEN_ANGLE
from topoi.engine.executors import Executor, SerialExecutor
from topoi.kernels import embedding as kernels
from topoi.kernels.neighbours import nearest_rows, neighbour_probabilities

Floats = NDArray[np.float64]
# Function that is told how much of the work is done, 0 to 1.
Progress = Callable[[float], None]

# Of topics, of which there are few: larger ones put fewer topics beside the one that is most like them.
FEW_PERPLEXITY = 3.0
# Steps with neighbours pulled together more strongly, and steps after.
_EARLY, _LATE = 250, 500
_EARLY_PULL = 12.0
_OPENNESS = 0.5
_MOMENTUM = (0.5, 0.8)
_LONGEST_STEP = 5.0
_SMALLEST_RATE = 50.0
_START_SIZE = 1e-4
# Points to a task: threads share the work of a step in pieces of this size.
_AT_ONCE = 2048
# So few points need no tree and no threads.
_FEW = 300
_TURNS = 300  # of the iteration for a principal plane


class Pairs(NamedTuple):
    """Probabilities of pairs of neighbours: those of point i are at ``start[i]:start[i + 1]``; all sum to one."""

    start: NDArray[np.int64]
    other: NDArray[np.int32]
    probability: Floats


class SparseRows(NamedTuple):
    """Rows of unit length: those of row r are at ``start[r]:start[r + 1]``."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: NDArray[np.float32]
    n_columns: int


def principal_plane(distance: Floats) -> Floats:
    """Points in the plane whose distances approximate the given ones, roughly: a start for an embedding.

    Classical scaling by orthogonal iteration, without a library of linear algebra, whose bits depend on its threads.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.embedding import principal_plane
    >>> line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    >>> principal_plane(line)[:, 0].round(6).tolist()
    [1.0, 0.0, -1.0]
    """
    squares = distance**2
    centred = (squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares.mean() - squares) / 2.0
    angle = np.arange(len(distance)) * (np.pi / max(len(distance), 1))
    plane = np.stack([np.cos(angle), np.sin(2.0 * angle + 0.5)])
    values = np.zeros(2)
    for _ in range(_TURNS):
        plane = np.einsum("ij,cj->ci", centred, plane)
        for c in range(2):
            if c:
                plane[1] -= (plane[0] * plane[1]).sum() * plane[0]
            values[c] = np.sqrt((plane[c] ** 2).sum())
            plane[c] /= values[c] if values[c] > 1e-9 else np.inf
    return np.asarray((plane * np.sqrt(values)[:, None]).T)


def _ranges(n: int) -> list[tuple[int, int]]:
    return [(first, min(first + _AT_ONCE, n)) for first in range(0, n, _AT_ONCE)]


def by_column(rows: SparseRows) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The same numbers, column by column: starts, rows and values."""
    order = np.argsort(rows.column, kind="stable")
    row = np.repeat(np.arange(len(rows.start) - 1, dtype=np.int32), np.diff(rows.start))
    start = np.concatenate(([0], np.cumsum(np.bincount(rows.column, minlength=rows.n_columns))))
    return start.astype(np.int64), row[order], rows.value[order]


def nearest(rows: SparseRows, k: int, executor: Executor, progress: Progress) -> tuple[NDArray[np.int32], Floats]:
    """The ``k`` nearest other rows of each row, and their squared distances."""
    n = len(rows.start) - 1
    lists = by_column(rows)
    found, squared = np.empty((n, k), np.int32), np.empty((n, k))
    done = 0

    def run(part: tuple[int, int]) -> None:
        nonlocal done
        nearest_rows(*part, k, rows.start, rows.column, rows.value, *lists, found, squared)
        done += part[1] - part[0]
        progress(done / n)

    list(executor.map(run, _ranges(n)))
    return found, squared


def joint_probabilities(found: NDArray[np.int32], squared: Floats, perplexity: float, executor: Executor) -> Pairs:
    """Symmetric probabilities of pairs, (P(j | i) + P(i | j)) / 2n, from each point's nearest neighbours."""
    from scipy.sparse import csr_matrix

    n, k = found.shape
    own = np.empty((n, k))
    # A perplexity near the number of neighbours would make all of them alike.
    wanted = min(perplexity, 1.0 + (k - 1) / 3.0)

    def run(part: tuple[int, int]) -> None:
        neighbour_probabilities(part[0], part[1], squared, wanted, own)

    list(executor.map(run, _ranges(n)))
    start = np.arange(n + 1) * k
    conditional = csr_matrix((own.ravel(), found.ravel(), start), shape=(n, n))
    joint = (conditional + conditional.T).tocsr()
    joint.sort_indices()
    return Pairs(joint.indptr.astype(np.int64), joint.indices.astype(np.int32), joint.data / (2.0 * n))


class Descent:
    """Gradient descent of t-SNE from a start, step by step.

    Parameters
    ----------
    pairs : Pairs
        Probabilities of pairs of neighbours.
    start : array
        Points × 2.
    executor : Executor
        Threads; the bits do not depend on their number.
    openness : float
        Accuracy of the repulsion: 0 is exact, and slow.
    """

    def __init__(
        self, pairs: Pairs, start: Floats, executor: Executor | None = None, openness: float = _OPENNESS
    ) -> None:
        n = len(start)
        self.pairs = pairs
        self.points = np.array(start, np.float64)
        self._executor = executor or SerialExecutor()
        self._openness = openness
        self._velocity, self._gain = np.zeros((n, 2)), np.ones((n, 2))
        self._tree, self._codes = kernels.empty_tree(n), np.empty(n, np.uint64)
        self._push, self._pull, self._total = np.empty((n, 2)), np.empty((n, 2)), np.empty(n)
        self._leaves = np.empty(n, np.int32)
        self._parts = _ranges(n)

    def gradient(self, pull: float = 1.0) -> Floats:
        """Gradient of Σ p log(p / q), with the attraction multiplied by ``pull``."""
        points, pairs = self.points, self.pairs
        side = kernels.curve_codes(points, self._codes)
        order = np.argsort(self._codes, kind="stable")
        ordered = points[order]
        n_cells = kernels.build_tree(self._codes[order], ordered, side, self._tree)

        n_leaves = kernels.leaves_of(self._tree, n_cells, self._leaves)
        near = self._leaves, order, ordered, self._tree, n_cells, self._openness, self._push, self._total

        def forces(part: int) -> None:
            # Pieces of leaves and of points: each thread gets its part of both.
            n_parts = len(self._parts)
            kernels.repulsion(part * n_leaves // n_parts, (part + 1) * n_leaves // n_parts, *near)
            kernels.attraction(*self._parts[part], *pairs, points, self._pull)

        list(self._executor.map(forces, range(len(self._parts))))
        total = max(float(self._total.sum()), 1e-300)
        return np.asarray(4.0 * (pull * self._pull - self._push / total))

    def steps(self, n: int, pull: float, rate: float, momentum: float, progress: Progress) -> None:
        """Move all points ``n`` times; ``progress`` is told the part of these steps that is done."""
        if len(self.points) <= _FEW:
            moving = self.points, self._velocity, self._gain
            kernels.settle(n, pull, rate, momentum, _LONGEST_STEP, *self.pairs, *moving)
            progress(1.0)
            return
        for number in range(n):
            self._step(pull, rate, momentum)
            progress((number + 1) / n)

    def _step(self, pull: float, rate: float, momentum: float) -> None:
        gradient = self.gradient(pull)
        kernels.descend(
            0, len(gradient), rate, momentum, _LONGEST_STEP, gradient, self.points, self._velocity, self._gain
        )


def embedded(
    pairs: Pairs,
    start: Floats,
    executor: Executor | None = None,
    progress: Progress = lambda part: None,
    pull: float = 1.0,
    steps: tuple[int, int] = (_EARLY, _LATE),
) -> Floats:
    """Places of points whose pairs of neighbours have the given probabilities, from a start of any size."""
    size = float(np.std(start, axis=0).max())
    descent = Descent(pairs, (start - start.mean(axis=0)) * (_START_SIZE / size if size > 0 else 1.0), executor)
    rate = max(len(start) / _EARLY_PULL / 4.0, _SMALLEST_RATE)
    early, late = steps
    part = early / (early + late)
    descent.steps(early, _EARLY_PULL, rate, _MOMENTUM[0], lambda done: progress(part * done))
    descent.steps(late, pull, rate, _MOMENTUM[1], lambda done: progress(part + (1.0 - part) * done))
    return descent.points - descent.points.mean(axis=0)


def placed_by_distance(distance: Floats, perplexity: float = FEW_PERPLEXITY) -> Floats:
    """Places of a few points, such as topics, by a neighbour embedding of all distances between them.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.drawing.embedding import placed_by_distance
    >>> two_groups = 1.0 - np.kron(np.eye(2), np.full((4, 4), 0.9))
    >>> np.fill_diagonal(two_groups, 0.0)
    >>> places = placed_by_distance(two_groups)
    >>> apart = np.linalg.norm(places[:, None] - places, axis=2)
    >>> bool(apart[:4, :4].max() < apart[:4, 4:].min())
    True
    """
    n = len(distance)
    start = principal_plane(distance)
    if n < 4:
        return start
    apart = np.where(np.eye(n, dtype=bool), np.inf, distance)
    found = np.argsort(apart, axis=1, kind="stable")[:, : n - 1].astype(np.int32)
    squared = np.take_along_axis(distance, found, axis=1) ** 2
    pairs = joint_probabilities(found, squared, perplexity, SerialExecutor())
    spread = float(np.std(start, axis=0).max() or 1.0)
    return embedded(pairs, start + 0.01 * spread * sunflower(n) / math.sqrt(n))


def sunflower(n: int) -> Floats:
    """Points of a spiral that fill a disc evenly, the first in the middle; the radius is the root of ``n``.

    Examples
    --------
    >>> from topoi.drawing.embedding import sunflower
    >>> sunflower(2).round(2).tolist()
    [[0.0, 0.0], [-0.74, 0.68]]
    """
    angle = np.arange(n) * np.radians(GOLDEN_ANGLE)
    return np.sqrt(np.arange(n))[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
