"""Which kernel computes an attention, and with which tile."""

from __future__ import annotations

from collections.abc import Iterator

from dlc.lowering.affine.search.candidates import Candidate, search
from dlc.lowering.affine_to_gpu.tensor_cores.attention_fma_kernels import FmaAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_fma_tiles import FmaAttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.attention_kernels import AttentionKernel
from dlc.lowering.affine_to_gpu.tensor_cores.attention_mma_kernels import MmaAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_mma_tiles import MmaAttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.attention_nests import AttentionNest, NotFused
from dlc.lowering.affine_to_gpu.tensor_cores.attention_rounded_kernels import (
    RoundedAttention,
    RoundedAttentionTiles,
    rounded_shapes,
)
from dlc.lowering.affine_to_gpu.tensor_cores.attention_split_kernels import SplitAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_split_tiles import SplitAttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.attention_tiles import AttentionTile, AttentionTiles, separate_cycles
from dlc.lowering.affine_to_gpu.tensor_cores.attention_warpgroup_kernels import WarpgroupAttention
from dlc.lowering.affine_to_gpu.tensor_cores.attention_warpgroup_tiles import WarpgroupAttentionTiles
from dlc.lowering.affine_to_gpu.tensor_cores.mma_shapes import shapes_for
from dlc.lowering.policy import policy
from dlc.targets.machine import GpuMachine

_Choice = tuple[type[AttentionKernel], AttentionTiles, AttentionTile]


def best_attention(attention: AttentionNest, facts: GpuMachine, precision: str) -> _Choice:
    """The kernel and the cheapest tile, where operands of f32 may be rounded to `precision`.

    Raises NotFused where none fits, or kernels for each step are as fast."""
    kinds = list(_kinds(attention, facts, precision))
    if not kinds:
        raise NotFused(f"{facts.chip} has no mma.sync of {attention.element}, or no cp.async")
    best = search([lambda: _candidates(kinds)], lambda found: found)
    if best is None:
        sizes = f"{attention.scores.sums.extent} and {attention.values.columns.extent}"
        raise NotFused(f"no tile for heads of {sizes} elements fits registers and shared memory, by copies of 4 bytes or more")
    if best.cycles > policy().gpu.mma_gain * separate_cycles(attention, facts):
        raise NotFused("kernels of each step are estimated to be as fast")
    return best.schedule


def _kinds(attention: AttentionNest, facts: GpuMachine, precision: str) -> Iterator[tuple[type[AttentionKernel], AttentionTiles]]:
    """The kernels that multiply elements of the attention's type."""
    split = SplitAttentionTiles(attention, facts)
    if any(split.fitting()):
        yield SplitAttention, split
    if str(attention.element) == "f32":
        yield from _exact_kinds(attention, facts)
        for shape in rounded_shapes(attention, facts) if precision == "bf16" else ():
            yield RoundedAttention, RoundedAttentionTiles(attention, facts, shape)
        return
    for shape in shapes_for(attention.scores, facts, tf32=False):
        if shape.of_warpgroup:
            yield WarpgroupAttention, WarpgroupAttentionTiles(attention, facts, shape)
        else:
            yield MmaAttention, MmaAttentionTiles(attention, facts, shape)


def _exact_kinds(attention: AttentionNest, facts: GpuMachine) -> Iterator[tuple[type[AttentionKernel], AttentionTiles]]:
    """The kernels that multiply f32 as it is."""
    if facts.has_async_copies:
        yield FmaAttention, FmaAttentionTiles(attention, facts)


def _candidates(kinds: list[tuple[type[AttentionKernel], AttentionTiles]]) -> Iterator[Candidate[_Choice]]:
    for kernel, tiles in kinds:
        yield from (Candidate((kernel, tiles, tile), tiles.cycles(tile)) for tile in tiles.fitting())
