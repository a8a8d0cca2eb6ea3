"""The code of a model for one target, with its weights as that code reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from dlc.engines.whole_code import require_no_profile, whole_code
from dlc.errors import TargetError
from dlc.lowering.deadline import Progress
from dlc.model_cache import ModelRecord
from dlc.runtime.signature import Signature
from dlc.sources import Source
from dlc.targets.engine_code import EngineCode
from dlc.targets.machine import TARGET, Machine, host_facts, target_facts
from dlc.targets.model_code import ModelCode, packed_name
from dlc.targets.registry import find_target
from dlc.weights import WeightRecipe

if TYPE_CHECKING:
    from dlc.compile_options import CompileOptions
    from dlc.compiled_model import Evaluate


@dataclass(frozen=True)
class EngineVariant:
    """`code` runs on processors of `arch` that have all `features`, by the names that `dlc_processor_has` knows; one of
    them is `cuda` where it needs a GPU, too.

    `params` are the arrays that the entry reads, in the order of `signature.params`; nothing is left to be computed.
    """

    target: str
    arch: str
    features: tuple[str, ...]
    signature: Signature
    code: EngineCode
    params: tuple[np.ndarray, ...]
    profiled: tuple[str, ...]
    records: Mapping[str, bytes] = field(default_factory=dict)
    """What is kept beside the code, by kind (`dlc.engines.records`)."""

    @property
    def entry(self) -> int:
        """Where the entry, which takes one table of pointers, begins in the image."""
        return self.code.image.entries[packed_name(self.signature.entry)]


def variant_of(source: Source, options: CompileOptions, code: ModelCode, params: Sequence[np.ndarray]) -> EngineVariant:
    """A variant of code for `options` and arrays that are there. `TargetError` where engines hold no such code."""
    facts, features = needs_of(source, options)
    linked = find_target(options.target).link(code.objects, [packed_name(code.signature.entry)])
    return EngineVariant(options.target, facts.arch, features, code.signature, linked, tuple(params), code.profiled)


def needs_of(source: Source, options: CompileOptions) -> tuple[Machine, tuple[str, ...]]:
    """The processor that code for `options` is for, or its part beside a GPU, and what it needs of a machine."""
    found = find_target(options.target)
    facts = target_facts(options.beside) if options.beside else found.processor(source.module.operation, options.target)
    return facts, found.engine_features(facts)


def build_variants(
    source: Source,
    options: CompileOptions,
    targets: Sequence[str],
    evaluate: Evaluate = WeightRecipe.evaluate,
    progress: Progress | None = None,
) -> list[EngineVariant]:
    """A variant for each of `targets`, compiled or from the cache. `TargetError` where engines hold no such code."""
    variants = []
    each = [_for_engine(source, replace(options, target=target)) for target in dict.fromkeys(targets)]
    for chosen in each:
        _require_possible(source, chosen)
    for chosen in each:
        if progress and len(each) > 1:
            progress(f"compile for {chosen.target}")
        variants.append(_build_variant(source, chosen, evaluate, progress))
    return variants


def _for_engine(source: Source, options: CompileOptions) -> CompileOptions:
    """The options, with the processor beside a GPU that an engine's code is for, unless the module names one."""
    is_named = TARGET in source.module.operation.attributes
    return options if is_named else replace(options, beside=find_target(options.target).processor_beside(options.target))


def _require_possible(source: Source, options: CompileOptions) -> None:
    facts, _ = needs_of(source, options)
    if _is_foreign(facts):
        require_no_profile(options, facts.arch)


def _is_foreign(facts: Machine) -> bool:
    """Whether the code is for another architecture than this machine's, whose kernels cannot be compiled each once."""
    return facts.arch != host_facts().arch


def _build_variant(source: Source, options: CompileOptions, evaluate: Evaluate, progress: Progress | None) -> EngineVariant:
    from dlc.compile_record import compile_record

    if _is_foreign(needs_of(source, options)[0]):
        return variant_of(source, options, *whole_code(source, options, progress))
    record, _ = compile_record(source, options, progress)
    arrays = arrays_for(source, options, record, evaluate(record.recipe, source.params))
    return variant_of(source, options, record.code, arrays)


def arrays_for(source: Source, options: CompileOptions, record: ModelRecord, weights: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The arrays that the entry of `record` reads. Weights that code lays out itself are laid out here, by that code.

    `TargetError` where this machine cannot run it.
    """
    signature = record.code.signature
    if signature.precompute is None:
        return [weights[spec.name] for spec in signature.params]
    try:
        find_target(options.target).require_runnable(source.module, options.target)
    except TargetError as error:
        raise TargetError(f"its weights are laid out by code for '{options.target}': {error}; save it on such a machine") from None
    return record.code.session(weights, options.num_threads, options.memory_limit).bound_params
