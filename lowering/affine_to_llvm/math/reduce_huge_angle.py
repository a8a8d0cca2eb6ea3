"""Exact reduction of huge angles modulo pi/2, after Payne and Hanek (1983), in 64-bit integers.

|x| = m * 2^e with a 53-bit integer m. The quotient x * 2/pi is needed modulo 4 only, so leading bits of 2/pi do not matter: their
products with m * 2^e are multiples of 4. The next 192 bits give the quotient to 126 fractional bits, enough for the double that is
closest to a multiple of pi/2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from dlc._mlir import ir, scf, vector
from dlc.lowering.affine_to_llvm.math.float_formats import F64
from dlc.lowering.affine_to_llvm.math.math_emitter import Emitter, FunctionConstants, Num
from dlc.lowering.affine_to_llvm.math.math_notation import fma, where

FUNCTION = "dlc_reduce_huge_angle"

TWO_OVER_PI_BITS = (
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73e"
    "e88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b7"
    "4f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab"
)
"""The first 1216 bits of 2/pi, behind the point."""

LEADING_ZEROS = 64
"""Zero bits put in front, so that the window of any |x| >= 2^-8 starts within the string."""

# pi/2 * 2^-62 in two parts.
HALF_PI_SCALED = (1.5707963267948966 * 2.0**-62, 6.123233995736766e-17 * 2.0**-62)

Angle = tuple[Num, Num, Num]
"""r, what r lacks, and the integer q, of x = q * pi/2 + r."""

RESULT_KINDS = ("f64", "f64", "i64")


def reduce_huge_lanes(x: Num, limit: float, fast: Angle) -> Angle:
    """`fast` (r, what it lacks, and q) with the lanes where |x| > limit reduced exactly.

    All of it sits under one branch that is taken when any lane is that large.
    """
    emitter = x.emitter
    huge = abs(x) > limit
    types = [part.value.type for part in fast]
    branch = scf.IfOp(_any(huge), types, has_else=True, ip=emitter.point, loc=emitter.location).operation
    taken, passed = (region.blocks[0] for region in branch.regions)
    inner = emitter.at(ir.InsertionPoint(taken), emitter.shape)
    exact = _call_lanes(inner, Num(inner, x.value, x.kind).convert("f64"))
    merged = [where(huge, new.convert(old.kind), Num(inner, old.value, old.kind)) for new, old in zip(exact, fast, strict=True)]
    _yield(taken, merged, emitter.location)
    _yield(passed, fast, emitter.location)
    r, low, q = (Num(emitter, result, old.kind) for result, old in zip(branch.results, fast, strict=True))
    return r, low, q


def _yield(block: ir.Block, values: Sequence[Num], location: ir.Location) -> None:
    operands = [value.value for value in values]
    ir.Operation.create("scf.yield", operands=operands, ip=ir.InsertionPoint(block), loc=location)


def _flatten(x: Num) -> Num:
    """A vector of any rank as one of rank 1."""
    emitter = x.emitter
    return emitter.at(emitter.point, (math.prod(emitter.shape or ()),)).op("vector.shape_cast", (x,), x.kind)


def _any(condition: Num) -> ir.Value:
    """The `or` of all lanes."""
    emitter = condition.emitter
    if emitter.shape is None:
        return condition.value
    kind = ir.Attribute.parse("#vector.kind<or>", emitter.types.context)
    return emitter.at(emitter.point, None).op("vector.reduction", (_flatten(condition),), "i1", {"kind": kind}).value


def _call_lanes(emitter: Emitter, x: Num) -> Angle:
    """The exact reduction of every lane of the f64 value x."""
    if emitter.shape is None:
        return _angle(emitter, _call(emitter, x.value))
    flat = _flatten(x)
    scalars = emitter.at(emitter.point, None)
    bounds = [scalars.constant(value, "index").value for value in (0, flat.value.type.shape[0], 1)]
    start = [flat.emitter.constant(0, kind).value for kind in RESULT_KINDS]
    loop = scf.ForOp(*bounds, start, ip=emitter.point, loc=emitter.location)
    body = emitter.at(ir.InsertionPoint(loop.body), None)
    dynamic = [ir.ShapedType.get_dynamic_size()]
    with body.point, emitter.location:
        lane = [loop.induction_variable]
        results = _call(body, vector.ExtractOp(flat.value, lane, dynamic).result)
        vectors = zip(results, loop.inner_iter_args, strict=True)
        scf.YieldOp([vector.InsertOp(value, into, lane, dynamic).result for value, into in vectors])
    r, low, q = (emitter.op("vector.shape_cast", (part,), part.kind) for part in _angle(flat.emitter, list(loop.results_)))
    return r, low, q


def _angle(emitter: Emitter, values: Sequence[ir.Value]) -> Angle:
    r, low, q = (Num(emitter, value, kind) for value, kind in zip(values, RESULT_KINDS, strict=True))
    return r, low, q


def _call(emitter: Emitter, x: ir.Value) -> list[ir.Value]:
    call = ir.Operation.create(
        "func.call",
        results=[emitter.types.element(kind) for kind in RESULT_KINDS],
        operands=[x],
        attributes={"callee": ir.FlatSymbolRefAttr.get(FUNCTION, emitter.types.context)},
        ip=emitter.point,
        loc=emitter.location,
    )
    return list(call.results)


def define_reduction(module: ir.Operation, emitter: Emitter) -> None:
    """Add the private function `FUNCTION`: f64 -> (r: f64, low: f64, q: i64) to `module`, unless it is there."""
    if FUNCTION in ir.SymbolTable(module):
        return
    float_type, int_type = emitter.types.element("f64"), emitter.types.element("i64")
    signature = ir.FunctionType.get([float_type], [float_type, float_type, int_type], emitter.types.context)
    function = ir.Operation.create(
        "func.func",
        regions=1,
        attributes={
            "sym_name": ir.StringAttr.get(FUNCTION, emitter.types.context),
            "function_type": ir.TypeAttr.get(signature, emitter.types.context),
            "sym_visibility": ir.StringAttr.get("private", emitter.types.context),
            "llvm.no_inline": ir.UnitAttr.get(emitter.types.context),
        },
        ip=ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]),
        loc=emitter.location,
    )
    block = function.regions[0].blocks.append(float_type, arg_locs=[emitter.location])
    point = ir.InsertionPoint(block)
    pool = FunctionConstants(point, emitter.location)
    body = Emitter(emitter.types, pool, point, emitter.location, None, F64)
    results = _reduce(body.wrap(block.arguments[0], "f64"))
    ir.Operation.create(
        "func.return",
        operands=[value.value for value in results],
        ip=point,
        loc=emitter.location,
    )


def _reduce(x: Num) -> Angle:
    """r, what it lacks, and q, of |x| >= 2^-8; NaN for infinite x and NaN."""
    bits = x.bits()
    mantissa = (bits & ((1 << 52) - 1)) | (1 << 52)
    exponent = (bits.shift_right_unsigned(52) & 0x7FF) - (1023 + 52)
    high, low = _multiply(mantissa, _window(exponent + (LEADING_ZEROS - 2)))
    # Two integer bits in front of the fraction; adding half a unit rounds to the nearest quadrant.
    q = (high + (1 << 61)).shift_right_unsigned(62)
    high = high - (q << 62)
    r, rest = _to_angle(high, low)
    negative = x < 0.0
    poison = x * 0.0
    return where(negative, -r, r) + poison, where(negative, -rest, rest), where(negative, q.like(0) - q, q)


def _window(position: Num) -> list[Num]:
    """The 192 bits of 2/pi from bit `position` of the padded string, as three words.

    The words are picked by halving steps, as a barrel shifter does.
    """
    number = int(TWO_OVER_PI_BITS, 16)
    count = (LEADING_ZEROS + 4 * len(TWO_OVER_PI_BITS)) // 64
    words = [position.like(_signed(number >> (64 * (count - 1 - i)))) for i in range(count)]
    index = position >> 6
    for step in (16, 8, 4, 2, 1):
        taken = (index & step).equals(step)
        kept = step - 1 + 4
        words = [where(taken, words[i + step], words[i]) if i + step < len(words) else words[i] for i in range(kept)]
    shift = position & 63
    return [(a << shift) | b.shift_right_unsigned(1).shift_right_unsigned(shift ^ 63) for a, b in itertools.pairwise(words)]


def _signed(word: int) -> int:
    """The low 64 bits of `word` as a signed integer."""
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


def _multiply(m: Num, window: list[Num]) -> tuple[Num, Num]:
    """The upper two words of m * window modulo 2^192."""
    _, carry_2 = _multiply_words(m, window[2])
    low_1, high_1 = _multiply_words(m, window[1])
    low = low_1 + carry_2
    carry = where(low.below_unsigned(low_1), m.like(1), m.like(0))
    return m * window[0] + high_1 + carry, low


def _multiply_words(a: Num, b: Num) -> tuple[Num, Num]:
    """Low and high word of an unsigned product."""
    emitter = a.emitter
    product = ir.Operation.create(
        "arith.mului_extended",
        results=[a.value.type, a.value.type],
        operands=[a.value, b.value],
        ip=emitter.point,
        loc=emitter.location,
    )
    return Num(emitter, product.results[0], a.kind), Num(emitter, product.results[1], a.kind)


def _to_angle(high: Num, low: Num) -> tuple[Num, Num]:
    """(high + low * 2^-64) * 2^-62 * pi/2, with signed `high` and unsigned `low`, as a number and what it lacks."""
    # A signed low word leaves no cancellation between the words of a tiny fraction.
    high = high + low.shift_right_unsigned(63)
    head = high.convert("f64")
    tail = fma(low.convert("f64"), 2.0**-64, (high - head.to_integer()).convert("f64"))
    total = head + tail
    lost = tail - (total - head)
    product = total * HALF_PI_SCALED[0]
    rest = fma(total, HALF_PI_SCALED[0], -product)
    return product, fma(lost, HALF_PI_SCALED[0], fma(total, HALF_PI_SCALED[1], rest))
