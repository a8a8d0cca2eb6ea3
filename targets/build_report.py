"""What building a model took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BuildReport:
    """How the code of a model came about: its distinct kernels, and how many units (kernels and entry) were compiled.

    The other units were in memory or in the cache on disk; `whole` says that the whole model was, so that no pass ran.
    """

    kernels: int
    compiled: int
    whole: bool = False
