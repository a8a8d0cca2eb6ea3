"""The choices of one compilation, beside the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlc.errors import InvalidInputError, quoted
from dlc.option_values import DEFAULT_TARGET
from dlc.runtime.arguments import check_num_threads
from dlc.targets.code_options import CodeOptions
from dlc.targets.machine import target_facts
from dlc.targets.registry import find_target

if TYPE_CHECKING:
    from dlc.targets.schedules import ScheduleTable

Stage = str
"""A level on the way to a target: `dl`, `linalg`, `affine`, `llvm` for CPUs, `dl`, `linalg`, `affine`, `gpu`, `nvvm` for GPUs."""


@dataclass(frozen=True)
class CompileOptions:
    """Choices of one compilation.

    `target` is `cpu` (this machine, or the one that the module names), `cpu:native` (this machine), or a name: `cpu:haswell`.
    `num_threads` bounds the threads of a call (None: all processors); `opt_level` is LLVM's, 0 to 3. `cache` keeps machine
    code in `DLC_CACHE_DIR` and takes it from there. `schedules` and `measure` decide between tiles, see `compile`; with `profile`,
    calls tell the runtime where their time goes. `memory_limit` is what a call may hold, in bytes. `beside` is the CPU that the
    host's part of code for a GPU is for, by name; empty for this machine, or the one that the module names.
    """

    target: str = DEFAULT_TARGET
    num_threads: int | None = None
    opt_level: int = 2
    cache: bool = True
    schedules: ScheduleTable | None = None
    measure: bool = False
    profile: bool = False
    memory_limit: int | None = None
    beside: str = ""

    @property
    def code(self) -> CodeOptions:
        """What the code of kernels and entry depends on."""
        return CodeOptions(self.opt_level, self.schedules, self.measure, self.profile, self.beside)

    def check(self) -> None:
        """Raise `TargetError` or `InvalidInputError` for a choice that does not exist."""
        find_target(self.target)
        if self.beside:
            target_facts(self.beside)
        check_num_threads(self.num_threads)
        if type(self.opt_level) is not int or self.opt_level not in (0, 1, 2, 3):
            raise InvalidInputError(f"opt_level must be 0, 1, 2 or 3, not {quoted(self.opt_level)}")
        check_flags(cache=self.cache, measure=self.measure, profile=self.profile)


def check_flags(**flags: object) -> None:
    """Raise `InvalidInputError` for an option that is neither True nor False; "no" would count as True."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidInputError(f"{name} must be True or False, not {quoted(value)}")
