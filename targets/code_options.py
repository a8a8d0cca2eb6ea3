"""What the code of kernels depends on besides the IR, the passes and the machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dlc.targets.schedules import ScheduleTable


@dataclass(frozen=True)
class CodeOptions:
    """`opt_level` is LLVM's. `schedules` replace the cost model's choices; with `measure`, those that it is not sure of are
    made by running the candidates. `profile` makes the entry charge the time of its calls to rows of the runtime's profile.
    `beside` is the CPU that the host's part of code for a GPU is for, by name; empty for the module's.
    """

    opt_level: int = 2
    schedules: ScheduleTable | None = None
    measure: bool = False
    profile: bool = False
    beside: str = ""

    def text(self) -> str:
        """The same text for the same options."""
        given = [self.opt_level, self.schedules and self.schedules.to_json(), self.measure, self.profile]
        return json.dumps([*given, self.beside] if self.beside else given, sort_keys=True)
