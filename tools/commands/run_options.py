"""What `dlc run` is asked for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from dlc.engines.engine_cache import EngineCache

if TYPE_CHECKING:
    from dlc.accuracy import Precision

_OF_RUNS = frozenset({"model", "inputs", "outputs", "dims", "seed", "repeat", "tolerance", "compile_timeout"})
"""Options that the code does not depend on."""
_OF_COMPILER = ("check", "donate", "sizes", "specialize", "values", "schedule", "verify_schedules", "measure")
"""Options that only the compiler's model knows, or whose files and results no key holds."""


@dataclass(frozen=True)
class RunOptions:
    """The options as they are spelled; `model` is the file."""

    model: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    check: str | None
    tolerance: float
    dims: tuple[str, ...]
    donate: tuple[str, ...]
    seed: int
    repeat: int
    shapes: tuple[str, ...]
    sizes: tuple[str, ...]
    specialize: str | None
    values: tuple[str, ...]
    lenient: bool
    schedule: Path | None
    verify_schedules: bool
    measure: bool
    winograd: int | None
    precision: Precision | None
    memory_limit: str | None
    compile_timeout: float | None
    target: str
    num_threads: int | None
    opt_level: int

    @property
    def may_be_kept(self) -> bool:
        """Whether an engine does all that is asked for, so that it may be kept for the next run."""
        return self.model.suffix == ".onnx" and not any(getattr(self, name) for name in _OF_COMPILER)

    def of_code(self) -> dict[str, object]:
        """The options that the code depends on, by name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _OF_RUNS}


def engine_cache(options: RunOptions) -> EngineCache | None:
    """The place in the cache for an engine that does what is asked for; None where none can."""
    return EngineCache.of(options.model, options.of_code()) if options.may_be_kept else None
