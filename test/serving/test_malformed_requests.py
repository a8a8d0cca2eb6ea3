"""Malformed requests: each is one clear error, and the next request is answered as if there had been none.

The named cases tell what is refused how; the seeded ones look for what nobody thought of.
"""

from __future__ import annotations

import collections
import gzip
import json
import random
import socket
import struct

import grpc
import numpy as np
import pytest
from malformed_requests import damaged, grpc_request, http_request, meaning_of, record_of, wrong_record
from served import TYPES, Running, small_input
from tritonclient.grpc import service_pb2

import dlc

X = small_input(1)
ALLOWED = {"OK", "INVALID_ARGUMENT", "NOT_FOUND", "RESOURCE_EXHAUSTED"}
DATA = {"name": "x", "datatype": "FP32", "shape": [1, 12], "data": [0.5] * 12}


def with_input(**changes: object) -> dict[str, object]:
    return {"inputs": [{name: value for name, value in {**DATA, **changes}.items() if value is not ...}]}


RECORDS: list[tuple[object, str]] = [
    (b"", "the request is no JSON that can be read"),
    (b"{", "the request is no JSON that can be read"),
    (b"\xff\xfe{}", "the request is no JSON that can be read: 'utf-8' codec can't decode"),
    (b"[" * 100_000, "nested too deep"),
    (b'{"id": ' + b"1" * 5000 + b"}", "the request is no JSON that can be read"),
    ([], "the request must be a JSON object, not a list"),
    ({}, "inputs must be a list, not missing"),
    ({"inputs": {}}, "inputs must be a list, not an object"),
    ({"inputs": []}, "input 'x' is missing"),
    ({"inputs": [1]}, "an input must be a JSON object, not 1"),
    ({"inputs": [DATA, DATA]}, "input 'x' is there twice"),
    ({**with_input(), "id": 7}, "the request: id must be a string, not 7"),
    ({**with_input(), "outputs": [{"name": "y"}]}, "model 'small' has no output 'y'; it has 'logits'"),
    ({**with_input(), "outputs": [{"name": "logits"}] * 2}, "an output is asked for twice"),
    ({**with_input(), "outputs": "logits"}, "outputs must be a list, not 'logits'"),
    ({**with_input(), "parameters": {"timeout": "1"}}, "the parameter timeout must be a number of microseconds, not '1'"),
    ({**with_input(), "parameters": {"sequence_id": 5}}, "the request: the parameter sequence_id is not supported"),
    (with_input(parameters=[]), "input 'x': parameters must be a JSON object, not a list"),
    (with_input(parameters={"shared_memory_region": "a"}), "input 'x': the parameter shared_memory_region is not supported"),
    (with_input(name="y"), "model 'small' has no input 'y'; it has 'x'"),
    (with_input(name=...), "an input: name must be a string, not missing"),
    (with_input(datatype="FP64"), "input 'x' is FP32, not 'FP64'"),
    (with_input(datatype=3), "input 'x': datatype must be a string, not 3"),
    (with_input(shape=...), "input 'x': shape must be a list, not missing"),
    (with_input(shape=[12]), "input 'x' has shape [12]; the model takes [-1, 12]"),
    (with_input(shape=[1, 13]), "input 'x' has shape [1, 13]; the model takes [-1, 12]"),
    (with_input(shape=[-1, 12]), "the shape must be at most 32 sizes of 0 or more"),
    (with_input(shape=[1.0, 12]), "the shape must be at most 32 sizes of 0 or more"),
    (with_input(shape=[True, 12]), "the shape must be at most 32 sizes of 0 or more"),
    (with_input(shape=[1] * 33), "the shape must be at most 32 sizes of 0 or more"),
    (with_input(shape=[1 << 64, 12]), "the shape must be at most 32 sizes of 0 or more"),
    (with_input(shape=[1 << 50, 12]), "input 'x' has 12 elements; its shape makes 13510798882111488"),
    (with_input(data=...), "input 'x': data must be a list, not null"),
    (with_input(data=[0.5] * 11), "input 'x' has 11 elements; its shape makes 12"),
    (with_input(data=["0.5"] * 12), "input 'x' is FP32 but its data has a string"),
    (with_input(data=[None] * 12), "input 'x' is FP32 but its data has null"),
    (with_input(data=[True] * 12), "input 'x' is FP32 but its data has a boolean"),
    (with_input(data=[1e39] * 12), "input 'x' has a number out of the range of FP32"),
    (with_input(data=[10**400] * 12), "input 'x' has a number out of the range of FP32"),
    (with_input(data=[[0.5] * 6] * 2), "input 'x': data is nested, but not as its shape [1, 12]: see axis 1"),
    (with_input(data=[[0.5] * 11, 0.5]), "input 'x': data is nested, but not as its shape [1, 12]: see axis 1"),
    (with_input(data=..., parameters={"binary_data_size": 48}), "binary_data_size is 48, but 0 bytes of binary data are left"),
]


@pytest.mark.parametrize(("record", "reason"), RECORDS, ids=range(len(RECORDS)))
def test_json(server: Running, record: object, reason: str) -> None:
    status, answer = server.infer("small", record)
    assert status == 400 and reason in answer["error"] and list(answer) == ["error"]


@pytest.mark.parametrize(
    ("datatype", "data", "reason"),
    [
        ("INT8", [1, 300], "input 'x_INT8' has a number out of the range of INT8"),
        ("UINT64", [1, -1], "input 'x_UINT64' has a number out of the range of UINT64"),
        ("INT64", [1, 1 << 63], "input 'x_INT64' has a number out of the range of INT64"),
        ("INT32", [1, 0.5], "input 'x_INT32' is INT32 but its data has the number 0.5"),
        ("INT32", [1, True], "input 'x_INT32' is INT32 but its data has a boolean"),
        ("BOOL", [True, 1], "input 'x_BOOL' is BOOL but its data has the number 1"),
        ("FP16", [1, 1e6], "input 'x_FP16' has a number out of the range of FP16"),
        ("BF16", [1, 1e39], "input 'x_BF16' has a number out of the range of BF16"),
    ],
)
def test_elements_in_json(server: Running, datatype: str, data: list, reason: str) -> None:
    tensor = {"name": f"x_{datatype}", "datatype": datatype, "shape": [1, 2], "data": data}
    assert server.infer("types", {"inputs": [tensor]}) == (400, {"error": reason})


@pytest.mark.parametrize(
    ("size", "blob", "reason"),
    [
        (48, bytes(40), "input 'x': binary_data_size is 48, but 40 bytes of binary data are left"),
        (48, bytes(50), "2 bytes of binary data belong to no input"),
        (44, bytes(44), "input 'x' has 44 bytes; its shape and datatype make 48"),
        (-1, bytes(48), "input 'x': binary_data_size is -1, but 48 bytes of binary data are left"),
        (1 << 70, bytes(48), "but 48 bytes of binary data are left"),
        ("48", bytes(48), "input 'x': binary_data_size is '48', but 48 bytes of binary data are left"),
    ],
)
def test_binary_data(server: Running, size: object, blob: bytes, reason: str) -> None:
    status, answer = server.infer("small", with_input(data=..., parameters={"binary_data_size": size}), blob)
    assert status == 400 and reason in answer["error"]


def test_booleans_are_bytes_of_0_and_1(server: Running) -> None:
    tensor = {"name": "x_BOOL", "datatype": "BOOL", "shape": [1, 2], "parameters": {"binary_data_size": 2}}
    others = [{"name": f"x_{name}", "datatype": name, "shape": [1, 2], "data": [1, 1]} for name in TYPES if name != "BOOL"]
    status, answer = server.infer("types", {"inputs": [tensor, *others]}, b"\x01\x02")
    assert (status, answer["error"]) == (400, "input 'x_BOOL' is BOOL, of bytes 0 and 1, but has another byte")


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "99999", "9" * 30, "\u0661", ""])
def test_lengths_of_the_json(server: Running, length: str) -> None:
    status, answer = server.infer("small", with_input(), Inference_Header_Content_Length=length.encode("utf-8").decode("latin-1"))
    assert status == 400 and "Inference-Header-Content-Length is " in answer["error"]


def test_paths_and_methods(server: Running) -> None:
    assert server.request("/nothing") == (404, b'{"error": "no such path: /nothing"}')
    assert server.request("/v2/models/a%2Fb")[0] == 404
    assert server.infer("small/versions/2", with_input())[0] == 404
    status, body = server.request("/v2/models/small/infer")
    assert (status, json.loads(body)["error"]) == (405, "method not allowed: GET /v2/models/small/infer")


@pytest.mark.waits
def test_bodies_that_are_too_large(server: Running) -> None:
    """Declared so, sent so in chunks, and become so when they are decompressed."""
    host, port = server.http.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(b"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n")
        assert b"the request has 99999999999 bytes; the server takes 1048576" in connection.makefile("rb").read()
    chunks = b"".join(b"%x\r\n%s\r\n" % (1 << 16, bytes(1 << 16)) for _ in range(17)) + b"0\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(b"POST /v2/models/small/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")
    body = gzip.compress(bytes(8 << 20))
    status, answer = server.request("/v2/models/small/infer", body, Content_Encoding="gzip")
    assert status == 413 and b"more than 1048576 bytes" in answer


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "snappy"])
def test_encodings_that_lie(server: Running, encoding: str) -> None:
    status, answer = server.request("/v2/models/small/infer", json.dumps(with_input()).encode(), Content_Encoding=encoding)
    assert status == 400 and answer


def grpc_code(server: Running, content: bytes, method: str = "ModelInfer") -> tuple[str, bytes]:
    """The code of the answer, and its bytes or its message."""
    with grpc.insecure_channel(server.grpc) as channel:
        return ask(channel, content, method)


def ask(channel: grpc.Channel, content: bytes, method: str = "ModelInfer") -> tuple[str, bytes]:
    try:
        return "OK", channel.unary_unary(f"/inference.GRPCInferenceService/{method}")(content, timeout=30)
    except grpc.RpcError as error:
        return error.code().name, error.details().encode()


def message(**changes: object) -> service_pb2.ModelInferRequest:
    found = service_pb2.ModelInferRequest(model_name="small")
    found.inputs.add(**{"name": "x", "datatype": "FP32", "shape": [1, 12], **changes})
    return found


@pytest.mark.parametrize(
    ("tensor", "raw", "reason"),
    [
        ({}, [bytes(47)], "input 'x' has 47 bytes; its shape and datatype make 48"),
        ({}, [bytes(48)] * 2, "there are 2 raw_input_contents for 1 inputs"),
        ({}, [], "input 'x' has 0 elements; its shape makes 12"),
        ({"contents": {"fp32_contents": [1.0] * 12}}, [bytes(48)], "input 'x' has contents and raw_input_contents"),
        ({"contents": {"int_contents": [1] * 12}}, [], "its elements belong into fp32_contents, not int_contents"),
        ({"contents": {"fp32_contents": [1.0] * 11}}, [], "input 'x' has 11 elements; its shape makes 12"),
        ({"shape": [1 << 60, 12]}, [bytes(48)], "input 'x' has 48 bytes"),
        ({"shape": [-1, 12]}, [bytes(48)], "the shape must be at most 32 sizes of 0 or more"),
        ({"datatype": "BYTES"}, [bytes(48)], "input 'x' is FP32, not 'BYTES'"),
        ({"name": "y"}, [bytes(48)], "model 'small' has no input 'y'"),
    ],
)
def test_grpc_messages(server: Running, tensor: dict, raw: list[bytes], reason: str) -> None:
    request = message(**tensor)
    request.raw_input_contents.extend(raw)
    code, details = grpc_code(server, request.SerializeToString())
    assert code == "INVALID_ARGUMENT" and reason in details.decode()


def test_grpc_bytes(server: Running) -> None:
    for method in ("ModelInfer", "ModelReady", "ModelMetadata"):
        code, details = grpc_code(server, b"\x0a\xff\xff\xff\xff", method)
        assert code == "INVALID_ARGUMENT" and f"the request is no {method}Request" in details.decode()
    assert grpc_code(server, b"", "Nothing")[0] == "UNIMPLEMENTED"
    assert grpc_code(server, bytes(3 << 20))[0] == "RESOURCE_EXHAUSTED"


def check_answer(answer: dict, x: np.ndarray, engine: dlc.Engine) -> None:
    (output,) = answer["outputs"]
    np.testing.assert_array_equal(np.array(output["data"], np.float32).reshape(output["shape"]), engine(x)[0])


def fuzz_json(server: Running, engine: dlc.Engine, generator: random.Random, count: int) -> collections.Counter:
    """Statuses of `count` wrong records."""
    found: collections.Counter = collections.Counter()
    for _ in range(count):
        record = wrong_record(generator, X)
        status, answer = server.infer("small", record)
        found[status] += 1
        if status == 200:
            if "data" in answer["outputs"][0]:  # else it asks for binary data
                check_answer(answer, meaning_of(record), engine)
        else:
            assert status == 400 and answer["error"], record
    return found


def fuzz_http(server: Running, generator: random.Random, count: int) -> collections.Counter:
    """Statuses of the answers to `count` damaged requests."""
    found: collections.Counter = collections.Counter()
    host, port = server.http.split(":")
    for _ in range(count):
        content = damaged(generator, http_request(X))
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(content)
            if generator.random() < 0.2:  # it does not wait for the answer
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                found["gone"] += 1
                continue
            answer = first_bytes(connection)
        status = answer[9:12].decode() if answer.startswith(b"HTTP/") else answer.decode()
        assert status in ("waits", "closed", "200") or status.startswith("4"), (content, answer)
        found[status] += 1
    return found


def first_bytes(connection: socket.socket) -> bytes:
    """Of the answer; `waits` if the server waits for more of the request."""
    connection.settimeout(0.2)
    try:
        return connection.recv(1 << 16) or b"closed"
    except TimeoutError:
        return b"waits"
    except ConnectionResetError:
        return b"closed"


def read_all(connection: socket.socket) -> bytes:
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def fuzz_grpc(server: Running, engine: dlc.Engine, generator: random.Random, count: int) -> collections.Counter:
    """Codes of `count` damaged messages."""
    found: collections.Counter = collections.Counter()
    with grpc.insecure_channel(server.grpc) as channel:
        for number in range(count):
            content = damaged(generator, grpc_request(X, is_raw=number % 2 == 0))
            code, answer = ask(channel, content)
            assert code in ALLOWED, (code, answer, content)
            found[code] += 1
            if code == "OK":
                request = service_pb2.ModelInferRequest.FromString(content)
                raw = b"".join(request.raw_input_contents)
                numbers = np.frombuffer(raw, np.float32) if raw else np.array(request.inputs[0].contents.fp32_contents, np.float32)
                result = np.frombuffer(service_pb2.ModelInferResponse.FromString(answer).raw_output_contents[0], np.float32)
                np.testing.assert_array_equal(result, engine(numbers.reshape(request.inputs[0].shape))[0].ravel())
    return found


def fuzz(server: Running, engine: dlc.Engine, seed: int, count: int) -> None:
    """A third of `count` each; whole requests between them are answered right."""
    generator = random.Random(seed)
    left = count // 3
    totals: collections.Counter = collections.Counter()
    while left > 0:
        part = min(left, 50)
        totals += fuzz_json(server, engine, generator, part)
        totals += fuzz_http(server, generator, part)
        totals += fuzz_grpc(server, engine, generator, part)
        status, answer = server.infer("small", record_of(X))
        assert status == 200
        check_answer(answer, X, engine)
        left -= part
    assert totals[400] > count / 10 and totals["INVALID_ARGUMENT"] > count / 10 and totals["400"] > count / 50, totals
    assert totals[200] and totals["OK"] and totals["200"], totals


@pytest.mark.waits
def test_seeded_requests(server: Running, small_file) -> None:
    fuzz(server, dlc.load(small_file), 0, 450)


@pytest.mark.slow
def test_many_seeded_requests(server: Running, small_file) -> None:
    fuzz(server, dlc.load(small_file), 1, 5100)


def test_bytes_that_are_no_grpc(server: Running) -> None:
    generator = random.Random(0)
    host, port = server.grpc.split(":")
    for size in (1, 9, 100, 5000):
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall((b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" if size > 9 else b"") + generator.randbytes(size))
            connection.shutdown(socket.SHUT_WR)
            read_all(connection)
    assert grpc_code(server, grpc_request(X, True))[0] == "OK"
