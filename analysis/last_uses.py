"""Tensors that nobody reads after a call, so that the function called may write over them."""

from __future__ import annotations

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, nested_ops
from dlc.analysis.symbols import callee_of, names_in

RESHAPES = frozenset({"tensor.collapse_shape", "tensor.expand_shape"})
"""Ops whose result has the elements of their first operand, in the same order."""


def dead_arguments(module: ir.Operation) -> dict[str, set[int]]:
    """By name of each function of `module` that is only called: the arguments whose tensors no call leaves in use.

    At each call it is the result of an op of the same block, not an empty or a constant tensor, and this call is the last one to
    read it or a reshape of it. Bufferization gives such an argument's memory away without a copy.
    """
    dead: dict[str, set[int]] = {}
    for function, sites in call_sites(module).items():
        places = [{place for place in range(len(site.operands)) if _ends_at(site, place)} for site in sites]
        dead[function] = set.intersection(*places) if places else set()
    return dead


def call_sites(module: ir.Operation) -> dict[str, list[ir.Operation]]:
    """The calls of each function of `module`, by its name; none of functions that other ops name, too."""
    found: dict[str, list[ir.Operation]] = {}
    named: set[str] = set()
    for op in nested_ops(module):
        if op.name == "func.call" and names_in(op, module):
            found.setdefault(callee_of(op), []).append(op)
            continue
        symbols = (attribute for attribute in op.attributes.values() if isinstance(attribute, ir.FlatSymbolRefAttr))
        named.update(symbol.value for symbol in symbols)
    return {name: sites for name, sites in found.items() if name not in named}


def _ends_at(call: ir.Operation, place: int) -> bool:
    """Whether operand `place` of `call` is read for the last time by it."""
    root = source_of(call.operands[place])
    source = defining_op(root)
    if source is None or source.block != call.block or source.name in ("tensor.empty", "arith.constant"):
        return False
    uses = [use for value in _reshapes_of(root) for use in value.uses]
    times = sum(use.owner.operation == call for use in uses)
    others = [use.owner.operation for use in uses if use.owner.operation != call]
    return times == 1 and all(
        user.name in RESHAPES or (user.block == call.block and user.is_before_in_block(call)) for user in others
    )


def source_of(value: ir.Value) -> ir.Value:
    """The tensor that `value` is a reshape of, through any number of them."""
    op = defining_op(value)
    while op is not None and op.name in RESHAPES:
        value = op.operands[0]
        op = defining_op(value)
    return value


def _reshapes_of(root: ir.Value) -> list[ir.Value]:
    """`root` and all reshapes of it."""
    found = [root]
    for value in found:
        users = [use.owner.operation for use in value.uses]
        found += [user.results[0] for user in users if user.name in RESHAPES]
    return found
