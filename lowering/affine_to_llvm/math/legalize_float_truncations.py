"""Rounding to 16-bit floats without library calls, and by instructions."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import Machine, facts_of

_APPROXIMATE = "#arith.fastmath<afn>"
_ROUND = {16: "llvm.x86.avx512bf16.cvtneps2bf16.512", 8: "llvm.x86.avx512bf16.cvtneps2bf16.256"}


@dataclass(frozen=True)
class LegalizeFloatTruncations(Pass):
    """Round f64 to f16 or bf16 through f32, with the result of a single rounding, and f32 to bf16 by an instruction where it may.

    No x86 instruction does it in one step, and the library functions that would (`__truncdfbf2`) are missing from older
    C runtimes. The step to f32 rounds to odd: toward zero, with the last bit set when that was inexact. f32 has more
    than two bits more than either target, so the second rounding sees all it needs (Boldo and Melquiond, 2008).

    before:
        %y = arith.truncf %x : f64 to bf16
    after:
        %odd = ... : f32
        %y = arith.truncf %odd : f32 to bf16

    bf16 becomes f64 in two steps, too: compared and chosen as f64, LLVM would choose among bf16 and round by such a function.

    The instruction for vectors (vcvtneps2bf16) takes subnormal numbers as 0, which a truncation with `fastmath<afn>` allows, such
    as that of `dl.cast {flush = true}`. Without it, rounding takes seven instructions a vector: 112x112x32 of a depthwise
    convolution with 3x3 taps takes 121 us with those and 104 with it, on one core of Zen 4.
    """

    def run(self, op: ir.Operation) -> None:
        facts = facts_of(op)
        for inner in nested_ops(op):
            if inner.name == "arith.truncf" and _is_double_to_half(inner):
                _replace(inner)
            elif inner.name == "arith.extf" and _is_bf16_to_double(inner):
                _extend_twice(inner)
            elif inner.name == "arith.truncf" and (instruction := _instruction(inner, facts)):
                _call(inner, instruction)


def _instruction(op: ir.Operation, facts: Machine) -> str | None:
    """The intrinsic that rounds the vector of f32 which `op` rounds to bf16, None where the target has none or it may not."""
    source, target = op.operands[0].type, op.results[0].type
    is_vector = isinstance(target, ir.VectorType) and target.rank == 1
    if not is_vector or not isinstance(_element(source), ir.F32Type) or not isinstance(_element(target), ir.BF16Type):
        return None
    may_flush = "fastmath" in op.attributes and str(op.attributes["fastmath"]) == _APPROXIMATE
    has_it = facts.arch == "x86_64" and "avx512_bf16" in facts.features and "avx512vl" in facts.features
    return _ROUND.get(target.shape[0]) if may_flush and has_it else None


def _call(op: ir.Operation, intrinsic: str) -> None:
    attributes = {
        "intrin": ir.StringAttr.get(intrinsic, op.context),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0], op.context),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([], op.context),
    }
    with op.location, ir.InsertionPoint(op):
        made = ir.Operation.create("llvm.call_intrinsic", [op.results[0].type], [op.operands[0]], attributes)
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


def _is_double_to_half(op: ir.Operation) -> bool:
    target = _element(op.result.type)
    source = _element(op.operands[0].type)
    return isinstance(source, ir.F64Type) and isinstance(target, ir.F16Type | ir.BF16Type)


def _is_bf16_to_double(op: ir.Operation) -> bool:
    return isinstance(_element(op.operands[0].type), ir.BF16Type) and isinstance(_element(op.result.type), ir.F64Type)


def _extend_twice(op: ir.Operation) -> None:
    with op.location, ir.InsertionPoint(op):
        single = arith.extf(_like(op.result.type, ir.F32Type.get()), op.operands[0])
        op.result.replace_all_uses_with(arith.extf(op.result.type, single))
    op.erase()


def _like(kind: ir.Type, element: ir.Type) -> ir.Type:
    return ir.VectorType.get(kind.shape, element) if isinstance(kind, ir.VectorType) else element


def _replace(op: ir.Operation) -> None:
    with op.location, ir.InsertionPoint(op):
        odd = _round_to_odd(op.operands[0])
        op.result.replace_all_uses_with(arith.truncf(op.result.type, odd))
    op.erase()


def _round_to_odd(value: ir.Value) -> ir.Value:
    """`value` (f64) as f32: exact if it fits, else the neighbour whose last bit is set. Infinities and NaN stay."""
    single = _like(value.type, ir.F32Type.get())
    bits = _like(value.type, ir.IntegerType.get_signless(32))
    nearest = arith.truncf(single, value)
    back = arith.extf(value.type, nearest)
    inexact = arith.cmpf(arith.CmpFPredicate.ONE, back, value)
    ordinal = arith.bitcast(bits, nearest)
    one = _constant(bits, 1)
    magnitudes = (_magnitude(back), _magnitude(value))
    too_far = arith.cmpi(arith.CmpIPredicate.ugt, *magnitudes)
    toward_zero = arith.select(too_far, arith.subi(ordinal, one), ordinal)
    return arith.bitcast(single, arith.select(inexact, arith.ori(toward_zero, one), ordinal))


def _magnitude(value: ir.Value) -> ir.Value:
    """Bits of f64 `value` without the sign; they are ordered as the absolute values are."""
    bits = _like(value.type, ir.IntegerType.get_signless(64))
    return arith.andi(arith.bitcast(bits, value), _constant(bits, 0x7FFF_FFFF_FFFF_FFFF))


def _constant(kind: ir.Type, value: int) -> ir.Value:
    scalar = ir.IntegerAttr.get(_element(kind), value)
    splat = ir.DenseElementsAttr.get_splat(kind, scalar) if isinstance(kind, ir.VectorType) else scalar
    return arith.constant(kind, splat)
