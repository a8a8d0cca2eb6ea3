"""The lowering and compiling API behind `import dlc`: import, lower to a level, compile, run."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from dlc._mlir import ir
from dlc.accuracy import Precision, with_accuracy
from dlc.diagnostics import did_you_mean
from dlc.donation import donating
from dlc.dtypes import NUMPY_DTYPES
from dlc.errors import InvalidInputError, UnsupportedError, ValuesNeededError
from dlc.lowering.deadline import Progress, reporting, timed
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipelines import positions
from dlc.lowering.stages import stage_of
from dlc.machines import DEFAULT_TARGET, copy_for_target
from dlc.memory_limit import memory_limit as find_limit
from dlc.model_cache import ModelRecord, model_key
from dlc.runtime.callable_model import CallableModel
from dlc.runtime.session import Session
from dlc.runtime.signature import TensorSpec
from dlc.sources import InputValues, Model, ParamTable, ShapeOverrides, Source, read_onnx, read_source
from dlc.targets.base import Target
from dlc.targets.build_report import BuildReport
from dlc.targets.code_options import CodeOptions
from dlc.targets.disk_cache import DiskCache, default_cache
from dlc.targets.model_code import ModelCode
from dlc.targets.object_store import ObjectStore
from dlc.targets.registry import find_target
from dlc.targets.schedules import SCHEDULED, Schedules, ScheduleTable, read_schedules
from dlc.targets.signature import has_signature
from dlc.targets.units import UNITS
from dlc.variants import MOST_VARIANTS, variant_limit
from dlc.versions.specialize import specialize_after
from dlc.weights import OPTIMIZED, WeightRecipe, params_of

if TYPE_CHECKING:
    import onnx

    from dlc.verification import Verdict

Stage = str
"""A level on the way to a target: `dl`, `linalg`, `affine`, `llvm` for CPUs, `dl`, `linalg`, `affine`, `gpu`, `nvvm` for GPUs."""

Evaluate = Callable[[WeightRecipe, ParamTable], dict[str, np.ndarray]]

_MANY_OPS = 40
"""A module of so many ops is worth workers."""


@dataclass(frozen=True)
class CompileOptions:
    """Choices of one compilation.

    `target` is `cpu` (this machine, or the one that the module names), `cpu:native` (this machine), or a name: `cpu:haswell`.
    `num_threads` bounds the threads of a call (None: all processors); `opt_level` is LLVM's, 0 to 3. `cache` keeps machine
    code in `DLC_CACHE_DIR` and takes it from there. `schedules` and `measure` decide between tiles, see `compile`; with `profile`,
    calls tell the runtime where their time goes. `memory_limit` is what a call may hold, in bytes.
    """

    target: str = DEFAULT_TARGET
    num_threads: int | None = None
    opt_level: int = 2
    cache: bool = True
    schedules: ScheduleTable | None = None
    measure: bool = False
    profile: bool = False
    memory_limit: int | None = None

    @property
    def code(self) -> CodeOptions:
        """What the code of kernels and entry depends on."""
        return CodeOptions(self.opt_level, self.schedules, self.measure, self.profile)

    def check(self) -> None:
        """Raise `TargetError` or `InvalidInputError` for a choice that does not exist."""
        find_target(self.target)
        if self.num_threads is not None and (not isinstance(self.num_threads, int) or self.num_threads < 1):
            raise InvalidInputError(f"num_threads must be a positive integer or None, not {self.num_threads!r}")
        if type(self.opt_level) is not int or self.opt_level not in (0, 1, 2, 3):
            raise InvalidInputError(f"opt_level must be 0, 1, 2 or 3, not {self.opt_level!r}")


class CompiledModel(CallableModel):
    """A model that this process has compiled. Call it with arrays by position, one list of arrays, or one dict by name.

    It returns a list of arrays in the model's order, which own their memory. Several threads may call it at once.
    """

    def __init__(
        self,
        source: Source,
        session: Session,
        options: CompileOptions,
        recipe: WeightRecipe,
        report: BuildReport,
        code: ModelCode,
        verdicts: tuple[Verdict, ...] = (),
        evaluate: Evaluate = WeightRecipe.evaluate,
    ) -> None:
        self._evaluate = evaluate
        self._source = source
        self._session = session
        self._recipe = recipe
        self._report, self._code, self._verdicts = report, code, verdicts
        self.options = options

    @property
    def build_report(self) -> BuildReport:
        """How many kernels it has, and how many of them were compiled for it."""
        return self._report

    @property
    def profiled(self) -> tuple[str, ...]:
        """Names of the kernels by rows of the runtime's profile, from row 1 on; row 0 is all else. None without `profile`."""
        return self._code.profiled

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What `verify_schedules` found out of each kernel; none without it."""
        return self._verdicts

    def with_params(self, params: ParamTable) -> CompiledModel:
        """The same code with other weights: `params` replaces arrays by key. Nothing is compiled.

        `InvalidInputError` names a key that the model does not have, or an array that does not fit.
        """
        known = self._recipe.known
        unknown = next((key for key in params if key not in known), None)
        if unknown is not None:
            hint = did_you_mean(unknown, known) or f" (parameters: {', '.join(known) or 'none'})"
            raise InvalidInputError(f"the model has no parameter '{unknown}'{hint}")
        source = replace(self._source, params={**self._source.params, **params})
        session = self._session.with_params(self._evaluate(self._recipe, source.params))
        return CompiledModel(source, session, self.options, self._recipe, self._report, self._code, evaluate=self._evaluate)

    def with_code(self, record: ModelRecord, report: BuildReport) -> CompiledModel:
        """The same model with code that was compiled for some of its sizes; weights that are equal are in memory once."""
        session = record.code.session(
            self._evaluate(record.recipe, self._source.params), self.options.num_threads, self.options.memory_limit
        )
        return CompiledModel(self._source, session, self.options, record.recipe, report, record.code, evaluate=self._evaluate)

    def with_profile(self) -> CompiledModel:
        """The same model, on the same weights in memory, with the profile of `compile(..., profile=True)`."""
        options = replace(self.options, profile=True)
        record, report = compile_record(self._source, options, None)
        session = record.code.session_beside(self._session)
        return CompiledModel(self._source, session, options, self._recipe, report, record.code, evaluate=self._evaluate)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        targets: Sequence[str] = (),
        separate_weights: bool = False,
        sign_key: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write the model to the engine file `path`, which `dlc.load`, `dlc_runtime.load` and C programs run without the compiler.

        `targets` (`cpu:x86-64-v3`, ...) are what it holds code for, compiled here; none stands for the model's own. With
        `separate_weights` these go to a file of their own beside it, `<stem>.weights`. Equal models and options give equal bytes.
        `sign_key`, a file with an Ed25519 private key (PEM), signs it for `dlc.load(verify_key=)`.
        Raises `TargetError` for a target that engines do not hold.
        """
        from dlc.engines.saving import save_engine  # brings a reader of ELF, which others do without
        from dlc.engines.variants import build_variants, variant_of

        if targets:
            variants = build_variants(self._source, self.options, targets, self._evaluate)
        else:
            variants = [variant_of(self._source, self.options.target, self._code, self._session.bound_params)]
        save_engine(variants, self._source, self.options, Path(path), separate_weights, sign_key)

    def print_ir(self, stage: Stage = "dl", file: TextIO | None = None) -> str:
        """Print the model's IR at a level to `file` (standard output by default) and return the text.

        The level must not be above the one the model came in at.
        """
        text = str(lower(self._source, to=stage, target=self.options.target))
        print(text, file=file or sys.stdout)
        return text

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<dlc.CompiledModel {self._source.name}: ({inputs}) -> ({outputs})>"


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
    _run(Pipeline(["dl-optimize"]), module, progress)
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
    table = read_schedules(schedule)
    module = copy_for_target(
        model if precision is None else with_accuracy(read_source(model, params={}), precision=precision), target
    )
    found = find_target(target)
    start, end = since or stage_of(module), to or found.stages[-1]
    pipeline = found.passes(start, end)
    if table is None:
        _run(pipeline, module, progress)
        return module
    _require_units(found, start, end, table)
    _run(found.passes(start, UNITS), module, progress)
    table.attach(module)
    _run(found.passes(UNITS, end), module, progress)
    return module


def _require_units(target: Target, start: Stage, end: Stage, table: ScheduleTable) -> None:
    """Raise `InvalidInputError` unless schedules can be given to kernels on the way between two levels."""
    at = positions(target.stages, target.pipelines)
    if not target.has_stage(UNITS) or not at[start] <= at[UNITS] <= at[end]:
        raise InvalidInputError(f"schedules are chosen at the stage '{UNITS}', which is not on the way to '{end}'")
    if any(table.kernels.values()) and not target.has_stage(SCHEDULED):
        raise InvalidInputError(f"nests get no schedules for target '{target.name}'; give steps, or name a CPU")


def _run(pipeline: Pipeline, module: ir.Module, progress: Progress | None) -> None:
    with module.context, ir.Location.unknown():
        pipeline.run(module, verify_each=False, instruments=reporting(progress))


def count_ops(module: ir.Module) -> tuple[int, Counter[str]]:
    """Number of functions with a body, and how often each op occurs below them."""
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

    `model` is a path (ONNX, or MLIR at any level), an `onnx.ModelProto`, MLIR text or module, or what `import_onnx` gave.
    `schedule` replaces the cost model's schedules of kernels: a JSON file, or its content (see `dlc.targets.schedules`). With
    `measure`, choices that the model is not sure of are made by timing two to four candidates; the cache keeps the winners.
    `winograd` is the largest tile of 3x3 convolutions: 2 (the default, as accurate as without), 4 (faster, with an error about
    ten times as large) or 0 (none). `precision` is `f32` (the default) or `bf16`: products with weights round their operands to
    bf16 where the target multiplies these, else the weights alone, and sum in f32. With `profile`, each call adds its time to
    the runtime's profile, by kernel (see `dlc.measuring.profiles`). `params` gives or replaces weights by key.
    `shapes` gives by the name of an input the sizes of an ONNX model's input, and by the name of a dim that is dynamic its size; a
    `range`, the sizes that a call may have (multiples of its step, which starts at one); or a list of sizes, which get versions of
    their own beside the one for all sizes. A list may hold a range, too. `specialize="auto"` compiles versions for the sizes of
    frequent calls in the background, after 100 of them or as many as it says, and keeps `max_specializations`; None takes what
    `DLC_SPECIALIZE` says, else `"off"`. It never makes a call wait or fail, and needs a model at level dl.
    An ONNX model that breaks a rule of ONNX is refused; with `lenient`, it is warned of
    (`LenientWarning`) where the meaning is likely, as where a declared type contradicts what a node makes.
    `memory_limit` bounds the bytes that a call holds at once beside weights and arguments: a number or a text like `2G`; None takes
    that of `DLC_MEMORY_LIMIT`, else what the system has.
    `timeout` bounds the seconds of the compilation: from then on it ends with `CompileTimeoutError` where the next pass or kernel
    would begin. Kernels that are done by then are in the cache.
    With `verify_schedules`, each kernel is compared before and after its schedule, which takes seconds: an illegal one is refused
    with a counterexample, and `verdicts` of the model says what is proved and what could not be decided.
    `donate` names inputs that a call may write: results may lie in their memory, as views, so that a cache is updated in place.
    `values` gives values of inputs of an ONNX model by name: arrays, numbers or lists of numbers. These inputs become constants,
    and are none of the compiled model's. Where values of other inputs decide what code there is (axes, such as), it is made at the
    first call with these values, and kept for later ones: `inputs` says which by `by_value` and `by_shape`. At most
    `max_specializations` values are kept (None takes that of `DLC_MAX_SPECIALIZATIONS`, else 16); each compilation has `timeout`
    seconds, and `model` must stay as it is.
    A `target` other than `cpu` makes code for another machine, which this one must be able to run. Raises `dlc.ParseError`,
    `dlc.UnsupportedError` (with every node that cannot be compiled), `dlc.PassError`, `dlc.InvalidInputError`, `dlc.TargetError`.
    """
    begin = monotonic()
    limit = find_limit(memory_limit)
    options = CompileOptions(target, num_threads, opt_level, cache, read_schedules(schedule), measure, profile, limit)
    options.check()
    variants = variant_limit(max_specializations)
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
        most_versions=variants,
    )
    reading = ReadOptions(params, shapes, lenient, values)
    return compile_model(model, request, variants, progress, reading, begin)


@dataclass(frozen=True)
class ReadOptions:
    """How a model is read: arguments of `compile`."""

    params: ParamTable | None = None
    shapes: ShapeOverrides | None = None
    lenient: bool = False
    values: InputValues | None = None


def compile_model(
    model: Model, request: Request, limit: int, progress: Progress | None, reading: ReadOptions, begin: float | None = None
) -> CompiledModel:
    """Compile a model: now, at its calls (at most `limit` variants) where code depends on values, or in part for the host."""
    try:
        source = read_source(model, reading.params, reading.shapes, reading.lenient, reading.values)
    except ValuesNeededError as needed:
        from dlc.specialization import specializing  # few models need it

        return specializing(needed, request, model, limit, **vars(reading))
    except UnsupportedError:
        from dlc.hosting.hosted import find_hosted  # nor this

        hosted = find_hosted(model, request, limit, progress, reading)
        if hosted is None:
            raise
        return hosted
    return request.compile(source, progress, begin, reading.shapes)


@dataclass(frozen=True)
class Request:
    """What a compilation is asked for, beside the model: the arguments of `compile`, checked."""

    options: CompileOptions
    donate: Sequence[str] = ()
    winograd: int | None = None
    precision: Precision | None = None
    timeout: float | None = None
    verify_schedules: bool = False
    evaluate: Evaluate = WeightRecipe.evaluate
    """Gives the arrays that code reads, for a recipe and the arrays of the model."""
    specialize: int | None = None
    """Calls of the same sizes after which these get a version, None for never."""
    must_specialize: bool = False
    """Whether a model that can have no versions for frequent sizes is an error."""
    most_versions: int = MOST_VARIANTS

    def compile(
        self,
        source: Source,
        progress: Progress | None = None,
        begin: float | None = None,
        shapes: ShapeOverrides | None = None,
    ) -> CompiledModel:
        """Compile a source, with the versions that `shapes` and `specialize` ask for; the time that counts starts at `begin`."""
        if self.specialize is None and not shapes:
            return self.compile_alone(source, progress, begin)
        from dlc.versions.building import compile_versions  # what most models do without
        from dlc.versions.sizes import sizes_of_dims

        return compile_versions(self, source, sizes_of_dims(shapes, source), progress, begin)

    def compile_alone(self, source: Source, progress: Progress | None = None, begin: float | None = None) -> CompiledModel:
        """Compile a source, or find what was compiled before; the time that counts starts at `begin` of `time.monotonic`."""
        options = self.options
        progress = timed(self.timeout, source.name, progress, begin)
        source = self.applied(source)
        verdicts = _verified(source, options, progress) if self.verify_schedules else ()
        record, report = compile_record(source, options, progress)
        weights = self.evaluate(record.recipe, source.params)
        session = record.code.session(weights, options.num_threads, options.memory_limit)
        return CompiledModel(source, session, options, record.recipe, report, record.code, verdicts, self.evaluate)

    def applied(self, source: Source) -> Source:
        """The source with what is asked for written on its module; raises what is wrong with that for its inputs and target."""
        find_target(self.options.target).require_runnable(source.module, self.options.target)
        if self.donate:
            source = donating(source, self.donate)
        return with_accuracy(source, self.winograd, self.precision)


def _verified(source: Source, options: CompileOptions, progress: Progress | None) -> tuple[Verdict, ...]:
    """The verdicts on the schedules of all kernels."""
    from dlc.verification import verify_schedules  # brings isl, which compiling does without

    if options.measure:
        raise InvalidInputError("schedules that are measured cannot be verified; leave out measure or verify_schedules")
    return verify_schedules(source, options.target, schedule=options.schedules, progress=progress)


def compile_record(source: Source, options: CompileOptions, progress: Progress | None = None) -> tuple[ModelRecord, BuildReport]:
    """What compiling a model makes but for its weights, which nobody reads; from the cache where it is there."""
    disk = default_cache() if options.cache else None
    key = model_key(source.module, options.code.text(), options.target) if disk else None
    content = disk.get(key) if disk and key else None
    if content is not None:
        if progress:
            progress("load machine code")
        record = ModelRecord.of_bytes(content)
        return record, BuildReport(record.kernels, 0, whole=True)
    record, report = _build(source, options, disk, progress)
    if disk and key:
        disk.put(key, record.to_bytes())
    return record, report


def _build(
    source: Source, options: CompileOptions, disk: DiskCache | None, progress: Progress | None
) -> tuple[ModelRecord, BuildReport]:
    target, module = find_target(options.target), copy_for_target(source, options.target)
    stage = stage_of(module)
    if stage != target.stages[-1] and _count_top_ops(module) >= _MANY_OPS:
        target.prepare()  # workers start while the graph passes run
    recipe = WeightRecipe()
    if stage == "dl":
        known = tuple(spec.name for spec in params_of(module))
        _run(target.passes(stage, OPTIMIZED), module, progress)
        recipe = WeightRecipe.take(module, known)
        stage = OPTIMIZED
    elif stage != target.stages[-1] and not has_signature(module):  # a module written by hand states none yet
        _run(Pipeline(["dl-bind-params"]), module, progress)
    code, report = target.build(module, stage, options.code, ObjectStore(disk), progress)
    return ModelRecord(code, recipe.including(code.signature.weights), report.kernels), report


def _count_top_ops(module: ir.Module) -> int:
    """Number of ops directly inside the functions of a module."""
    functions = (op for op in module.body.operations if op.operation.regions)
    return sum(len(block.operations) for op in functions for block in op.operation.regions[0].blocks)


def random_inputs(specs: Sequence[TensorSpec], seed: int = 0, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Arrays that fit `specs`: normal floats, small non-negative integers; dynamic dims take `sizes` by name, else 1.

    Strings are single letters, sequences three values.
    """
    generator = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for spec in specs:
        if not isinstance(spec, TensorSpec):  # of a hosted model
            from dlc.hosting.samples import sample

            found[spec.name] = sample(spec.type, generator, sizes or {})
            continue
        shape = [dim if isinstance(dim, int) else (sizes or {}).get(dim or "", 1) for dim in spec.shape]
        found[spec.name] = random_array(generator, spec.dtype, shape)
    return found


def random_array(generator: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Normal floats or integers of 0 and 1, of a dl element type."""
    if dtype.startswith(("f", "bf")):
        return np.asarray(generator.standard_normal(shape)).astype(NUMPY_DTYPES[dtype])
    return generator.integers(0, 2, shape).astype(NUMPY_DTYPES[dtype])
