"""How many rows of Winograd's tiles are worked on at once, so that what the transforms pass on stays in the second-level cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

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


@dataclass(frozen=True)
class Side:
    """Neighbouring kernels of one dimension, each multiplied with `places` places of a block, `uses` of each tile."""

    kernels: range
    uses: int
    places: int


@dataclass(frozen=True)
class KernelGroup2d:
    """Kernels of two dimensions, from `first` on: those of `rows` with those of `columns`."""

    first: int
    rows: Side
    columns: Side

    @property
    def count(self) -> int:
        """The number of kernels."""
        return len(self.rows.kernels) * len(self.columns.kernels)

    @property
    def places(self) -> int:
        """Places of a block that each kernel is multiplied with."""
        return self.rows.places * self.columns.places

    def place(self, place: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """Row and column of a place of a block."""
        if self.rows.places == 1:
            return ir.AffineExpr.get_constant(0), place
        if self.columns.places == 1:
            return place, ir.AffineExpr.get_constant(0)
        return ir.AffineExpr.get_floor_div(place, self.columns.places), ir.AffineExpr.get_mod(place, self.columns.places)


def parts_of(grid: Grid, height: int, width: int, matrices: Matrices) -> list[KernelGroup2d]:
    """The kernels by the places that they are multiplied with, of `height` by `width` results.

    Products that no result needs are left out: those of tiles that the last row or column of results does not fill. For 7x7
    results, in four by four tiles, 225 of 256 products are computed for stride 1, and 324 of 400 for stride 2.
    """
    rows = _sides(grid.row_blocks, grid.block_rows, height, matrices)
    columns = _sides(grid.column_blocks, grid.block_columns, width, matrices)
    # Kernels of one part follow each other: groups of columns are alone for one of rows, so rows are not together then.
    columns_differ = _differ(columns)
    columns = columns if columns_differ else _together(columns)
    rows = rows if columns_differ or _differ(rows) else _together(rows)
    found: list[KernelGroup2d] = []
    for row, column in sorted(product(rows, columns), key=lambda sides: tuple(side.uses for side in sides)):
        found.append(KernelGroup2d(sum(part.count for part in found), row, column))
    return found


def _sides(blocks: int, tiles: int, results: int, matrices: Matrices) -> list[Side]:
    """The groups of kernels with their places in a block, of `blocks` of so many tiles; the last tile may have fewer results."""
    left = results - (tiles - 1) * matrices.outputs
    is_cut = blocks == 1 and tiles > 1 and 0 < left < matrices.outputs
    last = left if is_cut else matrices.outputs
    return [Side(group.kernels, group.uses, (tiles - 1) * group.uses + group.needed[last]) for group in matrices.groups]


def _differ(sides: Sequence[Side]) -> bool:
    """Whether sides with the same uses have different places."""
    return len({(side.uses, side.places) for side in sides}) > len({side.uses for side in sides})


def _together(sides: Sequence[Side]) -> list[Side]:
    """Those with the same uses as one."""
    found: dict[int, Side] = {}
    for side in sides:
        known = found.get(side.uses)
        found[side.uses] = replace(side, kernels=range(known.kernels.start, side.kernels.stop)) if known else side
    return list(found.values())


def products_of(grid: Grid, height: int, width: int, matrices: Matrices) -> int:
    """Products that are computed in a block for each pair of channels."""
    return sum(part.count * part.places for part in parts_of(grid, height, width, matrices))


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

    def cost(grid: Grid) -> float:
        return cycles_of(grid, weight, products_of(grid, height, width, matrices), facts)

    return min([*whole, *parts], key=cost, default=Grid(0, 0, 1, columns))


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
            total += cycles_of(grid, weight, matrices.products**2 * grid.tiles, facts) / max(math.prod(image), 1)
        return total / len(images)

    passed = 2 * matrices.products**2 * channels * NUMPY_DTYPES[weight.dtype].itemsize / matrices.outputs**2
    whole = [0] if passed * max(map(math.prod, images)) <= facts.l3_bytes else []
    return min((OpenBlocks(rows, cost(rows)) for rows in (*policy().winograd.open_rows, *whole)), key=lambda found: found.cycles)


def cycles_of(grid: Grid, weight: TensorType, taken: int, facts: Machine) -> float:
    """Cycles of one image in such blocks, each of which takes `taken` products for each pair of channels."""
    kernels, blocks, inner, lanes = (dim if isinstance(dim, int) else policy().cost.assumed_trips for dim in weight.shape)
    size = NUMPY_DTYPES[weight.dtype].itemsize
    convolution = WinogradConvolution(kernels, inner, blocks * lanes, size)
    return cycles(convolution, WinogradBlocks(grid.blocks, grid.tiles, taken), facts)
