"""Loops of linalg ops that run over neighbouring memory become one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import is_row_major, nested_ops, strides_of
from dlc.analysis.collapsible_axes import collapsible_axes
from dlc.analysis.size_polynomials import SizeReader
from dlc.lowering.affine.ir.expressions import mentions
from dlc.lowering.linalg.collapse_plans import CollapsePlan, agree
from dlc.lowering.linalg_to_affine.generic import Generic, dim_position, uses_loop
from dlc.lowering.native import run_native
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pass_base import Pass, PassFailure


@dataclass(frozen=True)
class CollapseDims(Pass):
    """Merge loops of linalg ops on buffers where every operand walks them as one, and drop loops of one iteration.

    before: generic over (n, c, h, w) on memref<2x3x7x7xf32>, all maps the identity
    after:  generic over (i) on memref.collapse_shape of the operands, memref<294xf32>

    A convolution by a 1x1 window becomes a matrix product over all pixels this way. Named ops are made `linalg.generic`
    first. Ops that ask for their loop indices stay as they are. In a kernel function, ops that share a buffer which one
    of them writes merge its axes alike, so that their loops still match.
    """

    def run(self, op: ir.Operation) -> None:
        """Collapse every linalg op of the module."""
        ops = [inner for inner in nested_ops(op) if inner.name.startswith("linalg.")]
        for inner in ops:
            if any(isinstance(value.type, ir.RankedTensorType) for value in (*inner.operands, *inner.results)):
                raise PassFailure(inner, "linalg-collapse-dims needs memrefs", "run linalg-bufferize-tensors first")
        run_native(op, "func.func(linalg-generalize-named-ops)")
        for function in op.regions[0].blocks[0].operations:
            plans = [_plan(inner) for inner in nested_ops(function.operation) if inner.name == "linalg.generic"]
            if is_kernel(function.operation):
                agree(plans)
            for plan in plans:
                _collapse(plan)


def _plan(op: ir.Operation) -> CollapsePlan:
    """The most that `op` allows by itself."""
    generic = Generic.of(op)
    operands, outputs, count = generic.operands, generic.outputs, len(generic.parallel)
    if any(inner.name == "linalg.index" for inner in nested_ops(op)) or any(map(_has_no_count, operands)):
        alone = [[loop] for loop in range(count)]
        return CollapsePlan(op, count, operands, outputs, generic.maps, generic.parallel, alone)
    kept = _loops_to_keep(generic, generic.extents())
    maps = [_without_unit_loops(indexing, kept) for indexing in generic.maps]
    parallel = [generic.parallel[loop] for loop in kept]
    return CollapsePlan(op, count, operands, outputs, maps, parallel, _groups(operands, maps, parallel))


def _has_no_count(value: ir.Value) -> bool:
    """Whether a memref has more elements than a size can say."""
    return isinstance(value.type, ir.MemRefType) and math.prod(size for size in value.type.shape if size >= 0) >= 1 << 63


def _collapse(plan: CollapsePlan) -> None:
    op, maps, parallel, groups = plan.op, plan.maps, plan.parallel, plan.groups
    if len(groups) == plan.loops:
        return
    with ir.InsertionPoint(op), op.location:
        operands = [_collapsed(value, maps[index], groups) for index, value in enumerate(plan.operands)]
    for index, value in enumerate(operands):
        op.operands[index] = value
    new_maps = [ir.AffineMapAttr.get(_collapsed_map(indexing, groups)) for indexing in maps]
    kinds = [_iterator(parallel[group[0]]) for group in groups]
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(new_maps)
    op.attributes["iterator_types"] = ir.ArrayAttr.get(kinds)


def _loops_to_keep(generic: Generic, extents: Sequence[int | None]) -> list[int]:
    """Loops of more than one iteration, and those that keep a subscript apart from a loop with fewer iterations than the axis.

    In `%x[oh * 2 + kh]` with one `oh`, a bare `kh` would claim that `%x` has as many rows as the window.
    """
    kept = [loop for loop, extent in enumerate(extents) if extent != 1]
    needed = set(kept)
    for value, indexing in zip(generic.operands, generic.maps, strict=True):
        for axis, (before, after) in enumerate(zip(indexing.results, _without_unit_loops(indexing, kept).results, strict=True)):
            loop = dim_position(after)
            if loop is None or dim_position(before) is not None:
                continue
            extent = extents[kept[loop]]
            if extent is None or ir.MemRefType(value.type).shape[axis] != extent:
                needed.update(loop for loop in range(indexing.n_dims) if mentions(before, loop))
    return sorted(needed)


def _iterator(parallel: bool) -> ir.Attribute:
    return ir.Attribute.parse(f"#linalg.iterator_type<{'parallel' if parallel else 'reduction'}>")


def _without_unit_loops(indexing: ir.AffineMap, kept: Sequence[int]) -> ir.AffineMap:
    """`indexing` over the loops `kept`; the others are always at 0."""
    zero = ir.AffineConstantExpr.get(0)
    dims = [ir.AffineDimExpr.get(kept.index(loop)) if loop in kept else zero for loop in range(indexing.n_dims)]
    inner = ir.AffineMap.get(len(kept), 0, dims)
    return ir.AffineMap.get(len(kept), 0, [result.compose(inner) for result in indexing.results])


def _groups(operands: Sequence[ir.Value], maps: Sequence[ir.AffineMap], parallel: Sequence[bool]) -> list[list[int]]:
    """The longest runs of loops that every operand walks as one."""
    groups: list[list[int]] = []
    for loop, kind in enumerate(parallel):
        joins = loop > 0 and kind == parallel[loop - 1]
        if joins and all(_walks_as_one(*pair, loop - 1) for pair in zip(operands, maps, strict=True)):
            groups[-1].append(loop)
        else:
            groups.append([loop])
    return groups


def _walks_as_one(value: ir.Value, indexing: ir.AffineMap, loop: int) -> bool:
    """Whether loops `loop` and `loop + 1` index neighbouring axes of `value` that are collapsible, or none."""
    used = [axis for axis, result in enumerate(indexing.results) if _moves(result, indexing, loop)]
    if not used:
        return True
    positions = [dim_position(result) for result in indexing.results]
    if positions.count(loop) != 1 or positions.count(loop + 1) != 1 or len(used) != 2:
        return False
    axis = positions.index(loop)
    return positions.index(loop + 1) == axis + 1 and _is_collapsible(value, axis)


def _moves(result: ir.AffineExpr, indexing: ir.AffineMap, loop: int) -> bool:
    single = ir.AffineMap.get(indexing.n_dims, 0, [result])
    return uses_loop(single, loop) or uses_loop(single, loop + 1)


def _is_collapsible(value: ir.Value, axis: int) -> bool:
    """Whether a step along `axis` is as far as a whole row of the axis after it."""
    shaped = ir.MemRefType(value.type)
    if is_row_major(shaped):
        return True
    strides, _ = strides_of(shaped)
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if shaped.is_dynamic_dim(axis + 1) or dynamic in strides[axis : axis + 2]:
        return axis in collapsible_axes(value, SizeReader())
    return strides[axis] == strides[axis + 1] * shaped.get_dim_size(axis + 1)


def _collapsed(value: ir.Value, indexing: ir.AffineMap, groups: Sequence[Sequence[int]]) -> ir.Value:
    """Emit `value` with the axes of each group of loops as one."""
    if not isinstance(value.type, ir.MemRefType):
        return value
    axes: list[list[int]] = []
    positions = [dim_position(result) for result in indexing.results]
    for axis, position in enumerate(positions):
        joined = axis > 0 and any({positions[axis - 1], position} <= set(group) for group in groups if position is not None)
        if joined:
            axes[-1].append(axis)
        else:
            axes.append([axis])
    if len(axes) == len(positions):
        return value
    index = ir.IntegerType.get_signless(64)
    attribute = ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(index, axis) for axis in run]) for run in axes])
    kinds = [_collapsed_type(ir.MemRefType(value.type), axes, is_inferred) for is_inferred in (True, False)]
    found: ir.Value = ir.Operation.create(
        "memref.collapse_shape", results=kinds[:1], operands=[value], attributes={"reassociation": attribute}
    ).results[0]
    return found if kinds[0] == kinds[1] else ir.Operation.create("memref.cast", results=kinds[1:], operands=[found]).results[0]


def _collapsed_type(shaped: ir.MemRefType, axes: Sequence[Sequence[int]], is_inferred: bool) -> ir.MemRefType:
    """`shaped` with each run of axes as one; `is_inferred`: with the strides that `memref.collapse_shape` infers.

    That leaves open the stride of an axis which is the last of several and may be of size 1, though collapsible ones have it.
    """
    dynamic, unknown = ir.ShapedType.get_dynamic_size(), ir.ShapedType.get_dynamic_stride_or_offset()
    sizes = [[shaped.shape[axis] for axis in run] for run in axes]
    shape = [dynamic if dynamic in run else math.prod(run) for run in sizes]
    layout = None
    if not is_row_major(shaped):
        strides, offset = shaped.get_strides_and_offset()
        is_open = [is_inferred and len(run) > 1 and sizes[-1] == dynamic for run, sizes in zip(axes, sizes, strict=True)]
        layout = ir.StridedLayoutAttr.get(
            offset, [unknown if hidden else strides[run[-1]] for run, hidden in zip(axes, is_open, strict=True)]
        )
    return ir.MemRefType.get(shape, shaped.element_type, layout, shaped.memory_space)


def _collapsed_map(indexing: ir.AffineMap, groups: Sequence[Sequence[int]]) -> ir.AffineMap:
    """`indexing` over the new loops; a group's first axis stands for all of it."""
    owner = {loop: place for place, group in enumerate(groups) for loop in group}
    later = {loop for group in groups for loop in group[1:]}
    dims = [ir.AffineDimExpr.get(owner[loop]) for loop in range(indexing.n_dims)]
    inner = ir.AffineMap.get(len(groups), 0, dims)
    kept = [result for result in indexing.results if dim_position(result) not in later]
    return ir.AffineMap.get(len(groups), 0, [result.compose(inner) for result in kept])
