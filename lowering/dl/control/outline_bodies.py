"""`dl-outline-bodies`: what branches and loops hold becomes functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.dim_bounds import DimBounds
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.types import Dim, TensorType, tensor_type
from dlc.lowering.dl.control.scalars import control_ops
from dlc.lowering.dl.dim_marks import mark_dims
from dlc.lowering.dl.matching import BODY, WeightFacts, dl_ops, functions, is_entry, source
from dlc.lowering.outlining import captures_of, free_numbers, private_function, symbols_in
from dlc.lowering.pass_base import Pass

_NAME = "body"


@dataclass(frozen=True)
class OutlineBodies(Pass):
    """Move the ops of each region of a branch or loop into a private function with the attribute `dl.body`, and call it.

    A graph pass then sees them as it sees an entry. Values that a region reads from outside become arguments; `dl.dims` names the
    dims that they share, with bounds. Constants, weights, and what is computed from these alone are repeated inside, so that they
    can be packed for the ops there. `dl-inline-bodies` undoes it.

    before:
        %0 = scf.if %p -> (tensor<4xf32>) { %1 = "dl.matmul"(%x, %w) ... scf.yield %1 } else { ... }
    after:
        %0 = scf.if %p -> (tensor<4xf32>) { %1 = call @body_0(%x) ... scf.yield %1 } else { ... }
        func.func private @body_0(%x) attributes {dl.body} { %w = "dl.param"() ...  %1 = "dl.matmul"(%x, %w) ... return %1 }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the entries of the module `op`."""
        taken = symbols_in(op)
        for function in functions(op):
            regions = [region for inner in reversed(control_ops(function)) for region in inner.regions]
            if not regions or not is_entry(function):
                continue
            outliner = BodyOutliner(op, taken, SymbolicShapes(function))
            for region in regions:
                for block in region.blocks:
                    outliner.outline(block)


@dataclass(frozen=True)
class BodyOutliner:
    """Makes functions of the blocks of branches and loops of one function."""

    module: ir.Operation
    taken: set[str]
    shapes: SymbolicShapes
    given: dict[ir.Value, TensorType] = field(default_factory=dict)
    """Types of what calls give; `shapes` knows the function as it was."""

    def outline(self, block: ir.Block, bounds: Mapping[Dim, DimBounds] = MappingProxyType({})) -> None:
        """Move the ops of a block, all but its terminator, into a function; `bounds` hold where the block runs."""
        *moved, end = [op.operation for op in block.operations]
        if not any(op.name.startswith("dl.") or dl_ops(op) or op.name == "func.call" for op in moved) or _is_call(moved):
            return
        moved = [*_repeat_weights(block, moved), *moved]
        inside = {result for op in moved for result in op.results}
        returned = list(dict.fromkeys(value for value in end.operands if value in inside))
        captured, constants = captures_of(moved)
        marks = [self.type_of(value) for value in captured], [self.type_of(value) for value in returned]
        with end.location, ir.InsertionPoint(end):
            callee = {"callee": ir.FlatSymbolRefAttr.get(_NAME)}
            kinds = [value.type for value in returned]
            call = ir.Operation.create("func.call", results=kinds, operands=captured, attributes=callee)
            for value, result in zip(returned, call.results, strict=True):
                self._replace(end, value, result)
            function = private_function(_NAME, moved, captured, constants, returned=returned)
        mark_dims(function, *marks, lambda dim: bounds.get(dim) or self.shapes.bounds_of(dim), usual={})
        name = f"{_NAME}_{next(free_numbers(self.taken, [f'{_NAME}_']))}"
        self.taken.add(name)
        function.attributes["sym_name"] = ir.StringAttr.get(name)
        function.attributes[BODY] = ir.UnitAttr.get()
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
        self.module.regions[0].blocks[0].append(function)

    def _replace(self, end: ir.Operation, value: ir.Value, result: ir.Value) -> None:
        kind = self.type_of(value)
        if kind is not None:
            self.given[result] = kind
        for index, operand in enumerate(end.operands):
            if operand == value:
                end.operands[index] = result

    def type_of(self, value: ir.Value) -> TensorType | None:
        """The type of a tensor value, with symbols; None for what is no tensor."""
        if tensor_type(value.type) is None:
            return None
        return self.given[value] if value in self.given else self.shapes.type_of(value)


def _is_call(moved: Sequence[ir.Operation]) -> bool:
    """Whether a block is one call already, or empty."""
    return all(op.name == "func.call" for op in moved) and len(moved) <= 1


def _repeat_weights(block: ir.Block, moved: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Copies, at the start of `block`, of what `moved` reads that is known before the first call."""
    is_weight = WeightFacts()
    read = [value for value in captures_of(moved)[0] if tensor_type(value.type) is not None and is_weight(value)]
    copies: dict[ir.Value, ir.Value] = {}
    made: list[ir.Operation] = []
    place = ir.InsertionPoint.at_block_begin(block)
    waiting = list(reversed(read))
    while waiting:
        op = source(waiting[-1])
        needed = [] if op is None else [operand for operand in op.operands if operand not in copies]
        if op is None or waiting[-1] in copies:
            waiting.pop()
        elif needed:
            waiting.extend(needed)
        else:
            with place:
                copy = op.clone().operation
            for index, operand in enumerate(op.operands):
                copy.operands[index] = copies[operand]
            copies.update(zip(op.results, copy.results, strict=True))
            made.append(copy)
    for op in moved:
        for each in nested_ops(op):
            for index, operand in enumerate(each.operands):
                if operand in copies:
                    each.operands[index] = copies[operand]
    return made
