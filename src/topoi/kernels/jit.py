"""How topoi compiles its inner loops: one decorator, so that every kernel follows the same rules.

No fastmath anywhere: reductions keep their written order and nothing is contracted into fused operations,
so a draw does not depend on the instruction set. ``nogil`` lets shards run on threads; ``cache`` keeps the
machine code on disk; ``error_model="numpy"`` drops the division checks that would stop vectorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])
_RULES: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def compiled(function: Function) -> Function:
    """Compile a function by the rules above; the plain Python stays reachable as ``.py_func``."""
    return numba.njit(**_RULES)(function)  # type: ignore[no-any-return]


def lean(function: Function) -> Function:
    """Compile an inner loop that allocates nothing: numba then leaves out all reference counting.

    Counting references to the arrays of a named tuple cost half the time of a sweep.
    """
    return numba.njit(_nrt=False, **_RULES)(function)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a small helper, allocating nothing, that LLVM always merges into its caller."""
    return numba.njit(_nrt=False, forceinline=True, **_RULES)(function)  # type: ignore[no-any-return]
