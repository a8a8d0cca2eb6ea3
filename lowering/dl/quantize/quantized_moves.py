"""Rules of `dl-fuse-quantization` at ops that move or choose elements: bytes are moved, not the floats that they stand for."""

from __future__ import annotations

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import TensorType
from dlc.lowering.dl.matching import attributes_of, constant_scalar, groups_of, has_one_use, source, type_of
from dlc.lowering.dl.patterns import same
from dlc.lowering.dl.quantize.quantization import Dequantized, Quantized
from dlc.lowering.dl.rewriting import Rewriter, RuleSet

MOVES = RuleSet()
_VIEWS = ("dl.reshape", "dl.transpose", "dl.squeeze", "dl.unsqueeze", "dl.slice", "dl.expand")


@MOVES.rule("dl.cast")
def drop_requantization(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Q(D(q)) = q, where both have one scale and one zero point: (k * s) / s is k but for 2^-22 of it"""
    quantized = Quantized.of(op, rewriter.is_weight)
    if quantized is None:
        return False
    given = Dequantized.of(quantized.value, rewriter.is_weight)
    if given is None or type_of(given.bytes) != type_of(op.results[0]) or not given.is_per_tensor:
        return False
    scaling = quantized.scaling
    divisor, scale = _divisor(quantized), 1.0 if given.scale is None else constant_scalar(given.scale)
    same_scale = divisor == scale if divisor is not None else scaling is not None and same(given.scale, scaling.weight)
    zeros = [0.0 if zero is None else constant_scalar(zero) for zero in (quantized.zero, given.ints.zero)]
    if divisor is not None and not _keeps_bytes(divisor):
        return False
    if not same_scale or zeros[0] is None or zeros[0] != zeros[1]:
        return False
    rewriter.replace(op, given.bytes)
    return True


def _divisor(quantized: Quantized) -> float | None:
    """What floats are divided by, where that is known."""
    if quantized.scaling is None:
        return 1.0
    number = constant_scalar(quantized.scaling.weight)
    if number is None or quantized.scaling.op.name == "dl.div":
        return number
    return 1 / number if number else None


@MOVES.rule(*_VIEWS, "dl.gather")
def dequantize_later(op: ir.Operation, rewriter: Rewriter) -> bool:
    """view(D(q)) = D(view(q)), also for slices and elements that indices choose"""
    given = Dequantized.of(op.operands[0], rewriter.is_weight)
    if given is None:
        return False
    if not given.is_per_tensor:
        return op.name == "dl.transpose" and _transpose_weight(op, given, rewriter)
    rewriter.replace(op, given.floats(_moved(op, given.bytes)))
    return True


@MOVES.rule("dl.max_pool")
def pool_bytes(op: ir.Operation, rewriter: Rewriter) -> bool:
    """max_pool(D(q)) = D(max_pool(q)), where the scale is positive and finite and each window has an element"""
    given = Dequantized.of(op.operands[0], rewriter.is_weight)
    if given is None or not given.is_per_tensor:
        return False
    scale = 1.0 if given.scale is None else constant_scalar(given.scale)
    attributes = attributes_of(op)
    kernel, pads = attributes["kernel"], attributes["pads"]
    if scale is None or scale <= 0 or not _keeps_bytes(scale) or any(step != 1 for step in attributes["dilations"]):
        return False
    if any(pad >= size for size, pad in zip((*kernel, *kernel), pads, strict=False)):
        return False
    rewriter.replace(op, given.floats(_moved(op, given.bytes)))
    return True


@MOVES.rule("dl.cast")
def quantize_earlier(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Q(view(y)) = view(Q(y)), and Q(concat(x, y)) = concat(Q(x), Q(y)), where nothing else uses the floats"""
    quantized = Quantized.of(op, rewriter.is_weight)
    data_movement_op = source(quantized.value) if quantized else None
    if quantized is None or data_movement_op is None or not has_one_use(quantized.value) or rewriter.is_weight(quantized.value):
        return False
    if data_movement_op.name == "dl.concat":
        parts = [quantized.bytes(part) for part in data_movement_op.operands]
        rewriter.replace(op, dl.concat(*parts, **attributes_of(data_movement_op)))
        return True
    if data_movement_op.name not in _VIEWS or data_movement_op.name == "dl.expand":
        return False
    rewriter.replace(op, _moved(data_movement_op, quantized.bytes(data_movement_op.operands[0])))
    return True


def _keeps_bytes(scale: float) -> bool:
    """Whether bytes times `scale` neither overflow nor underflow in f32, so that a division gives the bytes again."""
    numbers = np.finfo(np.float32)
    return bool(numbers.tiny <= abs(scale) <= numbers.max / 2**9)  # bytes less a zero point are below 2^9


def _transpose_weight(op: ir.Operation, given: Dequantized, rewriter: Rewriter) -> bool:
    """transpose(D(w)) = D(transpose(w)) with scales and zero points along an axis."""
    perm, rank = attributes_of(op)["perm"], type_of(op.operands[0]).rank
    if not rewriter.is_weight(given.bytes):
        return False
    ints = dl.cast(dl.transpose(given.bytes, perm=perm), to="i32")
    if given.ints.zero is not None:
        ints = dl.sub(ints, _turned(given.ints.zero, perm, rank))
    found = dl.cast(ints, to="f32")
    rewriter.replace(op, found if given.scale is None else dl.mul(found, _turned(given.scale, perm, rank)))
    return True


def _turned(value: ir.Value, perm: tuple[int, ...], rank: int) -> ir.Value:
    """What broadcasts to a tensor of `rank` axes, as it broadcasts to the transposed one."""
    missing = rank - type_of(value).rank
    if missing == rank:
        return value
    whole = dl.unsqueeze(value, axes=list(range(missing))) if missing else value
    return dl.transpose(whole, perm=perm)


def _moved(op: ir.Operation, value: ir.Value) -> ir.Value:
    """What `op` makes of `value` in place of its first operand."""
    found = dl.op_class(op.name)
    assert found is not None
    kind, (_, *others) = type_of(op.results[0]), groups_of(op)
    wanted = TensorType(kind.shape, type_of(value).dtype)
    moved: ir.Value = found.create(value, *others, **attributes_of(op), result_types=[wanted]).results[0]
    return moved
