"""A loop nest as the tiling passes see it: a band of parallel loops, and the body they repeat."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.index_maps import MOST_ADDRESSED
from dlc.lowering.affine.ir.lanes import NoLanesError, analyse_lanes
from dlc.lowering.affine.ir.loops import AS_WRITTEN, PARALLEL, SCHEDULE, SEARCH, Loop, normalized, real_ops, top_level_loops
from dlc.lowering.affine.ir.reductions import ReductionNest, chain_of
from dlc.lowering.affine.ir.tile import Tile
from dlc.lowering.pass_base import PassFailure


@dataclass(frozen=True)
class Nest:
    """Perfectly nested parallel loops, outermost first, around `body`; inner loops of the body are sequential.

    A reduction loop that stands between other ops is a nest without a band: `reduction` is all of its body. `is_part` says
    whether the nest is one of several in a loop, which pass values to each other.
    """

    band: tuple[Loop, ...]
    reduction: ir.Operation | None = None
    is_part: bool = False

    @property
    def top(self) -> ir.Operation:
        """The outermost loop."""
        return self.reduction or self.band[0].op

    @property
    def body(self) -> Sequence[ir.Operation]:
        """The ops that the band repeats."""
        return [self.reduction] if self.reduction else real_ops(self.band[-1].body)

    @cached_property
    def inner_loops(self) -> list[ir.Operation]:
        """Every loop in the body, outermost first."""
        return [op for op in self.ops if op.name == "affine.for"]

    @cached_property
    def ops(self) -> list[ir.Operation]:
        """Every op in the body, at any depth."""
        return [inner for op in self.body for inner in nested_ops(op)]

    @cached_property
    def chain(self) -> ReductionNest | None:
        """The reduction chain that holds every inner loop, None when there is none or it cannot be split."""
        tops = [op for op in self.body if op.name == "affine.for"]
        chain = chain_of(tops[0]) if len(tops) == 1 else None
        return chain if chain and [loop.op for loop in chain.loops] == self.inner_loops else None

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops by the positions that a tile names them by: the band, then the reduction loops."""
        return (*self.band, *(self.chain.loops if self.chain else ()))

    def lane_loop(self, tile: Tile) -> Loop:
        """The loop whose iterations are the lanes of `tile`."""
        return self.loops[tile.lane_loop]

    def reduces(self, tile: Tile) -> bool:
        """Whether the lanes of `tile` run along a reduction loop; else along one of the band."""
        return tile.lane_loop >= len(self.band)

    def unroll_and_jam(self, tile: Tile) -> tuple[tuple[Loop, int], ...]:
        """The loops that are unrolled into `tile`, and how many copies of each."""
        return tuple((self.loops[place], count) for place, count in tile.unroll_and_jam)

    def steps(self, tile: Tile) -> dict[Loop, int]:
        """How many iterations a step of each loop that `tile` cuts takes."""
        return {self.lane_loop(tile): tile.width, **dict(self.unroll_and_jam(tile))}

    def order(self, tile: Tile) -> list[Loop]:
        """The band from the outside in, as `tile` says."""
        return [self.band[place] for place in tile.order] or list(self.band)

    @property
    def innermost_loads(self) -> list[ir.Operation]:
        """The affine loads of the block that runs most often."""
        return [op for op in real_ops(self.innermost_body) if op.name == "affine.load"]

    @property
    def innermost_body(self) -> ir.Block:
        """The block that runs most often."""
        return self.inner_loops[-1].regions[0].blocks[0] if self.inner_loops else self.band[-1].body


def nests_of(function: ir.Operation) -> list[Nest]:
    """The scalar nests of `function`: parallel ones, and reductions that can be split.

    A parallel loop around several loops, or around parallel ones, counts as one nest only where its own iterations can
    be lanes of contiguous memory; else each loop inside it is a nest. Of loops that a user has scheduled, those that are marked
    for code generators count alone. `PassFailure` at an argument that no memory holds.
    """
    for block in function.regions[0].blocks:
        for argument in block.arguments:
            _require_addressable(argument)
    return [
        nest for op in top_level_loops(function) for nest in (_nests_chosen(op) if AS_WRITTEN in op.attributes else _nests_at(op))
    ]


def _nests_chosen(op: ir.Operation) -> Iterator[Nest]:
    """The nests in the loop `op`, which a user has scheduled, that are left to code generators."""
    marked = [inner for inner in nested_ops(op) if SCHEDULE in inner.attributes or SEARCH in inner.attributes]
    for inner in [inner for inner in marked if inner.name == "affine.for"]:
        nest = _nest_at(inner, is_part=inner != op)
        yield from _scalar([] if nest is None else [nest])


def _require_addressable(value: ir.Value) -> None:
    kind = value.type
    if isinstance(kind, ir.MemRefType) and math.prod(size for size in kind.shape if size > 0) > MOST_ADDRESSED:
        raise PassFailure(value.location, f"{kind} is larger than any memory", f"give it at most {MOST_ADDRESSED} elements")


def _nests_at(op: ir.Operation, is_part: bool = False) -> Iterator[Nest]:
    nest = _nest_at(op, is_part)
    if nest is None:
        if len(op.results) and chain_of(op) is not None:
            yield from _scalar([Nest((), op, is_part)])
        elif PARALLEL in op.attributes:
            yield from _nests_inside(op)
        return
    inner = [each for each in nest.body if each.name == "affine.for"]
    if (len(inner) < 2 and not any(PARALLEL in each.attributes for each in inner)) or _has_contiguous_lanes(nest):
        yield from _scalar([nest])
        return
    yield from (found for each in inner for found in _nests_at(each, is_part=True))


def _nests_inside(op: ir.Operation) -> Iterator[Nest]:
    """The nests in the body of a loop that is none itself, because loops inside it end where its index says."""
    for each in real_ops(op.regions[0].blocks[0]):
        if each.name == "affine.for":
            yield from _nests_at(each, is_part=True)


def _scalar(nests: Sequence[Nest]) -> Iterator[Nest]:
    return (nest for nest in nests if not _is_transformed(nest))


def _has_contiguous_lanes(nest: Nest) -> bool:
    """Whether some loop of the band moves every access by one element, or not at all."""
    return any(_moves_by_one(nest, loop) for loop in nest.band)


def _moves_by_one(nest: Nest, loop: Loop) -> bool:
    try:
        return set(analyse_lanes(nest.body, loop.iv).strides.values()) <= {0, 1}
    except NoLanesError:
        return False


def _nest_at(op: ir.Operation, is_part: bool) -> Nest | None:
    band: list[Loop] = []
    ivs: set[ir.Value] = set()
    for loop in _perfect_loops(op):
        if not loop.parallel or loop.inits or any(operand in ivs for operand in loop.upper.operands):
            break
        band.append(loop)
        ivs.add(loop.iv)
    if not band:
        return None
    nest = Nest(tuple(band), is_part=is_part)
    return None if any(_bounds_use(inner, ivs) for inner in nest.inner_loops) else nest


def _perfect_loops(op: ir.Operation) -> Iterator[Loop]:
    current: ir.Operation | None = op
    while current is not None:
        loop = normalized(current)
        if loop is None:
            return
        yield loop
        inside = real_ops(loop.body)
        current = inside[0] if len(inside) == 1 else None


def _bounds_use(loop: ir.Operation, ivs: set[ir.Value]) -> bool:
    lower, upper, _ = loop.attributes["operandSegmentSizes"]
    return any(operand in ivs for operand in list(loop.operands)[: lower + upper])


def _is_transformed(nest: Nest) -> bool:
    """Whether a pass already made vectors or other structure of the nest."""
    values = [value for op in nest.ops for value in (*op.operands, *op.results)]
    return any(isinstance(value.type, ir.VectorType) for value in values)
