"""Ops for loops over affine bounds, with empty bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlc._mlir import affine, ir
from dlc.lowering.affine.ir.affine_builder import AffineScope


def affine_for(
    scope: AffineScope, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], step: int, location: ir.Location
) -> affine.AffineForOp:
    """A loop from the largest of `lower` to below the least of `upper`."""
    (lower_map, lower_operands), (upper_map, upper_operands) = scope.map(lower), scope.map(upper)
    return affine.AffineForOp(
        lower_map, upper_map, step, lower_bound_operands=lower_operands, upper_bound_operands=upper_operands, loc=location
    )


def affine_parallel(
    scope: AffineScope, lower: Sequence[ir.AffineExpr], upper: Sequence[ir.AffineExpr], step: int, location: ir.Location
) -> ir.Operation:
    """The same loop without an order of its iterations."""
    (lower_map, lower_operands), (upper_map, upper_operands) = scope.map(lower), scope.map(upper)
    loop = ir.Operation.create(
        "affine.parallel",
        operands=[*lower_operands, *upper_operands],
        attributes={
            "reductions": ir.ArrayAttr.get([]),
            "lowerBoundsMap": ir.AffineMapAttr.get(lower_map),
            "lowerBoundsGroups": _group(len(lower)),
            "upperBoundsMap": ir.AffineMapAttr.get(upper_map),
            "upperBoundsGroups": _group(len(upper)),
            "steps": ir.ArrayAttr.get([ir.IntegerAttr.get(ir.IntegerType.get_signless(64), step)]),
        },
        regions=1,
        loc=location,
    )
    loop.regions[0].blocks.append(ir.IndexType.get(), arg_locs=[location])
    return loop


def _group(count: int) -> ir.Attribute:
    """How many results of a bounds' map belong to the only variable of an `affine.parallel`."""
    return ir.DenseIntElementsAttr.get(np.array([count], np.int32))
