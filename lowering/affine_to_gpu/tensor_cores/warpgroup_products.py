"""Products of `wgmma`: descriptors of panels in shared memory.

PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout".
"""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.extents import Extents
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape
from dlc.lowering.affine_to_gpu.tensor_cores.shared_addresses import shared_address
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.targets.machine import MATRIX_ROW_BYTES, SWIZZLE_BYTES, SWIZZLE_ROWS


@dataclass(frozen=True, eq=False)
class WarpgroupOperand:
    """A panel in shared memory as `wgmma` reads it: `target` holds one for each stage, `first` is the warpgroup's first position
    along the panel's axis, a multiple of a swizzle's period."""

    panel: Panel
    shape: MmaShape
    target: ir.Value
    extents: Extents
    first: ir.AffineExpr

    def descriptor(self, stage: ir.AffineExpr, step: int) -> ir.Value:
        """Emit the matrix descriptor of a step of the sum: address, offsets in units of 16 bytes, swizzle."""
        i64 = ir.IntegerType.get_signless(64)
        address = shared_address(self.target, self.extents, stage * self.panel.bytes + self._offset(step))
        units = arith.shrui(address, arith.constant(i64, 4))
        return arith.ori(arith.andi(units, arith.constant(i64, (1 << 14) - 1)), arith.constant(i64, self._fixed))

    def _offset(self, step: int) -> ir.AffineExpr:
        """Bytes from the start of a stage to where the step begins."""
        panel = self.panel
        if panel.along_sums:
            return self.first * panel.row_bytes + step * 2 * MATRIX_ROW_BYTES
        pieces = ir.AffineExpr.get_floor_div(self.first, panel.span)
        return pieces * (panel.depth * panel.row_bytes) + step * self.shape.depth * panel.row_bytes

    @property
    def _fixed(self) -> int:
        """All but the address, as a signed number: from one piece of a row to the next (unused along the sum), from eight rows to
        the next eight, and the swizzle."""
        panel = self.panel
        leading = 1 if panel.along_sums else panel.depth * panel.row_bytes >> 4
        stride = SWIZZLE_ROWS * panel.row_bytes >> 4
        bits = leading << 16 | stride << 32 | (1 + SWIZZLE_BYTES.index(panel.row_bytes)) << 62
        return bits - (bits >> 63 << 64)


def multiply_warpgroup(
    columns: int, lhs: WarpgroupOperand, rhs: WarpgroupOperand, at: tuple[ir.AffineExpr, int], total: ir.Value
) -> ir.Value:
    """Emit the `wgmma` that adds the product of 64 rows and `columns` columns to sums, `at` a stage and a step of it."""
    shape = lhs.shape
    kind = "s8" if shape.kind == "i8" else shape.kind
    wide = "s32" if shape.kind == "i8" else "f32"
    texts = {
        "shape": f"#nvvm.shape<m = {shape.rows * shape.warps}, n = {columns}, k = {shape.depth}>",
        "layoutA": f"#nvvm.mma_layout<{'row' if lhs.panel.along_sums else 'col'}>",
        "layoutB": f"#nvvm.mma_layout<{'col' if rhs.panel.along_sums else 'row'}>",
        "typeA": f"#nvvm.wgmma_type<{kind}>",
        "typeB": f"#nvvm.wgmma_type<{kind}>",
        "typeD": f"#nvvm.wgmma_type<{wide}>",
        "scaleA": "#nvvm.wgmma_scale_in<one>",
        "scaleB": "#nvvm.wgmma_scale_in<one>",
        "scaleD": "#nvvm.wgmma_scale_out<one>",
    }
    attributes = {name: ir.Attribute.parse(text) for name, text in texts.items()}
    operands = [total, lhs.descriptor(*at), rhs.descriptor(*at)]
    return ir.Operation.create("nvvm.wgmma.mma_async", [total.type], operands, attributes).results[0]
