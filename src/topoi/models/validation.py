"""Checks of settings that several families share, with errors that say what was given, what was needed, what to do."""

from __future__ import annotations

import numbers
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.errors import ModelError
from topoi.models.contract import SeedLike

T = TypeVar("T")


def whole_number(name: str, value: object, least: int = 1) -> int:
    """Return the setting as an int of at least ``least``.

    Examples
    --------
    >>> from topoi.models.validation import whole_number
    >>> whole_number("n_topics", 20)
    20
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ModelError(f"{name} is {value!r}; it must be a whole number of at least {least}")
    return int(value)


def positive_vector(name: str, value: ArrayLike, n: int, what: str) -> NDArray[np.float64]:
    """Return a scalar or ``n`` values as ``n`` positive finite numbers.

    Examples
    --------
    >>> from topoi.models.validation import positive_vector
    >>> positive_vector("alpha", 0.5, 3, "n_topics").tolist()
    [0.5, 0.5, 0.5]
    """
    try:
        values = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is {value!r}; pass a positive number or {n} of them") from None
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.shape != (n,):
        raise ModelError(f"{name} has {values.size} entries but {what} is {n}; pass a scalar or {n} values")
    # Below float32's range a prior would silently become zero.
    if not (np.isfinite(values).all() and (values >= 1e-30).all() and (values <= 1e30).all()):
        wrong = values[~(np.isfinite(values) & (values >= 1e-30) & (values <= 1e30))][0]
        raise ModelError(f"{name} has the value {wrong}; it must be positive and finite (from 1e-30 to 1e30)")
    return values


def fits_kernels(values: NDArray[Any], n: int) -> bool:
    """Whether an array from a file is ``n`` valid numbers for a prior, since kernels do not check them.

    Zero, infinity or NaN, also after rounding to float32, could make a draw run for ever or out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.models.validation import fits_kernels
    >>> fits_kernels(np.array([0.1, 2.0]), 2), fits_kernels(np.array([0.1, np.inf]), 2)
    (True, False)
    """
    if values.shape != (n,) or values.dtype.kind != "f":
        return False
    return bool(((values >= np.finfo(np.float32).tiny) & (values <= 1e30)).all())


def choice(name: str, value: T, allowed: tuple[object, ...]) -> T:
    """Return the setting if it is one of the allowed values."""
    if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
        raise ModelError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}")
    return value


def resolve_seed(random_state: SeedLike) -> int:
    """A seed below 2**63 from an int, a numpy generator, or None (then from the operating system).

    Examples
    --------
    >>> from topoi.models.validation import resolve_seed
    >>> resolve_seed(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**62))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if not whole or not 0 <= random_state < 2**63:
        raise ModelError(f"random_state is {random_state!r}; pass None, a whole number from 0, or a numpy generator")
    return int(random_state)


def checked_tail(level: float) -> float:
    """Probability of each tail of a band that holds ``level``."""
    if isinstance(level, bool) or not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise ModelError(f"level is {level!r}; it is the probability of a band, between 0 and 1")
    return (1.0 - float(level)) / 2.0
