"""Schedules of a model's kernels as a table that a file holds, a tuner changes, and `compile` obeys.

    {"kernel_3_conv_relu": {"0": {"emitter": "tile", "lane_loop": 3, "lanes": 16, "vectors": 2, "unroll_and_jam": [[1, 7]]}}}

A kernel goes by its name in the IR or by a pattern (`*_conv_*`), a nest of it by its number. What a table leaves out is the
cost model's. `dlc compile --emit=schedule` writes the whole table of a model.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.devices import refuse_endless
from dlc.diagnostics import did_you_mean
from dlc.errors import InvalidInputError
from dlc.lowering.affine.codegen.schedule_generic import GENERIC
from dlc.lowering.affine.schedule.assign_schedules import SCHEDULES
from dlc.lowering.affine.schedule.nest_schedule import NEST, NestSchedule, ScheduleError, schedule_of
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipeline_run import Instrument

Nests = Mapping[int, NestSchedule]
"""The schedules of one kernel's nests by number."""


@dataclass(frozen=True)
class ScheduleTable:
    """Schedules by name or pattern of a kernel, then by nest."""

    kernels: Mapping[str, Nests]

    @staticmethod
    def read(file: Path) -> ScheduleTable:
        """The table in a JSON file; `InvalidInputError` that names the file and the entry that is wrong."""
        try:
            refuse_endless(file)
            content = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidInputError(f"{file}: error: cannot read the schedules: {error.strerror}") from None
        except ValueError as error:
            raise InvalidInputError(f"{file}: error: the schedules are no JSON: {error}") from None
        try:
            return ScheduleTable.of_json(content)
        except InvalidInputError as error:
            raise InvalidInputError(f"{file}: error: {error}") from None

    @staticmethod
    def of_json(content: Any) -> ScheduleTable:
        """The table of plain data, the inverse of `to_json`; `InvalidInputError` that names the entry that is wrong."""
        if not isinstance(content, Mapping):
            raise InvalidInputError("schedules are an object with one entry for each kernel")
        return ScheduleTable({kernel: dict(_nests(kernel, entry)) for kernel, entry in content.items()})

    def to_json(self) -> dict[str, Any]:
        """Plain data for a file."""
        return {
            kernel: {str(number): _fields(schedule) for number, schedule in sorted(nests.items())}
            for kernel, nests in self.kernels.items()
        }

    def attach(self, module: ir.Module) -> None:
        """Write the schedules on the kernels of `module`; `InvalidInputError` for an entry that names no kernel.

        Later entries win where several name one kernel.
        """
        functions = {name: op for op in _kernels(module) for name in [ir.StringAttr(op.attributes["sym_name"]).value]}
        for pattern, nests in self.kernels.items():
            names = fnmatch.filter(functions, pattern)
            if not names:
                hint = did_you_mean(pattern, functions) or "; `dlc explain` lists the kernels"
                raise InvalidInputError(f"schedules: no kernel is called '{pattern}'{hint}")
            for name in names:
                attach_to(functions[name], nests)


Schedules = ScheduleTable | str | os.PathLike[str] | Mapping[str, Any]
"""What `compile` takes as schedules: a table, a JSON file, or its content."""


def read_schedules(given: Schedules | None) -> ScheduleTable | None:
    """The table that is meant; `InvalidInputError` that names what is wrong with it."""
    if given is None or isinstance(given, ScheduleTable):
        return given
    if isinstance(given, Mapping):
        return ScheduleTable.of_json(given)
    if not isinstance(given, (str, os.PathLike)):
        raise InvalidInputError(f"a schedule is a file, its content or None, not {type(given).__name__}")
    return ScheduleTable.read(Path(given))


def attach_to(function: ir.Operation, nests: Nests) -> None:
    """Write schedules on one kernel, beside those that are there."""
    with function.context:
        known = ir.DictAttr(function.attributes[SCHEDULES]) if SCHEDULES in function.attributes else ()
        given = {str(number): schedule.attribute() for number, schedule in nests.items()}
        function.attributes[SCHEDULES] = ir.DictAttr.get({named.name: named.attr for named in known} | given)


SCHEDULED = "parallelize"
"""At this stage all nests have their schedules, and are still in their kernels."""


def chosen_schedules(module: ir.Module, passes: Pipeline, instruments: Sequence[Instrument] = ()) -> ScheduleTable:
    """The schedules of all kernels of `module`, which is consumed; `passes` lead to the stage `SCHEDULED`.

    `instruments` see them.
    """
    with module.context, ir.Location.unknown():
        passes.run(module, instruments=instruments)
    found = {}
    for function in _kernels(module):
        found[ir.StringAttr(function.attributes["sym_name"]).value] = dict(_scheduled(function))
    return ScheduleTable(found)


def generic_nests(module: ir.Module) -> dict[str, tuple[str, ...]]:
    """What became of the nests that go the generic affine path, by kernel; after `chosen_schedules`."""
    found = {ir.StringAttr(op.attributes["sym_name"]).value: op.attributes for op in _kernels(module)}
    return {
        name: tuple(ir.StringAttr(text).value for text in ir.ArrayAttr(attributes[GENERIC]))
        for name, attributes in found.items()
        if GENERIC in attributes
    }


def _scheduled(function: ir.Operation) -> Iterator[tuple[int, NestSchedule]]:
    """The numbered nests of a function with their schedules; those that no emitter took are `generic`."""
    for op in nested_ops(function):
        if NEST in op.attributes:
            yield ir.IntegerAttr(op.attributes[NEST]).value, schedule_of(op) or NestSchedule("generic")


def _kernels(module: ir.Module) -> Iterator[ir.Operation]:
    for op in module.body.operations:
        if op.operation.name == "func.func" and is_kernel(op.operation) and len(op.regions[0].blocks):
            yield op.operation


def _nests(kernel: str, entry: Any) -> Iterator[tuple[int, NestSchedule]]:
    if not isinstance(entry, dict):
        raise InvalidInputError(f"schedules of '{kernel}' are an object with one entry for each nest")
    for number, fields in entry.items():
        if not number.isdecimal():
            raise InvalidInputError(f"schedules of '{kernel}': nests go by number, not '{number}'")
        try:
            yield int(number), _schedule(fields)
        except ScheduleError as error:
            raise InvalidInputError(f"schedule of nest {number} of '{kernel}': {error}") from None


def _fields(schedule: NestSchedule) -> dict[str, Any]:
    """The fields that differ from their defaults, and the emitter."""
    fields = {field.name: (getattr(schedule, field.name), field.default) for field in dataclasses.fields(schedule)}
    return {name: _lists(value) for name, (value, default) in fields.items() if value != default or name == "emitter"}


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _schedule(fields: Any) -> NestSchedule:
    """A schedule of plain data, checked as its attribute form is."""
    if not isinstance(fields, dict):
        raise ScheduleError(f"a schedule is an object, not {fields!r}")
    known = {field.name: field.default for field in dataclasses.fields(NestSchedule)}
    for name, value in fields.items():
        if name in known and not _is_like(value, known[name]):
            raise ScheduleError(f"'{name}' of a schedule cannot be {json.dumps(value)}")
    given = {name: _tuples(value) for name, value in fields.items()}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ScheduleError(f"a schedule has no '{unknown[0]}'{did_you_mean(unknown[0], known)}")
    schedule = NestSchedule(**given)
    with ir.Context():
        return NestSchedule.parse(schedule.attribute())


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _is_like(value: Any, default: object) -> bool:
    """Whether plain data can be the value of a field with this default."""
    if isinstance(default, (str, bool, int)):
        return type(value) is type(default)
    return isinstance(value, list) and all(type(item) is int or _is_pair(item) for item in value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(item) is int for item in value)
