"""What building a model took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VariantCounters:
    """What became of the variants of a model: calls that found theirs, variants that were built, those kept of at most `limit`."""

    hits: int
    built: int
    evicted: int
    kept: int
    limit: int


@dataclass(frozen=True)
class BuildReport:
    """How the code of a model came about: its distinct kernels, and how many units (kernels and entry) were compiled.

    The other units were in memory or in the cache on disk; `whole` says that the whole model was, so that no pass ran. `variants`
    counts the variants of a model that is specialised at its calls, whose numbers are then added up; None for others.
    """

    kernels: int
    compiled: int
    whole: bool = False
    variants: VariantCounters | None = None
