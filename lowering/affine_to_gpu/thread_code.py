"""The body of a kernel: what one thread of a block runs of the mapped loops.

Code outside of the loops over threads is the same for all threads of a block. Each outermost loop over threads is a phase; where a
block has several, or one in a loop, barriers keep them apart. Memory that a block allocates is shared by its threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import affine, ir
from dlc.analysis.buffers import ALLOCATIONS, defining_op, nested_ops
from dlc.lowering.affine.ir.accesses import is_memory_op
from dlc.lowering.affine.ir.loops import real_ops
from dlc.lowering.affine_to_gpu.extents import LoopExtents, constant_of
from dlc.lowering.affine_to_gpu.grid import GpuMapping, place_of
from dlc.lowering.affine_to_gpu.launches import Dimension, Launch, shared_memory
from dlc.lowering.pass_base import PassFailure

_PURE = ("arith.", "math.", "affine.apply", "affine.min", "affine.max", "memref.dim", "memref.subview", "memref.cast")
"""What all threads of a block may compute alike."""

_ACCESSES = (
    "affine.load",
    "affine.store",
    "affine.vector_load",
    "affine.vector_store",
    "memref.load",
    "memref.store",
    "memref.dealloc",
)


@dataclass
class ThreadCode:
    """Moves the ops of a kernel's loops into the body of its `gpu.launch`."""

    launch: Launch
    extents: LoopExtents
    body: ir.Block
    """The block of the `gpu.launch`: ids of the block, then of the thread, are its first arguments."""
    has_barriers: bool = False

    def move(self, root: ir.Operation) -> None:
        """Move the kernel whose outermost mapped loop is `root` before the terminator of the body."""
        end = end_of(self.body)
        phases = [op for op in nested_ops(root) if _is_phase(op)]
        self.has_barriers = len(phases) > 1 or any(_in_plain_loop(op, root) for op in phases) or _has_alone(root, phases)
        self._block_level([root], end)
        last = real_ops(self.body)[-1:]
        if last and last[0].name == "gpu.barrier":
            last[0].erase()

    def _block_level(self, ops: Sequence[ir.Operation], end: ir.Operation) -> None:
        """Move ops that are outside of loops over threads before `end`."""
        alone: list[ir.Operation] = []
        for op in ops:
            place = place_of(op)
            if self._is_for_one_thread(op) or uses_any(op, alone):
                alone.append(op)
                continue
            self._by_one_thread(alone, end)
            alone = []
            if place is not None and place.unit == "block":
                self._block_level(real_ops(op.regions[0].blocks[0]), self._enter(op, place, end))
                op.erase()
            elif place is not None:
                self._phase(op, end)
            elif op.name in ALLOCATIONS:
                self._allocate(op, shared=bool(self.launch.thread_dims))
            elif op.name == "memref.dealloc":
                op.erase()
            else:
                op.move_before(end)
                for block in _blocks_of(op):
                    self._block_level(real_ops(block), end_of(block))
        self._by_one_thread(alone, end)

    def _is_for_one_thread(self, op: ir.Operation) -> bool:
        """Whether an op outside of loops over threads reads or writes memory."""
        if place_of(op) is not None or op.name in ALLOCATIONS or op.name == "memref.dealloc" or not self.launch.thread_dims:
            return False
        inside = nested_ops(op)
        return not any(place_of(inner) for inner in inside) and not all(inner.name.startswith(_PURE) for inner in inside)

    def _by_one_thread(self, ops: Sequence[ir.Operation], end: ir.Operation) -> None:
        """Let the first thread of the block run `ops`, which make no values that others use."""
        if not ops:
            return
        inside = {inner for op in ops for inner in nested_ops(op)}
        for op in ops:
            for use in (use for result in op.results for use in result.uses):
                if use.owner.operation not in inside:
                    raise PassFailure(op, "all threads of a block use what one of them computes", "keep it in a memref")
        with ops[0].location:
            guarded = self._first_threads(self.launch.thread_dims, _barrier(end))
        for op in ops:
            op.move_before(guarded)

    def _phase(self, op: ir.Operation, end: ir.Operation) -> None:
        """Move an outermost loop over threads; along dims that it has no loop for, the first threads run it."""
        own = {place.dim for inner in nested_ops(op) if (place := place_of(inner)) is not None}
        missing = [dim for dim in self.launch.thread_dims if dim not in own]
        with op.location:
            if self.has_barriers:
                end = _barrier(end)
            inner = self._first_threads(missing, end) if missing else end
        self._thread_level([op], inner)

    def _thread_level(self, ops: Sequence[ir.Operation], end: ir.Operation) -> None:
        for op in ops:
            place = place_of(op)
            if place is not None and place.unit == "block":
                raise PassFailure(op, "a loop over blocks lies inside a loop over threads", "put loops over blocks outermost")
            if place is not None:
                self._thread_level(real_ops(op.regions[0].blocks[0]), self._enter(op, place, end))
                op.erase()
            elif op.name in ALLOCATIONS:
                self._allocate(op, shared=False)
            elif op.name == "memref.dealloc":
                op.erase()
            else:
                op.move_before(end)
                for block in _blocks_of(op):
                    self._thread_level(real_ops(block), end_of(block))

    # Loops that are mapped.

    def _enter(self, loop: ir.Operation, place: GpuMapping, end: ir.Operation) -> ir.Operation:
        """Put what stands for a mapped loop before `end`; returns the op before which the loop's body goes."""
        dimension = self.launch.dimensions[place]
        index = self.body.arguments[place.dim + (3 if place.unit == "thread" else 0)]
        with ir.InsertionPoint(end), loop.location:
            number = self.extents.dim(index)
            if dimension.repeats:
                number, end = self._repeated(dimension, number)
        with ir.InsertionPoint(end), loop.location:
            variable = self.extents.value(dimension.first + number * dimension.step)
            guards = self._guards(loop, dimension, self.extents.dim(variable))
            if guards:
                condition, operands = self.extents.scope.set([(guard, False) for guard in guards])
                guard = affine.AffineIfOp(condition, cond_operands=operands)
                with ir.InsertionPoint(guard.then_block):
                    end = affine.AffineYieldOp([]).operation
        argument = loop.regions[0].blocks[0].arguments[0]
        argument.replace_all_uses_with(variable)
        self.extents.replace(argument, variable)
        return end

    def _repeated(self, dimension: Dimension, number: ir.AffineExpr) -> tuple[ir.AffineExpr, ir.Operation]:
        """A loop in which a block takes every so many iterations; the number of the iteration, and the loop's end."""
        upper = ir.AffineExpr.get_ceil_div(dimension.count - number, dimension.repeats)
        map, operands = self.extents.scope.map([upper])
        loop = affine.AffineForOp(0, map, upper_bound_operands=operands)
        with ir.InsertionPoint(loop.body):
            end = affine.AffineYieldOp([]).operation
        return number + self.extents.dim(loop.induction_variable) * dimension.repeats, end

    def _guards(self, loop: ir.Operation, dimension: Dimension, variable: ir.AffineExpr) -> list[ir.AffineExpr]:
        """What must not be negative for the iteration to exist, as far as the size of the launch does not say it."""
        first, count = constant_of(dimension.first), constant_of(dimension.count)
        last = None if first is None or count is None else first + dimension.step * (count - 1)
        lowers, uppers = self.extents.bounds_of(loop)
        return [
            *(variable - lower for lower in lowers if not _holds(constant_of(lower), first)),
            *(upper - variable - 1 for upper in uppers if not _holds(last, constant_of(upper), 1)),
        ]

    def _first_threads(self, dims: Sequence[int], end: ir.Operation) -> ir.Operation:
        """A condition before `end` that holds for the first threads along `dims`; the end of what it guards."""
        constraints = [(self.extents.dim(self.body.arguments[3 + dim]), True) for dim in dims]
        condition, operands = self.extents.scope.set(constraints)
        guard = affine.AffineIfOp(condition, cond_operands=operands, ip=ir.InsertionPoint(end))
        with ir.InsertionPoint(guard.then_block):
            return affine.AffineYieldOp([]).operation

    def _allocate(self, allocation: ir.Operation, *, shared: bool) -> None:
        """Memory of the block, or of each thread, in the place of an allocation in a kernel."""
        kind = ir.MemRefType(allocation.results[0].type)
        if not kind.has_static_shape:
            raise PassFailure(allocation, "a kernel allocates memory of a size that is not constant", "make sizes static")
        if not shared:
            buffer = private_memory(self.body, kind, allocation.location)
        else:
            _require_accesses(allocation)
            buffer = shared_memory(self.body, kind, allocation.location)
        allocation.results[0].replace_all_uses_with(buffer)
        allocation.erase()


def private_memory(body: ir.Block, kind: ir.MemRefType, location: ir.Location) -> ir.Value:
    """Memory that each thread has to itself, in the launch with that body."""
    start = ir.InsertionPoint.at_block_begin(body)
    sizes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
    return ir.Operation.create("memref.alloca", [kind], attributes=sizes, loc=location, ip=start).results[0]


def _require_accesses(allocation: ir.Operation) -> None:
    """Loads and stores may go to memory of another space; other ops name the space in their types."""
    for use in allocation.results[0].uses:
        if use.owner.operation.name not in _ACCESSES:
            raise PassFailure(use.owner, f"'{use.owner.operation.name}' of shared memory", "use loads and stores alone")


def _holds(less: int | None, more: int | None, gap: int = 0) -> bool:
    """Whether both are known, and the first is so much less than the second."""
    return less is not None and more is not None and less + gap <= more


def _is_phase(op: ir.Operation) -> bool:
    """Whether `op` is an outermost loop over threads."""
    place = place_of(op)
    around = op.parent
    while place is not None and place.unit == "thread" and around is not None:
        outer = place_of(around.operation)
        if outer is not None and outer.unit == "thread":
            return False
        around = around.operation.parent
    return place is not None and place.unit == "thread"


def _has_alone(root: ir.Operation, phases: Sequence[ir.Operation]) -> bool:
    """Whether a block touches memory beside its phases."""
    inside = {inner for op in phases for inner in nested_ops(op)}
    return bool(phases) and any(is_memory_op(op) for op in nested_ops(root) if op not in inside)


def _in_plain_loop(op: ir.Operation, root: ir.Operation) -> bool:
    """Whether a loop that is not mapped lies around `op` inside of the kernel."""
    while op != root:
        op = op.parent.operation
        if op.name.endswith(".for") and place_of(op) is None:
            return True
    return False


def _barrier(end: ir.Operation) -> ir.Operation:
    """A barrier of the block before `end`."""
    return ir.Operation.create("gpu.barrier", ip=ir.InsertionPoint(end))


def _blocks_of(op: ir.Operation) -> list[ir.Block]:
    return [block for region in op.regions for block in region.blocks]


def uses_any(op: ir.Operation, others: Sequence[ir.Operation]) -> bool:
    """Whether an operand of `op` is computed by one of `others`."""
    sources = (defining_op(operand) for operand in op.operands)
    return any(source is not None and source in others for source in sources)


def end_of(block: ir.Block) -> ir.Operation:
    """The terminator of a block."""
    return list(block.operations)[-1].operation
