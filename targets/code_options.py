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
    """

    opt_level: int = 2
    schedules: ScheduleTable | None = None
    measure: bool = False
    profile: bool = False

    def text(self) -> str:
        """The same text for the same options."""
        return json.dumps([self.opt_level, self.schedules and self.schedules.to_json(), self.measure, self.profile], sort_keys=True)
