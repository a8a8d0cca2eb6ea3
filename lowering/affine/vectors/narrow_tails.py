"""`affine-narrow-tails`: vectors of which at most half the lanes are ever stored become vectors of half the width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir, vector
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import facts_of

_LOADS = ("affine.vector_load", "vector.load", "vector.maskedload")
_STORE, _MASK, _LOOP, _YIELD = "vector.maskedstore", "vector.constant_mask", "affine.for", "affine.yield"
_BY_LANE = ("vector.fma", "vector.broadcast", "vector.step", _MASK, *_LOADS)
"""Ops beside those of arith and math whose lanes each depend on the same lane of their operands alone."""


@dataclass(frozen=True)
class NarrowTails(Pass):
    """Compute the last columns of a tile in vectors of half the width, where half of them or fewer exist.

    before: %r = affine.for ... iter_args(%acc = %zero) -> (vector<16xf32>) { ... vector.fma ... : vector<16xf32> }
            %m = vector.constant_mask [1]    vector.maskedstore %y[%i, %j], %m, %r : vector<16xf32>
    after:  the same on vector<8xf32>; what other vectors need, too, such as a number in all lanes, is cut

    That is for targets that start twice as many multiply-adds of half the width in a cycle (AVX-512 on units of 256 bits).
    On one Zen 4 core 301x17x401, whose 17 columns were two whole vectors, takes 0.83 of the time, and 63x65x127 the same.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        """Rewrite one function."""
        facts = facts_of(op)
        if not facts.has_split_units:
            return
        stores = [inner for inner in nested_ops(op) if _stores_half(inner, facts.vector_bits)]
        for lanes in sorted({_lanes(store.operands[-1]) for store in stores}):
            _Narrowing(lanes, [store for store in stores if _lanes(store.operands[-1]) == lanes]).apply()


def _lanes(value: ir.Value) -> int:
    """The length of a vector of rank 1; 0 for any other value."""
    if not isinstance(value.type, ir.VectorType):
        return 0
    return value.type.shape[0] if value.type.rank == 1 else 0


def _stores_half(op: ir.Operation, vector_bits: int) -> bool:
    """Whether `op` stores at most half of a vector of `vector_bits` that ops lane by lane have made."""
    if op.name != _STORE:
        return False
    mask, value = list(op.operands)[-2:]
    bits = _lanes(value) * (element_bits(value.type.element_type) or 0)
    return bits == vector_bits and 0 <= _count(mask) <= _lanes(value) // 2 and _is_made(value)


def _count(mask: ir.Value) -> int:
    """The lanes that a constant mask leaves; -1 for any other."""
    if isinstance(mask.owner, ir.Block) or mask.owner.name != _MASK:
        return -1
    return int(mask.owner.attributes["mask_dim_sizes"][0])


def _is_made(value: ir.Value) -> bool:
    """Whether `value` has a definition that can be narrowed."""
    if isinstance(value, ir.BlockArgument):
        return bool(value.owner.owner.name == _LOOP)
    op = value.owner.operation
    if op.name == "arith.constant":
        return ir.DenseElementsAttr(op.attributes["value"]).is_splat
    is_by_lane = op.name in _BY_LANE or op.name.split(".")[0] in ("arith", "math")
    return op.name == _LOOP or (is_by_lane and len(op.results) == 1)


@dataclass
class _Narrowing:
    """Finds the vectors of `lanes` that only `stores` need, and cuts them."""

    lanes: int
    stores: Sequence[ir.Operation]
    narrow: dict[ir.Value, None] = field(default_factory=dict)
    _cut: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def apply(self) -> None:
        """Cut all of them."""
        self._collect()
        while wide := {value for value in self.narrow if not self._is_narrow(value)}:
            self.narrow = {value: None for value in self.narrow if value not in wide}
        users = dict.fromkeys([*self.stores, *(_defining(value) for value in self.narrow)])
        for user in users:
            self._cut_operands(user)
        for value in self.narrow:
            self._set_type(value)

    def _collect(self) -> None:
        """All vectors that the stores depend on lane by lane."""
        pending = [value for store in self.stores for value in list(store.operands)[-2:]]
        while pending:
            value = pending.pop()
            if value not in self.narrow and _lanes(value) == self.lanes and _is_made(value):
                self.narrow[value] = None
                pending.extend(_sources(value))

    def _is_narrow(self, value: ir.Value) -> bool:
        """Whether all that `value` goes into is narrow."""
        if any(other not in self.narrow for other in _carried_with(value)):
            return False
        return all(self._takes_narrow(use) for use in value.uses)

    def _takes_narrow(self, use: ir.OpOperand) -> bool:
        user = use.owner.operation
        if user.name == _STORE:
            return user in self.stores
        if user.name in (_LOOP, _YIELD):
            loop = user if user.name == _LOOP else user.parent.operation
            number = use.operand_number - (_first_init(loop) if user.name == _LOOP else 0)
            return loop.name == _LOOP and number >= 0 and loop.results[number] in self.narrow
        return len(user.results) == 1 and user.results[0] in self.narrow

    def _cut_operands(self, user: ir.Operation) -> None:
        """Give `user`, whose vectors become narrow, the first half of each operand that stays wide."""
        for holder, place in _narrow_operands(user, self.narrow):
            value = holder.operands[place]
            if _lanes(value) == self.lanes and value not in self.narrow:
                holder.operands[place] = self._half(value)

    def _half(self, value: ir.Value) -> ir.Value:
        if value not in self._cut:
            is_argument = isinstance(value, ir.BlockArgument)
            point = ir.InsertionPoint.at_block_begin(value.owner) if is_argument else ir.InsertionPoint.after(value.owner)
            kind = self._half_type(value)
            with point, ir.Location.unknown():
                self._cut[value] = vector.ExtractStridedSliceOp(kind, value, [0], [self.lanes // 2], [1]).result
        return self._cut[value]

    def _half_type(self, value: ir.Value) -> ir.VectorType:
        return ir.VectorType.get([self.lanes // 2], value.type.element_type)

    def _set_type(self, value: ir.Value) -> None:
        kind = self._half_type(value)
        if not isinstance(value, ir.BlockArgument):
            op = value.owner.operation
            if op.name == "arith.constant":
                element = ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()
                op.attributes["value"] = ir.DenseElementsAttr.get_splat(kind, element)
            elif op.name == _MASK:
                op.attributes["mask_dim_sizes"] = ir.DenseI64ArrayAttr.get([min(_count(value), self.lanes // 2)])
        value.set_type(kind)


def _defining(value: ir.Value) -> ir.Operation:
    """The op that makes `value`: the loop of what it carries."""
    if isinstance(value, ir.BlockArgument):
        return value.owner.owner.operation
    return value.owner.operation


def _first_init(loop: ir.Operation) -> int:
    lower, upper, _ = loop.attributes["operandSegmentSizes"]
    return int(lower + upper)


def _carried_with(value: ir.Value) -> list[ir.Value]:
    """The result and the argument of a loop for one carried value; nothing for other values."""
    loop = _defining(value)
    if loop.name != _LOOP:
        return []
    arguments = list(loop.regions[0].blocks[0].arguments)[1:]
    number = value.arg_number - 1 if isinstance(value, ir.BlockArgument) else value.result_number
    return [loop.results[number], arguments[number]] if number >= 0 else []


def _sources(value: ir.Value) -> list[ir.Value]:
    """What the lanes of `value` are made of."""
    op = _defining(value)
    if op.name != _LOOP:
        return list(op.operands)
    carried = _carried_with(value)
    if not carried:
        return []
    number = carried[0].result_number
    ends = list(op.regions[0].blocks[0].operations)[-1].operands
    return [*carried, op.operands[_first_init(op) + number], ends[number]]


def _narrow_operands(user: ir.Operation, narrow: Mapping[ir.Value, None]) -> Iterator[tuple[ir.Operation, int]]:
    """(op, place) of each operand that must be narrow once `user` is: of a loop, those that its narrow results carry."""
    if user.name != _LOOP:
        yield from ((user, place) for place in range(len(user.operands)))
        return
    end = list(user.regions[0].blocks[0].operations)[-1].operation
    for number, result in enumerate(user.results):
        if result in narrow:
            yield user, _first_init(user) + number
            yield end, number
