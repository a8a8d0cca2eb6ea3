"""Vectors of kernels that say which bytes they start at: LLVM takes those that do not element by element."""

from __future__ import annotations

from collections.abc import Iterable

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir.accesses import access_of
from dlc.lowering.affine.ir.alignment import alignment_of
from dlc.lowering.affine.ir.expressions import result_maps

_VECTORS = {"affine.vector_load": "vector.load", "affine.vector_store": "vector.store"}


def align_vectors(ops: Iterable[ir.Operation]) -> None:
    """Replace the affine loads and stores of vectors among `ops` by those of the vector dialect, with their alignment.

    It follows from subscripts and from where memory of kernels starts: at multiples of 16 bytes.
    """
    for op in [op for op in ops if op.name in _VECTORS]:
        access = access_of(op)
        attributes = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64, op.context), max(1, alignment_of(access)))}
        with ir.InsertionPoint(op), op.location:
            place = [affine.AffineApplyOp(map, list(access.indices)).result for map in result_maps(access.map)]
            kinds, stored = [result.type for result in op.results], list(op.operands)[:1] if access.writes else []
            new = ir.Operation.create(_VECTORS[op.name], kinds, [*stored, access.memref, *place], attributes)
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        op.erase()
