"""Schedules of a model's kernels as a table that a file holds, a tuner changes, and `compile` obeys.

    {"kernel_3_conv_relu": {"0": {"code_generator": "tile", "lane_loop": 3, "lanes": 16, "vectors": 2, "unroll_and_jam": [[1, 7]]}}}

A kernel goes by its name in the IR or by a pattern (`*_conv_*`), a nest of it by its number. What a table leaves out is the
cost model's. `dlc compile --emit=schedule` writes the whole table of a model. The entry `steps` of a kernel holds steps of a
`dlc.Schedule` on its loops, which are made first: a list of calls, or what `to_python` or `to_transform` printed.

    {"kernel_5_matmul_add": {"steps": ["distribute(loop='S0:1', before=['S2'])"]}}
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.devices import refuse_endless
from dlc.diagnostics import did_you_mean
from dlc.errors import InvalidInputError, ScheduleError
from dlc.lowering.affine.codegen.schedule_generic import GENERIC
from dlc.lowering.affine.ir.loops import NEST
from dlc.lowering.affine.ir.tile import FORMER_NAMES, Tile, TileError, tile_at
from dlc.lowering.affine.schedule.assign_schedules import SCHEDULES, STEPS
from dlc.lowering.affine.schedule.schedule_text import lines_of
from dlc.lowering.outlining import is_kernel
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipeline_run import Instrument

Nests = Mapping[int, Tile]
"""The schedules of one kernel's nests by number."""


@dataclass(frozen=True)
class ScheduleTable:
    """Schedules by name or pattern of a kernel, then by nest; and the steps that a kernel's loops are changed by before."""

    kernels: Mapping[str, Nests]
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        nests = {kernel: dict(_nests(kernel, entry)) for kernel, entry in content.items()}
        return ScheduleTable(nests, {kernel: _steps(kernel, entry[_STEPS]) for kernel, entry in content.items() if _STEPS in entry})

    def to_json(self) -> dict[str, Any]:
        """Plain data for a file."""
        return {
            kernel: ({_STEPS: list(self.steps[kernel])} if self.steps.get(kernel) else {})
            | {str(number): _fields(schedule) for number, schedule in sorted(self.kernels.get(kernel, {}).items())}
            for kernel in dict.fromkeys((*self.kernels, *self.steps))
        }

    def attach(self, module: ir.Module) -> None:
        """Write the schedules on the kernels of `module`; `InvalidInputError` for an entry that names no kernel."""
        functions = kernels_of(module)
        for name, (nests, steps) in self.entries(functions).items():
            attach_to(functions[name], nests, steps)

    def entries(self, names: Collection[str]) -> dict[str, tuple[Nests, tuple[str, ...]]]:
        """What is given for the kernels `names`: schedules of nests, and steps. Later entries win where several name one kernel.

        `InvalidInputError` for an entry that names none of them.
        """
        found: dict[str, tuple[Nests, tuple[str, ...]]] = {}
        for pattern in dict.fromkeys((*self.kernels, *self.steps)):
            fitting = fnmatch.filter(names, pattern)
            if not fitting:
                hint = did_you_mean(pattern, names) or f"; the model has {_listed(names)}"
                raise InvalidInputError(f"schedules: no kernel is called '{pattern}'{hint}")
            for name in fitting:
                nests, steps = found.get(name, ({}, ()))
                found[name] = {**nests, **self.kernels.get(pattern, {})}, self.steps.get(pattern, steps)
        return found


@runtime_checkable
class HasTable(Protocol):
    """What makes a table of schedules, as the kernels of a model do (`dlc.kernels`)."""

    def table(self) -> ScheduleTable:
        """The table."""


Schedules = ScheduleTable | HasTable | str | os.PathLike[str] | Mapping[str, Any]
"""What `compile` takes as schedules: a table, kernels with schedules, a JSON file, or its content."""


def read_schedules(given: Schedules | None) -> ScheduleTable | None:
    """The table that is meant; `InvalidInputError` that names what is wrong with it."""
    if given is None or isinstance(given, ScheduleTable):
        return given
    if isinstance(given, HasTable):
        return given.table()
    if isinstance(given, Mapping):
        return ScheduleTable.of_json(given)
    if not isinstance(given, (str, os.PathLike)):
        raise InvalidInputError(f"a schedule is a file, its content or None, not {type(given).__name__}")
    return ScheduleTable.read(Path(given))


def attach_to(function: ir.Operation, nests: Nests, steps: Sequence[str] = ()) -> None:
    """Write schedules on one kernel, beside those that are there; steps take the place of others."""
    with function.context:
        if steps:
            function.attributes[STEPS] = ir.ArrayAttr.get([ir.StringAttr.get(line) for line in steps])
        if not nests:
            return
        known = ir.DictAttr(function.attributes[SCHEDULES]) if SCHEDULES in function.attributes else ()
        given = {str(number): schedule.attribute() for number, schedule in nests.items()}
        function.attributes[SCHEDULES] = ir.DictAttr.get({named.name: named.attr for named in known} | given)


def chosen_schedules(module: ir.Module, passes: Pipeline, instruments: Sequence[Instrument] = ()) -> ScheduleTable:
    """The schedules of all kernels of `module`, which is consumed; `passes` lead to the stage `SCHEDULED`.

    `instruments` see them.
    """
    with module.context, ir.Location.unknown():
        passes.run(module, instruments=instruments)
    return ScheduleTable({name: dict(_scheduled(function)) for name, function in kernels_of(module).items()})


def generic_nests(module: ir.Module) -> dict[str, tuple[str, ...]]:
    """What became of the nests that go the generic affine path, by kernel; after `chosen_schedules`."""
    found = {name: op.attributes for name, op in kernels_of(module).items()}
    return {
        name: tuple(ir.StringAttr(text).value for text in ir.ArrayAttr(attributes[GENERIC]))
        for name, attributes in found.items()
        if GENERIC in attributes
    }


def _scheduled(function: ir.Operation) -> Iterator[tuple[int, Tile]]:
    """The numbered nests of a function with their schedules; those that no code generator took are `generic`."""
    for op in nested_ops(function):
        if NEST in op.attributes:
            yield ir.IntegerAttr(op.attributes[NEST]).value, tile_at(op) or Tile("generic")


def kernels_of(module: ir.Module) -> dict[str, ir.Operation]:
    """The kernels of a module by name."""
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    found = [op for op in functions if is_kernel(op) and len(op.regions[0].blocks)]
    return {symbol_name(op): op for op in found}


def given_steps(module: ir.Module) -> dict[str, tuple[str, ...]]:
    """The steps on the kernels of a module that `ScheduleTable.attach` has written."""
    given = {name: op.attributes[STEPS] for name, op in kernels_of(module).items() if STEPS in op.attributes}
    return {name: tuple(ir.StringAttr(line).value for line in ir.ArrayAttr(lines)) for name, lines in given.items()}


_MOST_LISTED = 8


def _listed(names: Collection[str]) -> str:
    """Some of the names, for messages."""
    rest = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return (", ".join(list(names)[:_MOST_LISTED]) or "no kernels") + rest


_STEPS = "steps"


def _steps(kernel: str, given: Any) -> tuple[str, ...]:
    """The calls of the entry `steps`."""
    if not isinstance(given, str) and not (isinstance(given, list) and all(isinstance(line, str) for line in given)):
        raise InvalidInputError(f"steps of '{kernel}' are a list of calls or a text")
    try:
        return lines_of(given if isinstance(given, str) else "\n".join(given))
    except ScheduleError as error:
        raise InvalidInputError(f"steps of '{kernel}': {error.reason}; {error.remedy}") from None


def _nests(kernel: str, entry: Any) -> Iterator[tuple[int, Tile]]:
    if not isinstance(entry, dict):
        raise InvalidInputError(f"schedules of '{kernel}' are an object with one entry for each nest")
    for number, fields in entry.items():
        if number == _STEPS:
            continue
        if not number.isdecimal():
            raise InvalidInputError(f"schedules of '{kernel}': nests go by number, not '{number}'")
        try:
            yield int(number), _schedule(fields)
        except TileError as error:
            raise InvalidInputError(f"schedule of nest {number} of '{kernel}': {error}") from None


def _fields(schedule: Tile) -> dict[str, Any]:
    """The fields that differ from their defaults, and the code generator."""
    fields = {field.name: (getattr(schedule, field.name), field.default) for field in dataclasses.fields(schedule)}
    return {name: _lists(value) for name, (value, default) in fields.items() if value != default or name == "code_generator"}


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _schedule(fields: Any) -> Tile:
    """A schedule of plain data, checked as its attribute form is."""
    if not isinstance(fields, dict):
        raise TileError(f"a schedule is an object, not {fields!r}")
    known = {field.name: field.default for field in dataclasses.fields(Tile)}
    fields = {FORMER_NAMES.get(name, name): value for name, value in fields.items()}
    for name, value in fields.items():
        if name in known and not _is_like(value, known[name]):
            raise TileError(f"'{name}' of a schedule cannot be {json.dumps(value)}")
    given = {name: _tuples(value) for name, value in fields.items()}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise TileError(f"a schedule has no '{unknown[0]}'{did_you_mean(unknown[0], known)}")
    schedule = Tile(**given)
    with ir.Context():
        return Tile.parse(schedule.attribute())


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _is_like(value: Any, default: object) -> bool:
    """Whether plain data can be the value of a field with this default."""
    if isinstance(default, (str, bool, int)):
        return type(value) is type(default)
    return isinstance(value, list) and all(type(item) is int or _is_pair(item) for item in value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(item) is int for item in value)
