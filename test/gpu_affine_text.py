"""Ops of the affine dialect as Python text, for `gpu_interpreter.py`; the methods are called by the names of ops."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_op_text import OpText

from dlc._mlir import ir


class AffineText(OpText):
    """Writes loops, branches, accesses and maps."""

    def _on_affine__vector_load(self, op: ir.Operation) -> None:
        self.set(op, f"{self._vector(op, 1, op.results[0].type)}.copy()")

    def _on_affine__vector_store(self, op: ir.Operation) -> None:
        place = self._vector(op, 2, op.operands[0].type)
        self.say(self.depth, f"{place}[...] = {self.name(op.operands[0])}")

    def _vector(self, op: ir.Operation, first: int, kind: ir.Type) -> str:
        """The neighbours that an access touches."""
        texts = _texts(op.attributes["map"].value, [self.name(value) for value in list(op.operands)[first:]])
        (count,) = ir.VectorType(kind).shape
        return f"_vector_of({self.name(op.operands[first - 1])}, ({', '.join(texts)},), {count})"

    def _subscripts(self, op: ir.Operation, first: int) -> str:
        """The element that an access touches; subscripts are checked."""
        texts = _texts(op.attributes["map"].value, [self.name(value) for value in list(op.operands)[first:]])
        for text in texts:
            if "-" in text or "+" in text or text.isidentifier():
                self.say(self.depth, f"if {text} < 0: _outside()")
        return f"{self.name(op.operands[first - 1])}[{', '.join(texts) or '()'}]"

    def _on_affine__load(self, op: ir.Operation) -> None:
        self.set(op, self._subscripts(op, 1))

    def _on_affine__store(self, op: ir.Operation) -> None:
        place = self._subscripts(op, 2)
        self.say(self.depth, f"{place} = {self.name(op.operands[0])}")

    def _on_affine__apply(self, op: ir.Operation) -> None:
        self.set(op, self._extreme(op, ""))

    def _on_affine__min(self, op: ir.Operation) -> None:
        self.set(op, self._extreme(op, "min"))

    def _on_affine__max(self, op: ir.Operation) -> None:
        self.set(op, self._extreme(op, "max"))

    def _extreme(self, op: ir.Operation, which: str) -> str:
        return _call(which, _texts(op.attributes["map"].value, [self.name(value) for value in op.operands]))

    def _on_affine__for(self, op: ir.Operation) -> None:
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        given = [self.name(value) for value in op.operands]
        low = _call("max", _texts(op.attributes["lowerBoundMap"].value, given[: sizes[0]]))
        high = _call("min", _texts(op.attributes["upperBoundMap"].value, given[sizes[0] : sizes[0] + sizes[1]]))
        step = ir.IntegerAttr(op.attributes["step"]).value
        self.counted_loop(op, f"range({low}, {high}, {step})", given[sizes[0] + sizes[1] :])

    def _on_affine__if(self, op: ir.Operation) -> None:
        depth = self.depth
        set_text = str(op.attributes["condition"]).removeprefix("affine_set<").removesuffix(">")
        inputs, constraints = set_text.split(" : ", 1)
        sides = [side.rsplit(" ", 2) for side in constraints[1:-1].split(", ")]
        map = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{inputs} -> ({', '.join(side[0] for side in sides)})>")).value
        texts = _texts(map, [self.name(value) for value in op.operands])
        holds = " and ".join(f"{text} {side[1]} 0" for text, side in zip(texts, sides, strict=True))
        results = [self.name(result) for result in op.results]
        self.say(depth, f"if {holds}:")
        self.block(op.regions[0].blocks[0], depth + 1, results)
        if len(op.regions[1].blocks):
            self.say(depth, "else:")
            self.block(op.regions[1].blocks[0], depth + 1, results)


def _call(which: str, texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{which}({', '.join(texts)})"


def _texts(map: ir.AffineMap, operands: Sequence[str]) -> list[str]:
    """The results of an affine map as Python."""
    return [_text(result, operands, map.n_dims) for result in map.results]


def _text(expression: ir.AffineExpr, operands: Sequence[str], dims: int) -> str:
    expression = expression.maybe_downcast()
    if isinstance(expression, ir.AffineDimExpr):
        return operands[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return operands[dims + expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return str(expression.value)
    lhs, rhs = _text(expression.lhs, operands, dims), _text(expression.rhs, operands, dims)
    if isinstance(expression, ir.AffineCeilDivExpr):
        return f"(-(-{lhs} // {rhs}))"
    signs = {ir.AffineAddExpr: "+", ir.AffineMulExpr: "*", ir.AffineModExpr: "%", ir.AffineFloorDivExpr: "//"}
    return f"({lhs} {signs[type(expression)]} {rhs})"
