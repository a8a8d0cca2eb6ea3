"""affine-demote-values: what loops carry, conditions give and inner loops use goes through memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir, memref
from dlc.analysis.buffers import ALLOCATIONS, defining_op, is_memref, nested_ops
from dlc.lowering.affine.ir.reducing_loops import as_sequential_loops
from dlc.lowering.affine.polyhedral.domains import inits_of
from dlc.lowering.affine.polyhedral.extract import items_of
from dlc.lowering.affine.polyhedral.grouping import is_free
from dlc.lowering.affine.polyhedral.outside import OutsideValues
from dlc.lowering.pass_base import Pass, PassFailure, option

_Use = tuple[ir.Operation, int]
"""An op and the number of an operand."""


@dataclass(frozen=True)
class DemoteValues(Pass):
    """Store every value that one statement computes and another one uses, so that all statements talk through memory.

    before: %sum = affine.for %i = 0 to 8 iter_args(%s = %zero) -> f32 { %t = arith.addf %s, %x; affine.yield %t }; use %sum
    after:  %m = memref.alloca() : memref<f32>; affine.store %zero, %m[]
            affine.for %i = 0 to 8 { %s = affine.load %m[]; %t = arith.addf %s, %x; affine.store %t, %m[] }
            %sum = affine.load %m[]; use %sum

    So it is done to `iter_args`, to results of `affine.if`, and to values that an op uses beyond the loop or condition behind
    which they are computed. An `affine.parallel` that combines values becomes `affine.for` loops whose combining op carries
    `reassoc`, since its order was open. Each piece of memory is allocated where its value was computed, inside the loops
    around: `affine-expand-buffers` gives it a place for each iteration, `affine-promote-buffers` makes values again.
    Indices that bounds and subscripts use stay values. Loops that carry memrefs are refused.
    """

    anchor = "func.func"

    hoist: bool = option(False, "allocate once, at the start of the function, or of the affine.parallel around")

    def run(self, op: ir.Operation) -> None:
        """Demote the values of one function."""
        if not len(op.regions[0].blocks):
            return
        for inner in reversed(nested_ops(op)):
            if inner.name.startswith("affine.") and any(is_memref(result) for result in inner.results):
                raise PassFailure(inner, f"'{inner.name}' has memrefs among its results", "choose among elements instead")
        for inner in reversed(nested_ops(op)):
            if inner.name == "affine.parallel" and len(inner.results):
                as_sequential_loops(inner)
        demotion = _Demotion(self.hoist)
        for inner in reversed(nested_ops(op)):
            if inner.name == "affine.for" and len(inner.results):
                demotion.loop(inner)
            elif inner.name == "affine.if" and len(inner.results):
                demotion.condition(inner)
        for items in items_of(op):
            demotion.crossing(items)


@dataclass(frozen=True)
class _Demotion:
    """Moves values to memory, one at a time."""

    hoist: bool

    def loop(self, op: ir.Operation) -> None:
        """A loop that carries values: they are stored before it and at the end of each iteration."""
        body = op.regions[0].blocks[0]
        scalar_buffers = [self._scalar_buffer(result, op) for result in op.results]
        for scalar_buffer, init in zip(scalar_buffers, inits_of(op), strict=True):
            _store(init, scalar_buffer, ir.InsertionPoint(op))
        for scalar_buffer, argument, result in zip(scalar_buffers, list(body.arguments)[1:], op.results, strict=True):
            _read_at(_checked_uses(argument, op), scalar_buffer)
            _read_at(_checked_uses(result, op), scalar_buffer)
        _yield_to(body, scalar_buffers)
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        with op.location, op.context:
            attributes = _attributes(op) | {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([*sizes[:2], 0])}
            bounds = list(op.operands)[: sizes[0] + sizes[1]]
            new = ir.Operation.create("affine.for", operands=bounds, attributes=attributes, regions=1, ip=ir.InsertionPoint(op))
            block = new.regions[0].blocks.append(body.arguments[0].type, arg_locs=[op.location])
        body.arguments[0].replace_all_uses_with(block.arguments[0])
        _move(body, block)
        op.erase()

    def condition(self, op: ir.Operation) -> None:
        """A condition that gives values: each branch stores them."""
        scalar_buffers = [self._scalar_buffer(result, op) for result in op.results]
        for scalar_buffer, result in zip(scalar_buffers, op.results, strict=True):
            _read_at(_checked_uses(result, op), scalar_buffer)
        with op.location, op.context:
            given = list(op.operands)
            new = ir.Operation.create("affine.if", operands=given, attributes=_attributes(op), regions=2, ip=ir.InsertionPoint(op))
        for old, region in zip(op.regions, new.regions, strict=True):
            _yield_to(old.blocks[0], scalar_buffers)
            _move(old.blocks[0], region.blocks.append())
        op.erase()

    def crossing(self, items: Sequence[ir.Operation]) -> None:
        """The values of a static control part that are used behind another loop or condition, or in another block."""
        for result, uses in _crossing_values(items):
            op = result.owner.operation
            scalar_buffer = self._scalar_buffer(result, op)
            _store(result, scalar_buffer, _after(op))
            _read_at(uses, scalar_buffer)

    def _scalar_buffer(self, value: ir.Value, op: ir.Operation) -> ir.Value:
        """Memory for `value`, which `op` computes."""
        with op.location:
            kind = ir.MemRefType.get([], value.type)
            return memref.AllocaOp(kind, [], [], ip=_start(op) if self.hoist else ir.InsertionPoint(op)).result


def _yield_to(body: ir.Block, scalar_buffers: Sequence[ir.Value]) -> None:
    """Store what `body` yields, and yield nothing."""
    end = list(body.operations)[-1].operation
    for value, scalar_buffer in zip(end.operands, scalar_buffers, strict=True):
        if not _is_load_of(value, scalar_buffer):
            _store(value, scalar_buffer, ir.InsertionPoint(end))
    end.erase()


def _crossing_values(items: Sequence[ir.Operation]) -> list[tuple[ir.Value, list[_Use]]]:
    """The values that `crossing` stores, each with the uses that are to load it."""
    outside = OutsideValues(items)
    runs = _runs(items)
    found = []
    for op, run in runs.items():
        is_early = op in outside.inside and outside.is_early(op)
        if is_early or is_free(op) or op.name in ALLOCATIONS or len(op.regions):
            continue
        for result in op.results:
            uses = [use for use in _uses(result) if runs.get(use[0]) != run and not _is_subscript(*use)]
            found += [(result, uses)] if uses else []
    return found


def _read_at(uses: Sequence[_Use], scalar_buffer: ir.Value) -> None:
    """Let operands be loads of `scalar_buffer`: one for all between two loops or conditions."""
    for users in _by_run(uses):
        loaded = _load(scalar_buffer, users[0][0])
        for op, number in users:
            op.operands[number] = loaded


def _by_run(uses: Sequence[_Use]) -> list[list[_Use]]:
    """`uses` of ops of one block without loops or conditions between them, in their order. (An op's hash depends on its operands,
    so that this is found before any of them changes.)"""
    waiting: dict[ir.Operation, list[_Use]] = {}
    for use in uses:
        waiting.setdefault(use[0], []).append(use)
    found: list[list[_Use]] = []
    while waiting:
        run: list[_Use] = []
        for op in [view.operation for view in next(iter(waiting)).block.operations]:
            run += waiting.pop(op, [])
            if run and len(op.regions):
                found.append(run)
                run = []
        found += [run] if run else []
    return found


def _load(scalar_buffer: ir.Value, user: ir.Operation) -> ir.Value:
    with user.location:
        kind, map = ir.MemRefType(scalar_buffer.type).element_type, ir.AffineMap.get(0, 0, [])
        return affine.AffineLoadOp(kind, scalar_buffer, [], map, ip=ir.InsertionPoint(user)).result


def _store(value: ir.Value, scalar_buffer: ir.Value, where: ir.InsertionPoint) -> None:
    with scalar_buffer.owner.location:
        affine.AffineStoreOp(value, scalar_buffer, [], ir.AffineMap.get(0, 0, []), ip=where)


def _is_load_of(value: ir.Value, scalar_buffer: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name == "affine.load" and op.operands[0] == scalar_buffer


def _uses(value: ir.Value) -> list[_Use]:
    return [(use.owner.operation, use.operand_number) for use in value.uses]


def _checked_uses(value: ir.Value, op: ir.Operation) -> list[_Use]:
    """The uses of a value that `op` carries or gives, none of them a bound or subscript."""
    uses = _uses(value)
    if any(_is_subscript(user, number) for user, number in uses):
        raise PassFailure(op, "a bound or subscript depends on a value that it computes", "keep this nest out of the affine passes")
    return uses


def _is_subscript(user: ir.Operation, number: int) -> bool:
    """Whether operand `number` is one of a map or set of the affine dialect."""
    if user.name == "affine.for":
        return number < sum(list(ir.DenseI32ArrayAttr(user.attributes["operandSegmentSizes"]))[:2])
    first = {"affine.load": 1, "affine.vector_load": 1, "affine.store": 2, "affine.vector_store": 2, "affine.yield": 1 << 30}
    return user.name.startswith("affine.") and number >= first.get(user.name, 0)


def _runs(items: Sequence[ir.Operation]) -> dict[ir.Operation, int]:
    """The ops of a static control part in order, each with the number of its run: ops of a block without loops between them."""
    found: dict[ir.Operation, int] = {}
    count = 0

    def walk(ops: Sequence[ir.Operation]) -> None:
        nonlocal count
        count += 1
        for op in ops:
            found[op] = count
            for region in op.regions:
                for block in region.blocks:
                    walk([inner.operation for inner in block.operations])
            count += bool(len(op.regions))

    walk(items)
    return found


def _after(op: ir.Operation) -> ir.InsertionPoint:
    """The place right behind `op`, no terminator."""
    ops = [view.operation for view in op.block.operations]
    return ir.InsertionPoint(ops[ops.index(op) + 1])


def _start(op: ir.Operation) -> ir.InsertionPoint:
    """The start of the function, or of the innermost `affine.parallel` around `op`."""
    while op.parent.operation.name not in ("affine.parallel", "func.func"):
        op = op.parent.operation
    return ir.InsertionPoint.at_block_begin(op.block)


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return dict(op.attributes.items())


def _move(old: ir.Block, new: ir.Block) -> None:
    """All ops of `old` to the empty block `new`, which ends in a terminator then."""
    with old.owner.location:
        end = affine.AffineYieldOp([], ip=ir.InsertionPoint(new)).operation
    for op in [view.operation for view in old.operations]:
        op.move_before(end)
