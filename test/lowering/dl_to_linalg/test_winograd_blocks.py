"""The blocks that Winograd's tiles are worked on in, by the facts of the target."""

from __future__ import annotations

from dlc.dialects.dl.types import TensorType
from dlc.dialects.dl.winograd_matrices import MATRICES
from dlc.lowering.dl_to_linalg.winograd_blocks import Grid, cycles_of, grid_of
from dlc.targets.cpu.facts import target_facts


def _grid(target: str, height: int, width: int, inner: int = 64, out: int = 32) -> Grid:
    weight = TensorType((16, out // 16, inner, 16), "f32")
    return grid_of(height, width, MATRICES[2], weight, target_facts(target))


def test_small_images_are_one_block() -> None:
    assert _grid("znver4", 7, 7) == Grid(1, 4, 1, 4)


def test_rows_that_fall_out_of_the_cache_are_cut() -> None:
    """128 tiles of a row pass on 768 KiB: more than half of 1 MiB, less than half of 2 MiB."""
    small, large = _grid("znver4", 256, 256), _grid("sapphirerapids", 256, 256)
    assert (small.block_rows, small.column_blocks, small.block_columns) == (1, 2, 64)
    assert large.column_blocks == 1


def test_blocks_cover_images_of_any_width() -> None:
    for width in range(600, 700, 7):
        grid = _grid("znver4", 5, width)
        assert grid.columns * 2 >= width and grid.rows * 2 >= 5 and grid.blocks == grid.row_blocks * grid.column_blocks > 1


def test_large_images_are_cut_where_the_kernel_arrives_in_time() -> None:
    """2 MiB of weights do not stay in 512 KiB, but 32 tiles take longer to multiply than they take to come."""
    assert _grid("znver3", 64, 64, 256, 128) == Grid(32, 1, 1, 32)


def test_kernels_of_a_quarter_of_the_third_cache_are_read_once() -> None:
    """8 MiB of weights are more than a quarter of 22 MiB, which may not keep them for the next block."""
    assert _grid("skylake-avx512", 32, 32, 512, 256).blocks == 1


def test_one_multiply_add_a_cycle_takes_longer() -> None:
    weight, facts = TensorType((16, 4, 64, 16), "f32"), target_facts("sapphirerapids")
    grid = Grid(14, 2, 1, 28)
    two, one = (cycles_of(grid, weight, 16 * grid.tiles, facts.override(fma_ports=ports)) for ports in (2, 1))
    assert 1.5 * two < one < 2 * two
