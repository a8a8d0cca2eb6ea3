"""The lowering and compiling API behind `import dlc`: import, lower to a level, compile, run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from dlc._mlir import ir
from dlc.accuracy import Precision, with_accuracy
from dlc.compile_options import CompileOptions, Stage, check_flags
from dlc.compile_record import run_pipeline
from dlc.compiled_model import CompiledModel
from dlc.errors import InvalidInputError, UnsupportedError, ValuesNeededError, quoted
from dlc.lowering.deadline import Progress, timed
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipelines import positions
from dlc.lowering.stages import stage_of
from dlc.machines import copy_for_target
from dlc.memory_limit import memory_limit as find_limit
from dlc.option_values import DEFAULT_TARGET
from dlc.request import ReadOptions, Request
from dlc.sources import InputValues, Model, ParamTable, ShapeOverrides, Source, read_onnx, read_source
from dlc.targets.base import Target
from dlc.targets.registry import find_target
from dlc.targets.units import SCHEDULED, UNITS
from dlc.variants import variant_limit
from dlc.versions.specialize import specialize_after
from dlc.weights import WeightRecipe, params_of

if TYPE_CHECKING:
    import onnx

    from dlc.targets.schedules import Schedules, ScheduleTable


def import_onnx(
    model: str | os.PathLike[str] | onnx.ModelProto,
    shapes: ShapeOverrides | None = None,
    lenient: bool = False,
    values: InputValues | None = None,
) -> Source:
    """Import an ONNX file or proto: a `Source` with `.module` (dl ops) and `.params` (its weights by key).

    `shapes` overrides input shapes by name: an int, a str (a named dynamic dim) or None per dim. `lenient` and `values` are those
    of `compile`; `ValuesNeededError` names the inputs whose values must be given.
    """
    return read_onnx(model, shapes, lenient, values)


def optimize(
    model: Model, progress: Progress | None = None, target: str = DEFAULT_TARGET, precision: Precision | None = None
) -> Source:
    """What the graph passes (`dl-optimize`) make of a dl model for `target`; the argument stays as it is.

    `precision` is that of `compile`.

    The arrays of the result are those that its module reads: weights that are computed from others are computed here. Where
    an array is missing, the module keeps the function `@precompute` that says how.
    """
    source = with_accuracy(read_source(model), precision=precision)
    if stage_of(source.module) != "dl":
        return source
    module = copy_for_target(source, target)
    known = tuple(spec.name for spec in params_of(module))
    run_pipeline(Pipeline(["dl-optimize"]), module, progress)
    if any(key not in source.params for key in known):
        return replace(source, module=module)
    params = WeightRecipe.take(module, known).evaluate(source.params)
    return Source(module, params, source.name)


def lower(
    model: Model,
    to: Stage | None = None,
    since: Stage | None = None,
    progress: Progress | None = None,
    target: str = DEFAULT_TARGET,
    schedule: Schedules | None = None,
    precision: Precision | None = None,
    timeout: float | None = None,
) -> ir.Module:
    """A copy of an MLIR module (or of what `compile` takes) lowered to the level `to` (by default the target's last one).

    The argument stays as it is. `since` names the level it is at; by default its ops tell. Code is for `target`, with the schedules
    that `schedule` gives, operands of `precision` and within `timeout` seconds (see `compile`). Raises `PassError` where a pass
    refuses it.
    """
    progress = timed(timeout, model.name if isinstance(model, Source) else "the model", progress)
    table = _table_of(schedule)
    module = copy_for_target(
        model if precision is None else with_accuracy(read_source(model, params={}), precision=precision), target
    )
    found = find_target(target)
    start, end = since or stage_of(module), to or found.stages[-1]
    pipeline = found.passes(start, end)
    if table is None:
        run_pipeline(pipeline, module, progress)
        return module
    _require_units(found, start, end, table)
    run_pipeline(found.passes(start, UNITS), module, progress)
    table.attach(module)
    run_pipeline(found.passes(UNITS, end), module, progress)
    return module


def _table_of(given: Schedules | None) -> ScheduleTable | None:
    if given is None:
        return None
    from dlc.targets.schedules import read_schedules  # with the passes on loops, which a model in the cache does without

    return read_schedules(given)


def _require_units(target: Target, start: Stage, end: Stage, table: ScheduleTable) -> None:
    """Raise `InvalidInputError` unless schedules can be given to kernels on the way between two levels."""
    at = positions(target.stages, target.pipelines)
    if not target.has_stage(UNITS) or not at[start] <= at[UNITS] <= at[end]:
        raise InvalidInputError(f"schedules are chosen at the stage '{UNITS}', which is not on the way to '{end}'")
    if any(table.kernels.values()) and not target.has_stage(SCHEDULED):
        raise InvalidInputError(f"nests get no schedules for target '{target.name}'; give steps, or name a CPU")


def count_ops(module: ir.Module) -> tuple[int, Counter[str]]:
    """Number of functions with a body, and how often each op occurs below them; `InvalidInputError` for what is no module."""
    if not isinstance(module, ir.Module):
        raise InvalidInputError(f"ops are counted in an MLIR module, not in {quoted(module)}; `parse_module` makes one of a text")
    counts: Counter[str] = Counter()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        counts[operation.name] += 1
        return ir.WalkResult.ADVANCE

    functions = [op.operation for op in module.body.operations if op.operation.regions and op.operation.regions[0].blocks]
    for function in functions:
        function.walk(visit)
    return len(functions), counts


def compile(
    model: Model,
    target: str = DEFAULT_TARGET,
    num_threads: int | None = None,
    *,
    opt_level: int = 2,
    shapes: ShapeOverrides | None = None,
    params: ParamTable | None = None,
    progress: Progress | None = None,
    cache: bool = True,
    donate: Sequence[str] = (),
    schedule: Schedules | None = None,
    measure: bool = False,
    profile: bool = False,
    winograd: int | None = None,
    precision: Precision | None = None,
    memory_limit: int | str | None = None,
    lenient: bool = False,
    timeout: float | None = None,
    verify_schedules: bool = False,
    values: InputValues | None = None,
    max_specializations: int | None = None,
    specialize: str | int | None = None,
) -> CompiledModel:
    """Compile a model to run on this machine, or find what was compiled before in the cache on disk.

    `model` is a path (ONNX, or MLIR at any level), an `onnx.ModelProto`, MLIR text or module, or what `import_onnx` gave; it must
    stay as it is where code is made at calls. docs/compiling.md says of each option what it does, takes and defaults to:

    - reading: `shapes` and `values` fix sizes and values of inputs, `params` gives weights, `lenient` warns where ONNX is broken;
    - numbers: `precision` and `winograd` trade accuracy for speed, `donate` names inputs that calls may write;
    - code: `target`, `opt_level`, `schedule`, `measure`, `verify_schedules`, `profile`, and versions by `specialize`;
    - bounds: `num_threads` and `memory_limit` of a call, `timeout` of a compilation, `max_specializations` of what is kept.

    `progress` is told each step before it begins. Raises `dlc.ParseError`, `dlc.UnsupportedError` (with every node that cannot be
    compiled), `dlc.PassError`, `dlc.InvalidInputError`, `dlc.TargetError`, `dlc.CompileTimeoutError`.
    """
    begin = monotonic()
    limit = find_limit(memory_limit)
    options = CompileOptions(target, num_threads, opt_level, cache, _table_of(schedule), measure, profile, limit)
    options.check()
    check_flags(lenient=lenient, verify_schedules=verify_schedules)
    most = variant_limit(max_specializations)
    after = specialize_after(specialize if specialize is not None or schedule is None else "off")
    request = Request(
        options,
        donate,
        winograd,
        precision,
        timeout,
        verify_schedules,
        specialize=after,
        must_specialize=specialize is not None,
        most_versions=most,
    )
    return compile_model(model, request, progress, ReadOptions(params, shapes, lenient, values), begin)


def compile_model(
    model: Model, request: Request, progress: Progress | None, reading: ReadOptions, begin: float | None = None
) -> CompiledModel:
    """Compile a model: now, at its calls where code depends on values, or in part for the host."""
    try:
        source = read_source(model, reading.params, reading.shapes, reading.lenient, reading.values)
    except ValuesNeededError as needed:
        from dlc.specialization import specializing  # few models need it

        return specializing(needed, request, model, **vars(reading))
    except UnsupportedError:
        from dlc.hosting.hosted import find_hosted  # nor this

        hosted = find_hosted(model, request, progress, reading)
        if hosted is None:
            raise
        return hosted
    return request.compile(source, progress, begin, reading.shapes)
