"""The kernels of a model, to look at and to edit their schedules.

kernels = dlc.kernels("model.onnx")
schedule = kernels["layer0/mlp/up/MatMul"].schedule       # by name, node or op
matmul, epilogue = schedule.distribute("S0:1", before=["S2"])
model = dlc.compile("model.onnx", schedule=kernels)
kernels.save("schedules.json")                            # dlc compile --schedule schedules.json
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from time import monotonic
from typing import Any

from dlc._mlir import ir
from dlc.accuracy import Precision, with_accuracy
from dlc.analysis.buffers import nested_ops
from dlc.diagnostics import did_you_mean, names_of
from dlc.errors import InvalidInputError, PassError, ScheduleError, quoted
from dlc.given_values import path_to_write, writing
from dlc.kernel_schedule import KernelSchedule
from dlc.lowering.affine.ir.loops import NEST
from dlc.lowering.affine.ir.op_names import name_ops
from dlc.lowering.affine.ir.tile import Tile, TileError
from dlc.lowering.affine.polyhedral.loop_marks import name_of
from dlc.lowering.affine.schedule.schedule_text import read_lines
from dlc.lowering.deadline import ending, timed
from dlc.lowering.pass_base import PassFailure
from dlc.lowering.pipeline import Pipeline
from dlc.option_values import DEFAULT_TARGET
from dlc.scheduling import ModelAtUnits, at_units
from dlc.sources import Model, ShapeOverrides, read_source
from dlc.targets.base import Target
from dlc.targets.registry import find_target
from dlc.targets.schedules import Schedules, ScheduleTable, attach_to, chosen_schedules, kernels_of, read_schedules
from dlc.targets.units import SCHEDULED

_LEVEL = "affine"
_NUMBERED = "func.func(affine-apply-steps,affine-assign-schedules)"


class Kernel:
    """One kernel of a model, with its schedule.

    `nodes` are the model's nodes that it computes, `ops` its ops at level dl, `function` its loops before schedules are chosen.
    """

    def __init__(self, name: str, ops: tuple[str, ...], function: ir.Operation, module: ir.Module, target: Target) -> None:
        self.name, self.ops, self.function = name, ops, function
        self._module = module  # what it stands in lives as long
        self.nodes = names_of(function.location)
        self._target = target
        self._nests: dict[int, Tile] = {}
        self._steps: tuple[str, ...] = ()

    @cached_property
    def schedule(self) -> KernelSchedule:
        """The schedule of the kernel's loops; `ScheduleError` where they are none that a schedule can change."""
        plan = read_lines(self._steps)
        assumed = {key: value for key, value in plan.where.items() if key in ("assume_no_alias", "reassociate")}
        try:
            made = KernelSchedule(self.function, self._try, self._searched, **assumed)
        except (ScheduleError, PassFailure) as error:
            reason = error.reason if isinstance(error, ScheduleError) else error.message
            remedy = "change its nests by number with choose()"
            raise ScheduleError(f"kernel '{self.name}' has no loops that steps can change: {reason}", remedy) from None
        made.follow(plan)
        return made

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of its schedule so far, as calls."""
        return self.schedule.to_lines() if "schedule" in vars(self) else self._steps

    @property
    def nests(self) -> Mapping[int, Tile]:
        """How each nest becomes code after the steps so far: what is given, and what the search chooses. For CPUs."""
        return self._scheduled(self._with(self.steps, self._nests)).kernels[self.name]

    def choose(self, nest: int, **choices: Any) -> Tile:
        """Change fields of the schedule that the search chooses for a nest, by its number; returns the whole.

        `ScheduleError` where the nest does not exist, or the schedule does not fit it. Steps come first: they change the numbers.
        """
        known = self.nests
        if type(nest) is not int or nest not in known:
            raise ScheduleError(f"kernel '{self.name}' has no nest {quoted(nest)}", f"its nests: {dict(known) or 'none'}")
        try:
            new = dataclasses.replace(known[nest], **choices)
        except TypeError:
            fields = [field.name for field in dataclasses.fields(Tile)]
            unknown = next(name for name in choices if name not in fields)
            raise ScheduleError(
                f"a schedule has no '{unknown}'{did_you_mean(unknown, fields)}", f"use {', '.join(fields)}"
            ) from None
        nests = {**self._nests, nest: new}
        try:
            self._scheduled(self._with(self.steps, nests))
        except PassError as error:
            raise ScheduleError(_told(error)) from None
        except TileError as error:
            raise ScheduleError(str(error), "give numbers, or tuples of them") from None
        self._nests = nests
        return new

    def emit(self, form: str = "") -> bytes:
        """The kernel alone as the target's code: `ptx`, `asm`, ... ; the first form that it writes by default."""
        module = self._with(self.steps, self._nests)
        with module.context, ir.Location.unknown():
            self._target.passes(_LEVEL, self._target.stages[-1]).run(module)
        return self._target.emit(module, form or self._target.forms[0])

    def lowered(self, to: str) -> ir.Module:
        """The kernel alone at a later level or stage."""
        module = self._with(self.steps, self._nests)
        with module.context, ir.Location.unknown():
            self._target.passes(_LEVEL, to).run(module)
        return module

    def scheduled(self, named: bool = False) -> ir.Module:
        """The kernel alone with all schedules made; where `named`, locations tell which ops it comes from (`ir/op_names.py`)."""
        module = self._with(self.steps, self._nests)
        with module.context, ir.Location.unknown():
            if named:
                name_ops(kernels_of(module)[self.name])
            self._target.passes(_LEVEL, SCHEDULED).run(module)
        return module

    def follow(self, steps: Iterable[str], nests: Mapping[int, Tile]) -> None:
        """Take over the entry of a table; steps are made when the schedule is asked for."""
        self._steps, self._nests = (*self._steps, *steps), {**self._nests, **nests}

    def entry(self) -> tuple[dict[int, Tile], tuple[str, ...]]:
        """What is given for it: schedules of nests, and steps."""
        return dict(self._nests), self.steps

    def __str__(self) -> str:
        nodes = f" ({', '.join(self.nodes)})" if self.nodes else ""
        try:
            return f"{self.name}{nodes}\n{self.schedule}"
        except ScheduleError as error:
            return f"{self.name}{nodes}\n{error}"

    def alone(self) -> ir.Module:
        """A module with a copy of the kernel, of what it refers to and of the facts of the target."""
        whole = self.function.parent.operation
        with self.function.location:
            module = ir.Module.create()
        for name, attribute in whole.attributes.items():
            if name.startswith("dlc."):
                module.operation.attributes[name] = attribute
        for op in whole.regions[0].blocks[0].operations:
            if op.operation == self.function or op.operation.name != "func.func" or not len(op.regions[0].blocks):
                module.body.append(op.operation.clone(ip=False).operation)
        return module

    def _with(self, steps: Sequence[str], nests: Mapping[int, Tile]) -> ir.Module:
        module = self.alone()
        attach_to(kernels_of(module)[self.name], nests, steps)
        return module

    def _scheduled(self, module: ir.Module) -> ScheduleTable:
        if not self._target.has_stage(SCHEDULED):
            raise ScheduleError(f"nests get no schedules for target '{self._target.name}'", "name a CPU, or bind loops")
        return chosen_schedules(module, self._target.passes(_LEVEL, SCHEDULED))

    def _try(self, steps: Sequence[str]) -> None:
        module = self._with(steps, {})
        if self._target.has_stage(SCHEDULED):
            chosen_schedules(module, self._target.passes(_LEVEL, SCHEDULED))

    def _searched(self, steps: Sequence[str], loop: str) -> Tile | None:
        """What the search chooses for the nest of `loop` after `steps`, which leave it to the search."""
        if not self._target.has_stage(SCHEDULED):
            return None
        module = self._with(steps, {})
        try:
            with module.context, ir.Location.unknown():
                Pipeline.parse(_NUMBERED).run(module)
            ops = [op for op in nested_ops(kernels_of(module)[self.name]) if name_of(op) == loop and NEST in op.attributes]
            numbers = [ir.IntegerAttr(op.attributes[NEST]).value for op in ops]
            return self._scheduled(module).kernels[self.name].get(numbers[0]) if numbers else None
        except PassError:
            return None


class Kernels(Mapping[str, Kernel]):
    """The kernels of a model by name, in the order of the module."""

    def __init__(self, model: ModelAtUnits, target: Target) -> None:
        self._module, self._target = model.module, target
        with self._module.context, ir.Location.unknown():
            target.passes(model.stage, _LEVEL).run(self._module)
        functions = kernels_of(self._module)
        self._kernels = {name: Kernel(name, model.ops.get(name, ()), op, self._module, target) for name, op in functions.items()}

    def __getitem__(self, name: str) -> Kernel:
        """The kernel of that name, or the only one with a node or op of that name or that fits the pattern.

        `InvalidInputError` where there is none, or several.
        """
        _check_name(name)
        if name in self._kernels:
            return self._kernels[name]
        found = self.find(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidInputError(
                f"'{name}' is in {len(found)} kernels: {', '.join(each.name for each in found)}; name one of them"
            )
        known = [*self._kernels, *(node for kernel in self._kernels.values() for node in kernel.nodes)]
        hint = did_you_mean(name, known) or f" (kernels: {', '.join(self._kernels) or 'none'})"
        raise InvalidInputError(f"no kernel, node or op is called '{name}'{hint}")

    def find(self, name: str) -> list[Kernel]:
        """All kernels with a node or an op of that name, or with a name of that pattern."""
        _check_name(name)
        named = fnmatch.filter(self._kernels, name)
        return [kernel for kernel in self._kernels.values() if kernel.name in named or name in (*kernel.nodes, *kernel.ops)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def table(self) -> ScheduleTable:
        """What has been given for the kernels, as `dlc.compile` takes it."""
        entries = {name: kernel.entry() for name, kernel in self._kernels.items()}
        given = {name: entry for name, entry in entries.items() if any(entry)}
        return ScheduleTable({name: nests for name, (nests, _) in given.items()}, {name: s for name, (_, s) in given.items() if s})

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the table as JSON, for `dlc.compile(..., schedule=file)` and `dlc compile --schedule`."""
        path, text = path_to_write(file), json.dumps(self.table().to_json(), indent=2) + "\n"
        with writing(path):
            path.write_text(text, encoding="utf-8")


def _check_name(given: object) -> None:
    if not isinstance(given, str):
        raise InvalidInputError(f"a kernel is named by a text, not {quoted(given)}; iterate over the table for all names")


def kernels(
    model: Model,
    target: str = DEFAULT_TARGET,
    *,
    shapes: ShapeOverrides | None = None,
    schedule: Schedules | None = None,
    winograd: int | None = None,
    precision: Precision | None = None,
    timeout: float | None = None,
) -> Kernels:
    """The kernels of a model as they are before schedules are chosen, each with a schedule to edit.

    `schedule` is a table to go on from; the other options are those of `compile`. Takes what `compile` takes, down to level affine.
    """
    begin = monotonic()
    source = with_accuracy(read_source(model, params={}, shapes=shapes), winograd, precision)  # weights need not be there
    units = at_units(source, target, ending(timed(timeout, source.name, None, begin)))
    found = Kernels(units, find_target(target))
    table = read_schedules(schedule)
    for name, (nests, steps) in (table.entries(found) if table else {}).items():
        found[name].follow(steps, nests)
    return found


def _told(error: PassError) -> str:
    return "; ".join(each.message for each in error.diagnostics) or str(error)
