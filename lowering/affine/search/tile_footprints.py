"""The memory that a tile of skewed loops touches, as a function of the tile's sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.cost.time_tile_costs import FootprintDim, Footprints
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.search.skewing import Skewed

_Row = tuple[int, ...]


@dataclass(frozen=True)
class _Axis:
    """A loop of a tile: its factors of a statement's own loops, its shift, and the place of its size among the sizes."""

    row: _Row
    shift: int
    place: int


_Subscript = tuple[tuple[tuple[int, Fraction], ...], Fraction]
"""How far a subscript moves along each place that moves it, and where it starts."""


def footprints(statements: Sequence[Statement], skewed: Skewed, cut: Sequence[int]) -> Footprints | None:
    """What the statements touch in tiles of the skewed loops `cut`, all iterations of other loops.

    Sizes are one for each skewed loop, then one for each loop of the deepest statement. None where a subscript is not affine.
    """
    found: dict[Array, list[list[_Subscript]]] = {}
    for one in statements:
        axes = _axes(one, skewed, cut)
        inverse = _inverse([axis.row for axis in axes])
        for access in one.accesses:
            subscripts = _subscripts(access, axes, inverse)
            if subscripts is None:
                return None
            dims = found.setdefault(access.array, [[] for _ in subscripts])
            for dim, subscript in zip(dims, subscripts, strict=True):
                dim.append(subscript)
    return Footprints({array: tuple(map(_dim, dims, _limits(array))) for array, dims in found.items()})


def _axes(statement: Statement, skewed: Skewed, cut: Sequence[int]) -> list[_Axis]:
    """As many independent loops as the statement has: those that are cut, and its own for the rest."""
    rows, shifts = skewed.rows[statement.name], skewed.shifts[statement.name]
    depth, count = len(statement.loops), len(rows)
    own = [_Axis(tuple(int(dim == at) for dim in range(depth)), 0, count + at) for at in range(depth)]
    axes: list[_Axis] = []
    for axis in [*(_Axis(rows[at], shifts[at], at) for at in cut), *own]:
        if _rank([*(each.row for each in axes), axis.row]) > len(axes):
            axes.append(axis)
    return axes


def _rank(rows: Sequence[Sequence[int]]) -> int:
    left = [[Fraction(value) for value in row] for row in rows]
    rank = 0
    while left:
        row = left.pop()
        lead = next((at for at, value in enumerate(row) if value), None)
        if lead is None:
            continue
        rank += 1
        left = [[value - other[lead] / row[lead] * by for value, by in zip(other, row, strict=True)] for other in left]
    return rank


def _inverse(rows: Sequence[_Row]) -> list[list[Fraction]]:
    """The inverse of a square matrix (Gauss and Jordan)."""
    size = len(rows)
    work = [[*map(Fraction, row), *(Fraction(int(at == other)) for other in range(size))] for at, row in enumerate(rows)]
    for at in range(size):
        pivot = next(other for other in range(at, size) if work[other][at])
        work[at], work[pivot] = work[pivot], work[at]
        work[at] = [value / work[at][at] for value in work[at]]
        for other in range(size):
            if other != at:
                work[other] = [value - work[other][at] * by for value, by in zip(work[other], work[at], strict=True)]
    return [row[size:] for row in work]


def _subscripts(access: MemRefAccess, axes: Sequence[_Axis], inverse: Sequence[Sequence[Fraction]]) -> list[_Subscript] | None:
    """The subscripts of an access in the coordinates of `axes`; None where one is not affine."""
    function = isl.PwMultiAff.from_map(access.relation) if access.relation.is_single_valued() else None
    if function is None or function.n_piece() != 1:
        return None
    found = []
    for dim in range(access.array.rank):
        pieces: list[isl.Aff] = []
        function.get_pw_aff(dim).foreach_piece(lambda _, form, pieces=pieces: pieces.append(form))
        if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div):
            return None
        factors = [_number(pieces[0].get_coefficient_val(isl.dim_type.in_, at)) for at in range(len(axes))]
        used = [(by, row) for by, row in zip(factors, inverse, strict=True) if by]
        moves = [sum((by * row[at] for by, row in used), Fraction(0)) for at in range(len(axes))]
        start = _number(pieces[0].get_constant_val()) - sum(by * axis.shift for by, axis in zip(moves, axes, strict=True))
        found.append((tuple((axis.place, by) for by, axis in zip(moves, axes, strict=True) if by), start))
    return found


def _number(value: isl.Val) -> Fraction:
    text = str(value)
    return Fraction(text) if "/" in text else Fraction(int(text))


def _dim(subscripts: Sequence[_Subscript], limit: float) -> FootprintDim:
    moves = {tuple((place, float(abs(by))) for place, by in one): None for one, _ in subscripts}
    starts = [start for _, start in subscripts]
    return FootprintDim(tuple(moves), float(max(starts) - min(starts)), limit)


def _limits(array: Array) -> list[float]:
    """The sizes of an array's dims, infinite where they are not known."""
    if not isinstance(array.value.type, ir.MemRefType):
        return [math.inf] * array.rank
    kind = ir.MemRefType(array.value.type)
    own = [math.inf if kind.is_dynamic_dim(at) else float(kind.get_dim_size(at)) for at in range(kind.rank)]
    return [math.inf] * (array.rank - len(own)) + own
