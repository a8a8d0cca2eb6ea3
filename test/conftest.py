"""Settings that all Python tests share."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings
from sweeps import mark_sweeps

os.environ["DLC_CACHE_DIR"] = ""  # what is tested is compiled; tests of the cache name a folder of their own
os.environ["DLC_COMPILE_WORKERS"] = "1"  # one process of pytest a processor is enough; tests of workers set another number
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # its threads spin for a while after each product, on processors that other tests need
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # clients of servers are in this process, and other tests fork it

# Shells start what runs in the background with interrupts ignored, which children inherit: tests that send one would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# One seed for all: a failure on one machine is a failure on each. No deadline: machines are shared.
settings.register_profile("dlc", derandomize=True, deadline=None)
settings.load_profile("dlc")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m "not slow"` says
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most cases of sweeps to `make check-all`."""
    mark_sweeps(items)


def pytest_collection_finish() -> None:
    """Keep what importing and collecting has made out of every later search for garbage."""
    gc.collect()
    gc.freeze()
