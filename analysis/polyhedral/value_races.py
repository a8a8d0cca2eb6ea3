"""What no order makes right: conflicts between iterations of a parallel loop, and elements outside of a memref."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import islpy as isl

from dlc.analysis.polyhedral.model import Loop
from dlc.analysis.polyhedral.value_graph import Graph, MemoryUse


@dataclass(frozen=True, eq=False)
class Conflict:
    """Two accesses to one element, one of them a write, in different iterations of `loop`, which has no order."""

    first: MemoryUse
    second: MemoryUse
    loop: Loop
    pairs: isl.Map


@dataclass(frozen=True, eq=False)
class Outside:
    """Accesses to elements that the memref does not have: instances to elements."""

    use: MemoryUse
    elements: isl.Map


def conflicts(graph: Graph) -> Iterator[Conflict]:
    """The conflicts of all `affine.parallel` loops, and of loops that are marked `dlc.parallel`."""
    context = graph.shared.context()
    for one, other in combinations_with_replacement(_unordered_uses(graph), 2):
        first, second = (one, other) if one.writes else (other, one)
        if first.array is not second.array or not first.writes:
            continue
        for depth, loop in _shared_parallel(first.node.loops, second.node.loops):
            pairs = first.elements.apply_range(second.elements.reverse()).intersect_params(context)
            for dim in range(depth):
                pairs = pairs.equate(isl.dim_type.in_, dim, isl.dim_type.out, dim)
            pairs = pairs.subtract(pairs.equate(isl.dim_type.in_, depth, isl.dim_type.out, depth))
            if not pairs.is_empty():
                yield Conflict(first, second, loop, pairs)


def _unordered_uses(graph: Graph) -> list[MemoryUse]:
    return [use for use in graph.uses if any(is_unordered(loop) for loop in use.node.loops)]


def is_unordered(loop: Loop) -> bool:
    """Whether the iterations of `loop` may run at the same time."""
    return loop.is_parallel or "dlc.parallel" in loop.op.attributes


def _shared_parallel(one: Sequence[Loop], other: Sequence[Loop]) -> Iterator[tuple[int, Loop]]:
    """The loops without order around both, with their depth."""
    for depth, (first, second) in enumerate(zip(one, other, strict=False)):
        if first.op != second.op or first.variable != second.variable:
            return
        if is_unordered(first):
            yield depth, first


def inside(graph: Graph) -> isl.Set:
    """The parameters for which no access of `graph` leaves its memref."""
    context = graph.shared.context()
    for found in outside(graph):
        context = context.subtract(found.elements.params())
    return context.coalesce()


def outside(graph: Graph) -> Iterator[Outside]:
    """The accesses that leave their memref."""
    context = graph.shared.context()
    for use in graph.uses:
        dims = [f"e{at}" for at in range(use.elements.dim(isl.dim_type.out))]
        bounds = [f"0 <= {dim} < {size}" for dim, size in zip(dims[use.array.depth :], use.array.sizes, strict=True)]
        text = f"{{ {use.array.name}[{', '.join(dims)}] : {' and '.join(bounds) or 'true'} }}"
        wrong = use.elements.subtract_range(isl.Set(graph.shared.prefix() + text)).intersect_params(context)
        if not wrong.is_empty():
            yield Outside(use, wrong)
