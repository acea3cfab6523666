"""Matrix-free covariance operators for very many documents (cf. scipy ``LinearOperator``).

An operator stands for the matrix that all topics share (the *shape*): ``times`` multiplies by it; ``factor[value]`` is
a factor of its smooth part, of few columns, and ``rest`` what that leaves of its diagonal. The preconditioner is made
from these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from topoi.models.features.table import Coordinates
from topoi.models.kernel_topic.gaussian_process import Each, serially

Array = NDArray[np.float64]
Places = NDArray[np.int64]

# Largest number of columns of a factor that is used only by a preconditioner.
_DENSE_COLUMNS = 32
_TOLERANCE = 1e-10


class Cross(Protocol):
    """Operator of the shape between new documents and the training documents."""

    own: Array

    def times(self, columns: Array) -> Array:
        """Matrix (new × training documents) times columns."""
        ...

    def nearest(self, row: int, most: int) -> Places:
        """The training documents most similar to a new one, at most ``most``."""
        ...

    def between(self, row: int, docs: Places) -> Array:
        """Values between a new document and some training documents."""
        ...


class Operator(Protocol):
    """Operator of the shape between the training documents."""

    value: Places
    factor: Array
    rest: Array

    def times(self, columns: Array, each: Each = serially) -> Array:
        """Matrix times columns."""
        ...

    def among(self, docs: Places) -> Array:
        """Matrix between some documents."""
        ...

    def nearest(self, doc: int, most: int) -> Places:
        """The documents most similar to one, itself first, at most ``most``."""
        ...

    def related(self, doc: int) -> Places:
        """The documents that share a name with one, itself included."""
        ...

    def cross(self, coordinates: Coordinates, diagonal: float | None = None) -> Cross:
        """Operator between new documents and these."""
        ...


def pivoted_factor(diagonal: Array, column: Callable[[int], Array], most: int) -> Array:
    """Columns F with F Fᵀ near a matrix that is read only column by column: pivoted Cholesky.

    It ends when no diagonal entry above 1e-10 of the largest is left, or at ``most`` columns.
    """
    left = diagonal.copy()
    found: list[Array] = []
    scale = float(left.max(initial=0.0))
    for _ in range(min(most, len(left))):
        pivot = int(np.argmax(left))
        if left[pivot] <= _TOLERANCE * scale:
            break
        new = column(pivot)
        if found:
            so_far = np.stack(found, axis=1)
            new = new - so_far @ so_far[pivot]
        new = new / np.sqrt(left[pivot])
        found.append(new)
        left = np.maximum(left - new**2, 0.0)
        left[pivot] = 0.0
    return np.stack(found, axis=1) if found else np.zeros((len(left), 0))


class DenseOperator:
    """Matrix of any kernel, held in memory."""

    def __init__(self, matrix: Array, between: Callable[[Any, Any], tuple[Array, Array]]) -> None:
        self.matrix, self._between = matrix, between
        diagonal = np.diag(matrix).copy()
        self.value = np.arange(len(matrix))
        self.factor = pivoted_factor(diagonal, lambda pivot: matrix[:, pivot], _DENSE_COLUMNS)
        self.rest = np.maximum(diagonal - (self.factor**2).sum(axis=1), 0.0)

    def times(self, columns: Array, each: Each = serially) -> Array:
        """Matrix times columns; O(documents² × columns)."""
        return self.matrix @ columns

    def among(self, docs: Places) -> Array:
        """Matrix between some documents."""
        return self.matrix[np.ix_(docs, docs)]

    def nearest(self, doc: int, most: int) -> Places:
        """The documents most similar to one, itself first."""
        others = _largest(self.matrix[doc], most)
        return np.concatenate(([doc], others[others != doc][: most - 1]))

    def related(self, doc: int) -> Places:
        """The document itself only: names are unknown here."""
        return np.array([doc])

    def cross(self, coordinates: Coordinates, diagonal: float | None = None) -> DenseCross:
        """Operator between new documents and these."""
        return DenseCross(*self._between(coordinates, diagonal))


class DenseCross:
    """Matrix of any kernel between new and training documents."""

    def __init__(self, matrix: Array, own: Array) -> None:
        self._matrix, self.own = matrix, own

    def times(self, columns: Array) -> Array:
        """Matrix (new × training documents) times columns."""
        return self._matrix @ columns

    def nearest(self, row: int, most: int) -> Places:
        """The training documents most similar to a new one."""
        return _largest(self._matrix[row], most)

    def between(self, row: int, docs: Places) -> Array:
        """Values between a new document and some training documents."""
        return self._matrix[row, docs]


def _largest(values: Array, most: int) -> Places:
    return np.argsort(-values, kind="stable")[:most]
