"""`dl-use-winograd`: convolutions by 3x3 taps on Winograd's tiles, where that is faster."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType
from dlc.dialects.dl.winograd_matrices import BY_STRIDE, Matrices
from dlc.lowering.dl.matching import attributes_of, functions, groups_of, type_of
from dlc.lowering.dl.patterns import built_like
from dlc.lowering.dl.weights.winograd_choice import LANES, allowed_tiles, stride_of, verdicts_of
from dlc.lowering.pass_base import Pass, option
from dlc.lowering.policy import policy
from dlc.targets.machine import facts_of, is_for_gpu


@dataclass(frozen=True)
class UseWinograd(Pass):
    """Compute convolutions by 3x3 taps with fewer products, on tiles of 2 by 2 or 4 by 4 results.

    F(2x2, 3x3) takes 16 products where taps take 36, and is as accurate: it is the default. F(4x4, 3x3) takes 36 where taps take
    144, with an error about ten times as large, so a model has to allow it: by the module attribute `dl.winograd = 4`, which
    `compile(winograd=4)` sets. With stride 2, 25 products do what 36 taps do. Convolutions are taken that come with channels last
    and a kernel of weights, where the estimated time is less. The kernel is transformed by ops on weights, in f64. Modules for a
    GPU stay as they are: the tiles are those of a CPU's vectors.

    before: %0 = "dl.conv"(%x, %w) {channels_last = true} : (tensor<1x56x56x64xf32>, tensor<4x3x3x64x16xf32>)
    after:  %u = G %w G^T for each pair of channels
            %0 = "dl.winograd_conv"(%x, %u) : (tensor<1x56x56x64xf32>, tensor<16x4x64x16xf32>)
    """

    most: int | None = option(None, "most results of a tile along one axis: 0, 2 or 4; none: the module's dl.winograd, or 2")
    force: bool = option(False, "take tiles wherever it is possible")

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module `op`."""
        if is_for_gpu(op) and not self.force:
            return
        tiles = allowed_tiles(op, self.most)
        for function in functions(op):
            if "dl.precompute" in function.attributes:
                continue
            for conv, verdict in verdicts_of(function, tiles, self.force):
                if verdict.tile:
                    _rewrite(conv, verdict.tile)


def _rewrite(conv: ir.Operation, tile: int) -> None:
    """Let a convolution by tiles stand for `conv`."""
    x, weight, bias = groups_of(conv)
    with conv.location, ir.InsertionPoint(conv):
        attributes = attributes_of(conv)
        stride = stride_of(attributes)
        kernel = transformed_kernel(weight, BY_STRIDE[stride][tile], _block_of(conv))
        value = built_like(conv.results[0], "winograd_conv", x, kernel, bias, pads=attributes["pads"], stride=stride)
        conv.results[0].replace_all_uses_with(value)
    conv.erase()


def _block_of(conv: ir.Operation) -> int:
    """Output channels of a block of the transformed kernel: whole vectors of a register tile, which then reads one stream of it."""
    weight, out, cpu = type_of(conv.operands[1]), _sizes(type_of(conv.results[0]))[-1], facts_of(conv)
    given = weight.dim(-1) if weight.rank > type_of(conv.operands[0]).rank else LANES
    if not cpu.has_many_registers or not isinstance(given, int):
        return LANES
    widths = [vectors * cpu.lanes(8 * NUMPY_DTYPES[weight.dtype].itemsize) for vectors in policy().winograd.winograd_vectors]
    return next((width for width in widths if width > LANES and out % width == 0 and width % given == 0), LANES)


def transformed_kernel(weight: ir.Value, matrices: Matrices, block: int) -> ir.Value:
    """Build the operand of dl.winograd_conv from a kernel [taps, taps, in, out] or [blocks, taps, taps, in, part].

    Its blocks have `block` output channels, which is a multiple of `part`.
    """
    kind = type_of(weight)
    *parts, _, _, inner, last = _sizes(kind)
    factors, (positions, summed) = dl.constant(value=matrices.kernels), matrices.kernels.shape
    wide = weight if kind.dtype == "f64" else dl.cast(weight, to="f64")
    flat = dl.reshape(wide, shape=[*parts, summed, inner * last])
    product = dl.matmul(factors, flat)
    found = product if kind.dtype == "f64" else dl.cast(product, to=kind.dtype)
    if not parts:
        split = dl.reshape(found, shape=[positions, inner, last // block, block])
        return dl.transpose(split, perm=[0, 2, 1, 3])
    blocks = parts[0] * last // block
    split = dl.reshape(found, shape=[blocks, block // last, positions, inner, last])
    return dl.reshape(dl.transpose(split, perm=[2, 0, 3, 1, 4]), shape=[positions, blocks, inner, block])


def _sizes(kind: TensorType) -> list[int]:
    return [dim for dim in kind.shape if isinstance(dim, int)]
