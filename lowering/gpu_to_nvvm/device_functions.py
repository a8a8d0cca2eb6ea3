"""Calls of NVIDIA's device library that LLVM has instructions for: dlc does without the library, which is not free to ship."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir

PREFIX = "__nv_"

_INTRINSICS = {
    "abs": "abs",
    "ceil": "ceil",
    "copysign": "copysign",
    "fabs": "fabs",
    "floor": "floor",
    "fma": "fma",
    "fmax": "maxnum",
    "fmin": "minnum",
    "llabs": "abs",
    "rint": "roundeven",
    "round": "round",
    "sqrt": "sqrt",
}
"""By the library's name of the function on f64; that on f32 has an `f` behind it."""


_CLASSES = {"finitef": 0x1F8, "isfinited": 0x1F8, "isinff": 0x204, "isinfd": 0x204, "isnanf": 0x3, "isnand": 0x3}
"""Functions that ask for a class of floats, with the bits of these classes in LLVM."""


def use_instructions(ops: Sequence[ir.Operation]) -> None:
    """Replace the calls among `ops` by intrinsics of LLVM; declarations without calls go."""
    declared = [op for op in ops if op.name == "llvm.func" and _name_of(op, "sym_name").startswith(PREFIX)]
    left = set()
    for op in [op for op in ops if op.name == "llvm.call" and "callee" in op.attributes]:
        callee = _name_of(op, "callee")
        if not callee.startswith(PREFIX):
            continue
        if not _replace(op, callee.removeprefix(PREFIX)):
            left.add(callee)
    for op in declared:
        if _name_of(op, "sym_name") not in left:
            op.erase()


def _replace(call: ir.Operation, name: str) -> bool:
    """Put LLVM's instruction in the place of a call; False where there is none."""
    intrinsic = _INTRINSICS.get(name) or _INTRINSICS.get(name.removesuffix("f"))
    if len(call.results) != 1:
        return False
    kind, operands = call.results[0].type, list(call.operands)
    with ir.InsertionPoint(call), call.location:
        if name in _CLASSES:
            bit = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), _CLASSES[name])
            flag = ir.IntegerType.get_signless(1)
            asked = ir.Operation.create("llvm.intr.is.fpclass", [flag], operands, {"bit": bit}).results[0]
            new = ir.Operation.create("llvm.zext", [kind], [asked])
        elif intrinsic is not None:
            attributes = {"is_int_min_poison": ir.BoolAttr.get(False)} if intrinsic == "abs" else {}
            new = ir.Operation.create(f"llvm.intr.{intrinsic}", [kind], operands, attributes)
        else:
            return False
    call.results[0].replace_all_uses_with(new.results[0])
    call.erase()
    return True


def _name_of(op: ir.Operation, key: str) -> str:
    return str(op.attributes[key].value)
