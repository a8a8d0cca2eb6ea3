"""Cosines and sines of rotary embedding: those with a column per feature as ones with a column per pair."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl import op_class
from dlc.lowering.dl.matching import attributes_of, erase_unused, groups_of, source, type_of
from dlc.lowering.dl.patterns import scalar
from dlc.lowering.policy import policy

_ELEMENTWISE = frozenset({"dl.cos", "dl.sin", "dl.cast", "dl.neg"})
_SCALED = frozenset({"dl.mul", "dl.div"})


@dataclass(frozen=True)
class Halving:
    """How to compute angles with one column per pair: by these steps, the last one first, from `source`."""

    source: ir.Value
    steps: tuple[ir.Operation, ...]

    def build(self) -> ir.Value:
        """The angles; every step stands where it stood for all columns."""
        value = self.source
        for op in reversed(self.steps):
            found = op_class(op.name)
            assert found is not None
            with ir.InsertionPoint(op), op.location:
                value = found.build(value, *groups_of(op)[1:], **attributes_of(op))
        return value


def halving(value: ir.Value, interleaved: bool) -> Halving | None:
    """How to compute `value` with one column for each pair of features; None unless both columns are surely equal.

    Elementwise ops, new axes and transposes are traced back to where the columns were repeated: concat(f, f), or with
    `interleaved` repeats of each column.
    """
    steps: list[ir.Operation] = []
    axis = type_of(value).rank - 1
    for _ in range(policy().limits.pattern_depth):
        found = _each_twice(value, axis) if interleaved else _side_by_side(value, axis)
        if found is not None:
            return Halving(found, tuple(steps))
        op = source(value)
        columns = None if op is None else _axis_before(op, axis)
        if op is None or columns is None:
            return None
        axis = columns
        steps.append(op)
        value = op.operands[0]
    return None


def _axis_before(op: ir.Operation, axis: int) -> int | None:
    """The axis of an op's first operand that its result has as `axis`; None where the op may treat columns differently."""
    if op.name in _ELEMENTWISE:
        return axis
    if op.name in _SCALED:
        is_scale = scalar(op.operands[1]) is not None and type_of(op.operands[1]).rank <= type_of(op.operands[0]).rank
        return axis if is_scale else None
    if op.name == "dl.transpose":
        return int(attributes_of(op)["perm"][axis])
    if op.name != "dl.unsqueeze":
        return None
    rank = type_of(op.results[0]).rank
    added = [new % rank for new in attributes_of(op)["axes"]]
    return None if axis in added else axis - sum(new < axis for new in added)


def _side_by_side(value: ir.Value, axis: int) -> ir.Value | None:
    """f where `value` is concat(f, f) along the axis."""
    op = source(value, "dl.concat")
    rank = type_of(value).rank
    if op is None or attributes_of(op)["axis"] % rank != axis or op.operands[0] != op.operands[1]:
        return None
    return op.operands[0]


def _each_twice(value: ir.Value, axis: int) -> ir.Value | None:
    """f where `value`, along its last axis, is reshape(expand(unsqueeze(f))) or reshape(concat(unsqueeze(f), unsqueeze(f)))."""
    merge = source(value, "dl.reshape") if axis == type_of(value).rank - 1 else None
    wide = None if merge is None else source(merge.operands[0])
    if wide is None or wide.name not in ("dl.expand", "dl.tile", "dl.concat"):
        return None
    if wide.name == "dl.concat" and wide.operands[0] != wide.operands[1]:
        return None
    view = source(wide.operands[0])
    if view is None or view.name not in ("dl.unsqueeze", "dl.reshape"):
        return None
    inner = view.operands[0]
    own, new, twice, flat = (type_of(item).shape for item in (inner, view.results[0], wide.results[0], value))
    size = own[-1] if own else None
    fits = isinstance(size, int) and new == (*own, 1) and twice == (*own, 2) and len(flat) == len(own)
    return inner if fits and isinstance(size, int) and flat[-1] == 2 * size else None


def angles(value: ir.Value, positions: int) -> ir.Value:
    """Angles that broadcast to x, whose axis 1 or 2 has the positions, as [batch or 1, positions, pairs], built if need be."""
    rank = type_of(value).rank
    view = source(value, "dl.unsqueeze")
    if rank == 4 and view is not None and [axis % 4 for axis in attributes_of(view)["axes"]] == [3 - positions]:
        inner: ir.Value = view.operands[0]
        erase_unused([view])
        return inner
    if rank == 4:
        squeezed: ir.Value = dl.squeeze(value, axes=[3 - positions])
        return squeezed
    if rank == 3 and positions == 2:
        return value
    if rank == 3:
        value = dl.squeeze(value, axes=[1])
    added: ir.Value = dl.unsqueeze(value, axes=list(range(3 - type_of(value).rank)))
    return added
