"""Lowering of dl.winograd_conv: tiles of inputs, products for each position in a tile, tiles of results; one `linalg.generic` each.

The three share their outer loops, over images and blocks of rows of tiles, so that `affine-fuse-nests` makes one loop of them
and what passes between them stays in the second-level cache. A transform is a generic with a loop over the positions that it
writes, which chooses one of the values that a tile gives: `affine-unroll-choices` makes straight code of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from dlc._mlir import ir
from dlc.analysis.dim_bounds import DimBounds, bounds_of_index
from dlc.dialects.dl.window import Layout
from dlc.dialects.dl.winograd import matrices_of, window_of
from dlc.dialects.dl.winograd_matrices import TAPS, Matrices
from dlc.lowering.dl_to_linalg.building.builder import PARALLEL, Builder
from dlc.lowering.dl_to_linalg.building.checks import require_same, size_of
from dlc.lowering.dl_to_linalg.building.contraction import Loops, contract, zeros
from dlc.lowering.dl_to_linalg.building.extents import Extent
from dlc.lowering.dl_to_linalg.building.lowerings import SourceOp, lowering
from dlc.lowering.dl_to_linalg.building.windows import pad_spatial, position_extents
from dlc.lowering.dl_to_linalg.contractions.vnni import integer_products
from dlc.lowering.dl_to_linalg.contractions.winograd_blocks import Grid, grid_of, kernel_at, open_blocks
from dlc.lowering.dl_to_linalg.contractions.winograd_open import OpenTiles
from dlc.lowering.dl_to_linalg.contractions.winograd_transforms import chosen, transformed
from dlc.targets.machine import facts_of

_LAYOUT = Layout(2, channels_last=True)
_QUARTER = 2
"""Bits that a number of i32 is moved by to be divided by four."""
_LOOPS = (0, 1, 3, 4, 2, 5, 6, 7, 8)
"""The loop of each axis of the tiles of results: blocks of columns are inside of blocks of rows, as in the other two ops."""


@lowering("winograd_conv")
def lower_winograd_conv(b: Builder, op: SourceOp) -> ir.Value:
    """Pad the input to whole tiles, convolve, and cut what lies beyond the result."""
    _, weight, bias = op.operands
    require_same(b, op, (0, 3), (1, 2))
    if bias is not None:
        outputs = b.extent("mul", b.dim(weight, 1), b.dim(weight, 3))
        b.require_equal(size_of(b, op, (2, 0)), ("weight dim 1 times dim 3", outputs))
    return _convolve(b, op, bias, op["stride"])


@lowering("pair_winograd_conv")
def lower_pair_winograd_conv(b: Builder, op: SourceOp) -> ir.Value:
    """The same with products of pairs and a quarter of their sums."""
    return _convolve(b, op, None, 1)


def _convolve(b: Builder, op: SourceOp, bias: ir.Value | None, stride: int) -> ir.Value:
    x, weight = list(op.operands)[:2]
    matrices = matrices_of(op.types[1].dim(0), stride)
    if not all(isinstance(dim, int) for dim in op.types[0].shape[1:3]):
        return _convolve_open(b, op, bias, matrices)
    window = window_of(op["pads"], matrices)
    height, width = (int(dim or 0) for dim in window.output_dims("", op.types[0].shape[1:3], 1))
    grid = grid_of(height, width, matrices, op.types[1], facts_of(b.ip.block.owner.operation))
    high = [
        max(0, (extent - 1) * matrices.step + matrices.inputs - have - begin)
        for extent, have, begin in zip((grid.rows, grid.columns), x.type.shape[1:3], window.pads_begin, strict=True)
    ]
    padded = pad_spatial(b, x, window.pads_begin, high, _LAYOUT, b.scalar(0, op.types[0].dtype))
    found = _Tiles(b, op.types[0].dtype, op.result.dtype, grid, matrices).convolve(padded, weight, bias)
    sizes = [b.dim(found, 0), height, width, b.dim(found, 3)]
    return found if b.shape(found)[1:3] == sizes[1:3] else b.slice(found, [0] * 4, sizes, [1] * 4)


def _convolve_open(b: Builder, op: SourceOp, bias: ir.Value | None, matrices: Matrices) -> ir.Value:
    """The same where run time knows height or width."""
    x, weight = list(op.operands)[:2]
    window = window_of(op["pads"], matrices)
    sizes = position_extents(b, x, [TAPS, TAPS], window, _LAYOUT)
    rows, columns = (b.extent("ceildiv", size, matrices.outputs) for size in sizes)
    known = [_bounds_of(b.dim(x, axis)) for axis in (1, 2)]
    height = open_blocks(matrices, op.types[1], facts_of(b.ip.block.owner.operation), *known).rows
    blocks = b.extent("ceildiv", rows, height) if height else 1
    tiles = OpenTiles(b, op.result.dtype, matrices, blocks, height or rows, columns)
    read = [
        b.extent("add", b.extent("mul", count, matrices.step), TAPS - 1) for count in (b.extent("mul", blocks, tiles.rows), columns)
    ]
    have = [b.extent("add", b.dim(x, axis + 1), begin) for axis, begin in enumerate(window.pads_begin)]
    high = [b.extent("max", b.extent("sub", last, size), 0) for last, size in zip(read, have, strict=True)]
    padded = pad_spatial(b, x, window.pads_begin, high, _LAYOUT, b.scalar(0, op.types[0].dtype))
    found = tiles.convolve(padded, weight, bias)
    shape = [b.dim(found, 0), *sizes, b.dim(found, 3)]
    return b.slice(found, [0] * 4, shape, [1] * 4)


def _bounds_of(side: Extent) -> DimBounds:
    """What is known of a side of the image, which is about that of the result."""
    return DimBounds.of_size(side) if isinstance(side, int) else bounds_of_index(side)


@dataclass(frozen=True)
class _Tiles:
    """A convolution of images that are padded to the whole tiles of `grid`."""

    b: Builder
    given: str
    """The element type of images; i16 has weights of two numbers, and transforms that give four times the result."""
    dtype: str
    grid: Grid
    matrices: Matrices

    def convolve(self, x: ir.Value, weight: ir.Value, bias: ir.Value | None) -> ir.Value:
        """The results of all tiles, [batch, rows, columns, channels]."""
        return self._outputs(self._products(self._inputs(x), weight), bias)

    def _outer(self, x: ir.Value) -> list[Extent]:
        """Images and blocks of them."""
        return [self.b.dim(x, 0), self.grid.row_blocks, self.grid.column_blocks]

    def _inputs(self, x: ir.Value) -> ir.Value:
        """What kernels are multiplied with: [batch, block of rows, of columns, product, tile of the block, channel]."""
        b, grid, step, size = self.b, self.grid, self.matrices.step, self.matrices.inputs
        shape = [*self._outer(x), self.matrices.products**2, grid.tiles, b.dim(x, 3)]
        image, rows, columns, _, tile, channel = (ir.AffineExpr.get_dim(loop) for loop in range(6))
        row, column = grid.row_and_column(tile)
        top, left = (rows * grid.block_rows + row) * step, (columns * grid.block_columns + column) * step
        reads = [ir.AffineMap.get(6, 0, [image, top + i, left + j, channel]) for i, j in product(range(size), repeat=2)]

        def body(*scalars: ir.Value) -> ir.Value:
            return chosen(b, [3], transformed(b, self.matrices.input, self.matrices.input, scalars[:-1], self.given))

        maps = [*reads, ir.AffineMap.get_identity(6)]
        return b.generic([x] * len(reads), b.empty(shape, self.given), maps, [PARALLEL] * 6, body)

    def _products(self, inputs: ir.Value, weight: ir.Value) -> ir.Value:
        """Sums over the input channels: the axes of `inputs`, with a block of channels and a channel of it for the last."""
        b, loops = self.b, Loops(7, 1)
        shape = [*b.shape(inputs)[:5], b.dim(weight, 1), b.dim(weight, 3)]
        *outer, place, tile, channels, lane, summed = loops.dims()
        kernel = loops.map([kernel_at(self.matrices, place), channels, summed, lane])
        written = loops.map(loops.dims()[:-1])
        if self._is_paired:
            pair = [loops.map([*outer, place, tile, summed * 2 + number]) for number in (0, 1)]
            return self._pairs(inputs, weight, zeros(b, shape, self.dtype), [*pair, kernel, written], loops)
        maps = [loops.map([*outer, place, tile, summed]), kernel, written]
        return contract(b, loops, inputs, weight, zeros(b, shape, self.dtype), maps, self.dtype)

    @property
    def _is_paired(self) -> bool:
        return self.given == "i16"

    def _pairs(self, inputs: ir.Value, weight: ir.Value, start: ir.Value, maps: list[ir.AffineMap], loops: Loops) -> ir.Value:
        """The sums of products of neighbouring channels with the two numbers of a word."""
        b = self.b

        def body(low: ir.Value, high: ir.Value, packed: ir.Value, total: ir.Value) -> ir.Value:
            return b.arith("add", total, integer_products(b, [low, high], packed), self.dtype)

        return b.generic([inputs, inputs, weight], start, maps, loops.iterators, body)

    def _outputs(self, products: ir.Value, bias: ir.Value | None) -> ir.Value:
        """The tiles of results, with the bias added, put together to images."""
        b, grid, step = self.b, self.grid, self.matrices.outputs
        batch, row_blocks, column_blocks, _, _, channels, lanes = b.shape(products)
        shape = [batch, row_blocks, grid.block_rows, step, column_blocks, grid.block_columns, step, channels, lanes]
        image, rows, row, below, columns, column, beside, channel, lane = (ir.AffineExpr.get_dim(loop) for loop in _LOOPS)
        tile = row * grid.block_columns + column
        places = [ir.AffineExpr.get_constant(place) for place in range(self.matrices.products**2)]
        values = [products] * len(places)
        reads = [ir.AffineMap.get(9, 0, [image, rows, columns, place, tile, channel, lane]) for place in places]
        if bias is not None:
            values.append(b.expand(bias, [[0, 1]], [channels, lanes]))
            reads.append(ir.AffineMap.get(9, 0, [channel, lane]))

        def body(*scalars: ir.Value) -> ir.Value:
            back = self.matrices.output
            found = transformed(b, back, back, scalars[: len(places)], self.dtype)
            if self._is_paired:
                found = [b.binary("arith.shrsi", value, b.scalar(_QUARTER, self.dtype)) for value in found]
            value = chosen(b, [_LOOPS[3], _LOOPS[6]], found)
            return value if bias is None else b.arith("add", value, scalars[-2], self.dtype)

        written = ir.AffineMap.get(9, 0, [image, rows, row, below, columns, column, beside, channel, lane])
        found = b.generic(values, b.empty(shape, self.dtype), [*reads, written], [PARALLEL] * 9, body)
        return b.collapse(found, [[0], [1, 2, 3], [4, 5, 6], [7, 8]])
