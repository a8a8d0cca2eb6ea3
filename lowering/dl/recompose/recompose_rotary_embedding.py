"""`dl-recompose-rotary-embedding`: pairs of features that exporters turned by slices and products become one op again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, Shape
from dlc.lowering.dl.matching import attributes_of, functions, has_one_use, source, type_of
from dlc.lowering.dl.patterns import built_like, cone, merged_location, narrow, operand_of, operands_of, same
from dlc.lowering.dl.recompose.rotary_angles import Halving, angles, halving
from dlc.lowering.dl.rewriting import Rewriter, RuleSet, apply_rules
from dlc.lowering.pass_base import Pass

RULES = RuleSet()


@dataclass(frozen=True)
class RecomposeRotaryEmbedding(Pass):
    """Recognise rotary position embedding, of halves (Llama, GPT-NeoX) and of neighbours (GPT-J), on all or some features.

    Where cosines and sines have as many columns as x, both halves must be computed from one value.

    before:
        %1 = "dl.mul"(%x, %cos)
        %2 = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 4>, ends = array<i64: 8>, ...}
        %3 = "dl.neg"(%2)
        %4 = "dl.slice"(%x) {axes = array<i64: -1>, starts = array<i64: 0>, ends = array<i64: 4>, ...}
        %5 = "dl.concat"(%3, %4) {axis = -1 : i64}
        %6 = "dl.mul"(%5, %sin)
        %y = "dl.add"(%1, %6)
    after:
        %y = "dl.rotary_embedding"(%x, %half_of_cos, %half_of_sin)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        for function in functions(op):
            apply_rules(function, RULES)


@dataclass(frozen=True)
class _Turn:
    """What an op turns: x by two angles, with pairs of neighbours or of halves.

    Angles have one column per pair, or with `halvings` one per feature.
    """

    x: ir.Value
    cos: ir.Value
    sin: ir.Value
    interleaved: bool
    halvings: tuple[Halving, Halving] | None = None

    def build_angles(self) -> tuple[ir.Value, ir.Value]:
        """Cosines and sines with one column per pair."""
        return (self.cos, self.sin) if self.halvings is None else (self.halvings[0].build(), self.halvings[1].build())


@RULES.rule("dl.concat")
def recompose_rotated_half(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * cos + concat(-x2, x1) * sin = rotary_embedding(x) where x1 and x2 are the halves of x"""
    first = operand_of(op.operands[0], "dl.neg")
    if first is None or not _is_last(op) or not has_one_use(op.results[0]):
        return False
    found = _halves(op.operands[1], first)
    return found is not None and _recompose_sum(op.results[0], found, False, rewriter)


@RULES.rule("dl.reshape")
def recompose_rotated_neighbours(op: ir.Operation, rewriter: Rewriter) -> bool:
    """x * cos + reshape(stack(-odd, even)) * sin = rotary_embedding(x) where odd and even are every second feature of x"""
    pair = _stacked(op)
    first = None if pair is None else operand_of(pair[0], "dl.neg")
    if pair is None or first is None or not has_one_use(op.results[0]):
        return False
    found = _neighbours(pair[1], first)
    return found is not None and _recompose_sum(op.results[0], found, True, rewriter)


def _recompose_sum(turned: ir.Value, x: ir.Value, interleaved: bool, rewriter: Rewriter) -> bool:
    """Replace x * cos + turned * sin."""
    product = next(iter(turned.uses)).owner.operation
    if product.name != "dl.mul" or not has_one_use(product.results[0]):
        return False
    top = next(iter(product.results[0].uses)).owner.operation
    if top.name != "dl.add":
        return False
    plain = operands_of(_other(top, product.results[0]), "dl.mul")
    if plain is None or not any(same(x, operand) for operand in plain):
        return False
    cos = plain[1] if plain[0] == x else plain[0]
    sin = _other(product, turned)
    halvings = halving(cos, interleaved), halving(sin, interleaved)
    if halvings[0] is None or halvings[1] is None:
        return False
    return _replace(top, _Turn(x, cos, sin, interleaved, (halvings[0], halvings[1])), rewriter)


def _other(op: ir.Operation, value: ir.Value) -> ir.Value:
    return op.operands[1] if op.operands[0] == value else op.operands[0]


@RULES.rule("dl.concat")
def recompose_turned_halves(op: ir.Operation, rewriter: Rewriter) -> bool:
    """concat(x1 * cos - x2 * sin, x2 * cos + x1 * sin) = rotary_embedding(x) where x1 and x2 are the halves of x"""
    if not _is_last(op):
        return False
    found = _turned_pair(op.operands[0], op.operands[1], False)
    return found is not None and _replace(op, found, rewriter)


@RULES.rule("dl.reshape")
def recompose_turned_neighbours(op: ir.Operation, rewriter: Rewriter) -> bool:
    """reshape(stack(even * cos - odd * sin, odd * cos + even * sin)) = rotary_embedding(x)"""
    pair = _stacked(op)
    found = None if pair is None else _turned_pair(*pair, True)
    return found is not None and _replace(op, found, rewriter)


def _turned_pair(low: ir.Value, high: ir.Value, interleaved: bool) -> _Turn | None:
    """`low` = x1 * cos - x2 * sin and `high` = x2 * cos + x1 * sin, whatever the order of factors and terms."""
    difference, total = operands_of(low, "dl.sub"), operands_of(high, "dl.add")
    if difference is None or total is None:
        return None
    products = [operands_of(term, "dl.mul") for term in (*difference, *total)]
    if any(product is None for product in products):
        return None
    for x1, cos in _orders(products[0]):
        for x2, sin in _orders(products[1]):
            if not _are_products(products[2:], (x2, cos), (x1, sin)):
                continue
            x = _neighbours(x1, x2) if interleaved else _halves(x1, x2)
            if x is not None:
                return _Turn(x, cos, sin, interleaved)
    return None


def _orders(pair: tuple[ir.Value, ir.Value] | None) -> list[tuple[ir.Value, ir.Value]]:
    return [] if pair is None else [pair, pair[::-1]]


def _are_products(
    have: Sequence[tuple[ir.Value, ir.Value] | None], one: tuple[ir.Value, ir.Value], other: tuple[ir.Value, ir.Value]
) -> bool:
    """Whether two products are those of `one` and of `other`, in any order."""
    first, second = (_orders(item) for item in have)
    return (one in first and other in second) or (other in first and one in second)


def _is_last(op: ir.Operation) -> bool:
    rank = type_of(op.results[0]).rank
    return bool(attributes_of(op)["axis"] % rank == rank - 1)


def _halves(low: ir.Value, high: ir.Value) -> ir.Value | None:
    """x where `low` and `high` are the first and the second half of its last axis."""
    first, second = _part(low), _part(high)
    if first is None or second is None:
        return None
    (x, size, *bounds), (other, _, *rest) = first, second
    half = size // 2
    return x if size % 2 == 0 and x == other and (bounds, rest) == ([0, half, 1], [half, size, 1]) else None


def _neighbours(even: ir.Value, odd: ir.Value) -> ir.Value | None:
    """x where `even` and `odd` are every second element of its last axis, from 0 and 1 on."""
    first, second = _part(even), _part(odd)
    if first is None or second is None:
        return _split_pairs(even, odd)
    (x, size, *bounds), (other, _, *rest) = first, second
    fits = x == other and size % 2 == 0 and (bounds[0], bounds[2], rest[0], rest[2]) == (0, 2, 1, 2)
    return x if fits and bounds[1] >= size - 1 and rest[1] == size else None


def _part(value: ir.Value) -> tuple[ir.Value, int, int, int, int] | None:
    """`(x, size, start, end, step)` where `value` is a slice of the last axis of x, of static size."""
    op = source(value, "dl.slice")
    if op is None:
        return None
    x, attributes = op.operands[0], attributes_of(op)
    kind = type_of(x)
    size = kind.shape[-1] if kind.rank else None
    starts, ends, steps = attributes["starts"], attributes["ends"], attributes["steps"]
    if not isinstance(size, int) or len(attributes["axes"]) != 1 or attributes["axes"][0] % kind.rank != kind.rank - 1:
        return None
    if len(starts) != 1 or len(ends) != 1 or steps[0] < 1:
        return None
    start, end, step = slice(starts[0], ends[0], steps[0]).indices(size)
    return x, size, start, end, step


def _split_pairs(even: ir.Value, odd: ir.Value) -> ir.Value | None:
    """x where `even` and `odd` are elements 0 and 1 of the last axis of x reshaped to pairs."""
    found = []
    for value in (even, odd):
        view = source(value)
        part = None if view is None or view.name not in ("dl.squeeze", "dl.reshape") else _part(view.operands[0])
        if part is None or part[1] != 2 or type_of(value).shape != type_of(part[0]).shape[:-1]:
            return None
        found.append(part)
    pairs = source(found[0][0], "dl.reshape")
    if pairs is None or found[0][0] != found[1][0] or (found[0][2], found[1][2]) != (0, 1):
        return None
    x = pairs.operands[0]
    own, wide = type_of(x).shape, type_of(found[0][0]).shape
    size = own[-1] if own else None
    return x if isinstance(size, int) and wide == (*own[:-1], size // 2, 2) and size % 2 == 0 else None


def _stacked(op: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
    """`(a, b)` where a reshape lets their elements alternate: concat(a as [..., n, 1], b as [..., n, 1]) as [..., 2 * n]."""
    joined = source(op.operands[0], "dl.concat")
    if joined is None or not _is_last(joined):
        return None
    shape, flat = type_of(joined.results[0]).shape, type_of(op.results[0]).shape
    views = [source(operand) for operand in joined.operands]
    if len(flat) != len(shape) - 1 or shape[-1] != 2 or not isinstance(flat[-1], int) or flat[-1] != _double(shape[-2]):
        return None
    if any(view is None or view.name not in ("dl.unsqueeze", "dl.reshape") for view in views):
        return None
    inner = [view.operands[0] for view in views if view is not None]
    fits = all(
        type_of(value).shape == shape[:-1] and type_of(part).shape == (*shape[:-1], 1)
        for value, part in zip(inner, joined.operands, strict=True)
    )
    return (inner[0], inner[1]) if fits else None


def _double(size: int | str | None) -> int | None:
    return 2 * size if isinstance(size, int) else None


def _replace(top: ir.Operation, turn: _Turn, rewriter: Rewriter) -> bool:
    """Let dl.rotary_embedding stand for `top`, where the shapes surely are what it asks for."""
    x, kind = turn.x, rewriter.type_of(turn.x)
    if kind.rank != 4 or kind.dtype not in FLOATS or type_of(top.results[0]).rank != 4 or None in kind.shape:
        return False
    positions = _positions_axis(turn, kind.shape, rewriter)
    if positions is None:
        return False
    result = top.results[0]
    with ir.InsertionPoint(top), merged_location(cone(top, [x, turn.cos, turn.sin])):
        cos, sin = (angles(value, positions) for value in turn.build_angles())
        if positions == 2:
            value = built_like(x, "rotary_embedding", x, cos, sin, interleaved=turn.interleaved)
        else:
            swapped = dl.transpose(x, perm=[0, 2, 1, 3])
            value = dl.rotary_embedding(swapped, cos, sin, interleaved=turn.interleaved)
            value = dl.transpose(value, perm=[0, 2, 1, 3])
        if value.type != result.type:
            value.set_type(result.type)
    rewriter.replace(top, value)
    return True


def _positions_axis(turn: _Turn, x: Shape, rewriter: Rewriter) -> int | None:
    """The axis of x that both angles have positions along (1 or 2), the other of the two being 1 in them."""
    found = []
    if not isinstance(x[3], int) or x[3] % 2:
        return None
    columns = x[3] // 2 if turn.halvings is None else x[3]
    for value in (turn.cos, turn.sin):
        shape = rewriter.type_of(value).shape
        shape = (1,) * (4 - len(shape)) + shape
        if len(shape) != 4 or shape[3] != columns or shape[0] not in (1, x[0]):
            return None
        found.append(2 if shape[1] == 1 and shape[2] == x[2] else 1 if shape[2] == 1 and shape[1] == x[1] else None)
    return found[0] if found[0] == found[1] else None


@RULES.rule("dl.rotary_embedding")
def narrow_rotary_embedding(op: ir.Operation, rewriter: Rewriter) -> bool:
    """cast(rotary_embedding(cast(x), cast(cos), cast(sin))) = rotary_embedding(x, cos, sin) where f16 or bf16 is cast to f32"""
    return narrow(op, rewriter)
