"""gpu-privatize-buffers: memory of a kernel that no thread shares with others becomes the thread's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import SUBSCRIPTS_AT, MemRefAccess, access_of
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.first_threads import WarpRows, is_inside, warp_rows, written_in
from dlc.lowering.pass_base import Pass
from dlc.targets.machine import gpu_facts_of

_PURE = ("arith.", "math.", "affine.apply", "affine.yield")
_SHUFFLE = "gpu.shuffle"


@dataclass(frozen=True)
class GpuPrivatizeBuffers(Pass):
    """Give each thread its own element of memory that a kernel alone uses, where no other thread touches that element.

    before: %P = gpu.alloc() : memref<8x32xf32>; gpu.launch { affine.store %a, %P[%by, %tx]; ...; %b = affine.load %P[%by, %tx] }
    after:  gpu.launch { %p = memref.alloca() : memref<f32>; affine.store %a, %p[]; ...; %b = affine.load %p[] }

    So is memory with an element for each warp that its first thread writes, where what is written is the same for all lanes: sums
    that a butterfly of shuffles gave, and numbers of the host. All lanes compute it then, each for itself.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        launches = warp_rows(op, gpu_facts_of(op))
        for allocation in [inner for inner in nested_ops(op) if inner.name == "gpu.alloc"]:
            for rows in launches:
                accesses = _accesses(allocation, rows)
                if accesses and _is_apart(accesses[0], rows, of_warp=False):
                    _privatize(allocation, rows, accesses)
                    break
        for rows in launches:
            _share_nothing(op, rows)


def _accesses(allocation: ir.Operation, rows: WarpRows) -> list[MemRefAccess]:
    """All uses of the memory, where they are accesses of the same element by a thread of that launch; else none."""
    if allocation.block != rows.op.block:  # in a loop of the host the next launch may read what one wrote
        return []
    users = [use.owner.operation for use in allocation.results[0].uses if use.owner.operation.name != "gpu.dealloc"]
    if not all(user.name in SUBSCRIPTS_AT and is_inside(user, rows.op) for user in users):
        return []
    if any(user.name == "affine.store" and user.operands[0] == allocation.results[0] for user in users):
        return []
    found = [access_of(user) for user in users]
    return found if len({access.element for access in found}) == 1 and found[0].element is not None else []


def _is_apart(access: MemRefAccess, rows: WarpRows, *, of_warp: bool) -> bool:
    """Whether no two threads, or with `of_warp` no two warps, of the launch touch the same element, each one of its own."""
    if access.subscripts is None or any(form is None for form in access.subscripts):
        return False
    forms = [form for form in access.subscripts if form is not None]
    if any(value not in rows.ids for form in forms for value in form.factors):
        return False
    told = [value for form in forms for value in _told_apart(form, rows)]
    needed = [value for place, value in enumerate(rows.ids) if rows.size_of(place) != 1 and not (of_warp and value == rows.lane)]
    mentions_lane = any(form.of(rows.lane) for form in forms)
    return all(value in told for value in needed) and not (of_warp and mentions_lane)


def _told_apart(form: Linear, rows: WarpRows) -> Sequence[ir.Value]:
    """The ids in `form`, if it has another value for each combination of them: digits of a number."""
    reach = 0
    for value, factor in sorted(form.factors.items(), key=lambda item: abs(item[1])):
        size = rows.size_of(rows.ids.index(value))
        if abs(factor) <= reach:
            return ()
        if size is None:
            return list(form.factors) if abs(factor) == max(map(abs, form.factors.values())) else ()
        reach += abs(factor) * (size - 1)
    return list(form.factors)


def _privatize(allocation: ir.Operation, rows: WarpRows, accesses: Sequence[MemRefAccess]) -> None:
    """Replace the memory by one element that each thread has."""
    kind = ir.MemRefType.get([], ir.MemRefType(allocation.results[0].type).element_type)
    sizes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
    start = ir.InsertionPoint.at_block_begin(rows.body)
    own = ir.Operation.create("memref.alloca", [kind], attributes=sizes, loc=allocation.location, ip=start).results[0]
    scalar = {"map": ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, []))}
    for op in [access.op for access in accesses]:
        given = [*list(op.operands)[: SUBSCRIPTS_AT[op.name] - 1], own]
        kinds = [result.type for result in op.results]
        new = ir.Operation.create(op.name, kinds, given, scalar, loc=op.location, ip=ir.InsertionPoint(op))
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        op.erase()
    for use in list(allocation.results[0].uses):
        use.owner.operation.erase()
    allocation.erase()


# Memory with an element for each warp.


def _share_nothing(function: ir.Operation, rows: WarpRows) -> None:
    """Let all lanes compute what the first one does, where the others only read it; what they compute is their own."""
    guards = list(rows.of_first_lane())
    found: dict[ir.Value, list[MemRefAccess]] = {}
    opened: list[ir.Operation] = []
    for allocation in [inner for inner in nested_ops(function) if inner.name == "gpu.alloc"]:
        accesses = _accesses(allocation, rows)
        if accesses and _is_apart(accesses[0], rows, of_warp=True):
            found[allocation.results[0]] = accesses
    left = -1
    while left != len(found):
        left = len(found)
        opened = [guard for guard in guards if _is_alike(guard, set(found), rows)]
        found = {memref: each for memref, each in found.items() if all(_is_in(one, opened) for one in each if one.writes)}
    for guard in [guard for guard in opened if any(op.operands[1] in found for op in written_in(guard))]:
        _open(guard)
    for memref, accesses in found.items():
        _privatize(memref.owner.operation, rows, accesses)


def _is_in(access: MemRefAccess, guards: Sequence[ir.Operation]) -> bool:
    return any(is_inside(access.op, guard) for guard in guards)


def _is_alike(guard: ir.Operation, own: set[ir.Value], rows: WarpRows) -> bool:
    """Whether what `guard` holds back gives all lanes the same if they run it, and reaches no memory but `own`."""
    for op in [inner for one in real_ops(guard.regions[0].blocks[0]) for inner in nested_ops(one)]:
        if op.name not in (*SUBSCRIPTS_AT, "affine.if") and not op.name.startswith(_PURE):
            return False
        if any(isinstance(operand.type, ir.MemRefType) and operand not in own for operand in op.operands):
            return False
        if not all(_is_same(operand, rows) for operand in op.operands if not _is_from(operand, guard)):
            return False
    return True


def _is_from(value: ir.Value, guard: ir.Operation) -> bool:
    """Whether `value` is computed inside of `guard`, or is memory."""
    source = defining_op(value)
    return isinstance(value.type, ir.MemRefType) or (source is not None and is_inside(source, guard))


def _is_same(value: ir.Value, rows: WarpRows) -> bool:
    """Whether all lanes have the same `value`: one of the host, a constant, a uniform index, or that of a butterfly."""
    source = defining_op(value)
    if isinstance(value.type, ir.IndexType):
        return rows.is_uniform(value)
    if source is None:
        around = value.owner.owner.operation
        return around != rows.op and not is_inside(around, rows.op)
    if source.name == "arith.constant" or not is_inside(source, rows.op):
        return True
    if source.name == "affine.if":
        place = list(source.results).index(value)
        ends = [list(region.blocks[0].operations)[-1].operands[place] for region in source.regions]
        return rows.has_uniform_bounds(source) and all(_is_same(end, rows) for end in ends)
    return _is_over_warp(value)


def _is_over_warp(value: ir.Value) -> bool:
    """Whether `value` combines those of all lanes: exchanges over 1, 2, 4, 8 and 16 lanes, the last ones first."""
    distance = 1
    while distance < 32:
        source = defining_op(value)
        exchanges = [] if source is None else [one for operand in source.operands if (one := defining_op(operand)) is not None]
        found = [one for one in exchanges if one.name == _SHUFFLE and _distance(one) == distance]
        if len(found) != 1 or found[0].operands[0] not in list(source.operands):
            return False
        value, distance = found[0].operands[0], 2 * distance
    return True


def _distance(shuffle: ir.Operation) -> int | None:
    """How far apart the lanes are that exchange numbers, all lanes with each other."""
    sources = [defining_op(operand) for operand in list(shuffle.operands)[1:]]
    numbers = [None if one is None else getattr(one.attributes.get("value"), "value", None) for one in sources]
    return numbers[0] if "xor" in str(shuffle.attributes["mode"]) and numbers[1] == 32 else None


def _open(guard: ir.Operation) -> None:
    """Put what a condition guards in its place."""
    for op in real_ops(guard.regions[0].blocks[0]):
        op.move_before(guard)
    guard.erase()
