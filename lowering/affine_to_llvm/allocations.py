"""Allocations whose sizes no overflow makes small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dlc._mlir import arith, ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine_to_llvm.result_memory import ALLOC, RESULT, callee_of

_MOST_BYTES = float(1 << 62)
"""No allocation is as large."""
_TOO_LARGE = -1
"""The size that stands for it: as an unsigned number it is beyond all memory."""
_SIZE_OPERAND: Mapping[str, int] = {ALLOC: 0, RESULT: 1}


def guard_allocations(ops: Sequence[ir.Operation]) -> None:
    """Let allocations of a size that 64 bits cannot count fail, among `ops` of an llvm-dialect module.

    before: %bytes = llvm.mul %n, %m                       // may wrap around
            %p = llvm.call @_mlir_memref_to_llvm_alloc(%bytes)
    after:  %fits = "0 <= n * m < 2^62, in f64"
            %checked = llvm.select %fits, %bytes, %all_ones
            %p = llvm.call @_mlir_memref_to_llvm_alloc(%checked)
    """
    for op in ops:
        operand = _SIZE_OPERAND.get(callee_of(op))
        if operand is not None:
            with ir.InsertionPoint(op), op.location:
                op.operands[operand] = _checked(op.operands[operand])


def _checked(size: ir.Value) -> ir.Value:
    """`size`, or all ones where it is not what it would be without overflow."""
    shadow = _OverflowCheck()
    exact = shadow.of(size)
    if not shadow.has_unknown:
        return size
    fits = [_compare("oge", exact, _double(0.0)), _compare("olt", exact, _double(_MOST_BYTES))]
    both = _create("llvm.and", fits, _bit())
    return _create("llvm.select", [both, size, _long(_TOO_LARGE)], size.type)


class _OverflowCheck:
    """Computes integers once more in f64, whose range no product of sizes leaves. It emits at the current place."""

    def __init__(self) -> None:
        self.has_unknown = False
        """Whether a number depends on anything but constants."""
        self._found: dict[ir.Value, ir.Value] = {}

    def of(self, value: ir.Value) -> ir.Value:
        if value not in self._found:
            self._found[value] = self._compute(value)
        return self._found[value]

    def _compute(self, value: ir.Value) -> ir.Value:
        op = defining_op(value)
        compute = None if op is None else _RULES.get(op.name)
        found = None if op is None or compute is None else compute(self, op)
        if found is not None:
            return found
        self.has_unknown = True
        return _create("llvm.sitofp", [value], ir.F64Type.get())


def _constant_of(shadow: _OverflowCheck, op: ir.Operation) -> ir.Value | None:
    value = op.attributes["value"]
    return _double(float(ir.IntegerAttr(value).value)) if isinstance(value, ir.IntegerAttr) else None


def _binary(name: str) -> Callable[[_OverflowCheck, ir.Operation], ir.Value | None]:
    def compute(shadow: _OverflowCheck, op: ir.Operation) -> ir.Value:
        return _create(name, [shadow.of(operand) for operand in op.operands], ir.F64Type.get())

    return compute


def _rounded(shadow: _OverflowCheck, op: ir.Operation) -> ir.Value | None:
    """`x & -64` clears a few bits of x: as a number it is about x. Any other mask is not understood."""
    mask = defining_op(op.operands[1])
    if mask is None or mask.name != "llvm.mlir.constant" or ir.IntegerAttr(mask.attributes["value"]).value >= 0:
        return None
    return shadow.of(op.operands[0])


def _selected(shadow: _OverflowCheck, op: ir.Operation) -> ir.Value:
    condition, *values = op.operands
    return _create("llvm.select", [condition, *(shadow.of(value) for value in values)], ir.F64Type.get())


def _distance(shadow: _OverflowCheck, op: ir.Operation) -> ir.Value | None:
    """The bytes of n elements as upstream computes them: the address of element n of an array at 0."""
    place = defining_op(op.operands[0])
    if place is None or place.name != "llvm.getelementptr" or len(place.operands) > 2:
        return None
    base = defining_op(place.operands[0])
    element = _bytes_of(ir.TypeAttr(place.attributes["elem_type"]).value)
    if base is None or base.name != "llvm.mlir.zero" or element is None:
        return None
    if len(place.operands) == 2:
        return _create("llvm.fmul", [shadow.of(place.operands[1]), _double(element)], ir.F64Type.get())
    indices = list(ir.DenseI32ArrayAttr(place.attributes["rawConstantIndices"]))
    return _double(indices[0] * element) if len(indices) == 1 else None


def _bytes_of(kind: ir.Type) -> float | None:
    width = getattr(kind, "width", None)
    return None if width is None else max(1.0, width / 8)


_RULES: Mapping[str, Callable[[_OverflowCheck, ir.Operation], ir.Value | None]] = {
    "llvm.mlir.constant": _constant_of,
    "llvm.mul": _binary("llvm.fmul"),
    "llvm.add": _binary("llvm.fadd"),
    "llvm.sub": _binary("llvm.fsub"),
    "llvm.intr.smax": _binary("llvm.intr.maxnum"),
    "llvm.intr.smin": _binary("llvm.intr.minnum"),
    "llvm.and": _rounded,
    "llvm.select": _selected,
    "llvm.ptrtoint": _distance,
}
"""How a number is computed in f64, by the op that gives it; None where it is not understood."""


def _create(name: str, operands: Sequence[ir.Value], kind: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=list(operands)).result


def _compare(predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
    code = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(arith.CmpFPredicate[predicate.upper()]))
    return ir.Operation.create("llvm.fcmp", results=[_bit()], operands=[left, right], attributes={"predicate": code}).result


def _constant(kind: ir.Type, value: ir.Attribute) -> ir.Value:
    return ir.Operation.create("llvm.mlir.constant", results=[kind], attributes={"value": value}).result


def _double(value: float) -> ir.Value:
    return _constant(ir.F64Type.get(), ir.FloatAttr.get(ir.F64Type.get(), value))


def _long(value: int) -> ir.Value:
    kind = ir.IntegerType.get_signless(64)
    return _constant(kind, ir.IntegerAttr.get(kind, value))


def _bit() -> ir.Type:
    return ir.IntegerType.get_signless(1)
