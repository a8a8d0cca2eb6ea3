"""How long one iteration waits for the one before: cycles through the ops from what it reads to what it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.targets.machine import Machine

_ANY_CPU = Machine()
_INSTRUCTIONS = {"arith.divf": "divide_f64", "math.sqrt": "sqrt_f32"}
"""Ops that take longer than products, on any recent core; calls of functions take longer than these."""

PRODUCT_LATENCY = _ANY_CPU.instruction("fma_f32").latency
"""Cycles from one multiply-add to the next one that needs it."""


def chain_latency(strides: Mapping[MemRefAccess, int | None]) -> float:
    """The longest way from a load to a store of the same array, of accesses with their strides along the loop that carries it.

    Only loads count that move as the store does: these may be of what it stored some iterations before. At least one multiply-add.
    """
    found = [PRODUCT_LATENCY]
    for write, step in strides.items():
        if write.writes and write.array.is_memory:
            own = frozenset(one for one, by in strides.items() if one.array is write.array and not one.writes and by == step)
            found.append(_known_latency(write, own))
    return max(found)


_KNOWN: WeakKeyDictionary[MemRefAccess, dict[frozenset[MemRefAccess], float]] = WeakKeyDictionary()
"""What is known of writes so far: it is asked for every tile that is weighed."""


def _known_latency(write: MemRefAccess, loads: frozenset[MemRefAccess]) -> float:
    """Cycles from one of `loads` to what `write` stores; 0 where it comes from none of them."""
    known = _KNOWN.setdefault(write, {})
    if loads not in known:
        known[loads] = _latency(write.op.operands[0], [one.op for one in loads]) or 0.0
    return known[loads]


def _latency(value: ir.Value, loads: Sequence[ir.Operation]) -> float | None:
    """Cycles from one of `loads` to `value`; None where it comes from none of them. A product that is added costs nothing."""
    op = defining_op(value)
    if op is None or "load" in op.name:
        return 0.0 if op is not None and op in loads else None
    ways = [cycles for operand in op.operands if (cycles := _latency(operand, loads)) is not None]
    is_fused = op.name == "arith.mulf" and all(use.owner.operation.name in ("arith.addf", "arith.subf") for use in value.uses)
    return max(ways) + (0.0 if is_fused else _cycles_of(op)) if ways else None


def _cycles_of(op: ir.Operation) -> float:
    default = "fma_f32" if isinstance(op.results[0].type, ir.FloatType) else "integer_i32"
    return _ANY_CPU.instruction(_INSTRUCTIONS.get(op.name, default)).latency
