"""How many threads share the row of a reduction."""

from __future__ import annotations

from math import prod

from dlc._mlir import affine, ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT
from dlc.lowering.affine.ir.alignment import lane_bytes
from dlc.lowering.affine.ir.loops import Bound, build_for, normalized
from dlc.lowering.affine.ir.reductions import ReductionNest
from dlc.lowering.affine_to_gpu.coalesced_reductions import is_dense, likely_extent
from dlc.lowering.policy import policy
from dlc.targets.machine import REGISTER_BYTES, GpuMachine

_OUTSIDE = {"arith.constant", "memref.dealloc", "memref.dim", "memref.get_global", *ALLOCATIONS, *VIEW_OPS}
"""What stays around the loop of a function's only row."""


def row_lanes(chain: ReductionNest, neighbours: int, facts: GpuMachine) -> int:
    """Threads for each row: warps until a thread holds its part of a row in few registers and rows fill the GPU.

    A lane takes `neighbours` at once, so that there are no more lanes than groups of them. The number is a power of two.
    """
    extent, rows = likely_extent(chain) or 0, rows_around(chain.loops[0].op)
    dense = [op for op in nested_ops(chain.loops[-1].op) if op.name in SUBSCRIPTS_AT and is_dense(op, chain)]
    row_bytes = extent * max(_bytes_of(op) for op in dense)
    lanes = facts.warp_threads
    while 2 * lanes <= facts.most_threads and 2 * lanes * neighbours <= extent:
        holds_few = row_bytes <= lanes * policy().gpu.row_registers * REGISTER_BYTES
        if holds_few and (rows is None or rows * lanes >= facts.multiprocessors * facts.most_threads):
            break
        lanes *= 2
    return lanes


def enclose_row(function: ir.Operation) -> None:
    """Put what a function does into a loop of one iteration, so that it is a row like others; values that it returns stay."""
    (block,) = function.regions[0].blocks
    *ops, last = [op.operation for op in block.operations]
    inside = [op for op in ops if op.name not in _OUTSIDE]
    if any(defining_op(value) in inside for value in last.operands if defining_op(value) is not None):
        return
    for op in [op for op in ops if op.name == "memref.dealloc"]:
        op.move_before(last)
    for op in reversed([op for op in ops if op.name in ALLOCATIONS or op.name == "arith.constant"]):
        op.move_before(ops[0])
    with ir.InsertionPoint(inside[-1]), function.location:
        row = build_for(Bound.constant(0), Bound.constant(1), parallel=True)
        with ir.InsertionPoint(row.regions[0].blocks[0]):
            end = affine.AffineYieldOp([]).operation
    for op in inside:
        op.move_before(end)


def rows_around(op: ir.Operation) -> int | None:
    """The iterations of all loops around `op` together; None where they are not constant."""
    extents: list[int | None] = []
    around = op.parent
    while around is not None and around.operation.name != "func.func":
        if around.operation.name == "affine.for":
            loop = normalized(around.operation)
            extents.append(loop.extent if loop else None)
        around = around.operation.parent
    known = [extent for extent in extents if extent is not None]
    return prod(known) if len(known) == len(extents) else None


def _bytes_of(op: ir.Operation) -> int:
    return lane_bytes(op.operands[SUBSCRIPTS_AT[op.name] - 1])
