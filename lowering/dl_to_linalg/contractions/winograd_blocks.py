"""How many rows of Winograd's tiles are worked on at once, so that what the transforms pass on stays in the second-level cache."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType
from dlc.dialects.dl.winograd_matrices import Matrices
from dlc.lowering.affine.cost.contractions import WinogradBlocks, WinogradConvolution
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.policy import policy
from dlc.targets.machine import Machine


@dataclass(frozen=True)
class Grid:
    """Tiles of an image: `row_blocks` times `block_rows` rows of them, `column_blocks` times `block_columns` columns."""

    row_blocks: int
    block_rows: int
    column_blocks: int
    block_columns: int

    @property
    def blocks(self) -> int:
        """Blocks of an image."""
        return self.row_blocks * self.column_blocks

    @property
    def rows(self) -> int:
        """All rows of tiles; the last ones may lie beyond the image."""
        return self.row_blocks * self.block_rows

    @property
    def columns(self) -> int:
        """All columns of tiles; the last ones may lie beyond the image."""
        return self.column_blocks * self.block_columns

    @property
    def tiles(self) -> int:
        """Tiles of one block."""
        return self.block_rows * self.block_columns

    def row_and_column(self, tile: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """Where a tile of a block, which are counted row by row, is in it."""
        if self.block_rows == 1:
            return ir.AffineExpr.get_constant(0), tile
        if self.block_columns == 1:
            return tile, ir.AffineExpr.get_constant(0)
        return ir.AffineExpr.get_floor_div(tile, self.block_columns), ir.AffineExpr.get_mod(tile, self.block_columns)


def kernel_at(matrices: Matrices, product: ir.AffineExpr) -> ir.AffineExpr:
    """The kernel that a product of a tile multiplies, of the products and the kernels of two dimensions, row by row."""
    count, kernels = matrices.products, len(matrices.kernel)
    if count == kernels:
        return product
    row, column = ir.AffineExpr.get_floor_div(product, count), ir.AffineExpr.get_mod(product, count)
    return _clamped(row, kernels, count) * kernels + _clamped(column, kernels, count)


def _clamped(product: ir.AffineExpr, kernels: int, count: int) -> ir.AffineExpr:
    """The lesser of `product`, which is below `count`, and `kernels` - 1; `count` is at most twice `kernels`.

    Affine expressions have no minimum, but floor divisions: each takes one away from a product that reaches its divisor.
    """
    found = product
    for beyond in range(kernels, count):
        found = found - ir.AffineExpr.get_floor_div(product, beyond)
    return found


def grid_of(height: int, width: int, matrices: Matrices, weight: TensorType, facts: Machine) -> Grid:
    """The tiles of `height` by `width` results in the blocks that are estimated to take the least time.

    A block is some whole rows of tiles, or a part of one row of many.
    """
    rows, columns = (-(-size // matrices.outputs) for size in (height, width))
    whole = [Grid(-(-rows // block), block, 1, columns) for block in range(rows, 0, -1)]
    parts = (
        [Grid(rows, 1, count, -(-columns // count)) for count in range(2, columns // policy().winograd.fewest_tile_columns + 1)]
        if rows
        else []
    )

    return min([*whole, *parts], key=lambda grid: cycles_of(grid, weight, matrices, facts), default=Grid(0, 0, 1, columns))


@dataclass(frozen=True)
class OpenBlocks:
    """Blocks of images whose sizes run time knows: `rows` rows of tiles each, 0 for all; cycles of a result."""

    rows: int
    cycles: float


def usual_images(channels: int, height: DimBounds, width: DimBounds) -> list[tuple[int, int]]:
    """Heights and widths within these bounds that images of so many channels usually have."""
    return [(height.nearest(side), width.nearest(side)) for side in policy().winograd.usual_sides(channels)]


def open_blocks(
    matrices: Matrices, weight: TensorType, facts: Machine, height: DimBounds = UNBOUNDED, width: DimBounds = UNBOUNDED
) -> OpenBlocks:
    """The blocks that are estimated to take the least time for a result, in the mean over usual images; of stride 1.

    Blocks have all columns of tiles, so that rows of tiles alone may lie beyond the image. Images are within the bounds; they are
    one block only where the last cache holds what the transforms pass on, since that is eight times as much as the image.
    """
    channels = weight.shape[-2] if isinstance(weight.shape[-2], int) else policy().cost.assumed_trips
    images = usual_images(channels, height, width)

    def cost(rows: int) -> float:
        total = 0.0
        for image in images:
            whole, columns = (-(-side // matrices.outputs) for side in image)
            block = rows or whole
            grid = Grid(-(-whole // max(block, 1)), block, 1, columns)
            total += cycles_of(grid, weight, matrices, facts) / max(math.prod(image), 1)
        return total / len(images)

    passed = 2 * matrices.products**2 * channels * NUMPY_DTYPES[weight.dtype].itemsize / matrices.outputs**2
    whole = [0] if passed * max(map(math.prod, images)) <= facts.l3_bytes else []
    return min((OpenBlocks(rows, cost(rows)) for rows in (*policy().winograd.open_rows, *whole)), key=lambda found: found.cycles)


def cycles_of(grid: Grid, weight: TensorType, matrices: Matrices, facts: Machine) -> float:
    """Cycles of one image in such blocks."""
    kernels, blocks, inner, lanes = (dim if isinstance(dim, int) else policy().cost.assumed_trips for dim in weight.shape)
    size = NUMPY_DTYPES[weight.dtype].itemsize
    convolution = WinogradConvolution(kernels, inner, blocks * lanes, size)
    return cycles(convolution, WinogradBlocks(grid.blocks, grid.tiles, matrices.products**2), facts)
