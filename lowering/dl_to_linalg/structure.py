"""Lowerings of constants; weights become arguments in `dl-bind-params`, kernels are inlined by the pass itself."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.dialects.dl.attributes import elements_of_array
from dlc.dialects.dl.types import NUMPY_DTYPES, signless_twin
from dlc.lowering.dl_to_linalg.building.builder import Builder
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering


@lowering("constant")
def lower_constant(b: Builder, op: SourceOp) -> ir.Value:
    """`arith.constant` with the same values; unsigned values are stored as signless ones of the same bits."""
    value = op["value"]
    return b.dense(elements_of_array(value.view(NUMPY_DTYPES[signless_twin(op.result.dtype)])))
