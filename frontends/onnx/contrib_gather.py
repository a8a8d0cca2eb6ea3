"""Importer of rows gathered from a table of few bits: the embedding of exported language models."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.storage import SMALL_FLOATS
from dlc.dialects.dl.types import type_of_value
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext

_DATA, _INDICES, _SCALES, _ZEROS = range(4)


@importer("GatherBlockQuantized", domain="com.microsoft")
def import_gather_block_quantized(node: NodeContext) -> ir.Value:
    """The table stays packed: rows are gathered first, then unpacked, and each block of a row is scaled."""
    rank = node.rank(_DATA)
    gathered, quantized = (
        int(node.attribute(name, default)) % rank for name, default in (("gather_axis", 0), ("quantize_axis", 1))
    )
    if gathered != 0 or quantized != rank - 1:
        node.unsupported(f"gather_axis {gathered} and quantize_axis {quantized} are not supported; the first and last axis are")
    scales = dl.gather(node.value(_SCALES), node.value(_INDICES), axis=0)
    dtype = type_of_value(scales).dtype
    numbers, blocks = _gathered(node, _DATA, dtype), type_of_value(scales).shape[-1]
    width = type_of_value(numbers).shape[-1]
    if not isinstance(width, int) or not isinstance(blocks, int) or width % max(blocks, 1):
        node.unsupported(f"rows of {width} numbers with {blocks} scales are not supported")
    split = _last_axis(numbers, [blocks, width // blocks])
    zeros = _zeros(node, dtype, blocks)
    if zeros is not None:
        split = dl.sub(split, zeros)
    count = type_of_value(scales).rank
    return _joined(dl.mul(split, dl.unsqueeze(scales, axes=[count])))


def _zeros(node: NodeContext, dtype: str, blocks: int) -> ir.Value | None:
    """What is subtracted from the numbers of each block [..., blocks, 1]; None where that is 0."""
    if node.has_input(_ZEROS):
        found = _gathered(node, _ZEROS, dtype)
        if type_of_value(found).shape[-1] != blocks:
            found = dl.slice(found, starts=[0], ends=[blocks], axes=[-1], steps=[1])
        return dl.unsqueeze(found, axes=[type_of_value(found).rank])
    if node.type(_DATA).dtype != "ui8":
        return None
    return node.constant_value(2.0 ** (int(node.attribute("bits", 4)) - 1), dtype)


def _gathered(node: NodeContext, index: int, dtype: str) -> ir.Value:
    """Rows of a table as numbers of `dtype`; bytes hold 8 / bits of them, the lowest first."""
    found = dl.gather(node.value(index), node.value(_INDICES), axis=0)
    kind, bits = type_of_value(found).dtype, int(node.attribute("bits", 4))
    if kind != "ui8" or bits == 8:
        return dl.cast(dl.cast(found, to="f32" if kind in SMALL_FLOATS else "i32"), to=dtype)
    if bits not in (2, 4):
        node.unsupported(f"numbers of {bits} bits are not supported")
    rank = type_of_value(found).rank
    shifts = node.constant_value(np.arange(0, 8, bits), "ui8")
    parts = dl.shift_right(dl.unsqueeze(found, axes=[rank]), shifts)
    return dl.cast(_joined(getattr(dl, "and")(parts, node.constant_value((1 << bits) - 1, "ui8"))), to=dtype)


def _last_axis(x: ir.Value, sizes: list[int]) -> ir.Value:
    """x with its last axis split."""
    rank = type_of_value(x).rank
    return dl.reshape(x, shape=[*[-1] * (rank - 1), *sizes], copied=[*range(rank - 1), *[-1] * len(sizes)])


def _joined(x: ir.Value) -> ir.Value:
    """x with its last two axes, whose sizes are known, as one."""
    *lead, count, size = type_of_value(x).shape
    return dl.reshape(x, shape=[*[-1] * len(lead), int(str(count)) * int(str(size))], copied=[*range(len(lead)), -1])
