"""affine-promote-buffers: elements that a loop reads and writes in place become values that it carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.analysis.buffers import is_allocation, is_memref, nested_ops, root_of
from dlc.lowering.affine.dependences.nest_dependences import are_disjoint
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of, are_apart, is_access, load_from, store_to
from dlc.lowering.affine.ir.bounds import BOUND_ATTRIBUTES, Bounds, loops_around
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class PromoteBuffers(Pass):
    """Keep in registers what an innermost loop reads and writes at a place that does not move.

    before: affine.for %k = 0 to 64 {
              %c = affine.load %C[%i, %j]; ...; %new = arith.addf %c, %ab; affine.store %new, %C[%i, %j]
            }
    after:  %first = affine.load %C[%i, %j]
            %last = affine.for %k = 0 to 64 iter_args(%c = %first) { ...; %new = arith.addf %c, %ab; affine.yield %new }
            affine.store %last, %C[%i, %j]

    Vectors count as elements. Every other access of the loop must surely touch other memory. A loop that may have no iterations is
    put under a condition, so that nothing is read or written that was not before.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        for loop in [inner for inner in nested_ops(op) if inner.name == "affine.for"]:
            body = [inner.operation for inner in loop.regions[0].blocks[0].operations]
            if not len(loop.results) and not any(len(inner.regions) for inner in body):
                _promote(loop, body)


def _promote(loop: ir.Operation, body: Sequence[ir.Operation]) -> None:
    """Rebuild `loop` with what it may carry as values."""
    accesses = [access_of(op) for op in body if is_access(op)]
    others = [op for op in body if not is_access(op)]
    different = {access.key: access for access in accesses}
    written: dict[tuple[object, ...], MemRefAccess] = {}
    for access in accesses:
        if access.writes:
            written.setdefault(access.key, access)
    carried = {key: access for key, access in written.items() if _may_carry(access, different.values(), others, loop)}
    if carried:
        _rebuild(loop, body, carried)


def _may_carry(access: MemRefAccess, accesses: Iterable[MemRefAccess], others: Sequence[ir.Operation], loop: ir.Operation) -> bool:
    """Whether nothing in the loop but accesses of the same key may touch the access, which does not move."""
    variable = loop.regions[0].blocks[0].arguments[0]
    used = (access.memref, *access.indices, *(() if access.mask is None else (access.mask,)))
    if variable in used or not all(_is_outside(value, loop) for value in used):
        return False
    if any(_may_touch(op, root_of(access.memref)) for op in others):
        return False
    around = loops_around(loop)
    return all(other.key == access.key or are_disjoint(access, other, around) for other in accesses)


def _may_touch(op: ir.Operation, root: ir.Value) -> bool:
    """Whether an op other than a plain place may read or write the memory of `root`; a call may without naming it."""
    if op.name.endswith(".call") and not is_allocation(root):
        return True
    return op.name != "memref.dim" and any(is_memref(value) and not are_apart(root, root_of(value)) for value in op.operands)


def _is_outside(value: ir.Value, loop: ir.Operation) -> bool:
    return isinstance(value, ir.BlockArgument) or value.owner.operation.block != loop.regions[0].blocks[0]


def _rebuild(loop: ir.Operation, body: Sequence[ir.Operation], carried: Mapping[tuple[object, ...], MemRefAccess]) -> None:
    """Replace `loop` by one that carries the accesses: loads before it, stores after it."""
    bounds = Bounds.of(loop)
    guard = None if bounds.surely_run else bounds.guard(loop)
    with ir.InsertionPoint(loop if guard is None else guard.then_block):
        firsts = [load_from(access, loop.location) for access in carried.values()]
        new = affine.AffineForOp(
            bounds.lower,
            bounds.upper,
            bounds.step,
            firsts,
            lower_bound_operands=bounds.lower_operands,
            upper_bound_operands=bounds.upper_operands,
            loc=loop.location,
        )
        for name, attribute in loop.attributes.items():
            if name not in BOUND_ATTRIBUTES:
                new.operation.attributes[name] = attribute
        for access, last in zip(carried.values(), new.results, strict=True):
            store_to(access, last, loop.location)
        if guard is not None:
            affine.AffineYieldOp([], loc=loop.location)
    _move_body(loop, body, carried, new)
    loop.erase()


def _move_body(
    loop: ir.Operation, body: Sequence[ir.Operation], carried: Mapping[tuple[object, ...], MemRefAccess], new: affine.AffineForOp
) -> None:
    """Move the ops into the new loop, with values in place of the carried loads and stores."""
    loop.regions[0].blocks[0].arguments[0].replace_all_uses_with(new.induction_variable)
    values: dict[tuple[object, ...], ir.Value] = dict(zip(carried, new.inner_iter_args, strict=True))
    with ir.InsertionPoint(new.body):
        end = affine.AffineYieldOp(list(values.values()), loc=loop.location)
    for op in body[:-1]:
        access = access_of(op) if is_access(op) else None
        key = None if access is None else access.key
        if access is None or key not in values:
            op.move_before(end.operation)
        elif len(op.results):
            op.results[0].replace_all_uses_with(values[key])
            op.erase()
        else:
            values[key] = op.operands[len(op.operands) - 1] if access.mask is not None else op.operands[0]
            op.erase()
    for at, value in enumerate(values.values()):
        end.operation.operands[at] = value
