"""Products whose right-hand side has several narrow numbers of a column in one i32, as instructions for dot products take them.

What the numbers are follows from the left-hand side: a row of `FORMS`. Another form is another row, the products of a group in
`lowering/dl_to_linalg/contractions/vnni.py`, and the instruction in `lowering/affine/vectors/use_dot_products.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dlc.dialects.dl.attributes import IntAttr, IntsAttr
from dlc.dialects.dl.base import DLOp, Operand, Result, Tensor
from dlc.dialects.dl.conv import Conv
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType, require
from dlc.dialects.dl.window import Window


@dataclass(frozen=True)
class VnniForm:
    """How many numbers an i32 has, the type of sums and results, and the numbers of groups along axis -2, in that type."""

    numbers: int
    sums: str
    unpacked: Callable[[np.ndarray], np.ndarray]


def _bf16(groups: np.ndarray) -> np.ndarray:
    bits = groups.view(np.uint32)
    return _along_rows([(bits << np.uint32(16)).view(np.float32), (bits & np.uint32(0xFFFF0000)).view(np.float32)])


def _bytes(groups: np.ndarray) -> np.ndarray:
    return _along_rows([(groups >> 8 * place).astype(np.int8).astype(np.int32) for place in range(4)])


def _shorts(groups: np.ndarray) -> np.ndarray:
    return _along_rows([(groups >> 16 * place).astype(np.int16).astype(np.int32) for place in range(2)])


def _along_rows(parts: list[np.ndarray]) -> np.ndarray:
    """The parts of groups [..., G, C], the first one lowest, as rows [..., G * parts, C]."""
    *outer, groups, columns = parts[0].shape
    return np.stack(parts, axis=-2).reshape(*outer, len(parts) * groups, columns)


_PAIRS = VnniForm(2, "f32", _bf16)
FORMS: Mapping[str, VnniForm] = {
    "ui8": VnniForm(4, "i32", _bytes),
    "i16": VnniForm(2, "i32", _shorts),
    "f32": _PAIRS,
    "bf16": _PAIRS,
}
"""By the type of the left-hand side: four signed bytes, two numbers of i16, or two of bf16."""


class Bf16Pairs(DLOp, name="bf16_pairs"):
    """Rows of a matrix in bf16, two neighbours in an i32. `dl-lower-precision` writes it, for weights.

    result[..., g, c] = bits(bf16(x[..., 2 * g, c])) + 65536 * bits(bf16(x[..., 2 * g + 1, c])), rounded to nearest even

    where a row of zeros follows an odd number of rows.

    c1: x has rank 2 or more.    c2: x is static.
    """

    accepts = ("f32",)
    fusion_class = "injective"
    x: Operand[Tensor]
    result: Result[Tensor]

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        require("c1", x.rank >= 2, f"x has rank {x.rank}")
        rows = x.dim(-2)
        require("c2", x.is_static, f"x is {x}")
        return TensorType((*x.shape[:-2], -(-rows // 2) if isinstance(rows, int) else None, x.dim(-1)), "i32")

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        *outer, rows, columns = x.shape
        with np.errstate(all="ignore"):
            bits = x.astype(NUMPY_DTYPES["bf16"]).view(np.uint16)
        bits = np.concatenate([bits, np.zeros((*outer, rows % 2, columns), np.uint16)], axis=-2)
        groups = bits[..., 0::2, :].astype(np.uint32) | bits[..., 1::2, :].astype(np.uint32) << np.uint32(16)
        return groups.view(np.int32)


class VnniMatmul(DLOp, name="vnni_matmul"):
    """Matrix product with narrow numbers that come N to an i32. `dl-use-byte-products` and `dl-lower-precision` write it.

    result[..., m, b * C + c] = sum over g, i < N of lhs[..., m, N * g + i] * (number i of rhs[b, g, c])

    where rhs is [blocks, K / N, C] in blocks of C columns, and number 0 is in the low bits of an element. The type of lhs says what
    the numbers are: of ui8, four signed bytes; of i16, two of i16; of f32 or bf16, two of bf16. Sums are of i32, which wrap, or of
    f32. Where both sides are bf16, targets with dot products of bf16 take these, which read a subnormal number as 0. The last block
    may be filled up: the result has the first `columns` columns, or all.

    c1: lhs has rank 2 or more and rhs rank 3.    c2: rhs is static and not empty.    c3: lhs dim -1 is N times rhs dim 1.
    c4: columns reach into the last block.
    """

    fusion_class = "contraction"
    accepts = {"lhs": tuple(FORMS), "rhs": ("i32",)}
    lhs: Operand[Tensor]
    rhs: Operand[Tensor]
    result: Result[Tensor]
    columns = IntAttr(default=0, doc="columns of the result; 0: those of all blocks")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, *, columns: int) -> TensorType:
        form = FORMS[lhs.dtype]
        require("c1", lhs.rank >= 2 and rhs.rank == 3, f"lhs has rank {lhs.rank} and rhs rank {rhs.rank}")
        blocks, groups, width = (dim if isinstance(dim, int) else 0 for dim in rhs.shape)
        require("c2", blocks * groups * width > 0, f"rhs is {rhs}")
        require("c3", lhs.dim(-1) == form.numbers * groups, f"lhs is {lhs} and rhs {rhs}")
        total = blocks * width
        require("c4", columns == 0 or total - width < columns <= total, f"columns is {columns} but rhs is {rhs}")
        return TensorType((*lhs.shape[:-1], columns or total), form.sums)

    @staticmethod
    def reference(lhs: np.ndarray, rhs: np.ndarray, *, columns: int) -> np.ndarray:
        form = _form_of(lhs)
        whole = np.moveaxis(form.unpacked(rhs), 0, 1).reshape(lhs.shape[-1], -1)[:, : columns or None]
        with np.errstate(all="ignore"):
            return np.matmul(lhs.astype(NUMPY_DTYPES[form.sums]), whole)


class VnniConv(DLOp, name="vnni_conv"):
    """Convolution with channels last and narrow numbers that come N to an i32, as in `dl.vnni_matmul`, of the same types.

    result[n, o, b * C + c] = sum over t, g, i < N of
        x[n, o * strides + t * dilations - pads_begin, N * g + i] * (number i of weight[b, t, g, c])

    where o and t run over all spatial axes, and weight is [blocks, kernel..., channels / N, C] in blocks of C output channels. x is
    0 outside. `dl-use-byte-products` and `dl-lower-precision` write it.

    c1: x has rank 3 to 5 and weight one more.    c2: weight is static and not empty.
    c3: the channels of x are N times weight dim -2.
    c4: strides and dilations have one positive value per spatial axis, pads two that are not negative.
    c5: the dilated kernel fits the padded input.
    """

    fusion_class = "contraction"
    accepts = {"x": tuple(FORMS), "weight": ("i32",)}
    x: Operand[Tensor]
    weight: Operand[Tensor]
    result: Result[Tensor]
    strides = IntsAttr(default=(), doc="step per spatial axis; empty: 1")
    pads = IntsAttr(default=(), doc="zeros before each spatial axis, then those after each; empty: none")
    dilations = IntsAttr(default=(), doc="distance of taps per spatial axis; empty: 1")

    @staticmethod
    def infer(
        x: TensorType, weight: TensorType, *, strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...]
    ) -> TensorType:
        form, ranks = FORMS[x.dtype], f"x has rank {x.rank} and weight rank {weight.rank}"
        require("c1", 3 <= x.rank <= 5 and weight.rank == x.rank + 1, ranks)
        blocks, *taps, groups, width = (dim if isinstance(dim, int) else 0 for dim in weight.shape)
        require("c2", min(blocks, *taps, groups, width) > 0, f"weight is {weight}")
        require("c3", x.dim(-1) == form.numbers * groups, f"x is {x} and weight {weight}")
        window = Window.of("c4", taps, strides, pads, dilations)
        positions = window.output_dims("c5", x.shape[1:-1], 1)
        return TensorType((x.dim(0), *positions, blocks * width), form.sums)

    @staticmethod
    def reference(
        x: np.ndarray, weight: np.ndarray, *, strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...]
    ) -> np.ndarray:
        form, given = _form_of(x), {"strides": strides, "pads": pads, "dilations": dilations}
        wide = x.astype(NUMPY_DTYPES[form.sums])
        return Conv.reference(wide, form.unpacked(weight), None, **given, groups=1, channels_last=True)


def _form_of(lhs: np.ndarray) -> VnniForm:
    return next(FORMS[name] for name in FORMS if NUMPY_DTYPES[name] == lhs.dtype)
