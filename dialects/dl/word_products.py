"""What products have in common whose right-hand side has several numbers of a column in one integer."""

from __future__ import annotations

from dlc.dialects.dl.types import TensorType, require


def word_product_type(lhs: TensorType, rhs: TensorType, columns: int, numbers: int, dtype: str) -> TensorType:
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
