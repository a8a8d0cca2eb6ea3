"""Servers that tests talk to, and the engines that they serve."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

import dlc
from bench.networks import mlp
from dlc.serving.options import ServeOptions
from dlc.serving.repository import ServedModel
from dlc.serving.server import Server

WIDTHS = (12, 16, 5)
TYPES = {
    "BOOL": TensorProto.BOOL,
    "UINT8": TensorProto.UINT8,
    "UINT16": TensorProto.UINT16,
    "UINT32": TensorProto.UINT32,
    "UINT64": TensorProto.UINT64,
    "INT8": TensorProto.INT8,
    "INT16": TensorProto.INT16,
    "INT32": TensorProto.INT32,
    "INT64": TensorProto.INT64,
    "FP16": TensorProto.FLOAT16,
    "BF16": TensorProto.BFLOAT16,
    "FP32": TensorProto.FLOAT,
    "FP64": TensorProto.DOUBLE,
}
"""Datatypes of the protocol, all that dlc has."""


def small_engine(file: Path, bias: float = 0.0, sign_key: Path | None = None) -> dlc.CompiledModel:
    """Two layers, `x` f32 [N, 12] to `logits` [N, 5], whose results `bias` shifts."""
    model = mlp.build(widths=WIDTHS, dynamic_batch=True)
    for tensor in model.graph.initializer:
        if bias and len(tensor.dims) == 1 and tensor.dims[0] == WIDTHS[-1]:
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.full(WIDTHS[-1], bias, np.float32), tensor.name))
    compiled = dlc.compile(model, num_threads=1)
    compiled.save(file, sign_key=sign_key)
    return compiled


def types_engine(file: Path) -> None:
    """An input `x_T` [N, 2] and an equal output `y_T` for each datatype T."""
    nodes = [helper.make_node("Concat", [f"x_{name}", f"x_{name}"], [f"y_{name}"], axis=1) for name in TYPES]
    inputs = [helper.make_tensor_value_info(f"x_{name}", kind, ["N", 2]) for name, kind in TYPES.items()]
    outputs = [helper.make_tensor_value_info(f"y_{name}", kind, ["N", 4]) for name, kind in TYPES.items()]
    graph = helper.make_graph(nodes, "types", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    dlc.compile(model, num_threads=1).save(file)


def small_input(rows: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((rows, seed)).standard_normal((rows, WIDTHS[0])).astype(np.float32)


class Running:
    """A server on free ports, on a thread of its own."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self.server, self.loop = server, loop
        self.http = f"127.0.0.1:{server.http_port}"
        self.grpc = f"127.0.0.1:{server.grpc_port}"

    def do(self, coroutine: Any) -> Any:
        """What `coroutine` gives on the server's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def model(self, name: str) -> ServedModel:
        return self.server._state.repository.models[name]

    def request(self, path: str, body: bytes | None = None, method: str = "", **headers: str) -> tuple[int, bytes]:
        """Status and body of the answer; header names have underscores."""
        connection = http.client.HTTPConnection(self.http, timeout=30)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method or ("GET" if body is None else "POST"), path, body, names)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def infer(self, name: str, record: Any, blob: bytes = b"", **headers: str) -> tuple[int, Any]:
        """Status and JSON of the answer to a request; binary data after it is left out."""
        head = record if isinstance(record, bytes) else json.dumps(record).encode()
        if blob:
            headers.setdefault("Inference_Header_Content_Length", str(len(head)))
        status, body = self.request(f"/v2/models/{name}/infer", head + blob, **headers)
        return status, json.JSONDecoder().raw_decode(body.decode("utf-8", "replace"))[0]

    def metrics(self) -> dict[str, float]:
        """Samples by name with labels."""
        lines = self.request("/metrics")[1].decode().splitlines()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}


@contextlib.contextmanager
def running(sources: Sequence[str | Path], **options: Any) -> Iterator[Running]:
    """A server of `sources`; it is stopped at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = Server(
        [str(source) for source in sources],
        ServeOptions(**{"http_port": 0, "grpc_port": 0, "poll": 0.05, "grace": 10.0, **options}),
    )
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(60)
        yield Running(server, loop)
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
