"""What a function of affine loops computes, run iteration by iteration on symbolic values: the judge of comparisons.

Values are nested tuples, so that two functions leave equal terms in memory exactly if they compute the same whatever the ops mean.
Shares no code with `dlc.analysis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dlc._mlir import ir

Place = tuple[str, tuple[int, ...]]


@dataclass
class Run:
    """One run: `memory` maps places to terms; `trace` lists accesses as (op, loop variables, place, whether it writes)."""

    memory: dict[Place, Any] = field(default_factory=dict)
    trace: list[tuple[ir.Operation, tuple[int, ...], Place, bool]] = field(default_factory=list)
    _values: dict[ir.Value, Any] = field(default_factory=dict)
    _variables: list[int] = field(default_factory=list)
    _allocations: int = 0

    def block(self, block: ir.Block) -> list[Any]:
        """Run a block; returns what it yields."""
        for view in block.operations:
            op = view.operation
            if op.name in ("affine.yield", "func.return"):
                return [self.value(operand) for operand in op.operands]
            self._op(op)
        return []

    def value(self, value: ir.Value) -> Any:
        """The term of `value`."""
        if value not in self._values and isinstance(value, ir.BlockArgument):
            self._values[value] = ("argument", value.arg_number)
        return self._values[value]

    def _op(self, op: ir.Operation) -> None:
        if op.name == "affine.for":
            self._loop(op)
        elif op.name == "affine.if":
            self._condition(op)
        elif op.name == "affine.load":
            self._values[op.results[0]] = self._access(op, 0, False)
        elif op.name == "affine.store":
            self._access(op, 1, True)
        elif op.name in ("memref.alloc", "memref.alloca"):
            self._allocations += 1
            self._values[op.results[0]] = ("local", self._allocations)
        elif op.name == "affine.apply":
            self._values[op.results[0]] = self._map(op.attributes["map"].value, list(op.operands))[0]
        elif op.name == "arith.constant":
            value = op.attributes["value"]
            self._values[op.results[0]] = value.value if isinstance(op.results[0].type, ir.IndexType) else str(value)
        elif op.name != "memref.dealloc":
            terms = tuple(self.value(operand) for operand in op.operands)
            for number, result in enumerate(op.results):
                self._values[result] = (op.name, number, *terms)

    def _loop(self, op: ir.Operation) -> None:
        counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands, body = list(op.operands), op.regions[0].blocks[0]
        lower = max(self._map(op.attributes["lowerBoundMap"].value, operands[: counts[0]]))
        upper = min(self._map(op.attributes["upperBoundMap"].value, operands[counts[0] : counts[0] + counts[1]]))
        carried = [self.value(init) for init in operands[counts[0] + counts[1] :]]
        self._variables.append(0)
        for index in range(lower, upper, ir.IntegerAttr(op.attributes["step"]).value):
            self._variables[-1] = index
            self._values.update(zip(body.arguments, [index, *carried], strict=True))
            carried = self.block(body)
        self._variables.pop()
        self._values.update(zip(op.results, carried, strict=True))

    def _condition(self, op: ir.Operation) -> None:
        head, text = str(op.attributes["condition"]).removeprefix("affine_set<").removesuffix(">").split(" : ", 1)
        holds = True
        for constraint in text[1:-1].split(", "):
            side, relation, _ = constraint.rsplit(" ", 2)
            map = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{head} -> ({side})>", context=op.context)).value
            value = self._map(map, list(op.operands))[0]
            holds = holds and (value == 0 if relation == "==" else value >= 0)
        branch = op.regions[0 if holds else 1]
        yielded = self.block(branch.blocks[0]) if len(branch.blocks) else []
        self._values.update(zip(op.results, yielded, strict=True))

    def _access(self, op: ir.Operation, at: int, writes: bool) -> Any:
        indices = self._map(op.attributes["map"].value, list(op.operands)[at + 1 :])
        place = (str(self.value(op.operands[at])), tuple(indices))
        self.trace.append((op, tuple(self._variables), place, writes))
        if writes:
            self.memory[place] = self.value(op.operands[0])
        return self.memory.setdefault(place, ("initial", place))

    def _map(self, map: ir.AffineMap, operands: Sequence[ir.Value]) -> list[int]:
        names = [self.value(operand) for operand in operands]
        return [_evaluated(result, names, map.n_dims) for result in map.results]


def run(function: ir.Operation) -> Run:
    """Run a function of one block whose index values are all known."""
    found = Run()
    found.block(function.regions[0].blocks[0])
    return found


def visible(found: Run) -> dict[Place, Any]:
    """What a run leaves in the memory of arguments, where that changed."""
    return {place: term for place, term in found.memory.items() if "local" not in place[0] and term != ("initial", place)}


def _evaluated(expression: ir.AffineExpr, names: Sequence[int], dims: int) -> int:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return int(expression.value)
    if isinstance(expression, ir.AffineDimExpr):
        return names[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return names[dims + expression.position]
    one, other = (_evaluated(side, names, dims) for side in (expression.lhs, expression.rhs))
    if isinstance(expression, ir.AffineAddExpr):
        return one + other
    if isinstance(expression, ir.AffineMulExpr):
        return one * other
    if isinstance(expression, ir.AffineModExpr):
        return one % other
    return one // other if isinstance(expression, ir.AffineFloorDivExpr) else -(-one // other)
