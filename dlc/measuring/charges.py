"""What a profile has charged in a call, and the same without the time that charging takes.

Compiled code reads a clock at the begin of a call (`start`) and at each end of a row (`charge`, see `func-profile-calls`). From
one reading to the next there are the work of the row and one charge: the rest of the one before, and what comes before the
reading in the next. Around the call, from Python's reading to the first and from the last to Python's, there is one more.
So with n charges in a call and c seconds for each,

    seconds of a row without charging = seconds charged - c * times charged
    seconds of the call without charging = seconds - c * (n + 1)

and what is left of the second after all rows is what calling from Python takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Charges:
    """Means over some calls of a model, for one call.

    `seconds` is what Python sees, `rows` are (times charged, seconds), the entry's own first. `threads` is (ranges that several
    threads shared, seconds of starting and awaiting them), which are in no row. `cost` is the seconds of one charge.
    """

    seconds: float
    rows: Sequence[tuple[float, float]] = ()
    threads: tuple[float, float] = (0.0, 0.0)
    cost: float = 0.0

    @property
    def count(self) -> float:
        """How often a clock was read, the begin of the call included; 0 for a model without a profile."""
        return sum(times for times, _ in self.rows) + 1 if self.rows else 0.0

    @property
    def around(self) -> float:
        """Seconds that are in no row."""
        return self.seconds - self.threads[1] - sum(spent for _, spent in self.rows)

    def without_cost(self) -> Charges:
        """The same without charging. No row has less than nothing: a charge took no longer than the shortest row on the mean."""
        if not self.rows:
            return self
        least = min((spent / times for times, spent in self.rows if times), default=0.0)
        cost = min(self.cost, max(least, 0.0), max(self.around, 0.0))
        rows = [(times, spent - cost * times) for times, spent in self.rows]
        return replace(self, seconds=self.seconds - cost * self.count, rows=rows, cost=0.0)

    def row(self, index: int) -> tuple[float, float]:
        """Times charged and seconds; nothing for a row that was never charged."""
        return self.rows[index] if index < len(self.rows) else (0.0, 0.0)
