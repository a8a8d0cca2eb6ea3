"""Buffers for what loops carry, and what branches give of unequal sizes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_memref, root_of
from dlc.analysis.carried_buffers import (
    CarriedBuffer,
    body_of,
    carried_buffers,
    control_flow,
    end_of,
    is_fresh,
    is_moved,
)
from dlc.analysis.size_polynomials import Polynomial, SizeReader
from dlc.lowering.linalg.buffer_sizes import allocate
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class PlaceCarriedBuffers(Pass):
    """Give what loops carry and branches give memory of a known owner, in public functions.

    - A carried value that keeps its size has two buffers, made before the loop: a step reads one and writes the other, and hands
      them on the other way round. What the loop writes in place has one.
    - A carried value that changes its size is fresh memory of each step, which the next step frees (`linalg-insert-deallocs`).
    - The side of a branch that is taken gives fresh memory, or what the step that it is part of was handed and has no further use
      for: room that is made larger where it is full stays where it is in all other steps. `linalg-share-branch-buffers` comes
      before, for what both sides give in one size.

    before:
        scf.for ... iter_args(%a = %x) -> (memref<4xf32>) {
          %n = memref.alloc() : memref<4xf32>
          call @k(%a, %n) : (memref<4xf32>, memref<4xf32>) -> ()
          scf.yield %n : memref<4xf32>
        }
    after:
        %p = memref.alloc()   memref.copy %x, %p   %q = memref.alloc()
        scf.for ... iter_args(%a = %p, %n = %q) -> (memref<4xf32>, memref<4xf32>) {
          call @k(%a, %n) : (memref<4xf32>, memref<4xf32>) -> ()
          scf.yield %n, %a : memref<4xf32>, memref<4xf32>
        }
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite the public functions of the module `op`."""
        require_buffers(op)
        for function in op.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and "sym_visibility" not in function.operation.attributes:
                found = list(control_flow(function.operation))
                for inner in found:
                    _require_ranks(inner)
                whiles = [inner.regions[0].blocks[0] for inner in found if inner.name == "scf.while"]
                forwarded = {argument for block in whiles for argument in _forward_copies(block)}
                for inner in found:
                    _place_branch(inner) if inner.name == "scf.if" else _place_loop(inner, forwarded)


def _require_ranks(op: ir.Operation) -> None:
    if any(isinstance(value.type, ir.UnrankedMemRefType) for value in (*op.operands, *op.results)):
        raise PassFailure(op, f"'{op.name}' hands on a buffer without rank, whose size nothing says", "give it a ranked type")


def _place_branch(op: ir.Operation) -> None:
    """Let each side of a branch give fresh memory, or what the step around it was handed."""
    ends = [end_of(region.blocks[0]) for region in op.regions if len(region.blocks)]
    for number, result in enumerate(op.results):
        for end in ends:
            if is_memref(result) and not is_moved(end.operands[number], op, number):
                _write(end, number, None)


def _write(end: ir.Operation, number: int, target: ir.Value | None) -> None:
    """Let what a block gives be `target`, or fresh memory that it gives once."""
    value = end.operands[number]
    root = root_of(value)
    own = is_fresh(value, end.block) and sum(root_of(other) == root for other in end.operands if is_memref(other)) == 1
    if target is None:
        if not own:
            end.operands[number] = _copied(value, end)
        return
    if own and root == value and value.type == target.type and defining_op(root).name == "memref.alloc":  # type: ignore[union-attr]
        allocation = root.owner.operation
        value.replace_all_uses_with(target)
        allocation.erase()
        return
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create("memref.copy", operands=[value, target])
    end.operands[number] = target


def _place_loop(loop: ir.Operation, forwarded: Collection[ir.Value]) -> None:
    """Give what `loop` carries its buffers; `forwarded` are the arguments that a step may write."""
    found = carried_buffers(loop)
    steady = _steady(found)
    doubled: list[CarriedBuffer] = []
    for carried in found:
        if _is_in_place(carried) and carried.arguments[0] not in forwarded:
            continue
        with loop.location, ir.InsertionPoint(loop):
            start = _owned_start(carried)
        loop.operands[carried.operand] = start
        if carried in steady and carried.body is not None and not _is_in_place(carried):
            doubled.append(carried)
        elif not _is_in_place(carried):
            _write(end_of(body_of(loop)), carried.number, None)
    if doubled:
        _double(loop, doubled)


def _forward_copies(block: ir.Block) -> set[ir.Value]:
    """Hand on arguments of the first block of an `scf.while` as they are: it writes none, and nobody reads them later.

    Returns those of which that was a copy: a step may write these.
    """
    forwarded: set[ir.Value] = set()
    for op in [item.operation for item in block.operations if item.operation.name == "memref.copy"]:
        source, target = op.operands
        allocation = defining_op(target)
        users = [use.owner.operation.name for use in target.uses]
        is_plain = source.owner == block and source.type == target.type and allocation is not None
        if is_plain and allocation.name == "memref.alloc" and set(users) <= {"memref.copy", "memref.dim", "scf.condition"}:  # type: ignore[union-attr]
            op.erase()
            target.replace_all_uses_with(source)
            allocation.erase()  # type: ignore[union-attr]
            forwarded.add(source)
    return forwarded


def _is_in_place(carried: CarriedBuffer) -> bool:
    """Whether a step hands on the buffer that it was given."""
    value, op = carried.handed_on, defining_op(carried.handed_on)
    while op is not None and op.name == "memref.cast":
        value = op.operands[0]
        op = defining_op(value)
    return value in carried.arguments


def _steady(found: Sequence[CarriedBuffer]) -> list[CarriedBuffer]:
    """The values that keep their size: those that do if all of them do at the start of a step."""
    kept = list(found)
    while True:
        reader = _LoopSizes(kept)
        left = [carried for carried in kept if _is_in_place(carried) or reader.keeps_size(carried)]
        if len(left) == len(kept):
            return left
        kept = left


class _LoopSizes(SizeReader):
    """Sizes where the values `steady` have at each step the size that they have at the start."""

    def __init__(self, steady: Sequence[CarriedBuffer]) -> None:
        super().__init__()
        self._starts = {name: carried.start for carried in steady for name in carried.arguments}

    def dim(self, memref: ir.Value, axis: int) -> Polynomial | None:
        """As `SizeReader.dim`, with the arguments of the loop."""
        return super().dim(self._starts.get(memref, memref), axis)

    def keeps_size(self, carried: CarriedBuffer) -> bool:
        """Whether a step hands on as many elements along each axis as it is given."""
        for axis in range(ir.MemRefType(carried.start.type).rank):
            before, after = self.dim(carried.start, axis), self.dim(carried.handed_on, axis)
            if before is None or before != after:
                return False
        return True


def _owned_start(carried: CarriedBuffer) -> ir.Value:
    """Memory with the value before the first step that only the loop uses, at the current place."""
    loop, value = carried.loop, carried.start
    root = root_of(value)
    users = [use.owner.operation for use in root.uses]
    uses = sum(root_of(operand) == root for operand in loop.operands if is_memref(operand))
    is_last = all(user.block == loop.block and (user == loop or user.is_before_in_block(loop)) for user in users)
    if is_fresh(value, loop.block) and uses == 1 and is_last and value.type == root.type:
        return value
    return _copied_here(value)


def _double(loop: ir.Operation, doubled: Sequence[CarriedBuffer]) -> None:
    """Carry a second buffer for each value of `doubled`, which a step writes; the two change places from step to step."""
    with loop.location, ir.InsertionPoint(loop):
        seconds = [allocate(ir.MemRefType(carried.start.type), _sizes(carried.start)) for carried in doubled]
    kinds = [second.type for second in seconds]
    for carried in doubled:
        _ask_start(carried)
    blocks = [region.blocks[0] for region in loop.regions]
    added = [[block.add_argument(kind, loop.location) for kind in kinds] for block in blocks]
    end = end_of(body_of(loop))
    for carried, target in zip(doubled, added[-1], strict=True):
        _write(end, carried.number, target)
    if loop.name == "scf.while":
        _extend(end_of(blocks[0]), added[0])
    _extend(end, [carried.body for carried in doubled if carried.body is not None])
    with loop.location, ir.InsertionPoint(loop):
        results = [*(result.type for result in loop.results), *kinds]
        made = ir.Operation.create(loop.name, results=results, operands=[*loop.operands, *seconds], regions=len(blocks))
    for block, region in zip(blocks, made.regions, strict=True):
        block.append_to(region)
    for index, result in enumerate(loop.results):
        result.replace_all_uses_with(made.results[index])
    loop.erase()


def _ask_start(carried: CarriedBuffer) -> None:
    """Let those who ask for the size of a carried value ask the buffer before the loop, which has the same."""
    for name in (*carried.arguments, *carried.results):
        for use in [use for use in name.uses if use.owner.operation.name == "memref.dim"]:
            use.owner.operation.operands[0] = carried.start


def _extend(end: ir.Operation, values: Sequence[ir.Value]) -> None:
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create(end.name, operands=[*end.operands, *values])
    end.erase()


def _copied(value: ir.Value, place: ir.Operation) -> ir.Value:
    with place.location, ir.InsertionPoint(place):
        return _copied_here(value)


def _copied_here(value: ir.Value) -> ir.Value:
    """A new buffer with the contents of `value`."""
    buffer = allocate(ir.MemRefType(value.type), _sizes(value))
    ir.Operation.create("memref.copy", operands=[value, buffer])
    return buffer


def _sizes(value: ir.Value) -> list[ir.Value]:
    """The dynamic sizes of a buffer, at the current place."""
    kind, index = ir.MemRefType(value.type), ir.IndexType.get()
    found = []
    for axis in range(kind.rank):
        if kind.is_dynamic_dim(axis):
            attributes = {"value": ir.IntegerAttr.get(index, axis)}
            position = ir.Operation.create("arith.constant", results=[index], attributes=attributes).result
            found.append(ir.Operation.create("memref.dim", results=[index], operands=[value, position]).result)
    return found
