"""Values go from stores to the loads that read them back, and stores that nobody reads go."""

from __future__ import annotations

from collections.abc import Iterable

from dlc._mlir import ir
from dlc.analysis.buffers import VIEW_OPS, nested_ops, root_of, written_roots
from dlc.lowering.affine.ir.accesses import MemRefAccess, access_of, accesses_in, are_apart
from dlc.lowering.affine.ir.loops import real_ops

Known = dict[object, tuple[MemRefAccess, ir.Value]]
"""What memory holds: by place, the access that wrote or read it last and the value."""


def forward_stores(block: ir.Block) -> None:
    """Replace each load in `block`, at any depth, whose value an op that dominates it stored or loaded, by that value."""
    _forward(block, {})


def _forward(block: ir.Block, known: Known) -> None:
    for op in real_ops(block):
        if op.name == "affine.load":
            _load(op, known)
        elif op.name == "affine.store":
            access = access_of(op)
            _forget(known, [access.root])
            if access.element is not None:
                known[access.element] = access, op.operands[0]
        else:
            if known:
                _forget(known, written_roots(op))
            for region in op.regions:
                for inner in region.blocks:
                    _forward(inner, dict(known))


def _load(op: ir.Operation, known: Known) -> None:
    access = access_of(op)
    if access.element is None:
        return
    if access.element not in known:
        known[access.element] = access, op.results[0]
        return
    op.results[0].replace_all_uses_with(known[access.element][1])
    op.erase()


def _forget(known: Known, written: Iterable[ir.Value]) -> None:
    """Drop what writes to the memory of the roots `written` may change."""
    for root in written:
        for place in [place for place, (other, _) in known.items() if not are_apart(root, other.root)]:
            del known[place]


def remove_dead_stores(function: ir.Operation) -> None:
    """Remove stores that a later one of the same block overwrites unread, and local buffers that nobody reads.

    Loops that do nothing afterwards go too.
    """
    _remove_overwritten(function.regions[0].blocks[0])
    remove_unread_buffers(function)


def remove_unread_buffers(function: ir.Operation) -> None:
    """Remove local buffers of `function` that nobody reads, and loops that do nothing afterwards."""
    for alloc in [op for op in nested_ops(function) if op.name == "memref.alloc"]:
        _remove_unread(alloc)
    _remove_idle_loops(function.regions[0].blocks[0])


def _remove_overwritten(block: ir.Block) -> None:
    """Walk backwards: a store whose place is stored again before any op may read it is dead."""
    later: dict[object, MemRefAccess] = {}
    for op in reversed(real_ops(block)):
        if op.name == "affine.store":
            access = access_of(op)
            if access.element is not None and access.element in later:
                op.erase()
                continue
            if access.element is not None:
                later[access.element] = access
            continue
        for access in accesses_in(op) if later else ():
            if not _only_writes(access):
                for place in [place for place, other in later.items() if not are_apart(access.root, other.root)]:
                    del later[place]
        for region in op.regions:
            for inner in region.blocks:
                _remove_overwritten(inner)


def _only_writes(access: MemRefAccess) -> bool:
    return access.op.name == "affine.store"


def local_users(alloc: ir.Operation) -> list[ir.Operation] | None:
    """The ops that use the buffer or a view of it, views and deallocations left out; None when it is handed on."""
    found: list[ir.Operation] = []
    waiting = [alloc.results[0]]
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user.name in VIEW_OPS:
                waiting.extend(user.results)
            elif user.name == "affine.store" and root_of(user.operands[0]) == alloc.results[0]:
                return None
            elif user.name in ("affine.load", "affine.store", "memref.load", "memref.store", "memref.dim"):
                found.append(user)
            elif user.name != "memref.dealloc":
                return None
    return found


def _remove_unread(alloc: ir.Operation) -> None:
    """Remove a buffer that is written only, with its stores."""
    users = local_users(alloc)
    if users is None or any(user.name not in ("affine.store", "memref.store") for user in users):
        return
    for user in users:
        user.erase()
    erase_with_views(alloc)


def erase_with_views(op: ir.Operation) -> None:
    """Erase a buffer that only views and deallocations use."""
    for result in op.results:
        for use in list(result.uses):
            erase_with_views(use.owner.operation)
    op.erase()


def _remove_idle_loops(block: ir.Block) -> None:
    """Remove loops without results that no longer write anything."""
    for op in real_ops(block):
        if op.name != "affine.for":
            continue
        _remove_idle_loops(op.regions[0].blocks[0])
        if not len(op.results) and all(_is_idle(inner) for inner in nested_ops(op)):
            op.erase()


def _is_idle(op: ir.Operation) -> bool:
    return op.name.startswith(("arith.", "math.", "affine.load", "affine.apply", "affine.yield", "affine.for", "memref.load"))
