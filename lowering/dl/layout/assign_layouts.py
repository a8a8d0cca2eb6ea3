"""`dl-assign-layouts`: convolutions on images with channels last, where that is faster."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import Dim
from dlc.lowering.dl.layout.axis_orders import AS_IS, AxisOrder, Demand, OpOrders, channels_last
from dlc.lowering.dl.layout.gpu_gains import seconds_gained_on_gpu
from dlc.lowering.dl.layout.order_graph import OrderGraph
from dlc.lowering.dl.layout.order_regions import Chooser, Seed
from dlc.lowering.dl.layout.order_rewriting import reorder
from dlc.lowering.dl.layout.order_rules import Rule, rule_of
from dlc.lowering.dl.matching import attributes_of, functions, groups_of, type_of
from dlc.lowering.dl.patterns import sole_user
from dlc.lowering.dl.weights.winograd_choice import allowed_tiles, speed_up
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of, is_for_gpu


@dataclass(frozen=True)
class AssignLayouts(Pass):
    """Give convolutions channels last, and the ops between them.

    before: %1 = dl.conv(%x, %w)                                         %2 = dl.relu(%1)
    after:  %0 = dl.transpose(%x) {perm = [0, 2, 3, 1]}   %v = blocks of output channels of %w
            %1 = dl.conv(%0, %v) {channels_last = true}   %2 = dl.relu(%1)   %3 = dl.transpose(%2) {perm = [0, 3, 1, 2]}

    A region of ops that are connected by images is decided as a whole: what its convolutions gain by measured figures, against the
    transposes at its border. Weights are reshaped and transposed by ops on weights. Functions with kernels stay as they are.

    For a GPU, convolutions that tensor cores take (`dl/precision.py` says in which type) gain by the peaks of its row, and kernels
    come without blocks of channels, which are vectors of a CPU. All others stay as they are: threads read neighbouring pixels.
    """

    force: bool = option(False, "take channels last wherever it is possible")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module."""
        on_gpu = is_for_gpu(op)
        tiles = () if on_gpu else allowed_tiles(op)

        def gain(graph: OrderGraph, conv: ir.Operation) -> float:
            if self.force:
                return 1.0
            if on_gpu:
                return seconds_gained_on_gpu(conv)
            return _seconds_gained(graph, conv, tiles) + _seconds_interleaving(graph, conv)

        for function in functions(op):
            reorder(function, lambda graph: _choose(graph, gain, tiles))


def _choose(graph: OrderGraph, gain: Callable[[OrderGraph, ir.Operation], float], tiles: Sequence[int]) -> bool:
    """Settle the convolutions of a graph, and what is between them; whether that is any."""
    convs = {number: op for number, op in enumerate(graph.ops) if op.name in _CONVOLUTIONS}
    gains = {number: gain(graph, op) for number, op in convs.items()}

    def seeds() -> Iterator[Seed]:
        for number, op in convs.items():
            if number not in graph.settled and (gains[number] > 0 or not is_for_gpu(op)):
                yield number, channels_last(type_of(op.operands[0]).rank)

    if convs:
        Chooser(graph, _rules(graph, tiles), lambda number: gains.get(number, 0.0)).choose(seeds)
    return bool(graph.settled)


def _seconds_interleaving(graph: OrderGraph, op: ir.Operation) -> float:
    """Estimated time that channels last save in copies of the result of `op` to a concat that wants it in short rows.

    Rows of channels are written to their places by the convolution itself.
    """
    return policy().graph.interleaving_factor * graph.seconds_to_move(op.results[0]) if _is_interleaved(op) else 0.0


def _is_interleaved(op: ir.Operation) -> bool:
    """Whether a concat alone uses the image that `op` gives, and wants it in rows that channels would make long."""
    value, channels = op.results[0], _size(type_of(op.results[0]).shape[1])
    while (user := sole_user(value)) is not None and user.name == "dl.unsqueeze":
        value = user.results[0]
    if user is None or user.name != "dl.concat" or channels < policy().graph.long_row:
        return False
    kind = type_of(value)
    return math.prod(_size(dim) for dim in kind.shape[attributes_of(user)["axis"] % kind.rank :]) < policy().graph.long_row


def _rules(graph: OrderGraph, tiles: Sequence[int]) -> Callable[[ir.Operation], Rule | None]:
    """The rule of each op, where convolutions may be computed by Winograd's tiles of the sizes `tiles`."""
    convolution = Rule(
        lambda op, order: _settle_convolution(graph, op, order, tiles),
        lambda op, index, order: order if index == 0 else None,
        lambda op, order: order,
    )
    return lambda op: convolution if op.name in _CONVOLUTIONS else rule_of(op)


def _settle_convolution(graph: OrderGraph, op: ir.Operation, order: AxisOrder, tiles: Sequence[int]) -> OpOrders | None:
    x, weight, bias = groups_of(op)
    if order != channels_last(type_of(x).rank) or attributes_of(op)["channels_last"] or weight not in graph.weights:
        return None
    kernel = Demand(build=_transposed_kernel if op.name == "dl.conv_transpose" else _kernel_builder(op))
    rest = [AS_IS] if bias is not None else []
    image = Demand(order, folds=_reads_single_pixels(op) and not is_for_gpu(op))
    return OpOrders((image, kernel, *rest), (order,), {"channels_last": True}, scatters=_stores_pixels(graph, op, tiles))


def _stores_pixels(graph: OrderGraph, op: ir.Operation, tiles: Sequence[int]) -> bool:
    """Whether the tiles of a convolution by taps transpose their results in registers: its kernel comes in blocks of whole vectors.

    Products with one tap are left out, whose results take a larger share of the time, and those that become Winograd's tiles.
    """
    kind = type_of(op.results[0])
    is_plain = op.name == "dl.conv" and _is_blocked(op) and not _reads_single_pixels(op) and not _is_interleaved(op)
    is_known = all(isinstance(dim, int) for dim in kind.shape[1:])
    return is_plain and is_known and speed_up(op, tiles, graph.weights.__contains__) <= 1


def _reads_single_pixels(op: ir.Operation) -> bool:
    """Whether the op is a product with one tap for all channels, without padding: its tiles read pixels one by one."""
    if op.name != "dl.conv":
        return False
    found, taps = attributes_of(op), type_of(op.operands[1]).shape[2:]
    return found["groups"] == 1 and not any(found["pads"]) and all(size == 1 for size in taps)


def _transposed_kernel(weight: ir.Value) -> ir.Value:
    """[in, out, taps...] as [taps..., in, out]."""
    rank = type_of(weight).rank
    return dl.transpose(weight, perm=(*range(2, rank), 0, 1))


def _plain_kernel(weight: ir.Value) -> ir.Value:
    """[out, in, taps...] as [taps..., in, out]."""
    rank = type_of(weight).rank
    return dl.transpose(weight, perm=(*range(2, rank), 1, 0))


def _blocked_kernel(weight: ir.Value) -> ir.Value:
    """[out, in, taps...] as [out / 16, taps..., in, 16]."""
    out, *rest = type_of(weight).shape
    assert isinstance(out, int)
    split = dl.reshape(weight, shape=[out // policy().graph.channel_block, policy().graph.channel_block, *rest])
    return dl.transpose(split, perm=(0, *range(3, len(rest) + 2), 2, 1))


def _is_blocked(op: ir.Operation) -> bool:
    """Whether the kernel comes in blocks: without, the taps of one block lie a row apart, which costs up to 2.5 times.

    That of groups of many channels, too: two groups of 32 channels of 56x56 with 3x3 taps take 0.69 of the time.
    """
    if is_for_gpu(op):
        return False
    kind, groups = type_of(op.operands[1]), attributes_of(op)["groups"]
    out = kind.shape[0]
    return (
        kind.is_static
        and isinstance(out, int)
        and out > policy().graph.channel_block
        and out % (groups * policy().graph.channel_block) == 0
    )


def _kernel_builder(op: ir.Operation) -> Callable[[ir.Value], ir.Value]:
    return _blocked_kernel if _is_blocked(op) else _plain_kernel


_CONVOLUTIONS = ("dl.conv", "dl.conv_transpose")


def _size(dim: Dim) -> int:
    return dim if isinstance(dim, int) else policy().cost.assumed_trips


def _seconds_gained(graph: OrderGraph, op: ir.Operation, tiles: Sequence[int]) -> float:
    """Estimated time that channels last save (a negative number: cost) in one convolution on one core.

    With channels last it may be computed by Winograd's tiles of the sizes `tiles`.
    """
    if op.name != "dl.conv":
        return 0.0
    weight, result = type_of(op.operands[1]), type_of(op.results[0])
    found = attributes_of(op)
    out, per_group, *taps = (_size(dim) for dim in weight.shape)
    flops = 2.0 * _size(result.shape[0]) * out * per_group
    for size in (*taps, *(_size(dim) for dim in result.shape[2:])):
        flops *= size
    if not flops:  # a convolution of nothing, or into nothing
        return 0.0
    image = [_size(dim) for dim in result.shape[2:]]
    first, last = _shares(out, per_group, found["groups"], max(taps), max(found["strides"], default=1), image)
    if _has_short_sums(op) and not facts_of(op).has_many_registers:
        first = last
    return flops / policy().graph.peak_flops * (1 / first - 1 / last / speed_up(op, tiles, graph.weights.__contains__))


def _shares(out: int, per_group: int, groups: int, kernel: int, stride: int, image: Sequence[int]) -> tuple[float, float]:
    """Measured shares of the peak with channels first and last on one core of AVX-512."""
    width = image[-1]
    if groups > 1 and per_group == 1:
        return (0.20, 0.20) if width >= 28 else (0.20, 0.25)
    if groups > 1 and out // groups < policy().graph.channel_block:
        return 0.65, 0.02 * (out // groups) + 0.1
    if out < policy().graph.channel_block:
        return 0.50, 0.05 * out
    if kernel == 1:
        return _shares_of_product(per_group, stride, math.prod(image))
    first = 0.45 if stride > 1 else 0.70
    return first * (1.0 if width >= 14 else 0.5), 0.80 if width >= 14 else 0.65


def _has_short_sums(op: ir.Operation) -> bool:
    """Whether each result of a product with one tap is the sum of a few numbers.

    With channels first pixels are lanes, and tiles of 16 registers write their results along rows: 16x112x112 to 96 channels takes
    0.45 of the time of channels last and a transpose of them, 24x56x56 to 144 channels 0.9.
    """
    return _reads_single_pixels(op) and _size(type_of(op.operands[1]).shape[1]) < policy().graph.short_sum


def _shares_of_product(inner: int, stride: int, pixels: int) -> tuple[float, float]:
    """The same for one tap: with channels first pixels are lanes, and those of 7x7 images leave a quarter of them idle."""
    if inner < policy().graph.short_sum:
        return 0.22, 0.60
    return (
        0.55 if stride > 1 else 0.80 * pixels / (-(-pixels // policy().graph.channel_block) * policy().graph.channel_block)
    ), 0.90
