"""Tensors that nobody reads after a call, so that the function called may write over them."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, root_of
from dlc.analysis.symbols import calls_of

RESHAPES = frozenset({"tensor.collapse_shape", "tensor.expand_shape"})
"""Ops whose result has the elements of their first operand, in the same order."""


def dead_arguments(module: ir.Operation) -> dict[str, set[int]]:
    """By name of each function of `module` that is only called: the arguments whose tensors no call leaves in use.

    At each call it is the result of an op of the same block, not an empty or a constant tensor, and this call is the last one to
    read it or a reshape of it. Bufferization gives such an argument's memory away without a copy.
    """
    dead: dict[str, set[int]] = {}
    for function, sites in calls_of(module).items():
        places = [{place for place in range(len(site.operands)) if _ends_at(site, place)} for site in sites or ()]
        dead[function] = set.intersection(*places) if places else set()
    return dead


def _ends_at(call: ir.Operation, place: int) -> bool:
    """Whether operand `place` of `call` is read for the last time by it."""
    root = root_of(call.operands[place], RESHAPES)
    source = defining_op(root)
    if source is None or source.block != call.block or source.name in ("tensor.empty", "arith.constant"):
        return False
    uses = [use for value in _reshapes_of(root) for use in value.uses]
    times = sum(use.owner.operation == call for use in uses)
    others = [use.owner.operation for use in uses if use.owner.operation != call]
    return times == 1 and all(
        user.name in RESHAPES or (user.block == call.block and user.is_before_in_block(call)) for user in others
    )


def _reshapes_of(root: ir.Value) -> list[ir.Value]:
    """`root` and all reshapes of it."""
    found = [root]
    for value in found:
        users = [use.owner.operation for use in value.uses]
        found += [user.results[0] for user in users if user.name in RESHAPES]
    return found
