"""Kernels of a single block: the loop over blocks that a loop generator leaves out is put back."""

from __future__ import annotations

from collections.abc import Iterator

from dlc._mlir import affine, ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.loops import Bound, build_for, real_ops
from dlc.lowering.affine.polyhedral.loop_marks import NAME
from dlc.lowering.affine_to_gpu.grid import GpuMapping, is_bound, name_of, place_of

_OF_THREADS = ("affine.", "arith.", "math.")


def enclose_only_blocks(function: ir.Operation) -> None:
    """Put what follows each other of a kernel of one block into a loop over this block, with what one thread does in between."""
    for block in [block for op in nested_ops(function) for region in op.regions for block in region.blocks]:
        home = block.owner.operation
        if home == function or (home.name in ("affine.for", "affine.if") and _is_of_host(home)):
            for run in list(_runs(block)):
                _enclose(run)


def _is_of_host(op: ir.Operation) -> bool:
    """Whether no mapped loop is `op` or around it."""
    while op.name != "func.func":
        if place_of(op) is not None:
            return False
        op = op.parent.operation
    return True


def _runs(block: ir.Block) -> Iterator[list[ir.Operation]]:
    """The ops of a block that belong to the same kernel of one block."""
    found: list[ir.Operation] = []
    name = ""
    for op in real_ops(block):
        kernel = _kernel_of(op)
        is_plain = op.name.startswith(_OF_THREADS) and not any(place_of(inner) for inner in nested_ops(op)) and not _is_sunk(op)
        if (kernel and name and kernel != name) or not (kernel or is_plain):
            yield from [found] if name else []
            found, name = [], ""
        if kernel or is_plain:
            found.append(op)
            name = name or kernel
    yield from [found] if name else []


def _is_sunk(op: ir.Operation) -> bool:
    """Whether threads use a number that `op` reads or computes of what is read: they read it themselves (`sunk_loads.py`)."""
    if op.name != "affine.load" and all(defining_op(value) is None for value in op.operands):
        return False
    return any(is_bound(use.owner.operation) for result in op.results for use in result.uses)


def _kernel_of(op: ir.Operation) -> str:
    """The kernel whose threads run the loop `op`; empty for others."""
    place = place_of(op)
    if place is None or place.unit == "block":
        return ""
    return ir.StringAttr(op.attributes[NAME]).value.rsplit(".thread.", 1)[0]


def _enclose(run: list[ir.Operation]) -> None:
    """Put a loop around ops, if nothing else uses what they compute; numbers of the host stay outside."""
    while run[0].name.startswith(("arith.", "math.", "affine.apply")):
        run = run[1:]
    inside = {inner for op in run for inner in nested_ops(op)}
    if len(run) < 2 or any(use.owner.operation not in inside for op in run for result in op.results for use in result.uses):
        return
    kernel = next(name for op in run if (name := _kernel_of(op)))
    with ir.InsertionPoint(run[0]), run[0].location:
        block = build_for(Bound.constant(0), Bound.constant(1), parallel=True)
        block.attributes[NAME] = ir.StringAttr.get(name_of(kernel, GpuMapping("block", 0)))
        with ir.InsertionPoint(block.regions[0].blocks[0]):
            end = affine.AffineYieldOp([]).operation
    for op in run:
        op.move_before(end)
