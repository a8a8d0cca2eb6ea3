"""Winograd's tiles on images whose height and width run time knows: blocks of some rows of tiles, with all columns.

A transform, the products and the transform back are one `linalg.generic` each, as for known sizes (`winograd.py`). Rows and columns
of tiles are loops of their own, since columns are no number that a place could be divided by.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from dlc._mlir import ir
from dlc.dialects.dl.winograd_matrices import Matrices
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.contraction import Loops, contract, zeros
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.contractions.winograd_transforms import chosen, transformed


@dataclass(frozen=True)
class OpenTiles:
    """A convolution of stride 1 of images that are padded to whole blocks: `blocks` of `rows` rows of `columns` tiles each.

    `rows` is a number, or `blocks` is 1.
    """

    b: Builder
    dtype: str
    matrices: Matrices
    blocks: Extent
    rows: Extent
    columns: Extent

    def convolve(self, x: ir.Value, weight: ir.Value, bias: ir.Value | None) -> ir.Value:
        """The results of all tiles, [batch, rows, columns, channels]."""
        return self._outputs(self._products(self._inputs(x), weight), bias)

    def _inputs(self, x: ir.Value) -> ir.Value:
        """What kernels are multiplied with: [batch, block, kernel, row of the block, column, channel]."""
        b, step, size = self.b, self.matrices.step, self.matrices.inputs
        shape = [b.dim(x, 0), self.blocks, self.matrices.products**2, self.rows, self.columns, b.dim(x, 3)]
        image, block, _, row, column, channel = (ir.AffineExpr.get_dim(loop) for loop in range(6))
        tile = block * self.rows + row if isinstance(self.rows, int) else row
        window = product(range(size), repeat=2)
        reads = [ir.AffineMap.get(6, 0, [image, tile * step + i, column * step + j, channel]) for i, j in window]

        def body(*scalars: ir.Value) -> ir.Value:
            return chosen(b, [2], transformed(b, self.matrices.input, self.matrices.input, scalars[:-1], self.dtype))

        maps = [*reads, ir.AffineMap.get_identity(6)]
        return b.generic([x] * len(reads), b.empty(shape, self.dtype), maps, [PARALLEL] * 6, body)

    def _products(self, inputs: ir.Value, weight: ir.Value) -> ir.Value:
        """Sums over the input channels: the axes of `inputs`, with a block of channels and a channel of it for the last."""
        b, loops = self.b, Loops(7, 1)
        shape = [*b.shape(inputs)[:5], b.dim(weight, 1), b.dim(weight, 3)]
        *outer, channels, lane, summed = loops.dims()
        maps = [loops.map([*outer, summed]), loops.map([outer[2], channels, summed, lane]), loops.map(loops.dims()[:-1])]
        return contract(b, loops, inputs, weight, zeros(b, shape, self.dtype), maps, self.dtype)

    def _outputs(self, products: ir.Value, bias: ir.Value | None) -> ir.Value:
        """The tiles of results, with the bias added, put together to images."""
        b, step = self.b, self.matrices.outputs
        batch, _, _, _, _, channels, lanes = b.shape(products)
        shape = [batch, self.blocks, self.rows, step, self.columns, step, channels, lanes]
        image, block, row, _, column, _, channel, lane = (ir.AffineExpr.get_dim(loop) for loop in range(8))
        positions = range(self.matrices.products**2)
        values = [products] * len(positions)
        reads = [ir.AffineMap.get(8, 0, [image, block, _number(position), row, column, channel, lane]) for position in positions]
        if bias is not None:
            values.append(b.expand(bias, [[0, 1]], [channels, lanes]))
            reads.append(ir.AffineMap.get(8, 0, [channel, lane]))

        def body(*scalars: ir.Value) -> ir.Value:
            back = self.matrices.output
            found = transformed(b, back, back, scalars[: len(positions)], self.dtype)
            value = chosen(b, [3, 5], found)
            return value if bias is None else b.arith("add", value, scalars[-2], self.dtype)

        maps = [*reads, ir.AffineMap.get_identity(8)]
        found = b.generic(values, b.empty(shape, self.dtype), maps, [PARALLEL] * 8, body)
        return b.collapse(found, [[0], [1, 2, 3], [4, 5], [6, 7]])


def _number(value: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_constant(value)
