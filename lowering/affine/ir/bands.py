"""Bands of loops that are about to be fused: what they are, how they are rebuilt in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import affine, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.accesses import MemRefAccess, accesses_in
from dlc.lowering.affine.ir.loops import Bound, Loop, build_for, normalized, real_ops
from dlc.lowering.policy import policy


@dataclass(frozen=True)
class Band:
    """The parallel loops that nest perfectly from `top` on, outermost first; any order of them gives the same result."""

    loops: tuple[Loop, ...]

    @staticmethod
    def at(op: ir.Operation) -> Band | None:
        """The band that starts at `op`; None when `op` is no parallel loop from 0 by 1."""
        loops: list[Loop] = []
        ivs: set[ir.Value] = set()
        current: ir.Operation | None = op
        while current is not None:
            loop = normalized(current)
            if loop is None or not loop.parallel or loop.inits or any(value in ivs for value in loop.upper.operands):
                break
            loops.append(loop)
            ivs.add(loop.iv)
            inside = real_ops(loop.body)
            current = inside[0] if len(inside) == 1 else None
        return Band(tuple(loops)) if loops else None

    @property
    def top(self) -> ir.Operation:
        """The outermost loop."""
        return self.loops[0].op

    @property
    def body(self) -> ir.Block:
        """The innermost body."""
        return self.loops[-1].body

    @cached_property
    def accesses(self) -> list[MemRefAccess]:
        """Every access of the nest."""
        return list(accesses_in(self.top))

    @cached_property
    def extents(self) -> dict[ir.Value, int]:
        """The known extents of all loops of the nest, by induction variable."""
        return loop_extents(self.top)

    @cached_property
    def likely_extents(self) -> dict[ir.Value, int]:
        """The same, with typical ones where they are not known."""
        loops = (op for op in nested_ops(self.top) if op.name == "affine.for")
        return {op.regions[0].blocks[0].arguments[0]: extent_of(op) for op in loops}

    @cached_property
    def iterations(self) -> int:
        """An estimate of how often the innermost body of the nest runs, its own loops included."""
        return iterations_of(self.top)


def same_trips(a: Loop, b: Loop) -> bool:
    """Whether both loops have the same number of iterations."""
    if a.extent is not None or b.extent is not None:
        return a.extent == b.extent
    return bool(a.upper.map == b.upper.map) and a.upper.operands == b.upper.operands


def iterations_of(op: ir.Operation) -> int:
    """An estimate of the runs of the most often run block in `op`."""
    inside = [iterations_of(inner) for region in op.regions for block in region.blocks for inner in real_ops(block)]
    most = max(inside, default=1)
    return most * extent_of(op) if op.name == "affine.for" else most


def extent_of(op: ir.Operation) -> int:
    """The iterations of a loop, or a typical number where they are not known."""
    loop = normalized(op)
    return policy().cost.assumed_trips if loop is None else loop.likely_extent


def build_band(loops: Sequence[Loop], at: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """New parallel loops like `loops` before `at`; returns the outermost one and the terminator of the innermost.

    The new induction variables take the place of the old ones.
    """
    outer: ir.Operation | None = None
    for loop in loops:
        with ir.InsertionPoint(at), loop.op.location:
            made = build_for(Bound.constant(0), loop.upper, parallel=True)
            with ir.InsertionPoint(made.regions[0].blocks[0]):
                at = affine.AffineYieldOp([]).operation
        loop.iv.replace_all_uses_with(made.regions[0].blocks[0].arguments[0])
        outer = outer or made
    assert outer is not None
    return outer, at


def move_body(source: ir.Block, before: ir.Operation) -> None:
    """Move the ops of `source`, but its terminator, in front of `before`."""
    for op in real_ops(source):
        op.move_before(before)


def loop_extents(*tops: ir.Operation) -> dict[ir.Value, int]:
    """The known extents of the loops in `tops`, by induction variable."""
    found: dict[ir.Value, int] = {}
    for top in tops:
        for op in nested_ops(top):
            loop = normalized(op) if op.name == "affine.for" else None
            if loop is not None and loop.extent is not None:
                found[loop.iv] = loop.extent
    return found
