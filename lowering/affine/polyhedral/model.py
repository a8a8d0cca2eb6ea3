"""Records of the polyhedral model: what a function of affine loops computes, as isl sets and relations.

An instance of a statement is one run of it, named by the values of the loops around it: `S2[i0, i1]`. Everything about order
is in `Statement.beta` and `Statement.loops` (see `execution_order.py`); everything about memory is in `Statement.accesses`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array, LoopVariable

if TYPE_CHECKING:
    import islpy as isl


class ExtractionError(Exception):
    """Something that the polyhedral model cannot say, at `op`: `reason` says what, `remedy` what to do."""

    def __init__(self, op: ir.Operation | ir.OpView, reason: str, remedy: str = "") -> None:
        self.op = op.operation
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{reason}; {remedy}" if remedy else reason)


@dataclass(frozen=True, eq=False)
class Statement:
    """Ops of one block that run together, in their order, for every point of `domain`.

    `loops` are those around it from the outside in, one dim of `domain` each. `beta` holds its place among the statements and
    loops of each of these loops' bodies, the function's block first: one number more than loops.
    """

    name: str
    ops: tuple[ir.Operation, ...]
    loops: tuple[LoopVariable, ...]
    beta: tuple[int, ...]
    domain: isl.Set
    accesses: tuple[MemRefAccess, ...]
    """Each has an `ElementRelation`; an op that reads a value of another statement has one of that value's array."""

    @property
    def reads(self) -> tuple[MemRefAccess, ...]:
        return tuple(access for access in self.accesses if not access.writes)

    @property
    def writes(self) -> tuple[MemRefAccess, ...]:
        return tuple(access for access in self.accesses if access.writes)

    @property
    def location(self) -> ir.Location:
        """Where its last op, the one that writes, comes from."""
        return self.ops[-1].location


@dataclass(frozen=True, eq=False)
class Scop:
    """A static control part: consecutive ops of one block (`items`) whose loops, bounds and subscripts are affine.

    `parameters` are the index values from outside that bounds and subscripts use, by name; `context` is what is known of them.
    Items of `prologue` (allocations, views, values computed from outside ones) belong to no statement and may run before all
    others, in their order; those of `epilogue` (`memref.dealloc`) after all others.
    """

    items: tuple[ir.Operation, ...]
    statements: tuple[Statement, ...]
    arrays: tuple[Array, ...]
    parameters: Mapping[str, ir.Value]
    context: isl.Set
    prologue: tuple[ir.Operation, ...] = ()
    epilogue: tuple[ir.Operation, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Statement]:
        """The statements by name."""
        return {statement.name: statement for statement in self.statements}

    @cached_property
    def domain(self) -> isl.UnionSet:
        """All instances of all statements."""
        return union_set([statement.domain for statement in self.statements], self.context)

    def accesses(self, *, writes: bool) -> isl.UnionMap:
        """Instances to the elements that they write, or read."""
        relations = [access.relation for statement in self.statements for access in statement.accesses if access.writes is writes]
        return union_map(relations, self.context)


def union_set(parts: list[isl.Set], context: isl.Set) -> isl.UnionSet:
    """The union of `parts`, in the parameters of `context`."""
    import islpy as isl  # 40 ms, which compiling a kernel without a polyhedral model does without

    whole = isl.UnionSet.empty(context.get_space())
    for part in parts:
        whole = whole.union(isl.UnionSet.from_set(part))
    return whole


def union_map(parts: list[isl.Map], context: isl.Set) -> isl.UnionMap:
    """The union of `parts`, in the parameters of `context`."""
    import islpy as isl  # 40 ms, which compiling a kernel without a polyhedral model does without

    whole = isl.UnionMap.empty(context.get_space())
    for part in parts:
        whole = whole.union(isl.UnionMap.from_map(part))
    return whole
