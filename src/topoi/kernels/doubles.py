"""SIMD vectors of eight float64: sums over aspects in a fixed order, bit-identical on any instruction set.

The counterpart of ``topoi.kernels.lanes`` (float32) for loops that need double precision. Rows are padded with zeros
to whole vectors.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

N_LANES = 8
_DOUBLE, _INT = ir.DoubleType(), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, N_LANES)


class Doubles(types.Type):
    """Numba type of a vector of eight float64."""

    def __init__(self) -> None:
        super().__init__(name="Doubles")


doubles = Doubles()


@register_model(Doubles)
class DoublesModel(models.PrimitiveModel):
    """Numba data model: a ``Doubles`` is LLVM's ``<8 x double>``."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _address(context, builder, array_type, array, offset):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), _VECTOR.as_pointer())


def _places(numbers: list[int]):
    return ir.Constant(ir.VectorType(_INT, len(numbers)), numbers)


@intrinsic
def load(typingctx, array, offset):
    """Load eight float64 from a C-contiguous array, from the flat position ``offset`` on."""
    if array.dtype != types.float64:
        return None

    def codegen(context, builder, signature, args):
        return builder.load(_address(context, builder, signature.args[0], args[0], args[1]), align=8)

    return doubles(array, types.intp), codegen


@intrinsic
def store(typingctx, array, offset, value):
    """Store eight float64 in a C-contiguous array, from the flat position ``offset`` on."""

    def codegen(context, builder, signature, args):
        builder.store(args[2], _address(context, builder, signature.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, doubles), codegen


@intrinsic
def splat(typingctx, value):
    """Vector with the same float64 in all lanes."""

    def codegen(context, builder, signature, args):
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], ir.Constant(_INT, 0))
        return builder.shuffle_vector(one, one, _places([0] * N_LANES))

    return doubles(types.float64), codegen


def _lane_by_lane(operation: str):
    def typer(typingctx, a, b):
        def codegen(context, builder, signature, args):
            return getattr(builder, operation)(args[0], args[1])

        return doubles(doubles, doubles), codegen

    typer.__name__ = operation
    return intrinsic(typer)


add = _lane_by_lane("fadd")
sub = _lane_by_lane("fsub")
mul = _lane_by_lane("fmul")
div = _lane_by_lane("fdiv")


def _smaller(builder, a, b):
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


@intrinsic
def smaller(typingctx, a, b):
    """Minimum of two vectors, lane by lane."""

    def codegen(context, builder, signature, args):
        return _smaller(builder, args[0], args[1])

    return doubles(doubles, doubles), codegen


def _folded(combine, what: str):
    """Make a horizontal reduction over all lanes, by repeated halving."""

    def typer(typingctx, vector):
        def codegen(context, builder, signature, args):
            value, width = args[0], N_LANES
            while width > 1:
                width //= 2
                low = builder.shuffle_vector(value, value, _places(list(range(width))))
                high = builder.shuffle_vector(value, value, _places(list(range(width, 2 * width))))
                value = combine(builder, low, high)
            return builder.extract_element(value, ir.Constant(_INT, 0))

        return types.float64(doubles), codegen

    typer.__name__ = what
    return intrinsic(typer)


total = _folded(lambda builder, low, high: builder.fadd(low, high), "total")
smallest = _folded(_smaller, "smallest")


def padded(n: int) -> int:
    """Length of a row of ``n`` numbers, rounded up to whole vectors.

    Examples
    --------
    >>> from topoi.kernels.doubles import padded
    >>> padded(8), padded(9)
    (8, 16)
    """
    return -(-n // N_LANES) * N_LANES


__all__ = [
    "N_LANES",
    "Doubles",
    "add",
    "div",
    "doubles",
    "load",
    "mul",
    "padded",
    "smaller",
    "smallest",
    "splat",
    "store",
    "sub",
    "total",
]
