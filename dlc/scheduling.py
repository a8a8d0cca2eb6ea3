"""The schedules that kernels of a model get, without compiling it to machine code.

table = dlc.schedules_of("model.onnx")
json.dump(table.to_json(), file)     # a file for dlc.compile(..., schedule=file), to be changed by hand or by a tuner
"""

from __future__ import annotations

from time import monotonic

from dlc._mlir import ir
from dlc.accuracy import with_accuracy
from dlc.errors import InvalidInputError
from dlc.lowering.deadline import ending, timed
from dlc.lowering.pipelines import later
from dlc.lowering.stages import stage_of
from dlc.machines import DEFAULT_TARGET, copy_for_target, scheduling_target
from dlc.sources import Model, ShapeOverrides, read_source
from dlc.targets.schedules import SCHEDULED, Schedules, ScheduleTable, chosen_schedules, read_schedules
from dlc.targets.units import UNITS
from dlc.weights import OPTIMIZED, WeightRecipe, params_of


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

    `precision` and `timeout` are those of `compile`. Takes what `compile` takes, at the level dl or linalg, and raises what it
    raises.
    """
    begin, found = monotonic(), scheduling_target(target)
    source = with_accuracy(read_source(model, params={}, shapes=shapes), precision=precision)  # weights need not be there
    watched = ending(timed(timeout, source.name, None, begin))
    stage = stage_of(source.module)
    if stage not in ("dl", "linalg"):
        raise InvalidInputError(
            f"'{source.name}' is at level '{stage}'; schedules are chosen for a model at level 'dl' or 'linalg'"
        )
    module = copy_for_target(source, target)
    known = tuple(spec.name for spec in params_of(module)) if stage == "dl" else ()
    first = later(stage, OPTIMIZED)
    with module.context, ir.Location.unknown():
        found.passes(stage, first).run(module, instruments=watched)
        if stage == "dl":
            WeightRecipe.take(module, known)
        found.passes(first, UNITS).run(module, instruments=watched)
    table = read_schedules(schedule)
    if table is not None:
        table.attach(module)
    return chosen_schedules(module, found.passes(UNITS, SCHEDULED), watched)
