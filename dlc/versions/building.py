"""Compiles the versions of a model: one for all sizes, and one for each list of sizes that `shapes` gives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dlc.errors import InvalidInputError
from dlc.lowering.deadline import Progress
from dlc.lowering.stages import stage_of
from dlc.shared_weights import SharedWeights
from dlc.sources import Source
from dlc.versions.reading import SizeReading
from dlc.versions.sizes import DimSizes, bound
from dlc.versions.specializer import Specializer
from dlc.versions.versioned_model import VersionedModel
from dlc.weights import WeightRecipe

if TYPE_CHECKING:
    from dlc.compiled_model import CompiledModel
    from dlc.request import Request

MOST_VERSIONS = 64
"""Versions that lists of sizes may ask for: each is compiled at once."""


def compile_versions(
    request: Request, source: Source, sizes: Mapping[str, DimSizes], progress: Progress | None, begin: float | None
) -> CompiledModel:
    """The model of all sizes, with versions for lists of sizes and those that `request.specialize` asks for beside it.

    `InvalidInputError` where there would be too many. The time of a deadline is that of all versions together.
    """
    exact = {name: each.exact for name, each in sizes.items() if each.exact}
    if not exact and request.specialize is None:
        return request.compile_alone(source, progress, begin)
    stage = stage_of(source.module)
    if stage != "dl" and not request.must_specialize:
        return request.compile_alone(source, progress, begin)
    if stage != "dl":
        raise InvalidInputError(f"specialize needs a model at level 'dl', and '{source.name}' is at level '{stage}'")
    _check(request, source, exact)
    if request.evaluate == WeightRecipe.evaluate:
        request = replace(request, evaluate=SharedWeights().evaluate)
    general = request.compile_alone(source, progress, begin)
    reading = SizeReading(general.inputs)
    names = [name for name in exact if name in reading.names]
    versions = {}
    for chosen in itertools.product(*(exact[name] for name in names)) if names else ():
        if progress:
            progress(f"version {', '.join(f'{name}={size}' for name, size in zip(names, chosen, strict=True))}")
        versions[chosen] = request.compile_alone(_bound(source, dict(zip(names, chosen, strict=True))), progress, begin)
    specializer = None
    if request.specialize is not None and reading.places:
        specializer = Specializer(request, general, reading)
    if not versions and specializer is None:
        return general
    return VersionedModel(general, reading, names, versions, specializer)


def _check(request: Request, source: Source, exact: Mapping[str, Any]) -> None:
    count = math.prod(map(len, exact.values()))
    if count > MOST_VERSIONS:
        lists = ", ".join(f"'{name}' has {len(sizes)}" for name, sizes in exact.items())
        raise InvalidInputError(f"shapes: {count} versions of '{source.name}' ({lists}); give at most {MOST_VERSIONS}, or ranges")
    if request.options.schedules is not None:
        raise InvalidInputError("schedule: versions for sizes have kernels of their own; leave it out, or give ranges alone")


def _bound(source: Source, sizes: Mapping[str, int]) -> Source:
    shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return replace(bound(source, sizes), name=f"{source.name} for {shown}")
