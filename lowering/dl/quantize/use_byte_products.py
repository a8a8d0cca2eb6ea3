"""`dl-use-byte-products`: integer products of bytes with weights that are bytes, four or two products at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.lowering.dl.matching import WeightFacts, constant_scalar, dl_ops, functions, type_of
from dlc.lowering.dl.patterns import built_like
from dlc.lowering.dl.quantize.byte_convs import ByteConv, channels_first, with_bias
from dlc.lowering.dl.quantize.byte_operands import Centered, VnniGroup, number
from dlc.lowering.dl.quantize.byte_winograd import convolved, takes_tiles
from dlc.lowering.dl.weights.winograd_choice import allowed_tiles
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import Machine, facts_of, is_for_gpu


@dataclass(frozen=True)
class UseByteProducts(Pass):
    """Let products of bytes with a matrix of weights read its bytes four at a time, as instructions for dot products do.

    The left-hand side becomes unsigned and the weights signed. Zero points are taken out of the sums: they become a number per
    column, computed from the weights, and one per row if the weights have a zero point. 128x768x768 runs at 536 billion operations
    a second on one core with VNNI; in i32 it was 20.

    So are those of convolutions, with the channels last and in fours; what is outside the image is the zero point.

    On x86-64 without VNNI both sides become i16 and come in pairs, for vpmaddwd: the left-hand side as it is computed, the weights
    once. Sums of pairs of bytes, which vpmaddubsw gives, would saturate. There convolutions by 3x3 taps with stride 1 take
    Winograd's tiles where the module allows them (`dl.winograd`) and the estimated time is less: in whole numbers, they are exact.
    Modules for a GPU stay as they are: the groups are those of instructions of a CPU.

    before: %0 = "dl.matmul"(i32(%x) - %zero, i32(%w)) : (tensor<4x768xi32>, tensor<768x64xi32>) -> tensor<4x64xi32>
    after:  %p = the bytes of %w in groups of four, in blocks of columns
            %d = "dl.vnni_matmul"(%x, %p) : (tensor<4x768xui8>, tensor<1x192x64xi32>) -> tensor<4x64xi32>
            %0 = %d - %zero * (the sums of the columns of %w)
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if is_for_gpu(op):
            return
        target = _Target.of(op)
        for function in functions(op):
            if "dl.precompute" in function.attributes:
                continue
            facts = WeightFacts()
            for operation in dl_ops(function):
                if operation.parent.name != "func.func" or operation.name not in ("dl.matmul", "dl.conv"):
                    continue
                if facts(operation.operands[1]) and not facts(operation.operands[0]):
                    (_multiply if operation.name == "dl.matmul" else _convolve)(operation, target, facts)


@dataclass(frozen=True)
class _Target:
    """What products are made for, and the sizes of Winograd's tiles that the module allows."""

    cpu: Machine
    group: VnniGroup
    tiles: tuple[int, ...]

    @staticmethod
    def of(module: ir.Operation) -> _Target:
        cpu = facts_of(module)
        return _Target(cpu, VnniGroup.of(cpu), tuple(allowed_tiles(module)))


def _convolve(op: ir.Operation, target: _Target, facts: WeightFacts) -> None:
    """Let a convolution of bytes stand for one of i32."""
    conv = ByteConv.of(op)
    if conv is None:
        return
    with op.location, ir.InsertionPoint(op):
        image, kernel, window = conv.operands(target.group)
        dot = partial(_dot, target.group) if conv.is_product else partial(_convolved, target, window=window)
        _replace(op, channels_first(with_bias(_centered(image, kernel, dot), op)), facts)


def _multiply(op: ir.Operation, target: _Target, facts: WeightFacts) -> None:
    lhs, rhs = (Centered.of(value) for value in op.operands)
    if lhs is None or rhs is None:
        return
    kind = type_of(rhs.bytes)
    if kind.rank != 2 or not kind.is_static or 0 in kind.shape or not _is_per_row(lhs) or not _is_per_column(rhs):
        return
    if type_of(lhs.bytes).dim(-1) != kind.dim(0):
        return
    with op.location, ir.InsertionPoint(op):
        group = target.group
        _replace(op, _centered(group.left(lhs), group.right(rhs), partial(_dot, group)), facts)


def _replace(op: ir.Operation, value: ir.Value, facts: WeightFacts) -> None:
    result = op.results[0]
    if type_of(value) != type_of(result):
        value = built_like(result, "cast", value, to="i32")
    result.replace_all_uses_with(value)
    facts.forget(op)
    op.erase()


def _is_per_row(side: Centered) -> bool:
    """Whether the zero point is the same along the axis that is summed over."""
    return side.zero is None or type_of(side.zero).rank == 0 or type_of(side.zero).dim(-1) == 1


def _is_per_column(side: Centered) -> bool:
    if side.zero is None or type_of(side.zero).rank < 2:
        return True
    return type_of(side.zero).dim(-2) == 1


def _centered(lhs: Centered, rhs: Centered, dot: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """(x - p)(w - q) = xw - p (sum of w - K q) - q (sum of x), sums over the K products; `dot` gives xw.

    The weights have K numbers in each column of their last axis. The sums of x are its products with a column of ones.
    """
    inner = [int(str(dim)) for dim in type_of(rhs.bytes).shape[:-1]]
    found = dot(lhs.bytes, rhs.bytes)
    if not _is_zero(lhs.zero):
        sums = dl.reduce_sum(dl.cast(rhs.bytes, to="i32"), axes=list(range(len(inner))), keepdims=False)
        if not _is_zero(rhs.zero):
            sums = dl.sub(sums, dl.mul(rhs.zero, number(math.prod(inner))))
        found = dl.sub(found, dl.mul(sums, lhs.zero))
    if not _is_zero(rhs.zero):
        found = dl.sub(found, dl.mul(dot(lhs.bytes, dl.constant(value=np.ones((*inner, 1), np.int8))), rhs.zero))
    return found


def _is_zero(zero: ir.Value | None) -> bool:
    return zero is None or constant_scalar(zero) == 0


def _dot(group: VnniGroup, values: ir.Value, weights: ir.Value) -> ir.Value:
    """The product of bytes [..., K] with [1..., K, N]."""
    columns = int(str(type_of(weights).dim(-1)))
    values, packed = _in_groups(group, values, weights)
    blocks, *_, groups, width = type_of(packed).shape
    packed = dl.reshape(packed, shape=[blocks, groups, width]) if type_of(packed).rank > 3 else packed
    return dl.vnni_matmul(values, packed, columns=columns)


def _convolved(target: _Target, values: ir.Value, weights: ir.Value, window: dict[str, list[int]]) -> ir.Value:
    """The convolution of bytes [n, pixels..., K] with [taps..., K, N]."""
    group, columns = target.group, int(str(type_of(weights).dim(-1)))
    is_dense = all(step == 1 for steps in window.values() for step in steps)
    if is_dense and takes_tiles(values, weights, target.tiles, group, target.cpu):
        return convolved(values, weights, group)
    found = dl.vnni_conv(*_in_groups(group, values, weights), **window)
    last = type_of(found).rank - 1
    filled = type_of(found).dim(-1) != columns
    return dl.slice(found, None, starts=[0], ends=[columns], axes=[last], steps=[1]) if filled else found


def _in_groups(group: VnniGroup, values: ir.Value, weights: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Numbers, and [taps..., K, N] bytes as groups of them in blocks of columns; zeros are added where these are not full."""
    *taps, inner, columns = (int(str(dim)) for dim in type_of(weights).shape)
    width = group.block_of(columns)
    added, more = -inner % group.numbers, -columns % width
    if added:
        values = dl.pad(values, None, low=[0] * type_of(values).rank, high=[*[0] * (type_of(values).rank - 1), added])
    if added or more:
        weights = dl.pad(weights, None, low=[0] * (len(taps) + 2), high=[*[0] * len(taps), added, more])
    rank, groups = len(taps), (inner + added) // group.numbers
    split = dl.reshape(weights, shape=[*taps, groups, group.numbers, (columns + more) // width, width])
    parts = []
    for place in range(group.numbers):
        part = dl.slice(split, None, starts=[place], ends=[place + 1], axes=[rank + 1], steps=[1])
        parts.append(dl.squeeze(part, axes=[rank + 1]))
    return values, dl.transpose(group.pack(parts), perm=[rank + 1, *range(rank + 1), rank + 2])
