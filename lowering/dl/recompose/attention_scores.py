"""Reads the scores of attention, what is between softmax and the product of queries and keys, from the outside in."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlc._mlir import ir
from dlc.dialects.dl.types import Shape
from dlc.lowering.dl.matching import has_one_use, source, type_of
from dlc.lowering.dl.patterns import keeps_shape, peelings, scalar
from dlc.lowering.dl.recompose.attention_masks import Mask
from dlc.lowering.dl.rewriting import Rewriter
from dlc.lowering.policy import policy

_NARROW = ("f16", "bf16")


@dataclass(frozen=True)
class Scores:
    """softmax is taken of factor * lhs @ rhs + masks; `heads` is the shape [batch, heads, queries, keys] where it is known."""

    lhs: ir.Value
    rhs: ir.Value
    factor: float
    masks: tuple[Mask, ...]
    heads: Shape | None


def read_scores(value: ir.Value, rewriter: Rewriter, checks_use: bool = True) -> Scores | None:
    """The scores that `value` is, None where it is something else; `checks_use` is whether it may have one use alone."""
    found = _Reader(rewriter, value, 1.0, (), None, checks_use)
    for _ in range(policy().limits.pattern_depth):
        step = found.step()
        if step is None or isinstance(step, Scores):
            return step
        found = step
    return None


@dataclass(frozen=True)
class _Reader:
    """What is read so far: the scores are factor * (what `value` is) + masks."""

    rewriter: Rewriter
    value: ir.Value
    factor: float
    masks: tuple[Mask, ...]
    heads: Shape | None
    checks_use: bool = True

    def step(self) -> _Reader | Scores | None:
        """Read the op that gives `value`."""
        op = source(self.value)
        if op is None or (self.checks_use and not has_one_use(self.value)):
            return None
        match op.name:
            case "dl.matmul":
                return self._product(op)
            case "dl.mul" | "dl.div":
                return self._scaled()
            case "dl.add":
                return self._masked(op)
            case "dl.sub":
                return self._lowered(op)
            case "dl.where":
                return self._selected(op)
            case "dl.cast":
                return self._cast(op)
            case "dl.reshape":
                return self._reshaped(op)
        return None

    def _next(self, value: ir.Value, **changes: object) -> _Reader:
        return replace(self, value=value, checks_use=True, **changes)  # type: ignore[arg-type]

    def _product(self, op: ir.Operation) -> Scores | None:
        shape = self.rewriter.type_of(self.value).shape
        heads = shape if len(shape) == 4 else self.heads
        if len(shape) not in (3, 4) or any(type_of(operand).rank != len(shape) for operand in op.operands):
            return None
        return Scores(op.operands[0], op.operands[1], self.factor, self.masks, heads)

    def _scaled(self) -> _Reader | None:
        inner, factor = list(peelings(self.value))[-1]
        return self._next(inner, factor=self.factor * factor) if factor > 0 and inner != self.value else None

    def _masked(self, op: ir.Operation) -> _Reader | None:
        """One operand of a sum leads to the product of queries and keys; the other is a mask."""
        for scores, mask in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
            if _leads_to_product(scores) and self._may_mask(mask):
                return self._next(scores, masks=(*self.masks, Mask(mask, factor=self.factor)))
        return None

    def _lowered(self, op: ir.Operation) -> _Reader | None:
        """A mask may be subtracted."""
        scores, mask = op.operands
        if not _leads_to_product(scores) or not self._may_mask(mask):
            return None
        return self._next(scores, masks=(*self.masks, Mask(mask, factor=-self.factor)))

    def _selected(self, op: ir.Operation) -> _Reader | None:
        condition, x, y = op.operands
        if not self._may_mask(condition):
            return None
        for scores, other, visible in ((x, y, True), (y, x, False)):
            fill = scalar(other)
            if fill is not None and keeps_shape(scores, other) and _leads_to_product(scores):
                mask = Mask(condition, self.factor, visible=visible, fill=fill * self.factor)
                return self._next(scores, masks=(*self.masks, mask))
        return None

    def _may_mask(self, mask: ir.Value) -> bool:
        """Whether a mask applies to scores with the heads apart; whether it fits them is seen when their shape is known."""
        return type_of(self.value).rank == 4 or (self.heads is None and type_of(mask).rank <= 3)

    def _cast(self, op: ir.Operation) -> _Reader | None:
        """f16 and bf16 are widened for softmax: the op computes in f32 anyway. Masks in f32 have another type than q."""
        inner = op.operands[0]
        is_widening = type_of(inner).dtype in _NARROW and type_of(self.value).dtype == "f32"
        return self._next(inner) if is_widening else None

    def _reshaped(self, op: ir.Operation) -> _Reader | None:
        """[batch * heads, queries, keys] against [batch, heads, queries, keys]."""
        inner = op.operands[0]
        heads = split_heads(self.rewriter, inner, self.value)
        if heads is None or (self.heads is not None and self.heads[1:] != heads[1:]):
            return None
        has_masks = bool(self.masks) and type_of(self.value).rank == 3
        return None if has_masks else self._next(inner, heads=heads)


def split_heads(rewriter: Rewriter, inner: ir.Value, outer: ir.Value) -> Shape | None:
    """The shape of that one of two values, one a reshape of the other, which has the heads of the other's batch apart."""
    shapes = sorted((rewriter.type_of(inner).shape, rewriter.type_of(outer).shape), key=len)
    merged, split = shapes
    if (len(merged), len(split)) != (3, 4) or merged[1:] != split[2:]:
        return None
    return split if isinstance(split[1], int) else None


def _leads_to_product(value: ir.Value) -> bool:
    """Whether `value` may be scores: steps of `_Reader` that lead to a product."""
    for _ in range(policy().limits.pattern_depth):
        op = source(value)
        if op is None or op.name not in _STEPS:
            return False
        if op.name == "dl.matmul":
            return True
        if op.name in ("dl.add", "dl.where"):
            return any(_leads_to_product(operand) for operand in list(op.operands)[-2:])
        if op.name == "dl.mul":
            value = op.operands[1] if scalar(op.operands[0]) is not None else op.operands[0]
        else:
            value = op.operands[0]
    return False


_STEPS = frozenset({"dl.matmul", "dl.mul", "dl.div", "dl.add", "dl.sub", "dl.where", "dl.cast", "dl.reshape"})
