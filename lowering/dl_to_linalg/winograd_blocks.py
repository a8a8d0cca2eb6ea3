"""How many rows of Winograd's tiles are worked on at once, so that what the transforms pass on stays in the second-level cache."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType
from dlc.dialects.dl.winograd_matrices import Matrices
from dlc.lowering.affine.blocked_fusion import FAR, arrives_in_time
from dlc.targets.cpu.facts import CpuFacts

NEAR = 1 / 32
"""Cycles to move a byte from the second-level cache."""
_FAR_MOVES = 4
"""Times that what a whole image passes on goes that way: lines are fetched before they are written, written back, and read."""
_SHARE = 0.8
"""Of the peak that the products reach."""
_TRANSFORM = 5.0
"""Cycles for each vector that a transform reads or writes where one multiply-add starts in a cycle; with two, half as many."""
_FEWEST_COLUMNS = 16
"""Tiles in a part of a row: two register tiles of the products."""
_TYPICAL_CHANNELS = 64


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

    def place(self, tile: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.AffineExpr]:
        """Row and column of a tile of a block."""
        if self.block_rows == 1:
            return ir.AffineExpr.get_constant(0), tile
        if self.block_columns == 1:
            return tile, ir.AffineExpr.get_constant(0)
        return ir.AffineExpr.get_floor_div(tile, self.block_columns), ir.AffineExpr.get_mod(tile, self.block_columns)


def grid_of(height: int, width: int, matrices: Matrices, weight: TensorType, facts: CpuFacts) -> Grid:
    """The tiles of `height` by `width` results in the blocks that are estimated to take the least time.

    A block is some whole rows of tiles, or a part of one row of many.
    """
    rows, columns = (-(-size // matrices.outputs) for size in (height, width))
    whole = [Grid(-(-rows // block), block, 1, columns) for block in range(rows, 0, -1)]
    parts = [Grid(rows, 1, count, -(-columns // count)) for count in range(2, columns // _FEWEST_COLUMNS + 1)] if rows else []
    return min([*whole, *parts], key=lambda grid: cycles_of(grid, weight, facts), default=Grid(0, 0, 1, columns))


def cycles_of(grid: Grid, weight: TensorType, facts: CpuFacts) -> float:
    """Cycles of one image: products, transforms, the kernel read once a block, and what the transforms pass on.

    A kernel that does not stay in the second-level cache is fetched while products are computed.
    """
    positions, blocks, inner, lanes = (dim if isinstance(dim, int) else _TYPICAL_CHANNELS for dim in weight.shape)
    out, size = blocks * lanes, NUMPY_DTYPES[weight.dtype].itemsize
    vector = facts.lanes(8 * size)
    products = grid.tiles * positions * inner * out / (facts.fma_ports * vector) / _SHARE * (1 + 1 / max(grid.tiles, 1))
    transforms = grid.tiles * positions * -(-(inner + out) // vector) * _TRANSFORM / facts.fma_ports
    kernel = positions * inner * out * size
    given, found = (grid.tiles * positions * channels * size for channels in (inner, out))
    streamed = kernel * FAR if kernel + given + found > facts.l2_bytes else 0.0
    passed = (given + found) * _passing(grid, given, found, kernel, facts)
    return grid.blocks * (max(products, streamed) + kernel * NEAR + transforms + passed)


def _passing(grid: Grid, given: int, found: int, kernel: int, facts: CpuFacts) -> float:
    """Cycles to write and read a byte of what transforms and products of a block pass on.

    Blocks whose products would wait for the kernel share no loop with the transforms, so these pass on whole images.
    """
    l2 = facts.l2_bytes
    shares = kernel <= max(given, l2 - given) or arrives_in_time(grid.tiles, kernel, facts)
    largest = max(given, found)
    if grid.blocks * largest > l2 and (grid.blocks == 1 or largest > l2 or not shares):
        return _FAR_MOVES * FAR
    return 2 * (NEAR if given + found <= l2 // 2 else FAR)
