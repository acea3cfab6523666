"""Choice of solver for a corpus: exact factors of all matrices, or iterations on products with them."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from topoi.corpus.corpus import Corpus
from topoi.errors import ModelError
from topoi.models.contract import FeaturesLike
from topoi.models.features.table import Coordinates, FeatureTable, as_dense
from topoi.models.kernel_topic.evidence import Hyper, Shape
from topoi.models.kernel_topic.fitting import Process, Schedule
from topoi.models.kernel_topic.gaussian_process import Each
from topoi.models.kernel_topic.kernel_forms import as_kernel, bind, checked_similarities, from_plain
from topoi.models.kernel_topic.large_process import BLOCK_SIZE, N_BLOCKS, N_NEAR, LargeProcess
from topoi.models.kernel_topic.posterior import LaplacePosterior, LargePosterior
from topoi.models.kernel_topic.structured_operators import MOST_PAIRS, Structure
from topoi.models.notices import warn_user

Array = NDArray[np.float64]
SOLVERS = ("auto", "exact", "iterative")
# Largest number of documents that "auto" solves exactly: a fit of 20 topics then takes half an hour.
MOST_BY_ITSELF = 2000
# Largest number of documents for the exact solver: a matrix takes 200 MB, and there are two for every topic.
MOST_EXACT = 5000
# Largest number of documents with one dense matrix, for an arbitrary kernel: 1.8 GB. Coordinates may take as much.
MOST_DENSE, _MOST_NUMBERS = 15_000, 225_000_000


class Setup(NamedTuple):
    """Features of a corpus, the shape over them, and the solver."""

    table: FeatureTable | None
    shape: Shape
    large: bool
    structure: Structure | None = None

    @property
    def solver(self) -> str:
        """The solver's name."""
        return "iterative" if self.large else "exact"

    def process(
        self, hyper: Hyper, y: Array, schedule: Schedule, each: Each, began: Hyper | None = None, a: Array | None = None
    ) -> Process:
        """The process of a fit that starts at y; see ``Process``."""
        if self.large:
            return LargeProcess(hyper, self.structure, y, schedule, each, began, a)
        return Process(hyper, y, schedule, each, began, a)

    def posterior(
        self, hyper: Hyper, y: Array, a: Array, counts: Array, jobs: int
    ) -> LaplacePosterior | LargePosterior:
        """Posterior of a fit that ended at y."""
        if self.large:
            return LargePosterior(hyper, self.structure, y, a, counts, jobs)
        return LaplacePosterior(hyper, y, counts, jobs)

    def fingerprint(self) -> str:
        """Digest of the documents' features, or of the matrix between them."""
        digest = hashlib.blake2b(digest_size=16)
        for name, array in sorted(coordinate_arrays(self.shape.coordinates).items()):
            digest.update(f"{name}{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def info(self) -> dict[str, Any]:
        """Facts about the solver for ``fit_info_``."""
        if not self.large:
            return {"solver": self.solver}
        found: dict[str, Any] = {"solver": self.solver, "structured": self.structure is not None}
        if self.structure is not None:
            found |= {"distinct_values": int(self.structure.value.max()) + 1, "pairs": len(self.structure.pairs.other)}
        return found | {"evidence_blocks": N_BLOCKS, "documents_per_block": BLOCK_SIZE, "documents_per_band": N_NEAR}


def set_up(corpus: Corpus, features: FeaturesLike | None, kernel: Any, solver: str, inference: str) -> Setup:
    """Read the features and choose a solver; anything impossible is refused before any work."""
    n_docs = corpus.n_docs
    large = is_large(n_docs, solver, inference)
    if issparse(kernel) or isinstance(kernel, pd.DataFrame):
        raise ModelError(f"kernel is a {type(kernel).__name__}; a matrix of similarities is a plain array of numpy")
    if isinstance(kernel, np.ndarray | list):
        if features is not None:
            raise ModelError("kernel is a matrix and features are named; a matrix needs no features")
        _check_dense(n_docs, large)
        return Setup(None, Shape(None, checked_similarities(kernel, n_docs, not large)), large)
    if features is None:
        raise ModelError('features is not given; name columns of corpus.documents, features=["year"] for one')
    table = FeatureTable.learn(corpus, features, large)
    bound = bind(as_kernel(kernel), table)
    structure = Structure.of(bound, table)
    if large and structure is None:
        _check_dense(n_docs, large)
        table = table._replace(coordinates=_checked_dense(table.coordinates))
    return Setup(table, Shape(bound, table.coordinates), large, structure)


def set_up_again(table: FeatureTable | None, kernel: Any, shape: Shape, large: bool) -> Setup:
    """Features and solver of a fitted model with the kernel as it was given, before learning."""
    if table is None:
        return Setup(None, shape, large)
    bound = bind(as_kernel(kernel), table)
    return Setup(table, Shape(bound, shape.coordinates), large, Structure.of(bound, table) if large else None)


def is_large(n_docs: int, solver: str, inference: str) -> bool:
    """Whether ``n_docs`` documents are solved by iterations."""
    if inference == "bridge":
        if solver == "iterative" or n_docs > MOST_EXACT:
            raise ModelError(
                f'inference="bridge" needs the exact solver, at most {MOST_EXACT:,} documents; there are {n_docs:,} '
                f"and solver is {solver!r}: leave inference at 'laplace', or fit a sample"
            )
        return False
    if solver == "exact" and n_docs > MOST_EXACT:
        raise ModelError(
            f"the corpus has {n_docs:,} documents; the exact solver takes time cubic in their number and is limited to "
            f'{MOST_EXACT:,}: leave solver at "auto", or fit a sample, corpus.split(test_size=...)'
        )
    return solver == "iterative" or (solver == "auto" and n_docs > MOST_BY_ITSELF)


def announce(setup: Setup, solver: str, n_docs: int) -> None:
    """Warn if ``auto`` has chosen the iterative solver."""
    if setup.large and solver == "auto":
        warn_user(
            f"{n_docs:,} documents: the process is solved by iterations on the same kernel, its hyper-parameters are "
            f"learned on {N_BLOCKS} blocks of {BLOCK_SIZE} documents, and each document's band on the {N_NEAR} most "
            'like it; solver="iterative" says so, too, without this notice'
        )


def _check_dense(n_docs: int, large: bool) -> None:
    if large and n_docs > MOST_DENSE:
        raise ModelError(
            f"the corpus has {n_docs:,} documents, and this kernel needs the whole matrix between them, for at most "
            f"{MOST_DENSE:,}; the default kernel over numbers, dates, categories and names does not, if at most "
            f"{MOST_PAIRS:,} pairs of documents share a name: use it, leave out the commonest names, or fit a sample"
        )


def _checked_dense(coordinates: Coordinates) -> Array:
    n_docs, width = coordinates.shape
    if n_docs * width > _MOST_NUMBERS:
        raise ModelError(
            f"this kernel needs all {width:,} coordinates of {n_docs:,} documents, at most {_MOST_NUMBERS:,} numbers; "
            "use the default kernel, or features with fewer names"
        )
    return as_dense(coordinates)


def coordinate_arrays(coordinates: Coordinates) -> dict[str, NDArray[Any]]:
    """Coordinates as arrays for a file: one array, or the three of a sparse matrix."""
    if not isinstance(coordinates, csr_matrix):
        return {"coordinates": coordinates}
    return {
        "coordinates": coordinates.data,
        "coordinates_index": coordinates.indices.astype(np.int64),
        "coordinates_start": coordinates.indptr.astype(np.int64),
    }


def stored_setup(progress: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Setup:
    """Restore features, kernel and solver from a file."""
    large = progress.get("solver") == "iterative"
    if progress["features"] is None:
        return Setup(None, Shape(None, np.array(arrays["coordinates"], np.float64)), large)
    columns = FeatureTable.from_plain(progress["features"], None).columns
    coordinates = _stored_coordinates(arrays, sum(column.width for column in columns))
    table, kernel = FeatureTable.from_plain(progress["features"], coordinates), from_plain(progress["kernel"])
    return Setup(table, Shape(kernel, coordinates), large, Structure.of(kernel, table) if large else None)


def _stored_coordinates(arrays: dict[str, NDArray[Any]], width: int) -> Coordinates:
    values = np.array(arrays["coordinates"], np.float64)
    if "coordinates_index" not in arrays:
        return values
    index, start = (np.array(arrays[f"coordinates_{name}"], np.int64) for name in ("index", "start"))
    if values.ndim != 1 or values.shape != index.shape or start.ndim != 1 or len(start) < 2:
        raise ModelError("the features' coordinates are no sparse matrix")
    in_order = start[0] == 0 and start[-1] == len(index) and bool((np.diff(start) >= 0).all())
    if not in_order or (len(index) and not (index.min() >= 0 and index.max() < width)):
        raise ModelError("the features' coordinates do not fit their columns")
    return csr_matrix((values, index, start), shape=(len(start) - 1, width))
