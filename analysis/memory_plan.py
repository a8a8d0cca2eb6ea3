"""The memory plan of a function on buffers: when each of its buffers lives, and where in one arena it lies.

The plan is a pure function of the IR. It takes the allocations of the function, and those inside its branches and loops, that the
function neither returns nor hands on, and whose sizes follow from the sizes of its arguments. A buffer lives from the first op that
uses it, itself or through a view, to the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, defining_op, is_memref, root_of
from dlc.analysis.carried_buffers import LOOPS, reach_of
from dlc.analysis.dim_bounds import UNBOUNDED, bounds_of_arguments
from dlc.analysis.packing import VECTOR_ALIGNMENT, LiveBuffer, OffsetOrder, most_live, pack, round_up
from dlc.analysis.size_polynomials import Atom, Polynomial, SizeReader

PAGE_ALIGNMENT = 4096
"""Where an output starts 64 to 256 bytes after an input modulo 4096, loads wait for unrelated stores: 78 us against 52."""
PAGE_ALIGNED_FROM = (1 << 16, 1 << 18, 1 << 20)
"""Sizes from which buffers start on pages; the first that costs little memory is taken."""
NOMINAL_SIZE = 32
"""What a dim that is known at run time only is taken to be where the plan has to choose between orders."""
_NEAR = 1.05


@dataclass(frozen=True)
class PlannedBuffer:
    """A buffer of the plan: its allocation, bytes, and first and last step (numbers of ops).

    It starts on a page if it takes `paged_from` bytes or more, which may be known at run time only.
    """

    alloc: ir.Operation
    bytes: Polynomial
    first: int
    last: int
    paged_from: int

    def alignment(self, size: int) -> int:
        """What the offset of the buffer is a multiple of when it takes `size` bytes."""
        return PAGE_ALIGNMENT if size >= self.paged_from else VECTOR_ALIGNMENT


@dataclass(frozen=True)
class MemoryPlan:
    """Buffers in program order and how they are stacked. `atoms` are what the polynomials speak of.

    The numbers `peak`, `lower_bound` and `offsets` hold for the sizes `nominal` of the atoms; a plan without atoms has no other.
    """

    buffers: tuple[PlannedBuffer, ...]
    stacking: OffsetOrder
    atoms: tuple[Atom, ...]
    nominal: Mapping[int, int]

    def sizes(self, atoms: Mapping[int, int] | None = None) -> list[int]:
        """Bytes that each buffer takes: rounded up to the vector alignment, at least one such unit."""
        given = self.nominal if atoms is None else atoms
        return [taken_bytes(buffer.bytes.evaluate(given)) for buffer in self.buffers]

    def offsets(self, atoms: Mapping[int, int] | None = None) -> list[int]:
        """Where in the arena each buffer starts."""
        sizes = self.sizes(atoms)
        return self.stacking.offsets(sizes, [buffer.alignment(size) for buffer, size in zip(self.buffers, sizes, strict=True)])

    def peak(self, atoms: Mapping[int, int] | None = None) -> int:
        """Bytes of the arena."""
        return max((start + size for start, size in zip(self.offsets(atoms), self.sizes(atoms), strict=True)), default=0)

    def lower_bound(self, atoms: Mapping[int, int] | None = None) -> int:
        """The most bytes that live at one step, sizes rounded as in the plan: no plan has a lower peak."""
        return most_live(self._blocks(atoms))[0]

    def holders(self, atoms: Mapping[int, int] | None = None) -> list[PlannedBuffer]:
        """The buffers that live at the step that needs most, largest first."""
        step, sizes = most_live(self._blocks(atoms))[1], self.sizes(atoms)
        alive = [index for index, buffer in enumerate(self.buffers) if buffer.first <= step <= buffer.last]
        return [self.buffers[index] for index in sorted(alive, key=lambda index: (-sizes[index], index))]

    def _blocks(self, atoms: Mapping[int, int] | None) -> list[LiveBuffer]:
        return blocks_of(self.buffers, self.sizes(atoms))


def taken_bytes(size: int) -> int:
    """Bytes that a buffer of `size` bytes takes in the arena."""
    return max(round_up(size, VECTOR_ALIGNMENT), VECTOR_ALIGNMENT)


def blocks_of(buffers: Sequence[PlannedBuffer], sizes: Sequence[int]) -> list[LiveBuffer]:
    """The buffers as blocks of these sizes."""
    return [LiveBuffer(b.first, b.last, size, b.alignment(size)) for b, size in zip(buffers, sizes, strict=True)]


def memory_plan(function: ir.Operation, nominal: int = NOMINAL_SIZE) -> MemoryPlan:
    """The plan of `function`, a func.func of one block on buffers; `nominal`, or what bounds leave of it, stands for unknown sizes.

    Buffers of 64 KiB and more start on pages, unless that costs more than 5 % above the lower bound: then fewer do.
    """
    reader = SizeReader()
    return _plan(function, reader, list(_live_ranges(_Steps(function), reader)), nominal)


def plans_after_calls(function: ir.Operation, nominal: int = NOMINAL_SIZE) -> list[MemoryPlan]:
    """Plans of the buffers whose sizes are known once calls of `function` have returned, by the last of these calls, in order.

    They hold what `memory_plan` leaves, such as all that follows a tensor whose size elements decide.
    """
    steps, reader = _Steps(function), SizeReader(after_calls=True)
    by_call: dict[ir.Operation, list[_LiveRange]] = {}
    for live_range in _live_ranges(steps, reader):
        atoms = [reader.atoms[number] for number in live_range[1].atoms()]
        calls = [call for atom in atoms for call in _calls_behind(atom.value)]
        if calls:
            by_call.setdefault(max(calls, key=steps.first.__getitem__), []).append(live_range)
    ordered = sorted(by_call, key=steps.first.__getitem__)
    return [_plan(function, reader, by_call[call], nominal) for call in ordered]


def _calls_behind(value: ir.Value) -> list[ir.Operation]:
    """The calls whose results a size is computed from."""
    found: list[ir.Operation] = []
    waiting, seen = [value], {value}
    while waiting:
        op = defining_op(waiting.pop())
        if op is None:
            continue
        if op.name == "func.call":
            found.append(op)
            continue
        waiting += [operand for operand in op.operands if operand not in seen]
        seen.update(op.operands)
    return found


def _plan(function: ir.Operation, reader: SizeReader, live_ranges: Sequence[_LiveRange], nominal: int) -> MemoryPlan:
    """The plan of the buffers that live so, whose sizes `reader` has read."""
    bounds = bounds_of_arguments(function)
    atoms = {at: bounds.get((atom.value, atom.axis), UNBOUNDED).nearest(nominal) for at, atom in enumerate(reader.atoms)}
    best: MemoryPlan | None = None
    for threshold in PAGE_ALIGNED_FROM:
        buffers = tuple(PlannedBuffer(*live_range, threshold) for live_range in live_ranges)
        sizes = [taken_bytes(buffer.bytes.evaluate(atoms)) for buffer in buffers]
        plan = MemoryPlan(buffers, pack(blocks_of(buffers, sizes)), tuple(reader.atoms), atoms)
        if best is None or plan.peak() < best.peak():
            best = plan
        if plan.peak() <= _NEAR * plan.lower_bound():
            break
    assert best is not None
    return best


_LiveRange: TypeAlias = tuple[ir.Operation, Polynomial, int, int]
"""An allocation, its bytes, and its first and last step."""


def _live_ranges(steps: _Steps, reader: SizeReader) -> Iterator[_LiveRange]:
    """Allocations that can be planned, with their bytes and their first and last step.

    Steps number the ops of the function and of its branches and loops. What lives before a loop and is used in it lives to its end.
    """
    for op in steps.first:
        if op.name != "memref.alloc":
            continue
        users = _users_in_plan(op.results[0])
        if not users:
            continue
        size = reader.bytes_of(op)
        if size is not None:
            spans = [steps.span(user, op.block) for user in users]
            yield op, size, min(first for first, _ in spans), max(last for _, last in spans)


class _Steps:
    """The ops of a function in order, those of a branch or loop after it; `first` and `last` are numbers of them."""

    def __init__(self, function: ir.Operation) -> None:
        self.first: dict[ir.Operation, int] = {}
        self.last: dict[ir.Operation, int] = {}
        self._number(function)

    def _number(self, operation: ir.Operation) -> None:
        for region in operation.regions:
            for block in region.blocks:
                for op in block.operations:
                    inner = op.operation
                    self.first[inner] = len(self.first)
                    if inner.name in LOOPS or inner.name == "scf.if":
                        self._number(inner)
                    self.last[inner] = len(self.first) - 1

    def span(self, user: ir.Operation, block: ir.Block) -> tuple[int, int]:
        """The steps at which `user` needs a buffer that an op of `block` allocates: all of a loop between the two."""
        while user not in self.first:
            user = user.parent.operation
        found = user
        while user.block != block:
            user = user.parent.operation
            if user.name in LOOPS:
                found = user
        return self.first[found], self.last[found]


def _users_in_plan(value: ir.Value) -> list[ir.Operation]:
    """The ops that touch a buffer under any of its names; none where it may outlive them: it is returned, or changes its owner."""
    reach = reach_of(value)
    if reach.is_given_away or any(_hands_on(user) for user in reach.users if user.name not in _HANDS_ON_NAMES):
        return []
    return [user for user in reach.users if user.name != "memref.dim"]


_HANDS_ON_NAMES = LOOPS | {"scf.yield", "scf.condition"}
"""Ops that `reach_of` follows buffers through."""


def users_if_kept(value: ir.Value) -> list[ir.Operation]:
    """The ops that touch a buffer or a view of it; none where one of them may hand it on: return it, yield it, show its address."""
    users = list(_users(value))
    return [] if any(_hands_on(user) for user in users) else [user for user in users if user.name != "memref.dim"]


def is_followed(value: ir.Value) -> bool:
    """Whether every op that reaches the memory of a buffer names it or a view of it; the function may return it."""
    return not any(_hands_on(user) and user.name != "func.return" for user in _users(value))


def _users(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops, but for views, that use `value` or a view of it."""
    waiting = [value]
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user.name in VIEW_OPS:
                waiting.extend(result for result in user.results if is_memref(result))
            else:
                yield user


def _hands_on(op: ir.Operation) -> bool:
    """Whether what `op` gives, or what comes after it, may reach the memory of its operands without naming them."""
    if op.name in ("func.return", "scf.yield", "scf.condition", "memref.extract_aligned_pointer_as_index", "memref.dealloc"):
        return True
    if op.name == "func.call":
        return any(is_memref(result) for result in op.results) and not _returns_fresh_memory(op)
    return any(is_memref(result) for result in op.results) or bool(op.successors) or _takes_as_block_argument(op)


def _takes_as_block_argument(op: ir.Operation) -> bool:
    return any(is_memref(argument) for region in op.regions for block in region.blocks for argument in block.arguments)


def _returns_fresh_memory(call: ir.Operation) -> bool:
    """Whether the callee returns only memory that it allocated itself."""
    module = call.parent.operation
    while module.name != "builtin.module":
        module = module.parent.operation
    name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    symbols = ir.SymbolTable(module)
    callee = symbols[name].operation if name in symbols else None
    if callee is None or callee.name != "func.func" or len(callee.regions[0].blocks) != 1:
        return False
    block = callee.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operation.operands
    return all(_is_allocated(value) for value in returned if is_memref(value))


def _is_allocated(value: ir.Value) -> bool:
    op = defining_op(root_of(value))
    return op is not None and op.name == "memref.alloc"
