"""Local buffers shrink to what one iteration of the loops around their uses needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of
from dlc.lowering.affine.ir.bands import loop_extents
from dlc.lowering.affine.ir.expressions import span
from dlc.lowering.affine.ir.forwarding import local_users
from dlc.lowering.affine.ir.lanes import element_bits
from dlc.lowering.affine.ir.loops import Loop, normalized, real_ops
from dlc.lowering.policy import policy
from dlc.targets.machine import L1_LEAST_WAYS, L1_WAY_BYTES, LINE_BYTES


@dataclass(frozen=True)
class _Cut:
    """Iterations of `loop` use `size` elements each along `axis` of a buffer, `step` apart."""

    loop: Loop
    axis: int
    step: int


def shrink_buffers(function: ir.Operation) -> None:
    """Shrink each local buffer of `function` that only one nest uses, where every iteration uses a part of its own."""
    block = function.regions[0].blocks[0]
    left = policy().memory.stack_bytes
    for alloc in [op for op in real_ops(block) if op.name == "memref.alloc"]:
        left -= _shrink(alloc, left)


def _shrink(alloc: ir.Operation, left: int) -> int:
    """Shrink one buffer; returns the bytes of stack that it takes, of `left`."""
    users = local_users(alloc)
    if not users or any(user.operands[user.name == "affine.store"] != alloc.results[0] for user in users):
        return 0
    if any(user.name not in ("affine.load", "affine.store") for user in users):
        return 0
    if any(use.owner.name not in ("affine.load", "affine.store", "memref.dealloc") for use in alloc.results[0].uses):
        return 0
    accesses = [access_of(user) for user in users]
    cuts = _cuts(accesses, alloc.block)
    return _replace(alloc, accesses, cuts, left) if cuts else 0


def _cuts(accesses: Sequence[MemRefAccess], block: ir.Block) -> list[_Cut]:
    """The parallel loops around all `accesses`, from `block` inwards, with the axis that each of them selects a part of."""
    cuts: list[_Cut] = []
    while True:
        loop = _common_loop([access.op for access in accesses], block)
        cut = _cut(loop, accesses, {cut.axis for cut in cuts}) if loop is not None else None
        if loop is None or cut is None:
            return cuts
        cuts.append(cut)
        block = loop.body


def _common_loop(ops: Sequence[ir.Operation], block: ir.Block) -> Loop | None:
    """The parallel loop of `block` that holds all `ops`."""
    holders = [holder for op in ops if (holder := _holder(op, block)) is not None]
    if len(holders) < len(ops) or any(holder != holders[0] for holder in holders):
        return None
    loop = normalized(holders[0])
    return loop if loop is not None and loop.parallel else None


def _holder(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op of `block` that has `op` inside; None when that is `op` itself."""
    inner: ir.Operation | None = None
    while op.block != block:
        op = op.parent.operation
        inner = op
    return inner


def _cut(loop: Loop, accesses: Sequence[MemRefAccess], taken: set[int]) -> _Cut | None:
    """The axis of which each iteration of `loop` uses a part of its own, the same for all `accesses`."""
    forms = [access.subscripts or () for access in accesses]
    if any(form is None for subscripts in forms for form in subscripts):
        return None
    axes = {axis for subscripts in forms for axis, form in enumerate(subscripts) if form is not None and form.of(loop.iv)}
    if len(axes) != 1 or axes & taken:
        return None
    axis = axes.pop()
    selected = [form for subscripts in forms if (form := subscripts[axis]) is not None]
    steps = {form.of(loop.iv) for form in selected}
    step = steps.pop()
    if steps or step < 1:
        return None
    extents = loop_extents(loop.op)
    for form in selected:
        rest = span(form.without(loop.iv), extents.get)
        if rest is None or rest[0] < 0 or rest[1] >= step:
            return None
    return _Cut(loop, axis, step)


def _replace(alloc: ir.Operation, accesses: Sequence[MemRefAccess], cuts: Sequence[_Cut], left: int) -> int:
    """Allocate the part that one iteration needs inside the innermost loop of `cuts`."""
    old = ir.MemRefType(alloc.results[0].type)
    by_axis = {cut.axis: cut for cut in cuts}
    kept = [axis for axis in range(old.rank) if axis not in by_axis or by_axis[axis].step > 1]
    shape = [by_axis[axis].step if axis in by_axis else old.shape[axis] for axis in kept]
    sizes = _dynamic_sizes(alloc, old, [axis for axis in kept if axis not in by_axis])
    bits = element_bits(old.element_type) or 64
    if not sizes:
        shape = _spread(shape, [_rows_in_turn(accesses, axis) for axis in kept], -(-bits // 8))
    kind = ir.MemRefType.get(shape, old.element_type)
    size = math.prod(shape) * -(-bits // 8) if not sizes else policy().memory.stack_bytes + 1
    body = cuts[-1].loop.body
    with ir.InsertionPoint.at_block_begin(body), alloc.location:
        made = _allocate("memref.alloca" if size <= left else "memref.alloc", kind, sizes)
    if size > left:
        with ir.InsertionPoint.at_block_terminator(body), alloc.location:
            ir.Operation.create("memref.dealloc", operands=[made])
    for access in accesses:
        _redirect(access.op, made, kept, {cut.loop.iv for cut in cuts})
    for use in list(alloc.results[0].uses):
        use.owner.operation.erase()
    alloc.erase()
    return size if size <= left else 0


def _rows_in_turn(accesses: Sequence[MemRefAccess], axis: int) -> int:
    """How many places along `axis` are stored side by side, or read one after the other by an innermost loop."""
    return max([_places_stored(accesses, axis), *(_rows_read(access, axis) for access in accesses if not access.writes)])


def _rows_read(access: MemRefAccess, axis: int) -> int:
    """How many places along `axis` the loop around `access` reads, 0 where it moves it along others."""
    loop = normalized(access.op.parent.operation) if access.op.parent.name == "affine.for" else None
    form = access.subscripts[axis] if access.subscripts else None
    return loop.extent or 0 if loop is not None and form is not None and form.of(loop.iv) else 0


def _places_stored(accesses: Sequence[MemRefAccess], axis: int) -> int:
    """At how many constant places along `axis` the nests store."""
    forms = [access.subscripts[axis] for access in accesses if access.writes and access.subscripts]
    return len({form.constant for form in forms if form is not None and not form.factors})


def _spread(shape: Sequence[int], places: Sequence[int], size: int) -> list[int]:
    """`shape` with some elements more, where lines that are used in turn, `places` along each axis, would share few sets."""
    found = list(shape)
    for axis in range(len(shape) - 2, -1, -1):
        inner = math.prod(found[axis + 2 :]) * size
        sets = L1_WAY_BYTES // math.gcd(inner * found[axis + 1], L1_WAY_BYTES)
        if places[axis] >= L1_LEAST_WAYS * sets:
            found[axis + 1] += -(-LINE_BYTES // inner)
    return found


def _dynamic_sizes(alloc: ir.Operation, kind: ir.MemRefType, axes: Sequence[int]) -> list[ir.Value]:
    """The size operands of the dynamic ones among `axes`."""
    dynamic = [axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]
    return [alloc.operands[dynamic.index(axis)] for axis in axes if axis in dynamic]


def _allocate(name: str, kind: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    segments = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    return ir.Operation.create(name, results=[kind], operands=sizes, attributes={"operandSegmentSizes": segments}).results[0]


def _redirect(op: ir.Operation, buffer: ir.Value, kept: Sequence[int], gone: set[ir.Value]) -> None:
    """Let `op` access `buffer`, whose axes are the old ones `kept`; the loops `gone` no longer move it."""
    at = int(op.name == "affine.store")
    indexing, operands = op.attributes["map"].value, list(op.operands)[at + 1 :]
    dims = [ir.AffineExpr.get_constant(0) if operands[dim] in gone else ir.AffineDimExpr.get(dim) for dim in range(indexing.n_dims)]
    inner = ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, dims)
    results = [indexing.results[axis].compose(inner) for axis in kept]
    with ir.InsertionPoint(op), op.location:
        attributes = {"map": ir.AffineMapAttr.get(ir.AffineMap.get(indexing.n_dims, indexing.n_symbols, results))}
        kinds = [result.type for result in op.results]
        new = ir.Operation.create(
            op.name, results=kinds, operands=[*list(op.operands)[:at], buffer, *operands], attributes=attributes
        )
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
