"""Arrays that blocks of rows fill and use up themselves: each block has a buffer of its own in their place.

    parallel for block { for i in block { A[i, ..] = .. }  for i in block { B[i, ..] = .. A[i, ..] .. } }    A is written anew later

Nobody else reads what these loops leave in A. So the whole array is not needed: a buffer of one block, `A[i mod rows of a block,
..]`, is enough, and stays in a cache. (Elements share places modulo a size: Lefebvre and Feautrier, Parallel Computing 1998.)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.dependences.last_writers import live_in_reads
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT, MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.model import Scop
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, with_statements


@dataclass(frozen=True, eq=False)
class RowBuffer:
    """A buffer in place of `array` in the statements called `names`; `places` takes elements to places in it."""

    buffer: Buffer
    array: Array
    names: tuple[str, ...]
    places: isl.Map


def row_buffers(
    scop: Scop, names: Sequence[str], rows: isl.UnionPwAff, size: int, dependences: Sequence[Dependence]
) -> list[RowBuffer]:
    """The arrays that the statements called `names` alone use between two writes, with buffers for `size` of their `rows`.

    `dependences` are the value-based ones of `scop`.
    """
    inside = tuple(names)
    arrays = dict.fromkeys(one.array for name in inside for one in scop.by_name[name].accesses if one.writes)
    found = []
    for array in arrays:
        dim = _row_subscript(scop, array, inside, rows)
        if dim is not None and _is_used_up(scop, array, inside, dependences):
            found.append(_buffer(array, inside, dim, size))
    return found


def with_row_buffers(scop: Scop, buffers: Sequence[RowBuffer]) -> Scop:
    """The scop whose statements use the buffers."""
    for one in buffers:
        statements = [scop.by_name[name] for name in one.names]
        moved = [replace(each, accesses=tuple(_moved(access, one) for access in each.accesses)) for each in statements]
        scop = with_statements(scop, moved, one.buffer)
    return scop


def _moved(access: MemRefAccess, to: RowBuffer) -> MemRefAccess:
    if access.array is not to.array:
        return access
    return access.redirected(to.buffer, access.relation.apply_range(to.places))


def _accesses(scop: Scop, array: Array) -> list[MemRefAccess]:
    return [access for one in scop.statements for access in one.accesses if access.array is array]


def _row_subscript(scop: Scop, array: Array, inside: Collection[str], rows: isl.UnionPwAff) -> int | None:
    """Which subscript of `array`, whose ops can be redirected, is the row of the instances that touch it; None for no such."""
    own = [one for one in _accesses(scop, array) if one.statement_name in inside]
    is_memory = array.is_memory and not array.loops and not isinstance(array, Buffer)
    if (
        not is_memory
        or not ir.MemRefType(array.value.type).has_static_shape
        or any(one.op.name not in SUBSCRIPTS_AT for one in own)
    ):
        return None
    relation = reduce(isl.UnionMap.union, [isl.UnionMap.from_map(one.relation) for one in own])
    row_of = relation.reverse().apply_range(isl.UnionMap.from_union_pw_aff(rows))
    elements = own[0].relation.range().get_space()
    for dim in range(array.rank):
        subscript = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(elements), isl.dim_type.set, dim))
        if row_of.is_subset(isl.UnionMap.from_map(isl.Map.from_pw_aff(subscript))):
            return dim
    return None


def _is_used_up(scop: Scop, array: Array, inside: Collection[str], dependences: Sequence[Dependence]) -> bool:
    """Whether the statements `inside` read of `array` what they have written, and nobody else reads that."""
    flows = [one for one in dependences if one.kind == "flow" and one.source.array is array]
    if not any(one.sink.statement_name in inside for one in flows):
        return False
    if any((one.source.statement_name in inside) != (one.sink.statement_name in inside) for one in flows):
        return False
    if any(one.access.array is array and one.access.statement_name in inside for one in live_in_reads(scop)):
        return False
    return array.is_local or _is_written_again(scop, array, inside)


def _is_written_again(scop: Scop, array: Array, inside: Collection[str]) -> bool:
    """Whether statements after those `inside` write all elements of `array` that these write."""
    last = max(scop.by_name[name].beta[0] for name in inside)
    writes = [one for one in _accesses(scop, array) if one.writes]
    own = [one.relation.range() for one in writes if one.statement_name in inside]
    after = [one.relation.range() for one in writes if scop.by_name[one.statement_name].beta[0] > last]
    return bool(after) and bool(reduce(isl.Set.union, own).is_subset(reduce(isl.Set.union, after)))


def _buffer(array: Array, inside: tuple[str, ...], dim: int, size: int) -> RowBuffer:
    shape = list(ir.MemRefType(array.value.type).shape)
    shape[dim] = size
    name = f"rows_{array.name}_{inside[0]}"  # other blocks may have a buffer for the same array
    subscripts = [f"e{at}" for at in range(array.rank)]
    places = [f"{one} mod {size}" if at == dim else one for at, one in enumerate(subscripts)]
    mapping = isl.Map(f"{{ {array.name}[{', '.join(subscripts)}] -> {name}[{', '.join(places)}] }}")
    return RowBuffer(Buffer(name, array.value, array.rank, is_local=True, shape=tuple(shape)), array, inside, mapping)
