"""How many rows of Winograd's tiles are worked on at once, so that what the transforms pass on stays in the second-level cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from dlc._mlir import ir
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType
from dlc.dialects.dl.winograd_matrices import Matrices
from dlc.lowering.affine.fuse.blocked_fusion import arrives_in_time
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

    Where the last row or column of results is not the last of a tile, what no result needs is left out: of 7x7 results, which
    four by four tiles have, 225 products of 256 are computed for stride 1, 324 of 400 for stride 2.
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

    def cycles(grid: Grid) -> float:
        return cycles_of(grid, weight, products_of(grid, height, width, matrices), facts)

    return min([*whole, *parts], key=cycles, default=Grid(0, 0, 1, columns))


def cycles_of(grid: Grid, weight: TensorType, taken: int, facts: Machine) -> float:
    """Cycles of one image: products, `taken` a block, transforms, the kernel read once a block, and what the transforms pass on.

    A kernel that does not stay in the second-level cache is fetched while products are computed.
    """
    kernels, blocks, inner, lanes = (dim if isinstance(dim, int) else policy().cost.assumed_trips for dim in weight.shape)
    out, size = blocks * lanes, NUMPY_DTYPES[weight.dtype].itemsize
    vector = facts.lanes(8 * size)
    products = taken * inner * out / (facts.fma_ports * vector) / policy().winograd.tiles_peak_share * (1 + 1 / max(grid.tiles, 1))
    transforms = taken * -(-(inner + out) // vector) * policy().winograd.transform_cycles / facts.fma_ports
    kernel = kernels * inner * out * size
    given, found = (taken * channels * size for channels in (inner, out))
    streamed = kernel * policy().winograd.far_byte_cycles if kernel + given + found > facts.l2_bytes else 0.0
    passed = (given + found) * _passing(grid, given, found, kernel, facts)
    return grid.blocks * (max(products, streamed) + kernel / facts.l2.bytes_per_cycle + transforms + passed)


def _passing(grid: Grid, given: int, found: int, kernel: int, facts: Machine) -> float:
    """Cycles to write and read a byte of what transforms and products of a block pass on.

    Blocks whose products would wait for the kernel share no loop with the transforms, so these pass on whole images.
    """
    l2, far = facts.l2_bytes, _beyond_l2_cycles_per_byte(facts)
    shares = kernel <= max(given, l2 - given) or arrives_in_time(grid.tiles, kernel, facts)
    largest = max(given, found)
    if grid.blocks * largest > l2 and (grid.blocks == 1 or largest > l2 or not shares):
        return policy().winograd.far_moves * far
    return 2 * (1 / facts.l2.bytes_per_cycle if given + found <= l2 // 2 else far)


def _beyond_l2_cycles_per_byte(facts: Machine) -> float:
    """Cycles to move a byte from beyond the second-level cache."""
    return facts.l3_line_cycles / facts.line_bytes
