"""Copies to panels in shared memory by all threads of a block: neighbours in a warp copy neighbours of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import islpy as isl

from dlc.lowering.affine.polyhedral.loop_values import place_in_tile, tile_number
from dlc.lowering.affine.schedule.loop_tree import LoopNode, Tree, around, block
from dlc.lowering.affine_to_gpu.grid import GpuMapping, name_of
from dlc.lowering.affine_to_gpu.panel_axes import PanelAxes
from dlc.lowering.affine_to_gpu.thread_tiles import nested


@dataclass(frozen=True, eq=False)
class CopyByThreads:
    """The loops over threads, `down` along y around `across` along x, and what each thread copies."""

    down: LoopNode
    across: LoopNode
    mine: Tree

    @classmethod
    def of(cls, start: LoopNode, axes: PanelAxes, shape: Sequence[int], kernel: str, threads: Sequence[int]) -> CopyByThreads:
        """The copy that begins with the loop `start`, to a panel of that shape, by the `threads` of a block, x first."""
        chain: list[LoopNode] = []
        node: Tree = start
        while isinstance(node, LoopNode):
            chain.append(replace(node, name=""))
            node = node.body
        chain = axes.loops(chain)
        width, height = threads[0], prod(threads[1:2])
        joined, down = _dims_along(shape, width, height)
        columns = _place(chain, shape, joined)
        lines = tile_number(columns, width)
        rows = lines if down is None else chain[down].values
        parts = [tile_number(rows, height), *([] if down is None else [lines])]
        others = [loop for dim, loop in enumerate(chain) if dim != down and dim not in joined]
        mine = nested([*others, *(replace(chain[0], values=values) for values in parts)], node)
        across = around(place_in_tile(columns, width), mine, name_of(kernel, GpuMapping("thread", 0)), "parallel")
        outer = around(place_in_tile(rows, height), across, name_of(kernel, GpuMapping("thread", 1)), "parallel")
        assert isinstance(outer, LoopNode) and isinstance(across, LoopNode)
        return cls(outer, across, mine)


def joined_copies(parts: Sequence[CopyByThreads]) -> Tree:
    """Copies under the same loops over threads: one phase of the block."""
    inner = block([part.mine for part in parts])
    for loops in ([part.across for part in parts], [part.down for part in parts]):
        values = reduce(lambda one, other: one.union_add(other), [loop.values for loop in loops])
        inner = LoopNode(inner.domain, values, inner, loops[0].name, "parallel")
    return inner


def _dims_along(shape: Sequence[int], width: int, height: int) -> tuple[Sequence[int], int | None]:
    """The dims of a panel that lie joined along x, and the one along y, so that threads do the fewest steps.

    None where all lie along x: what is left of them goes along y. Joined dims are the last ones, as few as may be and two at most:
    each one more makes subscripts quotients of quotients.
    """
    dims = [dim for dim, extent in enumerate(shape) if extent > 1] or [len(shape) - 1]
    found: list[tuple[int, int, int | None]] = []
    for first in reversed(range(len(dims))[-2:]):
        lines = -(-prod(shape[dim] for dim in dims[first:]) // width)
        down = max(reversed(dims[:first]), key=lambda dim: shape[dim], default=None)
        rest = prod(shape[dim] for dim in dims[:first] if dim != down)
        steps = -(-lines // height) if down is None else -(-shape[down] // height) * lines * rest
        found.append((steps, first, down))
    _, first, down = min(found, key=lambda one: one[0])
    return dims[first:], down


def _place(chain: Sequence[LoopNode], shape: Sequence[int], dims: Sequence[int]) -> isl.UnionPwAff:
    """The number of an element in the `dims` of a panel: an interval of so many subscripts has each place in a row once."""
    values, count = chain[dims[-1]].values, shape[dims[-1]]
    for dim in reversed(dims[:-1]):
        outer = place_in_tile(chain[dim].values, shape[dim]).scale_val(isl.Val(count))
        values, count = place_in_tile(values, count).add(outer), count * shape[dim]
    return values
