"""`dl-count-loops`: loops that count, and carry what keeps its shape, become `scf.for`."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.carried_tensors import carried_tensors
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.lowering.dl.control.scalars import constant_scalar, control_ops, is_less, known_scalar
from dlc.lowering.dl.matching import functions, source
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class CountLoops(Pass):
    """Make an `scf.for` of an `scf.while` whose number of steps is known before it begins, where what it carries keeps its shape.

    Such a loop counts from 0 as long as the number is less than a value from before the loop and a truth value holds, which is
    true at the start and which each step gives as true. A version of a model for one size has such loops where the model has none.

    before:
        scf.while (%i = %c0, %a = %x, %go = %true) {
          %p = arith.cmpi slt, %i, %n   %q = arith.andi %p, %go   scf.condition(%q) %i, %a, %go
        } do { ^bb0(%i, %a, %go): ... %j = arith.addi %i, %c1   scf.yield %j, %b, %true }
    after:
        scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) { ... scf.yield %b }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            loops = [inner for inner in control_ops(function) if inner.name == "scf.while"]
            shapes = SymbolicShapes(function) if loops else None
            for loop in [loop for loop in loops if shapes is not None and _keeps_shapes(loop, shapes)]:
                steps = _steps(loop)
                if steps is not None:
                    _count(loop, steps)


def _steps(loop: ir.Operation) -> ir.Value | None:
    """The number of steps of a loop that counts, as it is known before it; None for another loop, and for one without end."""
    asked, body = (region.blocks[0] for region in loop.regions)
    *tests, end = [op.operation for op in asked.operations]
    arguments = list(asked.arguments)
    if len(arguments) < 2 or list(end.operands)[1:] != arguments or len(tests) != 2:
        return None
    number, going = arguments[0], arguments[-1]
    compared, both = tests
    if both.name != "arith.andi" or end.operands[0] != both.results[0]:
        return None
    counts_up = is_less(compared) and compared.operands[0] == number
    if not counts_up or set(both.operands) != {compared.results[0], going} or _is_inside(compared.operands[1], loop):
        return None
    given = list(body.operations[len(body.operations) - 1].operation.operands)
    most = known_scalar(compared.operands[1])
    if most is not None and most > policy().limits.loop_steps:
        return None
    counts = known_scalar(loop.operands[0]) == 0 and _is_next(given[0], body.arguments[0])
    goes_on = known_scalar(loop.operands[len(loop.operands) - 1]) == 1 and known_scalar(given[-1]) == 1
    return compared.operands[1] if counts and goes_on else None


def _keeps_shapes(loop: ir.Operation, shapes: SymbolicShapes) -> bool:
    """Whether each step gives tensors of the shapes that it is given."""
    return all(shapes.type_of(item.names[0]).shape == shapes.type_of(item.start).shape for item in carried_tensors(loop))


def _is_inside(value: ir.Value, loop: ir.Operation) -> bool:
    return any(value.owner == block for region in loop.regions for block in region.blocks)


def _is_next(value: ir.Value, number: ir.Value) -> bool:
    op = source(value)
    if op is None or op.name != "arith.addi" or number not in list(op.operands):
        return False
    left, right = op.operands
    return known_scalar(right if left == number else left) == 1


def _count(loop: ir.Operation, steps: ir.Value) -> None:
    """Replace `loop` by an `scf.for` of `steps` steps."""
    body = loop.regions[1].blocks[0]
    carried = list(loop.operands)[1:-1]
    index = ir.IndexType.get(loop.context)
    with loop.location, ir.InsertionPoint(loop):
        zero, one, true = constant_scalar(0, index), constant_scalar(1, index), constant_scalar(1, loop.results[-1].type)
        kinds = [value.type for value in carried]
        made = ir.Operation.create("scf.for", results=kinds, operands=[zero, steps, one, *carried], regions=1)
        done = _most(steps, zero)
    body.arguments[len(carried) + 1].replace_all_uses_with(true)
    body.erase_argument(len(carried) + 1)
    end = body.operations[len(body.operations) - 1].operation
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create("scf.yield", operands=list(end.operands)[1:-1])
    end.erase()
    body.append_to(made.regions[0])
    for result, value in zip(loop.results, [done, *made.results, true], strict=True):
        result.replace_all_uses_with(value)
    loop.erase()


def _most(left: ir.Value, right: ir.Value) -> ir.Value:
    found: ir.Value = ir.Operation.create("arith.maxsi", results=[left.type], operands=[left, right]).result
    return found
