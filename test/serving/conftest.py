"""Engines that the tests of the folder serve, and one server for tests that change nothing of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from schedulers import Bench
    from served import Running

_MISSING = [name for name in ("httptools", "grpc", "prometheus_client", "tritonclient") if importlib.util.find_spec(name) is None]
_FILES = [file.name for file in Path(__file__).parent.glob("test_*.py") if file.name != "test_installed.py"]
collect_ignore = _FILES if _MISSING else []  # test_installed.py tells why


@pytest.fixture(scope="session")
def missing() -> list[str]:
    """Packages without which nothing of the folder is tested."""
    return _MISSING


@pytest.fixture(scope="session")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from served import small_engine

    file = tmp_path_factory.mktemp("serving") / "small.dlce"
    small_engine(file)
    return file


@pytest.fixture(scope="session")
def types_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from served import types_engine

    file = tmp_path_factory.mktemp("serving") / "types.dlce"
    types_engine(file)
    return file


@pytest.fixture(scope="session")
def server(small_file: Path, types_file: Path) -> Iterator[Running]:
    """Serves `small` and `types`, without batching; requests of 1 MiB at most."""
    from served import running

    with running([small_file, types_file], max_request_bytes=1 << 20) as found:
        yield found


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A scheduler of batches of four and a queue of six."""
    from schedulers import Bench

    made = Bench(max_batch=4, max_delay=0.0, max_queue=6)
    yield made
    made.close()
