"""What products have in common whose right-hand side has several numbers of a column in one integer."""

from __future__ import annotations

from collections.abc import Sequence

from dlc.dialects.dl.types import TensorType, require
from dlc.dialects.dl.window import Window


def dot_product_type(lhs: TensorType, rhs: TensorType, columns: int, numbers: int, dtype: str) -> TensorType:
    """The type of lhs [..., K] times rhs [blocks, K / numbers, C], `numbers` of them in an element; `columns` 0 gives all columns.

    Raises `ConstraintError` labelled c1 to c4 as the ops document.
    """
    require("c1", lhs.rank >= 2 and rhs.rank == 3, f"lhs has rank {lhs.rank} and rhs rank {rhs.rank}")
    blocks, groups, width = (dim if isinstance(dim, int) else 0 for dim in rhs.shape)
    require("c2", blocks * groups * width > 0, f"rhs is {rhs}")
    require("c3", lhs.dim(-1) == numbers * groups, f"lhs is {lhs} and rhs {rhs}")
    total = blocks * width
    require("c4", columns == 0 or total - width < columns <= total, f"columns is {columns} but rhs is {rhs}")
    return TensorType((*lhs.shape[:-1], columns or total), dtype)


def dot_product_conv_type(
    x: TensorType,
    weight: TensorType,
    numbers: int,
    dtype: str,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
) -> TensorType:
    """The type of x [N, places..., K] convolved with weight [blocks, taps..., K / numbers, C], `numbers` of them in an element.

    Raises `ConstraintError` labelled c1 to c5 as the ops document.
    """
    ranks = f"x has rank {x.rank} and weight rank {weight.rank}"
    require("c1", 3 <= x.rank <= 5 and weight.rank == x.rank + 1, ranks)
    blocks, *taps, groups, width = (dim if isinstance(dim, int) else 0 for dim in weight.shape)
    require("c2", min(blocks, *taps, groups, width) > 0, f"weight is {weight}")
    require("c3", x.dim(-1) == numbers * groups, f"x is {x} and weight {weight}")
    window = Window.of("c4", taps, strides, pads, dilations)
    positions = window.output_dims("c5", x.shape[1:-1], 1)
    return TensorType((x.dim(0), *positions, blocks * width), dtype)
