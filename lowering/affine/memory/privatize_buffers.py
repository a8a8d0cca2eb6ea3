"""affine-privatize-buffers: memory that each iteration of a loop writes anew becomes memory of the iteration."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod

import islpy as isl

from dlc._mlir import affine, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.dependences.last_writers import live_in_reads, value_dependences
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.ir.loops import Bound, build_for, real_ops
from dlc.lowering.affine.memory.expansion import EnclosingLoops, allocate, is_access, loops_around, redirect
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop, Statement
from dlc.lowering.affine.schedule.driver import limited_work
from dlc.lowering.affine.schedule.program import PrimitiveError
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy

_IN, _SET = isl.dim_type.in_, isl.dim_type.set


@dataclass(frozen=True)
class PrivatizeBuffers(Pass):
    """Give each iteration of an outermost loop memory of its own for what it writes before it reads, so that iterations may
    run in any order.

    before: affine.for %i = 0 to 8 { affine.store %x, %t[..]; ... affine.load %t[..]; ... }
    after:  %w = memref.alloc() : memref<8x..>; affine.for %i = 0 to 8 { affine.store %x, %w[%i, ..]; ... }
            what the last iteration has written goes to %t

    That happens where nothing else keeps an order among the iterations. Each must write the same elements, a box with
    constant ends, which isl decides. Functions that the polyhedral model cannot read, or that isl takes too long for, stay as they
    are.
    """

    anchor = "func.func"

    limit: int = option(1 << 24, "bytes of the largest buffer that is made")

    def run(self, op: ir.Operation) -> None:
        blocks = list(op.regions[0].blocks)
        loops = [inner for block in blocks for inner in real_ops(block) if inner.name == "affine.for" and _candidates(inner)]
        if not loops:
            return
        try:
            scop = extract(op)
            with limited_work(policy().limits.dependence_operations):
                dependences = value_dependences(scop)
        except (ExtractionError, PrimitiveError):
            return
        for loop in loops:
            _Privatizing(scop, loop, dependences, self.limit).apply()


def _candidates(loop: ir.Operation) -> list[ir.Value]:
    """The memrefs from before `loop` that it both stores to and loads from, never with a subscript that is its variable."""
    variable = loop.regions[0].blocks[0].arguments[0]
    inside = set(nested_ops(loop))
    found: dict[ir.Value, set[str]] = {}
    for op in (op for op in inside if is_access(op)):
        at = 0 if op.name == "affine.load" else 1
        found.setdefault(op.operands[at], set()).add("moves" if variable in list(op.operands)[at + 1 :] else op.name)
    fixed = [memref for memref, names in found.items() if names == {"affine.load", "affine.store"}]
    return [memref for memref in fixed if isinstance(memref.owner, ir.Block) or memref.owner.operation not in inside]


@dataclass
class _Privatizing:
    """One outermost loop of a scop."""

    scop: Scop
    loop: ir.Operation
    dependences: Sequence[Dependence]
    limit: int

    def apply(self) -> None:
        """Give its iterations memory of their own, if that makes them free of order."""
        around = loops_around(self.loop.regions[0].blocks[0].operations[-1].operation)
        arrays = [one for one in self._carried if one.value in _candidates(self.loop) and not one.loops]
        if around is None or not arrays or len(arrays) < len(self._carried) or None in around.sizes:
            return
        last = self._last(around)
        boxes = [self._box(array, last) for array in arrays]
        for array, box in zip(arrays, boxes, strict=True):
            if box is None or not self._is_private(array) or not self._pays(array, around):
                return
        for array, box in zip(arrays, boxes, strict=True):
            self._replace(array, box or [], around, last)

    @cached_property
    def _statements(self) -> dict[str, Statement]:
        return {one.name: one for one in self.scop.statements if one.loops and one.loops[0].op == self.loop}

    @cached_property
    def _carried(self) -> list[Array]:
        """The arrays that keep an order among the iterations."""
        arrays = [one.source.array for one in self.dependences if self._is_inside(one) and not _within(one.relation)]
        return list(dict.fromkeys(arrays))

    def _is_inside(self, dependence: Dependence) -> bool:
        return dependence.source.statement_name in self._statements and dependence.sink.statement_name in self._statements

    def _accesses(self, array: Array) -> list[MemRefAccess]:
        return [access for one in self._statements.values() for access in one.accesses if access.array is array]

    def _is_private(self, array: Array) -> bool:
        """Whether each iteration reads of `array` what it has written itself, by accesses that can be redirected."""
        if any(not is_access(one.op) or array.value not in list(one.op.operands) for one in self._accesses(array)):
            return False
        if any(one.access.array is array and one.access.statement_name in self._statements for one in live_in_reads(self.scop)):
            return False
        flows = [one for one in self.dependences if one.kind == "flow" and one.sink.array is array]
        here = [one for one in flows if one.sink.statement_name in self._statements]
        return all(self._is_inside(one) and _within(one.relation) for one in here)

    def _box(self, array: Array, last: int) -> list[range] | None:
        """The elements that every iteration writes, as those of `last`, the last one; None where they are no box or others."""
        relations = [one.relation for one in self._accesses(array) if one.writes]
        every = reduce(isl.Set.union, [one.range() for one in relations])
        at_last = reduce(isl.Set.union, [one.fix_val(_IN, 0, isl.Val(last)).range() for one in relations])
        ends = [(every.dim_min_val(dim), every.dim_max_val(dim)) for dim in range(every.dim(_SET))]
        if not all(low.is_int() and high.is_int() for low, high in ends):
            return None
        box = [range(int(str(low)), int(str(high)) + 1) for low, high in ends]
        whole = isl.Set.universe(every.get_space())
        for dim, each in enumerate(box):
            whole = whole.lower_bound_val(_SET, dim, isl.Val(each[0])).upper_bound_val(_SET, dim, isl.Val(each[-1]))
        return box if whole.is_subset(at_last) else None

    def _pays(self, array: Array, around: EnclosingLoops) -> bool:
        kind = ir.MemRefType(array.value.type)
        if not kind.has_static_shape or around.likely_bytes(kind) > self.limit:
            return False
        touches = sum(_count(self._statements[one.statement_name].domain) for one in self._accesses(array))
        return touches >= policy().parallel.fewest_private_uses * prod(kind.shape) * prod(size or 0 for size in around.sizes)

    def _last(self, around: EnclosingLoops) -> int:
        """The value of the loop's variable in its last iteration."""
        ((low, _),) = around.ends.values()
        (size,) = around.sizes
        step = ir.IntegerAttr(self.loop.attributes["step"]).value
        return int(low.maybe_downcast().value) + ((size or 1) - 1) // step * step

    def _replace(self, array: Array, box: Sequence[range], around: EnclosingLoops, last: int) -> None:
        """Redirect the accesses of an array; what the last iteration has left goes back after the loop."""
        with self.loop.location:
            buffer = allocate(around, ir.MemRefType(array.value.type))
        for op in dict.fromkeys(one.op for one in self._accesses(array)):
            redirect(op, buffer, around)
        uses = [use.owner.operation for use in array.value.uses]
        if array.is_local and all(use.name == "memref.dealloc" for use in uses):
            return
        ((low, _),) = around.ends.values()
        with ir.InsertionPoint.after(self.loop), self.loop.location:
            _copy(buffer, last - int(low.maybe_downcast().value), array.value, box)


def _within(relation: isl.Map) -> bool:
    """Whether all pairs are in one iteration of the outermost loop."""
    outer = isl.Map.universe(relation.get_space()).equate(_IN, 0, isl.dim_type.out, 0)
    return bool(relation.is_subset(outer))


def _count(domain: isl.Set) -> int:
    """The points of the least box around a domain; 0 where it has no ends."""
    ends = [(domain.dim_min_val(dim), domain.dim_max_val(dim)) for dim in range(domain.dim(_SET))]
    if not all(low.is_int() and high.is_int() for low, high in ends):
        return 0
    return prod(int(str(high.sub(low))) + 1 for low, high in ends)


def _copy(source: ir.Value, place: int, target: ir.Value, box: Sequence[range]) -> None:
    """Emit loops that copy the elements of `box` from the `place` of `source` to `target`."""
    variables: list[ir.Value] = []
    with ExitStack() as stack:
        for each in box:
            block = build_for(Bound.constant(each.start), Bound.constant(each.stop), parallel=True).regions[0].blocks[0]
            variables.append(block.arguments[0])
            with ir.InsertionPoint(block):
                end = affine.AffineYieldOp([])
            stack.enter_context(ir.InsertionPoint(end))
        dims = [ir.AffineDimExpr.get(at) for at in range(len(box))]
        here = ir.AffineMap.get(len(box), 0, [ir.AffineConstantExpr.get(place), *dims])
        value = affine.AffineLoadOp(ir.MemRefType(target.type).element_type, source, variables, here).result
        affine.AffineStoreOp(value, target, variables, ir.AffineMap.get(len(box), 0, dims))
