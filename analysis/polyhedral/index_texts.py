"""Index values, affine maps and integer sets as text in isl's notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.polyhedral.model import ExtractionError, Loop


@dataclass
class IndexTexts:
    """Spells index values over the names of the loops around them; other values from outside become parameters."""

    outside: ir.Block
    """The block that the scop's ops lie in: index values that it, or a block around it, defines are parameters."""

    parameters: dict[str, ir.Value] = field(default_factory=dict)

    def value(self, value: ir.Value, loops: Sequence[Loop], user: ir.Operation) -> str:
        """`value` as an expression; ExtractionError at `user` when it is not affine."""
        for loop in loops:
            if loop.variable == value:
                return loop.name
        if isinstance(value, ir.BlockArgument):
            return self._outer(value, user)
        op = value.owner.operation
        if op.name == "arith.constant":
            return str(ir.IntegerAttr(op.attributes["value"]).value)
        if op.name == "affine.apply":
            return self.map(op.attributes["map"].value, list(op.operands), loops, op)[0]
        if op.name in ("affine.min", "affine.max"):
            found = self.map(op.attributes["map"].value, list(op.operands), loops, op)
            return extreme(op.name.removeprefix("affine."), found)
        return self._outer(value, user)

    def map(self, map: ir.AffineMap, operands: Sequence[ir.Value], loops: Sequence[Loop], user: ir.Operation) -> list[str]:
        """The results of `map` on `operands` (dims first, then symbols)."""
        names = [self.value(operand, loops, user) for operand in operands]
        return [_expression(result, names, map.n_dims, user) for result in map.results]

    def conditions(self, op: ir.Operation, loops: Sequence[Loop]) -> list[str]:
        """What an `affine.if` asks, one text per constraint."""
        sides, relations = _constraints(op.attributes["condition"])
        texts = self.map(sides, list(op.operands), loops, op)
        return [f"{text} {relation} 0" for text, relation in zip(texts, relations, strict=True)]

    def _outer(self, value: ir.Value, user: ir.Operation) -> str:
        """The name of the parameter `value`."""
        if not _is_visible(value, self.outside):
            raise ExtractionError(
                user,
                "an index is computed inside the loops and is not affine in their variables",
                "express it with affine.apply, or keep this nest out of the polyhedral passes",
            )
        for name, known in self.parameters.items():
            if known == value:
                return name
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return name


def _constraints(condition: ir.Attribute) -> tuple[ir.AffineMap, list[str]]:
    """The left sides of an integer set's constraints as one map, and their relations to zero.

    The bindings build integer sets but do not read them from attributes, so the text is taken apart.
    """
    inputs, constraints = str(condition).removeprefix("affine_set<").removesuffix(">").split(" : ", 1)
    sides = [side.rsplit(" ", 2) for side in constraints[1:-1].split(", ")]
    text = f"affine_map<{inputs} -> ({', '.join(side[0] for side in sides)})>"
    return ir.AffineMapAttr(ir.Attribute.parse(text, context=condition.context)).value, [
        "=" if side[1] == "==" else ">=" for side in sides
    ]


def extreme(kind: str, texts: Sequence[str]) -> str:
    """`max(a, max(b, c))`"""
    text = texts[-1]
    for other in reversed(texts[:-1]):
        text = f"{kind}({other}, {text})"
    return text


def _is_visible(value: ir.Value, block: ir.Block) -> bool:
    """Whether `value` is defined in `block`, or in a block around it."""
    home = value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block
    current: ir.Block | None = block
    while current is not None:
        if current == home:
            return True
        owner = current.owner.operation
        current = owner.block if owner.parent is not None else None
    return False


def _expression(expression: ir.AffineExpr, names: Sequence[str], dims: int, user: ir.Operation) -> str:
    """`expression` with its dims and symbols spelled `names`."""
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return names[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return names[dims + expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return str(expression.value)
    lhs = _expression(expression.lhs, names, dims, user)
    rhs = _expression(expression.rhs, names, dims, user)
    if isinstance(expression, ir.AffineAddExpr):
        return f"({lhs} + {rhs})"
    if not _is_number(rhs) and not (isinstance(expression, ir.AffineMulExpr) and _is_number(lhs)):
        raise ExtractionError(user, "an index multiplies or divides by a value that is not a constant", "make that size static")
    if isinstance(expression, ir.AffineMulExpr):
        return f"({lhs} * {rhs})"
    if isinstance(expression, ir.AffineModExpr):
        return f"(({lhs}) mod {rhs})"
    if isinstance(expression, ir.AffineFloorDivExpr):
        return f"floor(({lhs})/{rhs})"
    return f"ceil(({lhs})/{rhs})"


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()
