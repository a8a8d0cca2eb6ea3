"""Static sizes in the types of what loops carry, and of the tensors that they begin with and write into."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.carried_tensors import carried_tensors
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.control import slice_axes, slice_sizes
from dlc.dialects.dl.types import TensorType, mlir_type, tensor_type
from dlc.lowering.dl.control.scalars import control_ops, known_scalar
from dlc.lowering.dl.matching import source, type_of

_LOOPS = ("scf.for", "scf.while")

FOLLOWING = frozenset({*_LOOPS, "scf.condition", "tensor.cast", "tensor.empty", "tensor.insert_slice"})
"""Ops whose types follow from those of other values here; so does an `scf.yield` of a loop."""


def refine_loops(function: ir.Operation) -> bool:
    """Write sizes that are known into the types of tensors that loops carry, where each step keeps them; whether some were.

    Casts between what a loop carries and what its operands and steps give are made and removed as types need. Other ops that take
    such a value are the caller's.
    """
    for op in [inner for inner in nested_ops(function) if inner.name == "tensor.empty"]:
        _refine_empty(op)
    _use_sources(function)
    shapes = SymbolicShapes(function)
    changed = [_refine_loop(loop, shapes) for loop in _loops(function)]
    for op in [inner for inner in nested_ops(function) if inner.name == "tensor.insert_slice"]:
        _refine_slice(op)
    fit_loops(function)
    return any(changed)


def fit_loops(function: ir.Operation) -> None:
    """Cast what loops are given, and what their steps give, to the types of what they carry."""
    for loop in _loops(function):
        arguments = _arguments(loop)
        _fit(loop, len(loop.operands) - len(arguments), arguments)
        body = loop.regions[len(loop.regions) - 1].blocks[0]
        _fit(body.operations[len(body.operations) - 1].operation, 0, arguments)
    _use_sources(function)


def restore_types(op: ir.Operation, kinds: Sequence[ir.Type]) -> None:
    """Cast the operands of an op that have another type than `kinds` says."""
    for index, kind in enumerate(kinds):
        if op.operands[index].type != kind:
            with op.location, ir.InsertionPoint(op):
                op.operands[index] = _cast(op.operands[index], kind)


def _loops(function: ir.Operation) -> list[ir.Operation]:
    return [op for op in control_ops(function) if op.name in _LOOPS]


def _arguments(loop: ir.Operation) -> list[ir.Value]:
    """The names of what a loop carries in its first block."""
    return list(loop.regions[0].blocks[0].arguments)[1 if loop.name == "scf.for" else 0 :]


def _fit(op: ir.Operation, first: int, arguments: Sequence[ir.Value]) -> None:
    restore_types(op, [*(value.type for value in list(op.operands)[:first]), *(argument.type for argument in arguments)])


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    """`value` as `kind`, at the current place."""
    op = source(value, "tensor.cast")
    if op is not None and op.operands[0].type == kind:
        return op.operands[0]
    found: ir.Value = ir.Operation.create("tensor.cast", results=[kind], operands=[value]).result
    return found


def _refine_empty(op: ir.Operation) -> None:
    """An empty tensor whose sizes are known says so."""
    kind, given = type_of(op.results[0]), iter(op.operands)
    sizes = [next(given) if dim is None else dim for dim in kind.shape]
    known = [known_scalar(size) if isinstance(size, ir.Value) else size for size in sizes]
    dims = [size if isinstance(size, int) and size >= 0 else None for size in known]
    if dims == list(kind.shape):
        return
    with op.location, ir.InsertionPoint(op):
        left = [size for size, dim in zip(sizes, dims, strict=True) if dim is None]
        made = ir.Operation.create("tensor.empty", results=[mlir_type(kind.with_shape(dims))], operands=left)
        op.results[0].replace_all_uses_with(_cast(made.result, op.results[0].type))
    op.erase()


def _use_sources(function: ir.Operation) -> None:
    """Let dl ops, casts and returns take what was cast to a type that says less; casts without use go."""
    for op in nested_ops(function):
        if op.name.startswith("dl.") or op.name in ("tensor.cast", "func.return"):
            for index, value in enumerate(op.operands):
                op.operands[index] = _source_of(value)
    for op in reversed(nested_ops(function)):
        if op.name != "tensor.cast":
            continue
        if op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
        if not any(True for _ in op.results[0].uses):
            op.erase()


def _source_of(value: ir.Value) -> ir.Value:
    """What `value` was cast from, where that says as much or more of its sizes."""
    op = source(value, "tensor.cast")
    known, said = (None, None) if op is None else (tensor_type(op.operands[0].type), tensor_type(value.type))
    if op is None or known is None or said is None:
        return value
    says_more = all(dim is None or dim == own for own, dim in zip(known.shape, said.shape, strict=True))
    return op.operands[0] if says_more else value


def _refine_loop(loop: ir.Operation, shapes: SymbolicShapes) -> bool:
    """Whether a type of what `loop` carries says more now."""
    changed = False
    for item in carried_tensors(loop):
        declared = tensor_type(item.names[0].type)
        known = _static_part(shapes.type_of(item.names[0]))
        if declared is None or known == declared:
            continue
        changed = True
        for name in item.names:
            name.set_type(mlir_type(known))
    return changed


def _static_part(kind: TensorType) -> TensorType:
    return kind.with_shape([dim if isinstance(dim, int) else None for dim in kind.shape])


def _refine_slice(op: ir.Operation) -> None:
    """A slice whose sizes are known says so, and the result has the type of what is written into."""
    part, whole = op.operands[0], _source_of(op.operands[1])
    given = slice_sizes(op)
    sizes = [known if isinstance(size, ir.Value) and (known := known_scalar(size)) is not None else size for size in given]
    if whole.type == op.results[0].type and sizes == given:
        return
    counts, offsets = list(op.attributes["operandSegmentSizes"]), list(op.operands)[2:]
    dynamic = [size for size in sizes if isinstance(size, ir.Value)]
    attributes = dict(op.attributes.items())
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([*counts[:3], len(dynamic), counts[4]])
    unknown = ir.ShapedType.get_dynamic_size()
    attributes["static_sizes"] = ir.DenseI64ArrayAttr.get([size if isinstance(size, int) else unknown for size in sizes])
    kind = type_of(part)
    written = [sizes[axis] for axis in slice_axes(op, kind.rank)]
    wanted = mlir_type(kind.with_shape([size if isinstance(size, int) else None for size in written]))
    with op.location, ir.InsertionPoint(op):
        part = part if part.type == wanted else _cast(part, wanted)
        operands = [part, whole, *offsets[: counts[2]], *dynamic, *offsets[counts[2] + counts[3] :]]
        made = ir.Operation.create(op.name, results=[whole.type], operands=operands, attributes=attributes)
    op.results[0].replace_all_uses_with(made.result)
    op.erase()
