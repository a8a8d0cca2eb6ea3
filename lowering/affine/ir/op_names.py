"""Names that ops carry through a pass in their locations, so that it can be told where the ops of its result come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.diagnostics import names_of

_PREFIX = "dlc.op."


def name_ops(function: ir.Operation) -> None:
    """Wrap the location of every op of `function` in a name, its number in the text."""
    for number, op in enumerate(nested_ops(function)):
        op.location = ir.Location.name(f"{_PREFIX}{number}", op.location)


def origins(after: ir.Operation, before: ir.Operation) -> Mapping[ir.Operation, ir.Operation]:
    """The ops of `after`, made by a pass from a copy of `before` whose ops were named, to the ops that their names say.

    Where a pass made one op of several, the first counts.
    """
    ops = nested_ops(before)
    found = {}
    for op in nested_ops(after):
        numbers = [int(name.removeprefix(_PREFIX)) for name in names_of(op.location) if name.startswith(_PREFIX)]
        if numbers:
            found[op] = ops[numbers[0]]
    return found


def remove_names(function: ir.Operation) -> None:
    """Give the ops of `function` their own locations back."""
    for op in nested_ops(function):
        op.location = own_location(op.location)


def own_location(location: ir.Location) -> ir.Location:
    """`location` without the names of `name_ops`."""
    location = ir.Location.from_attr(location.attr, location.context)
    if isinstance(location, ir.NameLoc):
        child = own_location(location.child_loc)
        return child if location.name_str.startswith(_PREFIX) else ir.Location.name(location.name_str, child)
    if isinstance(location, ir.FusedLoc):
        return ir.Location.fused(_unique([own_location(part) for part in location.locations]))
    if isinstance(location, ir.CallSiteLoc):
        return ir.Location.callsite(own_location(location.callee), [own_location(location.caller)])
    return location


def _unique(locations: Sequence[ir.Location]) -> list[ir.Location]:
    found: list[ir.Location] = []
    for location in locations:
        if location not in found:
            found.append(location)
    return found
