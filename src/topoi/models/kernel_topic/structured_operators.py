"""The default kernel of very many documents, exact, without the matrix between them.

Documents that share no name are all at distance 1 in names. For such a pair ``Proximity`` depends on the other features
alone, which have few distinct values: years, say. So the matrix is Z T Zᵀ + S: Z maps documents to their values, T is
the kernel between the values for different names, and S is sparse: the difference for pairs that share a name.
Documents without any name are alike in that; having none is part of the value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.gaussian_process.kernels import Kernel

from topoi.models.features.columns import Column, Names, Number
from topoi.models.features.table import FeatureTable, as_dense
from topoi.models.kernel_topic.covariances import Proximity, squared_distances
from topoi.models.kernel_topic.gaussian_process import Each, serially
from topoi.models.kernel_topic.kernels import multiply_rows
from topoi.models.kernel_topic.operators import Places, pivoted_factor

Array = NDArray[np.float64]
# Largest number of pairs, at about 50 bytes each: 1 GB.
MOST_PAIRS = 20_000_000
# Largest number of levels of a category that may be part of the distinct values.
_MOST_LEVELS = 500
# Largest number of columns of T's factor; at most one per distinct value.
_MOST_COLUMNS = 1000
# Number of ranges of rows, for any number of threads.
_RANGES = 16
# Share of the most similar documents that share a name with the given one.
_SHARING = 0.5


class Pairs(NamedTuple):
    """Pairs that share a name, in rows, with the squared distance in every feature, unscaled.

    ``far`` is the distance if the pair shared no name.
    """

    start: NDArray[np.int64]
    other: NDArray[np.int64]
    squares: Array
    far: NDArray[np.float32]


class Structure(NamedTuple):
    """The part of the operator that does not depend on length scales.

    ``named`` tells for each feature of the kernel whether its names make the sparse part. ``points`` are the distinct
    values, one array per feature: coordinates or, for such names, whether there are none; ``value`` is the number of
    each document's value.
    """

    blocks: list[slice]
    named: list[bool]
    coordinates: csr_matrix
    points: list[Array]
    value: Places
    pairs: Pairs

    @classmethod
    def of(cls, kernel: Kernel, table: FeatureTable | None) -> Structure | None:
        """Structure of a kernel at the training documents; None if it has none, or too many pairs."""
        if table is None or not isinstance(kernel, Proximity) or not isinstance(table.coordinates, csr_matrix):
            return None
        columns = [table.column(name) for name in kernel.features]
        if not all(isinstance(column, Names | Number) for column in columns):
            return None
        blocks = [slice(*block) for block in kernel.blocks]
        n_pairs = [_n_pairs(column, table.coordinates[:, b]) for column, b in zip(columns, blocks, strict=True)]
        named = [_makes_pairs(column, n) for column, n in zip(columns, n_pairs, strict=True)]
        if sum(n for n, is_named in zip(n_pairs, named, strict=True) if is_named) > MOST_PAIRS:
            return None
        parts = value_parts(blocks, named, table.coordinates)
        _, first, value = np.unique(np.hstack(parts), axis=0, return_index=True, return_inverse=True)
        pairs = _pairs(blocks, named, table.coordinates, table.coordinates, itself=False)
        return cls(blocks, named, table.coordinates, [part[first] for part in parts], value.ravel(), pairs)


def value_parts(blocks: list[slice], named: list[bool], rows: csr_matrix) -> list[Array]:
    """Part of each feature in documents' values: its coordinates or, for names, whether there are none."""
    # The last coordinates of names are for documents without any, and for names that no training document has.
    return [
        np.sqrt(2.0) * as_dense(rows[:, b.stop - 2 : b.stop - 1]) if is_named else as_dense(rows[:, b])
        for b, is_named in zip(blocks, named, strict=True)
    ]


def _n_pairs(column: Column, rows: csr_matrix) -> int:
    if not isinstance(column, Names):
        return 0
    return int((np.bincount(rows.indices, minlength=column.width)[:-2].astype(np.float64) ** 2).sum())


def _makes_pairs(column: Column, n_pairs: int) -> bool:
    """Whether a feature's names are in the sparse part; a category of few values has too many pairs for that."""
    if not isinstance(column, Names):
        return False
    return not (column.single and len(column.levels) <= _MOST_LEVELS and n_pairs > MOST_PAIRS // 4)


def _pairs(blocks: list[slice], named: list[bool], rows: csr_matrix, others: csr_matrix, itself: bool) -> Pairs:
    """All pairs of a row and another that share a name; with ``itself``, also those at the same position."""
    alike = [
        rows[:, b.start : b.stop - 2] @ others[:, b.start : b.stop - 2].T if is_named else None
        for b, is_named in zip(blocks, named, strict=True)
    ]
    joint = csr_matrix((rows.shape[0], others.shape[0]))
    for each in alike:
        joint = joint if each is None else joint + each
    joint = csr_matrix(joint)
    joint.sort_indices()
    one = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    other = joint.indices.astype(np.int64)
    if not itself:
        one, other = one[one != other], other[one != other]
    squares, far = np.empty((len(blocks), len(one))), np.empty((len(blocks), len(one)), np.float32)
    values = zip(value_parts(blocks, named, rows), value_parts(blocks, named, others), strict=True)
    for i, (similar, (mine, theirs)) in enumerate(zip(alike, values, strict=True)):
        if similar is None:
            squares[i] = ((mine[one] - theirs[other]) ** 2).sum(axis=1)
        else:
            far[i] = 1.0 - (mine[one] * theirs[other])[:, 0]
            # Rows have length 1/√2; where all names are the same the distance is exactly zero.
            found = far[i] - 2.0 * np.asarray(similar[one, other]).ravel()
            squares[i] = np.where(found > 1e-9, found, 0.0)
    start = np.concatenate(([0], np.cumsum(np.bincount(one, minlength=rows.shape[0]))))
    return Pairs(start.astype(np.int64), other, squares, far[named])


class _Scaled:
    """The two parts of the kernel at given length scales."""

    def __init__(self, structure: Structure, kernel: Proximity) -> None:
        self.structure, self.kernel = structure, kernel
        self._weights = 1.0 / np.atleast_1d(kernel.length_scale) ** 2
        self.n_points = len(structure.points[0])

    def smooth(self, parts: list[Array]) -> Array:
        """T between some values, one array per feature, and all distinct ones."""
        q = np.zeros((len(parts[0]), self.n_points))
        features = zip(self._weights, self.structure.named, parts, self.structure.points, strict=True)
        for weight, named, some, points in features:
            q += weight * (1.0 - some @ points.T if named else squared_distances(some, points))
        return self.kernel.profile(q)

    def own(self) -> Array:
        """T between each distinct value and itself."""
        named = [w * (1.0 - points[:, 0] ** 2) for w, points in self._terms(self.structure.points)]
        return self.kernel.profile(np.sum(named, axis=0) if named else np.zeros(self.n_points))

    def _terms(self, rows: Iterable[Array]) -> list[tuple[float, Array]]:
        return [(w, row) for w, named, row in zip(self._weights, self.structure.named, rows, strict=True) if named]

    def extra(self, pairs: Pairs) -> Array:
        """Difference from T of each pair that shares a name."""
        near = self._weights @ pairs.squares
        far = near.copy()
        for (weight, squares), apart in zip(self._terms(pairs.squares), pairs.far, strict=True):
            far += weight * (apart - squares)
        return self.kernel.profile(near) - self.kernel.profile(far)


class StructuredOperator:
    """Z T Zᵀ + S at given length scales, an ``Operator``.

    Examples
    --------
    >>> import numpy as np
    >>> import topoi
    >>> from topoi.models.features.table import FeatureTable
    >>> from topoi.models.kernel_topic.kernel_forms import bind
    >>> from topoi.models.kernel_topic.structured_operators import Structure, StructuredOperator
    >>> corpus = topoi.Corpus.from_tokens([["a"]] * 3, authors=["Ann", "Ann", "Bob"], dates=[1999, 2001, 2001])
    >>> table = FeatureTable.learn(corpus, ["year", "authors"], sparse=True)
    >>> kernel = bind(topoi.Proximity(length_scale=[2.0, 1.0]), table)
    >>> operator = StructuredOperator(Structure.of(kernel, table), kernel)
    >>> bool(np.allclose(operator.times(np.eye(3)), kernel(table.coordinates)))
    True
    """

    def __init__(self, structure: Structure, kernel: Proximity) -> None:
        self.structure, self._scaled = structure, _Scaled(structure, kernel)
        self.value, n_points = structure.value, self._scaled.n_points
        pairs, n_docs = structure.pairs, len(structure.value)
        self.factor = pivoted_factor(self._scaled.own(), self._column, _MOST_COLUMNS)
        self.rest = np.maximum(1.0 - (self.factor**2).sum(axis=1), 0.0)[self.value]
        self._sparse = csr_matrix((self._scaled.extra(pairs), pairs.other, pairs.start), shape=(n_docs, n_docs))
        # Documents of one value in a fixed random order, so that any few represent all.
        shuffled = np.random.default_rng(0).permutation(n_docs)
        self._order = shuffled[np.argsort(self.value[shuffled], kind="stable")]
        self._start = np.searchsorted(self.value[self._order], np.arange(n_points + 1))
        self._members: Any = csr_matrix((np.ones(n_docs), self._order, self._start), shape=(n_points, n_docs))

    def _column(self, point: int) -> Array:
        return self._scaled.smooth([p[point : point + 1] for p in self.structure.points])[0]

    def times(self, columns: Array, each: Each = serially) -> Array:
        """Matrix times columns; O((pairs + documents + values × columns of the factor) × columns)."""
        pairs, columns = self.structure.pairs, np.ascontiguousarray(columns)
        found = np.empty_like(columns)
        cuts = np.linspace(0, len(columns), _RANGES + 1).astype(np.int64)

        def part(i: int) -> None:
            multiply_rows(pairs.start, pairs.other, self._sparse.data, columns, cuts[i], cuts[i + 1], found)

        each(part, _RANGES)
        smooth = self.factor @ (self.factor.T @ (self._members @ columns))
        found += smooth[self.value]
        found += self.rest[:, None] * columns
        return found

    def among(self, docs: Places) -> Array:
        """Matrix between some documents."""
        rows = self.factor[self.value[docs]]
        found = rows @ rows.T + self._sparse[docs][:, docs].toarray()
        found[np.diag_indices_from(found)] += self.rest[docs]
        return np.asarray(found)

    def related(self, doc: int) -> Places:
        """The documents that share a name with one, itself first."""
        pairs = self.structure.pairs
        return np.concatenate(([doc], pairs.other[pairs.start[doc] : pairs.start[doc + 1]]))

    def nearest(self, doc: int, most: int) -> Places:
        """The documents most similar to one, itself first; half of them share a name, if there are as many."""
        at = slice(self._sparse.indptr[doc], self._sparse.indptr[doc + 1])
        row = self.factor @ self.factor[self.value[doc]]
        found = self._nearest(self._sparse.indices[at], self._sparse.data[at], row, most)
        return np.concatenate(([doc], found[found != doc][: most - 1]))

    def _nearest(self, sharing: NDArray[Any], extra: Array, smooth: Array, most: int) -> Places:
        close = sharing[np.argsort(-extra, kind="stable")[: int(_SHARING * most)]]
        rest: list[Places] = []
        n_found = 0
        for point in np.argsort(-smooth, kind="stable"):
            rest.append(self._order[self._start[point] : self._start[point] + most])
            rest[-1] = rest[-1][: self._start[point + 1] - self._start[point]]
            n_found += len(rest[-1])
            if n_found >= most + len(close):
                break
        others = np.concatenate(rest)
        others = others[~np.isin(others, close)][: most - len(close)]
        return np.concatenate((close, others)).astype(np.int64)

    def cross(self, coordinates: Any, diagonal: float | None = None) -> StructuredCross:
        """Operator between new documents, by their coordinates, and these."""
        return StructuredCross(self, coordinates)


class StructuredCross:
    """Operator between new documents and the training documents, a ``Cross``."""

    def __init__(self, operator: StructuredOperator, coordinates: Any) -> None:
        structure, scaled = operator.structure, operator._scaled
        n_new, n_docs = coordinates.shape[0], len(structure.value)
        pairs = _pairs(structure.blocks, structure.named, coordinates, structure.coordinates, itself=True)
        self._operator, self._smooth = (
            operator,
            scaled.smooth(value_parts(structure.blocks, structure.named, coordinates)),
        )
        self._sparse = csr_matrix((scaled.extra(pairs), pairs.other, pairs.start), shape=(n_new, n_docs))
        self.own = np.ones(n_new)

    def times(self, columns: Array) -> Array:
        """Matrix (new × training documents) times columns."""
        return np.asarray(self._smooth @ (self._operator._members @ columns) + self._sparse @ columns)

    def nearest(self, row: int, most: int) -> Places:
        """The training documents most similar to a new one; half of them share a name, if there are as many."""
        at = slice(self._sparse.indptr[row], self._sparse.indptr[row + 1])
        return self._operator._nearest(self._sparse.indices[at], self._sparse.data[at], self._smooth[row], most)

    def between(self, row: int, docs: Places) -> Array:
        """Values between a new document and some training documents."""
        found = self._smooth[row, self._operator.value[docs]]
        return np.asarray(found + self._sparse[row, docs].toarray().ravel())
