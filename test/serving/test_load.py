"""Many clients at once, for long, while files change: no answer is lost or wrong."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from served import Running, running, small_engine, small_input

import dlc
from dlc.serving.options import BatchOptions

SECONDS = float(os.environ.get("DLC_LOAD_SECONDS", "600")) / 2
"""Of each of two kinds of load: ten minutes together, unless the variable says otherwise."""
CLIENTS = 12


class Client(threading.Thread):
    """Asks over and over with inputs of its own; `failures` are what went wrong."""

    def __init__(self, server: Running, expected: list[dlc.Engine], number: int, end: float) -> None:
        super().__init__()
        self._server, self._number, self._end = server, number, end
        self._inputs = [small_input(1 + (number + each) % 5, number * 100 + each) for each in range(20)]
        self._expected = [[engine(x)[0] for engine in expected] for x in self._inputs]
        self.failures: list[object] = []
        self.answered = 0

    def run(self) -> None:
        module = triton_grpc if self._number % 2 else triton_http
        with module.InferenceServerClient(self._server.grpc if self._number % 2 else self._server.http) as client:
            while time.monotonic() < self._end:
                number = self.answered % len(self._inputs)
                try:
                    self._ask(module, client, self._inputs[number], self._expected[number])
                except Exception as error:
                    self.failures.append(error)
                self.answered += 1

    def _ask(self, module, client, x: np.ndarray, expected: list[np.ndarray]) -> None:
        tensor = module.InferInput("x", list(x.shape), "FP32")
        tensor.set_data_from_numpy(x)
        result = client.infer("m", [tensor]).as_numpy("logits")
        assert any(np.allclose(result, each, rtol=1e-4, atol=1e-5) for each in expected), "a wrong answer"


@pytest.mark.slow
@pytest.mark.parametrize("max_batch", [1, 16])
def test_no_answer_is_lost_or_wrong(small_file: Path, tmp_path: Path, max_batch: int) -> None:
    file, other = tmp_path / "m.dlce", tmp_path / "other"
    small_engine(other, bias=100.0)
    shutil.copy(small_file, file)
    engines = [dlc.load(small_file), dlc.load(other)]
    with running([file], batching=BatchOptions(max_batch, 0.001)) as server:
        end = time.monotonic() + SECONDS
        clients = [Client(server, engines, number, end) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        replaced = 0
        while time.monotonic() < end - 1:
            shutil.copy((other, small_file)[replaced % 2], tmp_path / "new")
            (tmp_path / "new").replace(file)
            replaced += 1
            time.sleep(1)
        for client in clients:
            client.join(60)
        figures = server.metrics()
    failures = [failure for client in clients for failure in client.failures]
    assert not failures, failures[:5]
    answered = sum(client.answered for client in clients)
    assert all(client.answered > 10 for client in clients)
    assert sum(value for name, value in figures.items() if name.startswith("dlc_requests_total") and "ok" in name) == answered
    assert replaced and figures['dlc_reloads_total{model="m",result="loaded"}'] > 0
    assert 'dlc_reloads_total{model="m",result="failed"}' not in figures
    print(f"answered {answered} requests in {SECONDS:.0f} s, {replaced} files")
