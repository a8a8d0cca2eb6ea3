"""Elementwise ops write over an operand that nobody reads afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_linalg
from dlc.lowering.linalg.require_tensors import require_tensors
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class ReuseOperands(Pass):
    """Give the ops of kernel functions destinations that bufferize without further memory or copies.

    An elementwise `linalg.generic` whose destination is empty takes an operand of the same type as destination, if a linalg
    op computed it, both are indexed alike, and no later op reads it. A fill that several ops start from is repeated for
    each of them.

    before: %e = tensor.empty()   %y = linalg.generic ins(%x) outs(%e) { exp %in }
    after:  %y = linalg.generic outs(%x) { exp %out }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every kernel function."""
        require_tensors(op)
        for item in op.regions[0].blocks[0].operations:
            function = item.operation
            if function.name == "func.func" and is_kernel(function):
                for block in function.regions[0].blocks:
                    _rewrite(block)


def _rewrite(block: ir.Block) -> None:
    for op in [op.operation for op in block.operations if op.operation.name == "linalg.fill"]:
        _repeat_fill(op, block)
    for op in [op.operation for op in block.operations]:
        if op.name == "linalg.generic" and len(op.results) == 1:
            _reuse(op)


def _repeat_fill(fill: ir.Operation, block: ir.Block) -> None:
    """Put a copy of `fill` in front of each op of `block` that starts from it, if there are several."""
    users: list[ir.Operation] = []
    for use in fill.results[0].uses:
        user = use.owner.operation
        destination = _destination(user) if user.block == block and is_linalg(user) else None
        if destination is not None and destination == fill.results[0]:
            users.append(user)
    if len(users) < 2:
        return
    for user in users:
        with ir.InsertionPoint(user):
            copy = fill.clone().operation
        user.operands[len(user.operands) - 1] = copy.results[0]
    if not _is_used(fill.results[0]):
        fill.erase()


def _destination(op: ir.Operation) -> ir.Value | None:
    """The destination of a linalg op with one result."""
    return op.operands[len(op.operands) - 1] if len(op.results) == 1 else None


def _reuse(op: ir.Operation) -> None:
    """Let `op` write over the first operand that qualifies."""
    empty = defining_op(op.operands[len(op.operands) - 1])
    block = op.regions[0].blocks[0]
    old = block.arguments[len(block.arguments) - 1]
    if empty is None or empty.name != "tensor.empty" or _is_used(old) or "reduction" in str(op.attributes["iterator_types"]):
        return
    maps = [attribute.value for attribute in ir.ArrayAttr(op.attributes["indexing_maps"])]
    if not maps[-1].is_permutation:
        return
    values = list(op.operands)
    for place, value in enumerate(values[:-1]):
        same = value.type == values[-1].type and maps[place] == maps[-1]
        if same and values.count(value) == 1 and _dies_at(op, value):
            _write_over(op, place)
            return


def _is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def _dies_at(op: ir.Operation, value: ir.Value) -> bool:
    """Whether `value` is a linalg op's result that only ops before `op` use, directly in its block."""
    source = defining_op(value)
    if source is None or not is_linalg(source) or source.block != op.block:
        return False
    users = [use.owner.operation for use in value.uses]
    return all(user == op or (is_linalg(user) and user.block == op.block and user.is_before_in_block(op)) for user in users)


def _write_over(op: ir.Operation, place: int) -> None:
    """Make the input at `place` the destination; the body reads it as the old output."""
    block = op.regions[0].blocks[0]
    count = len(op.operands)
    value = op.operands[place]
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    operands = [operand for index, operand in enumerate(op.operands) if index not in (place, count - 1)]
    block.arguments[place].replace_all_uses_with(block.arguments[count - 1])
    block.erase_argument(place)
    attributes = dict(op.attributes.items())
    attributes["indexing_maps"] = ir.ArrayAttr.get([each for index, each in enumerate(maps) if index != place])
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([count - 2, 1])
    with ir.InsertionPoint(op), op.location:
        made = ir.Operation.create(
            "linalg.generic", results=[value.type], operands=[*operands, value], attributes=attributes, regions=1
        )
    block.append_to(made.regions[0])
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
