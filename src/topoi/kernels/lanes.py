"""SIMD vectors of sixteen float32, for kernels whose result must not depend on the instruction set.

LLVM maps a ``Lanes`` value to one AVX-512, two AVX or four SSE registers. Every operation is lane by lane with IEEE
rounding and a fixed order, so results are bit-identical on all of them. Products and sums stay separate operations: a
fused multiply-add rounds differently, and not all machines have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

from topoi.kernels.jit import compiled

N_LANES = 16
_CACHE_LINE = 64
_FLOAT = ir.FloatType()
_INT = ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, N_LANES)


class Lanes(types.Type):
    """Numba type of a vector of sixteen float32."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


lanes = Lanes()


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """Numba data model: a ``Lanes`` is LLVM's ``<16 x float>``."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _address(context, builder, array_type, array, offset, vector):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def _splat(builder, value):
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, N_LANES), [0] * N_LANES))


@intrinsic
def load(typingctx, array, offset):
    """Load sixteen float32, or int32 as float32, from a C-contiguous array, from the flat position ``offset`` on."""
    if array.dtype not in (types.float32, types.int32):
        return None
    whole = array.dtype == types.int32

    def codegen(context, builder, signature, args):
        vector = ir.VectorType(_INT, N_LANES) if whole else _VECTOR
        found = builder.load(_address(context, builder, signature.args[0], args[0], args[1], vector), align=4)
        return builder.sitofp(found, _VECTOR) if whole else found

    return lanes(array, types.intp), codegen


@intrinsic
def load_uint16(typingctx, array, offset):
    """Load sixteen uint16 counts from a C-contiguous array, as float32."""
    if array.dtype != types.uint16:
        return None

    def codegen(context, builder, signature, args):
        small = ir.VectorType(ir.IntType(16), N_LANES)
        pointer = _address(context, builder, signature.args[0], args[0], args[1], small)
        wide = builder.zext(builder.load(pointer, align=2), ir.VectorType(_INT, N_LANES))
        # Below 2**16 signed and unsigned conversions agree, and the signed one is a single instruction.
        return builder.sitofp(wide, _VECTOR)

    return lanes(array, types.intp), codegen


@intrinsic
def gather(typingctx, array, indices, offset):
    """Load the sixteen float32 of ``array`` at the uint16 positions that stand in ``indices`` from ``offset`` on."""
    if array.dtype != types.float32 or indices.dtype != types.uint16:
        return None

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        places = context.make_array(signature.args[1])(context, builder, args[1]).data
        start = builder.gep(places, [args[2]])
        values = ir.Constant(_VECTOR, ir.Undefined)
        for i in range(N_LANES):
            place = builder.load(builder.gep(start, [ir.Constant(ir.IntType(64), i)]))
            value = builder.load(builder.gep(data, [builder.zext(place, ir.IntType(64))]))
            values = builder.insert_element(values, value, ir.Constant(_INT, i))
        return values

    return lanes(array, indices, types.intp), codegen


@intrinsic
def find_uint16(typingctx, array, offset, value):
    """Position of ``value`` among sixteen uint16 of a C-contiguous array, counted from ``offset``; 16 if absent."""
    if array.dtype != types.uint16:
        return None

    def codegen(context, builder, signature, args):
        small = ir.IntType(16)
        kind = ir.VectorType(small, N_LANES)
        found = builder.load(_address(context, builder, signature.args[0], args[0], args[1], kind), align=2)
        one = builder.insert_element(
            ir.Constant(kind, ir.Undefined), builder.trunc(args[2], small), ir.Constant(_INT, 0)
        )
        all_lanes = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, N_LANES), [0] * N_LANES))
        bits = builder.bitcast(builder.icmp_unsigned("==", found, all_lanes), small)
        return builder.zext(builder.cttz(bits, ir.Constant(ir.IntType(1), 0)), ir.IntType(64))

    return types.int64(array, types.intp, types.int64), codegen


@intrinsic
def nonzero(typingctx, vector):
    """Bits of the lanes that are not zero, the first lane lowest."""

    def codegen(context, builder, signature, args):
        found = builder.fcmp_unordered("!=", args[0], ir.Constant(_VECTOR, [0.0] * N_LANES))
        return builder.zext(builder.bitcast(found, ir.IntType(N_LANES)), ir.IntType(64))

    return types.int64(lanes), codegen


@intrinsic
def lowest(typingctx, bits):
    """Number of the lowest bit that is set."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@intrinsic
def store(typingctx, array, offset, value):
    """Store sixteen float32 in a C-contiguous array, from the flat position ``offset`` on."""

    def codegen(context, builder, signature, args):
        pointer = _address(context, builder, signature.args[0], args[0], args[1], _VECTOR)
        builder.store(args[2], pointer, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), codegen


@intrinsic
def prefetch(typingctx, array, offset):
    """Prefetch the cache line at a flat position of an array; changes no result."""

    def codegen(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, ir.Constant(_INT, 0), ir.Constant(_INT, 3), ir.Constant(_INT, 1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@intrinsic
def splat(typingctx, value):
    """Vector with the same float32 in all lanes."""

    def codegen(context, builder, signature, args):
        return _splat(builder, args[0])

    return lanes(types.float32), codegen


def _lane_by_lane(operation: str):
    def typer(typingctx, a, b):
        def codegen(context, builder, signature, args):
            return getattr(builder, operation)(args[0], args[1])

        return lanes(lanes, lanes), codegen

    typer.__name__ = operation
    return intrinsic(typer)


add = _lane_by_lane("fadd")
sub = _lane_by_lane("fsub")
mul = _lane_by_lane("fmul")


@intrinsic
def positive(typingctx, vector):
    """Set negative lanes to zero."""

    def codegen(context, builder, signature, args):
        zero = ir.Constant(_VECTOR, [0.0] * N_LANES)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[0], zero)

    return lanes(lanes), codegen


@intrinsic
def get(typingctx, vector, lane):
    """The float32 in one lane."""

    def codegen(context, builder, signature, args):
        return builder.extract_element(args[0], builder.trunc(args[1], _INT))

    return types.float32(lanes, types.intp), codegen


@intrinsic
def add_from(typingctx, vector, lane, value):
    """Add a float32 to one lane and all lanes after it."""

    def codegen(context, builder, signature, args):
        numbered = ir.VectorType(_INT, N_LANES)
        first = builder.insert_element(
            ir.Constant(numbered, ir.Undefined), builder.trunc(args[1], _INT), ir.Constant(_INT, 0)
        )
        first = builder.shuffle_vector(first, first, ir.Constant(numbered, [0] * N_LANES))
        from_there = builder.icmp_unsigned(">=", ir.Constant(numbered, list(range(N_LANES))), first)
        zero = ir.Constant(_VECTOR, [0.0] * N_LANES)
        return builder.fadd(args[0], builder.select(from_there, _splat(builder, args[2]), zero))

    return lanes(lanes, types.intp, types.float32), codegen


@intrinsic
def numbers(typingctx):
    """Vector of the lane numbers, 0 to 15."""

    def codegen(context, builder, signature, args):
        return ir.Constant(_VECTOR, [float(i) for i in range(N_LANES)])

    return lanes(), codegen


@intrinsic
def zero_where_equal(typingctx, vector, a, b):
    """Set to zero the lanes in which ``a`` equals ``b``."""

    def codegen(context, builder, signature, args):
        equal = builder.fcmp_ordered("==", args[1], args[2])
        return builder.select(equal, ir.Constant(_VECTOR, [0.0] * N_LANES), args[0])

    return lanes(lanes, lanes, lanes), codegen


@intrinsic
def prefix(typingctx, vector):
    """Prefix sums over the lanes, in a fixed order: within groups of four, then over the groups.

    Two rounds of three independent shuffles have less latency than four rounds of one.
    """

    def codegen(context, builder, signature, args):
        total = args[0]
        for step in (1, 4):
            one, two, three = (_moved_up(builder, total, n * step) for n in (1, 2, 3))
            total = builder.fadd(builder.fadd(total, one), builder.fadd(two, three))
        return total

    return lanes(lanes), codegen


def _moved_up(builder, vector, n: int):
    """Shift lane i to lane i + n, with zeros below."""
    zero = ir.Constant(_VECTOR, [0.0] * N_LANES)
    places = [N_LANES + i if i < n else i - n for i in range(N_LANES)]
    return builder.shuffle_vector(vector, zero, ir.Constant(ir.VectorType(_INT, N_LANES), places))


@intrinsic
def last(typingctx, vector):
    """Broadcast the last lane to all lanes."""

    def codegen(context, builder, signature, args):
        places = ir.Constant(ir.VectorType(_INT, N_LANES), [N_LANES - 1] * N_LANES)
        return builder.shuffle_vector(args[0], args[0], places)

    return lanes(lanes), codegen


@intrinsic
def count_at_most(typingctx, vector, bounds):
    """Number of lanes that are less than or equal to the same lane of ``bounds``."""

    def codegen(context, builder, signature, args):
        return _number_true(builder, builder.fcmp_ordered("<=", args[0], args[1]), N_LANES)

    return types.int64(lanes, lanes), codegen


def _number_true(builder, conditions, n: int):
    return builder.zext(builder.ctpop(builder.bitcast(conditions, ir.IntType(n))), ir.IntType(64))


def _eight_in_steps(step: int):
    """Make an intrinsic that searches eight values ``step`` apart by one vector comparison."""
    eight = ir.VectorType(_FLOAT, 8)
    numbered = ir.VectorType(_INT, 8)

    def spread(builder, value, kind):
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_INT, 0))
        return builder.shuffle_vector(one, one, ir.Constant(numbered, [0] * 8))

    def typer(typingctx, array, offset, since, extra, bound):
        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            start = builder.gep(data, [args[1]])
            values = ir.Constant(eight, ir.Undefined)
            for i in range(8):
                value = builder.load(builder.gep(start, [ir.Constant(ir.IntType(64), i * step)]))
                values = builder.insert_element(values, value, ir.Constant(_INT, i))
            places = ir.Constant(numbered, list(range(8)))
            counts = builder.icmp_signed(">=", places, spread(builder, builder.trunc(args[2], _INT), numbered))
            more = builder.select(counts, spread(builder, args[3], eight), ir.Constant(eight, [0.0] * 8))
            below = builder.fcmp_ordered("<=", builder.fadd(values, more), spread(builder, args[4], eight))
            return _number_true(builder, below, 8)

        return types.int64(array, types.intp, types.intp, types.float32, types.float32), codegen

    typer.__name__ = f"count_eight_{step}_apart"
    typer.__doc__ = (
        f"How many of eight values, from a flat position on and {step} apart, are at most ``bound``, after ``extra`` "
        "has been added to those from number ``since`` on."
    )
    return intrinsic(typer)


count_eight_blocks = _eight_in_steps(N_LANES)
count_eight_groups = _eight_in_steps(8 * N_LANES)


def padded(n: int) -> int:
    """Length of a row of ``n`` numbers, rounded up to whole vectors.

    Examples
    --------
    >>> from topoi.kernels.lanes import padded
    >>> padded(16), padded(17)
    (16, 32)
    """
    return -(-n // N_LANES) * N_LANES


@compiled
def aligned_floats(n):
    """Allocate ``n`` float32 zeros aligned to a cache line, so that no vector straddles two lines."""
    room = np.zeros(n + N_LANES, np.float32)
    start = (-room.ctypes.data % _CACHE_LINE) // 4
    return room[start : start + n]


__all__ = [
    "Lanes",
    "N_LANES",
    "add",
    "add_from",
    "aligned_floats",
    "count_at_most",
    "count_eight_blocks",
    "count_eight_groups",
    "find_uint16",
    "gather",
    "get",
    "lanes",
    "last",
    "lowest",
    "load",
    "load_uint16",
    "mul",
    "nonzero",
    "numbers",
    "padded",
    "positive",
    "prefetch",
    "prefix",
    "splat",
    "store",
    "sub",
    "zero_where_equal",
]
