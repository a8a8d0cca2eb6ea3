"""Sizes of buffers as values: one value for one size, defined at the top level of a function where that is possible."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlc._mlir import arith, ir
from dlc.analysis.buffers import ancestor_in, argument_marks, defining_op, nested_ops
from dlc.lowering.axes import axis_of
from dlc.lowering.linalg.dim_names import given_names


def axis_size(value: ir.Value, axis: int) -> ir.Value:
    """The dynamic size of memref `value` along `axis`; what it takes is emitted at the top level where possible."""
    function = _function_around(ir.InsertionPoint.current.block)
    return _at_top(_size_of(value, axis, function), function)


def allocate(kind: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A `memref.alloc` of the dynamic `sizes` at the current place."""
    attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0])}
    found: ir.Value = ir.Operation.create("memref.alloc", results=[kind], operands=list(sizes), attributes=attributes).result
    return found


def resolve_sizes(function: ir.Operation) -> None:
    """Replace each `memref.dim` of an allocation or a view by the values that it was made with."""
    for op in [op for op in nested_ops(function) if op.name == "memref.dim"]:
        axis = axis_of(op)
        if axis is not None and _is_made(op.operands[0]) and ir.MemRefType(op.operands[0].type).is_dynamic_dim(axis):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_size_of(op.operands[0], axis, function))
            op.erase()


def unify_sizes(function: ir.Operation) -> None:
    """Replace each `memref.dim` of an argument by that of the first argument which shares the size by name."""
    block = function.regions[0].blocks[0]
    for op in [op for op in nested_ops(function) if op.name == "memref.dim" and op.operands[0].owner == block]:
        axis, kind = axis_of(op), op.operands[0].type
        if axis is not None and isinstance(kind, ir.MemRefType) and kind.is_dynamic_dim(axis):
            with op.location:
                op.results[0].replace_all_uses_with(_argument_size(op.operands[0], axis, function))
            op.erase()


def _function_around(block: ir.Block) -> ir.Operation:
    op = block.owner.operation
    while op.name != "func.func":
        op = op.parent.operation
    return op


def _size_of(value: ir.Value, axis: int, function: ir.Operation) -> ir.Value:
    """The dynamic size of `value` along `axis`, from the allocation, view or argument that it comes from if that is known."""
    op = defining_op(value)
    if op is None:
        return _argument_size(value, axis, function)
    dynamic = [place for place in range(ir.MemRefType(value.type).rank) if ir.MemRefType(value.type).is_dynamic_dim(place)]
    sizes = _size_operands(op)
    if len(sizes) == len(dynamic):
        return sizes[dynamic.index(axis)]
    if op.name == "memref.cast" and _is_dynamic(op.operands[0].type, axis):
        return _size_of(op.operands[0], axis, function)
    if op.name == "memref.collapse_shape":
        return _product(op, axis, function)
    return _dim(value, axis)


def _is_dynamic(kind: ir.Type, axis: int) -> bool:
    return isinstance(kind, ir.MemRefType) and kind.is_dynamic_dim(axis)


def _product(collapse: ir.Operation, axis: int, function: ir.Operation) -> ir.Value:
    """The product of the sizes that become axis `axis` of a memref.collapse_shape."""
    source = collapse.operands[0]
    kind = ir.MemRefType(source.type)
    group = [ir.IntegerAttr(item).value for item in ir.ArrayAttr(ir.ArrayAttr(collapse.attributes["reassociation"])[axis])]
    known = math.prod(kind.shape[place] for place in group if not kind.is_dynamic_dim(place))
    total = _at_top(_size_of(source, next(filter(kind.is_dynamic_dim, group)), function), function)
    for place in [place for place in group if kind.is_dynamic_dim(place)][1:]:
        total = arith.MulIOp(total, _at_top(_size_of(source, place, function), function)).result
    return total if known == 1 else arith.MulIOp(total, arith.ConstantOp(ir.IndexType.get(), known).result).result


def _size_operands(op: ir.Operation) -> Sequence[ir.Value]:
    """The operands of an allocation or view that give its dynamic sizes, if there are such."""
    if op.name in ("memref.alloc", "memref.alloca"):
        return list(op.operands)[: op.attributes["operandSegmentSizes"][0]]
    if op.name == "memref.expand_shape":
        return list(op.operands)[1:]
    if op.name == "memref.subview" and ir.MemRefType(op.operands[0].type).rank == ir.MemRefType(op.results[0].type).rank:
        source, offsets, sizes, _ = op.attributes["operandSegmentSizes"]
        return list(op.operands)[source + offsets : source + offsets + sizes]
    return ()


def _argument_size(value: ir.Value, axis: int, function: ir.Operation) -> ir.Value:
    """The size of the first argument of `function` that shares it by name; of `value` itself where none is named."""
    block = function.regions[0].blocks[0]
    if value.owner != block:
        return _dim(value, axis)
    names = [_names(function, place) for place in range(len(block.arguments))]
    wanted = names[value.arg_number][axis] if axis < len(names[value.arg_number]) else ""
    place = value.arg_number
    if wanted:
        place = next(index for index, known in enumerate(names) if wanted in known)
        axis = names[place].index(wanted)
    with ir.InsertionPoint.at_block_begin(block):
        return _dim(block.arguments[place], axis)


def _names(function: ir.Operation, place: int) -> list[str]:
    """The names of an argument's dims."""
    argument = function.regions[0].blocks[0].arguments[place]
    marks = argument_marks(argument)
    names = None if marks is None else given_names(marks)
    return names[: argument.type.rank] if names and isinstance(argument.type, ir.MemRefType) else []


def _dim(value: ir.Value, axis: int) -> ir.Value:
    position = arith.ConstantOp(ir.IndexType.get(), axis).result
    return ir.Operation.create("memref.dim", results=[ir.IndexType.get()], operands=[value, position]).results[0]


def _at_top(value: ir.Value, function: ir.Operation) -> ir.Value:
    """`value`, or the same computed before the branch that it is computed in, if it does not depend on the branch."""
    op = defining_op(value)
    block = function.regions[0].blocks[0]
    if op is None or op.block == block:
        return value
    if op.name == "memref.dim":
        source, axis = op.operands[0], axis_of(op)
        if axis is not None and _is_inside(source, block):
            with ir.InsertionPoint(op):
                found = _size_of(source, axis, function)
            return found if _is_dim_of(found, source) else _at_top(found, function)
    elif not op.name.startswith("arith."):
        return value
    operands = [_at_top(operand, function) for operand in op.operands]
    if any(_is_inside(operand, block) for operand in operands):
        return value
    copy = op.clone(ip=ir.InsertionPoint(ancestor_in(op, block))).operation
    for place, operand in enumerate(operands):
        copy.operands[place] = operand
    return copy.results[0]


def _is_inside(value: ir.Value, block: ir.Block) -> bool:
    """Whether `value` is known only in some region of an op of `block`."""
    op = defining_op(value)
    return value.owner != block if op is None else op.block != block


def _is_dim_of(value: ir.Value, source: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name == "memref.dim" and op.operands[0] == source


def _is_made(value: ir.Value) -> bool:
    """Whether an op made `value`, a ranked memref."""
    return isinstance(value.type, ir.MemRefType) and not isinstance(value, ir.BlockArgument)
