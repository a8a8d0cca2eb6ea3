"""convert-affine-to-gpu: loops that are mapped to blocks and threads become launches of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, nested_ops
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.affine_outline_checks import CHECKS
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.grid import place_of
from dlc.lowering.affine_to_gpu.launches import Launch, empty_launch, launch_of, repeat_globals
from dlc.lowering.affine_to_gpu.sunk_loads import sink_loads
from dlc.lowering.affine_to_gpu.thread_code import ThreadCode, end_of, uses_any
from dlc.lowering.pass_base import Pass, PassFailure
from dlc.targets.machine import GpuMachine, gpu_facts_of

_OF_HOST = (
    *("arith.", "math.", "affine.apply", "affine.min", "affine.max", "memref.dim", "memref.get_global", "gpu.", "func."),
    *("nvgpu.tma.create.descriptor", "builtin.unrealized_conversion_cast"),
)
"""What stays where it is between kernels: it touches no memory, or is the business of the function that it calls."""


@dataclass(frozen=True)
class ConvertAffineToGpu(Pass):
    """Turn the loops that `affine-map-to-gpu` named into `gpu.launch` ops.

    before: affine.for %b = 0 to 13 { affine.for %t = 0 to min(8, 100 - 8 * %b) { ... }
              {dlc.name = "kernel0.thread.x"} } {dlc.name = "kernel0.block.x"}
    after:  gpu.launch blocks(%b, ...) in (%gx = 13, ...) threads(%t, ...) in (%bx = 8, ...) {
              affine.if (100 - 8 * %b - %t > 0) { ... } gpu.terminator }

    A grid is the box around its loops, so that iterations which do not exist are guarded. Where a grid may be larger than the GPU
    takes, blocks repeat. Each outermost loop over threads in a block is a phase, with barriers between them; memory that loops over
    blocks allocate is shared memory, memory that threads allocate their own. What such a function does outside of mapped loops
    is a kernel of one thread, and its own memory the GPU's (`gpu.alloc`); so are functions of checks. Numbers that
    kernels need of memory which the function does not write they read themselves. A function that launches kernels already
    (`convert-contractions-to-mma`) is treated alike; others without mapped loops stay.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        if CHECKS in op.attributes or any(place_of(inner) or inner.name == "gpu.launch_func" for inner in nested_ops(op)):
            facts = gpu_facts_of(op)
            for block in [block for region in op.regions for block in region.blocks]:
                sink_loads(block)
            for block in [block for region in op.regions for block in region.blocks]:
                _convert(block, facts)
            for allocation in [inner for inner in nested_ops(op) if inner.name in ALLOCATIONS and not _is_in_kernel(inner)]:
                _to_device(allocation)


def _convert(block: ir.Block, facts: GpuMachine) -> None:
    """Make launches of what a block of the host does."""
    alone: list[ir.Operation] = []
    for op in real_ops(block):
        if _is_of_host(op) and not uses_any(op, alone):
            continue
        inside = nested_ops(op)
        if not any(place_of(inner) for inner in inside):
            alone.append(op)
            continue
        _launch_alone(alone)
        alone = []
        if place_of(op) is not None:
            _launch(op, facts)
            continue
        for inner in [inner for region in op.regions for inner in region.blocks]:
            _convert(inner, facts)
    _launch_alone(alone)


def _is_of_host(op: ir.Operation) -> bool:
    return op.name.startswith(_OF_HOST) or op.name in ALLOCATIONS or op.name in VIEW_OPS or op.name == "memref.dealloc"


def _launch(root: ir.Operation, facts: GpuMachine) -> None:
    """The launch of the kernel whose outermost mapped loop is `root`."""
    extents = LoopExtents()
    with ir.InsertionPoint(root), root.location:
        launch = launch_of(root, extents, facts)
        body = empty_launch(launch.sizes(extents))
    ThreadCode(launch, extents, body).move(root)
    repeat_globals(body)


def _launch_alone(ops: Sequence[ir.Operation]) -> None:
    """The launch of a kernel whose only thread runs `ops`, which lie in one block."""
    if not ops:
        return
    inside = {inner for op in ops for inner in nested_ops(op)}
    for op in ops:
        _require_loops(op)
        if any(use.owner.operation not in inside for result in op.results for use in result.uses):
            raise PassFailure(op, "a kernel computes a value that the host uses", "keep it in a memref")
    with ir.InsertionPoint(ops[-1]), ops[0].location:
        body = empty_launch(Launch({}).sizes(LoopExtents()))
    for op in ops:
        op.move_before(end_of(body))
    repeat_globals(body)


def _require_loops(op: ir.Operation) -> None:
    for inner in nested_ops(op):
        if inner.name.split(".")[0] not in ("affine", "arith", "math", "memref", "vector", "scf") and inner.name != "cf.assert":
            raise PassFailure(
                inner, f"'{inner.name}' between kernels", "run convert-linalg-to-affine first, or move it to its own function"
            )


def _is_in_kernel(op: ir.Operation) -> bool:
    around = op.parent
    while around is not None and around.operation.name != "gpu.launch":
        around = around.operation.parent
    return around is not None


def _to_device(allocation: ir.Operation) -> None:
    """Let memory of the host be the GPU's; what would go with the function's frame is freed at the end of its block."""
    memref = allocation.results[0]
    sizes = list(allocation.operands)
    frees = [use.owner.operation for use in memref.uses if use.owner.operation.name == "memref.dealloc"]
    with allocation.location:
        attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(sizes), 0])}
        new = ir.Operation.create("gpu.alloc", [memref.type], sizes, attributes, ip=ir.InsertionPoint(allocation)).results[0]
        places = frees if allocation.name == "memref.alloc" else [end_of(allocation.block)]
        for place in places:
            ir.Operation.create("gpu.dealloc", operands=[new], ip=ir.InsertionPoint(place))
    for free in frees:
        free.erase()
    memref.replace_all_uses_with(new)
    allocation.erase()
