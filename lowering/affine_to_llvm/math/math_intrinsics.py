"""Instructions for which MLIR has no op, as calls of LLVM's intrinsics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlc._mlir import ir
from dlc.lowering.affine_to_llvm.math.math_emitter import Num, Shape

_SCALEF: Mapping[tuple[str, Shape], str] = {
    ("f32", (16,)): "llvm.x86.avx512.mask.scalef.ps.512",
    ("f64", (8,)): "llvm.x86.avx512.mask.scalef.pd.512",
}
_CURRENT_ROUNDING = 4


def may_scalef(x: Num) -> bool:
    """Whether the target has `scalef` for some vectors."""
    return "avx512f" in x.emitter.features


def has_scalef(x: Num) -> bool:
    """Whether `scalef` is an instruction for `x` on the target."""
    return may_scalef(x) and (x.kind, x.emitter.shape) in _SCALEF


def scalef(x: Num, n: Num) -> Num:
    """x * 2^n for an integer n, rounded once; overflow and subnormal results come out right. Needs `has_scalef(x)`."""
    shape = x.emitter.shape
    assert shape is not None
    every = _scalar(x, (1 << shape[0]) - 1, shape[0])
    return _call(_SCALEF[x.kind, shape], (x, n, x), (every, _scalar(x, _CURRENT_ROUNDING, 32)))


def _scalar(x: Num, value: int, bits: int) -> ir.Value:
    """The integer constant `value` of `bits` bits, which an intrinsic wants as an immediate or mask."""
    emitter = x.emitter.at(x.emitter.point, None)
    return emitter.constant(value if value < 1 << bits - 1 else value - (1 << bits), f"i{bits}").value


def _call(name: str, operands: Sequence[Num], scalars: Sequence[ir.Value]) -> Num:
    """Append a call of the intrinsic `name`, whose result is like its first operand."""
    first = operands[0]
    emitter = first.emitter
    values = [*(operand.value for operand in operands), *scalars]
    with emitter.types.context:
        attributes = {
            "intrin": ir.StringAttr.get(name),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(values), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        }
    kind = emitter.types.type(emitter.shape, first.kind)
    call = ir.Operation.create(
        "llvm.call_intrinsic", results=[kind], operands=values, attributes=attributes, ip=emitter.point, loc=emitter.location
    )
    return Num(emitter, call.results[0], first.kind)
