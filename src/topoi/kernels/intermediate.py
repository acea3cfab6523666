"""Compilation of functions that only kernels call: no machine code of their own, and no optimisation of their own.

numba optimises every function together with all that it calls, and makes machine code of it, before it is linked into
its caller, where both happen again: a helper at the bottom of a sweep was optimised once for each level above it. Here
a helper ends as LLVM's intermediate code, and the kernel that Python calls is optimised once, with everything in it.
That changes no bits: without fastmath LLVM keeps every floating-point operation and its order.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult


class _Intermediate(JITCodeLibrary):  # type: ignore[misc]
    """Code that waits to be linked into a kernel."""

    @classmethod
    def read(cls, codegen: Any, data: tuple[str, bytes]) -> _Intermediate:
        """The library that ``serialize_using_object_code`` described."""
        name, bitcode = data
        self = cls(codegen, name)
        self._final_module = llvm.parse_bitcode(bitcode)
        self._finalize_final_module()
        return self

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """What goes to the cache."""
        return self.name, self._get_module_for_linking().as_bitcode()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Zero: numba's sign that there is no such function."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Whom numba asks to ``set_env``."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Left to the kernel that this is linked into."""


class InnerCompiler(Compiler):  # type: ignore[misc]
    """Compiles functions that only kernels call."""

    def compile_extra(self, func: Any) -> Any:
        """What numba calls to compile a function."""
        self.state.library = _Intermediate(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles functions that Python calls."""

    def compile_extra(self, func: Any) -> Any:
        """What numba calls to compile a function; environments of functions that it contains are set as its own is."""
        result = super().compile_extra(func)
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
        return result


class _InnerCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    """What is written and read."""

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """The compiled function of which ``payload`` is the description in the cache."""
        result = CompileResult._rebuild(_Rebuilding(target_context), *payload)
        return result._replace(target_context=target_context)


class _Rebuilding:
    """A target context, as numba's cache sees it, that reads intermediate code."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.typing_context = context.typing_context
        self.get_executable = context.get_executable

    def codegen(self) -> Any:
        return self

    def unserialize_library(self, data: tuple[str, bytes]) -> _Intermediate:
        return _Intermediate.read(self._context.codegen(), data)


class _Index(IndexDataCacheFile):  # type: ignore[misc]
    """What a file of the cache holds; nothing if it cannot be read, as after a class that it names has moved."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # whatever an older version of topoi, or a stranger, has left there
            return {}


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Keeps functions that Python calls."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file.__class__ = _Index


class InnerCache(KernelCache):
    """Keeps functions that only kernels call."""

    _impl_class = _InnerCacheImpl
