"""Products with matrices of integers of a few bits, which stay packed in memory."""

from typing import Optional

import numpy as np

from dlc.dialects.dl.attributes import IntAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.numerics import widen
from dlc.dialects.dl.types import FLOATS, TensorType, require, require_equal_dims, require_same_dtype

WORD_BITS = 32


class NbitsMatmul(DLOp, name="nbits_matmul"):
    """Matrix product with a matrix of integers of a few bits, scaled by blocks of rows. com.microsoft MatMulNBits.

    result[..., m, b * C + c] = sum over k of lhs[..., m, k] * (q(b, k, c) - zeros[b, k / S, c]) * scales[b, k / S, c]

    words is [blocks, groups, C]: each holds the 32 / bits numbers q of a column from as many rows, the first one lowest, in two's
    complement. S rows share a scale, and a zero, which is 0 where it is not given. The last block may be filled up: the result has
    the first `columns` columns, or all. f16 and bf16 compute in f32.

    c1: bits is 2, 4 or 8.    c2: lhs has rank 2 or more, and words, scales and zeros have rank 3.
    c3: lhs, scales and zeros have one element type.    c4: words, scales and zeros have equal dims 0 and 2.
    c5: words and scales are static, and the groups of words are a multiple of the rows of scales, which are those of zeros.
    c6: lhs dim -1 equals the numbers in a column of words.    c7: columns reach into the last block.
    """

    fusion_class = "contraction"
    accepts = {"lhs": FLOATS, "words": ("i32",), "scales": FLOATS, "zeros": FLOATS}
    lhs: Operand[Tensor]
    words: Operand[Tensor]
    scales: Operand[Tensor]
    zeros: Optional[Operand[Tensor]] = None
    result: Result[Tensor]
    bits = IntAttr(default=4, doc="bits of each number")
    columns = IntAttr(default=0, doc="columns of the result; 0: those of all blocks")

    @staticmethod
    def infer(
        lhs: TensorType, words: TensorType, scales: TensorType, zeros: TensorType | None, *, bits: int, columns: int
    ) -> TensorType:
        require("c1", bits in (2, 4, 8), f"bits is {bits}")
        tables = [words, scales, *([] if zeros is None else [zeros])]
        shown = f"lhs is {lhs}, words {words}, scales {scales}{f' and zeros {zeros}' if zeros else ''}"
        require("c2", lhs.rank >= 2 and all(table.rank == 3 for table in tables), shown)
        require_same_dtype("c3", lhs=lhs, scales=scales, **({} if zeros is None else {"zeros": zeros}))
        require("c5", all(table.is_static for table in tables), shown)
        require("c4", len({(table.shape[0], table.shape[2]) for table in tables}) == 1, shown)
        blocks, groups, width = (int(str(size)) for size in words.shape)
        rows = [int(str(table.shape[1])) for table in tables[1:]]
        fits = len(set(rows)) == 1 and rows[0] > 0 and groups > 0 and groups % rows[0] == 0
        require("c5", fits, shown)
        require_equal_dims("c6", lhs.shape[-1], groups * (WORD_BITS // bits), "lhs dim -1", "the size of a column of words")
        total = blocks * width
        require("c7", columns == 0 or total - width < columns <= total, f"columns is {columns} but words is {words}")
        return lhs.with_shape([*lhs.shape[:-1], columns or total])

    @staticmethod
    def reference(
        lhs: np.ndarray, words: np.ndarray, scales: np.ndarray, zeros: np.ndarray | None, *, bits: int, columns: int
    ) -> np.ndarray:
        per_word = WORD_BITS // bits
        parts = [words << (WORD_BITS - bits * (place + 1)) >> (WORD_BITS - bits) for place in range(per_word)]
        blocks, groups, width = words.shape
        numbers = np.stack(parts, 2).reshape(blocks, groups * per_word, width)
        wide = widen(lhs)
        spread = [np.repeat(widen(table), numbers.shape[1] // table.shape[1], 1) for table in (scales, zeros) if table is not None]
        matrix = numbers.astype(wide.dtype)
        matrix = (matrix - spread[1] if zeros is not None else matrix) * spread[0]
        whole = np.moveaxis(matrix, 0, 1).reshape(numbers.shape[1], blocks * width)
        return np.matmul(wide, whole[:, : columns or None]).astype(lhs.dtype)
