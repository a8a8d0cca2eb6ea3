"""Values of a field that are tried beside its default."""

from __future__ import annotations

from dataclasses import dataclass

from dlc.lowering.policy import Policy
from dlc.lowering.policy.record import settings

NEUTRAL = "neutral"


@dataclass(frozen=True)
class Variant:
    """The default policy with another value of one field. `label` is `less`, `more`, or `neutral`."""

    field: str
    label: str
    value: float

    def policy(self) -> Policy:
        """The policy with that value."""
        return Policy().override(**{self.field: self.value})


def variants_of(field: str, step: float) -> list[Variant]:
    """The default divided by `step`, times it, and the neutral end of the field's range; those that are in the range and differ."""
    default, setting = Policy().value_of(field), settings()[field]
    is_whole = isinstance(default, int)
    tried = {"less": _rounded(default / step, is_whole, down=True), "more": _rounded(default * step, is_whole, down=False)}
    tried[NEUTRAL] = setting.neutral
    found: dict[float, Variant] = {}
    for label, value in tried.items():
        kept = min(max(value, setting.low), setting.high)
        if kept != default and (label == NEUTRAL or kept not in found):
            found[kept] = Variant(field, label, kept)
    return list(found.values())


def _rounded(value: float, is_whole: bool, down: bool) -> float:
    """`value`, or the whole number beside it that is further from where it came from."""
    if not is_whole:
        return value
    return int(value) if down else -int(-value // 1)
