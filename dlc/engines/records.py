"""What an engine may keep beside its code: the model as ops of dl after graph passes, and what `dlc explain` says of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dlc.errors import InvalidInputError
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.stages import stage_of
from dlc.machines import copy_for_target
from dlc.sources import Source
from dlc.weights import WeightRecipe, params_of

if TYPE_CHECKING:
    from dlc.compile_options import CompileOptions
    from dlc.engines.variants import EngineVariant

IR, EXPLANATION = "ir", "explain"


def with_records(
    variants: Sequence[EngineVariant], source: Source, options: CompileOptions, kinds: Iterable[str]
) -> list[EngineVariant]:
    """The variants with records of these kinds (keys of `KINDS`), each of its own code.

    `InvalidInputError` for a kind that there is not, and for models that are not at level dl.
    """
    chosen = list(dict.fromkeys(kinds))
    for kind in chosen:
        if kind not in KINDS:
            raise InvalidInputError(f"an engine keeps {' and '.join(KINDS)}, not '{kind}'")
    if chosen and (stage := stage_of(source.module)) != "dl":
        raise InvalidInputError(f"'{source.name}' is at level '{stage}', and engines keep what models at level 'dl' are")
    return [_with_records(variant, source, replace(options, target=variant.target), chosen) for variant in variants]


def _with_records(variant: EngineVariant, source: Source, options: CompileOptions, kinds: Sequence[str]) -> EngineVariant:
    return replace(variant, records={kind: KINDS[kind](source, options) for kind in kinds})


def _ir(source: Source, options: CompileOptions) -> bytes:
    """The text of the optimized module, whose weights are those that the code reads."""
    module = copy_for_target(source, options.target)
    known = tuple(spec.name for spec in params_of(module))
    with module.context:
        Pipeline(["dl-optimize"]).run(module)
    WeightRecipe.take(module, known)
    return str(module).encode()


def _explanation(source: Source, options: CompileOptions) -> bytes:
    """The explanation without the times of passes, so that equal models give equal engines."""
    import dlc
    from dlc.explanation_record import to_record

    found = dlc.explain(source, target=options.target)
    if options.schedules is not None:
        found = replace(found, schedules=dlc.schedules_of(source, options.target, schedule=options.schedules))
    timeless = tuple(replace(each, seconds=0.0) for each in found.passes)
    return json.dumps(to_record(replace(found, passes=timeless)), sort_keys=True).encode()


KINDS: Mapping[str, Callable[[Source, CompileOptions], bytes]] = {IR: _ir, EXPLANATION: _explanation}
"""What makes a record of each kind."""
