"""Compiles a model for native code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dlc.engines.variants import arrays_for, needs_of
from dlc.lowering.deadline import Progress
from dlc.native.building import NativeModel
from dlc.native.names import model_name
from dlc.sources import Source
from dlc.targets.model_code import packed_name
from dlc.weights import WeightRecipe

if TYPE_CHECKING:
    from dlc.compiler import CompileOptions


def compile_native(
    source: Source, options: CompileOptions, name: str | None = None, progress: Progress | None = None
) -> NativeModel:
    """The code of `source` for `options.target`, whose names in C begin with `name`: by default the file's name.

    `TargetError` where the target makes no such code, `InvalidInputError` for a name that C does not have.
    """
    from dlc.compiler import find_or_build

    called = model_name(name or Path(source.name).stem)
    facts, features = needs_of(source, options.target)
    record, _ = find_or_build(source, options, progress)
    params = arrays_for(source, options, record, WeightRecipe.evaluate(record.recipe, source.params))
    signature = record.code.signature
    title = f"The model {Path(source.name).name} for {facts.processor or facts.arch}"
    return NativeModel(
        called,
        title,
        options.target,
        facts.arch,
        features,
        signature,
        record.code.objects,
        packed_name(signature.entry),
        tuple(params),
    )
