"""A server as a whole: limits, batches, figures, changed files."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shutil
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from served import Running, running, small_engine, small_input
from tritonclient.utils import InferenceServerException

import dlc
from dlc.serving.call import ModelRunner, Runners
from dlc.serving.options import BatchOptions

RECORD = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 12], "data": [0.5] * 12}]}


class Held:
    """An engine that answers once it is let go."""

    def __init__(self, engine: ModelRunner) -> None:
        self.engine, self.go, self.began, self.cancelled = engine, threading.Event(), threading.Event(), threading.Event()

    def __call__(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        self.began.set()
        assert self.go.wait(30)
        return self.engine(inputs)

    def cancel(self) -> None:
        self.cancelled.set()
        self.go.set()


def hold(server: Running, name: str) -> Held:
    """Let the model's calls wait for `go`."""
    model = server.model(name)
    held = Held(model.loaded.runners.all_threads)
    model.loaded = dataclasses.replace(model.loaded, runners=Runners(held, held))  # type: ignore[arg-type]
    return held


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "nothing happened for 30 s"
        time.sleep(0.01)


def grpc_infer(server: Running, x: np.ndarray, name: str = "small", **options) -> np.ndarray:
    tensor = triton_grpc.InferInput("x", list(x.shape), "FP32")
    tensor.set_data_from_numpy(x)
    with triton_grpc.InferenceServerClient(server.grpc) as client:
        return client.infer(name, [tensor], **options).as_numpy("logits")


def test_a_full_queue_is_told(small_file: Path) -> None:
    with running([small_file], batching=BatchOptions(max_queue=2)) as server, ThreadPoolExecutor(8) as pool:
        held = hold(server, "small")
        accepted = [pool.submit(server.infer, "small", RECORD)]
        assert held.began.wait(30)
        accepted += [pool.submit(server.infer, "small", RECORD) for _ in range(2)]
        until(lambda: server.metrics()['dlc_waiting_requests{model="small"}'] == 2)
        status, answer = server.infer("small", RECORD)
        assert (status, answer) == (503, {"error": "2 requests wait for model 'small' already; try again later"})
        with pytest.raises(InferenceServerException, match="try again later") as raised:
            grpc_infer(server, small_input(1))
        assert raised.value.status() == "StatusCode.RESOURCE_EXHAUSTED"
        held.go.set()
        assert [each.result()[0] for each in accepted] == [200] * 3


def test_requests_that_take_too_long(small_file: Path) -> None:
    with running([small_file], timeout=0.3) as server:
        held = hold(server, "small")
        assert server.infer("small", RECORD) == (504, {"error": "no answer within 0.3 s"})
        assert held.cancelled.wait(30)
        held = hold(server, "small")
        with pytest.raises(InferenceServerException) as raised:
            grpc_infer(server, small_input(1))
        assert raised.value.status() == "StatusCode.DEADLINE_EXCEEDED"
        held.go.set()


def test_requests_with_a_timeout(small_file: Path) -> None:
    with running([small_file]) as server:
        held = hold(server, "small")
        begin = time.perf_counter()
        status, answer = server.infer("small", {**RECORD, "parameters": {"timeout": 200_000}})
        assert (status, answer) == (504, {"error": "no answer within 0.2 s"})
        assert time.perf_counter() - begin < 20
        held = hold(server, "small")
        with pytest.raises(InferenceServerException, match=r"no answer within 0\.2 s"):
            grpc_infer(server, small_input(1), timeout=200_000)
        held.go.set()


def test_clients_that_vanish_take_their_calls_along(small_file: Path) -> None:
    body = json.dumps(RECORD).encode()
    request = f"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with running([small_file]) as server:
        held = hold(server, "small")
        host, port = server.http.split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(request)
            assert held.began.wait(30)
        assert held.cancelled.wait(30)
        held = hold(server, "small")
        with pytest.raises(InferenceServerException):
            grpc_infer(server, small_input(1), client_timeout=0.3)
        assert held.cancelled.wait(30)
        until(lambda: server.metrics().get('dlc_requests_total{model="small",protocol="grpc",status="CANCELLED"}') == 1)


def test_slow_bodies_are_given_up(small_file: Path) -> None:
    with running([small_file], timeout=0.3) as server:
        host, port = server.http.split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(b"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
            answer = connection.makefile("rb").read()  # to its end: the connection is closed, too
        assert answer.startswith(b"HTTP/1.1 504") and b"has not arrived within 0.3 s" in answer


def test_batches_give_each_request_its_own_rows(small_file: Path) -> None:
    engine = dlc.load(small_file)
    with running([small_file], batching=BatchOptions(8, 0.02, 1000)) as server, ThreadPoolExecutor(16) as pool:
        inputs = [small_input(1 + number % 3, number) for number in range(64)]
        for x, result in zip(inputs, pool.map(lambda x: grpc_infer(server, x), inputs), strict=True):
            np.testing.assert_allclose(result, engine(x)[0], rtol=1e-5, atol=1e-6)
        figures = server.metrics()
    assert figures['dlc_run_rows_sum{model="small"}'] == sum(map(len, inputs))
    assert figures['dlc_run_rows_count{model="small"}'] < len(inputs)


def test_quick_requests_run_on_the_event_loop_in_batches(small_file: Path) -> None:
    """Once the model is known to be quick; many that come together run as one."""
    with running([small_file], batching=BatchOptions(8, 0.0, 1000)) as server:
        counted = 'dlc_run_rows_count{model="small"}'
        model = server.model("small")

        async def many(count: int) -> list[list[np.ndarray]]:
            inputs = [small_input(1, number) for number in range(count)]
            return await asyncio.gather(*(model.infer(model.loaded, [x]) for x in inputs))

        def is_left_to_the_thread(count: int) -> bool:
            handed_over: list[int] = []
            hand_over = model.scheduler._hand_over
            model.scheduler._hand_over = lambda calls: (handed_over.append(1), hand_over(calls))  # type: ignore[assignment, method-assign]
            server.do(many(count))
            model.scheduler._hand_over = hand_over  # type: ignore[method-assign]
            return bool(handed_over)

        for count in (1, 6):
            until(lambda count=count: not is_left_to_the_thread(count))  # type: ignore[misc]
        before = server.metrics()[counted]
        results = server.do(many(6))
        assert server.metrics()[counted] <= before + 2
    for number, (result,) in enumerate(results):
        np.testing.assert_allclose(result, dlc.load(small_file)(small_input(1, number))[0], rtol=1e-5, atol=1e-6)


def test_figures(small_file: Path) -> None:
    with running([small_file]) as server:
        for _ in range(3):
            assert server.infer("small", RECORD)[0] == 200
        assert server.infer("small", {"inputs": []})[0] == 400
        assert server.infer("other", RECORD)[0] == 404
        grpc_infer(server, small_input(2))
        status, text = server.request("/metrics")
        found = server.metrics()
    assert status == 200 and b"# TYPE dlc_request_seconds histogram" in text
    assert found['dlc_requests_total{model="small",protocol="http",status="ok"}'] == 3
    assert found['dlc_requests_total{model="small",protocol="http",status="INVALID_ARGUMENT"}'] == 1
    assert found['dlc_requests_total{model="",protocol="http",status="NOT_FOUND"}'] == 1
    assert found['dlc_requests_total{model="small",protocol="grpc",status="ok"}'] == 1
    assert found['dlc_run_seconds_count{model="small"}'] == 4


def test_a_changed_file_is_loaded_without_losing_requests(small_file: Path, tmp_path: Path) -> None:
    """Requests go on while the file is replaced four times; each answer is that of one of the two models."""
    file, other = tmp_path / "m.dlce", tmp_path / "other"
    small_engine(other, bias=100.0)
    shutil.copy(small_file, file)
    x, failed, seen, is_over = small_input(1), [], set(), threading.Event()
    expected = {number: dlc.load(path)(x)[0] for number, path in enumerate((small_file, other))}

    def keep_asking() -> None:
        with triton_grpc.InferenceServerClient(server.grpc) as client:
            tensor = triton_grpc.InferInput("x", [1, 12], "FP32")
            tensor.set_data_from_numpy(x)
            while not is_over.is_set():
                try:
                    result = client.infer("m", [tensor]).as_numpy("logits")
                    seen.add(next(number for number, each in expected.items() if np.array_equal(each, result)))
                except Exception as error:
                    failed.append(error)

    with running([file]) as server:
        threads = [threading.Thread(target=keep_asking) for _ in range(3)]
        for thread in threads:
            thread.start()
        for count, source in enumerate((other, small_file, other, small_file), 1):
            shutil.copy(source, tmp_path / "new")
            (tmp_path / "new").replace(file)
            until(lambda count=count: server.metrics().get('dlc_reloads_total{model="m",result="loaded"}') == count)
        is_over.set()
        for thread in threads:
            thread.join(30)
    assert not failed, failed[:3]
    assert seen == {0, 1}


def test_a_file_that_does_not_load_changes_nothing(small_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.dlce"
    shutil.copy(small_file, file)
    with running([file]) as server:
        before = server.infer("m", RECORD)
        (tmp_path / "new").write_bytes(small_file.read_bytes()[:1000])
        (tmp_path / "new").replace(file)
        until(lambda: server.metrics().get('dlc_reloads_total{model="m",result="failed"}') == 1)
        assert server.infer("m", RECORD) == before
        file.unlink()
        server.do(server.server._state.repository.refresh())
        assert server.infer("m", RECORD) == before


def test_files_may_be_overwritten_in_place_where_they_are_read(small_file: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "m.dlce", tmp_path / "other"
    small_engine(other, bias=100.0)
    shutil.copy(small_file, file)
    with running([file], in_memory=True) as server:
        before = server.infer("m", RECORD)
        file.write_bytes(b"")
        assert server.infer("m", RECORD) == before
        file.write_bytes(other.read_bytes())
        until(lambda: server.infer("m", RECORD)[1]["outputs"][0]["data"][0] > 50)


def test_folders_show_what_is_in_them(small_file: Path, tmp_path: Path) -> None:
    with running([tmp_path, f"named={small_file}"]) as server:
        assert server.server.models == ("named",)
        assert server.infer("late", RECORD)[0] == 404
        shutil.copy(small_file, tmp_path / "hidden")
        (tmp_path / "hidden").replace(tmp_path / "late.dlce")
        until(lambda: server.infer("late", RECORD)[0] == 200)
        assert server.infer("named", RECORD)[0] == 200
        (tmp_path / "bad.dlce").write_bytes(b"no engine")
        until(lambda: server.metrics().get('dlc_reloads_total{model="bad",result="failed"}') == 1)
        for _ in range(3):
            server.do(server.server._state.repository.refresh())  # which says so once
        assert server.metrics()['dlc_reloads_total{model="bad",result="failed"}'] == 1
        (tmp_path / "late.dlce").unlink()
        until(lambda: server.infer("late", RECORD)[0] == 404)
        assert server.metrics()['dlc_reloads_total{model="late",result="removed"}'] == 1


def test_models_that_cannot_be_served(small_file: Path, tmp_path: Path) -> None:
    shutil.copy(small_file, tmp_path / "small.dlce")
    for sources, reason in (
        ([tmp_path / "none.dlce"], "none.dlce: error: no such file"),
        ([small_file, tmp_path], "two models are named 'small'; write NAME=FILE"),
        ([f"a/b={small_file}"], "'a/b' is no name of a model"),
        ([__file__], "test_server.py"),
    ):
        with pytest.raises(dlc.RuntimeLoadError, match=reason), running(sources):
            pass


def test_engines_must_be_signed_where_a_key_is_given(small_file: Path, tmp_path: Path) -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    private, public, file = tmp_path / "key.pem", tmp_path / "key.pub", tmp_path / "m.dlce"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    small_engine(file, sign_key=private)
    with running([file], verify_key=str(public)) as server:
        before = server.infer("m", RECORD)
        assert before[0] == 200
        shutil.copy(small_file, tmp_path / "new")
        (tmp_path / "new").replace(file)
        until(lambda: server.metrics().get('dlc_reloads_total{model="m",result="failed"}') == 1)
        assert server.infer("m", RECORD) == before
    with pytest.raises(dlc.RuntimeLoadError, match="has no signature"), running([small_file], verify_key=str(public)):
        pass


def test_ports_that_are_taken(server: Running, small_file: Path) -> None:
    for option, address in (("http_port", server.http), ("grpc_port", server.grpc)):
        port = int(address.split(":")[1])
        flag = f"--{option.replace('_', '-')}"
        with pytest.raises(dlc.RuntimeLoadError, match=f"{port}.*give another {flag}"), running([small_file], **{option: port}):
            pass
