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
class VersionCounters:
    """What became of the calls of a model with versions for sizes, and of the versions.

    `general` counts calls of the version of all sizes, `declared` those of the `versions` that were asked for by lists of sizes.
    `hot` counts the versions that the background made for frequent sizes (None: it makes none), `waiting` the sizes that wait for
    theirs, `failed` those that got none; `failure` is why the last one did not.
    """

    general: int
    declared: int
    versions: int
    hot: VariantCounters | None = None
    waiting: int = 0
    failed: int = 0
    failure: str = ""


@dataclass(frozen=True)
class BuildReport:
    """How the code of a model came about: its distinct kernels, and how many units (kernels and entry) were compiled.

    The other units were in memory or in the cache on disk; `whole` says that the whole model was, so that no pass ran. `variants`
    counts the variants of a model that is specialised at its calls, and `versions` those for sizes, where numbers are those of all
    together; None for others.
    """

    kernels: int
    compiled: int
    whole: bool = False
    variants: VariantCounters | None = None
    versions: VersionCounters | None = None
