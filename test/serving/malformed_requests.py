"""Requests that are wrong in ways that a seed chooses."""

from __future__ import annotations

import copy
import json
import random
import struct
from typing import Any

import numpy as np
from tritonclient.grpc import service_pb2

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 12, 13, 1 << 31, 1 << 62, 1 << 63, 1 << 64, -(1 << 63), 10**30, 0.5, 1e39, 1e308,
    "", "x", "FP32", "FP16", "INT64", "BYTES", "BOOL", "fp32", "\u0000", "\U0001f600" * 50, "../../etc/passwd", "a" * 5000,
    [], {}, [[]], [1], [[1, 2], [3]], {"a": {}}, [None], ["1"], [True], [1e39], [10**30],
    [0] * 12, [0.25] * 12, [[0.25] * 12], [[[0.25] * 12]], [[0.25] * 12] * 2, [[0.25] * 6] * 2,
    [1, 12], [12], [2, 12], [1, 12, 1], [1.0, 12], ["1", 12], [-1, 12], [0, 12], [10**12, 12], [1 << 40, 1 << 40], [1] * 200,
    {"binary_data_size": 48}, {"binary_data_size": -1}, {"binary_data_size": 1 << 62}, {"binary_data_size": "48"},
    {"classification": 3}, {"shared_memory_region": "r"}, {"binary_data": 1}, {"timeout": -1}, {"timeout": "soon"},
)  # fmt: skip
"""What takes the place of values in records."""


def record_of(x: np.ndarray) -> dict[str, Any]:
    """The request of a model with the input `x`."""
    tensor = {"name": "x", "datatype": "FP32", "shape": list(x.shape), "data": x.ravel().tolist()}
    return {"id": "1", "parameters": {}, "inputs": [tensor], "outputs": [{"name": "logits", "parameters": {}}]}


def wrong_record(generator: random.Random, x: np.ndarray) -> dict[str, Any]:
    """`record_of(x)` with one to three of its values replaced, removed or doubled."""
    record = record_of(x)
    for _ in range(generator.choice((1, 1, 2, 3))):
        parents = list(_containers(record))
        parent = generator.choice(parents)
        if isinstance(parent, dict):
            key = generator.choice([*parent, "data", "parameters"])
            if generator.random() < 0.25:
                parent.pop(key, None)
            else:
                parent[key] = copy.deepcopy(generator.choice(JUNK))
        elif parent and generator.random() < 0.3:
            parent.append(copy.deepcopy(parent[0]))
        elif parent:
            parent[generator.randrange(len(parent))] = copy.deepcopy(generator.choice(JUNK))
    return record


def _containers(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _containers(each)


def meaning_of(record: dict[str, Any]) -> np.ndarray:
    """The input of a request that was answered."""
    (tensor,) = record["inputs"]
    assert tensor["name"] == "x" and tensor["datatype"] == "FP32"
    found = np.array(tensor["data"], np.float32)
    return found.reshape(tensor["shape"])


def http_request(x: np.ndarray) -> bytes:
    """A request with binary data, as it is sent."""
    tensor = {"name": "x", "datatype": "FP32", "shape": list(x.shape), "parameters": {"binary_data_size": x.nbytes}}
    head = json.dumps({"inputs": [tensor]}).encode()
    lines = (
        "POST /v2/models/small/infer HTTP/1.1",
        "Host: a",
        f"Inference-Header-Content-Length: {len(head)}",
        f"Content-Length: {len(head) + x.nbytes}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + head + x.tobytes()


def grpc_request(x: np.ndarray, is_raw: bool) -> bytes:
    """The bytes of a ModelInferRequest."""
    message = service_pb2.ModelInferRequest(model_name="small", id="1")
    tensor = message.inputs.add(name="x", datatype="FP32", shape=x.shape)
    message.outputs.add(name="logits")
    if is_raw:
        message.raw_input_contents.append(x.tobytes())
    else:
        tensor.contents.fp32_contents.extend(x.ravel().tolist())
    content: bytes = message.SerializeToString()
    return content


def damaged(generator: random.Random, content: bytes) -> bytes:
    """`content` with flipped, lost, inserted and repeated bytes, one to four of these."""
    for _ in range(generator.choice((1, 1, 2, 4))):
        if not content:
            return content
        begin = generator.randrange(len(content))
        end = min(len(content), begin + generator.choice((1, 1, 4, 30)))
        kind = generator.randrange(6)
        if kind == 0:
            content = content[:begin] + bytes([content[begin] ^ 1 << generator.randrange(8)]) + content[begin + 1 :]
        elif kind == 1:
            content = content[:begin]
        elif kind == 2:
            content = content[:begin] + content[end:]
        elif kind == 3:
            content = content[:begin] + generator.randbytes(end - begin) + content[begin:]
        elif kind == 4:
            content = content[:end] + content[begin:]
        else:
            number = struct.pack(generator.choice(("<I", "<Q")), generator.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
            content = content[:begin] + number + content[begin + len(number) :]
    return content
