"""Stores of vectors whose lanes lie apart: a tile of them is transposed where it is contiguous along one of its other dimensions.

8 pixels of 16 channels, stored with channels first: 8 vectors of 16 lanes become 16 of 8, one for each channel.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlc._mlir import ir, vector
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.affine.ir.expressions import result_maps, shifted
from dlc.lowering.affine.ir.loops import apply
from dlc.lowering.affine.ir.masks import LaneMask
from dlc.lowering.affine.ir.shuffles import transposed
from dlc.lowering.affine.ir.values import Instance, TileValues


def scatter(values: TileValues, op: ir.Operation) -> None:
    """Emit the copies of the affine.store `op`, whose lanes lie apart; all of them are in range."""
    subscripts = list(op.operands)[2:]
    dims = values.dims_of([op.operands[0], *subscripts])
    across = next((dim for dim in dims if dim != values.lane_dim and _is_run(values, op, dim)), None)
    if across is None:
        for at in values.instances(dims):
            _store_rows(values, op, at, [values.vector(op.operands[0], at)])
        return
    for at in values.instances([dim for dim in dims if dim != across]):
        copies = [{**at, across: index} for index in range(values.dims[across].count)]
        _store_rows(values, op, copies[0], [values.vector(op.operands[0], copy) for copy in copies])


def _is_run(values: TileValues, op: ir.Operation, dim: int) -> bool:
    found = values.dims[dim]
    return 1 < found.count <= values.lanes and found.step == 1 and stride_along(op, found.iv) == 1


def _store_rows(values: TileValues, op: ir.Operation, first: Instance, rows: Sequence[ir.Value]) -> None:
    """Store `rows`, neighbours in memory, lane by lane; `first` is the copy that the first one belongs to."""
    buffer, subscripts = op.operands[1], list(op.operands)[2:]
    indexing, operands = values.subscripts(subscripts, op.attributes["map"].value, first)
    for lane, run in enumerate(_runs(rows, values.lanes)):
        there = shifted(indexing, values.lane_offset(subscripts, lane))
        indices = [apply(single, operands) for single in result_maps(there)]
        size = ir.VectorType(run.type).shape[0]
        if len(rows) == size:
            vector.StoreOp(run, buffer, indices)
        else:
            vector.MaskedStoreOp(buffer, indices, LaneMask(size, len(rows)).vector(), run)


def _runs(rows: Sequence[ir.Value], lanes: int) -> list[ir.Value]:
    """For each lane a vector that begins with the lane's elements of `rows`."""
    size = 1 << (len(rows) - 1).bit_length()
    found: list[ir.Value] = []
    for start in range(0, lanes, size):
        parts = [vector.ShuffleOp(row, row, list(range(start, start + size))).result for row in rows]
        found += transposed(parts + parts[-1:] * (size - len(parts)))
    return found
