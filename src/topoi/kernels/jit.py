"""How topoi compiles its inner loops: one set of decorators, so that every kernel follows the same rules.

No fastmath anywhere: reductions keep their written order and nothing is contracted into fused operations,
so a draw does not depend on the instruction set. ``nogil`` lets shards run on threads; ``cache`` keeps the
machine code on disk; ``error_model="numpy"`` drops the division checks that would stop vectorisation.

A function that only other kernels call is compiled without the wrapper through which Python would call it. Wrappers
unpack named tuples of arrays field by field and were a third of all compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numba
from numba.core.types.misc import unliteral

Function = TypeVar("Function", bound=Callable[..., Any])
# Nothing calls a kernel from C.
_RULES: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Function) -> Function:
    """Compile a function by the rules above; the plain Python stays reachable as ``.py_func``."""
    return _compile(function, _RULES)


def lean(function: Function) -> Function:
    """Compile an inner loop that allocates nothing: numba then leaves out all reference counting.

    Counting references to the arrays of a named tuple cost half the time of a sweep.
    """
    return _compile(function, {"_nrt": False, **_RULES})


def inlined(function: Function) -> Function:
    """Compile a small helper, allocating nothing, that LLVM always merges into its caller."""
    return _compile(function, {"_nrt": False, "forceinline": True, **_RULES})


def _compile(function: Any, options: dict[str, Any]) -> Any:
    """Two dispatchers in one: calls from Python reach this one, calls from compiled code one without a wrapper.

    The second has a name of its own, because numba would otherwise keep both in one file of the cache.
    """
    dispatcher = numba.njit(**options)(function)
    inner: list[Any] = []

    def for_kernels() -> Any:
        if not inner:
            twin = FunctionType(
                function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
            )
            twin.__qualname__ = f"{function.__qualname__}.inner"
            twin.__module__ = function.__module__
            inner.append(numba.njit(no_cpython_wrapper=True, **options)(twin))
        return inner[0]

    def template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        # Or a constant, as in f(x, 0), would have the function compiled for that constant, and again for others.
        plain = {name: unliteral(kind) for name, kind in kws.items()}
        return for_kernels().get_call_template(tuple(map(unliteral, args)), plain)

    # numba asks for these two, under its compiler lock, when it meets the function in another kernel.
    dispatcher.get_call_template = template
    dispatcher.get_overload = lambda signature: for_kernels().get_overload(signature)
    return dispatcher
