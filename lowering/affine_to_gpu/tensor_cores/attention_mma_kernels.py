"""Attention by `mma.sync`: a warp keeps its queries in registers, and exponentials become operands without leaving these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from dlc._mlir import arith, ir
from dlc.lowering.affine_to_gpu.tensor_cores.attention_copied_kernels import CopiedAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_fragments import FragmentRows
from dlc.lowering.affine_to_gpu.tensor_cores.attention_mma_tiles import MmaAttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rows import Weighted, as_operands, scaled_fragments
from dlc.lowering.affine_to_gpu.tensor_cores.fragments import FragmentLoads, element_of, multiply
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import MmaShape, accumulator_type
from dlc.lowering.affine_to_gpu.tensor_cores.shared_copies import PanelCopy
from dlc.targets.machine import FRAGMENT_HALVES, SUM_NEIGHBOURS

_Fragments = Sequence[Sequence[ir.Value]]
"""Fragments of a left operand, by steps of the sum and then rows."""


@dataclass(eq=False)
class MmaAttention(FragmentRows, CopiedAttention):
    """The kernel whose warps multiply by themselves."""

    tiles: MmaAttentionTiles
    held: _Fragments = field(default_factory=list)

    @property
    def shape(self) -> MmaShape:
        return self.tiles.shape

    @property
    def _fragments(self) -> range:
        """Fragments of a warp along its rows."""
        return range(self.tile.warp_rows // self.shape.rows)

    def _hold(self, queries: PanelCopy) -> None:
        """Emit loads of the warp's queries."""
        loads, stage = self._loads(queries, self._warp_row), arith.constant(ir.IndexType.get(), 0)
        steps = self.panels.depth // self.shape.depth
        self.held = [[loads.rows(stage, row * self.shape.rows, step) for row in self._fragments] for step in range(steps)]

    def _zero_results(self) -> list[ir.Value]:
        return self._zeros(self.panels.width)

    def _zeros(self, side: int) -> list[ir.Value]:
        kind = ir.VectorType(accumulator_type(self.attention.scores.total.type))
        zero = arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(kind.element_type, 0.0)))
        return [zero] * (len(self._fragments) * side // self.shape.columns)

    def _products_with_keys(self, keys: PanelCopy) -> list[list[ir.Value]]:
        return self._row_results(self._products(self.held, keys, self.tile.keys, self._zeros(self.tile.keys)))

    def _add_values(self, weighted: Weighted, values: PanelCopy) -> list[ir.Value]:
        before = scaled_fragments(weighted.rows.results, weighted.factors)
        lefts = as_operands(self.shape, self._multiplied, weighted.weights)
        return self._products(lefts, values, self.panels.width, before)

    @property
    def _multiplied(self) -> ir.Type:
        """The type of what is multiplied."""
        return self.attention.element

    def _loads(self, copy: PanelCopy, first: ir.AffineExpr) -> FragmentLoads:
        return FragmentLoads(copy.panel, self.shape, copy.target, self.extents, self._lane, first)

    def _products(self, lefts: _Fragments, copy: PanelCopy, side: int, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit products with all `side` columns of a panel, added to `sums`, which are by rows of fragments and then columns."""
        loads, stage = self._loads(copy, ir.AffineExpr.get_constant(0)), arith.constant(ir.IndexType.get(), 0)
        across, found = side // self.shape.columns, list(sums)
        for (step, left), column in product(enumerate(lefts), range(0, across, 2)):
            beside = loads.columns(stage, column * self.shape.columns, step)
            for (row, lhs), (place, rhs) in product(enumerate(left), enumerate(beside, column)):
                found[row * across + place] = multiply(self.shape, lhs, rhs, found[row * across + place])
        return found

    def _row_results(self, results: Sequence[ir.Value]) -> list[list[ir.Value]]:
        across, places = len(results) // len(self._fragments), range(len(self._fragments) * FRAGMENT_HALVES)
        return [self._row_of(results, row, across) for row in places]

    def _row_of(self, sums: Sequence[ir.Value], row: int, across: int) -> list[ir.Value]:
        """Emit what the thread has of one of its rows in fragments of sums."""
        fragment, half = divmod(row, FRAGMENT_HALVES)
        own = sums[fragment * across : (fragment + 1) * across]
        return [element_of(one, [half, side]) for one in own for side in range(SUM_NEIGHBOURS)]
