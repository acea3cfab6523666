"""Covariance functions over named features, as scikit-learn kernels: they compose with + and * and have gradients.

*Kernel* here is a covariance function, not a compiled loop.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from topoi.errors import ModelError
from topoi.models.contract import FeaturesLike
from topoi.models.features.table import Coordinates, as_dense, is_sparse

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

# Range of a hyper-parameter, or "fixed".
Bounds = tuple[float, ...] | NDArray[np.float64] | str


class Proximity(Kernel):
    """Rational quadratic kernel of the distance of documents in several features; the default of kernel topic models.

    k(d, d') = (1 + q / 2α)^(−α) with q = Σ over features of (distance / length scale)². Distances of numbers and dates
    are in their own unit; names (categories, authors) are at distance 0 if the same and 1 if they differ; links
    compare the vectors of shortest paths. With α = ∞ it is the squared exponential exp(−q / 2), which for links is
    equation 20 of Hennig et al.

    The paper uses |Δt| / l plus a constant where authors differ as the distance. Inside a rational quadratic that is
    not positive definite; this sum of squares is.

    Parameters
    ----------
    features : str or list of str, optional
        The features; all if not given.
    length_scale : float or list of floats, optional
        For each feature; the start of learning. If not given, a twentieth of a number's range, 1 for names.
    alpha : float
        How fast small and large scales mix; large values approach a single scale, which ∞ is.
    length_scale_bounds, alpha_bounds : pair of floats, or "fixed"
        The range for learning. If not given, length scales stay in a wide range about their start.
    blocks : list of pairs
        Slices of the features' coordinates; filled in by a model.

    Examples
    --------
    >>> import topoi
    >>> kernel = topoi.Proximity(["year", "authors"], length_scale=[5.0, 1.0])
    >>> kernel.alpha
    1.0
    """

    def __init__(
        self,
        features: Any = None,
        length_scale: Any = None,
        alpha: float = 1.0,
        length_scale_bounds: Bounds | None = None,
        alpha_bounds: Bounds = (0.05, 50.0),
        blocks: Any = None,
    ):
        self.features = features
        self.length_scale = length_scale
        self.alpha = alpha
        self.length_scale_bounds = length_scale_bounds
        self.alpha_bounds = alpha_bounds
        self.blocks = blocks

    @property
    def hyperparameter_length_scale(self) -> Hyperparameter:
        """The length scales, one per feature."""
        bounds = (1e-5, 1e5) if self.length_scale_bounds is None else self.length_scale_bounds
        n = np.size(self.length_scale)
        return Hyperparameter("length_scale", "numeric", bounds, n) if n > 1 else _scalar("length_scale", bounds)

    @property
    def hyperparameter_alpha(self) -> Hyperparameter:
        """The mixture of scales; fixed if infinite."""
        return _scalar("alpha", "fixed" if np.isinf(self.alpha) else self.alpha_bounds)

    def __call__(self, X: Coordinates, Y: Coordinates | None = None, eval_gradient: bool = False) -> Any:
        """Kernel matrix and, on request, its gradient by the logs of alpha and length scales."""
        squares = self._squares(X, X if Y is None else Y)
        q = np.sum(squares, axis=0)
        value = self.profile(q)
        if not eval_gradient:
            return value
        base = 1.0 + q / (2.0 * self.alpha)
        by_scale = value / base
        parts = []
        if not self.hyperparameter_alpha.fixed:
            parts.append(value * (0.5 * q / base - self.alpha * np.log(base)))
        if not self.hyperparameter_length_scale.fixed:
            parts += [square * by_scale for square in squares]
        return value, np.stack(parts, axis=-1) if parts else np.empty((*value.shape, 0))

    def profile(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Value of the kernel where the squared distances, in length scales, sum to ``q``.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> topoi.Proximity("year", alpha=np.inf).profile(np.array([0.0, 2.0])).round(3).tolist()
        [1.0, 0.368]
        """
        if np.isinf(self.alpha):
            return np.asarray(np.exp(-0.5 * q))
        return np.asarray((1.0 + q / (2.0 * self.alpha)) ** (-self.alpha))

    def _squares(self, X: Coordinates, Y: Coordinates) -> list[NDArray[np.float64]]:
        """Squared distances of each feature, in its length scale."""
        if self.blocks is None:
            raise ModelError("this kernel has not met its features; give it to a KernelTopicModel")
        X, Y = (each if is_sparse(each) else np.asarray(each) for each in (X, Y))
        scales = np.atleast_1d(self.length_scale)
        return [
            squared_distances(X[:, first:last], Y[:, first:last]) / scale**2
            for (first, last), scale in zip(self.blocks, scales, strict=True)
        ]

    def diag(self, X: Coordinates) -> NDArray[np.float64]:
        """Ones.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> topoi.Proximity("year").diag(np.zeros((3, 1))).tolist()
        [1.0, 1.0, 1.0]
        """
        return np.ones(X.shape[0] if is_sparse(X) else len(X))

    def is_stationary(self) -> bool:
        """True: it depends on distances only.

        Examples
        --------
        >>> import topoi
        >>> topoi.Proximity("year").is_stationary()
        True
        """
        return True

    def __repr__(self) -> str:
        scales = (
            ", ".join(f"{s:.3g}" for s in np.atleast_1d(self.length_scale)) if self.length_scale is not None else ""
        )
        shown = f"{self.alpha:.3g}" if isinstance(self.alpha, numbers.Real) else repr(self.alpha)
        return f"Proximity({self.features!r}, length_scale=[{scales}], alpha={shown})"


def _scalar(name: str, bounds: Bounds) -> Hyperparameter:
    return Hyperparameter(name, "numeric", bounds)


def squared_distances(X: Any, Y: Any) -> NDArray[np.float64]:
    """Squared Euclidean distances between rows, dense or sparse; exactly zero between equal ones."""
    from scipy.spatial.distance import cdist

    if X.shape[1] <= 8:
        return np.asarray(cdist(as_dense(X), as_dense(Y), "sqeuclidean"))
    lengths = [np.asarray((each.multiply(each) if is_sparse(each) else each**2).sum(axis=1)).ravel() for each in (X, Y)]
    found = lengths[0][:, None] + lengths[1] - 2.0 * as_dense(X @ Y.T)
    return np.where(found > 1e-9, found, 0.0)


class On(Kernel):
    """A kernel of scikit-learn applied to some of the features.

    Parameters
    ----------
    features : str or list of str
        Features whose coordinates the kernel sees: one per number or date, in its own unit; one per name (1/√2 where
        the document's only name is that one), so that documents with different names are at distance 1.
    kernel : Kernel
        Any of ``sklearn.gaussian_process.kernels``.
    columns : list of int
        Numbers of these coordinates; filled in by a model.

    Examples
    --------
    >>> import topoi
    >>> from sklearn.gaussian_process.kernels import RBF, Matern
    >>> kernel = topoi.On("year", Matern(10.0, nu=1.5)) + topoi.On("party", RBF(1.0))
    >>> kernel.theta.round(2).tolist()
    [2.3, 0.0]
    """

    def __init__(self, features: FeaturesLike, kernel: Kernel, columns: Sequence[int] | None = None):
        self.features = features
        self.kernel = kernel
        self.columns = columns

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, with those of the inner kernel.

        Examples
        --------
        >>> import topoi
        >>> from sklearn.gaussian_process.kernels import RBF
        >>> topoi.On("year", RBF(10.0)).get_params()["kernel__length_scale"]
        10.0
        """
        params: dict[str, Any] = {"features": self.features, "kernel": self.kernel, "columns": self.columns}
        if deep:
            params.update((f"kernel__{name}", value) for name, value in self.kernel.get_params().items())
        return params

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """Hyper-parameters of the inner kernel."""
        return [Hyperparameter(f"kernel__{h.name}", *h[1:4]) for h in self.kernel.hyperparameters]

    @property
    def theta(self) -> Any:
        """Logs of the inner kernel's hyper-parameters."""
        return self.kernel.theta

    @theta.setter
    def theta(self, theta: ArrayLike) -> None:
        self.kernel.theta = theta

    @property
    def bounds(self) -> Any:
        """Bounds of ``theta``."""
        return self.kernel.bounds

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.features == other.features and bool(self.kernel == other.kernel)

    __hash__ = None  # type: ignore[assignment]

    def _seen(self, X: Coordinates) -> NDArray[np.float64]:
        if self.columns is None:
            raise ModelError("this kernel has not met its features; give it to a KernelTopicModel")
        seen = (X if is_sparse(X) else np.asarray(X))[:, list(self.columns)]
        return np.ascontiguousarray(as_dense(seen))

    def __call__(self, X: Coordinates, Y: Coordinates | None = None, eval_gradient: bool = False) -> Any:
        """Matrix of the inner kernel for these features."""
        return self.kernel(self._seen(X), None if Y is None else self._seen(Y), eval_gradient=eval_gradient)

    def diag(self, X: Coordinates) -> NDArray[np.float64]:
        """Diagonal of the inner kernel for these features.

        Examples
        --------
        >>> import numpy as np, topoi
        >>> from sklearn.gaussian_process.kernels import RBF
        >>> topoi.On("year", RBF(10.0), columns=[0]).diag(np.zeros((2, 1))).tolist()
        [1.0, 1.0]
        """
        return np.asarray(self.kernel.diag(self._seen(X)))

    def is_stationary(self) -> bool:
        """Whether the inner kernel is stationary.

        Examples
        --------
        >>> import topoi
        >>> from sklearn.gaussian_process.kernels import RBF
        >>> topoi.On("year", RBF(10.0)).is_stationary()
        True
        """
        return bool(self.kernel.is_stationary())

    def __repr__(self) -> str:
        return f"On({self.features!r}, {self.kernel})"


class FunctionKernel(Kernel):
    """A user's own function of two arrays of coordinates, without hyper-parameters."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, X: Coordinates, Y: Coordinates | None = None, eval_gradient: bool = False) -> Any:
        """Matrix of the function's values."""
        other = X if Y is None else Y
        value = np.asarray(self.function(np.asarray(X), np.asarray(other)), np.float64)
        if value.shape != (len(X), len(other)):
            raise ModelError(f"the kernel gave a matrix of shape {value.shape} for {len(X)} and {len(other)} documents")
        return (value, np.empty((*value.shape, 0))) if eval_gradient else value

    def diag(self, X: Coordinates) -> NDArray[np.float64]:
        """The function of each row with itself."""
        return np.array([self(row[None])[0, 0] for row in np.asarray(X)])

    def is_stationary(self) -> bool:
        """False: nothing is known of it."""
        return False
