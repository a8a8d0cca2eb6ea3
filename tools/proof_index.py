"""Index values of affine loops as expressions in isl's notation, for `dlc-check-proof` alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir

Dims = Sequence[tuple[ir.Value, str]]
"""Variables of the loops around, with their names."""


class Unknown(Exception):
    """Something that the checker does not support."""


@dataclass
class Indices:
    """Spells index values; `parameters` maps what values from outside are to their names, `size` gives that of a memref's axis."""

    parameters: dict[str, str]
    size: Callable[[ir.Value, int], str]

    def parameter(self, key: str) -> str:
        """The name of the index value that is `key`."""
        if key not in self.parameters:
            raise Unknown(f"the proof does not name the index value {key}")
        return self.parameters[key]

    def text(self, value: ir.Value, dims: Dims) -> str:
        """`value` over the loops' variables."""
        for variable, name in dims:
            if variable == value:
                return name
        if isinstance(value, ir.BlockArgument):
            return self.parameter(f"arg{value.arg_number}")
        op = value.owner.operation
        if op.name == "arith.constant":
            return str(ir.IntegerAttr(op.attributes["value"]).value)
        if op.name in ("affine.apply", "affine.min", "affine.max"):
            texts = self.map(op.attributes["map"].value, list(op.operands), dims)
            return texts[0] if op.name == "affine.apply" else nested(op.name.removeprefix("affine."), texts)
        if op.name == "memref.dim" and isinstance(op.operands[0], ir.BlockArgument):
            return self.size(op.operands[0], int(self.text(op.operands[1], dims)))
        raise Unknown(f"the checker does not support an index of '{op.name}'")

    def is_known(self, value: ir.Value, dims: Dims) -> bool:
        """Whether `value` is an index that its uses spell out."""
        if not isinstance(value.type, ir.IndexType):
            return False
        try:
            self.text(value, dims)
        except Unknown:
            return False
        return True

    def map(self, map: ir.AffineMap, operands: Sequence[ir.Value], dims: Dims) -> list[str]:
        """The results of `map` on `operands`."""
        names = [self.text(operand, dims) for operand in operands]
        return [_expression(result, names, map.n_dims) for result in map.results]

    def conditions(self, op: ir.Operation, dims: Dims) -> list[str]:
        """What an `affine.if` asks; the sides of its set, which the bindings do not read, are taken from the text through maps."""
        head, body = str(op.attributes["condition"]).removeprefix("affine_set<").removesuffix(">").split(" : ", 1)
        found = []
        for constraint in body[1:-1].split(", "):
            side, relation, _ = constraint.rsplit(" ", 2)
            map = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{head} -> ({side})>", context=op.context)).value
            found.append(f"{self.map(map, list(op.operands), dims)[0]} {'=' if relation == '==' else '>='} 0")
        return found


def within(name: str, lower: Sequence[str], upper: Sequence[str], step: int) -> list[str]:
    """A loop's variable runs from the largest lower bound below the least upper one, in steps."""
    found = [f"{name} >= {bound}" for bound in lower] + [f"{name} < {bound}" for bound in upper]
    return [*found, f"({name} - {nested('max', lower)}) mod {step} = 0"] if step != 1 else found


def nested(kind: str, texts: Sequence[str]) -> str:
    """`max(a, max(b, c))`"""
    return texts[0] if len(texts) == 1 else f"{kind}({texts[0]}, {nested(kind, texts[1:])})"


def _expression(expression: ir.AffineExpr, names: Sequence[str], dims: int) -> str:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineConstantExpr):
        return str(expression.value)
    if isinstance(expression, (ir.AffineDimExpr, ir.AffineSymbolExpr)):
        return names[expression.position + (dims if isinstance(expression, ir.AffineSymbolExpr) else 0)]
    one, other = (_expression(side, names, dims) for side in (expression.lhs, expression.rhs))
    forms = {"Add": "({} + {})", "Mul": "({} * {})", "Mod": "(({}) mod {})"}
    forms |= {"FloorDiv": "floor(({})/{})", "CeilDiv": "ceil(({})/{})"}
    name = type(expression).__name__.removeprefix("Affine").removesuffix("Expr")
    return forms[name].format(one, other)
