"""Which accesses of a kernel touch elements that one thread has to itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod

import numpy as np

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, nested_ops, root_of
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of, are_apart, is_access, is_store
from dlc.lowering.affine.ir.expressions import Linear
from dlc.lowering.affine.ir.loops import normalized
from dlc.lowering.affine_to_gpu.bounded_loops import values_of
from dlc.lowering.affine_to_gpu.first_threads import WarpRows, is_inside
from dlc.lowering.policy import policy

_OWN = "loop"
"""What keys call the loop of an access and its variable."""


@dataclass(frozen=True, eq=False)
class ThreadAccess:
    """An affine access in a launch, and the innermost loop around it, whose iterations a thread goes through."""

    rows: WarpRows
    access: MemRefAccess

    @property
    def op(self) -> ir.Operation:
        return self.access.op

    @cached_property
    def around(self) -> list[ir.Operation]:
        """The ops between the launch and the access, outermost first."""
        found: list[ir.Operation] = []
        outer = self.op.parent.operation
        while outer != self.rows.op:
            found.insert(0, outer)
            outer = outer.parent.operation
        return found

    @cached_property
    def loop(self) -> ir.Operation | None:
        """The innermost loop around, where it counts from 0 to a constant that is not too large to list; None for others."""
        loops = [op for op in self.around if op.name != "affine.if"]
        found = normalized(loops[-1]) if loops else None
        is_short = found is not None and found.extent is not None and found.extent <= policy().gpu.listed_iterations
        return found.op if found and is_short else None

    @property
    def count(self) -> int:
        """Iterations of that loop; 1 without one."""
        found = normalized(self.loop) if self.loop else None
        return found.extent or 0 if found else 1

    @property
    def variable(self) -> ir.Value | None:
        """The variable of that loop."""
        return self.loop.regions[0].blocks[0].arguments[0] if self.loop else None

    @cached_property
    def forms(self) -> list[Linear] | None:
        """The subscripts of the first element; None where one is not linear."""
        starts = self.access.starts
        found = [form for form in starts if form is not None]
        return found if len(found) == len(starts) else None

    @cached_property
    def key(self) -> object:
        """Equal for accesses that touch the same elements in the same iteration, in loops and under conditions that are alike.

        Accesses of which that is not known are equal to none.
        """
        if self.forms is None or any(op.name not in ("affine.for", "affine.if") for op in self.around):
            return object()
        subscripts = tuple(self._named(form) for form in self.forms)
        return (
            self.access.root,
            self.access.memref,
            str(self.access.kind),
            subscripts,
            self.count,
            self._conditions,
        )

    def _named(self, form: Linear) -> object:
        """The form with a name for the loop's variable."""
        return frozenset((self._known(value), factor) for value, factor in form.factors.items()), form.constant

    def _known(self, value: ir.Value) -> object:
        return _OWN if self.variable is not None and value == self.variable else value

    @cached_property
    def _conditions(self) -> tuple[object, ...]:
        """When it is done: for which threads and iterations, and under which other conditions."""
        values = values_of(self.rows, self.variable, self.count)
        holds = None if values is None else np.ones(values.lanes, bool)
        others: list[object] = []
        for op in [op for op in self.around if self.loop is None or op != self.loop]:
            found = values.holds(op) if values is not None and op.name == "affine.if" and self._is_then(op) else None
            if found is not None and holds is not None:
                holds &= found.astype(bool)
            elif op.name == "affine.for" or not self._is_then(op):
                others.append(op)
            else:
                others.append((str(op.attributes["condition"]), tuple(map(self._known, op.operands))))
        return b"" if holds is None else holds.tobytes(), *others

    def _is_then(self, op: ir.Operation) -> bool:
        """Whether the access is done where the condition `op` around it holds."""
        return is_inside_block(self.op, op.regions[0].blocks[0])

    def is_own(self, along: Sequence[int] = (0, 1, 2), *, in_loop: bool = True) -> bool:
        """Whether threads touch the same elements as others of a block exactly where they differ along other dims than those.

        With `in_loop`, each iteration of the loop has its own elements, too, and of loops around it as well.
        """
        sizes = self.rows.block_sizes
        if self.forms is None or None in sizes or not self._changing <= self._told_apart:
            return False
        known = [size or 1 for size in sizes]
        used = [dim for dim in range(len(known)) if known[dim] > 1]
        if any(any(form.of(self._id(dim)) for form in self.forms) for dim in used if dim not in along):
            return False
        counts = [*(known[dim] for dim in along), self.count if in_loop else 1]
        grid = np.indices(counts).reshape(len(counts), -1)
        factors = [
            [*(form.of(self._id(dim)) for dim in along), form.of(self.variable) if self.variable else 0] for form in self.forms
        ]
        width = self.access.widths[-1] if self.access.widths else 1
        if factors and any(factor % width for factor in factors[-1]):
            return False
        places = np.array(factors, np.int64).reshape(-1, len(counts)) @ grid
        return np.unique(places, axis=1).shape[1] == prod(counts) if len(places) else prod(counts) == 1

    @property
    def _changing(self) -> set[ir.Value]:
        """What subscripts hold beside the ids and the loop's own variable, and is not the same in the whole launch."""
        known = {*self.rows.ids, *([] if self.variable is None else [self.variable])}
        return {value for form in self.forms or [] for value in form.factors if value not in known and self._is_computed(value)}

    @property
    def _told_apart(self) -> set[ir.Value]:
        """Values that are in a subscript alone, or beside what stays the same: where they differ, elements do."""
        forms = [[value for value in form.factors if value in self._moving] for form in self.forms or []]
        return {values[0] for values in forms if len(values) == 1}

    @property
    def _moving(self) -> set[ir.Value]:
        own = [] if self.variable is None else [self.variable]
        return {*self._changing, *self.rows.thread_ids, *own}

    def _is_computed(self, value: ir.Value) -> bool:
        """Whether a value is a loop's variable or an op's result inside of the launch."""
        owner = value.owner.owner.operation if isinstance(value, ir.BlockArgument) else value.owner.operation
        return is_inside(owner, self.rows.op)

    def is_beside(self, other: ThreadAccess) -> bool:
        """Whether both go through rows of memory by groups of neighbours, and touch different places of each group."""
        if not self.forms or not other.forms:
            return False
        group = gcd(*self.forms[-1].factors.values(), *other.forms[-1].factors.values())
        mine, others = (
            {(form.constant + lane) % group for lane in range(one.access.widths[-1])} if group else set[int]()
            for one, form in ((self, self.forms[-1]), (other, other.forms[-1]))
        )
        return group > 0 and not mine & others

    def _id(self, dim: int) -> ir.Value:
        return self.rows.thread_ids[dim]


def is_inside_block(op: ir.Operation, block: ir.Block) -> bool:
    """Whether `op` lies in a block, or in a region of one of its ops."""
    while op.block != block:
        op = op.parent.operation
        if op.name in ("gpu.launch", "func.func"):
            return False
    return True


def accesses_of(rows: WarpRows) -> list[ThreadAccess] | None:
    """The accesses of a launch in order; None where some op touches memory in another way."""
    found = []
    for op in nested_ops(rows.op):
        if is_access(op):
            found.append(ThreadAccess(rows, access_of(op)))
        elif (
            op != rows.op
            and op.name not in VIEW_OPS
            and op.name != "memref.dim"
            and any(isinstance(value.type, ir.MemRefType) for value in op.operands)
        ):
            return None
    return found


def may_meet(one: ThreadAccess, other: ThreadAccess) -> bool:
    """Whether two threads may touch an element by these accesses, and one of them write it."""
    if not (is_store(one.op) or is_store(other.op)) or is_apart(one.access.root, other.access.root):
        return False
    if one.access.root == other.access.root and is_private(one.access.root):
        return False
    return not one.is_beside(other) and (one.key != other.key or not one.is_own())


def is_private(root: ir.Value) -> bool:
    """Whether each thread has memory of its own there."""
    return not isinstance(root, ir.BlockArgument) and root.owner.name == "memref.alloca"


def is_apart(one: ir.Value, other: ir.Value) -> bool:
    """Whether two roots are different memory: arguments that say so, or what was allocated for the kernel or its block."""
    if one == other:
        return False
    return are_apart(one, other) or any(_is_fresh(root) for root in (one, other))


def _is_fresh(root: ir.Value) -> bool:
    if isinstance(root, ir.BlockArgument):
        return root.owner.owner.operation.name == "gpu.launch"
    return root_of(root) == root and root.owner.name in ("gpu.alloc", "memref.alloca", "memref.alloc")


def is_scratch(root: ir.Value, ops: Sequence[ir.Operation]) -> bool:
    """Whether memory was allocated for a launch, and nothing but `ops` uses it."""
    if isinstance(root, ir.BlockArgument) or root.owner.name != "gpu.alloc":
        return False
    users = [use.owner.operation for use in root.uses]
    return all(user.name == "gpu.dealloc" or user in ops for user in users)


def erase_unread(root: ir.Value) -> None:
    """Let memory go that was allocated for a launch if nothing reads it."""
    if isinstance(root, ir.BlockArgument) or root.owner.name != "gpu.alloc":
        return
    if all(use.owner.name == "gpu.dealloc" or is_store(use.owner.operation) for use in root.uses):
        erase_scratch(root)


def erase_scratch(root: ir.Value) -> None:
    """Let memory go, and what uses it."""
    for use in list(root.uses):
        use.owner.operation.erase()
    root.owner.erase()
