"""Tensor maps: operands in global memory as TMA sees them, and its copies of boxes to panels in shared memory.

A box is one piece of a panel's rows; it lands swizzled as `cp.async` would have it, and what lies outside of the operand is zero.
CUDA Driver API, "Tensor Map Object Management"; PTX ISA, "Tensor Memory Access Modes".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from dlc._mlir import arith, ir, memref
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.contractions import Axis
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import pointer_to, shared_address, strided_view
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.targets.machine import SWIZZLE_BYTES, TENSOR_BOX_SIDE, TENSOR_MAP_ALIGNMENT, TENSOR_MAP_DIMS


@dataclass(frozen=True, eq=False)
class MapDim:
    """A dim of a tensor map: positions along `axis`, `stride` elements apart, of which a box has `box`."""

    axis: Axis
    stride: int
    box: int


@dataclass(frozen=True, eq=False)
class TensorMap:
    """The operand of a panel by its dims, the outermost first; along the last one, elements lie side by side."""

    panel: Panel
    dims: tuple[MapDim, ...]

    @classmethod
    def of(cls, panel: Panel, batch: Axis) -> TensorMap | None:
        """The map of a panel's operand, which moves along `batch` too; None where TMA cannot describe it.

        It is made on the host, which does not know where a constant of the kernel is.
        """
        operand, (rows, _) = panel.operand, panel.shape
        source = defining_op(operand.memref)
        if source is not None and source.name == "memref.get_global":
            return None
        inner, outer = (panel.sums, panel.axis) if panel.along_sums else (panel.axis, panel.sums)
        steps = [(outer, outer.stride(operand) or 0, rows)]
        steps += [(Axis((loop,)), operand.factor(loop), 1) for loop in batch.loops if operand.factor(loop) and loop.extent != 1]
        steps.sort(key=lambda step: step[1], reverse=True)
        dims = tuple(MapDim(*step) for step in (*steps, (inner, inner.stride(operand) or 0, panel.span)))
        found = cls(panel, dims)
        return found if found._is_described and not operand.form.constant and not operand.inside else None

    @property
    def _is_described(self) -> bool:
        """Whether the driver encodes it: strides of whole 16 bytes, each a multiple of the next, and boxes of its sizes."""
        element = self.panel.operand.bytes
        outer = [dim.stride for dim in self.dims[:-1]]
        return (
            self.dims[-1].stride == 1
            and all(stride > 0 and stride * element % TENSOR_MAP_ALIGNMENT == 0 for stride in outer)
            and all(large % small == 0 for large, small in pairwise(outer))
            and all(dim.box <= TENSOR_BOX_SIDE for dim in self.dims)
            and len(self.dims) <= TENSOR_MAP_DIMS
            and self.panel.row_bytes in SWIZZLE_BYTES
        )

    def create(self) -> ir.Value:
        """Emit the map on the host; a pointer to it for the kernel."""
        operand, sizes = self.panel.operand, [dim.axis.extent for dim in self.dims]
        strides, boxes = [dim.stride for dim in self.dims], [dim.box for dim in self.dims]
        view = strided_view(operand.memref, sizes, strides)
        unranked = memref.cast(ir.UnrankedMemRefType.get(operand.element, None), view)
        given = [unranked, *(arith.constant(ir.IndexType.get(), box) for box in boxes)]
        box = f"memref<{'x'.join(map(str, boxes))}x{operand.element}, #gpu.address_space<workgroup>>"
        options = f"swizzle = swizzle_{self.panel.row_bytes}b, l2promo = none, oob = zero, interleave = none"
        kind = ir.Type.parse(f"!nvgpu.tensormap.descriptor<tensor = {box}, {options}>")
        made = ir.Operation.create("nvgpu.tma.create.descriptor", [kind], given).results[0]
        return ir.Operation.create("builtin.unrealized_conversion_cast", [ir.Type.parse("!llvm.ptr")], [made]).results[0]


@dataclass(frozen=True, eq=False)
class TensorCopy:
    """Copies of one panel by TMA: of what `pointer` maps to `target`, a panel for each stage.

    `first` is the block's first position along the panel's axis, `batch` the places of batch loops.
    """

    map: TensorMap
    pointer: ir.Value
    target: ir.Value
    extents: LoopExtents
    first: ir.AffineExpr
    batch: Mapping[ir.Value, ir.AffineExpr]

    @property
    def panel(self) -> Panel:
        """What is copied."""
        return self.map.panel

    def start(self, tile: ir.AffineExpr, stage: ir.AffineExpr, barrier: ir.Value) -> None:
        """Emit the copies of a tile of the sum to a stage, whose bytes `barrier` counts."""
        panel = self.panel
        rows, columns = panel.shape
        for piece in range(columns // panel.span):
            inside = stage * panel.bytes + piece * rows * panel.row_bytes
            target = pointer_to(shared_address(self.target, self.extents, inside), of_cluster=True)
            places = [self._place(dim, tile) for dim in self.map.dims]
            places[-1] = places[-1] + piece * panel.span
            i32 = ir.IntegerType.get_signless(32)
            at = [arith.index_cast(i32, self.extents.value(place)) for place in reversed(places)]
            attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, len(at), 1, 0, 0, 0, 0])}
            operands = [target, self.pointer, *at, barrier]
            ir.Operation.create("nvvm.cp.async.bulk.tensor.shared.cluster.global", [], operands, attributes)

    def _place(self, dim: MapDim, tile: ir.AffineExpr) -> ir.AffineExpr:
        """The first position of a box along a dim."""
        if dim.axis is self.panel.sums:
            return tile * self.panel.depth
        return self.first if dim.axis is self.panel.axis else self.batch[dim.axis.loops[0].iv]
