"""How topoi compiles its inner loops: one set of decorators, so that every kernel follows the same rules.

No fastmath anywhere: reductions keep their written order and nothing is contracted into fused operations,
so a draw does not depend on the instruction set. ``nogil`` lets shards run on threads; ``cache`` keeps the
machine code on disk; ``error_model="numpy"`` drops the division checks that would stop vectorisation.

A function that only other kernels call is compiled without the wrapper through which Python would call it, and without
machine code of its own (see ``intermediate``). Wrappers unpack named tuples of arrays field by field and were a third
of all compilation, needless machine code a quarter of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.types.misc import unliteral

from topoi.kernels import preparing
from topoi.kernels.intermediate import InnerCache, InnerCompiler, KernelCache, KernelCompiler

Function = TypeVar("Function", bound=Callable[..., Any])
# Nothing calls a kernel from C.
_RULES: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# What the names of functions for kernels end in, in the cache.
INNER = "part"


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
    dispatcher = _dispatcher(function, {"pipeline_class": KernelCompiler, **options})
    if dispatcher.stats.cache_path is not None:
        dispatcher._cache = KernelCache(function)
    inner: list[Any] = []

    def for_kernels() -> Any:
        if not inner:
            twin = FunctionType(
                function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
            )
            twin.__qualname__ = f"{function.__qualname__}.{INNER}"
            twin.__module__ = function.__module__
            inner.append(_dispatcher(twin, {"pipeline_class": InnerCompiler, "no_cpython_wrapper": True, **options}))
            if inner[0].stats.cache_path is not None:
                inner[0]._cache = InnerCache(twin)
        return inner[0]

    def template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        # Or a constant, as in f(x, 0), would have the function compiled for that constant, and again for others.
        plain = {name: unliteral(kind) for name, kind in kws.items()}
        return for_kernels().get_call_template(tuple(map(unliteral, args)), plain)

    # numba asks for these two, under its compiler lock, when it meets the function in another kernel.
    dispatcher.get_call_template = template
    dispatcher.get_overload = lambda signature: for_kernels().get_overload(signature)
    return dispatcher


def _dispatcher(function: Any, options: dict[str, Any]) -> Any:
    """What numba makes of a function; without a cache where no folder can be written, neither ours nor the user's."""
    try:
        return numba.njit(**options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        preparing.no_cache(str(error))
        return numba.njit(**{**options, "cache": False})(function)


class _Compilation(event.Listener):  # type: ignore[misc]
    """Passes on when numba compiles a kernel of ours; loading one from the cache is no such event."""

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            preparing.begin()

    def on_end(self, event: Any) -> None:
        if _is_ours(event):
            preparing.end()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("topoi.")


event.register("numba:compile", _Compilation())
