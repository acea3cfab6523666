"""The default kernel of very many documents, exactly, without the matrix between them.

Documents that share no name are all at distance 1 in names. What ``Proximity`` says of such a pair depends on the other
features alone, of which there are few distinct values: years, say. So the matrix is Z T Zᵀ + S: Z tells which value
each document has, T is the kernel between the values at names that differ, and S is sparse: what pairs that do share a
name have in addition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from topoi.models.features.columns import Names, Number
from topoi.models.features.table import FeatureTable, as_dense, is_sparse
from topoi.models.kernel_topic.covariances import Proximity, squared_distances
from topoi.models.kernel_topic.gaussian_process import Each, serially
from topoi.models.kernel_topic.operators import Places, pivoted_factor
from topoi.models.kernel_topic.sparse_rows import multiply_rows

Array = NDArray[np.float64]
# Some 50 bytes each: about 1 GB.
MOST_PAIRS = 20_000_000
# A category of so many values at most may be one of the few distinct values.
_MOST_LEVELS = 500
# Columns of T's factor; there are as many as distinct values, or fewer.
_MOST_COLUMNS = 1000
# Rows are cut into so many ranges for any number of threads.
_RANGES = 16
# Of the documents that stand for all others, so many share a name with the one in question.
_SHARING = 0.5


class Pairs(NamedTuple):
    """Pairs that share a name, in rows: of each the squared distance in every feature, unscaled."""

    start: NDArray[np.int64]
    other: NDArray[np.int64]
    squares: Array


class Structure(NamedTuple):
    """What does not change when length scales are learned.

    ``named`` says of each feature of the kernel whether its names make the sparse part; ``points`` are the distinct
    values of the others, one array per feature, and ``value`` tells which of them a document has.
    """

    blocks: list[slice]
    named: list[bool]
    coordinates: Any
    points: list[Array]
    value: Places
    pairs: Pairs

    @classmethod
    def of(cls, kernel: Any, table: FeatureTable | None) -> Structure | None:
        """The structure of a kernel at the training documents; None if it has none, or too many pairs."""
        if table is None or not isinstance(kernel, Proximity) or not is_sparse(table.coordinates):
            return None
        columns = [table.column(name) for name in kernel.features]
        if not all(isinstance(column, Names | Number) for column in columns):
            return None
        blocks = [slice(*block) for block in kernel.blocks]
        n_pairs = [_n_pairs(table.coordinates[:, block]) for block in blocks]
        named = [_makes_pairs(column, n) for column, n in zip(columns, n_pairs, strict=True)]
        if sum(n for n, is_named in zip(n_pairs, named, strict=True) if is_named) > MOST_PAIRS:
            return None
        smooth = [as_dense(table.coordinates[:, b]) for b, is_named in zip(blocks, named, strict=True) if not is_named]
        first, value = _distinct(smooth, table.coordinates.shape[0])
        pairs = _pairs(blocks, named, table.coordinates, table.coordinates, itself=False)
        return cls(blocks, named, table.coordinates, [part[first] for part in smooth], value, pairs)


def _n_pairs(rows: csr_matrix) -> int:
    return int((np.bincount(rows.indices, minlength=1).astype(np.float64) ** 2).sum())


def _makes_pairs(column: Any, n_pairs: int) -> bool:
    """Whether a feature's names are in the sparse part; a category of few values has too many pairs for that."""
    if not isinstance(column, Names):
        return False
    return not (column.single and len(column.levels) <= _MOST_LEVELS and n_pairs > MOST_PAIRS // 4)


def _distinct(parts: list[Array], n_docs: int) -> tuple[Places, Places]:
    """Where each distinct row occurs first, and which of them every document has."""
    if not parts:
        return np.zeros(1, np.int64), np.zeros(n_docs, np.int64)
    _, first, value = np.unique(np.hstack(parts), axis=0, return_index=True, return_inverse=True)
    return first, value.ravel()


def _pairs(blocks: list[slice], named: list[bool], rows: Any, others: Any, itself: bool) -> Pairs:
    """All pairs of a row and another that share a name; with ``itself``, also those at the same place."""
    alike = [rows[:, b] @ others[:, b].T if is_named else None for b, is_named in zip(blocks, named, strict=True)]
    joint = csr_matrix((rows.shape[0], others.shape[0]))
    for each in alike:
        joint = joint if each is None else joint + each
    joint = csr_matrix(joint)
    joint.sort_indices()
    one = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    other = joint.indices.astype(np.int64)
    if not itself:
        one, other = one[one != other], other[one != other]
    squares = np.empty((len(blocks), len(one)))
    for i, (block, similar) in enumerate(zip(blocks, alike, strict=True)):
        if similar is None:
            away = as_dense(rows[:, block])[one] - as_dense(others[:, block])[other]
            squares[i] = (away**2).sum(axis=1)
        else:
            # Rows have the length 1/√2; where all names are the same the distance is zero, exactly.
            found = 1.0 - 2.0 * np.asarray(similar[one, other]).ravel()
            squares[i] = np.where(found > 1e-9, found, 0.0)
    start = np.concatenate(([0], np.cumsum(np.bincount(one, minlength=rows.shape[0]))))
    return Pairs(start.astype(np.int64), other, squares)


class _Scaled:
    """The kernel's two parts at given length scales."""

    def __init__(self, structure: Structure, kernel: Proximity) -> None:
        self.structure, self.kernel = structure, kernel
        self._weights = 1.0 / np.atleast_1d(kernel.length_scale) ** 2
        self._named = np.array(structure.named)
        self.n_points = len(structure.points[0]) if structure.points else 1

    def smooth(self, parts: list[Array], n_rows: int) -> Array:
        """T between some values, one array per feature, and all distinct ones."""
        q = np.full((n_rows, self.n_points), self._weights[self._named].sum())
        for weight, some, points in zip(self._weights[~self._named], parts, self.structure.points, strict=True):
            q += weight * squared_distances(some, points)
        return self.kernel.profile(q)

    def extra(self, pairs: Pairs) -> Array:
        """What each pair that shares a name has beyond T."""
        far = np.where(self._named[:, None], 1.0, pairs.squares)
        return self.kernel.profile(self._weights @ pairs.squares) - self.kernel.profile(self._weights @ far)


class StructuredOperator:
    """Z T Zᵀ + S at given length scales, an ``Operator``.

    Examples
    --------
    >>> import numpy as np
    >>> import topoi
    >>> from topoi.models.features.table import FeatureTable
    >>> from topoi.models.kernel_topic.kernel_forms import bind
    >>> from topoi.models.kernel_topic.structure import Structure, StructuredOperator
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
        own = float(self._scaled.smooth([p[:1] for p in structure.points], 1)[0, 0])
        self.factor = pivoted_factor(np.full(n_points, own), self._column, _MOST_COLUMNS)
        self.rest = np.maximum(1.0 - (self.factor**2).sum(axis=1), 0.0)[self.value]
        self._sparse = csr_matrix((self._scaled.extra(pairs), pairs.other, pairs.start), shape=(n_docs, n_docs))
        # Documents of one value in an order that is random, but always the same: any few stand for all.
        shuffled = np.random.default_rng(0).permutation(n_docs)
        self._order = shuffled[np.argsort(self.value[shuffled], kind="stable")]
        self._start = np.searchsorted(self.value[self._order], np.arange(n_points + 1))
        self._members: Any = csr_matrix((np.ones(n_docs), self._order, self._start), shape=(n_points, n_docs))

    def _column(self, point: int) -> Array:
        return self._scaled.smooth([p[point : point + 1] for p in self.structure.points], 1)[0]

    def times(self, columns: Array, each: Each = serially) -> Array:
        """The matrix times columns; O((pairs + documents + values × columns of the factor) × columns)."""
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
        """The matrix between some documents."""
        rows = self.factor[self.value[docs]]
        found = rows @ rows.T + self._sparse[docs][:, docs].toarray()
        found[np.diag_indices_from(found)] += self.rest[docs]
        return np.asarray(found)

    def related(self, doc: int) -> Places:
        """The documents that have a name in common with one, itself first."""
        pairs = self.structure.pairs
        return np.concatenate(([doc], pairs.other[pairs.start[doc] : pairs.start[doc + 1]]))

    def nearest(self, doc: int, most: int) -> Places:
        """The documents most like one, itself first: half of them share a name, if so many do."""
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

    def cross(self, coordinates: Any, diagonal: Any = None) -> StructuredCross:
        """Between new documents, by their coordinates, and these."""
        return StructuredCross(self, coordinates)


class StructuredCross:
    """The same between new documents and the training documents, a ``Cross``."""

    def __init__(self, operator: StructuredOperator, coordinates: Any) -> None:
        structure, scaled = operator.structure, operator._scaled
        n_new, n_docs = coordinates.shape[0], len(structure.value)
        parts = [
            as_dense(coordinates[:, b]) for b, named in zip(structure.blocks, structure.named, strict=True) if not named
        ]
        pairs = _pairs(structure.blocks, structure.named, coordinates, structure.coordinates, itself=True)
        self._operator, self._smooth = operator, scaled.smooth(parts, n_new)
        self._sparse = csr_matrix((scaled.extra(pairs), pairs.other, pairs.start), shape=(n_new, n_docs))
        self.own = np.ones(n_new)

    def times(self, columns: Array) -> Array:
        """New × training documents, times columns."""
        return np.asarray(self._smooth @ (self._operator._members @ columns) + self._sparse @ columns)

    def nearest(self, row: int, most: int) -> Places:
        """The training documents most like a new one: half of them share a name, if so many do."""
        at = slice(self._sparse.indptr[row], self._sparse.indptr[row + 1])
        return self._operator._nearest(self._sparse.indices[at], self._sparse.data[at], self._smooth[row], most)

    def between(self, row: int, docs: Places) -> Array:
        """The values between a new document and some training documents."""
        found = self._smooth[row, self._operator.value[docs]]
        return np.asarray(found + self._sparse[row, docs].toarray().ravel())
