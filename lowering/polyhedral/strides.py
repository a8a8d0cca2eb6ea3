"""How far accesses move when one loop goes a step further and the others stay."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.polyhedral.model import Access, Scop


def access_strides(scop: Scop, times: isl.UnionMap, dim: int) -> list[tuple[Access, int | None]]:
    """For each access of the instances that `times` schedules, its stride in elements along time dim `dim`.

    None where it is not the same everywhere, leads to another iteration's own memory, or the memref's layout is not known.
    Accesses of statements that do not move with the dim at all are left out.
    """
    found = []
    for statement in scop.statements:
        time = _time_of(times, statement.domain)
        if time is None:
            continue
        moves = _moves(time, dim)
        if moves.is_empty():
            continue
        step = _only_step(moves)
        found += [(access, _stride(access, moves, step)) for access in statement.accesses]
    return found


def _time_of(times: isl.UnionMap, domain: isl.Set) -> isl.Map | None:
    """The schedule of one statement; None where `times` has none of its instances."""
    own = times.intersect_domain(isl.UnionSet.from_set(domain))
    return None if own.is_empty() else isl.Map.from_union_map(own)


def _moves(time: isl.Map, dim: int) -> isl.Map:
    """Instances to those one step further along `dim`."""
    space = time.get_space().range()
    steps = isl.Map.universe(space.map_from_set())
    for at in range(space.dim(isl.dim_type.set)):
        steps = _one_further(steps, at) if at == dim else steps.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
    return time.apply_range(steps).apply_range(time.reverse())


def _one_further(steps: isl.Map, at: int) -> isl.Map:
    space = isl.LocalSpace.from_space(steps.get_space())
    equal = isl.Constraint.equality_alloc(space)
    equal = equal.set_coefficient_val(isl.dim_type.out, at, isl.Val(1)).set_coefficient_val(isl.dim_type.in_, at, isl.Val(-1))
    return steps.add_constraint(equal.set_constant_val(isl.Val(-1)))


def _only_step(moves: isl.Map) -> Sequence[int] | None:
    """By how much each variable changes, where that is always the same."""
    return _only_point(moves.deltas())


def _only_point(points: isl.Set) -> Sequence[int] | None:
    if not points.is_singleton():
        return None
    point = points.sample_point()
    return [int(str(point.get_coordinate_val(isl.dim_type.set, at))) for at in range(points.dim(isl.dim_type.set))]


def _stride(access: Access, moves: isl.Map, step: Sequence[int] | None) -> int | None:
    own, strides = len(access.array.loops), layout(access)
    if strides is None:
        return None
    linear = linear_subscripts(access, access.relation, strides) if step is not None else None
    if linear is not None and step is not None:
        shift = [sum(by * _coefficient(one, at) for at, by in enumerate(step)) for one, _ in linear]
        return None if any(shift[:own]) else sum(by * stride for by, (_, stride) in zip(shift, linear, strict=True))
    found = _only_point(access.relation.reverse().apply_range(moves).apply_range(access.relation).deltas())
    return None if found is None or any(found[:own]) else sum(by * to for by, to in zip(found[own:], strides, strict=True))


def linear_subscripts(access: Access, relation: isl.Map, strides: Sequence[int]) -> list[tuple[isl.Aff, int]] | None:
    """The subscripts that `relation` gives to `access`, each with the memref's stride; None where they are not linear.

    Axes of one piece of memory among which a view divides a position are joined: `p floordiv 28, p mod 28` of rows of 28 are `p`.
    Iterations with memory of their own have no stride. Ten times faster than by relations.
    """
    if not relation.is_single_valued():
        return None
    pieces: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(relation).foreach_piece(lambda _domain, piece: pieces.append(piece))
    if len(pieces) != 1:
        return None
    every = [0] * len(access.array.loops) + list(strides)
    found: list[tuple[isl.Aff, int]] = []
    for at in reversed(range(len(every))):
        found = _joined(pieces[0].get_aff(at), every[at], found)
    return None if any(one.dim(isl.dim_type.div) for one, _ in found) else found


def _joined(subscript: isl.Aff, stride: int, inner: list[tuple[isl.Aff, int]]) -> list[tuple[isl.Aff, int]]:
    """A subscript before those of inner axes; with the first of these as one where both divide, and one does not."""
    are_divided = inner and subscript.dim(isl.dim_type.div) and inner[0][0].dim(isl.dim_type.div)
    if not are_divided or not stride or stride % inner[0][1]:
        return [(subscript, stride), *inner]
    both = subscript.scale_val(isl.Val(stride // inner[0][1])).add(inner[0][0])
    return [(subscript, stride), *inner] if both.dim(isl.dim_type.div) else [(both, inner[0][1]), *inner[1:]]


def _coefficient(subscript: isl.Aff, at: int) -> int:
    return int(str(subscript.get_coefficient_val(isl.dim_type.in_, at)))


def layout(access: Access) -> Sequence[int] | None:
    """The strides of the memref that `access` goes to, in elements; None where they are not numbers."""
    if not isinstance(access.array.value.type, ir.MemRefType):
        return []
    strides, _ = ir.MemRefType(access.array.value.type).get_strides_and_offset()
    return None if ir.ShapedType.get_dynamic_stride_or_offset() in strides else list(strides)
