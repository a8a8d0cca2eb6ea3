"""A field of the policy: default, unit, meaning and range."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """What is known of a field: its unit, its meaning, the range in which it may lie, and the end at which it decides nothing."""

    unit: str
    help: str
    low: float
    high: float
    neutral: float


def setting(default: float, unit: str, help: str, low: float, high: float, neutral: float | None = None) -> Any:
    """A number of the policy. `neutral` is the end of its range at which it decides nothing, the low one by default."""
    if not low <= default <= high:
        raise ValueError(f"{default} is outside of {low} to {high}")
    stated = Setting(unit, help, low, high, low if neutral is None else neutral)
    return dataclasses.field(default=default, metadata={"setting": stated})


def candidates(default: tuple[int, ...], unit: str, help: str) -> Any:
    """Numbers that are tried, in that order. A search weighs them, so they are not fitted."""
    return dataclasses.field(default=default, metadata={"help": help, "unit": unit})
