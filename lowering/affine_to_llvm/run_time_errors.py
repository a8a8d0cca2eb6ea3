"""Assertions as calls of the runtime, which hands their message to the caller of the compiled model."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import arith, func, ir, scf
from dlc.analysis.buffers import defining_op
from dlc.analysis.symbols import symbol_name
from dlc.lowering.affine_to_llvm.texts import create_text

_RAISE = "dlc_raise"
_RAISE_DIMS = "dlc_raise_dims"
_POINTER = "!llvm.ptr"


def lower_assertions(module: ir.Operation, assertions: Sequence[ir.Operation]) -> None:
    """Replace every `cf.assert` of `module`, the ops `assertions`, by a branch to the runtime's `dlc_raise`, or `dlc_raise_dims`.

    The second gets the operands of the comparison that is asserted. Upstream's lowering ends the process instead.
    """
    texts: dict[str, str] = {}
    for op in assertions:
        message = ir.StringAttr(op.attributes["msg"]).value
        name = texts.setdefault(message, f"dlc_message_{len(texts)}")
        _lower(op, name)
    block = module.regions[0].blocks[0]
    with module.location, ir.InsertionPoint.at_block_begin(block):
        for message, name in texts.items():
            create_text(name, message)
        if assertions:
            _declare(block)


def _lower(op: ir.Operation, text: str) -> None:
    condition = op.operands[0]
    with op.location, ir.InsertionPoint(op):
        fails = arith.xori(condition, arith.constant(condition.type, 1))
        branch = scf.IfOp(fails)
        with ir.InsertionPoint(branch.then_block):
            _call(text, _compared(condition))
            scf.YieldOp([])
    op.erase()


def _call(text: str, values: list[ir.Value]) -> None:
    pointer, long = ir.Type.parse(_POINTER), ir.IntegerType.get_signless(64)
    attributes = {"global_name": ir.FlatSymbolRefAttr.get(text)}
    address = ir.Operation.create("llvm.mlir.addressof", results=[pointer], attributes=attributes).result
    numbers = [arith.index_cast(long, value) for value in values]
    func.CallOp([], _RAISE_DIMS if values else _RAISE, [address, *numbers])


def _compared(condition: ir.Value) -> list[ir.Value]:
    """The two sizes that `condition` compares, in its first comparison if it is a disjunction; none if it is another."""
    op = defining_op(condition)
    while op is not None and op.name == "arith.ori":
        op = defining_op(op.operands[0])
    if op is None or op.name != "arith.cmpi" or not isinstance(op.operands[0].type, ir.IndexType):
        return []
    return list(op.operands)


def _declare(block: ir.Block) -> None:
    """Declare the runtime's functions in the module, those that are missing."""
    pointer, long = ir.Type.parse(_POINTER), ir.IntegerType.get_signless(64)
    present = {symbol_name(op) for op in block.operations if "sym_name" in op.attributes}
    for name, inputs in ((_RAISE, [pointer]), (_RAISE_DIMS, [pointer, long, long])):
        if name not in present:
            func.FuncOp(name, (inputs, []), visibility="private")
