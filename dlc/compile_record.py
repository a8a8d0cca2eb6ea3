"""Compiling a module as far as what all its weights have in common, or finding that in the cache."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator

from dlc._mlir import ir
from dlc.compile_options import CompileOptions
from dlc.lowering.deadline import Progress, reporting
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.stages import stage_of
from dlc.machines import copy_for_target
from dlc.model_cache import ModelRecord, model_key
from dlc.sources import Source
from dlc.targets.build_report import BuildReport
from dlc.targets.disk_cache import DiskCache, default_cache
from dlc.targets.object_store import ObjectStore
from dlc.targets.registry import find_target
from dlc.targets.signature import has_signature
from dlc.weights import OPTIMIZED, WeightRecipe, params_of

BeginWeights = Callable[[WeightRecipe], None]

_MANY_OPS = 40
"""A module of so many ops is worth workers."""


def compile_record(
    source: Source, options: CompileOptions, progress: Progress | None = None, begin_weights: BeginWeights | None = None
) -> tuple[ModelRecord, BuildReport]:
    """What compiling a model makes but for its weights, which nobody reads; from the cache where it is there.

    `begin_weights` is told how weights are computed as soon as that is known, where code is generated in other processes then.
    """
    disk = default_cache() if options.cache else None
    key = model_key(source.module, options.code.text(), options.target) if disk else None
    content = disk.get(key) if disk and key else None
    if content is not None:
        if progress:
            progress("load machine code")
        record = ModelRecord.of_bytes(content)
        return record, BuildReport(record.kernels, 0, whole=True)
    with _without_collector():
        record, report = _build(source, options, disk, progress, begin_weights)
    if disk and key:
        disk.put(key, record.to_bytes())
    return record, report


def _build(
    source: Source, options: CompileOptions, disk: DiskCache | None, progress: Progress | None, begin_weights: BeginWeights | None
) -> tuple[ModelRecord, BuildReport]:
    target, module = find_target(options.target), copy_for_target(source, options.target)
    stage = stage_of(module)
    is_large = stage != target.stages[-1] and _count_top_ops(module) >= _MANY_OPS
    has_workers = is_large and target.prepare()  # they start while the graph passes run
    recipe = WeightRecipe()
    if stage == "dl":
        known = tuple(spec.name for spec in params_of(module))
        run_pipeline(target.passes(stage, OPTIMIZED), module, progress)
        recipe = WeightRecipe.take(module, known)
        stage = OPTIMIZED
        if has_workers and begin_weights is not None:
            begin_weights(recipe)
    elif stage != target.stages[-1] and not has_signature(module):  # a module written by hand states none yet
        run_pipeline(Pipeline(["dl-bind-params"]), module, progress)
    code, report = target.build(module, stage, options.code, ObjectStore(disk), progress)
    return ModelRecord(code, recipe.including(code.signature.weights), report.kernels), report


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Python looks for no cycles of garbage: passes leave few, and it would go through all that is alive again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def run_pipeline(pipeline: Pipeline, module: ir.Module, progress: Progress | None) -> None:
    """Run passes on a whole module; each tells `progress` its name, and the IR is verified at the end."""
    with module.context, ir.Location.unknown():
        pipeline.run(module, verify_each=False, instruments=reporting(progress))


def _count_top_ops(module: ir.Module) -> int:
    """Number of ops directly inside the functions of a module."""
    functions = (op for op in module.body.operations if op.operation.regions)
    return sum(len(block.operations) for op in functions for block in op.operation.regions[0].blocks)
