"""The tensors that a loop carries: their names inside and behind it, and what a step hands on."""

from __future__ import annotations

from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl.types import tensor_type

_FOR_BOUNDS = 3


@dataclass(frozen=True)
class CarriedTensor:
    """A tensor that is `start` before a loop, then goes by `names` in it and behind it; `handed_on` is what a step gives."""

    start: ir.Value
    names: tuple[ir.Value, ...]
    handed_on: ir.Value


def carried_tensors(loop: ir.Operation) -> list[CarriedTensor]:
    """Those of an `scf.for`, or of an `scf.while` whose first block hands on what it is given."""
    given = list(loop.operands)[_FOR_BOUNDS if loop.name == "scf.for" else 0 :]
    arguments, passed = _names(loop)
    body = loop.regions[len(loop.regions) - 1].blocks[0]
    ends = body.operations[len(body.operations) - 1].operation.operands
    found = []
    for number, (start, argument) in enumerate(zip(given, arguments, strict=True)):
        if tensor_type(start.type) is not None:
            found.append(CarriedTensor(start, (argument, *passed[number]), ends[number]))
    return found


def _names(loop: ir.Operation) -> tuple[list[ir.Value], list[list[ir.Value]]]:
    """The arguments of the first block, and the other names of each."""
    block = loop.regions[0].blocks[0]
    if loop.name == "scf.for":
        return list(block.arguments)[1:], [[result] for result in loop.results]
    condition = block.operations[len(block.operations) - 1].operation
    inside = list(loop.regions[1].blocks[0].arguments)
    others: list[list[ir.Value]] = [[] for _ in block.arguments]
    for place, value in enumerate(list(condition.operands)[1:]):
        for number, argument in enumerate(block.arguments):
            if value == argument:
                others[number] += [inside[place], loop.results[place]]
    return list(block.arguments), others
