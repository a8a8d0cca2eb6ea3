"""affine-vectorize-accesses: what a thread reads and writes side by side becomes vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT, MemRefAccess, access_of, are_apart, is_access, stride_along
from dlc.lowering.affine.ir.alignment import alignment_of, lane_bytes
from dlc.lowering.affine.ir.bounds import Bounds
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.extents import constant_of
from dlc.lowering.affine_to_gpu.grid import is_bound, place_of
from dlc.lowering.affine_to_gpu.vector_copies import VectorCopies
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import VECTOR_BYTES

_FREE = ("arith.", "math.", "affine.apply")
"""What touches no memory."""


def is_plain(op: ir.Operation) -> bool:
    """Whether copies of `op` are all that it takes: it computes, or accesses memory where subscripts say."""
    return op.name in SUBSCRIPTS_AT or op.name.startswith(_FREE)


@dataclass(frozen=True)
class AffineVectorizeAccesses(Pass):
    """Write out the neighbours that a thread goes along, and load and store up to 16 bytes of them at once.

    before: affine.for %v = 0 to 4 {
              %x = affine.load %A[4 * %t + %v]; %y = arith.negf %x; affine.store %y, %B[4 * %t + %v] }
    after:  %x = affine.vector_load %A[4 * %t] : vector<4xf32>
            %x0 = vector.extract %x[0]; %y0 = arith.negf %x0; (three more)
            %y = vector.from_elements %y0, %y1, %y2, %y3; affine.vector_store %y, %B[4 * %t]

    Loops inside of mapped ones (`affine-map-to-gpu`) are taken that have no loop inside and at most as many iterations as a vector
    has bytes. Vectors start at multiples of their size, as subscripts show and as memory of a kernel starts; other accesses go
    one by one, and so does arithmetic: a thread computes numbers, no vectors. A loop that may have fewer iterations stays behind a
    condition. Legal where no iteration reads what another one writes.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for loop in [inner for inner in nested_ops(op) if inner.name == "affine.for" and place_of(inner) is None]:
            neighbours = _Neighbours(loop)
            if is_bound(loop) and neighbours.count and neighbours.moved and neighbours.may_move:
                _rewrite(loop, neighbours)


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """The iterations of a loop as neighbours in memory."""

    loop: ir.Operation

    @cached_property
    def bounds(self) -> Bounds:
        return Bounds.of(self.loop)

    @cached_property
    def count(self) -> int:
        """How many iterations there are at most, where they are few and of free ops alone; else 0."""
        body = real_ops(self.loop.regions[0].blocks[0])
        lowers, uppers = ([constant_of(end) for end in ends.results] for ends in (self.bounds.lower, self.bounds.upper))
        most = [number for number in uppers if number is not None]
        if lowers != [0] or self.bounds.step != 1 or len(most) != 1 or (len(uppers) > 1 and len(self.loop.results)):
            return 0
        is_power = most[0] & (most[0] - 1) == 0
        return most[0] if all(map(is_plain, body)) and is_power and 1 < most[0] <= VECTOR_BYTES else 0

    @cached_property
    def variable(self) -> ir.Value:
        return self.loop.regions[0].blocks[0].arguments[0]

    @cached_property
    def accesses(self) -> Sequence[MemRefAccess]:
        return [access_of(op) for op in real_ops(self.loop.regions[0].blocks[0]) if is_access(op)]

    @cached_property
    def moved(self) -> dict[ir.Operation, int]:
        """Elements of a vector, by the access that goes along memory from a multiple of the vector's size on."""
        found = {access.op: self._lanes(access) for access in self.accesses}
        return {op: lanes for op, lanes in found.items() if lanes > 1}

    def _lanes(self, access: MemRefAccess) -> int:
        size, last = lane_bytes(access.memref), access.starts[-1] if access.starts else None
        source = defining_op(access.root)
        if not size or (source is not None and is_bound(source)):  # memory of a block or a thread
            return 1
        if last is None or last.of(self.variable) != 1 or stride_along(access.op, self.variable) != 1:
            return 1
        return min(self.count, alignment_of(access, self.variable) // size)

    @cached_property
    def fixed(self) -> set[ir.Operation]:
        """Loads of the same element in every iteration, which nothing writes."""
        loads = [access for access in self.accesses if not access.writes and self.variable not in access.indices]
        stored = [access for access in self.accesses if access.writes]
        return {load.op for load in loads if all(are_apart(load.root, store.root) for store in stored)}

    @property
    def may_move(self) -> bool:
        """Whether all loads of vectors may come before the other accesses, and all their stores after these."""
        for at, first in enumerate(self.accesses):
            for later in self.accesses[at + 1 :]:
                if (first.writes or later.writes) and not self._keep_order(first, later):
                    return False
        return True

    def _keep_order(self, first: MemRefAccess, later: MemRefAccess) -> bool:
        if first.op not in self.moved and later.op not in self.moved:
            return True
        is_same = first.memref == later.memref and first.map == later.map and first.indices == later.indices
        return are_apart(first.root, later.root) or (is_same and later.writes and later.op in self.moved)


def _rewrite(loop: ir.Operation, neighbours: _Neighbours) -> None:
    """Put the copies in the place of a loop; behind a condition, where there may be fewer iterations."""
    copies = VectorCopies(loop, neighbours.count, neighbours.moved, neighbours.fixed)
    upper = neighbours.bounds.upper
    gaps = [end - neighbours.count for end in upper.results if constant_of(end) is None]
    if not gaps:
        with ir.InsertionPoint(loop), loop.location:
            for old, new in zip(loop.results, copies.emit(), strict=True):
                old.replace_all_uses_with(new)
        loop.erase()
        return
    condition = ir.IntegerSet.get(upper.n_dims, upper.n_symbols, gaps, [False] * len(gaps))
    with ir.InsertionPoint(loop), loop.location:
        guard = affine.AffineIfOp(condition, cond_operands=list(neighbours.bounds.upper_operands), has_else=True)
        with ir.InsertionPoint(guard.then_block):
            copies.emit()
            affine.AffineYieldOp([])
        with ir.InsertionPoint(guard.else_block):
            end = affine.AffineYieldOp([]).operation
    loop.move_before(end)
