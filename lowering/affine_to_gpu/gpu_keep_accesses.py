"""gpu-keep-accesses: what a thread reads several times, or reads after it wrote it, stays in its registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from dlc._mlir import affine, arith, ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import is_store
from dlc.lowering.affine.ir.alignment import lane_bytes
from dlc.lowering.affine.ir.loops import normalized, real_ops
from dlc.lowering.affine_to_gpu.bounded_loops import bound_loops, values_of
from dlc.lowering.affine_to_gpu.first_threads import WarpRows, is_inside, warp_rows
from dlc.lowering.affine_to_gpu.thread_accesses import (
    ThreadAccess,
    accesses_of,
    erase_unread,
    is_apart,
    is_inside_block,
    is_private,
)
from dlc.lowering.affine_to_gpu.thread_code import end_of, private_memory
from dlc.lowering.outlining import clone_replacing
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy
from dlc.targets.machine import REGISTER_BYTES, GpuMachine, gpu_facts_of

_UNROLLED = ("arith.", "math.", "affine.", "vector.")


@dataclass(frozen=True)
class GpuKeepAccesses(Pass):
    """Keep in registers what a thread loads again, or loads after it stored it, in later loops of a kernel.

    before: affine.for %q = 0 to 8 { %x = affine.vector_load %A[%by, 512 * %q + 4 * %tx] ... }; gpu.barrier
            affine.for %q = 0 to 8 { %x = affine.vector_load %A[%by, 512 * %q + 4 * %tx] ... }
    after:  %x0 = affine.vector_load %A[%by, 4 * %tx]; affine.vector_store %x0, %own[0]; (seven more, then both loops unrolled,
            with `affine.vector_load %own[4 * q]` in the place of their loads)

    All first loads come before the first use, so that they are on their way together. Stores that the same thread overwrites later
    go, and all of memory that nothing else uses. The loops are alike: from 0 to the same constant, for the same threads and under
    the same conditions. Nobody else writes the elements in the kernel. What saves most accesses is kept first, while a thread has
    registers for it (`gpu.kept_registers` of the policy); wider rows are read again.
    """

    anchor = "func.func"

    def run(self, op: ir.Operation) -> None:
        facts = gpu_facts_of(op)
        for rows in warp_rows(op, facts):
            bound_loops(rows, policy().gpu.kept_registers)
            kept = _chosen(_groups(rows), _registers(rows, facts))
            loops = dict.fromkeys(one.loop for group in kept for one in group.accesses if one.loop is not None)
            roots = [group.first.access.root for group in kept]
            for group in kept:
                loops.update(dict.fromkeys(group.keep()))
            for root in dict.fromkeys(roots):
                erase_unread(root)
            for loop in loops:
                _unroll(loop, rows)


@dataclass(frozen=True, eq=False)
class _Group:
    """Accesses of the same elements by the same threads, in order."""

    rows: WarpRows
    accesses: Sequence[ThreadAccess]

    @property
    def first(self) -> ThreadAccess:
        """The first one."""
        return self.accesses[0]

    @property
    def lanes(self) -> int:
        """Elements of one access."""
        kind = self.first.access.kind
        return ir.VectorType(kind).shape[0] if isinstance(kind, ir.VectorType) else 1

    @property
    def registers(self) -> int:
        """What a thread needs to keep all elements."""
        size = lane_bytes(self.first.access.memref) * self.lanes
        return self.first.count * -(-size // REGISTER_BYTES)

    @property
    def saved(self) -> int:
        """Accesses of memory that a thread is spared."""
        stores = sum(is_store(one.op) for one in self.accesses)
        loads = len(self.accesses) - stores - (not is_store(self.first.op))
        return (loads + max(0, stores - 1)) * self.first.count

    @cached_property
    def buffer(self) -> ir.Value:
        """The thread's own memory for the elements."""
        kind = ir.MemRefType(self.first.access.memref.type).element_type
        home = ir.MemRefType.get([self.first.count * self.lanes], kind)
        return private_memory(self.rows.body, home, self.first.op.location)

    def keep(self) -> list[ir.Operation]:
        """Let all accesses be of the thread's own memory, but for the first loads and the last stores; loops of the former."""
        made = [] if is_store(self.first.op) else self._load_first()
        stores = [one for one in self.accesses if is_store(one.op)]
        for one in self.accesses:
            op = one.op
            with ir.InsertionPoint(op), op.location:
                if is_store(op):
                    self._store(op.operands[0], one.variable)
                else:
                    op.results[0].replace_all_uses_with(self._load(one))
            if one is not (stores[-1] if stores else None):
                op.erase()
        return made

    def _load_first(self) -> list[ir.Operation]:
        """Emit the loads before the first one's loop, in a loop and conditions of their own."""
        first = self.first
        inner = first.around[first.around.index(first.loop) :] if first.loop else []
        home = inner[0] if inner else first.op
        known: dict[ir.Value, ir.Value] = {}
        made: list[ir.Operation] = []
        point = ir.InsertionPoint(home)
        with home.location:
            for op in inner:
                with point:
                    new = self._shell(op, known)
                made += [new] if op.name == "affine.for" else []
                point = ir.InsertionPoint(end_of(new.regions[0].blocks[0]))
            with point:
                value = clone_replacing(first.op, known).results[0]
                self._store(value, known.get(first.variable) if first.variable is not None else None)
        return made

    def _shell(self, op: ir.Operation, known: dict[ir.Value, ir.Value]) -> ir.Operation:
        """Emit an empty loop or condition like `op`."""
        if op.name == "affine.for":
            found = normalized(op)
            assert found is not None
            loop = affine.AffineForOp(0, found.extent)
            with ir.InsertionPoint(loop.body):
                affine.AffineYieldOp([])
            known[found.iv] = loop.induction_variable
            return loop.operation
        operands = [known.get(value, value) for value in op.operands]
        branch = ir.Operation.create("affine.if", [], operands, {"condition": op.attributes["condition"]}, regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            affine.AffineYieldOp([])
        return branch

    def _place(self, variable: ir.Value | None) -> tuple[ir.AffineMapAttr, list[ir.Value]]:
        if variable is None:
            return ir.AffineMapAttr.get(ir.AffineMap.get_constant(0)), []
        return ir.AffineMapAttr.get(ir.AffineMap.get(1, 0, [ir.AffineDimExpr.get(0) * self.lanes])), [variable]

    def _load(self, one: ThreadAccess) -> ir.Value:
        place, operands = self._place(one.variable)
        return ir.Operation.create(one.op.name, [one.access.kind], [self.buffer, *operands], {"map": place}).results[0]

    def _store(self, value: ir.Value, variable: ir.Value | None) -> None:
        place, operands = self._place(variable)
        name = "affine.vector_store" if isinstance(value.type, ir.VectorType) else "affine.store"
        ir.Operation.create(name, [], [value, self.buffer, *operands], {"map": place})


def _groups(rows: WarpRows) -> list[_Group]:
    """The accesses of a launch that may be kept, by their elements."""
    accesses = accesses_of(rows) or []
    written = list(dict.fromkeys(one.access.root for one in accesses if is_store(one.op)))
    found: dict[object, list[ThreadAccess]] = {}
    for one in accesses:
        found.setdefault(one.key, []).append(one)
    return [_Group(rows, group) for group in found.values() if _may_stay(group, accesses, written)]


def _may_stay(group: Sequence[ThreadAccess], accesses: Sequence[ThreadAccess], written: Sequence[ir.Value]) -> bool:
    """Whether the elements of a group change by its own stores alone, in loops that can be unrolled."""
    first, root = group[0], group[0].access.root
    is_of_gpu = ir.MemRefType(root.type).memory_space is None and not is_private(root)
    if len(group) < 2 or not is_of_gpu or not lane_bytes(first.access.memref):
        return False
    others = dict.fromkeys(one.access.root for one in accesses) if root in written else written
    if not all(is_apart(root, other) for other in others if other != root):
        return False
    own = [one for one in accesses if one.access.root == root]
    if root in written and not (first.is_own() and all(one in group or one.is_beside(first) for one in own)):
        return False
    return all(one.loop is None or _can_unroll(one.loop) for one in group) and all(_is_alone(one) for one in group)


def _is_alone(one: ThreadAccess) -> bool:
    """Whether the access is done where conditions hold, of which those in the loop depend on nothing that is computed there."""
    inner = one.around[one.around.index(one.loop) + 1 :] if one.loop else []
    sources = [source for op in inner for value in op.operands if (source := defining_op(value)) is not None]
    is_known = one.loop is None or not any(is_inside(source, one.loop) for source in sources)
    return is_known and all(op.name != "affine.if" or is_inside_block(one.op, op.regions[0].blocks[0]) for op in one.around)


def _can_unroll(loop: ir.Operation) -> bool:
    """Whether a loop is short and of ops that copies can be made of."""
    found = normalized(loop)
    inside = [op for op in nested_ops(loop) if op != loop]
    is_short = found is not None and found.extent is not None and found.extent <= policy().gpu.kept_registers
    return is_short and all(op.name.startswith(_UNROLLED) and op.name != "affine.for" for op in inside)


def _registers(rows: WarpRows, facts: GpuMachine) -> int:
    """Registers of a thread for what is kept: half of those that it has where a multiprocessor runs one block, at most."""
    threads = prod(size or 1 for size in rows.block_sizes)
    return min(policy().gpu.kept_registers, facts.registers_per_multiprocessor // threads // 2)


def _chosen(groups: Sequence[_Group], left: int) -> list[_Group]:
    """Those that save most, as long as `left` registers last."""
    chosen = []
    for group in sorted(groups, key=lambda one: -one.saved):
        if group.saved and group.registers <= left:
            chosen.append(group)
            left -= group.registers
    return chosen


def _unroll(loop: ir.Operation, rows: WarpRows) -> None:
    """Write out all iterations of a loop, without conditions that hold for all threads."""
    found = normalized(loop)
    assert found is not None
    variable, *carried = found.body.arguments
    values = found.inits
    yielded = list(list(found.body.operations)[-1].operands)
    for number in range(found.extent or 0):
        with ir.InsertionPoint(loop), loop.location:
            known = {variable: arith.ConstantOp(ir.IndexType.get(), number).result, **dict(zip(carried, values, strict=True))}
            copies = [clone_replacing(op, known) for op in real_ops(found.body)]
        values = [known.get(value, value) for value in yielded]
        threads = values_of(rows)
        for copy in [copy for copy in copies if copy.name == "affine.if" and threads is not None]:
            holds = threads.holds(copy) if threads else None
            if holds is not None and holds.all():
                values = _without_condition(copy, values)
    for old, new in zip(loop.results, values, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()


def _without_condition(branch: ir.Operation, values: Sequence[ir.Value]) -> list[ir.Value]:
    """Do what a condition guards; `values` with what its results are then."""
    block = branch.regions[0].blocks[0]
    given = list(list(block.operations)[-1].operands)
    for op in real_ops(block):
        op.move_before(branch)
    names = dict(zip(branch.results, given, strict=True))
    for old, new in names.items():
        old.replace_all_uses_with(new)
    found = [names.get(value, value) for value in values]
    branch.erase()
    return found
