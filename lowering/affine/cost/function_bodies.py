"""What a body with functions of mathematics takes: these become chains of instructions that wait for each other.

A core looks ahead over as many instructions as its scheduler holds. Where the chain of a body is long, it does not see enough of
the next iterations to fill the time: several vectors side by side do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, func, ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.registry import find_pass
from dlc.targets.machine import TARGET, Machine
from dlc.targets.machine.attributes import write

_EXPANSION = "math-expand-functions"
_ARITHMETIC = ("arith.", "math.")
_CONSTANT = "arith.constant"
_FREE = (_CONSTANT, "arith.bitcast")
_DIVIDER = ("arith.divf", "math.sqrt")
"""Ops of the unit that starts the next one when it is nearly done with the last."""


@dataclass(frozen=True)
class FunctionBody:
    """One vector's run of a body as instructions."""

    instructions: int
    """That start: all but constants and products that one instruction adds to something."""
    divider_cycles: float
    """Cycles that the divider is busy."""
    latency: float
    """Cycles of the longest chain of instructions that wait for each other."""
    registers: int
    """Most values that are alive at once, constants aside."""
    ahead: int
    """Instructions behind a waiting one that the core sees."""

    def waiting_cycles(self, copies: int) -> float:
        """Cycles of `copies` vectors side by side where the core would start any number of instructions at once."""
        own = copies * self.instructions
        return self.latency * own / (own + self.ahead)


def function_body(body: Sequence[ir.Operation], lanes: int, machine: Machine) -> FunctionBody | None:
    """The ops of `body` in vectors of `lanes` elements, as `math-expand-functions` writes them for `machine`.

    None where there is no function of mathematics among them, or they have regions.
    """
    if not any(op.name.startswith("math.") for op in body) or any(len(op.regions) for op in body):
        return None
    expansion = find_pass(_EXPANSION)
    assert expansion is not None
    with body[0].context, ir.Location.unknown():
        module = ir.Module.create()
        write(module.operation, TARGET, machine)
        with ir.InsertionPoint(module.body):
            block = func.FuncOp("body", ((), ())).add_entry_block()
        _write_vectors(block, body, lanes)
        expansion().run(module.operation)
        return _measured([op.operation for op in block.operations if op.operation.name != _CONSTANT], machine)


def _write_vectors(block: ir.Block, body: Sequence[ir.Operation], lanes: int) -> None:
    """Write the arithmetic of `body` on vectors to `block`; what else it takes are arguments."""
    known: dict[ir.Value, ir.Value] = {}

    def vector_of(value: ir.Value) -> ir.Value:
        if value not in known:
            constant = _constant_of(value)
            known[value] = block.add_argument(_vector(value.type, lanes), value.location) if constant is None else splat(constant)
        return known[value]

    def splat(constant: ir.Operation) -> ir.Value:
        kind = _vector(constant.results[0].type, lanes)
        return arith.ConstantOp(kind, ir.DenseElementsAttr.get_splat(kind, constant.attributes["value"])).result

    with ir.InsertionPoint(block):
        for op in body:
            if not op.name.startswith(_ARITHMETIC) or op.name == _CONSTANT:
                continue
            operands = [vector_of(operand) for operand in op.operands]
            kinds = [_vector(result.type, lanes) for result in op.results]
            attributes = {name: op.attributes[name] for name in op.attributes}
            written = ir.Operation.create(op.name, results=kinds, operands=operands, attributes=attributes)
            known |= dict(zip(op.results, written.results, strict=True))


def _constant_of(value: ir.Value) -> ir.Operation | None:
    op = defining_op(value)
    return op if op is not None and op.name == _CONSTANT else None


def _vector(element: ir.Type, lanes: int) -> ir.VectorType:
    return ir.VectorType.get([lanes], element)


def _measured(ops: Sequence[ir.Operation], machine: Machine) -> FunctionBody:
    """What the straight line `ops` takes."""
    ready: dict[ir.Value, float] = {}
    last = {operand: place for place, op in enumerate(ops) for operand in op.operands if _constant_of(operand) is None}
    alive: set[ir.Value] = set()
    instructions, divider, most = 0, 0.0, 0
    for place, op in enumerate(ops):
        alive |= {operand for operand in op.operands if operand in last}
        most = max(most, len(alive))
        alive = {value for value in (*alive, *op.results) if last.get(value, -1) > place}
        kind = _instruction_of(op)
        is_free = op.name in _FREE or _is_fused(op)
        instructions += not is_free
        divider += machine.cycles(kind) if op.name in _DIVIDER else 0.0
        after = max((ready.get(operand, 0.0) for operand in op.operands), default=0.0)
        after += 0.0 if is_free else machine.instruction(kind).latency
        ready |= dict.fromkeys(op.results, after)
    return FunctionBody(instructions, divider, max(ready.values(), default=0.0), most, machine.scheduler_entries)


def _is_fused(op: ir.Operation) -> bool:
    """Whether one instruction multiplies and adds to something."""
    return op.name == "arith.mulf" and all(use.owner.operation.name in ("arith.addf", "arith.subf") for use in op.results[0].uses)


def _instruction_of(op: ir.Operation) -> str:
    """The member of `Instructions` that an op counts as."""
    elements = [operand.type.element_type for operand in op.operands if isinstance(operand.type, ir.VectorType)]
    element = elements[-1] if elements else None
    if not isinstance(element, ir.FloatType) or op.name == "arith.select":
        return "integer_i32"
    if op.name == "math.sqrt":
        return "sqrt_f32"
    name = "divide" if op.name in _DIVIDER else "fma"
    return f"{name}_{'f64' if isinstance(element, ir.F64Type) else 'f32'}"
