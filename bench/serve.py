"""`dlc serve`: what a call costs over a direct one, and what batching brings, beside onnxruntime behind the same server.

    python -m bench serve [name-part ...] [--seconds 5] [--connections 16]

A direct call after a pause is one before which its thread slept as long as a client takes between an answer and its next request:
processors are asleep then, and caches hold less. Overheads are those of one client that asks one request after the other, over HTTP
with binary data and over gRPC, beyond a direct call without a pause, and include what the client itself takes; the server's CPU
time a request, of all its threads, does not. Throughputs are those of as many HTTP connections as told, each of which asks one row
after the other, by wrk where it is installed. Client and server share the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.http_load import load_of

HEADER = (
    "| model | direct call after a pause, us, p50 | without | HTTP, beyond that, p50 | p99 | server's CPU "
    "| gRPC, beyond that, p50 | p99 | server's CPU "
    "| engine | batching | requests/s | latency, ms, p50 | p99 | server's CPU, us |\n"
    "|:---|---:|---:|---:|---:|---:|---:|---:|---:|:---|:---|---:|---:|---:|---:|"
)
_WARM, _CALLS = 200, 2000
_PAUSE = 100e-6
"""Seconds that a client takes between an answer and its next request."""
_BATCHES = {"none": (), "to 32 rows": ("--max-batch=32", "--max-delay=0"), "to 32 rows, 1 ms": ("--max-batch=32", "--max-delay=1")}
"""Arguments of the server for each kind of batching."""


def models() -> Mapping[str, Callable[[], Any]]:
    """ONNX models with a dynamic batch."""
    from bench.networks import bert, mlp

    tiny = partial(bert.build, layers=2, hidden=128, heads=2, dynamic_batch=True)
    return {"mlp 784-512-256-10": partial(mlp.build, dynamic_batch=True), "bert-tiny seq 128": tiny}


def http_request(inputs: Mapping[str, np.ndarray], port: int) -> bytes:
    """A request with binary data to the model `m`, as it is sent."""
    from dlc.dtypes import dtype_of_numpy
    from dlc.serving.datatypes import DATATYPES

    tensors = [
        {
            "name": name,
            "datatype": DATATYPES[dtype_of_numpy(array.dtype)],
            "shape": array.shape,
            "parameters": {"binary_data_size": array.nbytes},
        }
        for name, array in inputs.items()
    ]
    head = json.dumps({"inputs": tensors, "parameters": {"binary_data_output": True}}).encode()
    body = head + b"".join(array.tobytes() for array in inputs.values())
    lines = (
        "POST /v2/models/m/infer HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Inference-Header-Content-Length: {len(head)}",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


def grpc_request(inputs: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a ModelInferRequest of the model `m`."""
    from dlc.dtypes import dtype_of_numpy
    from dlc.serving.datatypes import DATATYPES
    from dlc.serving.grpc_messages import CLASSES

    message = CLASSES["ModelInferRequest"](model_name="m")
    for name, array in inputs.items():
        message.inputs.add(name=name, datatype=DATATYPES[dtype_of_numpy(array.dtype)], shape=array.shape)
        message.raw_input_contents.append(array.tobytes())
    content: bytes = message.SerializeToString()
    return content


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    http_port: int
    grpc_port: int
    pid: int

    def cpu_seconds(self) -> float:
        """CPU time of all its threads up to now."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime, see proc(5)


@contextlib.contextmanager
def serving(file: Path, engine: str, *arguments: str) -> Iterator[Served]:
    """A server of `file` as the model `m`."""
    module = "from bench.serve import serve_onnxruntime; serve_onnxruntime()" if engine == "onnxruntime" else ""
    program = module or "from dlc.tools.dlc import main; main()"
    command = [sys.executable, "-c", program, "serve", f"m={file}", "--http-port=0", "--grpc-port=0", "--poll=0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server did not start: {' '.join(command)}")
        http, grpc = (int(part.rpartition(":")[2]) for part in line.split(" and "))
        yield Served(http, grpc, process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def serve_onnxruntime() -> None:
    """`dlc serve`, but for ONNX models that onnxruntime runs."""
    from dlc.serving import repository
    from dlc.tools.dlc import main

    repository.load = _Session  # type: ignore[assignment]
    main()


class _Session:
    """A model of onnxruntime, to the server what an engine is."""

    def __init__(self, file: Path, num_threads: int | None, verify: bool, verify_key: str | None) -> None:
        import onnxruntime

        from dlc.runtime.signature import TensorSpec

        self._file, settings = file, onnxruntime.SessionOptions()
        settings.intra_op_num_threads = num_threads or 0
        self._session = onnxruntime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
        types = {"tensor(float)": "f32", "tensor(int64)": "i64"}
        self.inputs, self.outputs = (
            tuple(TensorSpec(each.name, tuple(each.shape), types[each.type]) for each in tensors)
            for tensors in (self._session.get_inputs(), self._session.get_outputs())
        )

    def __call__(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        named = {spec.name: array for spec, array in zip(self.inputs, inputs, strict=True)}
        found: list[np.ndarray] = self._session.run(None, named)
        return found

    def run_many(self, requests: Iterable[list[np.ndarray]]) -> list[list[np.ndarray]]:
        """One after the other, each on all threads."""
        return [self(inputs) for inputs in requests]

    def with_threads(self, num_threads: int) -> _Session:
        """With weights of its own."""
        return type(self)(self._file, num_threads, False, None)

    def cancel(self) -> None:
        """Not offered."""


def seconds_of(call: Callable[[], object], pause: float = 0.0) -> np.ndarray:
    """Of each of many calls, one after the other, `pause` seconds apart."""
    found = np.empty(_CALLS)
    for number in range(-_WARM, _CALLS):
        if pause:
            time.sleep(pause)
        begin = time.perf_counter()
        call()
        found[max(number, 0)] = time.perf_counter() - begin
    return found


def overheads(file: Path, inputs: Mapping[str, np.ndarray]) -> str:
    """Cells of a direct call and of what a served one takes beyond its median."""
    import grpc

    import dlc

    engine = dlc.load(file)
    paused, direct = (np.median(seconds_of(lambda: engine(inputs), pause)) for pause in (_PAUSE, 0.0))
    cells = [paused, direct]
    with serving(file, "dlc") as server:
        request = http_request(inputs, server.http_port)
        with socket.create_connection(("127.0.0.1", server.http_port)) as connection, connection.makefile("rb") as reader:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            cells += _beyond(direct, server, lambda: _ask(connection, reader, request))
        content = grpc_request(inputs)
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
            ask = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
            cells += _beyond(direct, server, lambda: ask(content))
    return " | ".join(f"{cell * 1e6:.0f}" for cell in cells)


def _beyond(direct: float, server: Served, call: Callable[[], object]) -> list[float]:
    """Seconds of served calls beyond a direct one, p50 and p99, and the server's CPU time of one."""
    begin = server.cpu_seconds()
    times = seconds_of(call)
    cpu = (server.cpu_seconds() - begin) / (_WARM + _CALLS)
    return [*(np.percentile(times, (50, 99)) - direct), cpu]


def _ask(connection: socket.socket, reader: Any, request: bytes) -> None:
    connection.sendall(request)
    if not reader.readline().startswith(b"HTTP/1.1 200"):
        raise RuntimeError("the server refused a request")
    size = 0
    while (line := reader.readline()) != b"\r\n":
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    reader.read(size)


def measure(name: str, build: Callable[[], Any], seconds: float, connections: int) -> Iterator[str]:
    """Rows of the table."""
    import onnx

    import dlc

    with tempfile.TemporaryDirectory() as folder:
        files = {"dlc": Path(folder) / "m.dlce", "onnxruntime": Path(folder) / "m.onnx"}
        onnx.save(build(), str(files["onnxruntime"]))
        model = dlc.compile(files["onnxruntime"])
        model.save(files["dlc"])
        given = dlc.random_inputs(model.inputs)
        cells = overheads(files["dlc"], given)
        for engine, file in files.items():
            for batching, arguments in _BATCHES.items():
                with serving(file, engine, *arguments) as server:
                    request = http_request(given, server.http_port)
                    load_of(server.http_port, request, connections, min(seconds, 1))
                    begin = server.cpu_seconds()
                    load = load_of(server.http_port, request, connections, seconds)
                    cpu = (server.cpu_seconds() - begin) / load.answers
                latency = f"{load.p50 * 1e3:.2f} | {load.p99 * 1e3:.2f}"
                figures = f"{load.answers / load.seconds:.0f} | {latency} | {cpu * 1e6:.0f}"
                yield f"| {name} | {cells} | {engine} | {batching} | {figures} |"
                name, cells = "", " | ".join([""] * 8)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench serve", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="name-part", help="only models whose names hold one of these")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each load")
    parser.add_argument("--connections", type=int, default=16, help="of each load")
    arguments = parser.parse_args()
    print(HEADER, flush=True)
    for name, build in models().items():
        if not arguments.parts or any(part in name for part in arguments.parts):
            for row in measure(name, build, arguments.seconds, arguments.connections):
                print(row, flush=True)


if __name__ == "__main__":
    main()
