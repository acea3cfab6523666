"""Decorators that compile topoi's kernels, all with the same numba options.

No fastmath anywhere: reductions keep their written order and nothing is contracted into fused operations, so a draw
does not depend on the instruction set. ``nogil`` lets shards run on threads; ``cache`` keeps the machine code on disk;
``error_model="numpy"`` drops the division checks that would prevent vectorisation.

A function that only other kernels call is compiled without a Python wrapper and without machine code of its own (see
``intermediate``). Wrappers unpack named tuples of arrays field by field and took a third of all compilation time;
needless machine code took a quarter of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar
from weakref import WeakSet

import numba
from numba.core import event
from numba.core.types.misc import unliteral

from topoi.kernels import preparing
from topoi.kernels.intermediate import InnerCache, InnerCompiler, KernelCache, KernelCompiler

Function = TypeVar("Function", bound=Callable[..., Any])
# No wrapper for C: kernels are called from Python and from each other only.
_RULES: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Everything that these decorators made, in this package or another.
_KERNELS: WeakSet[Any] = WeakSet()
# Suffix of the names, in the cache, of functions that only kernels call.
INNER = "part"


def compiled(function: Function) -> Function:
    """Compile a function by the rules above; the Python function stays available as ``.py_func``."""
    return _compile(function, _RULES)


def lean(function: Function) -> Function:
    """Compile an inner loop that allocates nothing, so that numba can omit all reference counting.

    Reference counting for the arrays of a named tuple took half the time of a sweep.
    """
    return _compile(function, {"_nrt": False, **_RULES})


def inlined(function: Function) -> Function:
    """Compile a small helper that allocates nothing and that LLVM always inlines."""
    return _compile(function, {"_nrt": False, "forceinline": True, **_RULES})


def _compile(function: Any, options: dict[str, Any]) -> Any:
    """Make a dispatcher for calls from Python that delegates calls from compiled code to a second one, without wrapper.

    The second has its own name, because numba would otherwise keep both in one cache file.
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
        # Otherwise f(x, 0) would be compiled for the constant 0, and again for every other constant.
        plain = {name: unliteral(kind) for name, kind in kws.items()}
        return for_kernels().get_call_template(tuple(map(unliteral, args)), plain)

    # numba calls these two, under its compiler lock, when another kernel calls the function.
    dispatcher.get_call_template = template
    dispatcher.get_overload = lambda signature: for_kernels().get_overload(signature)
    return dispatcher


def _dispatcher(function: Any, options: dict[str, Any]) -> Any:
    """Make a numba dispatcher; without a cache if neither the package's folder nor the user's is writable."""
    try:
        dispatcher = numba.njit(**options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        preparing.no_cache(str(error))
        dispatcher = numba.njit(**{**options, "cache": False})(function)
    _KERNELS.add(dispatcher)
    return dispatcher


class _Compilation(event.Listener):  # type: ignore[misc]
    """Listener that reports compilations of kernels to ``preparing``; loads from the cache do not count."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] in _KERNELS:
            preparing.begin()

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] in _KERNELS:
            preparing.end()


event.register("numba:compile", _Compilation())
