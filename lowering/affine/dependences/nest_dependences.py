"""Dependences between accesses of affine loops: which may touch one element, and in which iterations.

Whoever fuses nests, moves one over another or keeps an element in a register asks here. Linear subscripts within known bounds most
often tell at once, one dimension at a time: that is the fast path, and what it says is exact. Where it says nothing, isl decides,
over all dimensions and over integers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import overlaps_itself, root_of
from dlc.lowering.affine.ir.accesses import MemRefAccess, are_apart
from dlc.lowering.affine.ir.bands import loop_extents, same_trips
from dlc.lowering.affine.ir.bounds import LoopBounds, least_over
from dlc.lowering.affine.ir.expressions import Linear, span
from dlc.lowering.affine.ir.loops import Loop

AccessPair = tuple[MemRefAccess, MemRefAccess]
"""An access of the nest that runs first, and one of the nest that runs later."""


@dataclass(frozen=True, eq=False)
class NestDependences:
    """What two neighbouring nests may do to the same memory.

    `pairs` may touch one element while one of them writes it; `extents` are the known ones of the loops in both.
    """

    pairs: Sequence[AccessPair]
    extents: Mapping[ir.Value, int]

    @classmethod
    def of(
        cls, first: ir.Operation, own: Sequence[MemRefAccess], second: ir.Operation, other: Sequence[MemRefAccess]
    ) -> NestDependences:
        """Those of two loops whose accesses are known."""
        return cls(list(conflicts(own, other)), loop_extents(first, second))

    def allow_fusion(self, t: Loop, u: Loop, common: Mapping[ir.Value, ir.Value] | None = None) -> bool:
        """Whether each pair stays within an iteration where loop `t` of the first nest and `u` of the second are one.

        `common` names the loops of the second nest that are one with loops of the first already.
        """
        return all(self.is_loop_independent(pair, t, u, common or {}) for pair in self.pairs)

    def fusible_loops(self, first: Iterable[Loop], second: Sequence[Loop]) -> list[tuple[Loop, Loop]]:
        """Loops of the first nest, in their order, each with the loop of the second that it may be one with."""
        found: list[tuple[Loop, Loop]] = []
        common: dict[ir.Value, ir.Value] = {}
        for t in first:
            u = next((u for u in second if u.iv not in common and same_trips(t, u) and self.allow_fusion(t, u, common)), None)
            if u is not None:
                found.append((t, u))
                common[u.iv] = t.iv
        return found

    def is_loop_independent(self, pair: AccessPair, t: Loop, u: Loop, common: Mapping[ir.Value, ir.Value]) -> bool:
        """Whether the two touch the same element in the same iteration of `t` and `u` only."""
        forms = [(form, other.renamed(common)) for form, other in _comparable_forms(*pair)]
        if any(self._is_apart(form, other, t.iv, u.iv) for form, other in forms):
            return True
        if not forms or _meet(forms, t, u):
            return False
        return _have_no_solution(forms, t.iv, u.iv, self.extents)

    def _is_apart(self, form: Linear, other: Linear, t: ir.Value, u: ir.Value) -> bool:
        """Whether both grow by one step in both loops, and all else in them spans less than that."""
        step = form.of(t)
        if step == 0 or other.of(u) != step:
            return False
        reach = span(form.without(t).plus(other.without(u), -1), self.extents.get)
        return reach is not None and max(abs(reach[0]), abs(reach[1])) < abs(step)


def _meet(forms: Sequence[tuple[Linear, Linear]], t: Loop, u: Loop) -> bool:
    """Whether the first iteration of one loop touches what the second of the other does: then no bound tells them apart."""
    if t.extent is not None and t.extent < 2:
        return False
    starts = [(form.constant - other.constant, form.of(t.iv), other.of(u.iv)) for form, other in forms]
    return all(gap == later for gap, _, later in starts) or all(gap + step == 0 for gap, step, _ in starts)


def _comparable_forms(x: MemRefAccess, y: MemRefAccess) -> Iterator[tuple[Linear, Linear]]:
    """Forms that are equal wherever `x` and `y` touch the same element."""
    if x.flat is not None and y.flat is not None and x.root == y.root:
        yield x.flat, y.flat
    if x.memref == y.memref and x.subscripts is not None and y.subscripts is not None:
        for form, other in zip(x.subscripts, y.subscripts, strict=True):
            if form is not None and other is not None:
                yield form, other


def _have_no_solution(forms: Sequence[tuple[Linear, Linear]], t: ir.Value, u: ir.Value, extents: Mapping[ir.Value, int]) -> bool:
    """Whether the two forms of no pair are ever equal all at once in different iterations of `t` and `u`."""
    import islpy as isl  # most nests need no isl, which takes a while to import

    gaps = [form.plus(other, -1) for form, other in forms]
    values = dict.fromkeys([t, u, *(value for gap in gaps for value in gap.factors)])
    names = {value: f"v{at}" for at, value in enumerate(values)}
    bounds = [f"0 <= {names[value]} < {extents[value]}" for value in values if value in extents]
    equal = [f"{_text(gap, names)} = 0" for gap in gaps]
    holds = " and ".join([*bounds, *equal, f"{names[t]} != {names[u]}"])
    return bool(isl.Set(f"{{ [{', '.join(names.values())}] : {holds} }}").is_empty())


def _text(form: Linear, names: Mapping[ir.Value, str]) -> str:
    return " + ".join([str(form.constant), *(f"{factor} {names[value]}" for value, factor in form.factors.items())])


def conflicts(first: Sequence[MemRefAccess], second: Sequence[MemRefAccess]) -> Iterator[AccessPair]:
    """The pairs, one of each list, that may touch the same memory while one of them writes it."""
    apart = functools.cache(are_apart)  # many accesses, few roots
    for a in first:
        for b in second:
            if (a.writes or b.writes) and not apart(a.root, b.root):
                yield a, b


def are_disjoint(one: MemRefAccess, other: MemRefAccess, loops: Sequence[LoopBounds]) -> bool:
    """Whether the two surely share no element: other memory, or subscripts further apart than they are wide in some dim.

    `loops` are those around both, the innermost first (`loops_around`).
    """
    if one.memref != other.memref:
        return are_apart(root_of(one.memref), root_of(other.memref))
    if overlaps_itself(ir.MemRefType(one.memref.type)):
        return False
    for first, second, below, above in zip(one.starts, other.starts, one.widths, other.widths, strict=True):
        if first is None or second is None:
            continue
        low, high = least_over(loops, first.plus(second, -1)), least_over(loops, second.plus(first, -1))
        if (low is not None and low >= above) or (high is not None and high >= below):
            return True
    return False
