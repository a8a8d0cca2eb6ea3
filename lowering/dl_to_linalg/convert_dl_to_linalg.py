"""`convert-dl-to-linalg`: every dl op becomes linalg, tensor, arith and scf ops on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import element_of_dtype, signless_twin, tensor_type
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.loop_steps import require_steps
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, find_lowering
from dlc.lowering.dl_to_linalg.building.slice_sizes import require_slice_sizes
from dlc.lowering.dl_to_linalg.building.stated_bounds import require_stated_bounds
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class ConvertDlToLinalg(Pass):
    """Lower every dl op to linalg on tensors, by the lowering of its family.

    Integers become signless (`ui8` is `i8` from here on), in function types too. Weights must be arguments: run
    `dl-bind-params` first. Kernels (`dl.kernel`) are inlined. What a function states of its dims (`dl.bounds`) is checked first.

    before: %1 = "dl.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    after:  %1 = linalg.generic {...} ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) { arith.maximumf ... }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and function.operation.regions[0].blocks:
                _convert_function(function.operation)
            elif function.operation.name == "func.func":
                _convert_signature(function.operation)


def _convert_function(function: ir.Operation) -> None:
    shapes = SymbolicShapes(function)
    sources = _collect(function, shapes)
    require_steps(function)
    require_slice_sizes(function, shapes)
    _convert_signature(function)
    for operation, source in sources:
        if source is None:
            _inline_kernel(operation)
            continue
        _lower(operation, source)
    require_stated_bounds(function)
    _convert_other_types(function)


def _collect(block_owner: ir.Operation, shapes: SymbolicShapes) -> list[tuple[ir.Operation, SourceOp | None]]:
    """The dl ops below an op, inner ones of a kernel before the kernel, with what their lowerings need of the dl types."""
    found: list[tuple[ir.Operation, SourceOp | None]] = []
    for region in block_owner.regions:
        for block in region.blocks:
            for op in block.operations:
                found.extend(_collect(op.operation, shapes))
                if op.operation.name == "dl.kernel":
                    found.append((op.operation, None))
                elif op.operation.name.startswith("dl.") and op.operation.name != "dl.yield":
                    found.append((op.operation, _source(op.operation, shapes)))
    return found


def _source(operation: ir.Operation, shapes: SymbolicShapes) -> SourceOp:
    if op_class(operation.name) is None or find_lowering(operation.name.removeprefix("dl.")) is None:
        raise PassFailure(operation, f"'{operation.name}' op has no lowering to linalg", _REMEDIES.get(operation.name, ""))
    view = operation.opview
    groups = view.operand_groups()
    return SourceOp(
        name=operation.name,
        operands=groups,
        types=tuple(_typed(group, shapes.type_of) for group in groups),
        results=tuple(shapes.type_of(result) for result in operation.results),
        attributes=view.attribute_values(),
        location=operation.location,
    )


def _typed(group: Any, type_of: Any) -> Any:
    if group is None:
        return None
    return tuple(type_of(value) for value in group) if isinstance(group, list) else type_of(group)


def _lower(operation: ir.Operation, source: SourceOp) -> None:
    current = replace(source, operands=operation.opview.operand_groups())  # those before it are lowered by now
    builder = Builder(ir.InsertionPoint(operation), operation.location, op_name=source.name)
    lower = find_lowering(source.name.removeprefix("dl."))
    assert lower is not None  # `_source` took the op
    with operation.location:
        lowered = lower(builder, current)
        values: Sequence[ir.Value] = [lowered] if isinstance(lowered, ir.Value) else lowered
        for result, value in zip(list(operation.results), values, strict=True):
            result.replace_all_uses_with(_declared(builder, value, _signless(result.type)))
    operation.erase()


def _declared(b: Builder, value: ir.Value, kind: ir.RankedTensorType) -> ir.Value:
    """`value` as its declared type, whose static dims it must have at run time."""
    for axis in range(kind.rank if value.type != kind else 0):
        if not kind.is_dynamic_dim(axis) and value.type.is_dynamic_dim(axis):
            b.require_equal((f"result dim {axis}", b.dim(value, axis)), ("its declared size", int(kind.shape[axis])))
    return b.cast(value, kind)


def _inline_kernel(operation: ir.Operation) -> None:
    """Move the ops of a kernel's region before it and replace its results."""
    block = operation.regions[0].blocks[0]
    *body, last = list(block.operations)
    for op in body:
        op.operation.move_before(operation)
    for result, value in zip(list(operation.results), list(last.operation.operands), strict=True):
        result.replace_all_uses_with(value)
    operation.erase()


def _convert_signature(function: ir.Operation) -> None:
    """Make the integers of a function's type and block arguments signless."""
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs, results = [_signless(item) for item in kind.inputs], [_signless(item) for item in kind.results]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    for region in function.regions:
        for block in region.blocks:
            for argument in block.arguments:
                argument.set_type(_signless(argument.type))


def _convert_other_types(function: ir.Operation) -> None:
    """Results of ops that are not dl's (calls, control flow) and arguments of inner blocks become signless too."""

    def visit(operation: ir.Operation) -> ir.WalkResult:
        for result in operation.results:
            if _signless(result.type) != result.type:
                result.set_type(_signless(result.type))
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_type(_signless(argument.type))
        return ir.WalkResult.ADVANCE

    function.walk(visit)


def _signless(kind: ir.Type) -> ir.Type:
    """The type with signless integer elements; what is only stored is a byte."""
    plain = tensor_type(kind)
    if plain is None or signless_twin(plain.dtype) == plain.dtype:
        return kind
    return ir.RankedTensorType.get(kind.shape, element_of_dtype(signless_twin(plain.dtype)), kind.encoding)


_REMEDIES = {"dl.param": "run dl-bind-params first"}
