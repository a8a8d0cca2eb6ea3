"""gpu-privatize-buffers: what threads keep for themselves between the phases of a kernel is their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT, is_store
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.first_threads import WarpRows, is_inside, warp_rows
from dlc.lowering.affine_to_gpu.row_combinations import UNIFORM
from dlc.lowering.affine_to_gpu.thread_accesses import ThreadAccess, accesses_of, erase_scratch, is_apart, is_scratch
from dlc.lowering.affine_to_gpu.thread_code import private_memory
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import gpu_facts_of

_PURE = ("arith.", "math.", "affine.apply", "affine.min", "affine.max")


@dataclass(frozen=True)
class GpuPrivatizeBuffers(Pass):
    """Give each thread a number of its own in the place of memory through which a kernel's phases hand on partial results.

    before: %R = gpu.alloc() : memref<64xf32>; gpu.launch ... {
              affine.if (%tx == 0) { affine.store %sum, %R[%by] }; gpu.barrier; %r = affine.load %R[%by] ... }; gpu.dealloc %R
    after:  gpu.launch ... { %r = memref.alloca() : memref<1xf32>; affine.store %sum, %r[0]; gpu.barrier; affine.load %r[0] ... }

    The memory was allocated for this launch, and all accesses are of the element that is the thread's (`%P[%by, %tx]`), or its
    row's (`%R[%by]`). What the first lane of a row alone stores of the latter, all lanes compute alike: of numbers that they all
    have. Barriers stay (`gpu-remove-barriers`).
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for rows in warp_rows(op, gpu_facts_of(op)):
            accesses = accesses_of(rows)
            if accesses is not None:
                _Privatization.of(rows, accesses).rewrite()


@dataclass(frozen=True, eq=False)
class _Privatization:
    """Memory by its root: of which each thread has an element, and of which each row has one."""

    rows: WarpRows
    accesses: Sequence[ThreadAccess]
    own: dict[ir.Value, list[ThreadAccess]]
    of_rows: dict[ir.Value, list[ThreadAccess]]

    @classmethod
    def of(cls, rows: WarpRows, accesses: Sequence[ThreadAccess]) -> _Privatization:
        """What may be private in a launch, as far as places tell."""
        found = cls(rows, accesses, {}, {})
        for root in dict.fromkeys(one.access.root for one in accesses):
            inside = [one for one in accesses if one.access.root == root]
            if not is_scratch(root, [one.op for one in inside]) or not _same_place(inside):
                continue
            if inside[0].is_own(in_loop=False):
                found.own[root] = inside
            elif inside[0].is_own((1, 2), in_loop=False):
                found.of_rows[root] = inside
        return found

    def rewrite(self) -> None:
        """Rewrite what is left when rows' elements that only one lane can compute are taken out."""
        guards = self._guards()
        while (wrong := self._not_uniform(guards)) is not None:
            del self.of_rows[wrong]
        for guard in guards:
            if any(root in self.of_rows for root in _stored(guard)):
                _dissolve(guard)
        for root, inside in {**self.own, **self.of_rows}.items():
            self._replace(root, inside)

    def _guards(self) -> list[ir.Operation]:
        return list(self.rows.of_first_lane())

    def _not_uniform(self, guards: Sequence[ir.Operation]) -> ir.Value | None:
        """A row's memory that some store may not be done by all lanes alike."""
        for root, inside in self.of_rows.items():
            for store in [one.op for one in inside if is_store(one.op)]:
                guard = next((op for op in guards if is_inside(store, op)), None)
                if guard is None and not (self.rows.meets(store) and self._is_uniform(store.operands[0])):
                    return root
                if guard is not None and not all(self._may_repeat(op) for op in real_ops(guard.regions[0].blocks[0])):
                    return root
        return None

    def _may_repeat(self, op: ir.Operation) -> bool:
        """Whether all lanes of a row may run `op`, with the same results as the first one."""
        if op.name == "affine.if":
            blocks = [block for region in op.regions for block in region.blocks]
            return self.rows.has_uniform_bounds(op) and all(self._may_repeat(one) for block in blocks for one in real_ops(block))
        if op.name == "affine.store":
            return op.operands[1] in self.of_rows and self._is_uniform(op.operands[0])
        return all(self._is_uniform(value) for value in op.results) and (op.name == "affine.load" or op.name.startswith(_PURE))

    def _is_uniform(self, value: ir.Value) -> bool:
        """Whether all lanes of a row that come to where `value` is computed have the same."""
        op = defining_op(value)
        if op is None:
            return self.rows.is_uniform(value)
        if op.name == "arith.constant" or UNIFORM in op.attributes or not is_inside(op, self.rows.op):
            return True
        if op.name == "affine.load":
            is_known = op.operands[0] in self.of_rows or self._is_never_written(op.operands[0])
            return is_known and all(self.rows.is_uniform(index) for index in list(op.operands)[1:])
        if op.name == "affine.if":
            ends = [list(block.operations)[-1] for region in op.regions for block in region.blocks]
            return self.rows.has_uniform_bounds(op) and all(self._is_uniform(one) for end in ends for one in end.operands)
        return op.name.startswith(_PURE) and all(self._is_uniform(operand) for operand in op.operands)

    def _is_never_written(self, memref: ir.Value) -> bool:
        stores = [one.access.root for one in self.accesses if is_store(one.op)]
        return all(is_apart(memref, root) for root in stores)

    def _replace(self, root: ir.Value, inside: Sequence[ThreadAccess]) -> None:
        kind = ir.MemRefType.get([1], ir.MemRefType(root.type).element_type)
        buffer = private_memory(self.rows.body, kind, root.owner.location)
        place = ir.AffineMapAttr.get(ir.AffineMap.get_constant(0))
        for op in [one.op for one in inside]:
            with ir.InsertionPoint(op):
                given = [op.operands[0], buffer] if is_store(op) else [buffer]
                new = ir.Operation.create(op.name, [one.type for one in op.results], given, {"map": place}, loc=op.location)
            for old, result in zip(op.results, new.results, strict=True):
                old.replace_all_uses_with(result)
            op.erase()
        erase_scratch(root)


def _same_place(inside: Sequence[ThreadAccess]) -> bool:
    """Whether all are of single elements at the same subscripts, and no loop's own variable is in them."""
    if any(one.op.name not in SUBSCRIPTS_AT or one.forms is None for one in inside):
        return False
    return len({tuple(form.key for form in one.forms or []) for one in inside}) == 1 and not any(
        form.of(one.variable) for one in inside if one.variable is not None for form in one.forms or []
    )


def _stored(guard: ir.Operation) -> list[ir.Value]:
    return [op.operands[1] for op in nested_ops(guard) if op.name == "affine.store"]


def _dissolve(guard: ir.Operation) -> None:
    """Let all lanes do what one did."""
    for op in real_ops(guard.regions[0].blocks[0]):
        op.move_before(guard)
    guard.erase()
