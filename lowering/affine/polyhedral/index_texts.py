"""Index values, affine maps and integer sets as text in isl's notation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op
from dlc.analysis.integer_sets import constraints_of
from dlc.lowering.affine.ir.element_relations import LoopVariable
from dlc.lowering.affine.ir.index_maps import MOST_ADDRESSED, applied_map, constant_of
from dlc.lowering.affine.polyhedral.model import ExtractionError


@dataclass
class IndexTexts:
    """Spells index values over the names of the loops around them; other values from outside become parameters."""

    is_outside: Callable[[ir.Value], bool]
    """Whether a value exists before the scop's first op runs: such index values are parameters."""

    parameters: dict[str, ir.Value] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)
    """What is known of the parameters, as constraints."""

    def value(self, value: ir.Value, loops: Sequence[LoopVariable], user: ir.Operation) -> str:
        """`value` as an expression; ExtractionError at `user` when it is not affine."""
        for loop in loops:
            if loop.variable == value:
                return loop.name
        op = defining_op(value)
        if op is None:
            return self._parameter(value, user)
        if op.name == "arith.constant":
            return str(ir.IntegerAttr(op.attributes["value"]).value)
        if op.name == "memref.dim":
            return self._size_of(op, loops, user)
        if op.name in ("affine.min", "affine.max"):
            found = self.map(op.attributes["map"].value, list(op.operands), loops, op)
            return extreme(op.name.removeprefix("affine."), found)
        applied = applied_map(op)
        if applied is None:
            return self._parameter(value, user)
        return self.map(*applied, loops, op)[0]

    def size(self, memref: ir.Value, axis: int, loops: Sequence[LoopVariable], user: ir.Operation) -> str | None:
        """The size of `memref` along `axis`; None where no value here tells it."""
        kind = ir.MemRefType(memref.type)
        if kind.is_static_dim(axis):
            return str(kind.shape[axis])
        op = defining_op(memref)
        if op is not None and op.name in ALLOCATIONS:
            dynamic = sum(not kind.is_static_dim(before) for before in range(axis))
            return self.value(op.operands[dynamic], loops, user)
        known = (name for name, value in self.parameters.items() if _is_size_of(value, memref, axis))
        return next(known, None)

    def note_sizes(self, memref: ir.Value) -> None:
        """Sizes that `memref` was allocated with, where they come from outside, are at least 0."""
        op = defining_op(memref)
        if op is None or op.name not in ALLOCATIONS:
            return
        for operand in list(op.operands)[: ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]]:
            if self.is_outside(operand):
                fact = f"{self.value(operand, (), op)} >= 0"
                self.facts += [] if fact in self.facts else [fact]

    def _size_of(self, op: ir.Operation, loops: Sequence[LoopVariable], user: ir.Operation) -> str:
        """A `memref.dim`: a number, the value that the allocation got, or a parameter, one for each memref and axis."""
        axis = constant_of(op.operands[1])
        kind = op.operands[0].type
        if axis is None or not isinstance(kind, ir.MemRefType) or not 0 <= axis < kind.rank:
            return self._parameter(op.results[0], user)
        known = self.size(op.operands[0], axis, loops, user)
        if known is not None and (known.isdigit() or self.is_outside(op.results[0])):
            return known
        name = self._parameter(op.results[0], user)
        self.facts.append(f"{name} >= 0")
        return name

    def map(self, map: ir.AffineMap, operands: Sequence[ir.Value], loops: Sequence[LoopVariable], user: ir.Operation) -> list[str]:
        """The results of `map` on `operands` (dims first, then symbols)."""
        names = [self.value(operand, loops, user) for operand in operands]
        return [_expression(result, names, map.n_dims, user) for result in map.results]

    def conditions(self, op: ir.Operation, loops: Sequence[LoopVariable]) -> list[str]:
        """What an `affine.if` asks, one text per constraint."""
        sides, relations = constraints_of(op.attributes["condition"])
        texts = self.map(sides, list(op.operands), loops, op)
        return [f"{text} {relation} 0" for text, relation in zip(texts, relations, strict=True)]

    def _parameter(self, value: ir.Value, user: ir.Operation) -> str:
        """The name of the parameter `value`."""
        if not self.is_outside(value):
            raise ExtractionError(
                user,
                "an index is computed or read inside the loops and is not affine in their variables",
                "express it with affine.apply, hoist what does not change, or keep this nest out of the polyhedral passes",
            )
        for name, known in self.parameters.items():
            if known == value:
                return name
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return name


def _is_size_of(value: ir.Value, memref: ir.Value, axis: int) -> bool:
    op = defining_op(value)
    return op is not None and op.name == "memref.dim" and op.operands[0] == memref and constant_of(op.operands[1]) == axis


def extreme(kind: str, texts: Sequence[str]) -> str:
    """`max(a, max(b, c))`"""
    text = texts[-1]
    for other in reversed(texts[:-1]):
        text = f"{kind}({other}, {text})"
    return text


def _expression(expression: ir.AffineExpr, names: Sequence[str], dims: int, user: ir.Operation) -> str:
    """`expression` with its dims and symbols spelled `names`."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return names[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return names[dims + expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        if abs(expression.value) > MOST_ADDRESSED:
            raise ExtractionError(user, f"{expression.value} is beyond any index of memory", "give a number within 2^47")
        return str(expression.value)
    lhs = _expression(expression.lhs, names, dims, user)
    rhs = _expression(expression.rhs, names, dims, user)
    if isinstance(expression, ir.AffineAddExpr):
        return f"({lhs} + {rhs})"
    if not _is_number(rhs) and not (isinstance(expression, ir.AffineMulExpr) and _is_number(lhs)):
        raise ExtractionError(user, "an index multiplies or divides by a value that is not a constant", "make that size static")
    if isinstance(expression, ir.AffineMulExpr):
        return f"({lhs} * {rhs})"
    if int(rhs) <= 0:
        raise ExtractionError(user, f"an index is divided by {rhs}", "divide by a positive number")
    if isinstance(expression, ir.AffineModExpr):
        return f"(({lhs}) mod {rhs})"
    if isinstance(expression, ir.AffineFloorDivExpr):
        return f"floor(({lhs})/{rhs})"
    return f"ceil(({lhs})/{rhs})"


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()
