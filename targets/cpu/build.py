"""A module to the machine code of this process: cut into units, each compiled once."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.diagnostics import at_location
from dlc.errors import DLCError, TargetError
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.lowering.deadline import Progress, deadline_of, ending, reporting
from dlc.lowering.func.profile_calls import ATTRIBUTE as PROFILED
from dlc.lowering.func.profile_calls import ProfileCalls
from dlc.lowering.native import kept_managers
from dlc.lowering.pipeline import ROOT, Pipeline
from dlc.lowering.pipelines import STAGES, later, passes_between
from dlc.lowering.registry import plugin_passes
from dlc.lowering.reproducer import reproducer
from dlc.targets.build_report import BuildReport
from dlc.targets.code_options import CodeOptions
from dlc.targets.cpu.compile_unit import compile_unit
from dlc.targets.cpu.host_key import host_key
from dlc.targets.cpu.worker_pool import Task, WorkerCrash, WorkerPool, WorkersUnavailable, worker_limit
from dlc.targets.fingerprint import compiler_fingerprint
from dlc.targets.model_code import ModelCode
from dlc.targets.object_store import ObjectStore
from dlc.targets.signature import signature_of
from dlc.targets.units import UNITS, Unit, split_units

_WORTH_WORKERS = 4
"""From this many units to compile on it pays to hand them to workers that are there."""
_WORTH_STARTING = 8
"""From this many on it pays to start workers, which takes half a second of two processors, as long as three to five units do."""

_POOL = WorkerPool()


def settings_of(passes: Sequence[str], opt_level: int) -> str:
    """What machine code depends on besides the IR: compiler, passes, options, processor."""
    return json.dumps([compiler_fingerprint(), passes, opt_level, host_key()], sort_keys=True)


def is_own(passes: Sequence[str]) -> bool:
    """Whether all passes are dlc's and upstream's, so that their names say what they do."""
    return plugin_passes().isdisjoint(text.partition("{")[0] for text in passes)


def prepare_workers() -> bool:
    """Begin to start workers for a build to come; returns whether there are any."""
    if worker_limit() > 1:
        _POOL.prepare(worker_limit())
    return len(_POOL) > 0


def use_no_workers() -> None:
    """Compile all units in this process from now on."""
    _POOL.disable()


def build(
    module: ir.Module, since: str, options: CodeOptions, store: ObjectStore, progress: Progress | None = None
) -> tuple[ModelCode, BuildReport]:
    """Lower `module`, which is at stage `since`, to the llvm dialect, and compile it. The module is consumed.

    Units are looked up in `store` first. Raises `PassError`, `TargetError`, `InvalidInputError` for schedules of kernels that
    are not there, or what `progress` raises.
    """
    first = later(since, UNITS)
    tail = passes_between(first, STAGES[-1])  # workers have them, and this process imports them only for units of its own
    with module.context, ir.Location.unknown():
        Pipeline.between(since, first).run(module, verify_each=False, instruments=reporting(progress))
    if options.schedules is not None:
        options.schedules.attach(module)
    profiled = _profiled(module) if options.profile else ()
    signature = signature_of(module)
    units = split_units(module, f"{C_INTERFACE}{signature.entry}", settings_of(tail, options.opt_level))
    kernels: Sequence[Unit] = units.kernels
    if options.measure:
        kernels = _measured(kernels, first, options.opt_level, store, progress)
    builder = _Builder(tail, options.opt_level, store if is_own(tail) else None, progress)
    every = [units.entry, *kernels]
    objects = builder.objects(every)
    code = ModelCode(signature, tuple(objects[unit.key] for unit in every), profiled)
    return code, BuildReport(len(kernels), builder.compiled)


def _profiled(module: ir.Module) -> tuple[str, ...]:
    """Let the entry charge its time to the runtime's profile; the names of the kernels by row, from row 1 on."""
    with module.context, ir.Location.unknown():
        ProfileCalls().run(module.operation)
    return tuple(ir.StringAttr(name).value for name in ir.ArrayAttr(module.operation.attributes[PROFILED]))


def _measured(kernels: Sequence[Unit], since: str, opt_level: int, store: ObjectStore, progress: Progress | None) -> list[Unit]:
    from dlc.targets.cpu.measure import with_measured_schedules

    if progress:
        progress(f"measure schedules of {len(kernels)} kernels")
    return with_measured_schedules(kernels, since, opt_level, store, ending(progress))


class _Builder:
    """Compiles units by the same passes. Without a store, nobody else may have compiled them or compile them."""

    def __init__(self, passes: Sequence[str], opt_level: int, store: ObjectStore | None, progress: Progress | None) -> None:
        self._pipeline = f"{ROOT}({','.join(passes)})"
        self._opt_level, self._store, self._progress = opt_level, store, progress
        self.compiled = 0

    def objects(self, units: Sequence[Unit]) -> dict[str, bytes]:
        """The objects of all units by key."""
        found = {unit.key: self._store.get(unit.key) for unit in units} if self._store else {}
        objects = {key: content for key, content in found.items() if content is not None}
        missing = [unit for unit in units if unit.key not in objects]

        def keep(unit: Unit, content: bytes) -> None:
            objects[unit.key] = content
            self.compiled += 1
            if self._store:
                self._store.put(unit.key, content)
            if self._progress:
                self._progress(f"generate machine code ({self.compiled} of {len(missing)})")

        if self._progress:
            self._progress(f"generate machine code (0 of {len(missing)})")
        if self._store and worker_limit() > 1 and len(missing) >= (_WORTH_WORKERS if len(_POOL) else _WORTH_STARTING):
            self._in_workers(missing, keep)
        left = [unit for unit in missing if unit.key not in objects]
        if left:
            self._here(left, keep)
        return objects

    def _here(self, units: Sequence[Unit], keep: Callable[[Unit, bytes], None]) -> None:
        """Compile units in this process."""
        pipeline, instruments = Pipeline.parse(self._pipeline), ending(self._progress)
        with kept_managers(units[0].module.context):
            for unit in units:
                keep(unit, compile_unit(unit.module, unit.symbol, pipeline, self._opt_level, instruments))

    def _in_workers(self, units: Sequence[Unit], keep: Callable[[Unit, bytes], None]) -> None:
        """Compile units in workers as far as there are any.

        Those of most ops come first, so that none of them is left when the others are done: ResNet-50 takes 0.95 of the time with
        two workers, 0.75 with eight.
        """
        ordered = sorted(units, key=lambda unit: len(nested_ops(unit.module.operation)), reverse=True)
        tasks = [Task(unit.label, unit.symbol, self._pipeline, self._opt_level, unit.bytecode) for unit in ordered]
        try:
            errors = _POOL.run(tasks, lambda position, content: keep(ordered[position], content), deadline_of(self._progress))
        except WorkersUnavailable:
            return
        if errors:
            first = min(errors)
            raise self._explained(ordered[first], errors[first])

    def _explained(self, unit: Unit, error: DLCError) -> DLCError:
        """What to tell of an error in a worker: a crash gets the place of the kernel and a reproducer."""
        if not isinstance(error, WorkerCrash):
            return error
        text = reproducer(unit.module.operation, self._pipeline, f"kernel '{unit.label}'")
        name = f"dlc-reproducer-{hashlib.sha256(text.encode()).hexdigest()[:12]}.mlir"
        file = Path(tempfile.gettempdir()) / name
        message = f"the compiler crashed on kernel '{unit.label}' ({error})"
        try:
            file.write_text(text, encoding="utf-8")
            message += f"; its passes run again by: dlc-opt --run-reproducer {file}"
        except OSError:
            pass  # the crash is the news
        said = f"native code said: {error.said[-2000:]}" if error.said else ""
        return TargetError(said, [at_location(unit.module.operation.location, message)])
