"""Moving ops into a function of their own: what it takes, how it is built, and which of its arguments are alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, may_alias, nested_ops


def _is_constant(op: ir.Operation) -> bool:
    return op.name == "arith.constant"


def captures_of(
    ops: Sequence[ir.Operation], repeats: Callable[[ir.Operation], bool] = _is_constant
) -> tuple[list[ir.Value], list[ir.Operation]]:
    """Values that `ops` use but do not define, as arguments to pass and constants to repeat; in order of first use."""
    inside = {inner for op in ops for inner in nested_ops(op)}
    blocks = {block for inner in inside for region in inner.regions for block in region.blocks}
    captured: dict[ir.Value, None] = {}
    constants: dict[ir.Operation, None] = {}
    for op in ops:
        for inner in nested_ops(op):
            for value in inner.operands:
                source = defining_op(value)
                if source in inside or (source is None and value.owner in blocks):
                    continue
                if source is not None and repeats(source):
                    constants[source] = None
                else:
                    captured[value] = None
    return list(captured), list(constants)


def private_function(
    name: str,
    moved: Sequence[ir.Operation],
    captured: Sequence[ir.Value],
    constants: Sequence[ir.Operation],
    extra: Sequence[ir.Type] = (),
    returned: Sequence[ir.Value] = (),
) -> ir.Operation:
    """A private function, in no module yet, that holds the ops `moved` and gives `returned`; at the current location.

    Its arguments are `captured`, then one of each type in `extra`; `constants` are repeated at its start.
    """
    location = ir.Location.current
    kinds = [*(value.type for value in captured), *extra]
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [value.type for value in returned])),
    }
    function = ir.Operation.create("func.func", attributes=attributes, regions=1, ip=False)
    block = function.regions[0].blocks.append(*kinds, arg_locs=[location] * len(kinds))
    inner = dict(zip(captured, block.arguments, strict=False))
    with ir.InsertionPoint(block):
        for constant in constants:
            inner[constant.result] = constant.clone().result
        end = ir.Operation.create("func.return", operands=[inner.get(value, value) for value in returned])
    for op in moved:
        op.move_before(end)
        for each in nested_ops(op):
            for index, value in enumerate(each.operands):
                if value in inner:
                    each.operands[index] = inner[value]
    return function


def is_kernel(function: ir.Operation) -> bool:
    """Whether a `func.func` is one kernel, not an entry: it is private, or says so where kernels are modules of their own."""
    return "sym_visibility" in function.attributes or "dl.kernel" in function.attributes


def is_alone(index: int, roots: Sequence[ir.Value | None], written: Sequence[bool]) -> bool:
    """Whether no other root shares memory with root `index` while one of the two is written; None is no memref."""
    others = [
        root
        for position, root in enumerate(roots)
        if root is not None and position != index and (written[index] or written[position])
    ]
    return not any(may_alias(roots[index], other) for other in others)
