"""Loops that test at their end instead of their begin, as LLVM's loop rotation makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dlc._mlir import arith, ir
from dlc.analysis.buffers import nested_ops
from dlc.lowering.affine.ir.index_maps import constant_of
from dlc.lowering.policy import policy

OPTIMIZED = "dlc.optimized"
"""Marks modules in which LLVM's optimiser has no loop to rotate or to vectorise: code generation alone is left."""

_LOOPS = frozenset({"scf.for", "scf.while", "scf.parallel", "scf.forall"})
_JUMPS = frozenset({"cf.cond_br", "cf.switch"})


def needs_no_optimizer(ops: Sequence[ir.Operation]) -> bool:
    """Whether LLVM's optimiser would make no loop of `ops`, all of a module at level scf, faster.

    Innermost loops compute vectors, and one of them is larger than what LLVM unrolls. Those that carry values are as large and
    can be rotated; the others lose nothing by a test at their begin.
    """
    loops = [op for op in ops if op.name in _LOOPS]
    outer = {parent for loop in loops for parent in _parents_of(loop)}
    bodies = [(loop, nested_ops(loop)) for loop in loops if loop not in outer]
    has_large = any(len(body) > policy().limits.llvm_unrolled_ops for _, body in bodies)
    is_structured = not any(op.name in _JUMPS for op in ops)
    outer_rotate = all(_runs(loop) or not _carries(loop) for loop in loops if loop in outer)
    return has_large and is_structured and outer_rotate and all(_is_best(loop, body) for loop, body in bodies)


def _is_best(loop: ir.Operation, body: Sequence[ir.Operation]) -> bool:
    """Whether LLVM's optimiser would not make this innermost loop faster."""
    if not any(map(_is_of_vectors, body)):
        return False
    return not _carries(loop) or (_runs(loop) and len(body) > policy().limits.llvm_unrolled_ops)


def _carries(loop: ir.Operation) -> bool:
    """Whether iterations pass values on."""
    return loop.name != "scf.for" or bool(loop.results)


def rotate_loops(ops: Iterable[ir.Operation]) -> None:
    """Let the `scf.for` among `ops` that run at least once become `scf.while` loops that test behind their body.

    What such a loop carries stays in its registers: the values at its end are those that follow it, where a test at the begin
    needs a second copy of each, for which 24 sums of 32 vector registers leave no room.
    """
    for loop in [op for op in ops if op.name == "scf.for" and _runs(op)]:
        _rotate(loop)


def _runs(loop: ir.Operation) -> bool:
    """Whether a loop is known to run at least once."""
    if loop.name != "scf.for" or "unsignedCmp" in loop.attributes:
        return False
    low, high = (constant_of(bound) for bound in list(loop.operands)[:2])
    return low is not None and high is not None and low < high


def _parents_of(loop: ir.Operation) -> Iterator[ir.Operation]:
    """The ops around a loop."""
    parent = loop.parent
    while parent is not None:
        yield parent.operation
        parent = parent.parent


def _is_of_vectors(op: ir.Operation) -> bool:
    return any(isinstance(value.type, ir.VectorType) for value in [*op.results, *op.operands])


def _rotate(loop: ir.Operation) -> None:
    low, high, step, *given = loop.operands
    kinds, place = [low.type, *(value.type for value in given)], loop.location
    with ir.InsertionPoint(loop), place:
        rotated = ir.Operation.create("scf.while", results=kinds, operands=[low, *given], regions=2)
    body = loop.regions[0].blocks[0]
    body.append_to(rotated.regions[0])
    _test_at_end(body, high, step)
    after = rotated.regions[1].blocks.append(*kinds, arg_locs=[place] * len(kinds))
    with ir.InsertionPoint(after), place:
        ir.Operation.create("scf.yield", operands=list(after.arguments))
    for old, new in zip(loop.results, list(rotated.results)[1:], strict=True):
        old.replace_all_uses_with(new)
    loop.erase()


def _test_at_end(body: ir.Block, high: ir.Value, step: ir.Value) -> None:
    """Let the body of an `scf.for` end with the test of an `scf.while`."""
    end = body.operations[len(body.operations) - 1].operation
    with ir.InsertionPoint(end), end.location:
        following = arith.addi(body.arguments[0], step)
        goes_on = arith.cmpi(arith.CmpIPredicate.slt, following, high)
        ir.Operation.create("scf.condition", operands=[goes_on, following, *end.operands])
    end.erase()
