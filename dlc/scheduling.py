"""The schedules that kernels of a model get, without compiling it to machine code.

table = dlc.schedules_of("model.onnx")
json.dump(table.to_json(), file)     # a file for dlc.compile(..., schedule=file), to be changed by hand or by a tuner
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from dlc._mlir import ir
from dlc.accuracy import with_accuracy
from dlc.analysis.buffers import nested_ops
from dlc.analysis.symbols import symbol_name
from dlc.errors import InvalidInputError
from dlc.lowering.deadline import ending, timed
from dlc.lowering.pipeline_run import Instrument
from dlc.lowering.pipelines import STAGES, later
from dlc.lowering.stages import stage_of
from dlc.machines import copy_for_target, scheduling_target
from dlc.option_values import DEFAULT_TARGET
from dlc.sources import Model, ShapeOverrides, Source, read_source
from dlc.targets.registry import find_target
from dlc.targets.schedules import Schedules, ScheduleTable, chosen_schedules, given_steps, read_schedules
from dlc.targets.units import SCHEDULED, UNITS
from dlc.weights import OPTIMIZED, WeightRecipe, params_of


@dataclass(frozen=True)
class ModelAtUnits:
    """A model's module at the stage at which schedules are given to its kernels, or at level affine; and the ops of each kernel."""

    module: ir.Module
    stage: str
    ops: Mapping[str, tuple[str, ...]]


def at_units(source: Source, target: str, instruments: Sequence[Instrument] = ()) -> ModelAtUnits:
    """Lower a copy of a model as far; `InvalidInputError` for one that is beyond."""
    found, stage = find_target(target), stage_of(source.module)
    if stage not in STAGES[:3]:
        raise InvalidInputError(
            f"'{source.name}' is at level '{stage}'; schedules are chosen for a model at level {', '.join(STAGES[:3])}"
        )
    module, first = copy_for_target(source, target), later(stage, OPTIMIZED)
    known = tuple(spec.name for spec in params_of(module)) if stage == "dl" else ()
    if stage == STAGES[2]:
        return ModelAtUnits(module, stage, {})
    with module.context, ir.Location.unknown():
        found.passes(stage, first).run(module, instruments=instruments)
        if stage == "dl":
            WeightRecipe.take(module, known)
        ops = _ops_by_kernel(module)
        found.passes(first, UNITS).run(module, instruments=instruments)
    return ModelAtUnits(module, UNITS, ops)


def _ops_by_kernel(module: ir.Module) -> dict[str, tuple[str, ...]]:
    """The dl ops of each function, by the function's name."""
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    return {
        symbol_name(function): tuple(
            dict.fromkeys(op.name.removeprefix("dl.") for op in nested_ops(function) if op.name.startswith("dl."))
        )
        for function in functions
    }


def schedules_of(
    model: Model,
    target: str = DEFAULT_TARGET,
    *,
    shapes: ShapeOverrides | None = None,
    schedule: Schedules | None = None,
    precision: str | None = None,
    timeout: float | None = None,
) -> ScheduleTable:
    """The schedules of all nests of a model's kernels: those that `schedule` gives, and the cost model's for the others.

    `precision` and `timeout` are those of `compile`. Takes what `compile` takes, down to level affine, and raises what it raises.
    """
    begin, found = monotonic(), scheduling_target(target)
    source = with_accuracy(read_source(model, params={}, shapes=shapes), precision=precision)  # weights need not be there
    watched = ending(timed(timeout, source.name, None, begin))
    units, table = at_units(source, target, watched), read_schedules(schedule)
    if table is not None:
        table.attach(units.module)
    steps = given_steps(units.module)
    return ScheduleTable(chosen_schedules(units.module, found.passes(units.stage, SCHEDULED), watched).kernels, steps)
