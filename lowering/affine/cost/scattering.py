"""Cycles of stores whose lanes lie apart; `codegen/scattering.py` emits them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import stride_along
from dlc.lowering.policy import policy


def runs_along(op: ir.Operation, ivs: Iterable[ir.Value]) -> frozenset[int]:
    """The positions of those of `ivs` that move the affine.store `op` to the next element."""
    return frozenset(place for place, iv in enumerate(ivs) if stride_along(op, iv) == 1)


def scatter_cycles(along: frozenset[int], unroll_and_jam: Mapping[int, int], copies: int, lanes: int) -> float:
    """Cycles that `scatter` takes for a tile with `copies` vectors of `lanes`, where `along` (see `runs_along`) step by one."""
    runs = [count for place, count in unroll_and_jam.items() if 1 < count <= lanes and place in along]
    count = max(runs, default=1)
    size = 1 << (count - 1).bit_length()
    shuffles = lanes * (math.log2(size) + 1) + count * lanes / size
    return copies / count * shuffles * policy().cost.scattered_part
