"""affine-accumulate-in-place: what is accumulated in a local element and then stored is accumulated where it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, ancestor_in, defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT, MemRefAccess
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class AccumulateInPlace(Pass):
    """Let an element that each iteration allocates be the element that the iteration stores it to at its end.

    before: %w = memref.alloca() : memref<f64>; affine.store %zero, %w[]
            affine.for %k ... { %w[] += A[%i, %k] * B[%k, %j] }; %s = affine.load %w[]; affine.store %s, %C[%i, %j]
    after:  affine.store %zero, %C[%i, %j]; affine.for %k ... { %C[%i, %j] += A[%i, %k] * B[%k, %j] }

    Nothing else may touch that element from the first store on, which isl decides. Functions that the polyhedral model cannot read
    stay as they are.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        while _accumulate(op):
            pass


def _accumulate(function: ir.Operation) -> bool:
    """Replace what can be, and say whether that was anything: one element may be stored to another, which is next then."""
    found = [one for one in map(_candidate, nested_ops(function)) if one is not None]
    if not found:
        return False
    try:
        scop = extract(function)
    except ExtractionError:
        return False
    chosen: list[_Candidate] = []
    touched: set[ir.Operation] = set()
    for one in found:
        if touched.isdisjoint(one.ops) and _is_alone(one, scop):
            chosen.append(one)
            touched |= one.ops
    touched.clear()  # the ops are erased now
    for one in chosen:
        _replace(one)
    return bool(chosen)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A local element and the ops that use it: the `first` store in its block, the `last` load, and `end`, the store of the value
    that `last` gives or of one computed from it."""

    allocation: ir.Operation
    accesses: tuple[ir.Operation, ...]
    deallocations: tuple[ir.Operation, ...]
    first: ir.Operation
    last: ir.Operation
    end: ir.Operation

    @property
    def ops(self) -> set[ir.Operation]:
        """All ops that may be replaced."""
        source = defining_op(self.first.operands[0])
        return {*self.accesses, self.end, *([] if source is None else [source])}


def _candidate(op: ir.Operation) -> _Candidate | None:
    """What the allocation `op` is part of; None where it is no element of this kind."""
    if op.name not in ALLOCATIONS or ir.MemRefType(op.results[0].type).rank:
        return None
    users = [use.owner.operation for use in op.results[0].uses]
    accesses = [user for user in users if _accesses(user, op.results[0])]
    rest = [user for user in users if user not in accesses]
    order = {inner.operation: at for at, inner in enumerate(op.block.operations)}
    if not accesses or any(user.name != "memref.dealloc" for user in rest):
        return None
    at_block = sorted(accesses, key=lambda user: order[ancestor_in(user, op.block)])
    first, last = at_block[0], at_block[-1]
    if first.name != "affine.store" or last.name != "affine.load" or first.block != op.block or last.block != op.block:
        return None
    end = _end(last)
    if end is None or ir.MemRefType(end.operands[1].type).element_type != ir.MemRefType(op.results[0].type).element_type:
        return None
    known = all(_is_known_at(value, first, order) for value in list(end.operands)[1:])
    return _Candidate(op, tuple(accesses), tuple(rest), first, last, end) if known else None


def _end(load: ir.Operation) -> ir.Operation | None:
    """The store, in the same block, of what `load` reads or of what ops compute from it, each for the next alone."""
    op = load
    while len(op.results) == 1:
        users = [use.owner.operation for use in op.results[0].uses]
        if len(users) != 1 or users[0].block != load.block or len(users[0].regions):
            return None
        value, op = op.results[0], users[0]
        if op.name == "affine.store":
            return op if op.operands[0] == value else None
        if not op.name.startswith(("arith.", "math.")):
            return None
    return None


def _accesses(op: ir.Operation, memref: ir.Value) -> bool:
    """Whether `op` loads from `memref` or stores to it."""
    return op.name in SUBSCRIPTS_AT and op.operands[SUBSCRIPTS_AT[op.name] - 1] == memref


def _is_known_at(value: ir.Value, op: ir.Operation, order: dict[ir.Operation, int]) -> bool:
    """Whether `value` is defined before `op`, whose block has this `order`."""
    if isinstance(value, ir.BlockArgument):
        return True
    owner = value.owner.operation
    return owner.block != op.block or order[owner] < order[op]


def _is_alone(one: _Candidate, scop: Scop) -> bool:
    """Whether nothing but the accesses of `one` touches its last place from the first store to the last."""
    accesses = [access for statement in scop.statements for access in statement.accesses]
    ends = [access for access in accesses if access.op == one.end and access.writes]
    if len(ends) != 1:
        return False
    block, order = one.end.block, {inner.operation: at for at, inner in enumerate(one.end.block.operations)}
    between = range(order[one.first], order[one.end])
    for access in accesses:
        if access.array is not ends[0].array or access.op == one.end or not _lies_in(access.op, block):
            continue
        if order[ancestor_in(access.op, block)] in between and not _are_apart(access, ends[0]):
            return False
    return True


def _lies_in(op: ir.Operation, block: ir.Block) -> bool:
    while op.name != "func.func":
        if op.block == block:
            return True
        op = op.parent.operation
    return False


def _are_apart(access: MemRefAccess, end: MemRefAccess) -> bool:
    """Whether an instance of `access` never touches what `end` writes in the same iteration of the loops around `end`."""
    around = end.relation.dim(isl.dim_type.in_)
    inner = access.relation.dim(isl.dim_type.in_)
    space = access.relation.get_space().domain().map_from_domain_and_range(end.relation.get_space().domain())
    same = isl.Map.universe(space)
    for at in range(min(around, inner)):
        same = same.equate(isl.dim_type.in_, at, isl.dim_type.out, at)
    return bool(same.apply_range(end.relation).intersect(access.relation).is_empty())


def _replace(one: _Candidate) -> None:
    """Let all accesses go to the place that the last store writes."""
    memref, *indices = list(one.end.operands)[1:]
    map = one.end.attributes["map"]
    is_copy = one.end.operands[0] == one.last.results[0]
    needless = [one.end, one.last] if is_copy else []
    before = defining_op(one.first.operands[0]) if _reads(one.first.operands[0], one.first, memref, indices, map) else None
    if before is not None:
        needless.append(one.first)
    for access in one.accesses:
        if access in needless:
            continue
        given = list(access.operands)[: SUBSCRIPTS_AT[access.name] - 1]
        kinds = [result.type for result in access.results]
        copy = ir.Operation.create(
            access.name, kinds, [*given, memref, *indices], {"map": map}, loc=access.location, ip=ir.InsertionPoint(access)
        )
        for old, new in zip(access.results, copy.results, strict=True):
            old.replace_all_uses_with(new)
    for op in ([one.end] if is_copy else []) + [*one.accesses, *one.deallocations, one.allocation]:
        op.erase()
    if before is not None and not any(True for _ in before.results[0].uses):
        before.erase()


def _reads(value: ir.Value, store: ir.Operation, memref: ir.Value, indices: Sequence[ir.Value], map: ir.Attribute) -> bool:
    """Whether `value` is what the place holds at `store`: a load of it, with nothing written since."""
    load = defining_op(value)
    if load is None or load.name != "affine.load" or load.block != store.block:
        return False
    if load.attributes["map"] != map or list(load.operands) != [memref, *indices]:
        return False
    ops = [inner.operation for inner in store.block.operations]
    since = ops[ops.index(load) + 1 : ops.index(store)]
    return not any(len(op.regions) or op.name == "affine.store" for op in since)
