"""A range of floats as the value of an option."""

from __future__ import annotations

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """No NaN, which no range of click's refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is no number.", param, ctx)
        return found
