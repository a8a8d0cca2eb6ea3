"""Schedules as named sequences of MLIR's transform dialect, and back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from dlc._mlir import ir
from dlc.diagnostics import from_mlir
from dlc.errors import ScheduleError
from dlc.lowering.affine.ir.tile import FORMER_NAMES
from dlc.lowering.affine.schedule.steps import METHODS, SHARED, Planned, Recorded, Steps, arguments_of
from dlc.lowering.pass_base import OptionError, Pass
from dlc.lowering.registry import find_pass


def as_transform(where: Mapping[str, Any], steps: Sequence[Recorded]) -> str:
    """A module with the named sequence `__transform_main`, one registered pass a step."""
    any_op = "!transform.any_op"
    lines = [
        "module attributes {transform.with_named_sequence} {",
        f"  transform.named_sequence @__transform_main(%module: {any_op} {{transform.consumed}}) {{",
        f'    %0 = transform.structured.match ops{{["func.func"]}} attributes {{sym_name = {json.dumps(where["function"])}}}'
        f" in %module : ({any_op}) -> {any_op}",
    ]
    for number, step in enumerate(steps):
        given = [*arguments_of(step.change), *((key, value) for key, value in where.items() if value)]
        options = ", ".join(f'"{key.replace("_", "-")}" = {_attribute(value)}' for key, value in given)
        lines.append(
            f'    %{number + 1} = transform.apply_registered_pass "{step.change.name()}" with options = {{ {options} }}'
            f" to %{number} : ({any_op}) -> {any_op}"
        )
    return "\n".join([*lines, "    transform.yield", "  }", "}", ""])


def _attribute(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_attribute(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else str(value)


def from_transform(text: str) -> Steps:
    """What `as_transform` printed; ScheduleError says what else the text holds."""
    from dlc.dialects import make_context

    with make_context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError as error:
            raise ScheduleError("the text is no MLIR", "", [from_mlir(found) for found in error.error_diagnostics]) from None
        changes = [_pass_of(op) for op in _sequence(module) if op.name == "transform.apply_registered_pass"]
    shared = [{key: getattr(change, key) for key in SHARED} for change in changes]
    if any(other != shared[0] for other in shared):
        raise ScheduleError("the steps differ in the function or in what they assume", "make one schedule for each")
    fields = [{field.name: getattr(change, field.name) for field in dataclasses.fields(change)} for change in changes]
    planned = [Planned(type(change), given) for change, given in zip(changes, fields, strict=True)]
    return Steps(shared[0] if shared else {}, tuple(planned))


def _sequence(module: ir.Module) -> list[ir.Operation]:
    known = ("transform.structured.match", "transform.apply_registered_pass", "transform.yield")
    for sequence in module.body.operations:
        ops = [op.operation for op in sequence.operation.regions[0].blocks[0].operations]
        strange = next((op for op in ops if op.name not in known), None)
        if strange is not None:
            raise ScheduleError(f"a schedule has no '{strange.name}'", "apply it with MLIR's transform interpreter instead")
        return ops
    raise ScheduleError("the module holds no named sequence", "give what Schedule.to_transform printed")


def _pass_of(op: ir.Operation) -> Pass:
    name = ir.StringAttr(op.attributes["pass_name"]).value
    options = ir.DictAttr(op.attributes["options"]) if "options" in op.attributes else {}
    found = find_pass(name) if name in METHODS.values() else None
    if found is None:
        raise ScheduleError(f"pass '{name}' is no step of a schedule", f"use {', '.join(sorted(set(METHODS.values())))}")
    given = {FORMER_NAMES.get(entry.name, entry.name).replace("_", "-"): _option(entry.attr) for entry in options}
    try:
        return found.from_options(given)
    except OptionError as error:
        raise ScheduleError(str(error)) from None


def _option(value: ir.Attribute) -> str:
    """The text of an option's value as it stands in a pipeline."""
    if isinstance(value, ir.ArrayAttr):
        return ",".join(_option(item) for item in value)
    return value.value if isinstance(value, ir.StringAttr) else str(value.value).lower()
