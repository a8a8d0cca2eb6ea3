"""What a replica of the deployment answers, without a cluster."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served import small_engine, small_input

import dlc
from dlc.errors import InvalidInputError, RuntimeLoadError

pytest.importorskip("ray.serve", reason="needs Ray Serve: pip install 'dlc[ray]'")


def with_replica(use: Callable[[Any], Awaitable[None]], *models: str, **options: Any) -> None:
    """`use` what Ray makes of the class, on an event loop."""
    from dlc.serving.ray_deployment import EngineDeployment

    async def run() -> None:
        made = EngineDeployment.func_or_class
        replica = made.__new__(made)
        await replica.__init__(list(models), num_threads=1, **options)
        try:
            await use(replica)
        finally:
            await replica.__del__()

    asyncio.run(run())


async def ask(replica: Any, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of the answer to a request, as a proxy of Ray hands it on (ASGI)."""
    names = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET" if body is None else "POST", "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": names, "http_version": "1.1", "scheme": "http", "root_path": "", "asgi": {}}
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body or b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await replica(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:])


def record(x: np.ndarray) -> bytes:
    tensor = {"name": "x", "datatype": "FP32", "shape": x.shape, "data": x.ravel().tolist()}
    return json.dumps({"inputs": [tensor]}).encode()


def numbers(answer: bytes) -> list[float]:
    return json.loads(answer)["outputs"][0]["data"]


def test_requests_are_answered(small_file: Path) -> None:
    x = small_input()
    expected = dlc.load(small_file)(x)[0]

    async def use(replica: Any) -> None:
        for path, headers in (("/v2/models/m/infer", {}), ("/v2/models/m/versions/1/infer", {"Content_Encoding": "gzip"})):
            body = gzip.compress(record(x)) if headers else record(x)
            status, _, answer = await ask(replica, path, body, **headers)
            assert status == 200, answer
            np.testing.assert_allclose(numbers(answer), expected.ravel(), rtol=1e-5, atol=1e-6)
        tensor = {"name": "x", "datatype": "FP32", "shape": x.shape, "parameters": {"binary_data_size": x.nbytes}}
        head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
        given = {"Inference_Header_Content_Length": str(len(head))}
        _, headers, answer = await ask(replica, "/v2/models/m/infer", head + x.tobytes(), **given)
        size = int(headers[b"inference-header-content-length"])
        found = np.frombuffer(answer[size:], np.float32).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/m/ready"):
            assert (await ask(replica, path))[0] == 200
        assert json.loads((await ask(replica, "/v2/models/m"))[2])["inputs"][0]["shape"] == [-1, 12]
        assert json.loads((await ask(replica, "/v2"))[2])["name"] == "dlc"
        await replica.check_health()

    with_replica(use, f"m={small_file}")


def test_wrong_requests_are_told(small_file: Path) -> None:
    x = small_input()
    infer = "/v2/models/m/infer"
    cases: list[tuple[str, bytes | None, str, int, str]] = [
        (infer, b"{", "", 400, "the request is no JSON that can be read"),
        (infer, record(x[:, :3]), "", 400, "input 'x' has shape [3, 3]; the model takes [-1, 12]"),
        (infer, bytes(5000), "", 413, "the request has more than 4096 bytes"),
        (infer, gzip.compress(bytes(1 << 20)), "gzip", 413, "the request has more than 4096 bytes"),
        (infer, gzip.compress(record(x))[:-9], "gzip", 400, "compressed data end early"),
        (infer, record(x), "gzip", 400, "the body cannot be read"),
        (infer, b"{}", "br", 400, "the content encoding 'br' is not supported"),
        ("/v2/models/other/infer", record(x), "", 404, "no model 'other' is served here"),
        ("/v2/models/m/versions/2", None, "", 404, "model 'm' has no version '2'; it has '1'"),
        ("/v3", None, "", 404, "no such path: /v3"),
        (infer, None, "", 405, "method not allowed: GET /v2/models/m/infer"),
    ]

    async def use(replica: Any) -> None:
        for path, body, encoding, expected, reason in cases:
            headers = {"Content_Encoding": encoding} if encoding else {}
            status, _, answer = await ask(replica, path, body, **headers)
            assert (status, reason in json.loads(answer)["error"]) == (expected, True), (path, answer)

    with_replica(use, f"m={small_file}", max_request_bytes=4096)


def test_user_config_replaces_models_and_options(small_file: Path, tmp_path: Path) -> None:
    """A wrong one is refused and changes nothing; requests on their way keep the models that they found."""
    other = tmp_path / "other.dlce"
    small_engine(other, bias=100.0)
    x = small_input(2)

    async def use(replica: Any) -> None:
        before = replica._state
        with pytest.raises(InvalidInputError, match="unknown option 'max_batch'"):
            await replica.reconfigure({"max_batch": 3})
        with pytest.raises(RuntimeLoadError, match="no such file"):
            await replica.reconfigure({"models": ["m=missing.dlce"]})
        assert replica._state is before
        with before.answering("http", "m"):
            await replica.reconfigure({"models": [f"m={other}", f"n={small_file}"], "max_batch_size": 4})
            (old,) = await before.repository.find("m").infer(before.repository.find("m").loaded, [x])
        np.testing.assert_allclose(old, dlc.load(small_file)(x)[0], rtol=1e-5, atol=1e-6)
        for name, file in (("m", other), ("n", small_file)):
            _, _, answer = await ask(replica, f"/v2/models/{name}/infer", record(x))
            np.testing.assert_allclose(numbers(answer), dlc.load(file)(x)[0].ravel(), rtol=1e-5, atol=1e-5)
        assert replica._state.options.batching.max_batch == 4
        await replica._ended

    with_replica(use, f"m={small_file}")


def test_a_replica_without_models_is_not_ready() -> None:
    async def use(replica: Any) -> None:
        assert (await ask(replica, "/v2/health/live"))[0] == 200
        status, _, answer = await ask(replica, "/v2/health/ready")
        assert (status, json.loads(answer)["error"]) == (
            503,
            "no models are served yet; give them as an argument or in user_config",
        )

    with_replica(use)
