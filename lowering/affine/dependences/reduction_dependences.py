"""Updates `A[f] = A[f] op expression` whose order does not matter, and dependences without theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import Dependence
from dlc.lowering.affine.dependences.distances import distance_vectors
from dlc.lowering.affine.ir.accesses import MemRefAccess, is_store
from dlc.lowering.affine.ir.element_relations import LoopVariable
from dlc.lowering.affine.polyhedral.memory_ops import lanes_of
from dlc.lowering.affine.polyhedral.model import Scop, Statement

_FLOATS: Mapping[str, str] = {
    "arith.addf": "add",
    "arith.subf": "add",
    "math.fma": "add",
    "vector.fma": "add",
    "arith.mulf": "mul",
    "arith.maxnumf": "maxnum",
    "arith.minnumf": "minnum",
}
"""Ops whose order matters to the last bits, or to the sign of a zero."""

_EXACT: Mapping[str, str] = {
    "arith.addi": "add",
    "arith.subi": "add",
    "arith.muli": "mul",
    "arith.maxsi": "maxs",
    "arith.maxui": "maxu",
    "arith.minsi": "mins",
    "arith.minui": "minu",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
}
"""Ops that give the same in every order. Integers wrap; where an op promises that they do not, its order matters to the promise."""

_LAST_OPERAND = ("math.fma", "vector.fma")
_FIRST_OPERAND = ("arith.subf", "arith.subi")
"""Where the sum so far has to be; among the operands of other ops it may be either."""


@dataclass(frozen=True, eq=False)
class ReductionDependence:
    """A statement's update of the element that `read` and `write` both touch, by `ops` of one `kind`, once in every iteration.

    `loops` carry it: along them the element is the same. `is_exact` tells whether every order gives the same, `is_allowed` whether
    any order may be taken: it is exact, all ops carry `reassoc`, or the caller said so.
    """

    kind: str
    statement_name: str
    read: MemRefAccess
    write: MemRefAccess
    ops: tuple[ir.Operation, ...]
    loops: tuple[LoopVariable, ...]
    is_exact: bool
    is_allowed: bool


def reductions(scop: Scop, *, reassociate: bool = False, single: bool = False) -> list[ReductionDependence]:
    """The reductions of `scop`, through memory or `iter_args`; with `reassociate`, any order is allowed for all.

    With `single`, updates too that no loop repeats: they have an order with those of other statements.
    """
    found = []
    for statement in scop.statements:
        for write in statement.writes:
            read_and_ops = _update(statement, write)
            if read_and_ops is None:
                continue
            loops = _carriers(scop, write)
            if loops or single:
                found.append(_reduction(statement, write, *read_and_ops, loops, reassociate))
    return found


def without_reductions(dependences: Sequence[Dependence], reductions: Sequence[ReductionDependence]) -> list[Dependence]:
    """`dependences` (all pairs, of `memory_dependences`) but those that allowed reductions of one kind have among themselves.

    What is left keeps the order between a reduction as a whole and everything else that touches its elements. The updates of one
    element may run in any order, but not at the same time: a loop of such updates is no parallel one. Raises ValueError for nearest
    pairs, which leave out the order with everything else.
    """
    if any(dependence.is_nearest for dependence in dependences):
        raise ValueError("without_reductions needs all pairs of accesses, those of memory_dependences")
    kinds = {access: one.kind for one in reductions if one.is_allowed for access in (one.read, one.write)}
    return [
        dependence for dependence in dependences if kinds.get(dependence.source, "source") != kinds.get(dependence.sink, "sink")
    ]


def _reduction(
    statement: Statement,
    write: MemRefAccess,
    read: MemRefAccess,
    ops: tuple[ir.Operation, ...],
    loops: tuple[LoopVariable, ...],
    reassociate: bool,
) -> ReductionDependence:
    is_exact = all(op.name in _EXACT and not _promises_no_wrap(op) for op in ops)
    is_allowed = reassociate or is_exact or all(_may_reassociate(op) for op in ops)
    return ReductionDependence(_kind(ops[0]) or "", statement.name, read, write, ops, loops, is_exact, is_allowed)


def _carriers(scop: Scop, write: MemRefAccess) -> tuple[LoopVariable, ...]:
    """The loops between whose iterations `write` writes one element again."""
    again = write.relation.apply_range(write.relation.reverse())
    vectors = distance_vectors(scop, Dependence("output", write, write, again))
    levels = [vector.level for vector in vectors if vector.level is not None]
    return tuple(scop.by_name[write.statement_name].loops[level] for level in levels)


def _update(statement: Statement, write: MemRefAccess) -> tuple[MemRefAccess, tuple[ir.Operation, ...]] | None:
    """The read of the element that `write` replaces and the ops between, where they make an update."""
    if write.array.is_memory and not is_store(write.op):
        return None
    for read, value in _reads_of_same(statement, write):
        stored = _stored(write)
        ops = _chain(value, stored, statement) if stored is not None else None
        if ops:
            return read, ops
    return None


def _reads_of_same(statement: Statement, write: MemRefAccess) -> Iterator[tuple[MemRefAccess, ir.Value]]:
    """The reads of the element that `write` writes, each with the value that it gives."""
    for read in statement.reads:
        if read.array is not write.array or not read.relation.is_equal(write.relation):
            continue
        if write.array.is_memory:
            if lanes_of(read.op) == lanes_of(write.op) and read.op.results[0].type == write.op.operands[0].type:
                yield read, read.op.results[0]
        elif write.op.name == "affine.yield":
            carried = _carried(write)
            if carried is not None:
                yield read, carried


def _carried(write: MemRefAccess) -> ir.Value | None:
    """The argument of a loop's body that its `affine.yield` gives the next value of."""
    loop = write.op.parent.operation
    at = next((number for number, result in enumerate(loop.results) if result == write.array.value), None)
    return loop.regions[0].blocks[0].arguments[1 + at] if at is not None and loop.name == "affine.for" else None


def _stored(write: MemRefAccess) -> ir.Value | None:
    """The value that `write` writes."""
    if write.array.is_memory:
        return write.op.operands[0]
    results = list(write.op.parent.operation.results)
    return next(operand for operand, result in zip(write.op.operands, results, strict=True) if result == write.array.value)


def _chain(value: ir.Value, stored: ir.Value, statement: Statement) -> tuple[ir.Operation, ...] | None:
    """The ops of one kind that lead from `value` to `stored`, where nothing else uses what is between."""
    ops: list[ir.Operation] = []
    while value != stored:
        uses = list(value.uses)
        if len(uses) != 1:
            return None
        op, number = uses[0].owner.operation, uses[0].operand_number
        if op not in statement.ops or _kind(op) is None or (ops and _kind(op) != _kind(ops[0])) or not _is_place(op, number):
            return None
        ops.append(op)
        value = op.results[0]
    return tuple(ops) if ops and len(list(stored.uses)) == 1 else None


def _kind(op: ir.Operation) -> str | None:
    return _FLOATS.get(op.name) or _EXACT.get(op.name)


def _is_place(op: ir.Operation, number: int) -> bool:
    """Whether operand `number` of `op` may be the result so far."""
    if op.name in _LAST_OPERAND:
        return number == 2
    return number == 0 or op.name not in _FIRST_OPERAND


def _may_reassociate(op: ir.Operation) -> bool:
    if op.name in _EXACT:
        return not _promises_no_wrap(op)
    flags = str(op.attributes["fastmath"]) if "fastmath" in op.attributes else ""
    return "reassoc" in flags or "fast>" in flags


def _promises_no_wrap(op: ir.Operation) -> bool:
    return "overflowFlags" in op.attributes and "none" not in str(op.attributes["overflowFlags"])
