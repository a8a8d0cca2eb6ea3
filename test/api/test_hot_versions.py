"""Versions that the background compiles for sizes of frequent calls: swapped in when ready, never waited for, never an error."""

from __future__ import annotations

import dataclasses
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from version_models import WIDTHS, model, rows, versioned, wrong_calls

import dlc
from bench.networks import mlp
from dlc.compiled_model import CompiledModel
from dlc.targets.build_report import VariantCounters, VersionCounters
from dlc.versions.background import Background
from dlc.versions.specialize import CALLS, specialize_after
from dlc.versions.specializer import BACKGROUND
from dlc.versions.versioned_model import VersionedModel

SECONDS = 120.0
"""What a compilation in the background may take here, beside other tests."""


def build(after: str | int | None, **options: Any) -> CompiledModel:
    return dlc.compile(model(), specialize=after, **options)


def counters(found: CompiledModel) -> VersionCounters:
    report = found.build_report.versions
    assert report is not None
    return report


def hot(found: CompiledModel) -> VariantCounters:
    report = counters(found).hot
    assert report is not None
    return report


def settle(found: CompiledModel, *counts: int) -> None:
    """Call with these sizes until they have a version, or none to come."""
    end = time.monotonic() + SECONDS
    for count in counts:
        while not versioned(found).is_settled_for(rows(count)):
            assert time.monotonic() < end
            found(rows(count))


def test_the_calls_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DLC_SPECIALIZE", raising=False)
    assert [specialize_after(given) for given in (None, "off", "auto", 5, "7")] == [None, None, CALLS, 5, 7]
    monkeypatch.setenv("DLC_SPECIALIZE", "12")
    assert [specialize_after(given) for given in (None, "off", 5)] == [12, None, 5]
    monkeypatch.setenv("DLC_SPECIALIZE", "fast")
    with pytest.raises(dlc.InvalidInputError, match="DLC_SPECIALIZE is 'fast'; give auto, off, or a number of calls from 1 on"):
        specialize_after(None)
    for given in (0, -1, True, "on", 2.5):
        with pytest.raises(dlc.InvalidInputError, match="specialize is"):
            build(given)  # type: ignore[arg-type]


def test_it_is_off_by_default() -> None:
    assert not isinstance(build(None), VersionedModel)
    assert not isinstance(build("off"), VersionedModel)
    assert not isinstance(dlc.compile(mlp.build(widths=WIDTHS), specialize="auto"), VersionedModel), "no dim is dynamic"


def test_frequent_sizes_get_a_version() -> None:
    plain, found = build(None), build(3)
    for _ in range(2):
        found(rows(4))
    assert (counters(found).waiting, hot(found).built, counters(found).general) == (0, 0, 2)
    settle(found, 4)
    assert (counters(found).waiting, counters(found).failed, hot(found).kept) == (0, 0, 1)
    version = versioned(found).version(rows(4))
    assert version.inputs[0].shape == (4, WIDTHS[0])
    before = hot(found).hits
    np.testing.assert_allclose(found(rows(4))[0], plain(rows(4))[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found(rows(5))[0], plain(rows(5))[0], rtol=1e-5, atol=1e-6)
    assert hot(found).hits == before + 1
    general = versioned(found)._general._session._param_arrays
    assert all(np.shares_memory(one, other) for one, other in zip(general, version._session._param_arrays, strict=True))


def test_a_hot_version_is_the_code_for_one_size() -> None:
    """All dims are known in it, of all inputs that share a name and of those without one: bit by bit what `shapes` gives."""
    text = """func.func @main_graph(%x: tensor<?x?xf32> {dl.dims = ["n", ""]}, %y: tensor<?x1xf32> {dl.dims = ["n", ""]})
        -> tensor<?x?xf32> {
      %0 = "dl.add"(%x, %y) : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
      %1 = "dl.softmax"(%0) {axis = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
      return %1 : tensor<?x?xf32>
    }"""
    found = versioned(dlc.compile(text, specialize=1))
    given = rows(3), rows(3)[:, :1].copy()
    while not found.is_settled_for(*given):
        found(*given)
    assert [spec.shape for spec in found.version(*given).inputs] == [(3, WIDTHS[0]), (3, 1)]
    proto = mlp.build(widths=WIDTHS, dynamic_batch=True)
    hot_one = dlc.compile(proto, specialize=1)
    settle(hot_one, 3)
    np.testing.assert_array_equal(hot_one(rows(3))[0], dlc.compile(proto, shapes={"batch": 3})(rows(3))[0])


def test_the_least_recently_used_goes_first() -> None:
    found = build(1, max_specializations=2)
    settle(found, 1, 2)
    gone = weakref.ref(versioned(found).version(rows(1)))
    found(rows(2))
    settle(found, 3)
    assert (hot(found).kept, hot(found).evicted, hot(found).limit) == (2, 1, 2)
    gc.collect()
    assert gone() is None
    settle(found, 1)
    assert (hot(found).kept, hot(found).evicted, hot(found).built) == (2, 2, 4)


def test_an_error_in_the_background_reaches_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> Any:
        raise RuntimeError("no luck")

    found = build(1)
    monkeypatch.setattr(BACKGROUND, "compile", fails)
    settle(found, 2)
    for _ in range(3):
        found(rows(2))
    assert (counters(found).failed, hot(found).built, counters(found).failure) == (1, 0, "batch=2: no luck")
    monkeypatch.undo()
    settle(found, 3)
    assert hot(found).built == 1, "others are not touched"


def test_an_error_of_the_compiler_names_the_sizes() -> None:
    """Sizes that the version for all sizes refuses at each call are refused once in the background."""
    text = """func.func @main_graph(%x: tensor<?xf32> {dl.dims = ["n"]}, %y: tensor<?xf32> {dl.dims = ["m"]}) -> tensor<?xf32> {
      %0 = "dl.add"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    found = versioned(dlc.compile(text, specialize=1))
    two, three = np.ones(2, np.float32), np.ones(3, np.float32)
    for _ in range(2):
        with pytest.raises(dlc.InvalidInputError):
            found(two, three)
        assert found.is_settled_for(two, three)
    assert counters(found).failed == 1 and counters(found).failure.startswith("n=2, m=3: ")
    assert found(two, two)[0].tolist() == [2, 2]


def test_a_timeout_holds_in_the_background() -> None:
    found = build(1, timeout=30.0, cache=False)
    versioned(found)._specializer._request = dataclasses.replace(versioned(found)._specializer._request, timeout=1e-6)  # type: ignore
    settle(found, 6)
    assert counters(found).failed == 1 and "not compiled within 1e-06 s" in counters(found).failure


def test_limits_hold_in_versions() -> None:
    found = build(1, memory_limit=4096, num_threads=1)
    settle(found, 2)
    assert versioned(found).version(rows(2))._session._memory_limit == 4096
    assert versioned(found).version(rows(2)).options.num_threads == 1


def test_bounds_and_lists_beside_hot_sizes() -> None:
    found = build(2, shapes={"batch": [2, range(1, 9)]})
    settle(found, 2, 3)
    assert hot(found).kept == 2
    with pytest.raises(dlc.InvalidInputError, match="'batch', is 9 but its most is 8"):
        found(rows(9))


def test_other_weights_keep_the_versions() -> None:
    found = build(1)
    settle(found, 2)
    params = dlc.import_onnx(mlp.build(widths=WIDTHS, dynamic_batch=True)).params
    key = next(iter(params))
    changed = found.with_params({key: np.zeros_like(params[key])})
    assert hot(changed).kept == 1
    np.testing.assert_allclose(changed(rows(2))[0][0], changed(rows(3))[0][0], rtol=1e-5)
    settle(changed, 3)
    assert (hot(changed).kept, hot(found).kept) == (2, 1)


def test_calls_go_on_while_a_version_is_compiled() -> None:
    plain, found = build(None), build(1, cache=False)
    assert not wrong_calls(plain, found, 300)
    settle(found, 1, 2, 3, 4)
    assert (hot(found).built, counters(found).failed) == (4, 0), "each is compiled once"


def test_a_model_that_has_gone_is_not_compiled_for() -> None:
    found = build(1)
    gone = weakref.ref(versioned(found)._specializer)
    blocker = threading.Event()
    BACKGROUND.submit(lambda: blocker.wait(SECONDS) and None)
    found(rows(2))
    del found
    gc.collect()
    assert gone() is None
    blocker.set()
    assert BACKGROUND.wait(SECONDS)


def test_a_process_that_is_killed_is_started_again() -> None:
    found = build(1)
    settle(found, 2)
    process = BACKGROUND._process
    assert process is not None
    process.kill()
    process.wait()
    settle(found, 3)
    assert hot(found).built == 2


_SCRIPT = """
import os, sys, time, threading
import numpy as np
import dlc
from bench.networks import mlp
from dlc.versions.specializer import BACKGROUND

found = dlc.compile(mlp.build(widths=(8, 16, 4), dynamic_batch=True), specialize=1, cache=False)
found(np.zeros((3, 8), np.float32))
end = time.monotonic() + 60
while BACKGROUND._process is None and time.monotonic() < end:
    time.sleep(0.01)
print(BACKGROUND._process.pid, flush=True)
{then}
"""


def _run(then: str) -> tuple[subprocess.Popen[str], int]:
    script = _SCRIPT.replace("{then}", then)
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def _is_gone(pid: int) -> bool:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    "then, signalled, status",
    [
        ("", None, 0),
        ("raise SystemExit(3)", None, 3),
        ("time.sleep(60)", signal.SIGKILL, -signal.SIGKILL),
        ("time.sleep(60)", signal.SIGINT, -signal.SIGINT),
        ("if os.fork() == 0:\n    found(np.zeros((3, 8), np.float32))\n    sys.exit(0)\nassert os.wait()[1] == 0", None, 0),
    ],
)
def test_nothing_is_left_of_a_process_that_ends(then: str, signalled: signal.Signals | None, status: int) -> None:
    """In the middle of a compilation: no hang, no orphan, no word on standard error but of the interrupt."""
    process, worker = _run(then)
    if signalled is not None:
        process.send_signal(signalled)
    _, said = process.communicate(timeout=60)
    assert process.returncode == status
    assert _is_gone(worker)
    assert not said or (signalled == signal.SIGINT and "KeyboardInterrupt" in said)


def test_a_queue_of_its_own_ends_by_itself() -> None:
    queue, ran = Background(), list[int]()
    for number in range(3):
        queue.submit(lambda number=number: ran.append(number))  # type: ignore[misc]
    assert queue.wait(SECONDS) and ran == [0, 1, 2]
    queue.close()
    queue.submit(lambda: ran.append(3))
    assert ran == [0, 1, 2]
