"""Settings that all Python tests share."""

from __future__ import annotations

from hypothesis import settings

# One seed for all: a failure on one machine is a failure on each. No deadline: machines are shared.
settings.register_profile("dlc", derandomize=True, deadline=None)
settings.load_profile("dlc")
