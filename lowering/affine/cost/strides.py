"""How far accesses move when one loop goes a step further and the others stay."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import strides_of
from dlc.lowering.affine.cost.successor_pairs import StatementSchedule, SuccessorPairs, only_point
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.model import Scop


def access_strides(
    scop: Scop, times: Sequence[isl.UnionPwAff], domain: isl.UnionSet, dims: Sequence[int], dynamic: int | None = None
) -> list[list[tuple[MemRefAccess, int | None]]]:
    """For each of the loops number `dims`, for each access of the instances in `domain`, its stride in elements along that loop.

    `times` are the variables of all loops, from the outside in. None where a stride is not the same everywhere, leads to another
    iteration's own memory, or the memref's layout is not known; a number `dynamic` stands for strides that are known when the
    function is called. Accesses of statements that have no two iterations of the loop are left out.
    """
    found: list[list[tuple[MemRefAccess, int | None]]] = [[] for _ in dims]
    for statement in scop.statements:
        own = domain.extract_set(statement.domain.get_space()).intersect(statement.domain)
        if own.is_empty():
            continue
        space = own.get_space().from_domain().add_dims(isl.dim_type.out, 1)
        time = StatementSchedule(own, [one.extract_pw_aff(space) for one in times])
        for strides, dim in zip(found, dims, strict=True):
            moves = time.along(dim)
            if moves is not None:
                strides += [(access, _stride(access, moves, dynamic)) for access in statement.accesses]
    return found


def _stride(access: MemRefAccess, moves: SuccessorPairs, dynamic: int | None) -> int | None:
    own, strides = len(access.array.loops), layout(access, dynamic)
    if strides is None:
        return None
    linear = _factors(access, strides) if moves.step is not None else None
    if linear is not None and moves.step is not None:
        shift = [sum(by * factor for by, factor in zip(moves.step, row, strict=True)) for row, _ in linear]
        return None if any(shift[:own]) else sum(by * stride for by, (_, stride) in zip(shift, linear, strict=True))
    found = only_point(access.relation.reverse().apply_range(moves.pairs).apply_range(access.relation).deltas())
    return None if found is None or any(found[:own]) else sum(by * to for by, to in zip(found[own:], strides, strict=True))


_Factors = list[tuple[list[int], int]]

_FACTORS: WeakKeyDictionary[MemRefAccess, _Factors | None] = WeakKeyDictionary()
"""What is known of accesses so far: each schedule that is weighed asks for it."""


def _factors(access: MemRefAccess, strides: Sequence[int]) -> _Factors | None:
    """The factors of the variables in each of the linear subscripts, and its stride; None where these are not linear."""
    if access not in _FACTORS:
        count = access.relation.dim(isl.dim_type.in_)
        linear = linear_subscripts(access, access.relation, strides)
        _FACTORS[access] = linear and [([_coefficient(one, at) for at in range(count)], stride) for one, stride in linear]
    return _FACTORS[access]


def linear_subscripts(access: MemRefAccess, relation: isl.Map, strides: Sequence[int]) -> list[tuple[isl.Aff, int]] | None:
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


def layout(access: MemRefAccess, dynamic: int | None = None) -> Sequence[int] | None:
    """The strides of the memref that `access` goes to, in elements, `dynamic` for those that are not numbers; else None for all."""
    if not isinstance(access.array.value.type, ir.MemRefType):
        return []
    strides, _ = strides_of(ir.MemRefType(access.array.value.type))
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic is None:
        return None if unknown in strides else list(strides)
    return [dynamic if stride == unknown else stride for stride in strides]
