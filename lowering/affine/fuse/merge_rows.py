"""affine-merge-rows: two loops over rows and columns become one, where rows end within a vector."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.fuse.row_windows import RowLoops, merge_accesses, rows_of
from dlc.lowering.affine.ir.loops import PARALLEL
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of


@dataclass(frozen=True)
class MergeRows(Pass):
    """Merge a loop over rows with the loop over their columns where the last vector of a row would be partly empty.

    Arrays that hold such rows one after another are read and written through views without rows. What is read in windows is
    copied first: for each shift of the columns, rows of as many columns as there are results, one after another.

    before: affine.for %f { affine.for %h = 0 to 28 { affine.for %w = 0 to 28 { affine.for %c, %r, %s {
              out[%f, %h, %w] += image[%c, %h + %r, %w + %s] * kernel[%f, %c, %r, %s] } } } }
    after:  shifted[%c, %s, %y * 28 + %x] = image[%c, %y, %x + %s]
            affine.for %f { affine.for %p = 0 to 784 { affine.for %c, %r, %s {
              flat_out[%f, %p] += shifted[%c, %s, %r * 28 + %p] * kernel[%f, %c, %r, %s] } } }

    The order of iterations stays. Loops of static ranges that start at 0, with sums inside.
    """

    anchor = "func.func"

    limit: int = option(1 << 24, "bytes of the largest copy that is made")

    def run(self, op: ir.Operation) -> None:
        for outer in [one for one in nested_ops(op) if one.name == "affine.for"]:
            rows = rows_of(outer)
            if rows is not None and self._pays(rows, facts_of(op).vector_bits):
                merge_accesses(rows, op)
                _merge_loops(rows)

    def _pays(self, rows: RowLoops, vector_bits: int) -> bool:
        """Whether vectors that rows do not cut save more than the copies take."""
        lanes = vector_bits // rows.element_bits
        columns, count = rows.inner_extent, rows.inner_extent * rows.outer_extent
        alone, merged = -(-columns // lanes) * lanes / columns, -(-count // lanes) * lanes / count
        copies = sum(window.rows for window in rows.windows) * -(-columns // lanes) * policy().fusion.merged_copy_cycles
        saved = rows.iterations / lanes * (alone - merged) * policy().fusion.merged_vector_cycles
        is_small = all(window.elements * rows.element_bits // 8 <= self.limit for window in rows.windows)
        return is_small and saved > copies and alone > merged * (policy().fusion.merged_rows_gain if rows.windows else 1.0)


def _merge_loops(rows: RowLoops) -> None:
    """One loop in place of two, whose variable is that of the inner one."""
    outer, inner = rows.outer.op, rows.inner.op
    is_parallel = rows.outer.parallel and rows.inner.parallel
    for name, value in outer.attributes.items():
        if name not in inner.attributes:
            inner.attributes[name] = value
    if PARALLEL in inner.attributes and not is_parallel:
        del inner.attributes[PARALLEL]
    count = rows.outer_extent * rows.inner_extent
    inner.attributes["upperBoundMap"] = ir.AffineMapAttr.get(ir.AffineMap.get_constant(count))
    inner.move_before(outer)
    outer.erase()
