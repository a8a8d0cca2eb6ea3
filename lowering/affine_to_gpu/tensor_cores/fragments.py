"""Fragments: what the threads of a warp hold of operands and sums for `mma.sync` (PTX ISA, "Matrix fragments for mma")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.extents import LoopExtents
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, fragment_type
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import Panel
from dlc.targets.machine import MATRICES, MATRIX_ROWS


@dataclass(frozen=True, eq=False)
class FragmentLoads:
    """Loads of one warp from a panel in shared memory: `target` holds one for each stage.

    `lane` is the thread's number in its warp, `first` the warp's first position along the panel's axis.
    """

    panel: Panel
    shape: MmaShape
    target: ir.Value
    extents: LoopExtents
    lane: ir.AffineExpr
    first: ir.AffineExpr

    def rows(self, stage: ir.Value, at: int, step: int) -> ir.Value:
        """The fragment of the left operand of the 16 rows from `at` on, for a step of the sum."""
        return self._load(stage, at, step, rows_first=True)

    def columns(self, stage: ir.Value, at: int, step: int) -> tuple[ir.Value, ir.Value]:
        """The fragments of the right operand of the 16 columns from `at` on, eight each."""
        both = self._load(stage, at, step, rows_first=False)
        kind = fragment_type(self.shape, self.panel.operand.element, MATRICES // 2)
        return tuple(_part(both, start, kind) for start in (0, MATRICES // 2))  # type: ignore[return-value]

    def _load(self, stage: ir.Value, at: int, step: int, rows_first: bool) -> ir.Value:
        """Four matrices, two along the axis and two along the sum; `rows_first` tells which neighbours follow each other."""
        row, number = _modulo(self.lane, MATRIX_ROWS), _divided(self.lane, MATRIX_ROWS)
        low, high = _modulo(number, 2), _divided(number, 2)
        beside, along = (low, high) if rows_first else (high, low)
        if self.panel.along_sums:
            place = self.first + (beside * MATRIX_ROWS + row + at)
            chunk = along + 2 * step
        else:
            place = along * MATRIX_ROWS + row + 2 * MATRIX_ROWS * step
            chunk = _divided(self.first + at, MATRIX_ROWS) + beside
        place, chunk = self._piece(place, chunk)
        moved = arith.xori(self.extents.value(chunk), self.extents.value(self.panel.swizzle(row)))
        column = arith.muli(moved, arith.constant(ir.IndexType.get(), self.panel.chunk_elements))
        attributes = {
            "numTiles": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), MATRICES),
            "transpose": ir.BoolAttr.get(not self.panel.along_sums),
        }
        kind = fragment_type(self.shape, self.panel.operand.element, MATRICES)
        operands = [self.target, stage, self.extents.value(place), column]
        return ir.Operation.create("nvgpu.ldmatrix", [kind], operands, attributes).results[0]

    def _piece(self, row: ir.AffineExpr, chunk: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """The piece of a row that a chunk lies in, and its number there (`Panel.stored`)."""
        rows, columns = self.panel.shape
        chunks = self.panel.span // self.panel.chunk_elements
        if self.panel.span == columns:
            return row, chunk
        return _divided(chunk, chunks) * rows + row, _modulo(chunk, chunks)


def multiply(shape: MmaShape, lhs: ir.Value, rhs: ir.Value, total: ir.Value) -> ir.Value:
    """Emit the `mma.sync` that adds the product of two fragments to sums."""
    i64 = ir.IntegerType.get_signless(64)
    sizes = [ir.IntegerAttr.get(i64, size) for size in (shape.rows, shape.columns, shape.depth)]
    attributes: dict[str, ir.Attribute] = {"mmaShape": ir.ArrayAttr.get(sizes)}
    if shape.kind == "tf32":
        attributes["tf32Enabled"] = ir.UnitAttr.get()
    return ir.Operation.create("nvgpu.mma.sync", [total.type], [lhs, rhs, total], attributes).results[0]


def element_of(vector: ir.Value, at: Sequence[int]) -> ir.Value:
    """Emit an element of a vector."""
    kind = ir.VectorType(vector.type).element_type
    place = {"static_position": ir.DenseI64ArrayAttr.get(list(at))}
    return ir.Operation.create("vector.extract", [kind], [vector], place).results[0]


def _part(vector: ir.Value, start: int, kind: ir.Type) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    numbers = {"offsets": start, "sizes": ir.VectorType(kind).shape[0], "strides": 1}
    attributes = {name: ir.ArrayAttr.get([ir.IntegerAttr.get(i64, number)]) for name, number in numbers.items()}
    return ir.Operation.create("vector.extract_strided_slice", [kind], [vector], attributes).results[0]


def _modulo(expression: ir.AffineExpr, number: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_mod(expression, number)


def _divided(expression: ir.AffineExpr, number: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(expression, number)
