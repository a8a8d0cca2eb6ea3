"""One arena for the buffers of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.memory_plan import NOMINAL_SIZE, PAGE_ALIGNMENT, MemoryPlan, PlannedBuffer, memory_plan, plans_after_calls
from dlc.analysis.packing import VECTOR_ALIGNMENT
from dlc.dialects.dl.types import MOST_BYTES
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.linalg.size_emitter import Extent, SizeEmitter
from dlc.lowering.pass_base import Pass, PassFailure, option

_REMEDY = "make the sizes smaller, or known at run time only"


@dataclass(frozen=True)
class PlanMemory(Pass):
    """Lay the buffers of each public function out in one allocation, by `analysis/memory_plan.py`.

    Left alone are buffers that the function returns or hands on, and those that change their owner in loops and branches. Buffers
    whose sizes depend on those of what a call gives have an allocation of their own behind it, all that the call decides
    together. Where sizes depend on the arguments, offsets are arithmetic at the head of the function:
    each buffer starts where the highest buffer below it ends. A function with one buffer keeps it.

    before:
        %a = memref.alloc() : memref<64xf32>
        call @k0(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
        %b = memref.alloc(%n) : memref<?xf32>
        call @k1(%a, %b) : (memref<64xf32>, memref<?xf32>) -> ()
    after:
        %bytes = ...  // 256 + 4 * n, rounded up
        %arena = memref.alloc(%bytes) : memref<?xi8>
        %a = memref.view %arena[%c0][] : memref<?xi8> to memref<64xf32>
        call @k0(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
        %b = memref.view %arena[%c256][%n] : memref<?xi8> to memref<?xf32>
        call @k1(%a, %b) : (memref<64xf32>, memref<?xf32>) -> ()
    """

    nominal: int = option(NOMINAL_SIZE, "what a dynamic dim is taken to be where the plan chooses between orders")

    def run(self, op: ir.Operation) -> None:
        if self.nominal < 1:
            raise PassFailure(op, f"nominal is {self.nominal}", "give 1 or more")
        require_buffers(op, "run it before linalg-insert-deallocs")
        for function in op.regions[0].blocks[0].operations:
            if _is_planned(function.operation):
                _lay_out(memory_plan(function.operation, self.nominal))
                for plan in plans_after_calls(function.operation, self.nominal):
                    _lay_out(plan)


def _is_planned(op: ir.Operation) -> bool:
    return op.name == "func.func" and "sym_visibility" not in op.attributes and len(op.regions[0].blocks) == 1


def _lay_out(plan: MemoryPlan) -> None:
    """Replace the plan's allocations by views of one."""
    if len(plan.buffers) < 2:
        return
    _refuse_vast(plan)
    allocs = [buffer.alloc for buffer in plan.buffers]
    largest_first = [*(buffer.alloc for buffer in plan.holders()), *allocs]  # an error of the arena names its first node
    with ir.InsertionPoint(_in_entry(allocs[0])), ir.Location.fused([alloc.location for alloc in largest_first]):
        emitter = SizeEmitter(plan.atoms)
        offsets, end = _offsets(plan, emitter)
        if isinstance(end, int) and end > MOST_BYTES:
            what = f"the buffers take {end} bytes, more than any machine can address"
            raise PassFailure(allocs[0], what, _REMEDY)
        alignments = [buffer.alignment(size) for buffer, size in zip(plan.buffers, plan.sizes(), strict=True)]
        arena = _allocate(end, emitter, max(alignments))
        starts = [emitter.value(offset) for offset in offsets]
    for alloc, start in zip(allocs, starts, strict=True):
        with ir.InsertionPoint(alloc), alloc.location:
            kind = alloc.results[0].type
            view = ir.Operation.create("memref.view", results=[kind], operands=[arena, start, *alloc.operands])
        alloc.results[0].replace_all_uses_with(view.results[0])
        alloc.erase()


def _refuse_vast(plan: MemoryPlan) -> None:
    """Refuse buffers whose size is an open one times more bytes than there can be; arithmetic on it would overflow."""
    for buffer in plan.buffers if plan.atoms else ():
        factor = max((abs(each) for _, each in buffer.bytes.terms), default=0)
        if factor > MOST_BYTES:
            raise PassFailure(
                buffer.alloc, f"a buffer takes a multiple of {factor} bytes, more than any machine can address", _REMEDY
            )


def _in_entry(op: ir.Operation) -> ir.Operation:
    """The op at the top level of the function that is `op` or has it inside."""
    while op.parent.operation.name != "func.func":
        op = op.parent.operation
    return op


def _offsets(plan: MemoryPlan, emitter: SizeEmitter) -> tuple[list[Extent], Extent]:
    """Emit where each buffer starts, and where the last one ends."""
    sizes = [_taken(emitter.extent(buffer.bytes), emitter) for buffer in plan.buffers]
    offsets: list[Extent] = [0] * len(sizes)
    ends: list[Extent] = [0] * len(sizes)
    for index in plan.stacking.order:
        lowest = emitter.largest([ends[under] for under in plan.stacking.below[index]])
        offsets[index] = _aligned(lowest, plan.buffers[index], sizes[index], emitter)
        ends[index] = emitter.sum(offsets[index], sizes[index])
    return offsets, emitter.largest([ends[index] for index in _tops(plan.stacking.below)])


def _aligned(lowest: Extent, buffer: PlannedBuffer, size: Extent, emitter: SizeEmitter) -> Extent:
    """The first place from `lowest` on, a multiple of the vector alignment, where a buffer of `size` bytes may start."""
    if isinstance(size, int):
        return emitter.rounded_up(lowest, buffer.alignment(size))
    if isinstance(lowest, int) and lowest == 0:
        return lowest
    return emitter.choice(size, buffer.paged_from, emitter.rounded_up(lowest, PAGE_ALIGNMENT), lowest)


def _taken(size: Extent, emitter: SizeEmitter) -> Extent:
    """As `memory_plan.taken_bytes`, but nothing for an empty buffer of a size that is known at run time only."""
    return emitter.rounded_up(max(size, 1) if isinstance(size, int) else size, VECTOR_ALIGNMENT)


def _tops(below: Sequence[Sequence[int]]) -> list[int]:
    """The buffers that no other one lies on."""
    covered = {index for found in below for index in found}
    return [index for index in range(len(below)) if index not in covered]


def _allocate(size: Extent, emitter: SizeEmitter, alignment: int) -> ir.Value:
    """Emit the arena; the runtime's own alignment is enough where no buffer wants to start on a page."""
    dynamic = [] if isinstance(size, int) else [emitter.value(size)]
    extent = size if isinstance(size, int) else ir.ShapedType.get_dynamic_size()
    kind = ir.MemRefType.get([extent], ir.IntegerType.get_signless(8))
    attributes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(dynamic), 0])}
    if alignment == PAGE_ALIGNMENT:
        attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), alignment)
    return ir.Operation.create("memref.alloc", results=[kind], operands=dynamic, attributes=attributes).results[0]
