"""Compiles a model for native code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dlc.analysis.arena_size import arena_size
from dlc.engines.variants import arrays_for, needs_of
from dlc.engines.whole_code import emit_whole, lower_whole, whole_code
from dlc.errors import TargetError
from dlc.lowering.affine_to_llvm.interfaces import C_INTERFACE
from dlc.lowering.deadline import Progress
from dlc.native.building import NativeModel
from dlc.native.names import model_name
from dlc.native.source import EntryPoint
from dlc.option_values import DEFAULT_TARGET
from dlc.runtime.signature import Signature
from dlc.sources import Source
from dlc.targets.machine import Machine, facts_of, host_facts
from dlc.targets.model_code import ModelCode, packed_name
from dlc.targets.registry import find_target
from dlc.targets.signature import signature_of
from dlc.weights import WeightRecipe

if TYPE_CHECKING:
    from dlc.compile_options import CompileOptions

_KERNELS_APART = "x86_64"
"""The architecture whose kernels are compiled each once and kept, on a machine of it."""


def compile_native(
    source: Source, options: CompileOptions, name: str | None = None, progress: Progress | None = None
) -> NativeModel:
    """The code of `source` for `options.target`, whose names in C begin with `name`: by default the file's name.

    `TargetError` where the target makes no such code, `InvalidInputError` for a name that C does not have.
    """
    called = model_name(name or Path(source.name).stem)
    facts, features, is_whole = _machine(source, options)
    signature, entry, objects, params = (_whole if is_whole else _by_kernels)(source, options, progress)
    title = f"The model {Path(source.name).name} for {facts.processor or facts.arch}"
    return NativeModel(called, title, options.target, facts.arch, tuple(features), signature, objects, entry, tuple(params))


def _machine(source: Source, options: CompileOptions) -> tuple[Machine, Sequence[str], bool]:
    """The machine, what it needs of a processor, and whether its code is compiled as a whole. `TargetError` where there is none."""
    found = _processor(source, options.target)
    if not found.arch == host_facts().arch == _KERNELS_APART:
        _require_elf(found)
        return found, sorted(found.features), True
    return *needs_of(source, options), False


def _processor(source: Source, target: str) -> Machine:
    """The processor that code of `source` for `target` is for. `TargetError` for another machine."""
    found = facts_of(source.module.operation) if target == DEFAULT_TARGET else find_target(target).machine(target)
    if not isinstance(found, Machine):
        raise TargetError(f"target '{target}' makes no native code; name a CPU, as cpu:haswell, or write an engine, as model.dlce")
    return found


def compile_for_arena(
    source: Source, options: CompileOptions, name: str | None = None, progress: Progress | None = None
) -> tuple[NativeModel, int]:
    """The same as one object, and the bytes that a call of it takes where it runs on one thread, without a heap.

    `TargetError` where these depend on the call, and as for `compile_native`.
    """
    found = _processor(source, options.target)
    _require_elf(found)
    optimized, module = lower_whole(source, options, progress)
    signature = signature_of(module)
    _require_known_sizes(signature)
    size = arena_size(module, f"{C_INTERFACE}{signature.entry}")
    _, entry, objects, params = _of_whole(*emit_whole(optimized, module, options, progress))
    called = model_name(name or Path(source.name).stem)
    title = f"The model {Path(source.name).name} for {found.processor or found.arch}, on one thread and without a heap"
    return NativeModel(called, title, options.target, found.arch, (), signature, objects, entry, tuple(params)), size


def _require_known_sizes(signature: Signature) -> None:
    for kind, specs in (("input", signature.inputs), ("output", signature.outputs)):
        for spec in specs:
            if not all(isinstance(dim, int) for dim in spec.shape):
                remedy = "give them with --shape, or write another form, as static-lib"
                raise TargetError(f"a program without a heap has models of known sizes, and {kind} '{spec}' has others; {remedy}")


_Code = tuple[Signature, EntryPoint, tuple[bytes, ...], Sequence[np.ndarray]]


def _by_kernels(source: Source, options: CompileOptions, progress: Progress | None) -> _Code:
    """From the cache as far as it is there; the code that a compiled model runs."""
    from dlc.compile_record import compile_record

    record, _ = compile_record(source, options, progress)
    params = arrays_for(source, options, record, WeightRecipe.evaluate(record.recipe, source.params))
    signature = record.code.signature
    return signature, EntryPoint(packed_name(signature.entry)), record.code.objects, params


def _whole(source: Source, options: CompileOptions, progress: Progress | None) -> _Code:
    """The whole module as one object, by the LLVM that has other architectures."""
    return _of_whole(*whole_code(source, options, progress))


def _of_whole(code: ModelCode, params: Sequence[np.ndarray]) -> _Code:
    """With the entry that takes each descriptor, which C calls without a table."""
    signature = code.signature
    arguments = len(signature.inputs) + len(signature.params) + bool(signature.outputs)
    return signature, EntryPoint(f"{C_INTERFACE}{signature.entry}", arguments), code.objects, params


def _require_elf(facts: Machine) -> None:
    """Code for Apple's systems is Mach-O, which the tools of other systems do not link."""
    if facts.processor.startswith("apple"):
        remedy = "write the object with --emit=obj, and link it on such a machine"
        raise TargetError(f"native code for {facts.processor} is for macOS, whose linker is Apple's alone; {remedy}")
