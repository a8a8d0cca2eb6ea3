"""What no order makes right: conflicts between iterations of a parallel loop, and elements outside of a memref."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.equivalence.value_graph import MemoryUse, ValueGraph
from dlc.lowering.affine.ir.element_relations import LoopVariable

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_DOACROSS = "dlc.doacross"


@dataclass(frozen=True, eq=False)
class Conflict:
    """Two accesses to one element, one of them a write, in different iterations of `loop`, which may run at the same time."""

    first: MemoryUse
    second: MemoryUse
    loop: LoopVariable
    pairs: isl.Map


@dataclass(frozen=True, eq=False)
class Outside:
    """Accesses to elements that the memref does not have: instances to elements."""

    use: MemoryUse
    elements: isl.Map


def conflicts(graph: ValueGraph) -> Iterator[Conflict]:
    """The conflicts of all `affine.parallel` loops, of loops marked `dlc.parallel`, and of rows marked `dlc.doacross`."""
    for one, other in combinations_with_replacement(_unordered_uses(graph), 2):
        first, second = (one, other) if one.writes else (other, one)
        if first.array is not second.array or not first.writes:
            continue
        for depth, loop in _shared_parallel(first.node.loops, second.node.loops):
            pairs = _pairs(graph, first, second, depth)
            pairs = pairs.subtract(pairs.equate(_IN, depth, _OUT, depth))
            if not pairs.is_empty():
                yield Conflict(first, second, loop, pairs)
        for depth, loop in _shared_rows(first.node.loops, second.node.loops):
            pairs = _pairs(graph, first, second, depth)
            before = pairs.order_lt(_IN, depth, _OUT, depth).order_gt(_IN, depth + 1, _OUT, depth + 1)
            after = pairs.order_gt(_IN, depth, _OUT, depth).order_lt(_IN, depth + 1, _OUT, depth + 1)
            if not before.union(after).is_empty():
                yield Conflict(first, second, loop, before.union(after))


def _pairs(graph: ValueGraph, first: MemoryUse, second: MemoryUse, depth: int) -> isl.Map:
    """The instances of two uses that touch one element, in the same iteration of the outermost `depth` loops."""
    pairs = first.elements.apply_range(second.elements.reverse()).intersect_params(graph.shared.context())
    for dim in range(depth):
        pairs = pairs.equate(_IN, dim, _OUT, dim)
    return pairs


def _unordered_uses(graph: ValueGraph) -> list[MemoryUse]:
    return [use for use in graph.uses if any(is_unordered(loop) or _role(loop) for loop in use.node.loops)]


def _role(loop: LoopVariable) -> str:
    """What a loop is in a nest whose rows may run at once, "" for none."""
    attribute = loop.op.attributes.get(_DOACROSS)
    return attribute.value if isinstance(attribute, ir.StringAttr) else ""


def is_unordered(loop: LoopVariable) -> bool:
    """Whether the iterations of `loop` may run at the same time."""
    return loop.is_parallel or "dlc.parallel" in loop.op.attributes


def _shared_parallel(one: Sequence[LoopVariable], other: Sequence[LoopVariable]) -> Iterator[tuple[int, LoopVariable]]:
    """The loops without order around both, with their depth."""
    for depth, (first, second) in enumerate(zip(one, other, strict=False)):
        if first.op != second.op or first.variable != second.variable:
            return
        if is_unordered(first):
            yield depth, first


def _shared_rows(one: Sequence[LoopVariable], other: Sequence[LoopVariable]) -> Iterator[tuple[int, LoopVariable]]:
    """The loops over rows around both, with their depth, where both are in a loop over columns right inside."""
    for depth, (first, second) in enumerate(zip(one[:-1], other[:-1], strict=False)):
        if first.op != second.op or first.variable != second.variable:
            return
        if (_role(first), _role(one[depth + 1]), _role(other[depth + 1])) == ("rows", "columns", "columns"):
            yield depth, first


def inside(graph: ValueGraph) -> isl.Set:
    """The parameters for which no access of `graph` leaves its memref."""
    context = graph.shared.context()
    for found in outside(graph):
        context = context.subtract(found.elements.params())
    return context.coalesce()


def outside(graph: ValueGraph) -> Iterator[Outside]:
    """The accesses that leave their memref."""
    context = graph.shared.context()
    for use in graph.uses:
        dims = [f"e{at}" for at in range(use.elements.dim(isl.dim_type.out))]
        bounds = [f"0 <= {dim} < {size}" for dim, size in zip(dims[use.array.depth :], use.array.sizes, strict=True)]
        text = f"{{ {use.array.name}[{', '.join(dims)}] : {' and '.join(bounds) or 'true'} }}"
        wrong = use.elements.subtract_range(isl.Set(graph.shared.prefix() + text)).intersect_params(context)
        if not wrong.is_empty():
            yield Outside(use, wrong)
