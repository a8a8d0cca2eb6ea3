"""Buffers that branches and loops hand on: where a buffer is reached under another name, and who frees it.

A value that a loop carries, or that a branch gives, is one of two kinds. A *lent* one is memory of the surrounding block at every
step: the loop hands on what it was given. An *owned* one is fresh memory of each step: whoever takes it frees it. A branch in a
step may *move* an owned one: give what the step was handed as it is, where its other side gives fresh memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, ancestor_in, defining_op, is_memref, root_of

LOOPS = frozenset({"scf.for", "scf.while"})
_FOR_BOUNDS = 3


@dataclass(frozen=True)
class CarriedBuffer:
    """A buffer that `loop` carries: its place among the loop's operands, its names inside and behind, and what a step hands on.

    `number` is its place among the values that the loop is given; `body` names it in the block that computes a step.
    """

    loop: ir.Operation
    number: int
    arguments: tuple[ir.Value, ...]
    body: ir.Value | None
    results: tuple[ir.Value, ...]

    @property
    def operand(self) -> int:
        """Its place among the operands of the loop."""
        return self.number + first_carried(self.loop)

    @property
    def start(self) -> ir.Value:
        """The buffer before the first step."""
        return self.loop.operands[self.operand]

    @property
    def handed_on(self) -> ir.Value:
        """The buffer that a step gives to the next."""
        return end_of(body_of(self.loop)).operands[self.number]

    @property
    def is_owned(self) -> bool:
        """Whether each step gives memory of its own."""
        return is_fresh(self.handed_on, body_of(self.loop))


def first_carried(loop: ir.Operation) -> int:
    """Where among the operands of a loop the carried values begin."""
    return _FOR_BOUNDS if loop.name == "scf.for" else 0


def body_of(loop: ir.Operation) -> ir.Block:
    """The block that computes a step."""
    return loop.regions[len(loop.regions) - 1].blocks[0]


def end_of(block: ir.Block) -> ir.Operation:
    """The terminator of a block."""
    last: ir.Operation = block.operations[len(block.operations) - 1].operation
    return last


def is_fresh(value: ir.Value, block: ir.Block) -> bool:
    """Whether `value` is memory that an op of `block` allocates, or that a branch or loop in it gives away."""
    op = defining_op(root_of(value))
    if op is None or op.block != block:
        return False
    return op.name == "memref.alloc" or op.name == "scf.if" or (op.name in LOOPS and _gives_owned(op, root_of(value)))


def is_moved(value: ir.Value, branch: ir.Operation, number: int) -> bool:
    """Whether an end of `branch` gives, as its result `number`, what a step of the loop around it was handed, and nobody else has.

    The step hands that result on. Such a value changes its owner and stays where it is; another end of the branch frees it.
    """
    loop = branch.parent.operation
    if loop.name not in LOOPS or ir.MemRefType(branch.results[number].type).has_static_shape:
        return False
    found = [carried for carried in carried_buffers(loop) if carried.body is not None and carried.body == value]
    if not found or value.type != branch.results[number].type or found[0].handed_on != branch.results[number]:
        return False
    users = [ancestor_in(user, branch.block) for user in _users_of(value)]
    return all(user == branch or user.is_before_in_block(branch) for user in users)


def moved_by(branch: ir.Operation) -> list[ir.Value]:
    """The values that an end of `branch` gives as they are, from a step's owner to the next one's."""
    ends = [end_of(region.blocks[0]) for region in branch.regions if len(region.blocks)]
    given = [(value, number) for end in ends for number, value in enumerate(end.operands) if is_memref(value)]
    return list(dict.fromkeys(value for value, number in given if is_moved(value, branch, number)))


def _users_of(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use a buffer or a view of it, views too."""
    for use in value.uses:
        user = use.owner.operation
        yield user
        if user.name in VIEW_OPS:
            for result in user.results:
                yield from _users_of(result)


def _gives_owned(loop: ir.Operation, result: ir.Value) -> bool:
    return any(carried.is_owned for carried in carried_buffers(loop) if result in carried.results)


def carried_buffers(loop: ir.Operation) -> list[CarriedBuffer]:
    """The buffers that a loop carries; of an `scf.while`, whose first block hands on what it is given."""
    block = loop.regions[0].blocks[0]
    if loop.name == "scf.for":
        return [
            CarriedBuffer(loop, number, (argument,), argument, (loop.results[number],))
            for number, argument in enumerate(list(block.arguments)[1:])
            if is_memref(argument)
        ]
    passed, inside = list(end_of(block).operands)[1:], list(body_of(loop).arguments)
    found = []
    for number, argument in enumerate(block.arguments):
        if is_memref(argument):
            places = [place for place, value in enumerate(passed) if value == argument]
            names = tuple(inside[place] for place in places)
            results = tuple(loop.results[place] for place in places)
            found.append(CarriedBuffer(loop, number, (argument, *names), names[0] if names else None, results))
    return found


def is_understood(op: ir.Operation) -> bool:
    """Whether each buffer that `op`, a branch or loop, hands on is lent or owned, and owned ones have one taker."""
    if op.name == "scf.if":
        ends = [end_of(region.blocks[0]) for region in op.regions if len(region.blocks)]
        moved = moved_by(op)
        return all(value in moved or is_fresh(value, end.block) for end in ends for value in end.operands if is_memref(value))
    if op.name not in LOOPS:
        return not any(is_memref(result) for result in op.results)
    found = carried_buffers(op)
    named = {name for carried in found for name in (*carried.arguments, *carried.results)}
    inside = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
    if any(is_memref(value) and value not in named for value in [*inside, *op.results]):
        return False
    return all(_is_clear(carried) for carried in found)


def _is_clear(carried: CarriedBuffer) -> bool:
    if carried.is_owned:
        return len(carried.results) == 1 and is_fresh(carried.start, carried.loop.block)
    return isinstance(root_of(carried.handed_on).owner, ir.Block) and root_of(carried.handed_on).owner == body_of(carried.loop)


@dataclass(frozen=True)
class Reach:
    """The ops, but for views, that use a buffer under one of its names; `is_given_away` where one becomes its owner."""

    users: tuple[ir.Operation, ...]
    is_given_away: bool


def reach_of(value: ir.Value) -> Reach:
    """Follow a buffer through views, and through what loops are lent."""
    users: list[ir.Operation] = []
    given_away, waiting, seen = False, [value], {value}
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            names = _other_names(user, use.operand_number)
            if user.name not in VIEW_OPS:
                users.append(user)
            if names is None:
                given_away = True
                continue
            for name in names:
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return Reach(tuple(users), given_away)


def _other_names(user: ir.Operation, operand: int) -> list[ir.Value] | None:
    """Names that a buffer has through being an operand of `user`; None where it changes its owner."""
    if user.name in VIEW_OPS:
        return [result for result in user.results if is_memref(result)]
    if user.name in LOOPS:
        return _names_in(user, operand - first_carried(user))
    if user.name not in ("scf.yield", "scf.condition"):
        return []
    parent = user.parent.operation
    if user.name == "scf.condition":
        value = user.operands[operand]
        return _names_in(parent, value.arg_number) if isinstance(value.owner, ir.Block) and value.owner == user.block else None
    return _names_in(parent, operand) if parent.name in LOOPS else None


def _names_in(loop: ir.Operation, number: int) -> list[ir.Value] | None:
    for carried in carried_buffers(loop):
        if carried.number == number:
            return None if carried.is_owned else [*carried.arguments, *carried.results]
    return []


def control_flow(operation: ir.Operation) -> Iterator[ir.Operation]:
    """The branches and loops of scf below an op, those inside one before it."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                if op.operation.name in LOOPS or op.operation.name == "scf.if":
                    yield from control_flow(op.operation)
                    yield op.operation
