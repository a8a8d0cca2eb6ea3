"""The deployment on a local Ray cluster of two workers."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import tritonclient.http as triton_http
from served import small_engine, small_input

import dlc

ray = pytest.importorskip("ray", reason="needs Ray Serve: pip install 'dlc[ray]'")
pytest.importorskip("ray.serve", reason="needs Ray Serve: pip install 'dlc[ray]'")
pytestmark = pytest.mark.slow

SECONDS = 10
"""Of load before a worker is killed, and again after there are two."""
CLIENTS = 6
PATIENCE = 10
"""Seconds after which a client asks again."""
WAIT = 180


_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),  # else Ray writes one to the home folder
}


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in taken:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in taken]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Ray Serve's HTTP port."""
    from ray import serve
    from ray.cluster_utils import Cluster

    http, *agents = free_ports(5)
    # Ray waits 15 s for agents to tell their ports, too short on a busy machine, but not for ports that it gives them.
    names = ("metrics_agent_port", "runtime_env_agent_port", "dashboard_agent_listen_port", "metrics_export_port")
    folder = tempfile.mkdtemp(prefix="ray")  # short: sockets lie in it
    node = {"num_cpus": 3, "include_dashboard": False, "object_store_memory": 100 << 20}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**_ENVIRONMENT, "RAY_TMPDIR": folder}.items():
            patch.setenv(name, value)
        cluster = Cluster(initialize_head=True, head_node_args={**node, **dict(zip(names, agents, strict=True))})
        try:
            ray.init(address=cluster.address, log_to_driver=False)
            serve.start(http_options={"host": "127.0.0.1", "port": http})
            yield http
            serve.shutdown()
        finally:
            ray.shutdown()
            cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def deploy(user_config: dict[str, Any] | None = None, replicas: int = 2, **options: Any) -> None:
    from ray import serve

    from dlc.serving.ray_deployment import EngineDeployment

    made = EngineDeployment.options(num_replicas=replicas, user_config=user_config, health_check_period_s=1)
    serve.run(made.bind(**options), route_prefix="/")


def ask(port: int, path: str, body: bytes | None = None, timeout: float = 180, **headers: str) -> tuple[int, bytes]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, names)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def infer(port: int, x: np.ndarray, name: str = "m") -> np.ndarray:
    tensor = triton_http.InferInput("x", list(x.shape), "FP32")
    tensor.set_data_from_numpy(x)
    with triton_http.InferenceServerClient(f"127.0.0.1:{port}", network_timeout=WAIT) as client:
        return client.infer(name, [tensor]).as_numpy("logits")


def record(x: np.ndarray) -> bytes:
    tensor = {"name": "x", "datatype": "FP32", "shape": x.shape, "data": x.ravel().tolist()}
    return json.dumps({"inputs": [tensor]}).encode()


def test_the_protocol(port: int, small_file: Path) -> None:
    deploy(models=f"m={small_file}", replicas=1, max_request_bytes=4096)
    x = small_input()
    expected = dlc.load(small_file)(x)[0]
    np.testing.assert_allclose(infer(port, x), expected, rtol=1e-5, atol=1e-6)
    with triton_http.InferenceServerClient(f"127.0.0.1:{port}", network_timeout=WAIT) as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("m")
        assert client.get_model_metadata("m")["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 12]}]
        assert client.get_server_metadata()["name"] == "dlc"
    status, answer = ask(port, "/v2/models/m/versions/1/infer", gzip.compress(record(x)), Content_Encoding="gzip")
    assert status == 200
    np.testing.assert_allclose(json.loads(answer)["outputs"][0]["data"], expected.ravel(), rtol=1e-5, atol=1e-6)
    wrong = [
        ("/v2/models/m/infer", b"{", {}, 400, "the request is no JSON that can be read"),
        ("/v2/models/m/infer", record(x[:, :3]), {}, 400, "input 'x' has shape [3, 3]; the model takes [-1, 12]"),
        ("/v2/models/m/infer", bytes(5000), {}, 413, "the request has more than 4096 bytes"),
        ("/v2/models/m/infer", gzip.compress(bytes(1 << 20)), {"Content_Encoding": "gzip"}, 413, "more than 4096 bytes"),
        ("/v2/models/m/infer", gzip.compress(record(x))[:-9], {"Content_Encoding": "gzip"}, 400, "compressed data end early"),
        ("/v2/models/m/infer", b"{}", {"Content_Encoding": "br"}, 400, "the content encoding 'br' is not supported"),
        ("/v2/models/other/infer", record(x), {}, 404, "no model 'other' is served here"),
        ("/v2/models/m/versions/2", None, {}, 404, "model 'm' has no version '2'; it has '1'"),
        ("/v3", None, {}, 404, "no such path: /v3"),
        ("/v2/models/m/infer", None, {}, 405, "method not allowed: GET /v2/models/m/infer"),
    ]
    for path, body, headers, expected_status, reason in wrong:
        status, answer = ask(port, path, body, **headers)
        assert (status, reason in json.loads(answer)["error"]) == (expected_status, True), (path, answer)


def test_models_and_batches_change_by_user_config(port: int, small_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.dlce"
    small_engine(other, bias=100.0)
    x = small_input(2)
    deploy({"models": [f"m={small_file}"]}, replicas=1)
    np.testing.assert_allclose(infer(port, x), dlc.load(small_file)(x)[0], rtol=1e-5, atol=1e-6)
    deploy({"models": [f"m={other}", f"n={small_file}"], "max_batch_size": 4, "batch_wait_timeout_s": 0.001}, replicas=1)
    expected = dlc.load(other)(x)[0]
    until(lambda: np.allclose(infer(port, x), expected, rtol=1e-5, atol=1e-6))
    np.testing.assert_allclose(infer(port, x, "n"), dlc.load(small_file)(x)[0], rtol=1e-5, atol=1e-6)


def replicas() -> set[int]:
    """Processes of the deployment."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            title = process.name() + " ".join(process.cmdline()[:1])
        except psutil.Error:
            continue
        if "ServeReplica" in title and "EngineDeployment" in title:
            found.add(process.pid)
    return found


def until(condition) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, f"nothing happened for {WAIT} s"
        time.sleep(0.2)


class Client(threading.Thread):
    """Asks over and over, and again where it got no answer; `lost` are requests that were never answered."""

    def __init__(self, port: int, file: Path, number: int) -> None:
        super().__init__()
        self._port = port
        engine = dlc.load(file)
        self._inputs = [small_input(1 + each % 3, number * 10 + each) for each in range(8)]
        self._expected = [engine(x)[0] for x in self._inputs]
        self.end = threading.Event()
        self.answered = self.retried = self.wrong = self.lost = 0

    def run(self) -> None:
        while not self.end.is_set():
            number = self.answered % len(self._inputs)
            found = self._answer(self._inputs[number])
            self.lost += found is None
            self.wrong += found is not None and not np.allclose(found, self._expected[number], rtol=1e-4, atol=1e-5)
            self.answered += 1

    def _answer(self, x: np.ndarray) -> np.ndarray | None:
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            try:
                status, answer = ask(self._port, "/v2/models/m/infer", record(x), timeout=PATIENCE)
            except OSError:
                status = 0
            if status == 200:
                return np.array(json.loads(answer)["outputs"][0]["data"], np.float32).reshape(len(x), -1)
            self.retried += 1
            time.sleep(0.05)
        return None


def test_no_request_is_lost_when_a_replica_is_killed(port: int, small_file: Path) -> None:
    deploy(models=f"m={small_file}", max_batch_size=8)
    until(lambda: len(replicas()) == 2)
    before = replicas()
    clients = [Client(port, small_file, number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(SECONDS)
    answered = sum(client.answered for client in clients)
    os.kill(min(before), signal.SIGKILL)
    until(lambda: len(replicas() - {min(before)}) == 2)
    time.sleep(SECONDS)
    for client in clients:
        client.end.set()
    for client in clients:
        client.join(WAIT)
        assert not client.is_alive()
    assert [(client.wrong, client.lost) for client in clients] == [(0, 0)] * CLIENTS
    assert answered > CLIENTS and all(client.answered for client in clients)
    assert sum(client.answered for client in clients) > answered + CLIENTS
    print(f"answered {sum(client.answered for client in clients)}, retried {sum(client.retried for client in clients)}")
