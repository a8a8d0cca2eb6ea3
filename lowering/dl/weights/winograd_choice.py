"""Whether a convolution is faster by Winograd's tiles, as a pure function of the op, with the reason."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dlc._mlir import ir
from dlc.analysis.dim_bounds import UNBOUNDED, DimBounds
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl.conv import unblocked_kernel
from dlc.dialects.dl.types import NUMPY_DTYPES, TensorType
from dlc.dialects.dl.window import Layout
from dlc.dialects.dl.winograd_matrices import BY_STRIDE, MATRICES, TAPS, Matrices
from dlc.lowering.affine.cost.contractions import DirectConvolution
from dlc.lowering.affine.cost.cycles import cycles
from dlc.lowering.dl.matching import WeightFacts, attributes_of, dl_ops, groups_of, type_of
from dlc.lowering.dl.precision import WINOGRAD, multiplies_bf16
from dlc.lowering.dl_to_linalg.contractions.winograd_blocks import (
    cycles_of,
    grid_of,
    open_blocks,
    usual_images,
)
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.policy import Policy, policy
from dlc.targets.machine import Machine, facts_of

LANES = 16
"""Output channels of a block of the transformed kernel."""

REASONS = {
    "winograd": "tiles take fewer products than taps",
    "off": "tiles are switched off",
    "window": "tiles are for 3x3 taps of stride 1 or 2 without dilation, on images",
    "groups": "channels are in groups",
    "type": "tiles would round numbers of this type too often",
    "sizes": "channels, or height or width with stride 2, are known at run time only, or the kernel is computed",
    "channels": f"output channels are no multiple of {LANES}",
    "layout": "channels are not last",
    "time": "transforms and a larger kernel would take longer than the products that they save",
}
"""What the reasons mean, by their names; each convolution has the first that holds."""

_BF16_PRODUCTS = 2
"""Products of bf16, which taps may be computed with and tiles not, of one instruction for one of f32."""


@dataclass(frozen=True)
class WinogradVerdict:
    """The results of a tile along one axis, 0 for a direct convolution; a key of `REASONS`; the estimated cycles of an image.

    Cycles are 0 where tiles are not possible. Where run time decides sides, results of up to `taps_up_to` by as many pixels are
    faster by taps, though larger ones are by tiles.
    """

    tile: int
    reason: str
    direct: float = 0.0
    winograd: float = 0.0
    taps_up_to: int = 0


@dataclass(frozen=True)
class _Sizes:
    """What a convolution of one image costs depends on; height and width are 0 where run time knows them."""

    height: int
    width: int
    inner: int
    out: int
    dtype: str
    stride: int = 1

    @property
    def is_open(self) -> bool:
        """Whether run time decides a side."""
        return not self.height or not self.width


def allowed_tiles(module: ir.Operation, most: int | None = None) -> list[int]:
    """The sizes of tiles that a module allows, or those up to `most`. `PassFailure` for an unknown size."""
    if most is None:
        found = module.attributes.get(WINOGRAD)
        if found is not None and not isinstance(found, ir.IntegerAttr):
            raise PassFailure(module, f"{WINOGRAD} is {found}", "give 0, 2 or 4")
        most = policy().winograd.default_results if found is None else found.value
    if most not in (0, *MATRICES):
        raise PassFailure(module, f"{WINOGRAD} is {most}", "give 0, 2 or 4")
    return [tile for tile in MATRICES if tile <= most]


def verdicts_of(function: ir.Operation, tiles: Sequence[int], force: bool = False) -> list[tuple[ir.Operation, WinogradVerdict]]:
    """The `dl.conv` ops that are in no region of `function` but its own, each with how it is computed best.

    `tiles` are allowed, and taken wherever that is possible with `force`. The verdict is by what is known of sizes.
    """
    convs = [op for op in dl_ops(function) if op.name == "dl.conv" and op.parent.name == "func.func"]
    shapes = SymbolicShapes(function) if any(map(is_of_open_images, convs)) else None
    weights = WeightFacts()
    return [(conv, _verdict(conv, tiles, force, shapes, weights)) for conv in convs]


def _verdict(
    op: ir.Operation, tiles: Sequence[int], force: bool, shapes: SymbolicShapes | None, weights: WeightFacts
) -> WinogradVerdict:
    """The verdict on one op; `shapes` knows bounds of sizes that run time decides."""
    refusal = _refusal(op, weights) if tiles else "off"
    if not refusal and not attributes_of(op)["channels_last"]:
        refusal = "layout"
    if refusal:
        return WinogradVerdict(0, refusal)
    found = _estimate(op, tiles, shapes)
    if force or found.reason == "winograd":
        return replace(found, taps_up_to=0 if force else _small_side(op, tiles, shapes))
    return replace(found, tile=0)


def is_of_open_images(op: ir.Operation) -> bool:
    """Whether the `dl.conv` op convolves images with a side that run time decides."""
    kind = type_of(op.results[0])
    return kind.rank == 4 and not kind.is_static and _sizes_of(op).is_open


def speed_up(op: ir.Operation, tiles: Sequence[int], is_weight: Callable[[ir.Value], bool]) -> float:
    """How much faster the `dl.conv` op becomes by tiles once channels are last; 1 where it does not."""
    if not tiles or _refusal(op, is_weight):
        return 1.0
    found = _estimate(op, tiles)
    return found.direct / found.winograd if found.reason == "winograd" else 1.0


def pays_for_words(height: int, width: int, words: int, out: int, facts: Machine) -> bool:
    """Whether tiles of 2 by 2 are faster where a lane adds the products of a word of i32, of which a pixel has `words`."""
    sizes = _Sizes(height, width, words, out, "i32")
    return _winograd_cycles(
        sizes, MATRICES[policy().winograd.default_results], facts
    ) * policy().winograd.tiles_margin < _direct_cycles(sizes, facts)


def _estimate(op: ir.Operation, tiles: Sequence[int], shapes: SymbolicShapes | None = None) -> WinogradVerdict:
    """The verdict on a convolution that tiles are possible for; its tile is the best one whether it pays or not."""
    sizes = _sizes_of(op)
    if sizes.is_open:
        return _open_estimate(op, sizes, tiles, _bounds_of_sides(op, shapes))
    return _known_estimate(sizes, tuple(tiles), multiplies_bf16(op), facts_of(op), policy())


@functools.lru_cache(maxsize=256)
def _known_estimate(sizes: _Sizes, tiles: tuple[int, ...], in_bf16: bool, facts: Machine, _chosen: Policy) -> WinogradVerdict:
    """The same where height and width are known: passes ask often, and networks repeat blocks. The policy is part of the key."""
    direct, tiled, tile = _costs(sizes, tiles, in_bf16, facts)
    return WinogradVerdict(tile, "winograd" if _pays(direct, tiled) else "time", direct, tiled)


def _costs(sizes: _Sizes, tiles: Sequence[int], in_bf16: bool, facts: Machine) -> tuple[float, float, int]:
    """Cycles of an image of known sides by taps, of f32 perhaps with products `in_bf16`, and by the best tile, with that."""
    direct = _direct_cycles(sizes, facts) / (_bf16_gain(facts) if sizes.dtype == "f32" and in_bf16 else 1)
    known = BY_STRIDE[sizes.stride]
    least, tile = min((_winograd_cycles(sizes, known[tile], facts), tile) for tile in tiles if tile in known)
    return direct, least / (policy().winograd.strided_caution if sizes.stride > 1 else 1.0), tile


def _pays(direct: float, tiled: float) -> bool:
    """Whether tiles are so much faster that they are taken."""
    return tiled * policy().winograd.tiles_margin < direct


def _small_side(op: ir.Operation, tiles: Sequence[int], shapes: SymbolicShapes | None) -> int:
    """The side up to which square images together gain most by taps; 0 where images up to usual ones gain too little in the mean.

    Costs of tiles go in steps, so that some images between those that gain are better by tiles.
    """
    sizes = _sizes_of(op)
    sides = range(1, min(policy().winograd.usual_sides(sizes.out)))
    if not sizes.is_open or not sides:
        return 0
    in_bf16, facts = multiplies_bf16(op), facts_of(op)
    costs = [_costs(replace(sizes, height=side, width=side), tiles, in_bf16, facts) for side in sides]
    gained = list(itertools.accumulate(math.log(tiled * policy().winograd.tiles_margin / direct) for direct, tiled, _ in costs))
    side = max(sides, key=lambda most: gained[most - 1])
    is_ruled_out = any(bounds.least > side for bounds in _bounds_of_sides(op, shapes))
    pays = gained[side - 1] >= len(sides) * math.log(policy().winograd.version_gain)
    return side if pays and not is_ruled_out else 0


def _bounds_of_sides(op: ir.Operation, shapes: SymbolicShapes | None) -> list[DimBounds]:
    """What is known of height and width of the result."""
    if shapes is None:
        return [UNBOUNDED, UNBOUNDED]
    sides = layout_of(op).spatial_of(shapes.type_of(op.results[0]).shape)
    return [DimBounds.of_size(side) if isinstance(side, int) else shapes.bounds_of(side) for side in sides]


def _open_estimate(op: ir.Operation, sizes: _Sizes, tiles: Sequence[int], sides: Sequence[DimBounds]) -> WinogradVerdict:
    """The same where run time knows height or width: the mean over usual ones within their bounds, in cycles a result."""
    facts, (height, width) = facts_of(op), sides
    usual = [replace(sizes, height=rows, width=columns) for rows, columns in usual_images(sizes.inner, height, width)]
    gain = _bf16_gain(facts) if sizes.dtype == "f32" and multiplies_bf16(op) else 1
    direct = sum(_direct_cycles(each, facts) / max(each.height * each.width, 1) for each in usual) / (gain * len(usual))
    kernels = {tile: _transformed(sizes, MATRICES[tile]) for tile in tiles}
    costs = {tile: open_blocks(MATRICES[tile], kernel, facts, height, width).cycles for tile, kernel in kernels.items()}
    least, tile = min((cost, tile) for tile, cost in costs.items())
    return WinogradVerdict(tile, "winograd" if _pays(direct, least) else "time", direct, least)


def _transformed(sizes: _Sizes, matrices: Matrices) -> TensorType:
    """The type of the transformed kernel."""
    return TensorType((len(matrices.kernels), sizes.out // LANES, sizes.inner, LANES), sizes.dtype)


def _refusal(op: ir.Operation, is_weight: Callable[[ir.Value], bool]) -> str:
    """Why tiles are not possible even with channels last, by name; empty where they are."""
    x, weight, _ = groups_of(op)
    attributes = attributes_of(op)
    kind, kernel, layout = type_of(x), _plain_kernel(op), layout_of(op)
    is_known = stride_of(attributes) in BY_STRIDE and all(step == 1 for step in attributes["dilations"])
    if kind.rank != 4 or not is_known or layout.taps_of(kernel.shape) != (TAPS, TAPS):
        return "window"
    if attributes["groups"] != 1:
        return "groups"
    if kind.dtype not in ("f32", "f64"):
        return "type"
    result = type_of(op.results[0])
    channels = kind.dim(layout.channel), result.dim(layout.channel)
    spatial = (*layout.spatial_of(kind.shape), *layout.spatial_of(result.shape))
    is_open = stride_of(attributes) == 1 and not all(isinstance(dim, int) for dim in spatial)
    dims = channels if is_open else (*channels, *spatial)
    known = kernel.is_static and all(isinstance(dim, int) and dim > 0 for dim in dims)
    if not known or not is_weight(weight) or is_weight(x):
        return "sizes"
    return "channels" if _sizes_of(op).out % LANES else ""


def layout_of(op: ir.Operation) -> Layout:
    """Where a convolution has its axes."""
    return Layout(type_of(op.operands[0]).rank - 2, attributes_of(op)["channels_last"])


def _plain_kernel(op: ir.Operation) -> TensorType:
    """The kernel's type without blocks of output channels."""
    kind = type_of(op.operands[1])
    return unblocked_kernel(kind) if kind.rank == type_of(op.operands[0]).rank + 1 else kind


def _sizes_of(op: ir.Operation) -> _Sizes:
    layout, kernel, result = layout_of(op), _plain_kernel(op), type_of(op.results[0])
    dims = (*layout.spatial_of(result.shape), kernel.dim(layout.kernel_in), kernel.dim(layout.kernel_out))
    height, width, inner, out = (dim if isinstance(dim, int) else 0 for dim in dims)
    return _Sizes(height, width, inner, out, kernel.dtype, stride_of(attributes_of(op)))


def stride_of(attributes: Mapping[str, Any]) -> int:
    """The stride of a convolution with these attributes; 0 where axes differ in it."""
    strides = set(attributes["strides"]) or {1}
    return strides.pop() if len(strides) == 1 else 0


def _direct_cycles(sizes: _Sizes, facts: Machine) -> float:
    """Cycles by taps."""
    size = NUMPY_DTYPES[sizes.dtype].itemsize
    taps = DirectConvolution(sizes.height * sizes.width, TAPS * TAPS * sizes.inner * sizes.out, size)
    return cycles(taps, None, facts)


def _bf16_gain(facts: Machine) -> float:
    """How many times as fast as products of f32 those of bf16 are."""
    return _BF16_PRODUCTS * facts.cycles("fma_f32") / facts.cycles("dot_bf16")


def _winograd_cycles(sizes: _Sizes, matrices: Matrices, facts: Machine) -> float:
    """Cycles by tiles."""
    weight = _transformed(sizes, matrices)
    grid = grid_of(sizes.height, sizes.width, matrices, weight, facts)
    return cycles_of(grid, weight, matrices, facts)
