"""One load of a group of neighbouring numbers of a buffer."""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import affine, ir, vector
from dlc.analysis.buffers import strides_of, written_roots
from dlc.lowering.affine.ir.accesses import indices_of
from dlc.lowering.affine.vectors.byte_products import owner_of


def only_reads(block: ir.Block) -> bool:
    """Whether no op of `block` writes memory, so that its loads may move."""
    return not any(written_roots(op.operation) for op in block.operations)


def neighbours_of(values: Sequence[ir.Value], block: ir.Block) -> ir.Operation | None:
    """The load of the first one, where `values` are loads in `block` of elements that follow each other in memory."""
    loads = [owner_of(value) for value in values]
    first = loads[0]
    if first is None or any(load is None or load.name != "affine.load" or load.block != block for load in loads):
        return None
    strides, _ = strides_of(ir.MemRefType(first.operands[0].type))
    follow = all(load is not None and _follows(first, load, place) for place, load in enumerate(loads))
    return first if follow and strides[-1:] == [1] else None


def load_word(first: ir.Operation, count: int) -> ir.Value:
    """The element that `first` loads and the `count - 1` after it as an i32, at the current insertion point."""
    group, memref = ir.IntegerType.get_signless(32), first.operands[0]
    parts = ir.VectorType.get([count], first.results[0].type)
    loaded = affine.AffineVectorLoadOp(parts, memref, indices_of(first), first.attributes["map"].value).result
    return vector.ExtractOp(vector.BitCastOp(ir.VectorType.get([1], group), loaded).result, [], [0]).result


def _follows(first: ir.Operation, load: ir.Operation, place: int) -> bool:
    """Whether `load` reads the element that lies `place` after that of `first` along the last axis."""
    if list(load.operands) != list(first.operands):
        return False
    *outer, last = first.attributes["map"].value.results
    return list(load.attributes["map"].value.results) == [*outer, last + place]
