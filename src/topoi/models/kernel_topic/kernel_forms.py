"""Forms of a kernel: as given by the user, bound to the features of a corpus, and in a file (as names, never code)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sklearn.gaussian_process.kernels as known
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Kernel

from topoi.errors import ModelError
from topoi.models.features.table import FeatureTable, wanted
from topoi.models.kernel_topic.covariances import FunctionKernel, On, Proximity

# With larger similarities the noise would be lost in rounding.
_LARGEST_SIMILARITY = 1e8
_OURS = {"On": On, "Proximity": Proximity}
_THEIRS = (
    "CompoundKernel", "ConstantKernel", "DotProduct", "ExpSineSquared", "Exponentiation", "Matern", "PairwiseKernel",
    "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
)  # fmt: skip
_CLASSES: dict[str, Any] = _OURS | {name: getattr(known, name) for name in _THEIRS if name != "CompoundKernel"}


def as_kernel(kernel: Kernel | Callable[..., Any] | None) -> Kernel:
    """A kernel from the user or a file: None is ``Proximity`` over all features.

    Examples
    --------
    >>> from topoi.models.kernel_topic.kernel_forms import as_kernel, to_plain
    >>> as_kernel(to_plain(as_kernel(None)))
    Proximity(None, length_scale=[], alpha=1)
    """
    if kernel is None:
        return Proximity()
    if isinstance(kernel, type):
        raise ModelError(f"kernel is the class {kernel.__name__}; pass a kernel: {kernel.__name__}()")
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, Mapping):
        return from_plain(kernel)
    if callable(kernel):
        return FunctionKernel(kernel)
    raise ModelError(
        f"kernel is {kernel!r}; pass a kernel of scikit-learn, topoi.Proximity or topoi.On, a function of two arrays, "
        "or a matrix of similarities between the documents"
    )


def bind(kernel: Kernel, table: FeatureTable) -> Kernel:
    """A copy of the kernel with the positions of its features' coordinates."""
    bound = clone(kernel)
    for part in _parts(bound):
        if isinstance(part, Proximity):
            _bind_proximity(part, table)
        elif isinstance(part, On):
            blocks = [table.block(name) for name in wanted(part.features)]
            part.columns = [i for block in blocks for i in range(block.start, block.stop)]
    return bound


def _bind_proximity(kernel: Proximity, table: FeatureTable) -> None:
    names = table.names if kernel.features is None else list(wanted(kernel.features))
    blocks = [table.block(name) for name in names]
    ranges = np.array([table.column(name).length_scale for name in names])
    if kernel.length_scale is None:
        kernel.length_scale = ranges[:, 0]
    try:
        given = np.asarray(kernel.length_scale, np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"length_scale is {kernel.length_scale!r}; pass a number for each feature") from None
    scales = np.full(len(names), float(given)) if given.ndim == 0 else given
    if scales.shape != (len(names),) or not (np.isfinite(scales).all() and (scales > 0).all()):
        raise ModelError(
            f"length_scale is {kernel.length_scale!r}; pass {len(names)} positive numbers, one per feature"
        )
    kernel.length_scale = float(scales[0]) if len(scales) == 1 else scales
    if kernel.length_scale_bounds is None:
        bounds = np.stack((np.minimum(ranges[:, 1], scales), np.maximum(ranges[:, 2], scales)), axis=1)
        kernel.length_scale_bounds = tuple(bounds[0]) if len(scales) == 1 else bounds
    if isinstance(kernel.alpha, bool) or not isinstance(kernel.alpha, numbers.Real) or not kernel.alpha > 0:
        raise ModelError(f"alpha is {kernel.alpha!r}; pass a positive number, or inf for a Gaussian kernel")
    kernel.features = names
    kernel.blocks = [(block.start, block.stop) for block in blocks]


def _parts(kernel: Kernel) -> list[Any]:
    inner = [
        getattr(kernel, name) for name in ("k1", "k2", "kernel") if isinstance(getattr(kernel, name, None), Kernel)
    ]
    # A kernel inside ``On`` sees its columns only, and names no features.
    return [kernel] if isinstance(kernel, On) else [kernel, *(part for each in inner for part in _parts(each))]


def to_plain(kernel: Kernel | None) -> Any:
    """A kernel as JSON can hold it."""
    if isinstance(kernel, FunctionKernel) or (callable(kernel) and not isinstance(kernel, Kernel)):
        raise ModelError("a function as kernel cannot be saved: files hold data only; use kernels of scikit-learn")
    if not isinstance(kernel, Kernel):
        return kernel
    name = type(kernel).__name__
    if _CLASSES.get(name) is not type(kernel):
        raise ModelError(f"a kernel of the class {name} cannot be saved; known are {', '.join(sorted(_CLASSES))}")
    return {"kernel": name, "settings": {key: _value(v) for key, v in kernel.get_params(deep=False).items()}}


def _value(value: Any) -> Any:
    if isinstance(value, Kernel):
        return to_plain(value)
    if isinstance(value, np.ndarray | np.generic):
        return _value(value.tolist())
    if isinstance(value, list | tuple):
        return [_value(each) for each in value]
    if isinstance(value, float) and np.isinf(value):
        return "inf"
    return value


def from_plain(plain: Mapping[str, Any]) -> Kernel:
    """Restore a kernel from ``to_plain``; only known names become kernels."""
    name = plain.get("kernel")
    if name not in _CLASSES or not isinstance(plain.get("settings"), Mapping):
        raise ModelError(f"there is no kernel {name!r}; known are {', '.join(sorted(_CLASSES))}")
    settings = {str(key): _given(key, value) for key, value in plain["settings"].items()}
    return _CLASSES[name](**settings)


def _given(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_plain(value)
    if value == "inf":
        return np.inf
    if key.endswith("_bounds") and isinstance(value, list):
        return tuple(value) if not any(isinstance(each, list) for each in value) else np.array(value)
    if key == "length_scale" and isinstance(value, list):
        return np.array(value, np.float64)
    return value


def checked_similarities(matrix: ArrayLike, n_docs: int, thoroughly: bool = True) -> NDArray[np.float64]:
    """Return a user's own matrix between the documents, checked to be a covariance.

    Eigenvalues, the only proof, take time cubic in the documents; they are computed only if ``thoroughly``.
    """
    try:
        found = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise ModelError("kernel is not a matrix of numbers") from None
    if found.shape != (n_docs, n_docs):
        raise ModelError(f"kernel has the shape {found.shape}; it must be {n_docs} × {n_docs}, documents × documents")
    if not np.isfinite(found).all() or not np.allclose(found, found.T):
        raise ModelError("kernel is a matrix that is not symmetric, or not finite")
    if np.abs(found).max() > _LARGEST_SIMILARITY:
        raise ModelError(
            f"kernel is a matrix with entries up to {np.abs(found).max():.2g}; divide it by the mean of its diagonal: "
            "amplitudes are learned from 1 on"
        )
    if thoroughly and np.linalg.eigvalsh(found).min() < -1e-6 * np.abs(found).max():
        raise ModelError("kernel is a matrix that is not positive definite: it has negative eigenvalues")
    return found
