"""Compilation of functions that only kernels call to LLVM IR, without optimisation or machine code of their own.

By default numba optimises every function together with all its callees and generates machine code, then links it into
its caller, where both happen again: a helper at the bottom of a sweep was optimised once for each level above it. Here
a helper is kept as LLVM IR, and the kernel that Python calls is optimised once, with everything in it. Results stay
bit-identical: without fastmath LLVM keeps every floating-point operation and its order.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult


class _Intermediate(JITCodeLibrary):  # type: ignore[misc]
    """Code library of unoptimised IR, to be linked into a kernel."""

    @classmethod
    def read(cls, codegen: Any, data: tuple[str, bytes]) -> _Intermediate:
        """Rebuild the library from the data of ``serialize_using_object_code``."""
        name, bitcode = data
        self = cls(codegen, name)
        self._final_module = llvm.parse_bitcode(bitcode)
        self._finalize_final_module()
        return self

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Serialise the library for the cache: name and bitcode."""
        return self.name, self._get_module_for_linking().as_bitcode()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, which tells numba that there is no such function."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The object on which numba calls ``set_env``."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: the kernel that this is linked into sets the environment."""


class InnerCompiler(Compiler):  # type: ignore[misc]
    """Compiler of functions that only kernels call."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function; called by numba."""
        self.state.library = _Intermediate(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiler of functions that Python calls."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, and set the environments of the functions linked into it; called by numba."""
        result = super().compile_extra(func)
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
        return result


class _InnerCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    """Serialisation of inner functions in the cache."""

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Rebuild a compiled function from its ``payload`` in the cache."""
        result = CompileResult._rebuild(_Rebuilding(target_context), *payload)
        return result._replace(target_context=target_context)


class _Rebuilding:
    """Stand-in for the target context that makes numba's cache read IR."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.typing_context = context.typing_context
        self.get_executable = context.get_executable

    def codegen(self) -> Any:
        return self

    def unserialize_library(self, data: tuple[str, bytes]) -> _Intermediate:
        return _Intermediate.read(self._context.codegen(), data)


class _Index(IndexDataCacheFile):  # type: ignore[misc]
    """Index and files of a cache; what cannot be read, such as what names a class or module that has moved, is absent.

    Files of older versions or of other programs may raise anything.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception:
            return None


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Cache of functions that Python calls."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file.__class__ = _Index


class InnerCache(KernelCache):
    """Cache of functions that only kernels call."""

    _impl_class = _InnerCacheImpl
