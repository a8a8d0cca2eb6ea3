"""The blocks that Winograd's tiles are worked on in, by the facts of the target."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from affine_interpreter import evaluate

from dlc._mlir import ir
from dlc.analysis.dim_bounds import DimBounds
from dlc.dialects.dl.types import TensorType
from dlc.dialects.dl.winograd_matrices import BY_STRIDE, MATRICES, STRIDED, Matrices
from dlc.lowering.dl_to_linalg.contractions.winograd_blocks import (
    Grid,
    cycles_of,
    grid_of,
    kernel_at,
    open_blocks,
)
from dlc.lowering.policy import policy
from dlc.targets.machine import target_facts


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
    two, one = (cycles_of(grid, weight, MATRICES[2], facts.override(fma_ports=ports)) for ports in (2, 1))
    assert 1.5 * two < one < 2 * two


_SHARING = Matrices(np.zeros((6, 6)), np.zeros((3, 3)), np.zeros((2, 6)))
"""Of six products in a dimension the last four multiply the last kernel."""


@pytest.mark.parametrize("matrices", [*MATRICES.values(), *STRIDED.values(), _SHARING])
def test_products_multiply_their_kernels(matrices: Matrices) -> None:
    with ir.Context():
        kernel = ir.AffineMap.get(1, 0, [kernel_at(matrices, ir.AffineExpr.get_dim(0))])
        found = [evaluate(kernel, [place])[0] for place in range(matrices.products**2)]
    pairs = product(matrices.kernel_of, repeat=2)
    assert found == [row * len(matrices.kernel) + column for row, column in pairs]


@pytest.mark.parametrize(("stride", "outputs"), [(stride, outputs) for stride in BY_STRIDE for outputs in BY_STRIDE[stride]])
def test_matrices_convolve(stride: int, outputs: int) -> None:
    """A row of results, and images: kernels of two dimensions are row by row."""
    matrices, generator = BY_STRIDE[stride][outputs], np.random.default_rng(0)
    inputs, taps = generator.integers(-9, 9, matrices.inputs), generator.integers(-9, 9, 3)
    kernels = (matrices.kernel @ taps)[list(matrices.kernel_of)]
    wanted = [taps @ inputs[place * stride : place * stride + 3] for place in range(outputs)]
    np.testing.assert_allclose(matrices.output @ (kernels * (matrices.input @ inputs)), wanted, atol=1e-9)
    image = generator.integers(-9, 9, (3, 3))
    both = matrices.kernel @ image @ matrices.kernel.T
    np.testing.assert_allclose(matrices.kernels @ image.reshape(9), both.reshape(-1), atol=1e-9)


def test_images_of_unknown_sides_have_usual_ones_for_their_channels() -> None:
    """Networks halve sides where they double channels, so that many channels have small images, all of whose rows are one block."""
    usual_sides = policy().winograd.usual_sides
    assert usual_sides(64) == [56, 112] and usual_sides(512) == [7, 14] and usual_sides(1 << 20) == [1, 1]
    rows = [
        open_blocks(MATRICES[2], TensorType((16, inner // 16, inner, 16), "f32"), target_facts("sapphirerapids")).rows
        for inner in (64, 512)
    ]
    assert rows[0] > 0 and rows[1] == 0


def test_blocks_of_images_within_bounds() -> None:
    """Of small images, all rows are one block; of large ones, few rows are, whatever is usual."""
    kernel, facts = TensorType((16, 16, 256, 16), "f32"), target_facts("sapphirerapids")
    small, large = DimBounds(1, 12), DimBounds(512, None)
    assert open_blocks(MATRICES[2], kernel, facts, small, small).rows == 0
    assert open_blocks(MATRICES[2], kernel, facts, large, large).rows > 0
    assert open_blocks(MATRICES[2], kernel, facts, DimBounds(0, 0), DimBounds(0, 0)).cycles < float("inf")
