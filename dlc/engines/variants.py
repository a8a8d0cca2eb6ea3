"""The code of a model for one target, with its weights as that code reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dlc.errors import TargetError
from dlc.machines import DEFAULT_TARGET
from dlc.model_cache import ModelRecord
from dlc.runtime.signature import Signature
from dlc.sources import Source
from dlc.targets.engine_code import EngineCode
from dlc.targets.machine import facts_of
from dlc.targets.model_code import ModelCode, packed_name
from dlc.targets.registry import find_target

if TYPE_CHECKING:
    from dlc.compiler import CompileOptions


@dataclass(frozen=True)
class EngineVariant:
    """`params` are the arrays that the entry reads, in the order of `signature.params`; nothing is left to be computed."""

    target: str
    signature: Signature
    code: EngineCode
    params: tuple[np.ndarray, ...]
    profiled: tuple[str, ...]

    @property
    def entry(self) -> int:
        """Where the entry, which takes one table of pointers, begins in the image."""
        return self.code.image.entries[packed_name(self.signature.entry)]


def variant_of(source: Source, target: str, code: ModelCode, params: Sequence[np.ndarray]) -> EngineVariant:
    """A variant of code and arrays that are there. `TargetError` where engines hold no such code."""
    found = find_target(target)
    facts = facts_of(source.module.operation) if target == DEFAULT_TARGET else found.machine(target)
    linked = found.link(code.objects, [packed_name(code.signature.entry)], facts)
    return EngineVariant(target, code.signature, linked, tuple(params), code.profiled)


def variant_for(source: Source, options: CompileOptions, record: ModelRecord, weights: Mapping[str, np.ndarray]) -> EngineVariant:
    """A variant of what compiling has made. Weights that code lays out itself are laid out here, by that code.

    `TargetError` where this machine cannot run it.
    """
    signature = record.code.signature
    if signature.precompute is None:
        return variant_of(source, options.target, record.code, [weights[spec.name] for spec in signature.params])
    try:
        find_target(options.target).require_runnable(source.module, options.target)
    except TargetError as error:
        raise TargetError(f"its weights are laid out by code for '{options.target}': {error}; save it on such a machine") from None
    session = record.code.session(weights, options.num_threads, options.memory_limit)
    return variant_of(source, options.target, record.code, session.bound_params)
