"""Buffers that are parts of others from the start: no copy into a slice, none out of one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.buffer_accesses import Accesses, BufferUse, Effects, overlap
from dlc.analysis.buffers import VIEW_OPS, defining_op, is_contiguous, nested_ops, root_of, strides_of
from dlc.analysis.carried_buffers import LOOPS, body_of
from dlc.analysis.memory_plan import is_followed, users_if_kept
from dlc.analysis.size_polynomials import SizeReader, is_safe_earlier
from dlc.lowering.linalg.buffer_sizes import resolve_sizes
from dlc.lowering.linalg.inline_copies import inline_copies
from dlc.lowering.linalg.relayout import Relayout, collapsed_type, expanded_type, groups_of, reshapes_of
from dlc.lowering.linalg.require_buffers import require_buffers
from dlc.lowering.native import run_native
from dlc.lowering.pass_base import Pass
from dlc.lowering.policy import policy

_OPEN_SIZE: int = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class ForwardCopies(Pass):
    """Remove copies of whole buffers in public functions, where one memory can serve both sides.

    - A buffer that is copied into a slice of a bigger one is that slice from the start: its producer writes it there. Nothing
      else may touch the slice from the producer to the copy; after the copy neither side may be written while the other is read.
    - So is what a step of a loop, or a side of a branch, makes and copies into a buffer that it does not touch otherwise, or into
      a slice of such.
    - A copy of a slice to itself goes; a function that only copies (a concat) is first inlined, with its checks of sizes: run
      `linalg-hoist-checks` behind this pass, which moves them before what is written by these sizes.
    - A buffer that is a copy of a slice and only read is the slice itself, if that is not written before the last read. The
      slice's rows must be contiguous: a kernel reads other slices faster from a copy.

    Kernels that take such a slice are specialised to its strides, one function for each distinct layout. Buffers that the
    function returns stay their own memory. What is a slice is shown by types; slices are apart where offsets and sizes
    prove it, also where they are expressions in dynamic dims.

    before:
        call @k0(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
        %c = memref.alloc() : memref<8xf32>
        %s = memref.subview %c[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
        memref.copy %a, %s : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
    after:
        %c = memref.alloc() : memref<8xf32>
        %s = memref.subview %c[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
        %t = memref.cast %s : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: ?>>
        call @k0_view1(%x, %t) : (memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>) -> ()
    """

    def run(self, op: ir.Operation) -> None:
        require_buffers(op, "run it before linalg-insert-deallocs")
        inline_copies(op)
        run_native(op, "canonicalize")  # sizes that inlined copies ask of a buffer are those it was allocated with
        effects = Effects(op)
        relayout = Relayout(op, effects)
        for function in list(op.regions[0].blocks[0].operations):
            if _is_entry(function.operation):
                resolve_sizes(function.operation)  # a size that is asked of a view would come after what is viewed
                _Forwarding(function.operation.regions[0].blocks[0], effects, relayout).run()
                for block in _inner_blocks(function.operation):
                    _Forwarding(block, effects, relayout).run_inside()
        relayout.erase_unused()


def _inner_blocks(function: ir.Operation) -> list[ir.Block]:
    """The blocks of the branches of a function, and those of its loops that compute their steps."""
    found = [op for op in nested_ops(function) if op.name in LOOPS or op.name == "scf.if"]
    blocks = [[block for region in op.regions for block in region.blocks] if op.name == "scf.if" else [body_of(op)] for op in found]
    return [block for inner in blocks for block in inner]


def _is_entry(op: ir.Operation) -> bool:
    return op.name == "func.func" and "sym_visibility" not in op.attributes and len(op.regions[0].blocks) == 1


class _Forwarding:
    """Removes copies in one block."""

    def __init__(self, block: ir.Block, effects: Effects, relayout: Relayout) -> None:
        self._block = block
        self._relayout = relayout
        self._accesses = Accesses(block, effects, SizeReader())
        self._followed: dict[ir.Value, bool] = {}

    def run(self) -> None:
        """Last copies first: a buffer that becomes a slice takes its own slices along."""
        copies = [(step, op) for step, op in enumerate(self._accesses.ops) if op.name == "memref.copy"]
        for step, copy in reversed(copies):
            source, target = copy.operands
            if source == target:
                copy.erase()
                continue
            if not all(isinstance(value.type, ir.MemRefType) for value in (source, target)):
                continue
            if self._may_write_there(source, target, step) and self._merge(copy, step, source, target):
                continue
            if self._may_read_there(target, source, step):
                self._merge(copy, step, target, source)

    def run_inside(self) -> None:
        """In a step of a loop or a side of a branch: what it makes and copies into a buffer from outside is written there."""
        copies = [(step, op) for step, op in enumerate(self._accesses.ops) if op.name == "memref.copy"]
        for step, copy in reversed(copies):
            source, target = copy.operands
            is_ranked = all(isinstance(value.type, ir.MemRefType) for value in (source, target))
            if is_ranked and self._may_write_slice(source, target, step):
                self._merge(copy, step, source, target)

    def _may_write_slice(self, source: ir.Value, target: ir.Value, step: int) -> bool:
        """Whether the copy at `step` alone touches the buffer from outside that `target` is a part of, and nothing is written later
        to what it reads."""
        own, frame = root_of(source), root_of(target)
        place = defining_op(frame)
        if not self._is_local(own) or place is None or place.name != "memref.alloc" or self._is_local(frame):
            return False
        if any(access.step != step for access in self._accesses.of(frame)) or not self._is_followed(frame):
            return False
        return not any(access.writes and access.step > step for access in self._accesses.of(own))

    def _may_write_there(self, source: ir.Value, target: ir.Value, step: int) -> bool:
        """Whether what the copy at `step` reads may be written to `target` in the first place."""
        own, frame = root_of(source), root_of(target)
        if own == frame or not self._is_local(own) or not self._is_local(frame) or not self._is_followed(frame):
            return False
        mine, box = self._accesses.of(own), self._accesses.box(target)
        first, last = mine[0].step, mine[-1].step
        if any(access.writes and access.step > step for access in mine):
            return False
        others = self._accesses.of(frame)
        near = [access for access in others if first <= access.step < step or _writes_within(access, step, last)]
        return not any(overlap(access.box, box) for access in near)

    def _may_read_there(self, target: ir.Value, source: ir.Value, step: int) -> bool:
        """Whether those who read the copy at `step` may read `source` instead."""
        own, frame = root_of(target), root_of(source)
        if own == frame or not self._is_local(own) or not self._is_stable(frame):
            return False
        mine = [access for access in self._accesses.of(own) if access.step != step]
        if any(access.writes or access.step < step for access in mine):
            return False
        last = max((access.step for access in mine), default=step)
        box = self._accesses.box(source)
        return not any(_writes_within(access, step, last) and overlap(access.box, box) for access in self._accesses.of(frame))

    def _is_local(self, root: ir.Value) -> bool:
        """Whether `root` is a buffer that this block allocates."""
        op = defining_op(root)
        return op is not None and op.name == "memref.alloc" and op.block == self._block

    def _is_stable(self, root: ir.Value) -> bool:
        """Whether all that may write `root` is known: a buffer of this block, or an argument while no other one is written."""
        if self._is_local(root):
            return self._is_followed(root)
        arguments = list(self._block.arguments)
        if root not in arguments or not self._is_followed(root):
            return False
        return not any(access.writes for other in arguments if other != root for access in self._accesses.of(other))

    def _is_followed(self, root: ir.Value) -> bool:
        """Whether nothing hands `root` on, found once: buffers that come to lie in it have no users that do."""
        if root not in self._followed:
            self._followed[root] = is_followed(root)
        return self._followed[root]

    def _merge(self, copy: ir.Operation, step: int, shown: ir.Value, window: ir.Value) -> bool:
        """Let the buffer that `shown` is all of, one operand of the copy at `step`, lie in `window`, the other; whether it can."""
        own, reshapes = reshapes_of(shown)
        alloc = defining_op(own)
        window_kind = ir.MemRefType(window.type)
        if alloc is None or own != root_of(shown) or not _has_long_rows(window_kind) or not users_if_kept(own):
            return False
        kind = _undone_type(reshapes, window_kind)
        if kind is None or not _can_undo(reshapes, ir.MemRefType(own.type)):
            return False
        needed = self._needed_before(window, alloc)
        gone = [copy, *itertools.takewhile(_has_one_use, reshapes)]
        if needed is None or alloc in needed or not self._relayout.fits(own, kind, gone):
            return False
        box, frame = self._accesses.box(window), root_of(window)
        for op in needed:
            op.move_before(alloc)
        with ir.InsertionPoint(alloc), alloc.location:
            place = _undone(reshapes, window, list(alloc.operands))
        for op in gone:
            op.erase()
        self._relayout.replace(own, place)
        self._accesses.merge(own, frame, box, same_axes=not reshapes, without=step)
        self._followed.pop(own, None)
        alloc.erase()
        return True

    def _needed_before(self, value: ir.Value, place: ir.Operation) -> list[ir.Operation] | None:
        """The ops that give `value` and have to move before `place`, in order; None where one must stay."""
        needed: dict[ir.Operation, None] = {}

        def visit(value: ir.Value) -> bool:
            op = defining_op(value)
            if op is None or op in needed or op.block != self._block or op.is_before_in_block(place):
                return True
            if not _may_move(op) or not all(visit(operand) for operand in op.operands):
                return False
            needed[op] = None
            return True

        return list(needed) if visit(value) else None


def _has_one_use(op: ir.Operation) -> bool:
    return len(list(op.results[0].uses)) == 1


def _writes_within(access: BufferUse, after: int, last: int) -> bool:
    return access.writes and after < access.step <= last


def _may_move(op: ir.Operation) -> bool:
    """Whether `op` may run earlier: it has no effect, or is an allocation."""
    if op.name in VIEW_OPS or op.name in ("memref.dim", "memref.alloc", "affine.apply", "memref.get_global"):
        return True
    return op.name.startswith("arith.") and is_safe_earlier(op)


def _has_long_rows(kind: ir.MemRefType) -> bool:
    """Whether elements lie side by side in runs that a kernel works on as fast as on a buffer of its own."""
    if is_contiguous(kind):
        return True
    strides, _ = strides_of(kind)
    run = 1
    for axis in reversed(range(kind.rank)):
        if kind.shape[axis] == 1:
            continue
        if strides[axis] != run:
            return False
        if kind.is_dynamic_dim(axis):
            return True
        run *= kind.shape[axis]
        if run >= policy().graph.long_row:
            return True
    return False


def _can_undo(reshapes: Sequence[ir.Operation], kind: ir.MemRefType) -> bool:
    """Whether views undo `reshapes` of a buffer of type `kind`: to expand axes, their sizes have to be at hand.

    The sizes of a buffer's own axes are.
    """
    if kind.has_static_shape or len(reshapes) == 1 or all(op.name == "memref.expand_shape" for op in reshapes):
        return True
    return all(map(_keeps_open_sizes, reshapes))


def _keeps_open_sizes(reshape: ir.Operation) -> bool:
    """Whether each size that run time decides is one of the axes on both sides, which it is joined with at most axes of size 1."""
    kinds = [ir.MemRefType(value.type) for value in (reshape.operands[0], reshape.results[0])]
    wide = max(kinds, key=lambda kind: kind.rank).shape
    groups = [[wide[axis] for axis in group if wide[axis] != 1] for group in groups_of(reshape)]
    return all(len(group) == 1 for group in groups if _OPEN_SIZE in group)


def _undone_type(reshapes: Sequence[ir.Operation], kind: ir.MemRefType) -> ir.MemRefType | None:
    """The type of a buffer of type `kind` before `reshapes`."""
    found: ir.MemRefType | None = kind
    for op in reshapes:
        if found is None:
            return None
        groups = groups_of(op)
        if op.name == "memref.expand_shape":
            found = collapsed_type(found, groups)
        else:
            found = expanded_type(found, groups, ir.MemRefType(op.operands[0].type).shape)
    return found


def _undone(reshapes: Sequence[ir.Operation], value: ir.Value, sizes: Sequence[ir.Value]) -> ir.Value:
    """Emit views of `value` that undo `reshapes` of a buffer that is allocated for `sizes`."""
    for op in reshapes:
        groups, kind, operands = groups_of(op), ir.MemRefType(value.type), [value]
        attributes = {"reassociation": op.attributes["reassociation"]}
        if op.name == "memref.expand_shape":
            result, name = collapsed_type(kind, groups), "memref.collapse_shape"
        else:
            shape = ir.MemRefType(op.operands[0].type).shape
            result, name = expanded_type(kind, groups, shape), "memref.expand_shape"
            attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get(shape)
            operands += sizes
        value = ir.Operation.create(name, results=[result], operands=operands, attributes=attributes).results[0]
    return value
