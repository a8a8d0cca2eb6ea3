"""Settings that all Python tests share."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ["DLC_CACHE_DIR"] = ""  # what is tested is compiled; tests of the cache name a folder of their own
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # clients of servers are in this process, and other tests fork it

# One seed for all: a failure on one machine is a failure on each. No deadline: machines are shared.
settings.register_profile("dlc", derandomize=True, deadline=None)
settings.load_profile("dlc")
